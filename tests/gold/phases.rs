//! The plans and summaries of one phase folder against their gold counts.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gold::field::{at, text};
use crate::gold::normal::plan;
use crate::gold::scores::Scores;

/// Scores what `inspect` says about the files of a phase folder, paired by plan number.
pub(super) fn score(gold: &Value, answers: &[&Value], scores: &mut Scores) {
    let folder = gold["phase_dir"].as_str().unwrap();
    let phase = folder.rsplit('/').next().unwrap();
    let numbers = |kind: &str| -> BTreeSet<String> {
        let of_kind = answers.iter().filter(|answer| answer["kind"] == kind);
        of_kind
            .filter_map(|answer| text(at(answer, "plan")?))
            .map(|number| plan(&number, phase))
            .collect()
    };
    let (plans, summaries) = (numbers("plan"), numbers("summary"));
    let deviations: u64 = answers
        .iter()
        .filter(|answer| answer["kind"] == "summary")
        .filter_map(|answer| answer["deviation_count"].as_u64())
        .sum();
    let file = format!("{}/{folder}", gold["project"].as_str().unwrap());
    let mut row = scores.row("phases", file, gold);
    for (name, got) in [
        ("plans_total", plans.len().into()),
        ("plans_with_summary", plans.intersection(&summaries).count().into()),
        ("deviations_total", Value::from(deviations)),
    ] {
        // No answers at all are no zeros.
        let got = Some(&got).filter(|_| !answers.is_empty());
        row.field(name, &gold[name], got, got == Some(&gold[name]));
    }
}
