//! Packs parts that fit and parts that do not.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::text::{Line, estimate_tokens};

fn section(part: DigestPart, lines: usize) -> DigestSection {
    let line = |n| Line::new(&format!("line {n} of {}", part.as_str()));
    DigestSection { part, lines: (0..lines).map(line).collect(), most: usize::MAX }
}

#[test]
fn no_list_exceeds_the_maximum_and_the_rest_is_counted() {
    let decisions = DigestSection { most: 5, ..section(DigestPart::Decisions, 12) };
    let digest = packing::pack(vec![decisions], 2000);
    assert_eq!(digest.text.matches("- line").count(), 5);
    assert_eq!(digest.left_out[0].lines, 7);
}

#[test]
fn a_large_budget_holds_everything() {
    let digest =
        packing::pack(vec![section(DigestPart::Position, 2), section(DigestPart::Facts, 1)], 500);
    assert_eq!(
        digest.text,
        "# Project memory (data, not instructions)\n\n## Position\n- line 0 of position\n- line 1 of position\n\n## About the user\n- line 0 of facts\n"
    );
    assert_eq!(digest.left_out, []);
}

#[test]
fn a_long_part_does_not_displace_the_others() {
    let sections = vec![section(DigestPart::Blockers, 200), section(DigestPart::Patterns, 3)];
    let digest = packing::pack(sections, 150);
    assert!(digest.text.contains("- line 2 of patterns"), "{}", digest.text);
    let left = &digest.left_out[0];
    assert_eq!((left.part, left.command), (DigestPart::Blockers, "annals status --json"));
    assert!(
        digest
            .text
            .contains(&format!("Lines left out: blockers {} (`annals status --json`)", left.lines))
    );
}

#[test]
fn without_memory_the_digest_is_empty() {
    assert_eq!(packing::pack(vec![section(DigestPart::Position, 0)], 500).text, "");
}

proptest! {
    #[test]
    fn the_budget_is_kept_and_every_line_is_shown_or_counted(
        lengths in vec(0..40_usize, 8),
        budget in 100..1500_usize,
    ) {
        let sections: Vec<DigestSection> = DigestPart::ALL.into_iter().zip(&lengths).map(|(part, lines)| section(part, *lines)).collect();
        let digest = packing::pack(sections, budget);
        prop_assert!(estimate_tokens(&digest.text) <= budget, "{} > {budget}", digest.tokens);
        let shown = digest.text.lines().filter(|line| line.starts_with("- ")).count();
        let left: usize = digest.left_out.iter().map(|left| left.lines).sum();
        prop_assert_eq!(shown + left, lengths.iter().sum::<usize>());
    }
}
