//! Compares the performance metrics of STATE.md with the summaries: the number of complete plans and their
//! durations.

use std::ops::Range;
use std::path::Path;

use crate::clock::{Minutes, TimeUnit};
use crate::error::Result;
use crate::markdown::Label;
use crate::plan::{Drift, DriftKind, PlanState, ReadText, Summary, Survey};
use crate::project::{Project, vocabulary};
use crate::text::fold;

/// The metrics measured from the summaries of the active milestone.
struct Measured {
    complete: usize,
    /// How many of these are summaries of a whole phase that has no plan, which may be counted or not.
    of_phases: usize,
    durations: Vec<Minutes>,
}

/// A metric that the summaries contradict.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The statement for reports; its actual value is what should stand there, in the unit of the stated one.
    pub drift: Drift,
    /// Byte range of the value in STATE.md.
    pub range: Range<usize>,
}

/// Returns the metrics of STATE.md that the summaries contradict, in file order.
///
/// Free text is accepted, and so are the metrics of other milestones and those that are listed twice. All
/// metrics are accepted if one exceeds what the milestone's summaries show, since they then include work
/// that is not visible here.
pub fn metrics(project: &Project, survey: &Survey, read: ReadText<'_>) -> Result<Vec<Metric>> {
    let labels = &survey.state.metrics;
    if labels.is_empty() {
        return Ok(Vec::new());
    }
    let measured = Measured::measure(survey, read)?;
    let counts_more = |label: &Label| measured.is_exceeded_by(&label.name, &label.value);
    if labels.iter().any(counts_more) {
        return Ok(Vec::new());
    }
    let path = survey.folder.active.dir.join(vocabulary::STATE);
    let file = project.relative(&path);
    let wrong = labels.iter().filter_map(|label| {
        let actual = measured.written(&label.name, &label.value)?;
        let drift = Drift {
            kind: DriftKind::Metric,
            subject: subject(&label.name),
            stated: label.value.clone(),
            actual,
            file: file.to_owned(),
            line: label.line,
        };
        let range = label.range.clone();
        (drift.actual != drift.stated).then_some(Metric { drift, range })
    });
    Ok(wrong.collect())
}

/// Returns the subject of a metric, in words.
fn subject(name: &str) -> &'static str {
    match name {
        name if is_count(name) => "the total of completed plans",
        name if is_total(name) => "the total execution time",
        _ => "the average duration",
    }
}

fn is_count(name: &str) -> bool {
    ["total plans completed", "plans completed"].contains(&fold(name).as_str())
}

fn is_total(name: &str) -> bool {
    ["total execution time", "total time"].contains(&fold(name).as_str())
}

impl Measured {
    fn measure(survey: &Survey, read: ReadText<'_>) -> Result<Self> {
        let mut measured = Self { complete: 0, of_phases: 0, durations: Vec::new() };
        for phase in survey.position.members() {
            measured.of_phases += usize::from(phase.is_only_summarised());
            let complete = phase.plans.iter().filter(|(_, state)| *state == PlanState::Complete);
            for (slot, _) in complete {
                measured.complete += 1;
                let file = phase.dir.as_ref().zip(slot.summary.as_ref());
                if let Some((dir, name)) = file {
                    measured.durations.extend(duration(&dir.join(name), read)?);
                }
            }
        }
        Ok(measured)
    }

    /// Returns whether a metric exceeds the measured value.
    fn is_exceeded_by(&self, name: &str, stated: &str) -> bool {
        if is_count(name) {
            // `18 (5 of v1.0 + 13)` counts more than this milestone.
            let is_more = |stated: usize| stated > self.complete;
            return !is_blank(stated) && stated.parse::<usize>().map_or(true, is_more);
        }
        // Both are compared as formatted, so that rounding makes no difference.
        let written = is_total(name).then(|| self.written(name, stated)).flatten();
        let written = written.and_then(|written| Minutes::parse(&written));
        written.is_some_and(|written| Minutes::parse(stated).is_some_and(|stated| stated > written))
    }

    /// Returns the new text of a metric; `None` if it is unknown or must be left unchanged.
    fn written(&self, name: &str, stated: &str) -> Option<String> {
        let is_number = !stated.is_empty() && stated.bytes().all(|b| b.is_ascii_digit());
        if is_count(name) {
            let least = self.complete - self.of_phases;
            let may_be = |stated: &usize| (least..=self.complete).contains(stated);
            let count = stated.parse().ok().filter(may_be).unwrap_or(least);
            return (is_number || is_blank(stated)).then(|| count.to_string());
        }
        let total: Minutes = self.durations.iter().copied().sum();
        #[expect(clippy::cast_precision_loss, reason = "the number of plans is small")]
        let average = total.as_f64() / self.durations.len() as f64;
        // The durations of some plans say nothing against a stated value of all.
        let are_all = self.durations.len() == self.complete;
        let value = match fold(name).as_str() {
            _ if self.durations.is_empty() => return None,
            "average duration" if are_all || is_blank(stated) => average,
            _ if is_total(name) && are_all => total.as_f64(),
            _ => return None,
        };
        in_style(value, stated)
    }
}

fn duration(path: &Path, read: ReadText<'_>) -> Result<Option<Minutes>> {
    let text = read(path)?.map(|text| text.value);
    Ok(text.and_then(|text| Summary::parse(&text, path).value.duration_minutes))
}

/// Returns whether no value is stated yet.
fn is_blank(stated: &str) -> bool {
    ["", "-", "\u{2014}", "\u{2013}", "n/a", "none", "0", "tbd"].contains(&fold(stated).as_str())
}

/// Formats minutes like the old value: `11 min`, `0.55 hours`, `1h 05m`; `None` if that is free text.
fn in_style(minutes: f64, stated: &str) -> Option<String> {
    let ours = || Minutes::from_number(minutes, TimeUnit::Minutes).map(|value| value.to_string());
    if is_blank(stated) {
        return ours();
    }
    let number = stated.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = &stated[number.len()..];
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_number = number.parse::<f64>().is_ok();
    match unit.trim() {
        "min" | "mins" | "minutes" if is_number => Some(format!("{minutes:.decimals$}{unit}")),
        "hours" | "hour" | "hrs" if is_number => {
            let hours = minutes / 60.0;
            let decimals = decimals.max(1);
            Some(format!("{hours:.decimals$}{unit}"))
        }
        _ if Minutes::parse(stated).is_some_and(|old| old.to_string() == stated) => ours(),
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
            ("4m", Some("1h 15m")),
            ("-", Some("1h 15m")),
            ("0", Some("1h 15m")),
            ("about as long as last time", None),
            ("~5 min, mostly waiting", None),
        ] {
            assert_eq!(in_style(75.0, stated).as_deref(), written, "{stated}");
        }
    }
}
