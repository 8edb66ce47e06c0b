//! Merges changes of one file on two branches.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn labels() -> Labels {
    Labels { marker_length: 7, ours: "ours".to_owned(), theirs: "theirs".to_owned() }
}

fn merged(kind: MergeKind, base: &str, ours: &str, theirs: &str) -> MergeResult {
    let versions = Versions { base, ours, theirs };
    merge(kind, versions, &labels())
}

fn clean(kind: MergeKind, base: &str, ours: &str, theirs: &str) -> String {
    let merged = merged(kind, base, ours, theirs);
    assert_eq!(merged.conflicts, 0, "{}", merged.text);
    merged.text
}

const PATTERNS: &str = "# Learned Patterns\n\n### Phase 1: Keep (2026-01-01)\n<!-- annals: phase-dir=01-keep plans=2 digest=aa -->\n\n- one\n";

fn phase(number: u8, name: &str, word: &str) -> String {
    format!(
        "\n### Phase {number}: {name} (2026-01-02)\n<!-- annals: phase-dir=0{number}-{name} plans=1 digest=bb -->\n\n- {word}\n"
    )
}

#[test]
fn entries_appended_on_both_sides_are_both_kept() {
    let ours = format!("{PATTERNS}{}", phase(2, "list", "two"));
    let theirs = format!("{PATTERNS}{}", phase(3, "sync", "three"));
    let text = clean(MergeKind::Patterns, PATTERNS, &ours, &theirs);
    assert_eq!(text, format!("{ours}{}", phase(3, "sync", "three")));
}

#[test]
fn a_phase_recorded_identically_on_both_sides_appears_once() {
    let both = format!("{PATTERNS}{}", phase(2, "list", "two"));
    assert_eq!(clean(MergeKind::Patterns, PATTERNS, &both, &both), both);
    let more = format!("{both}{}", phase(3, "sync", "three"));
    assert_eq!(clean(MergeKind::Patterns, PATTERNS, &both, &more), more);
    assert_eq!(clean(MergeKind::Patterns, PATTERNS, &more, &both), more);
}

#[test]
fn a_phase_recorded_differently_on_each_side_is_a_conflict() {
    let ours = format!("{PATTERNS}{}", phase(2, "list", "two"));
    let theirs = format!("{PATTERNS}{}", phase(2, "list", "other"));
    let merged = merged(MergeKind::Patterns, PATTERNS, &ours, &theirs);
    assert_eq!(merged.conflicts, 1);
    assert!(merged.text.starts_with(&ours), "{}", merged.text);
    assert!(merged.text.contains("=======\n### Phase 2: list"), "{}", merged.text);
}

const DECISIONS: &str = "# Decisions\n\n## Recent (last 30 days)\n- old\n\n## 2026-01\n\n### 2026-01-05 — Use files\n- **Why:** plain\n";

