//! Parses the activity log and the next steps of STATE.md.

use crate::clock::parse_date;
use crate::markdown::{FrontMatter, Label, Outline};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::roadmap::parse_phase;
use crate::plan::read::status::is_status;
use crate::plan::read::{
    Activity, Located, PhaseNumbering, PhaseProgress, WrittenAt, heading, non_placeholder,
};

/// Returns the activity log, from bullets and table rows, in file order.
pub(super) fn activity(outline: &Outline<'_>) -> Vec<Activity> {
    let names = ["activity log", "recent activity", "activity", "history"];
    let mut found = Vec::new();
    for section in heading::sections(outline, &names) {
        for (block, item) in outline.items(&section.own) {
            if item.depth == 0 && !is_none_remark(&item.text) {
                let date = parse_date(item.text.trim_start_matches('['));
                let text = item.text.clone();
                found.push((block.line, Activity { date, text }));
            }
        }
        for table in outline.tables(&section.own) {
            let date = table.column(&["Date", "When"]);
            let text = table.column(&["Action", "Activity", "Event", "What", "Description"]);
            for row in &table.rows {
                let cell = |index: Option<usize>| non_placeholder(row.cells.get(index?)?);
                if let Some(text) = cell(text) {
                    let date = cell(date).and_then(parse_date);
                    let text = text.to_owned();
                    found.push((row.line, Activity { date, text }));
                }
            }
        }
    }
    found.sort_by_key(|(line, _)| *line);
    found.into_iter().map(|(_, activity)| activity).collect()
}

/// Returns when the work went on, from the front matter and from labels anywhere in the file.
pub(super) fn last_active(front: &FrontMatter, outline: &Outline<'_>) -> Vec<WrittenAt> {
    const LABELS: &[&str] = &["last activity", "last session", "last updated"];
    let labels = outline.labels(&(0..outline.text().len()));
    let is_date = |label: &&Label| {
        let mut names = LABELS.iter();
        names.any(|name| label.name.eq_ignore_ascii_case(name))
    };
    let of_labels = labels.iter().filter(is_date);
    let in_front = ["last_updated", "last_activity"].map(|key| front.text(&[key]));
    let stated = in_front.into_iter().flatten();
    stated.chain(of_labels.map(|label| label.value.as_str())).filter_map(WrittenAt::parse).collect()
}

/// Returns the next steps, from labels anywhere in the file but under the headings of finished phases.
pub(super) fn next_steps(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<Located<String>> {
    const LABELS: &[&str] = &["next", "next action", "next step", "next steps", "next up"];
    let all = 0..outline.text().len();
    let labels = outline.labels(&all);
    let is_next = |label: &&Label| {
        let mut names = LABELS.iter();
        names.any(|name| label.name.eq_ignore_ascii_case(name))
    };
    let sections = outline.sections().iter();
    let finished = sections.filter(|section| is_finished_phase(&section.title, numbering));
    // In file order, each with the end of all up to it: a finished phase may have subsections that are finished.
    let mut past: Vec<(usize, usize)> = Vec::new();
    for section in finished {
        let before = past.last().map_or(0, |(_, end)| *end);
        past.push((section.whole.start, section.whole.end.max(before)));
    }
    let is_past = |label: &&Label| {
        let at = label.range.start;
        let index = past.partition_point(|(start, _)| *start <= at);
        index > 0 && at < past[index - 1].1
    };
    labels
        .iter()
        .filter(|label| is_next(label) && !is_past(label))
        .map(|label| Span::from_label(label).with_value(label.value.clone()))
        .collect()
}

/// Returns whether a heading is that of a phase and calls it complete: `Phase 8: Base ✅ COMPLETE`.
fn is_finished_phase(title: &str, numbering: PhaseNumbering) -> bool {
    let Some(phase) = parse_phase(Span::new(title, 0, 1), numbering) else {
        return false;
    };
    // `Phase 8 (complete 2026-01-02)` has no name.
    let name = phase.name.as_deref().filter(|name| is_status(name));
    let status = phase.status.as_ref().map(|status| status.value.as_str());
    status.or(name).is_some_and(PhaseProgress::is_complete_status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_phase_has_no_next_step() {
        let text = "## Phase 8: Base ✅ COMPLETE\n### Notes\n**Next Action:** Plan Phase 10\n## Phase 9: Login\n**Next:** Phase 9\n## Session\n**Next step:** Phase 20\n";
        let found = next_steps(&Outline::parse(text, 0), PhaseNumbering::Plain);
        let values: Vec<&str> = found.iter().map(|step| step.value.as_str()).collect();
        assert_eq!(values, ["Phase 9", "Phase 20"]);
        for (title, expected) in [
            ("Phase 8 (complete 2026-01-02)", true),
            ("Phase 8: Base (complete 2026-01-02)", true),
            ("Phase 8: Base (complete)", true),
            ("Phase 8: Base \u{2713}", true),
            ("Phase 8: Base - done", true),
            ("Phase 1: Complete the parser", false),
            ("Phase 2: definition of done", false),
            ("Phase 2: Not done", false),
            ("Current Phase ✅", false),
        ] {
            assert_eq!(is_finished_phase(title, PhaseNumbering::Plain), expected, "{title}");
        }
    }

    #[test]
    fn activity_comes_from_bullets_and_rows() {
        let text = "## Recent Activity\n- 2026-02-17: Phase 4 planned\n- None\n\n| Date | Action |\n|---|---|\n| 2026-03-21 | made |\n";
        let found = activity(&Outline::parse(text, 0));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "2026-02-17: Phase 4 planned");
        assert!(found.iter().all(|activity| activity.date.is_some()));
    }
}
