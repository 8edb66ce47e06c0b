//! Knowledge entries under stress: many writers, hostile files, files written by other tools.

use std::collections::BTreeSet;
use std::time::Duration;
use std::{fs, thread};

use crate::support::{Case, Outcome, difference};

const MEMORY: &str = ".vibekit/memory";
const PROCESSES: usize = 16;
const ROUNDS: usize = 5;

fn write(case: &Case, key: &str, body: impl Into<Vec<u8>>, more: &str) -> Outcome {
    let line =
        format!("entry write --key {key} --type gotcha --confidence low --body-stdin {more}");
    case.run(&line).stdin(body).output()
}

fn memory(case: &Case, name: &str) -> String {
    let bytes = case.read(&format!("{MEMORY}/{name}")).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn sixteen_writers_lose_nothing() {
    let case = Case::empty();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let case = &case;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let key = format!("entry-{process}-{round}");
                    let written = write(case, &key, format!("About {key}.\n"), "--no-history");
                    assert_eq!(written.exit_code(), Some(0), "{}", written.report());
                }
            });
        }
    });
    let wanted: BTreeSet<String> = (0..PROCESSES)
        .flat_map(|process| (0..ROUNDS).map(move |round| format!("entry-{process}-{round}")))
        .collect();
    let files: BTreeSet<String> = case
        .tree()
        .into_keys()
        .filter_map(|path| {
            Some(path.strip_prefix(".vibekit/memory/entry-")?.strip_suffix(".md")?.to_owned())
        })
        .map(|rest| format!("entry-{rest}"))
        .collect();
    assert_eq!(files, wanted);
    let log = memory(&case, "log.md");
    let logged: Vec<&str> = log
        .lines()
        .map(|line| line.strip_prefix("- 2026-03-01T12:00:00Z write ").unwrap())
        .map(|rest| rest.strip_suffix(" (gotcha, low)").unwrap())
        .collect();
    assert_eq!(logged.len(), wanted.len());
    assert_eq!(logged.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), wanted);
    let audit = case.run("entry audit --json").success().json();
    assert_eq!(audit["index_rebuilt"], false, "INDEX.md was right all along");
}

#[test]
fn writers_of_one_entry_take_turns() {
    let case = Case::empty();
    write(&case, "shared", "# Shared\n", "");
    thread::scope(|scope| {
        for process in 0..8 {
            let case = &case;
            scope.spawn(move || {
                for _ in 0..10 {
                    let read = case.run("entry read --key shared --json").success().json();
                    let hash = read["hash"].as_str().unwrap();
                    let body = format!("{}- {process}\n", read["body"].as_str().unwrap());
                    let outcome = write(case, "shared", body, &format!("--if-match {hash}"));
                    assert!(matches!(outcome.exit_code(), Some(0 | 4)), "{}", outcome.report());
                }
            });
        }
    });
    let lines = memory(&case, "shared.md").lines().filter(|line| line.starts_with("- ")).count();
    let writes = memory(&case, "log.md").lines().count() - 1;
    assert_eq!(lines, writes, "each write that was let through is there");
}

#[test]
fn a_body_of_a_megabyte_round_trips() {
    let case = Case::empty();
    let body = format!("# Long\n\n{}", "日本語 and \u{1F680} and \u{5e9}\n".repeat(40_000));
    assert!(body.len() > 1_000_000);
    assert_eq!(write(&case, "long", body.as_str(), "").exit_code(), Some(0));
    assert!(memory(&case, "long.md").ends_with(&body));
    let found =
        case.run("entry query --text 日本語 --json").within(Duration::from_secs(20)).success();
    assert_eq!(found.json()["hits"][0]["key"], "long");
    let audit = case.run("entry audit --json").within(Duration::from_secs(20)).success().json();
    assert_eq!(audit["oversized"][0], "long");
    let changed = body.replacen("日本語", "日本", 1);
    let updated = write(&case, "long", changed, "");
    assert_eq!(updated.stdout(), "Updated long (+1/-1 lines).\n");
    let too_long = write(&case, "huge", vec![b'x'; 9 * 1024 * 1024], "");
    assert_eq!(too_long.exit_code(), Some(1), "{}", too_long.report());
}

