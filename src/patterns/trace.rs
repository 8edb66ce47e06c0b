//! The comment that links an entry to its phase, and the plans that a lesson is drawn from.
//!
//! ```text
//! <!-- annals: phase-dir=05.1-event-system plans=01,02a digest=3f0a… commit=9c1d… milestone=default
//!      sources=01:42,02a:17 judged=1 bullets=77ab… -->
//! ```
//!
//! `sources` lists the plan and the line of its summary that each bullet was drawn from, or `-`; `judged=1`
//! means that an agent worded the lessons; `bullets` is the digest of the bullets as written.
//!
//! Characters that would end a field or the comment are percent-encoded, such as `%20`.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::plan::{DEFAULT_MILESTONE, PlanNumber};
use crate::text::{Pattern, join, percent_decoded};

/// The place in a summary that a lesson was drawn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonSource {
    /// The plan.
    pub plan: PlanNumber,
    /// Line number in its summary, from 1; 0 for the summary as a whole.
    pub line: usize,
}

/// The phase that an entry was recorded from, and the state of its summaries then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The name of the phase's folder, without its path, since shipping moves folders.
    pub phase_dir: String,
    /// The plans that the entry was recorded from.
    pub plans: Vec<PlanNumber>,
    /// The digest of their summaries' contents.
    pub digest: String,
    /// The commit that was checked out then, if any.
    pub commit: Option<String>,
    /// The slug of the milestone that the phase belonged to then.
    pub milestone: Option<String>,
    /// The source of each bullet, those about what worked first.
    pub sources: Vec<Option<LessonSource>>,
    /// Whether an agent worded the lessons.
    pub judged: bool,
    /// The digest of the bullets as written.
    pub bullets: Option<String>,
}

/// A comment of annals, with the text after its mark.
static COMMENT: Pattern = Pattern::new(r"(?s)<!--\s*annals:(.*?)-->");

impl Trace {
    /// Parses the first such comment in a text; `None` if none names a phase's folder.
    pub fn parse(text: &str) -> Option<Self> {
        COMMENT.captures_iter(text).find_map(|found| Self::from_fields(&found[1]))
    }

    /// Returns an entry's text with this comment in the place of its own; `None` if it has none.
    pub(crate) fn replaced_in(&self, text: &str) -> Option<String> {
        let mut found = COMMENT.captures_iter(text);
        let whole = found.find(|found| Self::from_fields(&found[1]).is_some())?.get(0)?;
        Some(format!("{}{self}{}", &text[..whole.start()], &text[whole.end()..]))
    }

    fn from_fields(fields: &str) -> Option<Self> {
        let mut trace = Self::default();
        for (key, value) in fields.split_whitespace().filter_map(|field| field.split_once('=')) {
            let value = percent_decoded(value).unwrap_or_else(|| value.to_owned());
            let known = Some(value.clone()).filter(|value| !value.is_empty());
            match key {
                "phase-dir" => trace.phase_dir = value,
                "plans" => trace.plans = value.split(',').filter_map(PlanNumber::parse).collect(),
                "digest" => trace.digest = value,
                "commit" => trace.commit = known,
                "milestone" => trace.milestone = known,
                "sources" => trace.sources = value.split(',').map(source).collect(),
                "judged" => trace.judged = value == "1",
                "bullets" => trace.bullets = known,
                // Later versions may write more fields.
                _ => {}
            }
        }
        (!trace.phase_dir.is_empty()).then_some(trace)
    }
}

/// Prints the comment.
impl Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plans = join(self.plans.iter().map(plan_id), ",");
        let sources = self.sources.iter().map(|source| match source {
            Some(source) => format!("{}:{}", plan_id(&source.plan), source.line),
            None => "-".to_owned(),
        });
        f.write_str("<!-- annals:")?;
        for (name, value) in [
            ("phase-dir", self.phase_dir.as_str()),
            ("plans", &plans),
            ("digest", &self.digest),
            ("commit", self.commit.as_deref().unwrap_or_default()),
            ("milestone", self.milestone.as_deref().unwrap_or_default()),
            ("sources", &join(sources, ",")),
            ("judged", if self.judged { "1" } else { "" }),
            ("bullets", self.bullets.as_deref().unwrap_or_default()),
        ] {
            if !value.is_empty() || matches!(name, "plans" | "digest") {
                write!(f, " {name}={}", encoded(value))?;
            }
        }
        f.write_str(" -->")
    }
}

/// Serializes the comment, for the template.
impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Parses `02:41`; `None` for `-` and anything invalid.
fn source(text: &str) -> Option<LessonSource> {
    let (plan, line) = text.rsplit_once(':')?;
    Some(LessonSource { plan: PlanNumber::parse(plan)?, line: line.parse().ok()? })
}

/// Returns a plan's number as in file names: `02`, `02a`, `D`.
pub(crate) fn plan_id(plan: &PlanNumber) -> String {
    let text = plan.to_string();
    if text.starts_with(|c: char| c.is_ascii_digit())
        && !text[1..].starts_with(|c: char| c.is_ascii_digit())
    {
        return format!("0{text}");
    }
    if text.len() == 1 {
        return text.to_uppercase();
    }
    text
}

fn encoded(value: &str) -> String {
    let is_special = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '%' | '<' | '>');
    let written = value.chars().map(|c| match c {
        c if is_special(c) => c.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect(),
        c => c.to_string(),
    });
    written.collect()
}

