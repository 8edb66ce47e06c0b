//! The notepad's rules.

use std::thread;

use serde_json::json;

use crate::support::{Case, difference};

const FILE: &str = ".vibekit/notepad.md";
const LOG: &str = ".vibekit/memory/log.md";
const SEED: &str = "# Vibekit Notepad\n\n## Priority Context\n- one\n\n## Working Memory\n- [2026-02-28T09:00Z] earlier\n\n## Manual\nmine\n";

fn with(notepad: &str) -> Case {
    let case = Case::empty();
    case.write(FILE, notepad);
    case
}

fn text(case: &Case) -> String {
    String::from_utf8(case.read(FILE).unwrap()).unwrap()
}

fn log(case: &Case) -> String {
    String::from_utf8(case.read(LOG).unwrap_or_default()).unwrap()
}

/// Writes a note and returns the resulting file.
fn noted(before: &str, section: &str, note: &str) -> String {
    let case = with(before);
    case.run("notepad").args([section, "--", note]).success();
    text(&case)
}

/// Asserts that a note is refused and nothing is written, and returns the message.
fn refused(before: &str, section: &str, note: &str) -> String {
    let case = with(before);
    let tree = case.tree();
    let said = case.run("notepad").args([section, note]).code(4);
    let changed = difference(&tree, &case.tree());
    assert!(changed.is_empty(), "{changed:?}\n{}", said.report());
    said.stderr()
}

#[test]
fn it_is_one_file_with_three_fixed_headings_in_order() {
    let case = Case::empty();
    case.run("notepad manual").args(["mine"]).success();
    let expected =
        "# Vibekit Notepad\n\n## Priority Context\n\n## Working Memory\n\n## Manual\nmine\n";
    assert_eq!(text(&case), expected);
}

#[test]
fn priority_appends_a_bullet() {
    let expected = SEED.replace("- one\n", "- one\n- two\n");
    assert_eq!(noted(SEED, "priority", "two"), expected);
}

#[test]
fn priority_with_500_characters_is_accepted_and_its_count_is_printed() {
    let case = Case::empty();
    let said = case.run("notepad priority").args(["x".repeat(498)]).success();
    assert_eq!(said.stdout(), "Notepad priority updated (500/500 chars).\n");
}

#[test]
fn priority_over_500_characters_is_refused_with_the_difference() {
    let before = SEED.replace("one", &"x".repeat(478));
    let said = refused(&before, "priority", &"y".repeat(20));
    assert!(
        said.contains("has 480 of 500 characters and would have 503, which is 3 too many"),
        "{said}"
    );
}

#[test]
fn priority_never_drops_another_bullet_to_make_room() {
    let before = SEED.replace("one", &"x".repeat(600));
    let said = refused(&before, "priority", "y");
    assert!(said.contains("has 602 of 500 characters"), "{said}");
    // The other sections have no limit.
    assert!(noted(&before, "manual", &"z".repeat(600)).contains(&"x".repeat(600)));
}

#[test]
fn the_limit_applies_to_the_whole_section_including_text_by_people() {
    let prose = "word ".repeat(99);
    let before =
        format!("## Priority Context\n{prose}\n\n### More\ntext\n\n## Mine\nnot counted\n");
    let said = refused(&before, "priority", "y");
    let now = format!("{prose}\n\n### More\ntext").chars().count();
    assert!(said.contains(&format!("has {now} of 500")), "{said}");
}

#[test]
fn characters_are_unicode_scalar_values_and_a_line_end_is_one() {
    for (note, count) in [("日本語", 5), ("🎉🎉", 4), ("👩‍👩‍👧", 7), ("e\u{301}", 4), ("שלום", 6)]
    {
        let case = Case::empty();
        let said = case.run("notepad priority").args([note]).success();
        let expected = format!("Notepad priority updated ({count}/500 chars).\n");
        assert_eq!(said.stdout(), expected, "{note}");
    }
    let case = with("## Priority Context\r\n- a\r\n");
    let said = case.run("notepad priority --json").args(["b"]).success();
    assert_eq!(said.json()["characters"], json!(7));
}

#[test]
fn working_prepends_a_bullet_with_the_minute() {
    let expected =
        SEED.replace("- [2026-02-28T09:00Z]", "- [2026-03-01T12:00Z] later\n- [2026-02-28T09:00Z]");
    assert_eq!(noted(SEED, "working", "later"), expected);
}

#[test]
fn working_made_again_is_prepended_again() {
    let before = SEED.replace("earlier", "same");
    let after = noted(&before, "working", "same");
    let line = "- [2026-02-28T09:00Z]";
    assert_eq!(after, before.replace(line, &format!("- [2026-03-01T12:00Z] same\n{line}")));
}

