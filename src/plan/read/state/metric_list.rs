//! Reads the performance metrics of STATE.md.

use std::collections::HashMap;

use crate::markdown::{Label, Outline};
use crate::plan::read::{heading, milestone_version_in};
use crate::text::fold;

/// Returns the labels of the metrics sections that are about the active milestone, without repeated ones.
pub(super) fn metrics(outline: &Outline<'_>, milestone: Option<&str>) -> Vec<Label> {
    let is_metrics = |title: &str| {
        let words = heading::words(title);
        words.split(' ').any(|word| word == "metrics")
    };
    let sections = outline.sections().iter();
    let sections = sections.filter(|section| section.level > 0 && is_metrics(&section.title));
    let active = milestone.and_then(milestone_version_in);
    // What names no version belongs to the milestone above it.
    let is_other = |version: Option<&str>| active.is_some() && version != active;
    let mut labels = Vec::new();
    for section in sections {
        let above = outline.sections().iter().filter(|one| {
            one.level > 0
                && (one.line == section.line || one.whole.contains(&section.heading.start))
        });
        let version = above.rev().find_map(|one| milestone_version_in(&one.title));
        let mut is_of_other = version.is_some() && is_other(version);
        for label in outline.labels(&section.own) {
            match milestone_version_in(&label.name) {
                Some(version) => is_of_other = is_other(Some(version)),
                None if !is_of_other => labels.push(label),
                None => {}
            }
        }
    }
    let mut count: HashMap<String, usize> = HashMap::new();
    for label in &labels {
        *count.entry(fold(&label.name)).or_default() += 1;
    }
    labels.retain(|label| count[&fold(&label.name)] == 1);
    labels
}
