//! Checks the files against the rules of each, and against the last commit.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::ledger::constraints::{Constraints, bullet_words, without_note};
use crate::ledger::coverage::{AnchorState, Coverage};
use crate::ledger::decisions::{DecisionEntry, Decisions, MAX_BULLETS, evidence_problems};
use crate::ledger::files::{Bullet, LedgerFile, LedgerFiles, is_filled};
use crate::ledger::state::Footer;
use crate::ledger::{constraints, coverage, state};
use crate::markdown::Outline;
use crate::project::Project;
use crate::search::WordSet;
use crate::text::{clip, fold, join, line_number};
use crate::warning::{SourceLocation, Warning};

/// Maximum number of characters of a bullet or title in a message.
const MAX_SHOWN_CHARS: usize = 60;
/// Minimum and maximum number of bullets of each section of STATE.md.
const LIMITS: [(usize, usize); 6] = [(0, 1), (1, 3), (0, usize::MAX), (0, 5), (3, 5), (0, 3)];

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The location.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The rule, in a word or two: `state-lines`, `evidence`, ….
    pub rule: &'static str,
    /// The problem, in one sentence.
    pub message: String,
}

/// The outcome of a check. It is the document of `annals ledger check --json`.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    /// The problems, by file and line.
    pub findings: Vec<Finding>,
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Checks the three files.
pub fn check(project: &Project) -> Result<CheckReport> {
    let files = LedgerFiles::read(project)?;
    let footer = Footer::parse(&files.state.text);
    let survey = coverage::survey(project, &files, &footer)?;
    let [old_constraints, old_decisions] = committed(project, &files)?;
    let mut findings = Vec::new();
    let [state, constraints, decisions] = files.all().map(|file| project.relative(&file.path));
    if let Some(mut file) = File::open(state, &files.state, &mut findings) {
        file.check_state();
        file.check_footer(&footer, &survey.coverage);
    }
    if let Some(mut file) = File::open(constraints, &files.constraints, &mut findings) {
        let now = Constraints::parse(file.text);
        file.check_constraints(&now);
        file.check_kept_bullets(&Constraints::parse(&old_constraints), &now);
    }
    if let Some(mut file) = File::open(decisions, &files.decisions, &mut findings) {
        let now = Decisions::parse(file.text);
        file.check_rollup(&now);
        file.check_months(&now);
        file.check_entries(project, &now)?;
        file.check_kept_entries(&old_decisions, &now);
    }
    findings.sort();
    Ok(CheckReport { findings, coverage: survey.coverage, warnings: project.named(files.warnings) })
}

/// Returns the merge-only and the append-only file of the last commit; empty if it does not contain them.
fn committed(project: &Project, files: &LedgerFiles) -> Result<[String; 2]> {
    let names = files.committed_names();
    let (Some([_, constraints, decisions]), true) = (names, project.git.head()?.is_some()) else {
        return Ok(Default::default());
    };
    let mut found = project.git.contents(&[constraints, decisions])?.into_iter();
    let mut text = || found.next().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
    Ok([text().unwrap_or_default(), text().unwrap_or_default()])
}

/// Returns whether the comments with instructions for editors are above the first heading.
fn has_header(text: &str) -> bool {
    let head = text.lines().take_while(|line| !line.starts_with('#'));
    let comments: Vec<&str> = head.filter(|line| line.contains("<!--")).collect();
    let has = |what: &str| comments.iter().any(|line| line.contains(what));
    has("DO:") && (has("DON'T:") || has("DON\u{2019}T:"))
}

