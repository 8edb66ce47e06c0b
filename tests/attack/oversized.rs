//! Files as large as any that is read, of the shapes that readers are worst at.

use std::fmt::Write as _;
use std::time::Duration;

use crate::attack::Hostile;
use crate::support::{Case, on_two_threads};

/// The largest file that is read whole.
const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// Memory and time grow as files do, so that a part of the largest shows what all of it takes, and sooner.
const SIZE: usize = MAX_FILE_BYTES / 64;

/// What a run may map, in KiB: half of it is the program itself and the stacks of its threads.
const MAX_MAPPED_KIB: usize = 400 * 1024;

/// A file, how it begins, what it repeats with a number, and the commands that read it.
type Oversized = (&'static str, &'static str, fn(&mut String, usize), &'static [&'static str]);

const OVERSIZED: &[Oversized] = &[
    (
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n",
        |text, n| writeln!(text, "| {n}. Name | 0/1 | Not started | - |").unwrap(),
        &["status", "inspect .vbw-planning/ROADMAP.md"],
    ),
    (
        ".vbw-planning/STATE.md",
        "# State\n\n",
        |text, n| writeln!(text, "## Heading {n}").unwrap(),
        &["status", "context"],
    ),
    (
        ".vbw-planning/patterns/PATTERNS.md",
        "# Patterns\n\n",
        |text, n| {
            let entry = "\n\n**What worked:**\n- Lesson on";
            writeln!(text, "### Phase {n}: Name (2026-01-02){entry} `src/x{n}.rs` (plan 01)\n")
                .unwrap();
        },
        &["patterns list", "patterns relevant", "patterns check"],
    ),
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md",
        "---\nphase: 04\n---\n\n## Deviations\n\n",
        |text, n| {
            writeln!(text, "{n}. [Rule 1 - Bug] Fixed {n}\n   - Files: src/a{n}.rs").unwrap();
        },
        &["patterns insights"],
    ),
    (
        ".vibekit/notepad.md",
        "## Working Memory\n\n",
        |text, n| writeln!(text, "- [2026-01-02] note {n}").unwrap(),
        &["notepad read"],
    ),
    (
        "docs/memory/DECISIONS.md",
        "# Decisions\n\n",
        |text, n| writeln!(text, "### ADR-{n}: Title\n\n**Status:** Active\n").unwrap(),
        &["ledger check"],
    ),
    (
        "docs/memory/CONSTRAINTS.md",
        "# Constraints\n\n## Rules\n\n",
        |text, n| writeln!(text, "- Rule {n} holds").unwrap(),
        &["ledger brief"],
    ),
    (
        "CLAUDE.md",
        "# Notes\n\n",
        |text, _| text.push_str("<!-- annals:begin -->\n"),
        &["sync --dry-run"],
    ),
];

#[test]
fn the_largest_files_are_read_in_bounded_memory() {
    on_two_threads(OVERSIZED, |(file, head, repeated, commands)| {
        let hostile = Hostile::new();
        let mut text = (*head).to_owned();
        for number in 1.. {
            let length = text.len();
            repeated(&mut text, number);
            if text.len() > SIZE {
                text.truncate(length);
                break;
            }
        }
        hostile.case.write(file, &text);
        for command in *commands {
            let line = format!("ulimit -v {MAX_MAPPED_KIB}; exec \"$ANNALS\" {command}");
            let run = hostile.case.shell(&line).within(Duration::from_mins(10));
            let ended = run.output();
            let is_answer = matches!(ended.exit_code(), Some(0 | 1 | 4));
            assert!(is_answer, "{file}: {}", ended.report());
        }
    });
}