/// Returns a citation in brackets: `(plan 02)`, `(plans 01, 03)`.
pub(crate) fn cite(plans: &[&PlanNumber]) -> String {
    let plans: BTreeSet<_> = plans.iter().collect();
    let ids = join(plans.iter().map(|plan| plan_id(plan)), ", ");
    match plans.len() {
        0 => String::new(),
        1 => format!("(plan {ids})"),
        _ => format!("(plans {ids})"),
    }
}

/// Splits the citation of [`cite`] off the end of a text, without its brackets.
///
/// Other remarks in brackets are part of the text: `Check it (plan your time)`.
pub(crate) fn split_citation(text: &str) -> (&str, Option<&str>) {
    let inner = || {
        let end = text.trim_end().trim_end_matches('.').strip_suffix(')')?;
        let (sentence, citation) = end.rsplit_once('(')?;
        let list = citation.strip_prefix("plan ").or_else(|| citation.strip_prefix("plans "))?;
        let first = list.split([',', ';', '-']).next()?;
        let is_cited = PlanNumber::parse(first).is_some() && !sentence.trim().is_empty();
        is_cited.then_some((sentence.trim_end(), citation))
    };
    inner().map_or((text, None), |(sentence, citation)| (sentence, Some(citation)))
}

/// Returns the plans cited in the brackets that end a bullet: `(plan 02)`, `(plans 01, 07)`.
pub(crate) fn cited(text: &str) -> Vec<PlanNumber> {
    let own = split_citation(text).1.unwrap_or_default();
    let own = own.trim_start_matches("plans").trim_start_matches("plan");
    own.split(',').filter_map(|part| PlanNumber::parse(part.trim())).collect()
}

/// Returns a milestone's slug, unless it is the one of a project without milestones.
pub(crate) fn known_milestone(slug: &str) -> Option<&str> {
    Some(slug).filter(|slug| *slug != DEFAULT_MILESTONE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_comment_is_read_wherever_it_stands() {
        let text = "### Phase 5\n<!-- note -->\n<!-- annals: phase-dir=05-a%20b plans=01,02a,D \
                    digest=3f commit=9c extra=1 milestone=v1 -->\n";
        let trace = Trace::parse(text).unwrap();
        assert_eq!(trace.phase_dir, "05-a b");
        let plans: Vec<String> = trace.plans.iter().map(plan_id).collect();
        assert_eq!(plans, ["01", "02a", "D"]);
        assert_eq!(trace.digest, "3f");
        assert_eq!(trace.commit.as_deref(), Some("9c"));
        assert_eq!(trace.milestone.as_deref(), Some("v1"));
        for other in [
            "<!-- annals: end -->",
            "<!-- annals: phase-dir= -->",
            "<!--annals: phase-dir=x",
            "annals: phase-dir=x",
        ] {
            assert_eq!(Trace::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_comment_that_is_read_is_the_one_that_is_replaced() {
        let other = "<!-- annals: see the notes -->";
        let text = format!("{other}\n<!-- annals: phase-dir=05-a plans=01 digest=3f -->\n");
        let trace = Trace { judged: true, ..Trace::parse(&text).unwrap() };
        let marked = trace.replaced_in(&text).unwrap();
        let expected = "<!-- annals: phase-dir=05-a plans=01 digest=3f judged=1 -->";
        assert_eq!(marked, format!("{other}\n{expected}\n"));
        assert_eq!(trace.replaced_in(other), None);
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in ".{1,20}") {
            let written = encoded(&name);
            prop_assert!(!written.contains(char::is_whitespace) && !written.contains('>'));
            prop_assert_eq!(percent_decoded(&written), Some(name));
        }

        #[test]
        fn no_comment_panics(text in "(<!-- ?annals:)?[ =%a-f0-9é,-]{0,30}(-->)?") {
            Trace::parse(&text);
            Trace::default().replaced_in(&text);
        }
    }

    #[test]
    fn plans_are_named_briefly_and_found_again() {
        let plans: Vec<PlanNumber> = [1, 2, 3, 4, 7].into_iter().map(PlanNumber::from).collect();
        let all: Vec<&PlanNumber> = plans.iter().collect();
        assert_eq!(cite(&all), "(plans 01, 02, 03, 04, 07)");
        assert_eq!(cite(&all[3..]), "(plans 04, 07)");
        assert_eq!(cite(&all[..1]), "(plan 01)");
        assert_eq!(cited("Locks block (plans 01, 02, 03, 04, 07)."), plans);
    }

    #[test]
    fn only_plans_in_brackets_at_the_end_are_a_citation() {
        for (text, sentence, citation) in [
            ("Locks block (plan 02)", "Locks block", "plan 02"),
            ("Locks block (plans 01-03, 07a).", "Locks block", "plans 01-03, 07a"),
            ("Locks (of rows) block (plan D)", "Locks (of rows) block", "plan D"),
            (
                "Locks block (plan 01; before in v1.2 phase 3 plan 02)",
                "Locks block",
                "plan 01; before in v1.2 phase 3 plan 02",
            ),
        ] {
            assert_eq!(split_citation(text), (sentence, Some(citation)));
        }
        for text in [
            "Locks block (planned for later)",
            "Locks block (plan was wrong)",
            "Locks block (plans A and B)",
            "Locks (plan 02) block",
            "Locks block (plan 02; see `f()`)",
            "Locks block (plan 02",
            "(plan 02)",
            "",
        ] {
            assert_eq!(split_citation(text), (text, None));
        }
    }
}