#[test]
fn a_new_month_and_a_new_entry_in_an_old_month_are_both_kept() {
    let ours = DECISIONS.replace(
        "## 2026-01\n",
        "## 2026-02\n\n### 2026-02-01 — Ours\n- **Why:** o\n\n## 2026-01\n",
    );
    let theirs = DECISIONS
        .replace("### 2026-01-05", "### 2026-01-09 — Theirs\n- **Why:** t\n\n### 2026-01-05");
    let text = clean(MergeKind::Decisions, DECISIONS, &ours, &theirs);
    let order = ["## Recent", "## 2026-02", "— Ours", "## 2026-01", "— Theirs", "— Use files"];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn a_month_started_on_both_sides_has_one_heading() {
    let with = |title: &str| {
        DECISIONS.replace(
            "## 2026-01\n",
            &format!("## 2026-02\n\n### 2026-02-01 — {title}\n- **Why:** x\n\n## 2026-01\n"),
        )
    };
    let text = clean(MergeKind::Decisions, DECISIONS, &with("Ours"), &with("Theirs"));
    assert_eq!(text.matches("## 2026-02\n").count(), 1, "{text}");
    assert!(text.contains("— Ours") && text.contains("— Theirs"), "{text}");
}

#[test]
fn the_rollup_contains_new_bullets_of_both_sides() {
    let ours = DECISIONS.replace("- old\n", "- ours\n");
    let theirs = DECISIONS.replace("- old\n", "- old\n- theirs\n");
    assert_eq!(
        clean(MergeKind::Decisions, DECISIONS, &ours, &theirs),
        DECISIONS.replace("- old\n", "- ours\n- theirs\n")
    );
}

/// A file with this rollup, and one more entry if `title` is given.
fn with_rollup(rollup: &str, title: &str) -> String {
    let text = DECISIONS.replace("- old\n", rollup);
    if title.is_empty() {
        return text;
    }
    text + &format!("\n### 2026-01-09 — {title}\n- **Why:** x\n")
}

#[test]
fn a_rollup_that_only_one_side_changed_is_taken_from_that_side() {
    let ten: Vec<String> = (0..10).map(|n| format!("- stale {n}\n")).collect();
    let ten = ten.concat();
    for (base, rewritten) in [
        (ten.as_str(), "- a\n- b\n- c\n- d\n- e\n"),
        ("- Port is 80\n", "- Port is 8080\n"),
        ("None\n", "- filled\n"),
        ("* x\n", "* x\n* y\n"),
        ("- x\n", "- x\n  of two lines\n  - and nested\n- y\n\nMore text.\n"),
    ] {
        let (old, new) = (with_rollup(base, ""), with_rollup(rewritten, ""));
        let added = with_rollup(base, "Another");
        let expected = with_rollup(rewritten, "Another");
        assert_eq!(clean(MergeKind::Decisions, &old, &added, &new), expected);
        assert_eq!(clean(MergeKind::Decisions, &old, &new, &added), expected);
    }
}

#[test]
fn rollups_that_both_sides_changed_are_merged_by_bullet() {
    for (base, ours, theirs, expected) in [
        (
            "- Port is 80\n- b\n",
            "- Port is 80\n- b\n- c\n",
            "- Port is 8080\n- b\n",
            "- Port is 8080\n- b\n- c\n",
        ),
        (
            "- a\n",
            "- a\n- b\n  of ours\n",
            "- a\n* c\n  of theirs\n  - nested\n",
            "- a\n- b\n  of ours\n* c\n  of theirs\n  - nested\n",
        ),
        ("- a\n", "None\n", "- b\n", "- b\n"),
        ("- a\n", "- None\n", "- b\n", "- b\n"),
        (
            "- a\n",
            "- a\n- [Use one queue]\n- Needs triage: the cache\n",
            "- a\n- <https://example.org/adr/7>\n",
            "- a\n- [Use one queue]\n- Needs triage: the cache\n- <https://example.org/adr/7>\n",
        ),
        (
            "- a\n\nBelow.\n",
            "- a\n- b\n\nBelow.\n",
            "- c\n- a\n\nBelow.\n",
            "- c\n- a\n- b\n\nBelow.\n",
        ),
    ] {
        let merged = clean(
            MergeKind::Decisions,
            &with_rollup(base, ""),
            &with_rollup(ours, ""),
            &with_rollup(theirs, ""),
        );
        assert_eq!(merged, with_rollup(expected, ""));
    }
}

#[test]
fn a_merged_rollup_has_ten_bullets_at_most() {
    let list = |words: &[&str]| format!("- {}\n", words.join("\n- "));
    let nine = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let base = list(&nine[..1]);
    let theirs = list(&["1", "x", "y"]);
    let merged = clean(
        MergeKind::Decisions,
        &with_rollup(&base, ""),
        &with_rollup(&list(&nine), ""),
        &with_rollup(&theirs, ""),
    );
    assert_eq!(merged, with_rollup(&(list(&nine) + "- x\n"), ""));
}

#[test]
fn new_bullets_of_the_rollup_get_the_line_ends_of_the_file() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    let ours = DECISIONS.replace("- old\n", "- ours\n");
    let theirs = DECISIONS.replace("- old\n", "- old\n- theirs\n");
    let merged =
        clean(MergeKind::Decisions, &windows(DECISIONS), &windows(&ours), &windows(&theirs));
    let expected = DECISIONS.replace("- old\n", "- ours\n- theirs\n");
    assert_eq!(merged, windows(&expected));
}

