//! Tests properties of any text: nothing panics, repairs are idempotent, and no text is lost.

use chrono::NaiveDate;
use proptest::prelude::*;

use crate::ledger::constraints::Constraints;
use crate::ledger::decisions::Decisions;
use crate::ledger::footer::Footer;
use crate::ledger::{decisions, fix, state, update};
use crate::templates::Template;

/// Pieces that the parsers look for, in any order, or arbitrary text.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "# State\n",
        "## Active Work\n",
        "## Next Actions\n",
        "- [ ] x\n",
        "- one\n",
        "  - nested\n",
        "\n",
        "\r\n",
        "## Recent (last 30 days)\n",
        "## 2026-02\n",
        "## 2026-01\n",
        "### 2026-02-17 \u{2014} T\n",
        "- **Why:** x\n",
        "```\n",
        "---\n",
        "Commits covered through: ",
        "84e9493",
        "<!-- t:last-commit:84e9493 -->\n",
        "Last memory update: 2026-02-01\n",
        "## Rules\n",
        "## Superseded\n",
        "> - q\n",
        "* a\n",
        "1. n\n",
        "text\n",
        "\u{feff}",
        "\u{518d}\u{8a66}",
        "| a | b |\n|---|---|\n",
        "<div>\n",
        "- (2026-02-03) Title - why\n",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat()), ".{0,80}",]
}

/// A state without content.
const BLANK: &str = "# State\n\n## Current Objective\nUnknown (needs human)\n\n## Active Work\n- Unknown (needs human)\n\n## Blockers\nNone\n\n## Next Actions\n- [ ] Needs triage\n\n## Quick Reference\n- Run: Unknown (needs human)\n\n## Out of Scope (for now)\nNone\n\n---\nLast memory update: 2026-03-01\nCommits covered through: none yet\n";

fn fix_state(text: &str) -> String {
    fix::fix_state(text, BLANK)
}

/// Returns the bullets of a rollup without placeholders.
fn filled_bullets(text: &str) -> Vec<String> {
    let rollup = Decisions::parse(text).rollup.unwrap();
    rollup.filled().map(|bullet| bullet.text.clone()).collect()
}

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 1).unwrap()
}

/// Returns whether all lines of a text are still present, in any order.
fn keeps_lines(old: &str, new: &str) -> bool {
    let plain = |line: &str| line.trim_matches(['\u{feff}', '\r', ' ']).to_owned();
    let mut remaining: Vec<String> = new.lines().map(plain).collect();
    old.lines().map(plain).filter(|line| !line.trim().is_empty()).all(|line| {
        let at = remaining.iter().position(|other| *other == line);
        at.map(|at| remaining.remove(at)).is_some()
    })
}

proptest! {
    #[test]
    fn no_text_panics_a_parser(text in any_text()) {
        let _ = state::is_uninitialised(&text);
        let footer = Footer::parse(&text);
        let _ = footer.comments(&text, "abc1234");
        for anchor in &footer.anchors {
            prop_assert!(text.get(anchor.range.clone()).is_some());
        }
        for bullet in Constraints::parse(&text).bullets {
            prop_assert!(text.get(bullet.lines).is_some() && text.get(bullet.range).is_some());
        }
        for entry in Decisions::parse(&text).entries {
            prop_assert!(text.get(entry.range).is_some());
        }
        let _ = update::update_problems(&text);
    }

    #[test]
    fn replacing_a_rollup_is_idempotent(text in any_text()) {
        let bullets: Vec<String> = (0..6).map(|n| format!("gist {n}")).collect();
        let mut problems = update::Problems::default();
        let once = decisions::with_rollup(&text, &bullets, today(), &mut problems);
        if problems.all.is_empty() {
            prop_assert_eq!(&filled_bullets(&once), &bullets);
            prop_assert_eq!(decisions::with_rollup(&once, &bullets, today(), &mut problems), once);
        } else {
            prop_assert_eq!(once, text);
        }
    }

    #[test]
    fn a_repair_keeps_all_lines_and_is_idempotent(text in any_text()) {
        for fix in [fix_state as fn(&str) -> String, fix::fix_constraints] {
            let once = fix(&text);
            prop_assert!(keeps_lines(&text, &once), "{:?}\n{:?}", text, once);
            prop_assert_eq!(fix(&once), once);
        }
        let fixed = fix::fix_decisions(&text, today());
        prop_assert!(Decisions::parse(&fixed).entries.len() >= Decisions::parse(&text).entries.len(), "{:?}\n{:?}", text, fixed);
    }
}

