//! Folders in which something is missing, in the way, broken or far too big: said clearly, nothing lost, no waiting.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::cli::{GSD, VBW, assert_error, assert_hinted, assert_unchanged};
use crate::support::{Case, Outcome, on_two_threads};

const STATE: &str = ".vbw-planning/STATE.md";
const PHASE: &str = ".vbw-planning/phases/04-low-stock-alerts";
const NO_FOLDER: &str = "looked for .vbw-planning, .yolo-planning, .planning, .ariadna_planning; `annals init` creates one, --planning-dir names another";
/// Far more than any of these runs takes, and far less than one that reads or walks without bound.
const SOON: Duration = Duration::from_secs(30);

/// Fails the test unless the reading commands go on with these warnings, on time, and write nothing at all.
fn reads_on(case: &Case, warnings: &[&str]) -> Outcome {
    let before = case.whole_tree();
    let lines: Vec<_> = warnings.iter().map(|one| format!("warning: {one}\n")).collect();
    let expected = lines.concat();
    let status = case.run("status").within(SOON).success();
    assert_eq!(status.stderr(), expected, "{}", status.report());
    let json = case.run("status --json").within(SOON).success();
    let told: Vec<String> = json.json()["warnings"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(told, warnings, "{}", json.report());
    let sync = case.run("sync --dry-run").within(SOON).success();
    assert_eq!(sync.stderr(), expected, "{}", sync.report());
    assert_eq!(before, case.whole_tree());
    status
}

/// Fails the test unless a result holds this text.
fn says(outcome: &Outcome, text: &str) {
    assert!(outcome.stdout().contains(text), "{}", outcome.report());
}

/// A warning of a document, as it stands on stderr.
fn told(warning: &serde_json::Value) -> String {
    let file = warning["file"].as_str().unwrap();
    let line = warning["line"].as_u64().map_or(String::new(), |line| format!("{line}:"));
    format!("{file}:{line} {}", warning["message"].as_str().unwrap())
}

/// Fails the test unless a command ends so, as text and as JSON, and changes nothing.
fn refuses(case: &Case, line: &str, code: i32, error: &str, hint: &str) {
    let before = case.tree();
    let outcome = case.run(line).within(SOON).code(code);
    assert_error(&outcome, error, hint);
    assert_unchanged(&before, case, &outcome);
    let outcome = case.run(line).args(["--json"]).within(SOON).code(code);
    let message = outcome.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.ends_with(&message), "{}", outcome.report());
    assert_unchanged(&before, case, &outcome);
}

