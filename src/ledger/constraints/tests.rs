use proptest::prelude::*;

use super::*;
use crate::clock::parse_date;
use crate::error::Problem;

const FILE: &str = "# Constraints\n\n## Infrastructure\n- The gateway listens on port 7778\n  and only there\n  - nested note\n\n## Rules\n- Never panic on any bytes (updated 2026-01-02)\n* Use tabs in Makefiles\n\n## Hazards\n\n## Superseded\n";

fn today() -> NaiveDate {
    parse_date("2026-03-01").unwrap()
}

fn add(section: &str, bullet: &str) -> ConstraintChange {
    ConstraintChange {
        op: "add".to_owned(),
        section: Some(section.to_owned()),
        bullet: bullet.to_owned(),
        ..ConstraintChange::default()
    }
}

fn edited(matching: &str, bullet: &str) -> ConstraintChange {
    ConstraintChange {
        op: "edit".to_owned(),
        bullet: bullet.to_owned(),
        matching: matching.to_owned(),
        ..ConstraintChange::default()
    }
}

fn supersede(matching: &str, reason: &str) -> ConstraintChange {
    ConstraintChange {
        op: "supersede".to_owned(),
        matching: matching.to_owned(),
        reason: reason.to_owned(),
        ..ConstraintChange::default()
    }
}

fn applied(text: &str, changes: &[ConstraintChange]) -> (String, Vec<Problem>) {
    let mut problems = Problems::default();
    let text = apply(text, changes, today(), &mut problems);
    (text, problems.all)
}

/// Returns the text after one change that must be let through.
fn done(text: &str, one: ConstraintChange) -> String {
    let (text, problems) = applied(text, &[one]);
    assert_eq!(problems, []);
    text
}