#[test]
fn working_entries_are_bullets_not_paragraphs() {
    for note in ["a\nb", "a\r\nb", "a\u{2028}b", "a\n"] {
        let said = refused(SEED, "working", note);
        assert!(said.contains("one line"), "{said}");
    }
}

#[test]
fn manual_is_appended_verbatim() {
    let note = "  two\n\n```\n## not a heading\n```\n\ttail  ";
    assert_eq!(noted(SEED, "manual", note), format!("{SEED}{note}\n"));
    assert_eq!(noted(SEED, "manual", "--dashes"), format!("{SEED}--dashes\n"));
}

#[test]
fn sections_are_never_reordered() {
    let before = "# Mine\n\n## Manual\nm\n\n## Working Memory\n- w\n\n## Priority Context\n- p\n";
    let after = noted(before, "working", "new");
    assert_eq!(after, before.replace("- w\n", "- [2026-03-01T12:00Z] new\n- w\n"));
    let after = noted(before, "manual", "new");
    assert_eq!(after, before.replace("m\n\n", "m\nnew\n\n"));
}

#[test]
fn other_text_between_the_sections_survives() {
    let before = "intro\n\n## Priority Context\n\nplease keep\n\n## Ideas\nidea\n\n## Working Memory\n<!-- newest first -->\n\n* undated\n\n## More ideas\n";
    let after = noted(before, "priority", "new");
    assert_eq!(after, before.replace("keep\n", "keep\n- new\n"));
    let after = noted(before, "working", "new");
    let expected = before.replace("* undated", "- [2026-03-01T12:00Z] new\n* undated");
    assert_eq!(after, expected);
}

#[test]
fn line_ends_follow_the_file_and_a_missing_last_one_is_added() {
    let before = SEED.replace('\n', "\r\n");
    let before = before.trim_end();
    let after = noted(before, "manual", "two\nthree");
    assert_eq!(after, format!("{before}\r\ntwo\r\nthree\r\n"));
    let after = noted(before, "working", "new");
    assert!(after.contains("Memory\r\n- [2026-03-01T12:00Z] new\r\n- ["), "{after:?}");
}

#[test]
fn invalid_utf_8_survives() {
    let case = Case::empty();
    case.write(FILE, b"## Manual\n\xff\xfe\xc3 mine\n");
    let said = case.run("notepad manual").args(["two"]).code(4);
    assert!(said.stderr().contains("is not valid UTF-8"), "{}", said.report());
    assert_eq!(case.read(FILE).unwrap(), b"## Manual\n\xff\xfe\xc3 mine\n");
}

#[test]
fn odd_headings_are_understood() {
    for heading in [
        "# priority context",
        "### **Priority Context:**",
        "## 📌 Priority Context (max 500)",
        "## Priority Context ##",
    ] {
        let before = format!("{heading}\n- one\n\n# Mine\n");
        let after = noted(&before, "priority", "two");
        assert_eq!(after, format!("{heading}\n- one\n- two\n\n# Mine\n"));
    }
}

#[test]
fn a_missing_section_is_created_in_its_place() {
    let before = "# Notes\nmine\n\n## Manual\nm\n";
    let expected = "# Notes\nmine\n\n## Working Memory\n- [2026-03-01T12:00Z] w\n\n## Manual\nm\n";
    assert_eq!(noted(before, "working", "w"), expected);
    assert_eq!(noted("mine", "manual", "m"), "mine\n\n## Manual\nm\n");
    let blank = noted("\n", "priority", "p");
    assert!(blank.contains("# Vibekit Notepad\n\n## Priority Context\n- p\n"), "{blank}");
}

#[test]
fn a_note_cannot_take_the_place_of_a_section() {
    let said = refused(SEED, "manual", "a\n## Working Memory\nb");
    assert!(said.contains("hint: write headings with ###"), "{said}");
    let said = refused(SEED, "priority", "a\n```");
    assert!(said.contains("would break the notepad's sections"), "{said}");
    refused(SEED, "priority", "a\n<!--");
    assert!(noted(SEED, "manual", "### Deep\nb").ends_with("mine\n### Deep\nb\n"));
}

#[test]
fn read_returns_the_notepad_or_a_section_verbatim_with_no_narration() {
    let case = with(SEED);
    let tree = case.whole_tree();
    let read = |arguments: &str| case.run(arguments).success();
    assert_eq!(read("notepad read").stdout(), SEED);
    assert_eq!(read("notepad read --section priority").stdout(), "- one\n");
    assert_eq!(read("notepad read --section manual").stdout(), "mine\n");
    let working = read("notepad read --section working");
    assert_eq!(working.stdout(), "- [2026-02-28T09:00Z] earlier\n");
    assert_eq!(working.stderr(), "");
    assert_eq!(case.whole_tree(), tree, "reading writes nothing");
}