/// Shapes that a reader is slow at which compares everything with everything.
const COMPARED: &[Oversized] = &[
    (
        ".vbw-planning/patterns/PATTERNS.md",
        "# Patterns\n\n## Loose\n\n",
        |text, n| writeln!(text, "- aa bb cc d{n:x}").unwrap(),
        &["patterns relevant"],
    ),
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md",
        "---\nphase: 04\n---\n\n## Issues Encountered\n\n",
        |text, n| writeln!(text, "- The lock aa bb d{n:x} failed").unwrap(),
        &["patterns insights", "plan 4 --dry-run"],
    ),
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md",
        "---\nphase: 04\n---\n\n## Files Created/Modified\n\n",
        |text, n| writeln!(text, "- `a{n}/mod.rs`").unwrap(),
        &["patterns insights"],
    ),
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md",
        "---\nphase: 04\n---\n\n## Deviations\n\n- Moved",
        |text, n| write!(text, " `a{n}.rs`").unwrap(),
        &["plan 4 --dry-run"],
    ),
    (
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n### Phase 4: A\n\n**Success Criteria**:\n",
        |text, n| writeln!(text, "  {n}. aa d{n:x}").unwrap(),
        &["patterns relevant 4"],
    ),
    (
        "docs/memory/CONSTRAINTS.md",
        "# Constraints\n\n## Rules\n\n",
        |text, n| write!(text, "a{n}\n\n").unwrap(),
        &["ledger check"],
    ),
];

#[test]
fn texts_of_one_file_are_not_each_compared_with_each() {
    on_two_threads(COMPARED, |(file, head, repeated, commands)| {
        let hostile = Hostile::new();
        let mut text = (*head).to_owned();
        for number in 1.. {
            repeated(&mut text, number);
            if text.len() > SIZE {
                break;
            }
        }
        hostile.case.write(file, &text);
        for command in *commands {
            let run = hostile.case.run(command).within(Duration::from_mins(2));
            let ended = run.output();
            let is_answer = matches!(ended.exit_code(), Some(0 | 1));
            assert!(is_answer, "{file}: {}", ended.report());
        }
    });
}

#[test]
fn entries_are_read_up_to_so_many_bytes_and_the_rest_is_named() {
    let hostile = Hostile::new();
    let root = hostile.case.root();
    for number in 0..9 {
        let path = root.join(format!(".vibekit/memory/huge-{number}.md"));
        let file = std::fs::File::create(path).unwrap();
        file.set_len(MAX_FILE_BYTES as u64).unwrap();
    }
    let run = hostile.case.run("entry query --text first").within(Duration::from_mins(10));
    let told = run.output().stderr();
    let warning = ".vibekit/memory: exceeds what one command may read";
    assert!(told.contains(warning), "{told}");
}

#[test]
fn only_the_first_lines_and_texts_of_a_file_are_read() {
    let hostile = Hostile::new();
    let file = ".vbw-planning/STATE.md";
    let items: Vec<String> = (0..120_000).map(|n| format!("- Item {n}\n")).collect();
    let items = items.concat();
    hostile.case.write(file, format!("# State\n\n{items}"));
    let told = |command: &str, code: i32| {
        let run = hostile.case.run(command).within(Duration::from_mins(10));
        run.code(code).stderr()
    };
    let warning = ".vbw-planning/STATE.md:100001: has more than 100000 lines";
    assert!(told("status", 0).contains(warning));
    let warning = ".vbw-planning/STATE.md:30003: is too long: some text from this line on";
    assert!(told("recall stock", 0).contains(warning));
    assert!(told("recall stock", 0).contains(warning), "from the cache");
    hostile
        .case
        .write(file, format!("# State\n\n{}\n\nAfter it, zirconium.\n", "a ".repeat(40_000)));
    let warning = ".vbw-planning/STATE.md:3: is too long: some text from this line on";
    assert!(told("recall zirconium", 0).contains(warning));
    assert!(hostile.case.run("recall zirconium").success().stdout().contains("STATE.md:5"));
    let phases: Vec<String> = (0..2_000).map(|n| format!("Phase: {n} of 9\n")).collect();
    let phases = phases.concat();
    hostile.case.write(file, format!("# State\n\n{phases}"));
    let refusal = "STATE.md has 1000 statements about the position or more";
    let warning = "has more than 1000 statements about the position";
    assert!(told("status", 0).contains(warning));
    assert!(told("sync --fix-state --dry-run", 4).contains(refusal));
    let file = "docs/memory/DECISIONS.md";
    hostile.case.write(file, format!("# Decisions\n\n{items}"));
    let warning = "docs/memory/DECISIONS.md:100001: has more than 100000 lines";
    assert!(told("ledger brief", 0).contains(warning));
}