const CONSTRAINTS: &str =
    "# Constraints\n\n## Rules\n- never log secrets\n- one writer\n\n## Superseded\n";

#[test]
fn bullets_added_on_both_sides_are_both_kept() {
    let ours = CONSTRAINTS.replace("- one writer\n", "- one writer\n- ours\n");
    let theirs = CONSTRAINTS.replace("- one writer\n", "- one writer\n- theirs\n");
    assert_eq!(
        clean(MergeKind::Constraints, CONSTRAINTS, &ours, &theirs),
        CONSTRAINTS.replace("- one writer\n", "- one writer\n- ours\n- theirs\n")
    );
}

#[test]
fn a_bullet_stays_in_its_section_beside_a_new_section_of_the_other_side() {
    let base = "# Constraints\n\n## Hazards\n- clocks jump\n";
    let bullet = format!("{base}- disks fill\n");
    let section = format!("{base}\n## Deploy\n- on Mondays\n");
    let expected = format!("{bullet}\n## Deploy\n- on Mondays\n");
    assert_eq!(clean(MergeKind::Constraints, base, &section, &bullet), expected);
    assert_eq!(clean(MergeKind::Constraints, base, &bullet, &section), expected);
    let both = |text: &str| text.to_owned() + "\n## Superseded\n";
    assert_eq!(
        clean(MergeKind::Constraints, &both(base), &both(&section), &both(&bullet)),
        both(&expected)
    );
}

#[test]
fn a_bullet_edited_by_ours_and_superseded_by_theirs_is_a_conflict() {
    let ours = CONSTRAINTS.replace("one writer", "one writer a file (updated 2026-02-01)");
    let theirs = CONSTRAINTS.replace("- one writer\n", "")
        + "- (Superseded 2026-02-01) one writer — locks are there\n";
    let merged = merged(MergeKind::Constraints, CONSTRAINTS, &ours, &theirs);
    assert_eq!(merged.conflicts, 1, "{}", merged.text);
    assert!(merged.text.contains("- (Superseded 2026-02-01) one writer"));
}

#[test]
fn a_bullet_moved_on_one_side_is_not_lost() {
    let theirs = "# Constraints\n\n## Rules\n- one writer\n\n## Superseded\n- never log secrets\n";
    let ours = CONSTRAINTS.replace("- one writer\n", "- one writer\n- ours\n");
    let text = clean(MergeKind::Constraints, CONSTRAINTS, &ours, theirs);
    assert_eq!(text.matches("never log secrets").count(), 1, "{text}");
    assert!(text.contains("- ours\n"), "{text}");
}

#[test]
fn log_lines_of_both_sides_are_kept_even_without_a_final_newline() {
    let text = clean(MergeKind::Lines, "a\n", "a\nb", "a\nc\n");
    assert_eq!(text, "a\nb\nc\n");
    assert_eq!(clean(MergeKind::Lines, "", "b\n", "b\nc\n"), "b\nc\n");
}

#[test]
fn the_index_has_each_key_once_with_its_later_row() {
    let head = "# Index\n\n| key | title | updated |\n|---|---|---|\n";
    let row = |key: &str, date: &str| format!("| {key} | T | {date} |\n");
    let base = format!("{head}{}{}", row("b", "2026-01-01"), row("d", "2026-01-01"));
    let ours = format!(
        "{head}{}{}{}",
        row("a", "2026-01-02"),
        row("b", "2026-01-02"),
        row("d", "2026-01-01")
    );
    let theirs = format!("{head}{}{}", row("b", "2026-01-03"), row("c", "2026-01-02"));
    assert_eq!(
        clean(MergeKind::Index, &base, &ours, &theirs),
        format!(
            "{head}{}{}{}",
            row("a", "2026-01-02"),
            row("b", "2026-01-03"),
            row("c", "2026-01-02")
        )
    );
}

