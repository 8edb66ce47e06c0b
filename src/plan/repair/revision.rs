//! Collects one round of edits to a file.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::clock::parse_date;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::markdown::front_matter::inner_range;
use crate::plan::drift::{Expected, Finding};
use crate::plan::repair::source_text::SourceText;
use crate::plan::repair::{bar, dependent_values, evidence, status_words};
use crate::plan::{
    Claim, Correction, DriftKind, Survey, Located, Phase, PhaseProgress, Position, StateFile,
    is_status,
};

/// The edits of one round, with the corrections they make.
#[derive(Clone, Debug, Default)]
pub(super) struct Revised {
    pub(super) edits: Vec<Edit>,
    pub(super) corrections: Vec<Correction>,
}

/// Collects the edits of one round.
pub(super) struct Revision<'a> {
    survey: &'a Survey,
    position: &'a Position,
    text: String,
    file: PathBuf,
    revised: Revised,
}

impl<'a> Revision<'a> {
    pub(super) fn new(
        survey: &'a Survey,
        position: &'a Position,
        source: &SourceText,
        name: &str,
    ) -> Self {
        let file = survey.folder.active.dir.join(name);
        let shown: &Path = file.strip_prefix(&survey.root).unwrap_or(&file);
        Self {
            survey,
            position,
            text: source.text(),
            file: shown.to_owned(),
            revised: Revised::default(),
        }
    }

    pub(super) fn finish(self) -> Revised {
        self.revised
    }

    /// Changes STATE.md to the current phase, with all values that depend on the phase; or nothing, if text about the
    /// old phase would be left beside the new number.
    pub(super) fn move_phase(&mut self, findings: &[Finding]) {
        let Some(phase) = self.position.phase() else {
            return;
        };
        let of_phase = || {
            let findings = findings.iter();
            findings.filter(|finding| finding.drift.kind == DriftKind::Phase)
        };
        let leaves = |finding| self.leaves_text(finding) || self.exceeds_total(finding, phase);
        if of_phase().any(leaves) || self.leaves_remark(phase) {
            return;
        }
        for finding in of_phase() {
            self.correct(finding, &[]);
        }
        let because = evidence::for_phase(self.survey, phase);
        for claim in &self.survey.state.claims {
            let is_name = |name: &str| self.is_name(claim, name);
            let written = dependent_values::dependent_value(&claim.value, phase, &is_name);
            if let Some(written) = written {
                self.put(claim.line, &claim.range, None, written, &because);
            }
        }
    }

