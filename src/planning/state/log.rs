//! Parses the activity log and the next steps of STATE.md.

use crate::clock::parse_date;
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

/// Returns the next steps, from labels anywhere in the file.
pub(super) fn next_steps(outline: &Outline<'_>) -> Vec<Located<String>> {
    const LABELS: &[&str] = &["next", "next action", "next step", "next steps", "next up"];
    let all = 0..outline.text().len();
    let labels = outline.labels(&all);
    labels
        .iter()
        .filter(|label| {
            LABELS
                .iter()
                .any(|name| label.name.eq_ignore_ascii_case(name))
        })
        .map(|label| Span::of_label(label).with_value(label.value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_comes_from_bullets_and_rows() {
        let text = "## Recent Activity\n- 2026-02-17: Phase 4 planned\n- None\n\n| Date | Action |\n|---|---|\n| 2026-03-21 | made |\n";
        let found = activity(&Outline::parse(text, 0));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "2026-02-17: Phase 4 planned");
        assert!(found.iter().all(|activity| activity.date.is_some()));
    }
}