const CONTEXT: &str =
    "# Mine\n\none\n\n<!-- annals:begin v1 sha256=aa -->\nold\n<!-- annals:end -->\n\nlast\n";

#[test]
fn the_generated_block_never_conflicts_and_the_text_around_it_merges() {
    let ours = CONTEXT.replace("=aa -->\nold", "=bb -->\nours").replace("one", "one of ours");
    let theirs =
        CONTEXT.replace("=aa -->\nold", "=cc -->\ntheirs").replace("last", "last of theirs");
    let text = clean(MergeKind::Context, CONTEXT, &ours, &theirs);
    assert_eq!(text, ours.replace("last", "last of theirs"));
}

#[test]
fn a_change_on_only_one_side_is_taken_verbatim() {
    // Without a blank line before the heading: a merge by units would insert one.
    let glued = "- a\n# b\n- c";
    let other = "- a\n";
    for kind in
        [MergeKind::Patterns, MergeKind::Decisions, MergeKind::Constraints, MergeKind::Lines]
    {
        for (base, ours, theirs) in [
            (glued, glued, glued),
            (other, glued, glued),
            (other, glued, other),
            (other, other, glued),
        ] {
            let merged = merge(kind, Versions { base, ours, theirs }, &labels());
            assert_eq!((merged.text.as_str(), merged.conflicts), (glued, 0), "{kind:?}");
        }
    }
}

#[test]
fn text_added_by_both_at_the_same_position_is_a_conflict() {
    let ours = CONTEXT.replace("one\n", "one\nours\n");
    let theirs = CONTEXT.replace("one\n", "one\ntheirs\n");
    let merged = merged(MergeKind::Context, CONTEXT, &ours, &theirs);
    assert_eq!(merged.conflicts, 1);
    let place = "<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n";
    assert!(merged.text.contains(place), "{}", merged.text);
}

/// Two versions derived from one list by removing some words and inserting new ones.
fn edited_versions() -> impl Strategy<Value = (String, String, String)> {
    let side = |name: &'static str| {
        vec((0..8_usize, any::<bool>()), 0..6).prop_map(move |edits| {
            let mut words: Vec<String> = (0..8).map(|n| format!("base {n}")).collect();
            for (turn, (at, is_added)) in edits.into_iter().enumerate() {
                let at = at.min(words.len());
                if is_added {
                    words.insert(at, format!("{name} {turn}"));
                } else if at < words.len() {
                    words.remove(at);
                }
            }
            words
        })
    };
    let bullets = |words: Vec<String>| -> String {
        let lines = words.iter().map(|word| format!("- {word}\n"));
        format!("# Constraints\n\n{}", lines.collect::<String>())
    };
    let base: Vec<String> = (0..8).map(|n| format!("base {n}")).collect();
    (side("ours"), side("theirs"))
        .prop_map(move |(ours, theirs)| (bullets(base.clone()), bullets(ours), bullets(theirs)))
}

proptest! {
    /// What either side added and what neither side removed is present, whatever the edits.
    #[test]
    fn no_added_or_kept_line_is_lost((base, ours, theirs) in edited_versions()) {
        let merged = merged(MergeKind::Constraints, &base, &ours, &theirs);
        for line in ours.lines().chain(theirs.lines()).filter(|line| line.starts_with("- ")) {
            let kept_by_both = ours.contains(line) && theirs.contains(line);
            let is_added = !base.contains(line);
            if kept_by_both || is_added {
                prop_assert!(merged.text.lines().any(|out| out == line), "{line} is lost:\n{}", merged.text);
            }
        }
        if merged.conflicts == 0 {
            let bullets: Vec<&str> = merged.text.lines().filter(|line| line.starts_with("- ")).collect();
            let mut once = bullets.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), bullets.len());
        }
    }
}