fn refusal(text: &str, one: ConstraintChange) -> Problem {
    let (same, mut all) = applied(text, &[one]);
    assert_eq!(same, text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn an_edit_to_the_text_of_another_bullet_is_refused() {
    let text = "# Constraints\n\n## Rules\n- Use tabs for indentation everywhere\n- Indent YAML with four spaces always\n";
    let change = edited("Indent YAML", "Use tabs for indentation everywhere");
    let problem = refusal(text, change.clone());
    assert!(problem.message.contains("duplicates line 4"));
    // Once the bullet is there, the same edit finds nothing to change.
    let without = text.replace("- Indent YAML with four spaces always\n", "");
    assert_eq!(done(&without, change), without);
}

#[test]
fn bullets_in_superseded_sections_and_their_subsections_are_superseded() {
    for heading in ["## Superseded (history)\n", "## Superseded\n\n### 2025\n"] {
        let text = format!(
            "# Constraints\n\n## Rules\n- Use tabs for indentation\n\n{heading}\n- (Superseded 2026-01-02) Never log the request body \u{2014} it is needed\n"
        );
        let change = supersede("Never log the request body", "it is needed");
        assert_eq!(done(&text, change), text);
        let added = done(&text, add("Rules", "Never log the request body"));
        assert!(added.contains("indentation\n- Never log the request body\n"), "{added}");
    }
    let text = "# Superseded rules of the app\n\n## Rules\n- Use tabs for indentation\n";
    assert_eq!(Constraints::parse(text).active().count(), 1);
}

#[test]
fn a_bullet_is_added_at_the_end_of_its_section() {
    let text = done(FILE, add("Rules", "Sort before you print"));
    assert_eq!(text, FILE.replace("Makefiles\n", "Makefiles\n- Sort before you print\n"));
    let text = done(FILE, add("infrastructure", "One binary"));
    assert_eq!(text, FILE.replace("nested note\n", "nested note\n- One binary\n"));
    let text = done(FILE, add("Hazards", "Clocks jump"));
    assert_eq!(text, FILE.replace("## Hazards\n", "## Hazards\n- Clocks jump\n"));
}

#[test]
fn a_missing_section_is_inserted_in_order() {
    let text = done(FILE, add("key facts", "The port is 7778 on all hosts"));
    assert_eq!(
        text,
        FILE.replace("## Hazards", "## Key Facts\n- The port is 7778 on all hosts\n\n## Hazards")
    );
    let text = done(FILE, add("Deployment", "Ship on Fridays never"));
    assert_eq!(
        text,
        FILE.replace("## Superseded", "## Deployment\n- Ship on Fridays never\n\n## Superseded")
    );
    assert_eq!(done("", add("Rules", "One")), "## Rules\n- One\n");
    assert_eq!(
        done("No heading here", add("Rules", "One")),
        "No heading here\n\n## Rules\n- One\n"
    );
    let windows = "# Constraints\r\n\r\n## Rules\r\n- One\r\n";
    assert_eq!(done(windows, add("Rules", "Two")), windows.to_owned() + "- Two\r\n");
}

#[test]
fn an_edit_stays_in_place_and_is_dated() {
    let text = done(FILE, edited("Never panic on any bytes", "Never panic on any bytes or time"));
    assert_eq!(
        text,
        FILE.replace("bytes (updated 2026-01-02)", "bytes or time (updated 2026-03-01)")
    );
    let text = done(FILE, edited("only there", "The gateway listens on port 7779"));
    assert!(
        text.contains("- The gateway listens on port 7779 (updated 2026-03-01)\n  - nested note\n"),
        "{text}"
    );
}

#[test]
fn a_superseded_bullet_moves_with_its_reason() {
    let text = done(FILE, supersede("gateway", "it is gone"));
    assert!(!text.contains("## Infrastructure\n- The"), "{text}");
    let end = "## Superseded\n- (Superseded 2026-03-01) The gateway listens on port 7778 and only there \u{2014} it is gone\n  - nested note\n";
    assert!(text.ends_with(end), "{text}");
    let without = FILE.replace("\n## Superseded\n", "");
    let text = done(&without, supersede("tabs", "spaces everywhere"));
    assert!(text.ends_with("\n## Superseded\n- (Superseded 2026-03-01) Use tabs in Makefiles \u{2014} spaces everywhere\n"), "{text}");
}

#[test]
fn every_line_that_a_change_writes_ends_as_those_of_the_file() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    for change in [
        add("Rules", "One binary"),
        add("Names", "One binary"),
        edited("tabs", "Use tabs everywhere"),
        supersede("gateway", "it is gone"),
    ] {
        let expected = windows(&done(FILE, change.clone()));
        assert_eq!(done(&windows(FILE), change), expected);
    }
}

#[test]
fn each_problem_has_its_pointer_and_line() {
    for (one, pointer, message) in [
        (add("Rules", "Never panic on bytes, any"), "/constraints/0/bullet", "line 9"),
        (add("Superseded", "x y z"), "/constraints/0/section", "supersede"),
        (add("# Rules", "x y z"), "/constraints/0/section", "title"),
        (edited("no such bullet", "x"), "/constraints/0/match", "matches no current bullet"),
        (edited("e", "x"), "/constraints/0/match", "lines 4, 9, 10"),
        (edited("tabs", "Whatever else"), "/constraints/0/bullet", "supersede that bullet"),
        (edited("tabs", "Never panic on any bytes in Makefiles tabs"), "/constraints/0/bullet", ""),
        (supersede("nothing", "x"), "/constraints/0/match", "matches no current bullet"),
        (
            ConstraintChange { section: Some("Rulez".to_owned()), ..edited("tabs", "x") },
            "/constraints/0/section",
            "no section",
        ),
    ] {
        if message.is_empty() {
            // Different enough.
            done(FILE, one);
            continue;
        }
        let problem = refusal(FILE, one);
        assert_eq!(problem.pointer, pointer, "{problem:?}");
        assert!(problem.message.contains(message), "{problem:?}");
    }
}

#[test]
fn repeated_changes_are_recognised() {
    let changes = [
        add("Rules", "Sort before you print"),
        edited("bytes", "Never panic on any bytes or time"),
        supersede("gateway", "it is gone"),
    ];
    let (once, problems) = applied(FILE, &changes);
    assert_eq!(problems, []);
    assert_eq!(applied(&once, &changes), (once, Vec::new()));
}

#[test]
fn a_thematic_break_after_a_bullet_stays() {
    let text = "## Rules\n- One thing\n\n---\n\n## Superseded\n";
    let text = done(text, supersede("One thing", "gone"));
    assert_eq!(
        text,
        "## Rules\n\n---\n\n## Superseded\n- (Superseded 2026-03-01) One thing \u{2014} gone\n"
    );
}

#[test]
fn an_unclosed_fence_refuses_the_bullet() {
    let problem = refusal("## Rules\n```\nnever closed\n", add("Rules", "Two words more"));
    assert!(problem.message.contains("absorb"), "{problem:?}");
    // Below another bullet there is nothing in the way.
    let text = "## Rules\n- One\n\n```\nnever closed\n";
    let added = done(text, add("Rules", "Two words more"));
    assert_eq!(added, text.replace("- One\n", "- One\n- Two words more\n"));
}

/// Words whose bullets overlap now and then.
fn bullet() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "port", "gateway", "`code`", "never", "SQLite", "再試行", "two", "three", "#", "-", "a",
        "<!--", "*x*",
    ]);
    prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