fn remove(case: &Case, path: &str) {
    let path = case.root().join(path);
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

fn replaced_by_a_folder(case: &Case, path: &str) {
    let _absent = fs::remove_file(case.root().join(path));
    fs::create_dir_all(case.root().join(path)).unwrap();
}

#[test]
fn no_planning_folder() {
    let case = Case::empty();
    case.write("README.md", "# Mine\n");
    let before = case.whole_tree();
    for line in [
        "plan", "plan 3", "execute", "execute --all", "ship", "ship --cleanup-only", "sync",
        "sync --check", "sync --dry-run", "sync --stdout", "sync --fix-state", "patterns list",
        "patterns show 1", "patterns relevant", "patterns insights", "pause", "resume",
        "milestone list", "milestone new next", "milestone switch next",
    ] {
        refuses(&case, line, 3, "[ROOT]: no planning folder here", NO_FOLDER);
    }
    refuses(&case, "undo", 3, "nothing to undo", "");
    for line in ["log", "config"] {
        case.run(line).success();
    }
    assert_eq!(before, case.whole_tree());
    // A file of that name is no folder.
    case.write(".planning", "");
    refuses(&case, "sync", 3, "[ROOT]: no planning folder here", NO_FOLDER);
}

#[test]
fn an_unknown_phase_names_the_known_ones() {
    let case = Case::new(VBW);
    for line in ["plan 99", "execute 99", "patterns relevant 99"] {
        let hint = "known phases: 1, 2, 2.1, 3, 4";
        refuses(&case, line, 3, "there is no phase 99", hint);
    }
    for line in ["plan third", "execute third", "patterns relevant third"] {
        let hint = "write it like 3, 05.1 or 3b";
        refuses(&case, line, 2, "\"third\" is not a phase number", hint);
    }
}

#[test]
fn an_empty_planning_folder() {
    let case = Case::empty();
    fs::create_dir(case.root().join(".vbw-planning")).unwrap();
    let next = reads_on(&case, &[]).stdout();
    assert!(next.contains("Next:       /vbw:init\n"), "{next}");
    let case = Case::empty();
    fs::create_dir(case.root().join(".planning")).unwrap();
    let status = reads_on(&case, &[]);
    assert_eq!(
        status.stdout(),
        "\
project (gsd, .planning)
Phase:      none
Plans:      none
Next:       /gsd:new-project
            no phase is planned yet
"
    );
    case.run("sync").success();
    assert_eq!(case.tree().keys().collect::<Vec<_>>(), [".planning/", "CLAUDE.md"]);
}

#[test]
fn active_points_nowhere() {
    let case = Case::new(VBW);
    let here = "the planning folder itself is used";
    for (text, named) in [
        ("nowhere\n", "\"nowhere\""),
        ("", "\"\""),
        ("../other", "\"../other\""),
        ("a\nb", "\"a\\nb\""),
        ("phases/../..", "\"phases/../..\""),
    ] {
        case.write(".vbw-planning/ACTIVE", text);
        let warning =
            format!(".vbw-planning/ACTIVE:1: names {named}, which is not a milestone here; {here}");
        let status = reads_on(&case, &[&warning]);
        says(&status, "Phase:      4 - Low-Stock Alerts");
    }
    replaced_by_a_folder(&case, ".vbw-planning/ACTIVE");
    let warning = format!(".vbw-planning/ACTIVE: is not a file, so it names no milestone; {here}");
    reads_on(&case, &[&warning]);
}

#[test]
fn plans_and_summaries_without_front_matter() {
    let case = Case::new(VBW);
    case.write(&format!("{PHASE}/04-02-PLAN.md"), "Just words.\n");
    let status = reads_on(&case, &[]);
    says(&status, "13 of 15 complete");
    case.write(&format!("{PHASE}/04-02-SUMMARY.md"), "# Summary\n");
    let status = reads_on(&case, &[]);
    says(&status, "14 of 15 complete");
    let summary = format!("{PHASE}/04-02-SUMMARY.md");
    let found = case.run("inspect --json").args([summary]).success().json();
    assert_eq!(found["phase"], "4");
    assert!(found["plan"].as_str().unwrap().ends_with('2'), "{found}");
}

#[test]
fn a_file_of_two_hundred_megabytes_is_not_read() {
    let case = Case::new(VBW);
    let file = fs::File::create(case.root().join(STATE)).unwrap();
    file.set_len(200 * 1024 * 1024).unwrap();
    let message = format!("{STATE}: is larger than 8 MiB, so it is not read");
    reads_on(&case, &[&message]);
    refuses(
        &case,
        "inspect .vbw-planning/STATE.md",
        1,
        &message,
        "split it, or move a part of it elsewhere",
    );
    #[cfg(target_os = "linux")]
    case.shell("ulimit -v 131072 && exec \"$ANNALS\" status").success();
    let file = fs::File::create(case.root().join("CLAUDE.md")).unwrap();
    file.set_len(9 * 1024 * 1024).unwrap();
    let outcome = case.run("sync -q").code(1);
    assert_error(
        &outcome,
        "CLAUDE.md: is larger than 8 MiB, so it is not read",
        "split it, or move a part of it elsewhere",
    );
}

#[test]
fn a_folder_in_place_of_a_file() {
    let case = Case::new(VBW);
    replaced_by_a_folder(&case, &format!("{PHASE}/04-02-SUMMARY.md"));
    let summary = format!("{PHASE}/04-02-SUMMARY.md: a folder where a file is expected; skipped");
    let status = reads_on(&case, &[&summary]);
    says(&status, "13 of 15 complete");
    for name in ["ROADMAP.md", "PROJECT.md", "STATE.md"] {
        replaced_by_a_folder(&case, &format!(".vbw-planning/{name}"));
    }
    let other = |name: &str| format!(".vbw-planning/{name}: is a directory, a file was expected");
    let (state, roadmap, project) = (other("STATE.md"), other("ROADMAP.md"), other("PROJECT.md"));
    reads_on(&case, &[&summary, &state, &roadmap, &project]);
    refuses(&case, "inspect .vbw-planning/STATE.md", 1, &state, "move or rename it");
    replaced_by_a_folder(&case, "CLAUDE.md");
    let outcome = case.run("sync -q").code(1);
    assert_error(&outcome, "CLAUDE.md: is a directory, a file was expected", "move or rename it");
}

#[test]
fn a_file_in_place_of_a_folder() {
    let case = Case::new(VBW);
    for name in ["phases", "milestones"] {
        remove(&case, &format!(".vbw-planning/{name}"));
        case.write(&format!(".vbw-planning/{name}"), "");
    }
    let left_out =
        |name| format!(".vbw-planning/{name}: a file where a folder is expected; skipped");
    reads_on(&case, &[&left_out("phases"), &left_out("milestones")]);
}

#[test]
fn our_own_folder_is_a_file() {
    let case = Case::new(VBW);
    case.write(".annals", "mine\n");
    reads_on(&case, &[]);
    let log = case.run("log").success();
    assert_eq!(log.stdout(), "No changes recorded.\n");
    refuses(
        &case,
        "sync",
        4,
        ".annals: is in the way of annals' own folder",
        "move it away: annals keeps its locks and its history there",
    );
    for name in ["locks", "history"] {
        let case = Case::new(VBW);
        case.write(&format!(".annals/{name}"), "mine\n");
        let error = format!(".annals/{name}: is in the way of annals' own folder");
        refuses(
            &case,
            "sync",
            4,
            &error,
            "move it away: annals keeps its locks and its history there",
        );
        assert_eq!(case.read(&format!(".annals/{name}")).unwrap(), b"mine\n");
    }
}

#[test]
fn records_that_are_broken() {
    let case = Case::new(VBW);
    case.run("sync").success();
    case.write(".annals/history/1.record", b"\xff\0{{{");
    case.write(".annals/history/2.record", "");
    let log = case.run("log").success();
    assert_eq!(log.stdout(), "No changes recorded.\n");
    let warning =
        "warning: .annals/history: 2 files not written by you with this version, so not listed\n";
    assert_eq!(log.stderr(), warning, "{}", log.report());
    let before = case.tree();
    let undo = case.run("undo").output();
    assert!(matches!(undo.exit_code(), Some(1 | 3)), "{}", undo.report());
    assert!(undo.stderr().starts_with("error: "), "{}", undo.report());
    assert_unchanged(&before, &case, &undo);
    case.write(STATE, "# State\n");
    let sync = case.run("sync").success();
    assert!(sync.stdout().starts_with("CLAUDE.md updated ("), "{}", sync.report());
}

#[test]
fn bytes_that_are_no_text() {
    let case = Case::new(VBW);
    let mut state = case.read(STATE).unwrap();
    let line = state.split(|byte| *byte == b'\n').count();
    state.extend(b"caf\xe9 \xff\xfe\n\xc3\n");
    case.write(STATE, &state);
    let status = reads_on(&case, &[&format!("{STATE}:{line}: is not valid UTF-8")]);
    says(&status, "11 decisions");
    case.run("sync -q").success();
    assert_eq!(case.read(STATE).unwrap(), state);

    // UTF-16, as an editor on Windows may save it.
    let utf_16: Vec<u8> = "\u{feff}# State\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    case.write(STATE, utf_16);
    reads_on(&case, &[&format!("{STATE}:1: is not valid UTF-8")]);
}

#[test]
fn a_file_of_zeros() {
    let case = Case::new(VBW);
    case.write(STATE, b"# State\n\0\0\0\0");
    reads_on(&case, &[]);
    let json = case.run("inspect --json .vbw-planning/STATE.md").success();
    assert!(!json.stdout().contains('\0'), "{:?}", json.stdout());
}

#[cfg(unix)]
/// Texts that make a careless parser recurse, or walk all it has for each piece.
fn hostile_texts() -> Vec<(&'static str, String)> {
    // As much of each: what grows with the square of its pieces is over the limit, and nothing else comes near it.
    let times = |piece: &str| piece.repeat(30_000 / piece.len());
    vec![
        ("quotes", times(">")),
        ("spaced quotes", times("> ")),
        ("brackets", times("[")),
        ("links", times("[a](")),
        ("images", times("![")),
        ("bullets", times("* + ")),
        ("numbers", times("1. ")),
        ("quoted numbers", times("> 1. ")),
        ("stars", times("**a")),
        ("backticks", times("`a``")),
        ("tags", times("<a ")),
        ("comments", times("<!--")),
        ("pipes", times("|")),
        ("headings", times("# h\n")),
        ("phases", times("### Phase 1: A\n")),
        ("entries", times("- [x] **Phase 1: A**\n")),
        ("decisions", times("- 2026-01-01: a - b\n")),
        ("fences", times("```\n")),
        ("labels", times("**Status:** ")),
        ("label lines", times("Phase: 1 of 2\n")),
        ("definitions", times("[a]: b\n")),
        ("dashes", times("---\n")),
        ("returns", times("\r")),
        ("tabs", times("\t- ")),
        ("digits", times("9")),
        ("numbers with dots", times("1.")),
        ("one line", "word ".repeat(40_000)),
        ("deeper lists", (0..500).map(|depth| "  ".repeat(depth) + "- x\n").collect()),
    ]
}

#[cfg(unix)]
#[test]
fn hostile_markdown_takes_no_longer_than_its_size() {
    let files = [
        STATE.to_owned(),
        ".vbw-planning/ROADMAP.md".to_owned(),
        ".vbw-planning/PROJECT.md".to_owned(),
        ".vbw-planning/patterns/PATTERNS.md".to_owned(),
        format!("{PHASE}/04-02-PLAN.md"),
        format!("{PHASE}/04-02-SUMMARY.md"),
        "CLAUDE.md".to_owned(),
    ];
    let planning = &files[..files.len() - 1];
    on_two_threads(&hostile_texts(), |(name, text)| {
        let case = Case::new(VBW);
        for file in &files {
            case.write(file, format!("# X\n\n## Decisions\n\n{text}\n"));
        }
        let before = case.tree();
        // Time on the processor: the machine may be busy with other tests.
        let limited = |line: &str| {
            let command = format!("ulimit -t 2 && exec \"$ANNALS\" {line}");
            let outcome = case.shell(&command).output();
            assert_eq!(outcome.exit_code(), Some(0), "{name}: {}", outcome.report());
            outcome
        };
        let sync = limited("sync --dry-run");
        let inspect = limited(&format!("inspect --json {}", planning.join(" ")));
        let lines = inspect.try_json_lines();
        let lines = lines.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(lines.len(), planning.len(), "{name}");
        assert_unchanged(&before, &case, &sync);
    });
}

#[test]
fn hostile_front_matter_is_read_line_by_line_with_few_warnings() {
    let case = Case::new(VBW);
    let summary = format!("{PHASE}/04-02-SUMMARY.md");
    let level = |level: usize| {
        format!(
            "l{level}: &l{level} [*l{0}, *l{0}, *l{0}]
",
            level - 1
        )
    };
    let bomb = (1..20).map(level).collect::<Vec<_>>().concat();
    let keys: Vec<_> = (0..100_000)
        .map(|key| {
            format!(
                "k{key}: 1
"
            )
        })
        .collect();
    for (name, front) in [
        ("aliases", format!("l0: &l0 [x, x]\n{bomb}")),
        ("brackets", format!("phase: {}\n", "[".repeat(100_000))),
        ("braces", format!("phase: {}\n", "{a: ".repeat(100_000))),
        ("dashes", format!("phase: {}\n", "- ".repeat(100_000))),
        ("depth", (0..1_500).map(|depth| " ".repeat(depth) + "a:\n").collect()),
        ("broken lines", "- ]\n: :\n\t\n".repeat(30_000)),
        ("keys", keys.concat()),
        ("one key", "phase: 4\n".repeat(100_000)),
        ("quotes", "a: \"\n".repeat(50_000)),
        ("blocks", "a: |\n".repeat(50_000)),
    ] {
        case.write(&summary, format!("---\n{front}---\n\n# Summary\n"));
        let outcome = case.run("inspect").args([&summary]).within(SOON).success();
        let warnings = outcome.stderr().lines().count();
        assert!((0..=20).contains(&warnings), "{name}: {warnings}\n{}", outcome.report());
        for warning in outcome.stderr().lines() {
            let start = format!("warning: {summary}:");
            assert!(warning.starts_with(&start), "{name}: {}", outcome.report());
        }
        case.run("status").within(SOON).success();
    }
}

#[test]
fn a_phase_folder_with_five_thousand_files() {
    let case = Case::new(VBW);
    for number in 1..=2_500 {
        let plan = format!(".vbw-planning/phases/05-many/05-{number}-PLAN.md");
        case.write(&plan, "").write(&plan.replace("PLAN", "SUMMARY"), "# Summary\n");
    }
    let status = case.run("status").within(SOON).success();
    assert!(status.stdout().contains("Plans:      2513 of 2515 complete\n"), "{}", status.report());
    assert_eq!(status.stderr(), "");
}

#[test]
fn settings_that_are_no_settings() {
    let case = Case::new(GSD);
    let before = case.whole_tree();
    for (text, line) in [
        ("max_lines = \n", ":1: "),
        ("\n\n[[[\n", ":3: "),
        ("targets = [\"claude\", \"cursor\"]\n", ":1: "),
        ("max_lines = 100000\n", ":1: "),
    ] {
        case.write("annals.toml", text);
        for command in ["status", "sync", "config"] {
            let outcome = case.run(command).code(2);
            let start = format!("error: annals.toml{line}");
            assert!(outcome.stderr().starts_with(&start), "{}", outcome.report());
        }
    }
    case.write("annals.toml", b"# \xff\n");
    let outcome = case.run("status").output();
    assert_eq!(outcome.crash(), None);
    remove(&case, "annals.toml");
    replaced_by_a_folder(&case, "annals.toml");
    let outcome = case.run("status").code(1);
    assert_error(&outcome, "annals.toml: is a directory, a file was expected", "move or rename it");
    remove(&case, "annals.toml");
    assert_eq!(before, case.whole_tree());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::support::require;

    #[test]
    fn a_pipe_in_place_of_a_file_is_not_waited_for() {
        let case = Case::new(VBW);
        for file in [STATE, ".vbw-planning/ROADMAP.md", ".vbw-planning/ACTIVE"] {
            let _absent = fs::remove_file(case.root().join(file));
            case.program("mkfifo").args([file]).success();
        }
        case.program("mkfifo").args([format!("{PHASE}/04-02-SUMMARY.md")]).success();
        let other = format!("{STATE}: is not a regular file, so it is not read");
        reads_on(
            &case,
            &[
                ".vbw-planning/ACTIVE: is not a file, so it names no milestone; the planning folder itself is used",
                &format!(
                    "{PHASE}/04-02-SUMMARY.md: a pipe, a device or a dead link where a file is expected; skipped"
                ),
                &other,
                ".vbw-planning/ROADMAP.md: is not a regular file, so it is not read",
            ],
        );
        refuses(&case, "inspect .vbw-planning/STATE.md", 1, &other, "move or rename it");
        remove(&case, "CLAUDE.md");
        case.program("mkfifo CLAUDE.md").success();
        let outcome = case.run("sync -q").within(SOON).code(1);
        assert_error(
            &outcome,
            "CLAUDE.md: is not a regular file, so it is not read",
            "move or rename it",
        );
    }

    #[test]
    fn links_that_go_in_circles() {
        let case = Case::new(VBW);
        let link = |to: &str, name: &str| {
            symlink(to, case.root().join(".vbw-planning").join(name)).unwrap();
        };
        link("loop-b", "phases/loop-a");
        link("loop-a", "phases/loop-b");
        link(".", "phases/self");
        link("..", "phases/up");
        let phase = "phases/04-low-stock-alerts";
        link("04-02-SUMMARY.md", &format!("{phase}/04-02-SUMMARY.md"));
        link("nowhere.md", &format!("{phase}/04-03-SUMMARY.md"));
        link(".", &format!("{phase}/inner"));
        let dead = |name: &str| {
            format!(
                ".vbw-planning/{phase}/{name}: a pipe, a device or a dead link where a file is expected; skipped"
            )
        };
        let no_phase = |name: &str| {
            format!(
                ".vbw-planning/phases/{name}: not a phase: its name has no phase number in front"
            )
        };
        let status = reads_on(
            &case,
            &[
                &dead("04-02-SUMMARY.md"),
                &dead("04-03-SUMMARY.md"),
                &no_phase("self"),
                &no_phase("up"),
            ],
        );
        says(&status, "13 of 15 complete");
    }

    #[test]
    fn the_context_file_leads_elsewhere() {
        let case = Case::new(VBW);
        remove(&case, "CLAUDE.md");
        let link = case.root().join("CLAUDE.md");
        case.write("../outside.md", "theirs\n");
        symlink("../outside.md", &link).unwrap();
        let outside = case.root().parent().unwrap().join("outside.md");
        for line in ["sync", "sync --check", "sync --dry-run", "sync --stdout"] {
            let before = case.tree();
            let refused = case.run(line).within(SOON).code(4);
            let error =
                "error: CLAUDE.md: is a link that leads outside the project, so it is not written";
            assert!(refused.stderr().contains(error), "{}", refused.report());
            assert_unchanged(&before, &case, &refused);
        }
        assert_eq!(fs::read(&outside).unwrap(), b"theirs\n");
        fs::remove_file(&link).unwrap();
        symlink("CLAUDE.md", &link).unwrap();
        let circle = case.run("sync").within(SOON).code(1);
        assert!(circle.stderr().starts_with("error: CLAUDE.md: cannot "), "{}", circle.report());
        // Inside the project a link is followed, and stays.
        fs::remove_file(&link).unwrap();
        symlink("AGENTS.md", &link).unwrap();
        case.run("sync").success();
        assert!(link.is_symlink());
        assert!(case.read("AGENTS.md").unwrap().starts_with(b"<!-- annals:begin"));
    }

    #[test]
    fn a_planning_folder_that_leads_elsewhere() {
        let case = Case::empty();
        case.write("../elsewhere/STATE.md", "# State\n");
        symlink("../elsewhere", case.root().join(".planning")).unwrap();
        let before = case.whole_tree();
        for line in ["status", "sync"] {
            let outcome = case.run(line).code(4);
            assert_hinted(&outcome, ".planning: ");
        }
        assert_eq!(before, case.whole_tree());
    }

    #[test]
    fn a_tree_that_nobody_may_write() {
        let Some(runner) = Unprivileged::available() else {
            return;
        };
        let case = Case::new(VBW);
        let before = case.whole_tree();
        for folder in [".vbw-planning/patterns", ".vbw-planning", "."] {
            set_mode(&case.root().join(folder), 0o555);
        }
        for line in
            ["status", "sync --dry-run", "sync --stdout", "log", "inspect .vbw-planning/STATE.md"]
        {
            let outcome = runner.run(&case, line, 0);
            assert_eq!(outcome.stderr(), "", "{}", outcome.report());
        }
        if !runner.prefix.is_empty() {
            // It is another user's.
            set_mode(case.root(), 0o755);
        }
        let doctor = runner.run(&case, "doctor", 0).stdout();
        assert!(doctor.contains(".annals cannot be written"), "{doctor}");
        let outcome = runner.run(&case, "sync", 1);
        assert_error(
            &outcome,
            ".annals: cannot create: Permission denied (os error 13)",
            "annals cannot write here; nothing was changed",
        );
        set_mode(case.root(), 0o755);
        assert_eq!(before, case.whole_tree());
    }

    #[test]
    fn files_that_may_not_be_read() {
        let Some(runner) = Unprivileged::available() else {
            return;
        };
        let case = Case::new(VBW);
        set_mode(&case.root().join(STATE), 0o000);
        let denied = format!("{STATE}: cannot read: Permission denied (os error 13)");
        let status = runner.run(&case, "status", 0);
        assert_eq!(status.stderr(), format!("warning: {denied}\n"));
        let inspect = runner.run(&case, "inspect .vbw-planning/STATE.md", 1);
        assert_error(&inspect, &denied, "");
        // Without it, CLAUDE.md would lose the milestone and the decisions.
        let before = case.read("CLAUDE.md");
        let sync = runner.run(&case, "sync", 1);
        let hint = "make it readable, then run the command again";
        assert_error(&sync, &format!("{denied}, so nothing is written"), hint);
        assert_eq!(case.read("CLAUDE.md"), before);
        let phases = case.root().join(".vbw-planning/phases");
        set_mode(&phases, 0o000);
        let status = runner.run(&case, "status", 1);
        set_mode(&phases, 0o755);
        let error = ".vbw-planning/phases: cannot list: Permission denied (os error 13)";
        assert_error(&status, error, "");
    }

    #[test]
    fn a_folder_that_may_be_written_but_not_read() {
        let Some(runner) = Unprivileged::available() else {
            return;
        };
        let case = Case::empty();
        case.write(".vibekit/notepad.md", "## Manual\n\n- keep\n");
        set_mode(case.root(), 0o777);
        set_mode(case.home(), 0o777);
        let folder = case.root().join(".vibekit");
        set_mode(&folder, 0o333);
        let added = runner.run(&case, "notepad working Feed", 0);
        assert_eq!(added.stderr(), "", "{}", added.report());
        set_mode(&folder, 0o755);
        let notepad = String::from_utf8(case.read(".vibekit/notepad.md").unwrap()).unwrap();
        assert!(notepad.contains("Feed"), "{notepad}");
    }

    #[test]
    fn a_context_file_that_may_not_be_written() {
        let case = Case::new(VBW);
        set_mode(&case.root().join("CLAUDE.md"), 0o444);
        refuses(&case, "sync", 4, "CLAUDE.md: is write-protected", "");
    }

    #[test]
    fn a_context_file_that_may_not_be_written_costs_no_lesson() {
        let case = Case::new(VBW);
        let file = case.root().join("CLAUDE.md");
        let before = fs::read(&file).unwrap();
        set_mode(&file, 0o444);
        let patterns = ".vbw-planning/patterns/PATTERNS.md";
        fs::remove_file(case.root().join(patterns)).unwrap();
        let run = case.run("execute --all").code(4);
        assert!(run.stderr().contains("CLAUDE.md: is write-protected"), "{}", run.report());
        assert!(case.read(patterns).is_some(), "{}", run.report());
        assert_eq!(fs::read(&file).unwrap(), before);
    }

    #[test]
    fn an_audit_of_entries_reports_where_nothing_can_be_written() {
        let Some(user) = Unprivileged::available() else {
            return;
        };
        let case = Case::empty();
        case.run("entry write --key a --type gotcha --confidence high --body-stdin")
            .stdin("See [[none]].\n")
            .success();
        let (lock, history) = (".annals/locks/entries", ".annals/history");
        set_mode(&case.root().join(lock), 0o444);
        set_mode(&case.root().join(history), 0o000);
        let audited = user.run(&case, "entry audit", 0);
        assert!(audited.stdout().contains("to: none"), "{}", audited.report());
        assert!(audited.stderr().contains(".annals/history: cannot list"), "{}", audited.report());
        // Only a change that is due fails.
        case.write(".vibekit/memory/INDEX.md", "");
        let refused = user.run(&case, "entry audit", 1);
        assert!(refused.stderr().contains("cannot write here"), "{}", refused.report());
        set_mode(&case.root().join(history), 0o700);
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs as one whom permissions bind: root may write anywhere, and gives up its rights first.
    struct Unprivileged {
        prefix: &'static str,
    }

    impl Unprivileged {
        fn available() -> Option<Self> {
            let case = Case::empty();
            let is_root = case.program("id -u").success().stdout() == "0\n";
            if is_root && !require("setpriv") {
                return None;
            }
            let prefix =
                if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
            Some(Self { prefix })
        }

        /// Runs a copy of the binary, for the folder it was built in may be closed to others.
        ///
        /// `cp` makes it: were it written by this process, a child that another test starts meanwhile would inherit
        /// the open file, and the system runs no file that is open for writing.
        fn run(&self, case: &Case, line: &str, code: i32) -> Outcome {
            let place = case.root().parent().unwrap();
            set_mode(place, 0o755);
            if !place.join("annals").exists() {
                let copy = format!("cp '{}' ../annals", env!("CARGO_BIN_EXE_annals"));
                case.shell(&copy).success();
            }
            let command = format!("exec {} ../annals {line}", self.prefix);
            case.shell(&command).code(code)
        }
    }
}