/// A file of PATTERNS.md that is too long to be split into entries.
fn long_file(entries: usize) -> String {
    let mut text = "# Learned Patterns\n".to_owned();
    for number in 0..entries {
        writeln!(text, "\n### Phase {number}: Name\n- one\n- two\n- three").unwrap();
    }
    text
}

/// Returns the lines of a text without conflict markers, and how often each occurs.
fn counted_lines(text: &str) -> std::collections::BTreeMap<&str, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for line in text.lines() {
        let is_marker =
            ["<<<<<<< ", "=======", ">>>>>>> "].iter().any(|marker| line.starts_with(marker));
        if !is_marker {
            *counts.entry(line).or_default() += 1;
        }
    }
    counts
}

#[test]
fn entries_appended_to_a_file_that_is_too_long_to_split_are_neither_lost_nor_doubled() {
    let base = long_file(24_000);
    let ours = format!("{base}{}", phase(1, "list", "two"));
    let theirs = format!("{base}{}", phase(2, "sync", "three"));
    for kind in [
        MergeKind::Patterns,
        MergeKind::Decisions,
        MergeKind::Constraints,
        MergeKind::Lines,
        MergeKind::Context,
    ] {
        let merged = merged(kind, &base, &ours, &theirs);
        assert_eq!(merged.conflicts, 1, "{kind:?}");
        let expected = format!("{ours}{}", phase(2, "sync", "three"));
        assert_eq!(counted_lines(&merged.text), counted_lines(&expected));
        assert!(merged.text.starts_with(&base));
    }
}

#[test]
fn both_sides_change_different_places_of_a_file_that_is_too_long_to_split() {
    for end in ["\n", "\r\n"] {
        let base = long_file(24_000).replace('\n', end);
        let changed = |number: usize, text: &str| {
            let old = format!("### Phase {number}: Name{end}- one{end}");
            base.replace(&old, &format!("### Phase {number}: Name{end}{text}{end}"))
        };
        for (own, other) in [(5, 23_999), (23_000, 22_000)] {
            let ours = changed(own, "- ours");
            let theirs = changed(other, "- theirs");
            let both = ours.replace(
                &format!("### Phase {other}: Name{end}- one{end}"),
                &format!("### Phase {other}: Name{end}- theirs{end}"),
            );
            for kind in [MergeKind::Patterns, MergeKind::Lines] {
                assert!(clean(kind, &base, &ours, &theirs) == both, "{own} {other}");
            }
        }
        let ours = changed(7, "- ours");
        let without_tail = |text: &str| text[..text.rfind("### Phase 23999").unwrap()].to_owned();
        let merged = clean(MergeKind::Patterns, &base, &ours, &without_tail(&base));
        assert!(merged == without_tail(&ours));
    }
}

#[test]
fn sides_with_no_line_in_common_conflict_as_a_whole() {
    let numbered = |word: &str, count: usize| -> String {
        let mut text = String::new();
        for number in 0..count {
            writeln!(text, "- {word} {number}").unwrap();
        }
        text
    };
    for count in [30_000, 120_000] {
        let (base, ours, theirs) =
            (numbered("base", count), numbered("ours", count), numbered("theirs", count));
        for kind in [MergeKind::Constraints, MergeKind::Lines, MergeKind::Context] {
            let merged = merged(kind, &base, &ours, &theirs);
            assert_eq!(merged.conflicts, 1, "{kind:?}");
            let marked = format!("<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n");
            assert!(merged.text == marked, "{kind:?}");
        }
    }
}

#[test]
fn a_file_in_another_order_is_merged_in_few_steps() {
    let lines: Vec<String> = (0..60_000).map(|number| format!("line {number}\n")).collect();
    let base = lines.concat();
    let reversed: String = lines.iter().rev().map(String::as_str).collect();
    let appended = format!("{base}more\n");
    let merged = merged(MergeKind::Context, &base, &reversed, &appended);
    let counts = counted_lines(&merged.text);
    assert_eq!(counts.get("more"), Some(&1));
    assert!(reversed.lines().all(|line| counts.contains_key(line)));
}
