//! Files with an unresolved merge conflict: both sides are read and named, and no command writes into one of them.

use crate::support::Case;

/// Returns both sides of a line as git leaves them.
fn sides(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n")
}

/// A project in which the merge of each store has failed.
fn case() -> Case {
    let case = Case::new("examples/vbw-project");
    let in_conflict = |file: &str, line: &str, ours: &str, theirs: &str| {
        let text = String::from_utf8(case.read(file).unwrap()).unwrap();
        assert!(text.contains(line), "{file} has no {line:?}");
        case.write(file, text.replacen(line, &sides(ours, theirs), 1));
    };
    let planning = ".vbw-planning";
    in_conflict(&format!("{planning}/STATE.md"), "Plans: 1/3\n", "Plans: 0/3", "Plans: 3/3");
    let lesson = "- Comparing whole output in `tests/cli.rs` made table changes safe (plan 03)\n";
    let patterns = format!("{planning}/patterns/PATTERNS.md");
    in_conflict(&patterns, lesson, "- Ours (plan 03)", "- Theirs (plan 03)");
    case.run("remember --key cache the cache is in redis").success();
    let entry = ".vibekit/memory/cache.md";
    let text = String::from_utf8(case.read(entry).unwrap()).unwrap();
    let sentence = text.lines().rfind(|line| line.contains("redis")).unwrap();
    in_conflict(entry, &format!("{sentence}\n"), sentence, "the cache is in memory");
    case.run("notepad priority ask Noor first").success();
    in_conflict(".vibekit/notepad.md", "- ask Noor first\n", "- ask Noor first", "- ask Ida first");
    case.run("ledger init").success();
    let objective = "Ship the alerts";
    let state = "docs/memory/STATE.md";
    let text = String::from_utf8(case.read(state).unwrap()).unwrap();
    let text = text.replacen("## Current Objective\n", "## Current Objective\n@\n", 1);
    case.write(state, text);
    in_conflict(state, "@\n", objective, "Ship the lists");
    case
}

#[test]
fn no_marker_reaches_a_session_and_each_file_is_named() {
    let case = case();
    for line in ["context", "status", "sync --stdout", "hook session-start", "patterns list"] {
        let run = case.run(line).stdin("{}").output();
        let stdout = run.stdout();
        for marker in ["<<<<", "====", ">>>>"] {
            assert!(!stdout.contains(marker), "{line}: {}", run.report());
        }
    }
    let context = case.run("context").success();
    for side in ["Ask Noor first", "Ask Ida first", "Ship the alerts", "Ship the lists"] {
        let found = context.stdout().to_lowercase();
        assert!(found.contains(&side.to_lowercase()), "{side}: {}", context.report());
    }
    for (line, file) in [
        ("context", "notepad.md"),
        ("context", "cache.md"),
        ("patterns list", "PATTERNS.md"),
        ("status", ".vbw-planning/STATE.md"),
        ("inspect .vbw-planning/STATE.md", ".vbw-planning/STATE.md"),
        ("ledger brief", "docs/memory/STATE.md"),
        ("audit", ".vbw-planning/STATE.md"),
        ("audit", "notepad.md"),
        ("audit", "PATTERNS.md"),
        ("audit", "cache.md"),
    ] {
        let run = case.run(line).output();
        let is_named =
            |line: &str| line.contains(file) && line.contains("unresolved merge conflict");
        let said = run.stdout() + &run.stderr();
        assert_eq!(
            said.lines().filter(|line| is_named(line)).count(),
            1,
            "{file}: {}",
            run.report()
        );
    }
}

#[test]
fn a_session_is_told_of_a_conflict_and_an_audit_fails() {
    let case = case();
    let start = case.run("hook session-start").stdin("{}").success().json();
    let text = start["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    for place in [".vbw-planning/STATE.md:9", ".vibekit/notepad.md:4", "docs/memory/STATE.md:7"] {
        let line = format!("- {place}: has an unresolved merge conflict; both sides are read");
        assert!(text.contains(&line), "{place}: {text}");
    }
    let entry = "[[cache]] (merge conflict, both sides) (unconfirmed) the cache is in redis the cache is in memory";
    assert!(text.contains(entry), "{text}");
    case.write(".vibekit/memory/log.md", sides("- write a", "- write b"));
    let notepad = format!("# Vibekit Notepad\n\n## Working Memory\n{}", sides("- a", "- b"));
    case.write(".vibekit/notepad.md", notepad);
    let audit = case.run("audit").success().stdout();
    assert!(
        audit.contains("files     conflicts      fault        5  resolve the conflict"),
        "{audit}"
    );
}

