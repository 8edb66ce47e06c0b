//! Everything that went otherwise than planned, one by one and drawn together.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::candidate::Topic;
use crate::patterns::bullets::kinds;
use crate::patterns::bullets::lesson::first_sentence;
use crate::patterns::bullets::lesson::lesson;
use crate::patterns::bullets::likeness::Words;
use crate::patterns::bullets::likeness::groups;
use crate::planning::PlanNumber;

/// The weights of what is drawn together; a single trouble weighs as its kind does.
const RECURRING: u32 = 80;
const DOMINANT_KIND: u32 = 48;

/// One deviation or issue of a plan.
#[derive(Debug)]
pub(crate) struct Trouble<'a> {
    pub(crate) plan: &'a PlanNumber,
    pub(crate) text: &'a str,
    /// The text with why and where, as a bullet tells it.
    pub(crate) told: String,
    kind: Option<&'a str>,
    is_deviation: bool,
    weight: u32,
    words: Words,
}

/// The troubles of a phase, by plan.
#[derive(Debug)]
pub(crate) struct Troubles<'a>(pub(crate) Vec<Trouble<'a>>);

impl<'a> Troubles<'a> {
    pub(crate) fn of(plans: &'a [PlanRecord]) -> Self {
        let mut troubles: Vec<Trouble<'a>> = Vec::new();
        for plan in plans {
            let deviations = plan.deviations.iter().map(|deviation| {
                Trouble::new(plan, &deviation.text, deviation.kind.as_deref(), true)
            });
            troubles.extend(deviations);
            let first = troubles.len() - plan.deviations.len();
            for issue in &plan.issues {
                let issue = Trouble::new(plan, issue, None, false);
                // Many summaries tell a deviation once more as an issue.
                if !troubles[first..]
                    .iter()
                    .any(|other| other.words.is_like(&issue.words))
                {
                    troubles.push(issue);
                }
            }
        }
        troubles.retain(|trouble| !trouble.told.is_empty());
        Self(troubles)
    }

    /// Returns troubles that several plans had.
    pub(crate) fn recurring(&self) -> Vec<Candidate> {
        let words: Vec<Words> = self.0.iter().map(|trouble| trouble.words.clone()).collect();
        let mut found = Vec::new();
        for group in groups(&words) {
            let mut plans: Vec<&PlanNumber> = group.iter().map(|at| self.0[*at].plan).collect();
            plans.sort();
            plans.dedup();
            let Some(best) = group.iter().copied().max_by_key(|at| self.0[*at].weight) else {
                continue;
            };
            if plans.len() < 2 || self.0[best].is_harmless() {
                continue;
            }
            let lead = format!("In {} plans: ", plans.len());
            let weight = RECURRING + weigh(plans.len());
            found.push(
                Candidate::new(weight, &lead, &self.0[best].told, &plans)
                    .on(Topic::Recurring)
                    .telling(group),
            );
        }
        found
    }

    /// Returns the kind that most deviations had, where one stands out.
    pub(crate) fn dominant_kind(&self, plans: &[PlanRecord]) -> Option<Candidate> {
        let total: u32 = plans.iter().map(|plan| plan.deviation_count).sum();
        let (kind, count) = kinds::counted(plans).into_iter().next()?;
        if count < 3 || count * 2 < total {
            return None;
        }
        let is_of_kind = |trouble: &&Trouble<'_>| {
            trouble
                .kind
                .is_some_and(|other| kinds::is_same(&kinds::plain(other), &kind))
        };
        let of_kind: Vec<&Trouble<'_>> = self.0.iter().filter(is_of_kind).collect();
        let plans: Vec<&PlanNumber> = of_kind.iter().map(|trouble| trouble.plan).collect();
        let lead = format!("{count} of {total} deviations were {kind}");
        Some(Candidate::new(DOMINANT_KIND, &lead, "", &plans))
    }

    /// Returns each trouble by itself.
    pub(crate) fn single(&self) -> Vec<Candidate> {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, trouble)| !trouble.is_harmless())
            .map(|(at, trouble)| {
                let lead = trouble.kind.map(shown).unwrap_or_default();
                Candidate::new(trouble.weight, &lead, &trouble.told, &[trouble.plan]).telling([at])
            })
            .collect()
    }
}

