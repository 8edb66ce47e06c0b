//! Assembles the summary that a session needs at its start; never writes.

use chrono::{Days, NaiveDate};
use serde::Serialize;

use crate::error::Result;
use crate::ledger::constraints::{SECTIONS, is_named};
use crate::ledger::coverage::{AnchorState, Coverage};
use crate::ledger::decisions::Decisions;
use crate::ledger::files::LedgerFiles;
use crate::ledger::state::Footer;
use crate::ledger::{coverage, state};
use crate::markdown::{Label, Outline, Section, without_bullet, without_comments};
use crate::project::Project;
use crate::secrets;
use crate::text::{fold, join};
use crate::warning::Warning;

/// Number of days whose decisions are shown in full, unless a caller says otherwise.
pub const BRIEF_DAYS: u64 = 7;

/// A commit in one line.
#[derive(Debug, Serialize)]
pub struct CommitLine {
    /// The full hash.
    pub hash: String,
    /// When it was written, RFC 3339.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// The summary that a session needs. It is the document of `annals ledger brief --json`.
#[derive(Debug, Serialize)]
pub struct Brief {
    /// What to do first if the ledger is not in use yet.
    pub action_required: Option<String>,
    /// STATE.md, all of it, or `None` if there is no such file.
    pub state: Option<String>,
    /// CONSTRAINTS.md: infrastructure, rules and hazards.
    pub constraints: String,
    /// DECISIONS.md: the rollup.
    pub rollup: String,
    /// DECISIONS.md: the entries of the last days.
    pub recent_decisions: String,
    /// The newest commits since the anchor, newest first.
    pub recent_commits: Vec<CommitLine>,
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A section of the ledger: its title, and its lines without markers.
pub(crate) type BriefSection = (String, Vec<String>);

impl Brief {
    /// Returns the sections of STATE.md, without its footer.
    pub(crate) fn state_sections(&self) -> Vec<BriefSection> {
        sections(self.state.as_deref().unwrap_or_default())
    }

    /// Returns the sections of CONSTRAINTS.md.
    pub(crate) fn constraint_sections(&self) -> Vec<BriefSection> {
        sections(&self.constraints)
    }

    /// Returns the decisions of the last days, each with its reason or the root cause of a fix, then those of the rollup.
    pub(crate) fn decision_lines(&self) -> Vec<String> {
        let mut lines = with_reasons(&self.recent_decisions);
        lines.extend(sections(&self.rollup).into_iter().flat_map(|(_, lines)| lines));
        lines
    }
}

/// Returns each entry's title with the reason of the decision, or the root cause of a fix.
fn with_reasons(entries: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in entries.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            lines.push(title.trim().to_owned());
        } else if let Some(last) = lines.last_mut()
            && let Some(label) = Label::parse(without_bullet(line.trim()), 0, 1)
            && matches!(fold(&label.name).as_str(), "why" | "root cause")
            && !label.value.is_empty()
        {
            *last = format!("{last} ({})", label.value);
        }
    }
    lines
}

/// Returns the sections of a text, without comments, thematic breaks, ticked boxes and the footer.
fn sections(text: &str) -> Vec<BriefSection> {
    let mut found: Vec<BriefSection> = vec![(String::new(), Vec::new())];
    for line in without_comments(text).lines().map(str::trim) {
        let content = without_bullet(line).trim_start();
        if let Some(title) = line.strip_prefix('#') {
            found.push((title.trim_start_matches('#').trim().to_owned(), Vec::new()));
        } else if !content.starts_with("[x] ")
            && !content.starts_with("[X] ")
            && !line.trim_matches(['-', '*', '_']).is_empty()
            && !Footer::is_part(line)
            && let Some((_, lines)) = found.last_mut()
        {
            lines.push(content.strip_prefix("[ ] ").unwrap_or(content).to_owned());
        }
    }
    found
}

/// Assembles the summary, with the entries of the last `days` days.
pub fn brief(project: &Project, days: u64) -> Result<Brief> {
    let mut files = LedgerFiles::read(project)?;
    // Before the texts are taken apart, since a key may have several lines.
    for file in [&mut files.state, &mut files.constraints, &mut files.decisions] {
        file.text = secrets::redact(&file.text).text.into_owned();
    }
    let survey = coverage::survey(project, &files, &Footer::parse(&files.state.text))?;
    let text = &files.decisions.text;
    let decisions = Decisions::parse(text);
    let since = project.clock.today().checked_sub_days(Days::new(days));
    let rollup = decisions.rollup.as_ref().map(|rollup| text[rollup.own.clone()].trim().to_owned());
    let recent_commits = survey.newest.into_iter().map(|commit| CommitLine {
        hash: commit.hash,
        date: commit.date,
        subject: commit.subject,
    });
    Ok(Brief {
        action_required: action(&files, &survey.coverage),
        state: files.state.exists().then(|| files.state.text.trim_end().to_owned()),
        constraints: session_constraints(&files.constraints.text),
        rollup: rollup.unwrap_or_default(),
        recent_decisions: recent(text, &decisions, since),
        recent_commits: recent_commits.collect(),
        coverage: survey.coverage,
        warnings: project.named(files.warnings),
    })
}