/// The file that is being checked, and the findings so far.
struct File<'a> {
    path: &'a Path,
    text: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl<'a> File<'a> {
    /// Checks what holds for every file, and returns it if it exists.
    fn open(path: &'a Path, file: &'a LedgerFile, findings: &'a mut Vec<Finding>) -> Option<Self> {
        let mut this = Self { path, text: &file.text, findings };
        if !file.exists() {
            this.add("missing", None, "is missing: `annals ledger init` creates it");
            return None;
        }
        if file.bytes.as_deref().is_some_and(|bytes| str::from_utf8(bytes).is_err()) {
            this.add("utf-8", None, "is not valid UTF-8, so no update can change it");
        }
        if !has_header(&file.text) {
            this.add("header", 1, "has no DO and DON'T comments at the top");
        }
        Some(this)
    }

    fn add(
        &mut self,
        rule: &'static str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        let place = SourceLocation::new(self.path, line);
        self.findings.push(Finding { place, rule, message: message.into() });
    }

    fn check_state(&mut self) {
        let (lines, most) = (self.text.lines().count(), state::MAX_LINES);
        if lines > most {
            self.add("state-lines", None, format!("has {lines} lines; at most {most} are allowed"));
        }
        for ((part, title), (least, most)) in
            state::sections(self.text).into_iter().zip(state::SECTIONS).zip(LIMITS)
        {
            let Some(part) = part else {
                self.add("section", None, format!("has no section {title:?}"));
                continue;
            };
            let count = part.bullets.len();
            if !(least..=most).contains(&count) {
                let message = format!("{title} has {count} lines; {least} to {most} are allowed");
                self.add("state-count", part.line, message);
            }
            if title == "Next Actions" && part.bullets.iter().any(|bullet| !bullet.has_box) {
                self.add("checkbox", part.line, "Next Actions must be checkboxes, `- [ ] …`");
            }
            // The quick reference consists of commands.
            if let Some(word) = state::non_present_word(&part.text)
                && title != "Quick Reference"
            {
                let message =
                    format!("{title} contains {word:?}, but the state describes only the present");
                self.add("not-now", part.line, message);
            }
        }
    }

    fn check_footer(&mut self, footer: &Footer, coverage: &Coverage) {
        let line = footer.anchors.last().map(|anchor| line_number(self.text, anchor.range.start));
        if footer.updated.is_none() {
            self.add("footer", None, "has no `Last memory update: YYYY-MM-DD`");
        }
        if footer.own_anchor().is_none() {
            self.add("footer", None, "has no `Commits covered through: <hash>`");
        }
        let hashes: Vec<&str> =
            footer.anchors.iter().filter_map(|anchor| anchor.hash.as_deref()).collect();
        let agree = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
        if let Some([one, other]) = hashes.windows(2).find(|pair| !agree(pair[0], pair[1])) {
            self.add("anchor", line, format!("names two anchors, {one} and {other}"));
        }
        match coverage.standing {
            AnchorState::Missing | AnchorState::Diverged => {
                let advice = coverage.advice.as_deref().unwrap_or_default();
                self.add("anchor", line, format!("{}; {advice}", coverage.line()));
            }
            AnchorState::NoAnchor if !footer.is_new => {
                self.add("anchor", line, "names no commit, so nothing is covered");
            }
            _ => {}
        }
    }

    fn check_constraints(&mut self, constraints: &Constraints) {
        for title in constraints::SECTIONS {
            if constraints.section(title).is_none() {
                self.add("section", None, format!("has no section {title:?}"));
            }
        }
    }

    /// Reports the bullets of the last commit that are missing, unless edited in place or moved to Superseded.
    fn check_kept_bullets(&mut self, before: &Constraints, now: &Constraints) {
        let old_texts: HashSet<&str> = before.bullets.iter().map(|old| &*old.text).collect();
        let has_note = |text: &str| without_note(text) != text.trim_end();
        let edited =
            now.active().filter(|one| has_note(&one.text) && !old_texts.contains(&*one.text));
        let mut edits: Vec<WordSet> = edited.map(|bullet| bullet_words(&bullet.text)).collect();
        let texts: HashSet<&str> = now.bullets.iter().map(|one| without_note(&one.text)).collect();
        let superseded: Vec<&Bullet> =
            now.bullets.iter().filter(|bullet| now.is_superseded(bullet)).collect();
        for old in before.bullets.iter().filter(|old| is_filled(&old.text)) {
            let text = without_note(&old.text);
            if texts.contains(text) || superseded.iter().any(|bullet| bullet.text.contains(text)) {
                continue;
            }
            let words = bullet_words(text);
            if let Some(edit) = edits.iter().position(|new| !new.is_disjoint(&words)) {
                edits.remove(edit);
                continue;
            }
            let message = format!(
                "no longer contains {:?}, which is in the last commit: move a bullet to Superseded, \
                 or edit it in place with `(updated YYYY-MM-DD)`",
                clip(&old.text, MAX_SHOWN_CHARS)
            );
            self.add("merge-only", None, message);
        }
    }

    fn check_rollup(&mut self, decisions: &Decisions) {
        let Some(rollup) = &decisions.rollup else {
            return self.add("rollup", None, "has no section \"Recent (last 30 days)\"");
        };
        let count = rollup.filled().count();
        if count > MAX_BULLETS {
            let limit = format!("at most {MAX_BULLETS} are allowed");
            self.add("rollup", rollup.line, format!("the rollup has {count} bullets; {limit}"));
        }
    }

    fn check_months(&mut self, decisions: &Decisions) {
        for pair in decisions.months.windows(2) {
            let (above, below) = (&pair[0].name, &pair[1].name);
            if above < below {
                let message = format!("{below} is below {above}; the newest month comes first");
                self.add("month-order", pair[1].line, message);
            }
        }
    }

    /// Checks the fields and the evidence of the entries in our format.
    fn check_entries(&mut self, project: &Project, decisions: &Decisions) -> Result<()> {
        let outline = Outline::parse(self.text, 0);
        let mut cited: Vec<(usize, String)> = Vec::new();
        for entry in decisions.entries.iter().filter(|entry| entry.has_dash) {
            let labels = outline.labels(&entry.range);
            let named = |name: &str| {
                labels.iter().find(|label| {
                    let label = fold(&label.name);
                    label == name || label.starts_with(&format!("{name} ("))
                })
            };
            let required: &[&str] = match named("symptom") {
                Some(_) => &["root cause", "fix", "prevention", "evidence"],
                None => &["why", "impact", "evidence"],
            };
            let missing =
                join(required.iter().copied().filter(|name| named(name).is_none()), ", no ");
            if !missing.is_empty() {
                self.add("entry", entry.line, format!("has no {missing}"));
            }
            cited.extend(named("evidence").map(|label| (entry.line, label.value.clone())));
        }
        let texts: Vec<&str> = cited.iter().map(|(_, text)| text.as_str()).collect();
        for ((line, _), fault) in cited.iter().zip(evidence_problems(project, &texts)?) {
            if let Some(fault) = fault {
                self.add("evidence", *line, fault);
            }
        }
        Ok(())
    }

    /// Reports the entries of the last commit that are missing or changed.
    fn check_kept_entries(&mut self, before: &str, now: &Decisions) {
        fn lines<'t>(text: &'t str, entry: &DecisionEntry) -> Vec<&'t str> {
            let written = text.get(entry.range.clone()).unwrap_or_default().trim_end();
            written.lines().map(str::trim_end).collect()
        }
        let kept: HashSet<Vec<&str>> =
            now.entries.iter().map(|entry| lines(self.text, entry)).collect();
        for old in Decisions::parse(before).entries {
            if !kept.contains(&lines(before, &old)) {
                let day = old.date.map(|date| format!("{date} ")).unwrap_or_default();
                let title = clip(&old.title, MAX_SHOWN_CHARS);
                let message = format!(
                    "no longer contains the entry {day}{title:?} as it is in the last commit: \
                     entries are never edited or deleted"
                );
                self.add("append-only", None, message);
            }
        }
    }
}
