//! Tests properties of any text: nothing panics, and a rollup is replaced once.

use proptest::prelude::*;

use crate::ledger::constraints::Constraints;
use crate::ledger::decisions::Decisions;
use crate::ledger::state::Footer;
use crate::ledger::{decisions, state, update};

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

/// Returns the bullets of a rollup without placeholders.
fn filled_bullets(text: &str) -> Vec<String> {
    let rollup = Decisions::parse(text).rollup.unwrap();
    rollup.filled().map(|bullet| bullet.text.clone()).collect()
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
        let once = decisions::with_rollup(&text, &bullets, &mut problems);
        if problems.all.is_empty() {
            prop_assert_eq!(&filled_bullets(&once), &bullets);
            prop_assert_eq!(decisions::with_rollup(&once, &bullets, &mut problems), once);
        } else {
            prop_assert_eq!(once, text);
        }
    }
}