/// How to fill an empty ledger.
const FIRST_UPDATE: &str = "`annals ledger pending`, then pass the update to `annals ledger update` (`annals ledger pending --skill` prints the procedure)";

/// Returns the first step if the ledger has not been filled in.
fn action(files: &LedgerFiles, coverage: &Coverage) -> Option<String> {
    if !files.state.exists() {
        let others = files.constraints.exists() || files.decisions.exists();
        let what = if others { "the ledger has no STATE.md" } else { "this project has no ledger" };
        return Some(format!("{what}: run `annals ledger init`, then {FIRST_UPDATE}"));
    }
    if state::is_uninitialised(&files.state.text) {
        return Some(format!("the ledger is empty: run {FIRST_UPDATE}"));
    }
    let is_lost = matches!(coverage.standing, AnchorState::Missing | AnchorState::Diverged);
    coverage.advice.clone().filter(|_| is_lost)
}

fn recent(text: &str, decisions: &Decisions, since: Option<NaiveDate>) -> String {
    let entries = decisions.entries.iter();
    let recent = entries.filter(|entry| entry.date.is_some() && entry.date >= since);
    join(recent.map(|entry| text[entry.range.clone()].trim()), "\n\n")
}

/// Returns Infrastructure, Rules and Hazards with all their subsections, verbatim, except for headings without text.
fn session_constraints(text: &str) -> String {
    let outline = Outline::parse(text, 0);
    let has_text = |section: &&Section| {
        let below = outline.subsections(section);
        below.chain([*section]).any(|part| !outline.slice(&part.own).is_empty())
    };
    let shown = |section: &Section| {
        // The title is a heading of level 1, and contains no section.
        let range = if section.level == 1 { &section.own } else { &section.whole };
        let is_named = |part: &Section| SECTIONS.iter().any(|title| is_named(&part.title, title));
        // A nested section with one of these names, such as Superseded, is left out with all that is below it.
        let mut own_end = 0;
        let below = outline.sections_in(range).iter().filter(move |part| {
            if part.heading.start >= own_end && is_named(part) {
                own_end = part.whole.end;
            }
            part.heading.start >= own_end
        });
        let parts = [section].into_iter().chain(below.filter(has_text));
        join(parts.map(|part| outline.slice(&(part.heading.start..part.own.end))), "\n\n")
    };
    let wanted = ["Infrastructure", "Rules", "Hazards"].into_iter().flat_map(|title| {
        let sections = outline.sections().iter().filter(has_text);
        sections.filter(move |section| is_named(&section.title, title)).map(shown)
    });
    join(wanted, "\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_with_their_section_and_without_what_is_done() {
        let text = "<!-- DO\nkeep it short -->\n# State\n\n## Blockers\n- none\n* two\n\n## Next Actions\n- [ ] open\n- [x] done\n\n---\n\
                    Last memory update: 2026-02-05\n**Commits covered through:** abc1234\n";
        let of = |title: &str, lines: &[&str]| {
            (title.to_owned(), lines.iter().map(|line| (*line).to_owned()).collect())
        };
        let expected = [
            of("", &[]),
            of("State", &[]),
            of("Blockers", &["none", "two"]),
            of("Next Actions", &["open"]),
        ];
        assert_eq!(sections(text), expected);
        assert_eq!(
            sections("<!-- by ada --> see the wiki\n- two\n"),
            [of("", &["see the wiki", "two"])]
        );
    }

    #[test]
    fn decisions_come_with_their_reasons() {
        let entries = "### 2026-02-05 \u{2014} Use SQLite\n\n- **Why:** one file\n- **Impact:** none\n\n### 2026-02-04 \u{2014} Fix the lock\n- **Symptom:** hung\n- **Root cause:** two owners\n";
        assert_eq!(
            with_reasons(entries),
            [
                "2026-02-05 \u{2014} Use SQLite (one file)",
                "2026-02-04 \u{2014} Fix the lock (two owners)"
            ]
        );
    }

    #[test]
    fn sections_come_with_their_subsections() {
        let text = "# Constraints\n\n## Rules\n- one\n\n### Security\n- Never log tokens\n\n### Empty\n\n### Superseded\n#### Old\n- o\n\n## Key Facts\n- k\n\n\
                    ### More\n- m\n\n## Hazards\n\n### Migrations\n- Never run migrate twice\n\n## Other\n- o\n";
        assert_eq!(
            session_constraints(text),
            "## Rules\n- one\n\n### Security\n- Never log tokens\n\n\
             ## Hazards\n\n### Migrations\n- Never run migrate twice"
        );
    }

    #[test]
    fn headings_with_decoration_name_their_sections() {
        for (heading, is_shown) in [
            ("## Hazards & Pitfalls", true),
            ("## Infrastructure (prod)", true),
            ("## \u{26a0} Hazards", true),
            ("## \u{26a0}\u{fe0f} **Rules**:", true),
            ("## 2. Rules", true),
            ("## Rulesets", false),
            ("## Superseded rules", false),
            ("# Rules\n\n## Key Facts", false),
        ] {
            let text = format!("# Constraints\n\n{heading}\n- x\n");
            assert_eq!(session_constraints(&text).contains("- x"), is_shown, "{heading}");
        }
    }
}