#[test]
fn a_file_too_long_to_be_read_whole_is_not_appended_to() {
    let hostile = Hostile::new();
    let file = ".vbw-planning/patterns/PATTERNS.md";
    let items = "- Item\n".repeat(120_000);
    hostile.case.write(file, format!("# Patterns\n\n{items}"));
    let run = hostile.case.run("execute 3 --again");
    let told = run.within(Duration::from_mins(10)).code(4).stderr();
    assert!(told.contains("is too long to be read whole"), "{told}");
}

/// A file, what is below its first 100,000 lines, and a command that would add that a second time.
const ADDED_TWICE: &[(&str, &str, &str)] = &[
    (".vbw-planning/patterns/PATTERNS.md", "### Notes\n\n- 2026-01-02: one\n", "patterns note one"),
    ("CLAUDE.md", "<!-- annals:begin -->\nold\n<!-- annals:end -->\n", "sync"),
    ("CLAUDE.md", "```\n<!-- annals:begin -->\nold\n<!-- annals:end -->\n```\n", "sync"),
];

#[test]
fn what_is_below_the_part_that_is_read_is_not_added_a_second_time() {
    on_two_threads(ADDED_TWICE, |(file, rest, command)| {
        let hostile = Hostile::new();
        let text = format!("# Title\n\n{}\n{rest}", "- Item\n".repeat(120_000));
        hostile.case.write(file, &text);
        let run = hostile.case.run(command).within(Duration::from_mins(10));
        let told = run.code(4).stderr();
        assert!(told.contains("is too long to be read whole"), "{told}");
        assert!(hostile.case.read(file) == Some(text.into_bytes()), "{command}");
    });
}

#[test]
fn the_old_notes_of_a_very_long_notepad_are_removed_in_one_pass() {
    let hostile = Hostile::new();
    let note = "- [2020-01-02T10:00Z] old\n";
    let text = format!("## Working Memory\n\n{}- mine\n", note.repeat(90_000));
    let file = ".vibekit/notepad.md";
    hostile.case.write(file, &text);
    let run = hostile.case.run("entry audit");
    let told = run.within(Duration::from_mins(10)).success().stdout();
    assert!(told.starts_with("pruned_working: 90000\n"), "{told}");
    let rest = hostile.case.read(file).unwrap();
    assert_eq!(String::from_utf8(rest).unwrap(), "## Working Memory\n\n- mine\n");
}

#[test]
fn a_search_reads_so_much_of_a_project_and_says_what_it_leaves_out() {
    let hostile = Hostile::new();
    let root = hostile.case.root();
    // Files without a byte on the disk, as an archive can bring them: most are too large to be read, but count.
    for number in 0..50 {
        let path = root.join(format!(".vibekit/memory/huge-{number:02}.md"));
        let file = std::fs::File::create(path).unwrap();
        file.set_len(MAX_FILE_BYTES as u64 + u64::from(number > 0)).unwrap();
    }
    let line = format!("ulimit -v {MAX_MAPPED_KIB}; exec \"$ANNALS\" recall stock");
    let run = hostile.case.shell(&line).within(Duration::from_mins(10));
    let told = run.success().stderr();
    let warning = ".vibekit/memory: exceeds what one command may read";
    assert!(told.contains(warning), "{told}");
}

#[test]
fn a_number_of_plans_that_a_roadmap_declares_costs_no_time() {
    let case = Case::new("examples/gsd-project");
    let change = |file: &str, from: &str, to: &str| {
        let text = String::from_utf8(case.read(file).unwrap()).unwrap();
        assert!(text.contains(from), "{file}");
        case.write(file, text.replace(from, to));
    };
    change(".planning/STATE.md", "75", "31");
    change(".planning/ROADMAP.md", "| 1/2 |", "| 1/3000000000 |");
    let run = case.run("status").within(Duration::from_secs(30));
    assert!(run.success().stdout().contains("is 31"));
}
