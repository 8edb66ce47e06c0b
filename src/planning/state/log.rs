//! The parts of STATE.md that look back: activity, session, metrics.

use crate::clock::parse_date;
use crate::markdown::FrontMatter;
use crate::markdown::Outline;
use crate::planning::Activity;
use crate::planning::Session;
use crate::planning::Stated;
use crate::planning::absent::is_none_remark;
use crate::planning::heading;
use crate::planning::present;
use crate::planning::stated::Span;

/// Returns the activity log, bullets and rows, in file order.
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
                let cell = |index: Option<usize>| present(row.cells.get(index?)?);
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

/// Returns how the last session ended: the body is believed before the front matter.
pub(super) fn session(front: &FrontMatter, outline: &Outline<'_>) -> Session {
    let all = front.range.end..outline.text().len();
    let labels = outline.labels(&all);
    let label = |name: &str| {
        labels
            .iter()
            .find(|label| label.name.eq_ignore_ascii_case(name))
            .and_then(|label| present(&label.value))
    };
    let field = |name: &str| front.text(&[name]).and_then(present);
    let either = |name: &str, key: &str| label(name).or_else(|| field(key)).map(str::to_owned);
    Session {
        stopped_at: either("stopped at", "stopped_at"),
        last_activity: either("last activity", "last_activity"),
        resume_file: either("resume file", "resume_file"),
    }
}

/// Returns what is to be done next, as labels anywhere in the file say it.
pub(super) fn next_steps(outline: &Outline<'_>) -> Vec<Stated<String>> {
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
        .map(|label| Span::of_label(label).states(label.value.clone()))
        .collect()
}

/// Returns the metrics as label and value: labelled bullets, and tables of two columns.
pub(super) fn metrics(outline: &Outline<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for section in outline.sections() {
        let title = heading::words(&section.title);
        if section.level == 0
            || !title
                .split(' ')
                .any(|word| word == "metrics" || word == "totals")
        {
            continue;
        }
        for label in outline.labels(&section.own) {
            if let Some(value) = present(&label.value) {
                found.push((label.name.clone(), value.to_owned()));
            }
        }
        for table in outline.tables(&section.own) {
            for row in table.rows.iter().filter(|row| row.cells.len() == 2) {
                if let Some(value) = present(&row.cells[1]) {
                    found.push((row.cells[0].clone(), value.to_owned()));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn activity_comes_from_bullets_and_rows() {
        let text = "## Recent Activity\n- 2026-02-17: Phase 4 planned\n- None\n\n| Date | Action |\n|---|---|\n| 2026-03-21 | made |\n";
        let found = activity(&Outline::parse(text, 0));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "2026-02-17: Phase 4 planned");
        assert!(found.iter().all(|activity| activity.date.is_some()));
    }

    #[test]
    fn the_session_is_read_from_body_and_front_matter() {
        let text = "---\nstopped_at: old\nlast_activity: 2026-03-31\n---\n## Session Continuity\nStopped at: new\nResume file: None\n## Performance Metrics\n- Average duration: 5 min\n- Trend: \u{2014}\n\n| Metric | Value |\n|---|---|\n| Streak | 0 |\n";
        let front = FrontMatter::parse(text, Path::new("STATE.md")).value;
        let outline = Outline::parse(text, front.range.end);
        let found = session(&front, &outline);
        assert_eq!(found.stopped_at.as_deref(), Some("new"));
        assert_eq!(found.last_activity.as_deref(), Some("2026-03-31"));
        assert_eq!(found.resume_file, None);
        assert_eq!(metrics(&outline).len(), 2);
    }
}