#[test]
fn invalid_utf_8_survives_an_update_of_the_front_matter() {
    let case = Case::empty();
    let old = b"---\nkey: a\ntype: gotcha\nupdated: 2026-01-01\n---\n\n# A\n\n\xff\xfe\0\n";
    case.write(&format!("{MEMORY}/a.md"), old);
    case.run("entry write --key a --type gotcha --confidence low").success();
    let new = case.read(&format!("{MEMORY}/a.md")).unwrap();
    assert!(new.ends_with(b"---\n\n# A\n\n\xff\xfe\0\n"));
    assert!(new.starts_with(
        b"---\nkey: a\ntype: gotcha\ntags: []\ncreated: 2026-01-01\nupdated: 2026-03-01\n\
            status: active\nconfidence: low\n---\n"
    ));
}

#[test]
fn missing_front_matter_is_added_and_unclosed_front_matter_is_not_changed() {
    let case = Case::empty();
    case.write(&format!("{MEMORY}/plain.md"), "# Plain\n\nText.\n");
    case.run("entry write --key plain --type gotcha --confidence low").success();
    assert!(memory(&case, "plain.md").starts_with("---\nkey: plain\ntype: gotcha\n"));
    assert!(memory(&case, "plain.md").ends_with("---\n\n# Plain\n\nText.\n"));
    case.write(&format!("{MEMORY}/open.md"), "---\nkey: open\ntype: gotcha\n\n# Open\n");
    let before = case.tree();
    case.run("entry write --key open --type gotcha --confidence low").code(4);
    assert_eq!(difference(&before, &case.tree()), Vec::<String>::new());
}

#[test]
fn paths_cannot_leave_the_store() {
    let case = Case::empty();
    case.write("secret.md", "secret\n").write(&format!("{MEMORY}/a.md"), "# A\n");
    for key in ["../../secret", "/etc/passwd", "..", "a/../a", "a\\b", "%2e%2e"] {
        let read = case.run("entry read --key").args([key]).output();
        assert!(matches!(read.exit_code(), Some(3 | 4)), "{}", read.report());
        assert_eq!(read.stdout(), "");
        case.run("entry delete --reason x --key").args([key]).code(4);
    }
}