impl<'a> Trouble<'a> {
    fn new(plan: &'a PlanRecord, text: &'a str, kind: Option<&'a str>, is_deviation: bool) -> Self {
        let told = told(plan, text);
        let mut trouble = Self {
            plan: &plan.plan,
            text,
            kind,
            is_deviation,
            weight: kinds::severity(kind),
            words: Words::of(&first_sentence(text)),
            told,
        };
        trouble.weigh_words();
        trouble
    }

    /// Weighs what the text says: where the plan itself was wrong, the next planner can do better.
    fn weigh_words(&mut self) {
        const PLAN_WAS_WRONG: &[&str] = &[
            "plan specified",
            "plan's",
            "plan said",
            "plan assumed",
            "plan listed",
            "plan called",
            "plan used",
            "plan referenced",
            "plan expected",
            "plan suggested",
            "plan showed",
            "does not exist",
            "doesn't exist",
            "not in plan",
            "not in the plan",
            "instead of",
            "missing",
            "incorrect",
            "wrong",
            "underestimat",
        ];
        let lower = self.told.to_lowercase();
        if PLAN_WAS_WRONG.iter().any(|words| lower.contains(words)) {
            self.weight += 6;
        }
        if self.told.contains('`') {
            self.weight += 3;
        }
        if self.told.len() < 32 {
            self.weight = self.weight.saturating_sub(12);
        }
        if !self.is_deviation {
            self.weight = self.weight.saturating_sub(4);
        }
    }

    /// Tells whether its own words say that it did not matter here.
    fn is_harmless(&self) -> bool {
        const HARMLESS: &[&str] = &[
            "pre-existing",
            "preexisting",
            "unrelated",
            "out of scope",
            "out-of-scope",
            "harmless",
            "as expected",
            "as planned",
            "expected behavior",
            "normal behavior",
            "no impact",
            "cosmetic",
        ];
        let lower = self.text.to_lowercase();
        HARMLESS.iter().any(|words| lower.contains(words))
    }
}

/// Returns a deviation's text with what its details add: the reason, or the file where the text names none.
fn told(plan: &PlanRecord, text: &str) -> String {
    let heart = lesson(text);
    let detail = plan.details.iter().find(|detail| {
        let title = lesson(&detail.title);
        title == heart || (title.len() > 16 && heart.starts_with(&title))
    });
    let Some(detail) = detail else {
        return heart;
    };
    let place = match &detail.files[..] {
        [file] if file.len() <= 60 && !heart.contains(name_of(file)) => format!(" in `{file}`"),
        _ => String::new(),
    };
    let issue = detail.issue.as_deref().map(lesson);
    match issue.filter(|issue| !heart.contains(issue.as_str())) {
        Some(issue) => format!("{heart}: {issue}"),
        None => format!("{heart}{place}"),
    }
}

/// Returns a kind as it stands in front of a deviation: `Blocking: ` of `Rule 3 - Blocking`; no mere code.
fn shown(kind: &str) -> String {
    let kind = kinds::plain(kind);
    let bare = match kind.split_once(" - ") {
        Some((rule, name)) if rule.to_lowercase().starts_with("rule") => name,
        _ => &kind,
    };
    let is_code = bare.contains(|c: char| c.is_ascii_digit());
    let mut chars = bare.chars();
    match chars.next() {
        Some(first) if !is_code && bare.chars().count() <= 24 => {
            let rest = chars.as_str();
            format!("{}{rest}: ", first.to_uppercase())
        }
        _ => String::new(),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn weigh(plans: usize) -> u32 {
    u32::try_from(plans.min(10)).unwrap_or(10)
}
