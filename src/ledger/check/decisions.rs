//! The rules of DECISIONS.md.

use chrono::NaiveDate;

use crate::error::Result;
use crate::ledger::apply::rollup;
use crate::ledger::apply::rollup::MAX_BULLETS;
use crate::ledger::check::findings::Findings;
use crate::ledger::decisions::{DecisionEntry, Decisions};
use crate::ledger::evidence;
use crate::ledger::evidence::EntryEvidence;
use crate::markdown::Outline;
use crate::project::Project;
use crate::text::{fold, quantity};

pub(crate) fn check(project: &Project, text: &str, findings: &mut Findings<'_>) -> Result<()> {
    let decisions = Decisions::parse(text);
    check_rollup(&decisions, project.clock.today(), findings);
    check_months(&decisions, findings);
    let outline = Outline::parse(text, 0);
    let mut cited: Vec<(usize, EntryEvidence)> = Vec::new();
    for entry in &decisions.entries {
        if !entry.has_dash {
            let message =
                "is in an older format than `### YYYY-MM-DD \u{2014} Title`; kept unchanged";
            findings.add_tolerated(entry.line, message);
            continue;
        }
        let fields = entry_fields(&outline, entry);
        check_fields(entry, &fields, findings);
        if let Some(text) = fields.iter().find(|(name, _)| name == "evidence").map(|(_, text)| text)
        {
            cited.push((entry.line, EntryEvidence::parse(text)));
        }
    }
    let evidences: Vec<EntryEvidence> =
        cited.iter().map(|(_, evidence)| evidence.clone()).collect();
    let known = evidence::resolve(&project.git, &evidences)?;
    for ((line, evidence), known) in cited.iter().zip(known) {
        for fault in evidence.problems(&known, project) {
            findings.add("evidence", *line, fault);
        }
    }
    Ok(())
}

fn check_rollup(decisions: &Decisions, today: NaiveDate, findings: &mut Findings<'_>) {
    let Some(rollup) = &decisions.rollup else {
        return findings.add_fixable("rollup", None, "has no section \"Recent (last 30 days)\"");
    };
    let (count, needed) = (rollup.filled_bullets().len(), rollup::min_bullets(decisions, today));
    if count < needed {
        let bullets = quantity(count, "bullet");
        let message = format!("the rollup has {bullets}; at least {needed} are needed");
        findings.add_fixable("rollup", rollup.line, message);
    } else if count > MAX_BULLETS {
        // Which ones to leave out takes judgement.
        let message = format!("the rollup has {count} bullets; at most {MAX_BULLETS} are allowed");
        findings.add("rollup", rollup.line, message);
    }
}

fn check_months(decisions: &Decisions, findings: &mut Findings<'_>) {
    for pair in decisions.months.windows(2) {
        if pair[0].name < pair[1].name {
            let message =
                format!("{} is below {}; the newest month comes first", pair[1].name, pair[0].name);
            findings.add_fixable("month-order", pair[1].line, message);
        } else if pair[0].name == pair[1].name {
            findings.add("month-order", pair[1].line, format!("{} is listed twice", pair[1].name));
        }
    }
    for month in &decisions.months {
        for entry in decisions.entries_of(month) {
            let is_in_month =
                entry.date.is_none_or(|date| date.format("%Y-%m").to_string() == month.name);
            if !is_in_month {
                findings.add(
                    "month",
                    entry.line,
                    format!("is listed under {}, but its date is in another month", month.name),
                );
            }
        }
    }
}

/// Returns an entry's fields: the folded label and the value.
fn entry_fields(outline: &Outline<'_>, entry: &DecisionEntry) -> Vec<(String, String)> {
    let labels = outline.labels(&entry.range);
    labels.into_iter().map(|label| (fold(&label.name), label.value)).collect()
}

fn check_fields(entry: &DecisionEntry, fields: &[(String, String)], findings: &mut Findings<'_>) {
    let has = |name: &str| {
        fields.iter().any(|(field, _)| field == name || field.starts_with(&format!("{name} (")))
    };
    let is_fix = has("symptom");
    let required: &[&str] = if is_fix {
        &["root cause", "fix", "prevention", "evidence"]
    } else {
        &["why", "impact", "evidence"]
    };
    let missing: Vec<&str> = required.iter().copied().filter(|name| !has(name)).collect();
    if !missing.is_empty() {
        findings.add("entry", entry.line, format!("has no {}", missing.join(", no ")));
    }
}