#[test]
fn a_write_prints_one_short_line() {
    let case = with(SEED);
    for (section, line) in [
        ("priority", "Notepad priority updated (11/500 chars).\n"),
        ("working", "Notepad working updated.\n"),
        ("manual", "Notepad manual updated.\n"),
    ] {
        let said = case.run("notepad").args([section, "two"]).success();
        assert_eq!(said.stdout(), line);
    }
}

#[test]
fn each_write_is_one_line_of_the_log_and_a_refused_one_is_none() {
    let case = with(SEED);
    case.write(LOG, "- 2026-01-01T00:00:00Z write a (convention, high)");
    case.run("notepad working").args(["w"]).success();
    case.run("notepad priority").args(["x".repeat(600)]).code(4);
    assert_eq!(
        log(&case),
        "- 2026-01-01T00:00:00Z write a (convention, high)\n- 2026-03-01T12:00:00Z notepad working\n"
    );
}

#[test]
fn a_write_touches_only_the_notepad_and_the_log() {
    let case = with(SEED);
    case.write(".vibekit/memory/INDEX.md", "drifted\n");
    case.write(".vibekit/memory/test-runner.md", "---\nkey: test-runner\n---\n");
    let before = case.tree();
    case.run("notepad manual").args(["m"]).success();
    let changed = difference(&before, &case.tree());
    assert_eq!(changed, [format!("added {LOG}"), format!("changed {FILE}")]);
}

#[test]
fn a_likely_secret_is_refused_unless_it_is_allowed() {
    let note = format!("token ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    for section in ["priority", "working", "manual"] {
        let said = refused(SEED, section, &note);
        assert!(said.contains("looks like a secret (github-token"), "{said}");
        assert!(!said.contains("ghp_"), "{said}");
    }
    let case = with(SEED);
    case.run("notepad manual --allow-secret").args([&note]).success();
    assert!(text(&case).contains(&note));
}

#[test]
fn an_empty_note_is_wrong_usage() {
    for note in ["", "  ", "\n"] {
        with(SEED).run("notepad manual").args([note]).code(2);
    }
}

#[test]
fn writes_can_be_undone_and_the_log_stays() {
    let case = with(SEED);
    case.run("notepad manual").args(["m"]).success();
    case.run("undo").success();
    assert_eq!(text(&case), SEED);
    assert_eq!(
        log(&case),
        "- 2026-03-01T12:00:00Z notepad manual\n- 2026-03-01T12:00:00Z undo 1 (notepad manual)\n"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_project_is_not_written_through() {
    let case = Case::empty();
    let outside = case.home().join("notes.md");
    std::fs::write(&outside, SEED).unwrap();
    std::fs::create_dir(case.root().join(".vibekit")).unwrap();
    std::os::unix::fs::symlink(&outside, case.root().join(FILE)).unwrap();
    let said = case.run("notepad manual").args(["m"]).output();
    assert!(said.exit_code() != Some(0), "{}", said.report());
    assert_eq!(std::fs::read_to_string(outside).unwrap(), SEED);
}

#[test]
fn sixteen_processes_lose_no_note_and_no_line_of_the_log() {
    const PROCESSES: usize = 16;
    const NOTES: usize = 8;
    let case = with(SEED);
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let case = &case;
            scope.spawn(move || {
                let section = if process % 2 == 0 { "working" } else { "manual" };
                for number in 0..NOTES {
                    case.run("notepad")
                        .args([section, &format!("note {process}/{number}.")])
                        .env("ANNALS_LOCK_WAIT", "60")
                        .success();
                }
            });
        }
    });
    let notepad = text(&case);
    for process in 0..PROCESSES {
        for number in 0..NOTES {
            let note = format!("note {process}/{number}.");
            assert_eq!(notepad.matches(&note).count(), 1, "{note}");
        }
    }
    assert_eq!(notepad.lines().count(), SEED.lines().count() + PROCESSES * NOTES);
    let log = log(&case);
    for section in ["working", "manual"] {
        let line = format!("- 2026-03-01T12:00:00Z notepad {section}");
        let lines = log.lines().filter(|one| *one == line).count();
        assert_eq!(lines, PROCESSES / 2 * NOTES);
    }
    assert_eq!(log.lines().count(), PROCESSES * NOTES);
}

#[test]
fn a_priority_note_that_is_a_bullet_gets_no_second_marker() {
    assert_eq!(noted(SEED, "priority", "- two"), SEED.replace("- one\n", "- one\n- two\n"));
}
