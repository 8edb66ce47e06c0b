//! Checks the files against the rules of each, and against the last commit.

use std::collections::HashSet;
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::Object;
use crate::ledger::constraints::{Bullet, Constraints, bullet_words, without_note};
use crate::ledger::coverage::{AnchorState, Coverage};
use crate::ledger::decisions::{DecisionEntry, Decisions};
use crate::ledger::files::{CONSTRAINTS, DECISIONS, LedgerFile, LedgerFiles};
use crate::ledger::footer::{Anchor, Footer};
use crate::ledger::state::is_filled;
use crate::ledger::{constraints, coverage, evidence, rollup, state};
use crate::markdown::{BlockContent, Outline, line_start};
use crate::project::Project;
use crate::search::WordSet;
use crate::secrets;
use crate::text::{clip, fold, line_number, quantity};
use crate::warning::{SourceLocation, Warning};

/// Maximum number of bullets that are compared with each other.
const MAX_COMPARED: usize = 1_000;
/// Maximum number of characters of a bullet or title in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The location.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The rule, in a word or two: `state-lines`, `evidence`, ….
    pub rule: &'static str,
    /// The problem, in one sentence.
    pub message: String,
    /// Whether `--fix` repairs it.
    pub fixable: bool,
}

/// The outcome of a check. It is the document of `annals ledger check --json`.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The problems, by file and line.
    pub findings: Vec<Finding>,
    /// Entries of an older form, which are read and kept as they are.
    pub kept: Vec<Finding>,
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Checks the three files.
pub fn check(project: &Project) -> Result<CheckReport> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    let footer = Footer::parse(&files.state.text);
    let survey = coverage::survey(project, &footer, files.repo_path.as_deref())?;
    let [old_constraints, old_decisions] = committed(project, &files)?;
    let mut findings = Findings { path: project.relative(&files.state.path), all: Vec::new() };
    if findings.check_common(&files.state) {
        findings.check_state(&files.state.text);
        findings.check_footer(&files.state.text, &footer, &survey.coverage);
    }
    findings.path = project.relative(&files.constraints.path);
    if findings.check_common(&files.constraints) {
        let now = Constraints::parse(&files.constraints.text);
        findings.check_constraints(&files.constraints.text, &now);
        findings.check_kept_bullets(&Constraints::parse(&old_constraints), &now);
    }
    findings.path = project.relative(&files.decisions.path);
    let mut kept = Findings { path: findings.path, all: Vec::new() };
    if findings.check_common(&files.decisions) {
        let (text, decisions) = (&files.decisions.text, Decisions::parse(&files.decisions.text));
        findings.check_rollup(&decisions, project.clock.today());
        findings.check_months(&decisions);
        findings.check_entries(project, text, &decisions)?;
        findings.check_kept_entries(&old_decisions, text, &decisions);
        for entry in decisions.entries.iter().filter(|entry| !entry.has_dash) {
            let message =
                "is in an older format than `### YYYY-MM-DD \u{2014} Title`; kept unchanged";
            kept.add("entry", entry.line, message);
        }
    }
    findings.all.sort();
    Ok(CheckReport {
        findings: findings.all,
        kept: kept.all,
        coverage: survey.coverage,
        warnings: project.named(warnings),
    })
}

/// Returns the merge-only and the append-only file of the last commit; empty if it does not contain them.
fn committed(project: &Project, files: &LedgerFiles) -> Result<[String; 2]> {
    let names = [CONSTRAINTS, DECISIONS].map(|name| files.committed_name(name));
    let ([Some(constraints), Some(decisions)], true) = (names, project.git.head()?.is_some())
    else {
        return Ok(Default::default());
    };
    let Some(objects) = project.git.objects()? else {
        return Ok(Default::default());
    };
    let mut found = objects.read(&[constraints, decisions])?.into_iter();
    let mut next = || match found.next().flatten() {
        Some(Object::Blob(bytes)) => String::from_utf8(bytes).unwrap_or_default(),
        _ => String::new(),
    };
    Ok([next(), next()])
}

/// Returns whether the comments with instructions for editors are above the first heading.
pub(crate) fn has_header(text: &str) -> bool {
    let head = text.lines().take_while(|line| !line.starts_with('#'));
    let comments: Vec<&str> = head.filter(|line| line.contains("<!--")).collect();
    let has_comment = |what: &str| comments.iter().any(|line| line.contains(what));
    has_comment("DO:") && (has_comment("DON'T:") || has_comment("DON\u{2019}T:"))
}

