//! Compares the performance metrics of STATE.md with the summaries: the number of complete plans and their
//! durations.

use std::path::Path;

use crate::clock::{Minutes, TimeUnit};
use crate::error::Result;
use crate::plan::{Drift, DriftKind, PlanState, Summary, Survey};
use crate::project::{Project, vocabulary};
use crate::search::to_f64;
use crate::storage::read;
use crate::text::fold;

/// Returns the metrics of STATE.md that the summaries contradict, in file order.
///
/// Free text is accepted. All metrics are accepted if one exceeds what the milestone's summaries show, since they then
/// include work that is not visible here.
pub(super) fn metrics(project: &Project, survey: &Survey) -> Result<Vec<Drift>> {
    let labels = &survey.state.metrics;
    if labels.is_empty() {
        return Ok(Vec::new());
    }
    // A summary of a whole phase that has no plan may be counted or not.
    let (mut complete, mut of_phases, mut durations) = (0, 0, Vec::new());
    for phase in survey.position.members() {
        of_phases += usize::from(phase.is_only_summarised());
        let done = phase.plans.iter().filter(|(_, state)| *state == PlanState::Complete);
        for (slot, _) in done {
            complete += 1;
            if let Some((dir, name)) = phase.dir.as_ref().zip(slot.summary.as_ref()) {
                durations.extend(duration(&dir.join(name))?);
            }
        }
    }
    let total: Minutes = durations.iter().copied().sum();
    let average = total.as_f64() / to_f64(durations.len().max(1));
    // The durations of some plans say nothing against a stated value of all.
    let are_all = durations.len() == complete && complete > 0;
    let file = project.relative(&survey.folder.active.dir.join(vocabulary::STATE)).to_owned();
    let mut wrong = Vec::new();
    for label in labels {
        let stated = label.value.as_str();
        let (subject, actual) = match fold(&label.name).as_str() {
            "total plans completed" | "plans completed" => {
                let count = stated.parse::<usize>().ok();
                // `18 (5 of v1.0 + 13)` counts more than this milestone.
                if !is_blank(stated) && count.is_none_or(|count| count > complete) {
                    return Ok(Vec::new());
                }
                let is_right = count.is_some_and(|count| count >= complete - of_phases);
                let right = (complete - of_phases).to_string();
                ("the total of completed plans", (!is_right).then_some(right))
            }
            "total execution time" | "total time" if are_all => {
                let actual = in_style(total.as_f64(), stated);
                // Both are compared as formatted, so that rounding makes no difference.
                let written = actual.as_deref().and_then(Minutes::parse);
                let both = Minutes::parse(stated).zip(written);
                if both.is_some_and(|(stated, written)| stated > written) {
                    return Ok(Vec::new());
                }
                ("the total execution time", actual)
            }
            "average duration" if are_all => ("the average duration", in_style(average, stated)),
            _ => continue,
        };
        if let Some(actual) = actual.filter(|actual| *actual != stated) {
            wrong.push(Drift {
                kind: DriftKind::Metric,
                subject,
                stated: stated.to_owned(),
                written: Some(actual.clone()),
                actual,
                file: file.clone(),
                line: label.line,
                range: label.range.clone(),
                phase: None,
                is_dependent: false,
            });
        }
    }
    Ok(wrong)
}

fn duration(path: &Path) -> Result<Option<Minutes>> {
    let text = read::text(path)?.map(|text| text.value);
    Ok(text.and_then(|text| Summary::parse(&text, path).value.duration_minutes))
}

/// Returns whether no value is stated yet.
fn is_blank(stated: &str) -> bool {
    ["", "-", "\u{2014}", "\u{2013}", "n/a", "none", "0", "tbd"].contains(&fold(stated).as_str())
}

/// Formats minutes in the form of the template: `11 min`, `0.5 hours`; `None` if the old value is in another one.
fn in_style(minutes: f64, stated: &str) -> Option<String> {
    let number = stated.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = &stated[number.len()..];
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_number = number.parse::<f64>().is_ok();
    match unit.trim() {
        "min" if is_number => Some(format!("{minutes:.decimals$}{unit}")),
        "hours" if is_number => Some(format!("{:.*}{unit}", decimals.max(1), minutes / 60.0)),
        _ if is_blank(stated) => {
            Minutes::from_number(minutes, TimeUnit::Minutes).map(|value| value.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_unit_and_a_sentence_stays() {
        for (stated, written) in [
            ("11 min", Some("75 min")),
            ("8min", Some("75min")),
            ("0.55 hours", Some("1.25 hours")),
            ("1 hours", Some("1.2 hours")),
            ("4m", None),
            ("-", Some("1h 15m")),
            ("0", Some("1h 15m")),
            ("about as long as last time", None),
            ("~5 min, mostly waiting", None),
        ] {
            assert_eq!(in_style(75.0, stated).as_deref(), written, "{stated}");
        }
    }
}
