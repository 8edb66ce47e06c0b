//! What the machine may do to any store: a read-only file system, a full one, files that vanish, a clock that goes back.
//!
//! The error is clear, the exit code right, and nothing is lost.

#![cfg(unix)]

use std::path::Path;
use std::{fs, thread};

use crate::support::{Case, Outcome, Tree, require, tree};

/// Commands that write: at least one for each store, and one for each way to write it.
const WRITERS: &[&str] = &[
    "echo A line of its own | $ANNALS entry write --key new --type convention --confidence high --body-stdin",
    "echo Another line | $ANNALS entry write --key before --type convention --confidence high --body-stdin",
    "$ANNALS entry delete --key before --reason because",
    "$ANNALS notepad manual new",
    "$ANNALS notepad working new --request-id one",
    "$ANNALS journal write --content new",
    "$ANNALS journal write --content new --request-id one",
    r#"echo '{"constraints":[{"op":"add","section":"Rules","bullet":"Never panic"}]}' | $ANNALS ledger update"#,
    "$ANNALS execute --all",
    "$ANNALS ship --force",
    "$ANNALS sync",
    "$ANNALS facts add --key new --value new",
    r#"echo '{"user_input":"I moved","turn_id":"b","session_id":"s"}' | $ANNALS facts observe"#,
    "$ANNALS setup claude",
    "$ANNALS report --out report.html",
    "$ANNALS report",
    "$ANNALS undo",
];

/// Commands that only read, over every store.
const READERS: &[&str] = &[
    "status",
    "context",
    "recall before",
    "patterns list",
    "entry read --key before",
    "entry list",
    "notepad read",
    "journal tail",
    "journal search before",
    "ledger brief",
    "facts list",
    "facts retrieve --query before",
    "facts check",
    "sync --stdout",
    "report --out -",
    "log",
];

/// A project in which every store holds something, and the cache of `recall` is made.
fn remembering() -> Case {
    let case = Case::new("examples/vbw-project");
    for script in [
        "$ANNALS ledger init",
        "echo text | $ANNALS entry write --key before --type convention --confidence high --body-stdin",
        "$ANNALS notepad manual before",
        "$ANNALS journal write --content before --request-id zero",
        "$ANNALS facts add --key before --value before",
        "$ANNALS sync",
        "$ANNALS recall before",
    ] {
        shell(&case, script).success();
    }
    // What `sync` has to write anew.
    let decision = "Thresholds stand in";
    let state = ".vbw-planning/STATE.md";
    let text = String::from_utf8(case.read(state).unwrap()).unwrap();
    case.write(state, text.replace(decision, "Thresholds lie in"));
    case
}

fn shell<'a>(case: &'a Case, script: &str) -> crate::support::Invocation<'a> {
    case.shell(script).env("ANNALS_USER", "ada")
}

/// Runs a script in a name space of its own, where it may mount what it likes over the case's folders.
fn with_mounts(case: &Case, script: &str) -> Outcome {
    let place = case.root().parent().unwrap();
    case.program("unshare -rm sh -c")
        .args([script])
        .env("ANNALS", env!("CARGO_BIN_EXE_annals"))
        .env("ANNALS_USER", "ada")
        .env("PLACE", place)
        .output()
}

/// Every file of the project, our own among them, and of the home.
fn everything(case: &Case) -> (Tree, Tree) {
    (case.whole_tree(), tree(case.home()))
}

fn is_told(outcome: &Outcome, words: &[&str]) {
    let told = format!("{}{}", outcome.stdout(), outcome.stderr());
    assert!(told.contains("error"), "{}", outcome.report());
    assert!(words.iter().any(|word| told.contains(word)), "{words:?}: {}", outcome.report());
}

const READ_ONLY: &str =
    "mount --bind $PLACE $PLACE && mount -o remount,bind,ro $PLACE && cd $PLACE/project";

#[test]
fn a_read_only_file_system_fails_every_writer_and_no_reader() {
    if !require("mounts") {
        return;
    }
    let case = remembering();
    let before = everything(&case);
    for writer in WRITERS {
        let outcome = with_mounts(&case, &format!("{READ_ONLY} && {writer}"));
        assert_eq!(outcome.exit_code(), Some(1), "{}", outcome.report());
        is_told(&outcome, &["Read-only file system", "annals cannot write there"]);
    }
    for reader in READERS {
        let outcome = with_mounts(&case, &format!("{READ_ONLY} && $ANNALS {reader}"));
        assert_eq!(outcome.exit_code(), Some(0), "{}", outcome.report());
        assert_eq!(outcome.stderr(), "", "{}", outcome.report());
    }
    let facts = with_mounts(&case, &format!("{READ_ONLY} && $ANNALS facts list"));
    assert!(facts.stdout().contains("before"), "{}", facts.report());
    let check = with_mounts(&case, &format!("{READ_ONLY} && $ANNALS facts check"));
    let unchecked = "not checked: the text index, since the database cannot be written\n";
    assert!(check.stdout().starts_with(unchecked), "{}", check.report());
    assert_eq!(everything(&case), before);
}