/// The findings, and the file that is being checked.
struct Findings<'a> {
    path: &'a Path,
    all: Vec<Finding>,
}

impl Findings<'_> {
    fn add(
        &mut self,
        rule: &'static str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        let place = SourceLocation::new(self.path, line);
        self.all.push(Finding { place, rule, message: message.into(), fixable: false });
    }

    /// Adds a problem that `--fix` repairs without losing anything.
    fn add_fixable(
        &mut self,
        rule: &'static str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        self.add(rule, line, message);
        self.all.last_mut().into_iter().for_each(|finding| finding.fixable = true);
    }

    /// Checks what holds for every file, and returns whether it exists.
    fn check_common(&mut self, file: &LedgerFile) -> bool {
        if !file.exists() {
            self.add("missing", None, "is missing: `annals ledger init` creates it");
            return false;
        }
        if file.is_invalid_utf8 {
            self.add("utf-8", None, "is not valid UTF-8, so no update can change it");
        }
        if !has_header(&file.text) {
            self.add_fixable("header", 1, "has no DO and DON'T comments at the top");
        }
        for (rule, line) in secrets::find_lines(&file.text, 1) {
            self.add("secret", line, format!("contains what looks like a secret ({rule})"));
        }
        true
    }

    fn check_state(&mut self, text: &str) {
        /// Minimum and maximum number of bullets of each section.
        const LIMITS: [(usize, usize); 6] =
            [(0, 1), (1, 3), (0, usize::MAX), (0, 5), (3, 5), (0, 3)];
        let (lines, most) = (text.lines().count(), state::MAX_LINES);
        if lines > most {
            let message = format!("has {lines} lines; at most {most} are allowed");
            self.add("state-lines", None, message);
        }
        for (index, part) in state::sections(text).into_iter().enumerate() {
            let title = state::SECTIONS[index];
            let Some(part) = part else {
                self.add_fixable("section", None, format!("has no section {title:?}"));
                continue;
            };
            let ((least, most), count) = (LIMITS[index], part.bullets.len());
            if !(least..=most).contains(&count) {
                let limit = match count > most {
                    true => format!("at most {most} are allowed"),
                    false => format!("at least {least} are needed"),
                };
                let message = format!("{title} has {}; {limit}", quantity(count, "line"));
                self.add("state-count", part.line, message);
            }
            if title == "Next Actions" && part.bullets.iter().any(|(_, has_box)| !has_box) {
                self.add("checkbox", part.line, "Next Actions must be checkboxes, `- [ ] …`");
            }
            if part.text.is_empty() {
                let message = format!("{title} is empty: write what is known, or `None`");
                self.add("empty", part.line, message);
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

    fn check_footer(&mut self, text: &str, footer: &Footer, coverage: &Coverage) {
        let line = footer.anchors.last().map(|anchor| line_number(text, anchor.range.start));
        if footer.updated.is_none() {
            self.add("footer", None, "has no `Last memory update: YYYY-MM-DD`");
        }
        if footer.anchors.iter().all(Anchor::is_comment) {
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

    fn check_constraints(&mut self, text: &str, constraints: &Constraints) {
        for title in constraints::SECTIONS {
            if constraints.section(title).is_none() {
                self.add_fixable("section", None, format!("has no section {title:?}"));
            }
        }
        let outline = Outline::parse(text, 0);
        let headed = outline.sections().iter().filter(|section| section.level > 0);
        for block in headed.flat_map(|section| outline.blocks(&section.own)) {
            let plain = outline.slice(&block.range).trim_matches(['(', ')', '_', '*', '.']);
            let is_placeholder = matches!(&*fold(plain), "none" | "none yet");
            // Indented text belongs to the bullet above.
            let is_indented = text[line_start(text, block.range.start)..].starts_with([' ', '\t']);
            if matches!(block.content, BlockContent::Paragraph) && !is_placeholder && !is_indented {
                self.add("prose", block.line, "is prose; each constraint is one bullet");
            }
        }
        for bullet in &constraints.bullets {
            if constraints.sections[bullet.section].title.is_empty() {
                self.add("section", bullet.line, "is a bullet outside any section");
            }
            if constraints.is_superseded(bullet) && !has_superseded_format(&bullet.text) {
                let message = "is not written `(Superseded YYYY-MM-DD) … \u{2014} reason`";
                self.add("superseded", bullet.line, message);
            }
        }
        let bullets: Vec<&Bullet> = constraints.active().take(MAX_COMPARED).collect();
        let words: Vec<WordSet> = bullets.iter().map(|bullet| bullet_words(&bullet.text)).collect();
        for (index, bullet) in bullets.iter().enumerate() {
            let earlier = (0..index).find(|earlier| words[index].is_similar_to(&words[*earlier]));
            if let Some(earlier) = earlier {
                let message = format!("duplicates line {}", bullets[earlier].line);
                self.add("duplicate", bullet.line, message);
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
            let words = bullet_words(&old.text);
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

    fn check_rollup(&mut self, decisions: &Decisions, today: NaiveDate) {
        let Some(rollup) = &decisions.rollup else {
            return self.add_fixable("rollup", None, "has no section \"Recent (last 30 days)\"");
        };
        let (count, needed) =
            (rollup.filled_bullets().len(), rollup::min_bullets(decisions, today));
        if count < needed {
            let bullets = quantity(count, "bullet");
            let message = format!("the rollup has {bullets}; at least {needed} are needed");
            self.add_fixable("rollup", rollup.line, message);
        } else if count > rollup::MAX_BULLETS {
            // Which ones to leave out takes judgement.
            let most = rollup::MAX_BULLETS;
            let message = format!("the rollup has {count} bullets; at most {most} are allowed");
            self.add("rollup", rollup.line, message);
        }
    }

    fn check_months(&mut self, decisions: &Decisions) {
        for pair in decisions.months.windows(2) {
            let (above, below) = (&pair[0].name, &pair[1].name);
            if above < below {
                let message = format!("{below} is below {above}; the newest month comes first");
                self.add_fixable("month-order", pair[1].line, message);
            } else if above == below {
                self.add("month-order", pair[1].line, format!("{below} is listed twice"));
            }
        }
        for month in &decisions.months {
            for entry in decisions.entries_of(month) {
                let own = entry.date.map(|date| date.format("%Y-%m").to_string());
                if own.is_some_and(|own| own != month.name) {
                    let message =
                        format!("is listed under {}, but its date is in another month", month.name);
                    self.add("month", entry.line, message);
                }
            }
        }
    }

    /// Checks the fields and the evidence of the entries in our format.
    fn check_entries(
        &mut self,
        project: &Project,
        text: &str,
        decisions: &Decisions,
    ) -> Result<()> {
        let outline = Outline::parse(text, 0);
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
            let missing: Vec<&str> =
                required.iter().copied().filter(|name| named(name).is_none()).collect();
            if !missing.is_empty() {
                self.add("entry", entry.line, format!("has no {}", missing.join(", no ")));
            }
            cited.extend(named("evidence").map(|label| (entry.line, label.value.clone())));
        }
        let texts: Vec<&str> = cited.iter().map(|(_, text)| text.as_str()).collect();
        for ((line, _), faults) in cited.iter().zip(evidence::problems(project, &texts)?) {
            for fault in faults {
                self.add("evidence", *line, fault);
            }
        }
        Ok(())
    }

    /// Reports the entries of the last commit that are missing or changed.
    fn check_kept_entries(&mut self, before: &str, text: &str, now: &Decisions) {
        let lines = |text: &str, entry: &DecisionEntry| -> Vec<String> {
            let written = text.get(entry.range.clone()).unwrap_or_default().trim_end();
            written.lines().map(|line| line.trim_end().to_owned()).collect()
        };
        let mut by_title = std::collections::HashMap::<_, Vec<&DecisionEntry>>::new();
        for entry in &now.entries {
            by_title.entry((entry.date, entry.title.as_str())).or_default().push(entry);
        }
        for old in Decisions::parse(before).entries {
            let Some(same) = by_title.get(&(old.date, old.title.as_str())) else {
                let day = old.date.map(|date| format!("{date} ")).unwrap_or_default();
                let title = clip(&old.title, MAX_SHOWN_CHARS);
                let message = format!(
                    "no longer contains the entry {day}{title:?}, which is in the last commit"
                );
                self.add("append-only", None, message);
                continue;
            };
            let written = lines(before, &old);
            if !same.iter().any(|entry| lines(text, entry) == written) {
                let message = "differs from the last commit: entries are never edited; add a new entry about the change";
                self.add("append-only", same.first().map(|entry| entry.line), message);
            }
        }
    }
}

fn has_superseded_format(text: &str) -> bool {
    let rest = text.strip_prefix("(Superseded ").and_then(|rest| rest.split_once(") "));
    rest.is_some_and(|(day, rest)| {
        parse_date(day).is_some()
            && [" \u{2014} ", " \u{2013} ", " - "].iter().any(|dash| rest.contains(dash))
    })
}