#[test]
fn an_unclosed_fence_is_not_moved_above_other_entries() {
    let text = "# Decisions\n## 2026-01\n### 2026-01-17 \u{2014} T\n## 2026-02\n```\n";
    let fixed = fix::fix_decisions(text, today());
    assert_eq!(Decisions::parse(&fixed).entries.len(), 1, "{fixed}");
}

#[test]
fn the_header_goes_after_front_matter_whatever_its_line_ends() {
    for end in ["\n", "\r\n"] {
        let front_matter = "---\ntype: log\n---\n".replace('\n', end);
        let text = format!("{front_matter}# Decisions{end}");
        let fixed = fix::fix_decisions(&text, today());
        let header = format!("{front_matter}{end}<!-- DO");
        assert!(fixed.starts_with(&header), "{fixed:?}");
        assert!(fixed.contains(&format!("# Decisions{end}")), "{fixed:?}");
    }
}

#[test]
fn months_are_sorted_with_the_line_ends_of_the_file() {
    let text = "# Decisions\n\n## 2026-01\n\n### 2026-01-17 \u{2014} A\n\n## 2026-02\n\n### 2026-02-17 \u{2014} B";
    let fixed = fix::fix_decisions(&text.replace('\n', "\r\n"), today());
    assert_eq!(Decisions::parse(&fixed).months[0].name, "2026-02");
    assert_eq!(fixed.replace("\r\n", "").find('\n'), None, "{fixed:?}");
}

#[test]
fn a_rollup_needs_no_more_bullets_than_there_are_titles() {
    let entries: Vec<String> =
        (1..=5).map(|day| format!("### 2026-02-2{day} \u{2014} Same title\n- x\n\n")).collect();
    let entries = entries.concat();
    let text = format!("# Decisions\n\n## Recent (last 30 days)\n\n## 2026-02\n\n{entries}");
    let found = Decisions::parse(&text);
    let day = today();
    assert_eq!(found.entries.len(), 5);
    assert_eq!(found.min_bullets(day), 1);
    let filled = decisions::filled(&text, day);
    let bullets = filled_bullets(&filled);
    assert_eq!(bullets, ["Same title"]);
}

#[test]
fn bullets_that_begin_with_a_bracket_stay_in_the_rollup() {
    let text = "# Decisions\n\n## Recent (last 30 days)\n- [ADR-12] Sessions live in Redis\n- {what}\n\n## 2026-02\n\n### 2026-02-21 \u{2014} A\n- x\n\n### 2026-02-22 \u{2014} B\n- x\n";
    let day = today();
    let filled = decisions::filled(text, day);
    let bullets = filled_bullets(&filled);
    assert_eq!(bullets, ["[ADR-12] Sessions live in Redis", "B"]);
}

#[test]
fn a_missing_section_goes_above_the_footer_and_below_front_matter() {
    let sections = "## Current Objective\nx\n\n## Active Work\n- x\n\n## Blockers\nNone\n\n## Next Actions\n- [ ] x\n\n## Quick Reference\n- Run: x\n";
    let missing = "## Out of Scope (for now)\nNone\n";
    let head = with_state_header("# State\n");
    let footer = "Last memory update: 2026-02-07\nCommits covered through: abc1234\n";
    for (before, after) in [
        // Without a rule, and with front matter.
        (format!("---\ntags: x\n---\n{head}\n{sections}\n"), footer.to_owned()),
        // With a comment of another tool under the title.
        (
            format!("{head}<!-- t:last-commit:abc1234 -->\n\n{sections}\n"),
            format!("---\n\n{footer}"),
        ),
        (format!("{head}<!-- t:last-commit:abc1234 -->\n\n{sections}\n"), String::new()),
        // A rule further up is not the footer's.
        (format!("{head}\n---\n\n{sections}\n"), footer.to_owned()),
    ] {
        let fixed = fix_state(&format!("{before}{after}"));
        let below = if after.is_empty() { "" } else { "\n" };
        assert_eq!(fixed, format!("{before}{missing}{below}{after}"));
    }
}

/// Returns a text with the comments that every STATE.md begins with.
fn with_state_header(text: &str) -> String {
    let template = Template::LedgerState.text();
    let lines = template.lines().filter(|line| line.starts_with("<!-- DO"));
    let header: Vec<&str> = lines.collect();
    format!("{}\n\n{text}", header.join("\n"))
}