fn any_change() -> impl Strategy<Value = ConstraintChange> {
    let section =
        prop::sample::select(vec!["Rules", "Hazards", "Key Facts", "Own", "Infrastructure"]);
    prop_oneof![
        (section, bullet()).prop_map(|(section, bullet)| add(section, &bullet)),
        (bullet(), bullet()).prop_map(|(matching, bullet)| edited(&matching, &bullet)),
        (bullet(), bullet()).prop_map(|(matching, reason)| supersede(&matching, &reason)),
    ]
}

fn any_file() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(FILE.to_owned()),
        Just(FILE.replace('\n', "\r\n")),
        Just(String::new()),
        Just("- loose\n\n- list\n\n  with a paragraph\n\n1. numbered\n2. two\n".to_owned()),
        Just(
            "# C\n## Rules\n```\n- port in code\n```\n- port\n> - quoted port\n\ntext\n".to_owned()
        ),
        "[-#*`> a\n1.|]{0,60}",
    ]
}

#[test]
fn date_notes_are_removed() {
    for (bullet, text) in [
        ("a (updated 2026-02-05)", "a"),
        ("a (added 2026-02-05) ", "a"),
        ("a (updated yesterday)", "a (updated yesterday)"),
    ] {
        assert_eq!(without_note(bullet), text);
    }
}

proptest! {
    #[test]
    fn no_sequence_of_changes_loses_a_bullet(file in any_file(), changes in prop::collection::vec(any_change(), 1..12)) {
        let mut text = file;
        // One at a time: a bullet that is edited twice may end without a word of the first.
        for change in changes {
            let before = Constraints::parse(&text);
            let (new, problems) = applied(&text, &[change]);
            if !problems.is_empty() {
                continue;
            }
            let after = Constraints::parse(&new);
            prop_assert!(after.bullets.len() >= before.bullets.len());
            for bullet in &before.bullets {
                let stays = after.bullets.iter().any(|now| now.text == bullet.text);
                let moved = after.bullets.iter().any(|now| {
                    now.text.starts_with("(Superseded 2026-03-01) ") && now.text.contains(&bullet.text)
                });
                // An edited bullet has the note, even below Superseded, and shares words with the old one.
                let edited = after.bullets.iter().any(|now| {
                    now.text.contains("(updated 2026-03-01)")
                        && !bullet_words(&now.text).is_disjoint(&bullet_words(&bullet.text))
                });
                prop_assert!(stays || moved || edited, "lost {:?}\n{}\n---\n{}", bullet.text, text, new);
            }
            text = new;
        }
    }

    #[test]
    fn an_addition_keeps_every_other_byte(file in any_file(), bullet in bullet()) {
        let (new, _) = applied(&file, &[add("Rules", &bullet)]);
        if new != file {
            let grown = new.len() - file.len();
            let kept = (0..=file.len())
                .any(|at| new.get(..at) == file.get(..at) && new.get(at + grown..) == file.get(at..));
            prop_assert!(kept, "{:?}\n{:?}", file, new);
        }
    }
}
