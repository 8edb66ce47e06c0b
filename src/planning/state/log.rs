//! Parses the activity log and the next steps of STATE.md.

use crate::clock::parse_date;
use crate::markdown::Label;
use crate::markdown::Outline;
use crate::planning::Activity;
use crate::planning::Located;
use crate::planning::heading;
use crate::planning::located::Span;
use crate::planning::non_placeholder;
use crate::planning::placeholder::is_none_remark;

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

/// Returns the next steps, from labels anywhere in the file but under the headings of finished phases.
pub(super) fn next_steps(outline: &Outline<'_>) -> Vec<Located<String>> {
    const LABELS: &[&str] = &["next", "next action", "next step", "next steps", "next up"];
    let all = 0..outline.text().len();
    let labels = outline.labels(&all);
    let is_next = |label: &&Label| {
        let mut names = LABELS.iter();
        names.any(|name| label.name.eq_ignore_ascii_case(name))
    };
    let is_past = |label: &&Label| {
        let mut finished = outline
            .sections()
            .iter()
            .filter(|s| is_finished_phase(&s.title));
        finished.any(|section| section.whole.contains(&label.range.start))
    };
    labels
        .iter()
        .filter(|label| is_next(label) && !is_past(label))
        .map(|label| Span::of_label(label).with_value(label.value.clone()))
        .collect()
}

/// Returns whether a heading is that of a phase and calls it complete: `Phase 8: Base ✅ COMPLETE`.
fn is_finished_phase(title: &str) -> bool {
    let words = heading::words(title);
    let number = words.strip_prefix("phase ").unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit())
        && (title.contains(['✅', '✓', '☑'])
            || words
                .split([' ', '(', ')', ','])
                .any(|word| ["complete", "completed", "done", "shipped"].contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_phase_has_no_next_step() {
        let text = "## Phase 8: Base ✅ COMPLETE\n### Notes\n**Next Action:** Plan Phase 10\n## Phase 9: Login\n**Next:** Phase 9\n## Session\n**Next step:** Phase 20\n";
        let found = next_steps(&Outline::parse(text, 0));
        let values: Vec<&str> = found.iter().map(|step| step.value.as_str()).collect();
        assert_eq!(values, ["Phase 9", "Phase 20"]);
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