    /// Returns whether the line of a phase's number has text behind it that no correction replaces: `4 executed — PDF
    /// export`, or a name where that of the new phase is unknown.
    fn leaves_text(&self, finding: &Finding) -> bool {
        let start = finding.range.end;
        let rest = self.text.get(start..).unwrap_or_default();
        let rest = rest.lines().next().unwrap_or_default();
        let phase = self.position.phase();
        let is_named = phase.is_some_and(|phase| phase.name.is_some());
        let is_replaced = |claim: &&Located<Claim>| match &claim.value {
            Claim::Name(_) => is_named,
            Claim::PhaseStatus(status) | Claim::Status(status) => status_words::is_plain(status),
            _ => true,
        };
        let claims = self.survey.state.claims.iter().filter(is_replaced);
        let replaced: Vec<&Range<usize>> = claims.map(|claim| &claim.range).collect();
        let is_left = |at: usize| !replaced.iter().any(|range| range.contains(&(start + at)));
        let left = rest.char_indices().filter(|(at, _)| is_left(*at));
        let left: String = left.map(|(_, c)| c).collect();
        let mut words = left.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            word.contains(char::is_alphabetic)
                && !word.eq_ignore_ascii_case("phase")
                && word != "of"
        })
    }

    /// Returns whether the line of a phase's number states fewer phases than the new number: `28 of 27`.
    fn exceeds_total(&self, finding: &Finding, phase: &Phase) -> bool {
        let mut claims = self.survey.state.claims.iter();
        claims.any(|claim| {
            let total = match claim.value {
                Claim::Total(total) if claim.line == finding.drift.line => total,
                _ => return false,
            };
            claim.range.start > finding.range.start && phase.number.whole() > total
        })
    }

    /// Returns whether a remark about the old phase would be left: a status in free text that does not name the new
    /// phase, or a status in brackets behind the counts of its plans, as in `6/6 (complete)`.
    fn leaves_remark(&self, phase: &Phase) -> bool {
        self.survey.state.claims.iter().any(|claim| {
            let is_free = |status: &str| {
                let named = self.survey.state.numbering.phases_in(status);
                !status_words::is_plain(status)
                    && !is_status(status)
                    && !dependent_values::is_token(status)
                    && !named.contains(&phase.number)
            };
            match &claim.value {
                Claim::Status(status) | Claim::PhaseStatus(status) => is_free(status),
                Claim::PlansComplete(_) | Claim::PlansTotal(_) | Claim::CurrentPlan(_) => {
                    let behind = self.text.get(claim.range.end..).unwrap_or_default();
                    let remark = behind.lines().next().unwrap_or_default().trim_start();
                    let remark = remark.strip_prefix('(').unwrap_or_default();
                    PhaseProgress::is_complete_status(remark)
                }
                _ => false,
            }
        })
    }

    /// Returns whether a text would be read as the phase's name, and everything else as before, if it stood in place
    /// of a claim: a bracket, a dash or a colon may end a name.
    fn is_name(&self, claim: &Located<Claim>, name: &str) -> bool {
        // Other YAML parsers would not take it as text.
        let is_in_front = |fields: Range<usize>| fields.contains(&claim.range.start);
        if name.contains(": ") && inner_range(&self.text).is_some_and(is_in_front) {
            return false;
        }
        let read =
            |text: &str| StateFile::parse_with(text, &self.file, self.survey.state.numbering);
        let edit = Edit::replace(claim.range.clone(), name);
        let edited = edit::apply(&self.text, vec![edit]);
        let (before, after) = (read(&self.text), read(&edited));
        let end = claim.range.start + name.len();
        let is_it = |one: &Located<Claim>| {
            one.range == (claim.range.start..end) && one.value == Claim::Name(name.to_owned())
        };
        after.value.claims.iter().any(is_it)
            && after.value.claims.len() == before.value.claims.len()
            && after.warnings.len() == before.warnings.len()
    }

    /// Corrects the statements of STATE.md.
    pub(super) fn take_state(&mut self, findings: &[Finding]) {
        let listed = &self.survey.state.phase_statuses;
        let siblings: Vec<&str> = listed.iter().map(|phase| phase.status.value.as_str()).collect();
        for finding in findings {
            let is_listed = listed.iter().any(|phase| phase.status.range == finding.range);
            self.correct(finding, if is_listed { &siblings } else { &[] });
            if finding.drift.kind == DriftKind::Percent {
                self.take_bar(finding);
            }
        }
    }

    /// Corrects the checkboxes and rows of the roadmap; a row whose status is free text stays as it is.
    pub(super) fn take_roadmap(&mut self, findings: &[Finding]) {
        let rows = self.survey.roadmap.phases.iter();
        let siblings: Vec<&str> = rows
            .filter_map(|phase| Some(phase.row.as_ref()?.status.as_ref()?.value.as_str()))
            .collect();
        let is_left = |finding: &&Finding| {
            let old = self.text.get(finding.range.clone());
            let is_status = matches!(finding.correct, Expected::Status(_));
            is_status && old.is_some_and(|old| !status_words::is_plain(old))
        };
        let left = findings.iter().filter(is_left);
        let left: HashSet<usize> = left.map(|finding| finding.drift.line).collect();
        for finding in findings {
            if !left.contains(&finding.drift.line) {
                self.correct(finding, &siblings);
                self.clear_completion(finding);
            }
        }
    }

    /// Clears the completion date in the row of a phase that turns out not to be complete.
    fn clear_completion(&mut self, finding: &Finding) {
        let Expected::Status(PhaseProgress::InProgress | PhaseProgress::NotStarted) =
            finding.correct
        else {
            return;
        };
        let mut rows = self.survey.roadmap.phases.iter().filter_map(|phase| phase.row.as_ref());
        let row = rows.find(|row| row.line == finding.drift.line);
        let date = row.and_then(|row| row.completed.as_ref());
        // A remark beside the date is a person's.
        let is_date =
            |text: &str| text.trim().len() == "2026-01-02".len() && parse_date(text).is_some();
        if let Some(date) = date.filter(|date| is_date(&date.value))
            && let Some(index) = finding.phase
        {
            let because = evidence::for_phase(self.survey, &self.position.phases[index]);
            self.put(date.line, &date.range, None, "-".to_owned(), &because);
        }
    }

    fn correct(&mut self, finding: &Finding, siblings: &[&str]) {
        let Some(old) = self.text.get(finding.range.clone()) else {
            return;
        };
        let written = match &finding.correct {
            Expected::Phase(number) => dependent_values::number(old, number),
            Expected::Count(count) => count.to_string(),
            Expected::Mark(true) => "x".to_owned(),
            Expected::Mark(false) => " ".to_owned(),
            Expected::Counts(done, all) => self.counts(old, finding, *done, *all),
            Expected::Status(_) if !status_words::is_plain(old) => return,
            Expected::Status(progress) => status_words::written(old, *progress, siblings),
        };
        let because = match finding.phase {
            Some(index) => evidence::for_phase(self.survey, &self.position.phases[index]),
            None => evidence::for_all(self.survey, self.position),
        };
        let kind = Some(finding.drift.kind);
        self.put(finding.drift.line, &finding.range, kind, written, &because);
    }

    /// Formats two counts with the order and the separator of the cell.
    fn counts(&self, cell: &str, finding: &Finding, done: usize, all: usize) -> String {
        let rows = self.survey.roadmap.phases.iter();
        let is_total_first = rows
            .filter_map(|phase| phase.row.as_ref())
            .any(|row| row.line == finding.drift.line && row.is_total_first);
        let (first, second) = if is_total_first { (all, done) } else { (done, all) };
        // In `0/TBD`, the total is now known.
        let between = if cell.ends_with(|c: char| c.is_ascii_digit()) {
            cell.trim_matches(|c: char| c.is_ascii_digit())
        } else {
            "/"
        };
        format!("{first}{between}{second}")
    }

    /// Redraws the bar on the line of a percentage.
    fn take_bar(&mut self, percent: &Finding) {
        let Expected::Count(correct) = percent.correct else {
            return;
        };
        let bars: Vec<&Located<Claim>> = self
            .survey
            .state
            .claims
            .iter()
            .filter(|claim| claim.line == percent.drift.line)
            .collect();
        for claim in bars {
            if let Claim::Bar(bar) = &claim.value
                && let Some(drawn) = bar::redrawn(bar, u32::try_from(correct).unwrap_or(100))
            {
                let because = evidence::for_all(self.survey, self.position);
                self.put(claim.line, &claim.range, None, drawn, &because);
            }
        }
    }

    fn put(
        &mut self,
        line: usize,
        range: &Range<usize>,
        kind: Option<DriftKind>,
        written: String,
        because: &str,
    ) {
        let Some(stated) = self.text.get(range.clone()) else {
            return;
        };
        let overlaps = |edit: &Edit| edit.range.start < range.end && range.start < edit.range.end;
        if stated == written || self.revised.edits.iter().any(overlaps) {
            return;
        }
        let shown = |mark: &str| match kind {
            Some(DriftKind::Checkbox) => format!("[{mark}]"),
            _ => mark.to_owned(),
        };
        self.revised.corrections.push(Correction {
            kind,
            stated: shown(stated),
            written: shown(&written),
            file: self.file.clone(),
            line,
            because: because.to_owned(),
        });
        self.revised.edits.push(Edit::replace(range.clone(), written));
    }
}