#[test]
fn a_conflict_over_a_heading_leaves_each_note_in_its_section() {
    let case = Case::empty();
    let side = |who: &str| format!("- {who} first\n\n## Working Memory\n- {who} works");
    let text =
        format!("## Priority Context\n- both\n{}- old\n", sides(&side("Noor"), &side("Ida")));
    case.write(".vibekit/notepad.md", &text);
    let read = |section: &str| {
        let read = case.run("notepad read --section").args([section]).success();
        read.stdout().lines().map(str::to_owned).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(read("priority"), ["- both", "- Noor first", "- Ida first"]);
    assert_eq!(read("working"), ["- Noor works", "- old", "- Ida works"]);
    // Resolved by leaving out the marks alone.
    let left = text.lines().filter(|line| !line.starts_with(['<', '=', '>']));
    case.write(".vibekit/notepad.md", left.collect::<Vec<_>>().join("\n"));
    let audit = case.run("audit").success().stdout();
    let found =
        ".vibekit/notepad.md: has several sections Working Memory, of which the first is written";
    assert!(audit.contains(found), "{audit}");
}

#[test]
fn no_command_writes_into_one_side() {
    let case = case();
    let before = case.tree();
    for line in [
        "notepad working and the parser",
        "patterns note --phase 2 Ours",
        "sync --fix-state",
        "remember --key cache the cache is on disk",
    ] {
        let refused = case.run(line).code(4);
        assert!(
            refused.stderr().contains("unresolved merge conflict"),
            "{line}: {}",
            refused.report()
        );
    }
    assert_eq!(case.tree(), before);
}

#[test]
fn an_example_of_a_conflict_in_a_block_of_code_is_text() {
    let case = Case::empty();
    let body = format!("# Merging\n\nGit writes:\n\n```\n{}```\n", sides("a", "b"));
    case.write("body.md", &body);
    let write = "entry write --key merging --type gotcha --confidence high --body @body.md";
    case.run(write).success();
    case.run(&format!("{write} --tags git")).success();
    let read = case.run("entry read merging --json").success();
    assert_eq!(read.json()["body"], body);
    assert_eq!(read.stderr(), "");
}

/// A repository in which two branches, each with a decision of its own, have written the block and are being merged.
fn merging(added: &str) -> Case {
    let case = Case::new("examples/gsd-project");
    let state = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
    let decide = |text: &str| {
        let heading = "### Decisions\n";
        case.write(
            ".planning/STATE.md",
            state.replacen(heading, &format!("{heading}\n- [Phase 2]: {text}\n"), 1),
        );
        case.run("sync").success();
    };
    case.write("CLAUDE.md", "# Ours\n\nRun `make`.\n");
    case.run("sync").success();
    case.git_init().commit("base", "2026-03-01T12:00:00Z");
    case.program("git checkout -q -b side").success();
    decide("Poll the feed hourly");
    let block = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    case.write(
        "CLAUDE.md",
        block.replacen("\n<!-- annals:end", &format!("{added}\n<!-- annals:end"), 1),
    );
    case.commit("side", "2026-03-02T12:00:00Z");
    case.program("git checkout -q main").success();
    decide("Keep reports in SQLite");
    case.commit("main", "2026-03-02T13:00:00Z");
    case.program("git merge -q side").code(1);
    case.program("git checkout -q --theirs .planning/STATE.md").success();
    case
}

#[test]
fn a_conflict_in_generated_text_alone_is_written_anew() {
    let case = merging("");
    let conflict = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(conflict.contains("<<<<<<< HEAD\n<!-- annals:begin"), "{conflict}");
    assert_eq!(case.run("sync").success().stdout(), "CLAUDE.md updated (30 lines).\n");
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(text.ends_with("\n# Ours\n\nRun `make`.\n"), "{text}");
    assert!(text.contains("Poll the feed hourly") && !text.contains("in SQLite"), "{text}");
    case.run("sync --check").success();
    case.run("undo").success();
    assert_eq!(String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap(), conflict);
}

#[test]
fn a_line_below_the_block_that_looks_like_a_marker_stays() {
    let case = merging("");
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    let end = "<!-- annals:end -->\n";
    case.write("CLAUDE.md", text.replacen(end, &format!("{end}>>>>>>> a quote\n"), 1));
    case.run("sync").success();
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(text.contains(&format!("{end}>>>>>>> a quote\n")), "{text}");
}

#[test]
fn a_session_gets_the_position_while_the_block_is_in_conflict() {
    let case = merging("");
    let start = case.run("hook session-start").stdin("{}").success().json();
    let text = start["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("- Next action: /gsd:execute-phase 2\n"), "{text}");
}

#[test]
fn a_conflict_that_may_be_about_a_persons_text_is_left_alone() {
    let by_hand = merging("\nAsk Noor.");
    let beyond = merging("");
    let text = String::from_utf8(beyond.read("CLAUDE.md").unwrap()).unwrap();
    let end = "<!-- annals:end -->\n";
    beyond.write("CLAUDE.md", text.replacen(end, &format!("{end}{}", sides("a", "b")), 1));
    let between = merging("");
    between.write("CLAUDE.md", text.replacen("=======\n", "Ask Noor.\n=======\n", 2));
    for case in [by_hand, beyond, between] {
        let conflict = case.read("CLAUDE.md");
        let run = case.run("sync").success();
        assert!(run.stdout().starts_with("CLAUDE.md in conflict"), "{}", run.report());
        assert_eq!(case.read("CLAUDE.md"), conflict);
    }
}