#[test]
fn a_session_starts_on_a_read_only_file_system() {
    if !require("mounts") {
        return;
    }
    let case = remembering();
    // Something to complain of, and no place to do it.
    fs::remove_file(case.root().join(".vibekit/notepad.md")).unwrap();
    case.write(".vibekit/notepad.md/in-the-way", "");
    let input = r#"echo '{"hook_event_name":"SessionStart"}'"#;
    let outcome =
        with_mounts(&case, &format!("{READ_ONLY} && {input} | $ANNALS hook session-start"));
    assert_eq!(outcome.exit_code(), Some(0), "{}", outcome.report());
    assert!(outcome.stdout().contains("2 open todos"), "{}", outcome.report());
    assert!(outcome.stderr().contains("hook.log: cannot "), "{}", outcome.report());
}

#[test]
fn a_full_file_system_fails_a_writer_and_takes_nothing() {
    if !require("mounts") {
        return;
    }
    let case = remembering();
    let copy = tempfile::tempdir().unwrap();
    let mut failed = 0;
    for writer in WRITERS {
        // The folder is left out whose records and caches may come and go.
        let script = format!(
            "exec 3>&1 && cp -a $PLACE/. {copy} && mount -t tmpfs -o size=8m tmpfs $PLACE && cp -a {copy}/. $PLACE && cd $PLACE/project\n\
             cat /dev/zero >$PLACE/filler 2>&-; ({writer}); echo code $?; rm $PLACE/filler\n\
             diff -r -x .annals -x 'mem.db*' {copy}/project $PLACE/project && diff -r -x 'mem.db*' {copy}/home $PLACE/home && echo same\n\
             $ANNALS facts list && $ANNALS facts check && ({writer})",
            copy = copy.path().display()
        );
        let outcome = with_mounts(&case, &script);
        assert_eq!(outcome.exit_code(), Some(0), "{writer}: {}", outcome.report());
        let said = outcome.stdout();
        assert!(said.contains("before: before"), "{}", outcome.report());
        if said.contains("code 1\n") {
            failed += 1;
            is_told(&outcome, &["No space left", "is full", "may be full"]);
            assert!(said.contains("\nsame\n"), "{writer}: {}", outcome.report());
        } else {
            // A few bytes may find room in the last block of a file.
            assert!(said.contains("code 0\n"), "{writer}: {}", outcome.report());
        }
    }
    assert!(failed * 3 > WRITERS.len() * 2, "{failed} writers failed");
}

#[test]
fn files_of_every_store_that_come_and_go_stop_no_reader() {
    let case = remembering();
    let files = [
        ".vbw-planning/STATE.md",
        ".vibekit/memory/before.md",
        ".vibekit/notepad.md",
        "docs/memory/DECISIONS.md",
        "docs/memory/STATE.md",
        "CLAUDE.md",
        ".annals/history",
        "../home/.codex/memory.jsonl",
        "../home/.local/share/annals/mem.db",
    ];
    let files = files.map(|file| case.root().join(file));
    let away = |file: &Path| file.with_extension("away");
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            for reader in READERS.iter().cycle().take(READERS.len() * 3) {
                let outcome = shell(&case, &format!("$ANNALS {reader}")).output();
                assert!(outcome.crash().is_none(), "{}", outcome.report());
                // What is asked for by name may be gone, and a database may go while it is read.
                let expected = if reader.starts_with("facts") { 1 } else { 3 };
                let code = outcome.exit_code().unwrap();
                let is_told = code == expected && outcome.stderr().starts_with("error: ");
                assert!(code == 0 || is_told, "{}", outcome.report());
            }
        });
        for file in files.iter().cycle() {
            fs::rename(file, away(file)).unwrap();
            thread::yield_now();
            fs::rename(away(file), file).unwrap();
            if reading.is_finished() {
                break;
            }
        }
        reading.join().unwrap();
    });
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let case = remembering();
    let earlier = "2025-01-01T00:00:00Z";
    for writer in WRITERS.iter().filter(|writer| !writer.contains("undo")) {
        let at = |now| shell(&case, writer).env("ANNALS_NOW", now).output();
        let outcome = at(earlier);
        assert_eq!(outcome.exit_code(), Some(0), "{}", outcome.report());
    }
    for (reader, words) in [
        ("journal tail", &["before", "new"][..]),
        ("facts list", &["before: before", "new: new"]),
        ("notepad read", &["before", "new"]),
        ("entry list", &["new"]),
        ("patterns list", &["Shopping Lists"]),
    ] {
        let outcome = shell(&case, &format!("$ANNALS {reader}")).success();
        for word in words {
            assert!(outcome.stdout().contains(word), "{}", outcome.report());
        }
    }
    shell(&case, "$ANNALS facts check").success();
    shell(&case, "$ANNALS entry audit").success();
    // The last write is the one that is taken back, not the one with the latest date.
    shell(&case, "$ANNALS notepad manual latest")
        .env("ANNALS_NOW", "2024-01-01T00:00:00Z")
        .success();
    shell(&case, "$ANNALS undo").success();
    let pad = shell(&case, "$ANNALS notepad read").success().stdout();
    assert!(!pad.contains("latest") && pad.contains("new"), "{pad}");
}
