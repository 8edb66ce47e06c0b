//! What holds for any text of the user's, and any value in the stores.

use annals::claude_md::Content;
use annals::text::Line;
use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};

use crate::claude_md::Tree;

/// What could be taken for structure, and what could not.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# a\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~".to_owned()),
        Just("\n<!-- annals:end -->\n".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("---\n".to_owned()),
        Just("| a | b |".to_owned()),
        Just("@docs/x.md ".to_owned()),
        Just("\r\n\t".to_owned()),
        "[ -~é日]{0,12}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_value_breaks_out_of_the_block(value in hostile(), other in hostile()) {
        let mut tree = Tree::new();
        let (value, other) = (Line::new(&value), Line::new(&other));
        tree.content = Content {
            title: Some(Line::new(&format!("x{value}"))),
            core_value: Some(other.clone()),
            milestone: Some(value.clone()),
            phase: Some(Line::new(&format!("2 - {value}"))),
            next_action: Some(other.clone()),
            skills: vec![value.clone()],
            patterns: vec![other.clone()],
            decisions: vec![value, other],
            ..tree.content
        };
        tree.twice();
        let text = tree.text("CLAUDE.md");
        prop_assert_eq!(text.matches("annals:end -->").count(), 1);
        prop_assert_eq!(text.matches("<!--").count(), 2);
        let known = ["Active Context", "Key Decisions", "Installed Skills", "Learned Patterns", "VBW Commands"];
        let second = text.lines().filter(|line| line.starts_with("## "));
        prop_assert!(second.clone().all(|line| known.contains(&&line[3..])));
        prop_assert!(text.lines().filter(|line| line.starts_with("# ")).count() == 1);
        let headings = Parser::new(&text).filter(|e| matches!(e, Event::Start(Tag::Heading { .. })));
        prop_assert_eq!(headings.count(), second.count() + 1);
        prop_assert!(!Parser::new(&text).any(|e| matches!(e, Event::Start(Tag::CodeBlock(_)))));
    }

    #[test]
    fn a_file_stays_within_its_lines_where_the_users_text_leaves_room(
        own in 0_usize..172, decisions in 0_usize..11, skills in 0_usize..60, patterns in 0_usize..6,
    ) {
        let mut tree = Tree::new();
        let lines = |count: usize| (0..count).map(|n| Line::new(&format!("line {n}"))).collect();
        tree.content.decisions = lines(decisions);
        tree.content.few_decisions = lines(decisions.min(5));
        tree.content.skills = lines(skills);
        tree.content.patterns = lines(patterns);
        let text = "own\n".repeat(own);
        tree.put("CLAUDE.md", &text);
        let done = tree.twice();
        let written = tree.text("CLAUDE.md");
        prop_assert!(written.ends_with(&text));
        prop_assert!(written.lines().count() <= 200);
        prop_assert_eq!(written.lines().count(), done.files[0].lines);
        prop_assert_eq!(done.files[0].excess, 0);
    }

    #[test]
    fn any_bytes_of_the_users_survive(own in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut tree = Tree::new();
        tree.put("CLAUDE.md", &own);
        tree.twice();
        tree.content.milestone = Some(Line::new("Next"));
        tree.twice();
        let written = tree.bytes("CLAUDE.md");
        prop_assert!(written.ends_with(&own));
    }
}