#[test]
fn the_stores_own_files_are_not_entries() {
    let case = Case::empty();
    case.write("a.md", "Text.\n");
    case.run("entry write --key a --type gotcha --confidence low --body @a.md").success();
    for key in ["log", "INDEX"] {
        let read = case.run("entry read --key").args([key]).code(4);
        assert_eq!(read.stdout(), "");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_store() {
    use std::os::unix::fs::symlink;

    let case = Case::empty();
    case.write("outside.md", "---\nkey: out\ntype: gotcha\n---\n\nneedle\n");
    case.write(&format!("{MEMORY}/inside.md"), "---\nkey: inside\ntype: gotcha\n---\n\n# I\n");
    let at = |name: &str| case.root().join(MEMORY).join(name);
    symlink("../../outside.md", at("out.md")).unwrap();
    symlink("inside.md", at("alias.md")).unwrap();
    symlink("nowhere.md", at("dangling.md")).unwrap();
    symlink("loop.md", at("loop.md")).unwrap();
    case.run("entry read --key out").code(4);
    case.run("entry read --key alias").success();
    let found = case.run("entry query --text needle --json").success();
    assert_eq!(found.json()["hits"].as_array().unwrap().len(), 0);
    let before = case.tree();
    let refused = write(&case, "out", "# Mine\n", "");
    assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
    assert_eq!(difference(&before, &case.tree()), Vec::<String>::new());
    let audit = case.run("entry audit --json").success().json();
    let invalid: Vec<&str> = audit["invalid"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["key"].as_str().unwrap())
        .collect();
    for key in ["dangling", "loop", "out"] {
        assert!(invalid.contains(&key), "{key} in {invalid:?}");
    }
}

#[test]
fn other_files_are_left_alone() {
    let case = Case::empty();
    case.write(&format!("{MEMORY}/notes.txt"), "needle")
        .write(&format!("{MEMORY}/.hidden.md"), "needle")
        .write(&format!("{MEMORY}/sub/a.md"), "needle")
        .write(&format!("{MEMORY}/dir.md/a"), "needle");
    let found = case.run("entry query --text needle").success();
    assert_eq!((found.stdout(), found.stderr()), ("hits: []\n".to_owned(), String::new()));
    case.run("entry audit").success();
}

#[test]
fn every_change_of_a_file_is_seen_immediately() {
    let case = Case::empty();
    for number in 0..40 {
        case.write(
            &format!("{MEMORY}/e{number}.md"),
            format!("---\nkey: e{number}\ntype: gotcha\n---\n\n# E {number}\n\nneedle\n"),
        );
    }
    let count = || {
        let found = case.run("entry query --text needle --json").success().json();
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!(count(), 40);
    fs::remove_file(case.root().join(MEMORY).join("e1.md")).unwrap();
    // The same size, at the same time.
    case.write(&format!("{MEMORY}/e2.md"), "---\nkey: e2\ntype: gotcha\n---\n\n# E 2\n\nneadle\n");
    assert_eq!(count(), 38);
}

#[test]
fn reading_works_in_a_read_only_project() {
    let case = Case::empty();
    case.write(&format!("{MEMORY}/a.md"), "---\nkey: a\ntype: gotcha\n---\n\n# A\n\nneedle\n");
    case.write(".annals", "in the way");
    case.run("entry query --text needle").success();
    case.run("entry list").success();
    case.run("entry read --key a").success();
    let refused = write(&case, "b", "Text.\n", "");
    assert_eq!(refused.exit_code(), Some(4), "{}", refused.report());
}

#[test]
fn the_store_of_the_settings_is_used() {
    let case = Case::empty();
    case.write("annals.toml", "store = \"knowledge\"\n");
    write(&case, "a", "Text.\n", "");
    assert!(case.read("knowledge/memory/a.md").is_some());
}

#[test]
fn a_store_outside_is_written_if_the_user_s_linked_roots_name_it() {
    let case = Case::empty();
    let outside = case.home().join("notes");
    fs::create_dir_all(&outside).unwrap();
    let remember = || case.run("remember --key gate the gate is red").env("ANNALS_STORE", &outside);
    let refused = remember().code(4).stderr();
    assert!(
        refused.contains("\nhint: the project is [ROOT]; linked_roots in your own "),
        "{refused}"
    );
    remember().env("ANNALS_LINKED_ROOTS", &outside).success();
    let listed = case.run("entry list").env("ANNALS_STORE", &outside).success().stdout();
    assert!(listed.contains("key: gate"), "{listed}");
}

#[test]
fn undoing_a_write_removes_the_entry_and_its_index_row() {
    let case = Case::empty();
    write(&case, "a", "One.\n", "");
    let before = case.tree();
    write(&case, "b", "Two.\n", "");
    case.run("undo").success();
    assert_eq!(difference(&before, &case.tree()), ["changed .vibekit/memory/log.md"]);
    // Also if other entries were written since.
    write(&case, "c", "Three.\n", "");
    case.run("undo 1").success();
    let index = memory(&case, "INDEX.md");
    assert!(index.contains("| c |") && !index.contains("| a |"), "{index}");
    let audit = case.run("entry audit --json").success().json();
    assert_eq!(audit["index_rebuilt"], false);
    case.run("undo 4").success();
    assert_eq!(case.read(".vibekit/memory/INDEX.md"), None);
    assert_eq!(case.run("entry audit --json").success().json()["index_rebuilt"], false);
}

#[test]
fn an_entry_that_cannot_be_read_still_exists() {
    let case = Case::empty();
    write(&case, "a", "# A\n\nOne.\n", "");
    write(&case, "b", "# B\n\nSee [[a]] and [[gone]].\n", "");
    let large = fs::File::create(case.root().join(MEMORY).join("a.md")).unwrap();
    large.set_len(8 * 1024 * 1024 + 1).unwrap();
    let audit = case.run("entry audit --json").output().json();
    assert_eq!(audit["broken_links"].as_array().unwrap().len(), 1);
    assert_eq!(audit["broken_links"][0]["to"], "gone");
}

#[cfg(target_os = "linux")]
#[test]
fn an_entry_whose_name_is_not_utf_8_is_named() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let case = Case::empty();
    write(&case, "a", "# A\n\nOne.\n", "");
    let name = OsStr::from_bytes(b"caf\xe9.md");
    fs::write(case.root().join(MEMORY).join(name), "# Coffee\n").unwrap();
    let audit = case.run("entry audit --json").output().json();
    let problem = audit["invalid"][0]["problem"].as_str().unwrap();
    assert!(problem.starts_with("has a file name that is not valid UTF-8"), "{audit}");
}
