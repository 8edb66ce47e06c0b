//! No figure takes silence for success: counted again from the files, of every real project.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::corpus_sweep::folders::Planned;
use crate::support::Case;

/// A share in the generated block is told of no fewer plans.
const MIN_PLANS_OF_SHARE: u64 = 20;

/// Returns where `patterns insights` counts plans that do not speak of deviations.
///
/// Which summaries speak is asked of `inspect`, file by file; what they add up to is counted here.
pub(super) fn faults(case: &Case, planned: &Planned, summaries: &Summaries) -> Vec<String> {
    let mut faults = Vec::new();
    let insights = case.run(&planned.command("patterns insights --json")).output();
    let Ok(insights) = insights.try_json() else {
        return faults;
    };
    let (plans, of) = (number(&insights["plans"]), number(&insights["deviated"]["of"]));
    let speaking = summaries.speaking();
    for question in insights["comparisons"].as_array().into_iter().flatten() {
        let both = number(&question["group"]["plans"]) + number(&question["other"]["plans"]);
        let name = question["question"].as_str().unwrap_or_default();
        if name.starts_with("deviations") && both > of {
            faults.push(format!("{name} compares {both} plans, and {of} speak"));
        }
    }
    if of > plans || of > speaking {
        faults.push(format!("{of} of {plans} plans are said to speak; {speaking} summaries do"));
    }
    faults
}

/// Returns where the entries, the brief or the generated block do.
pub(super) fn written(case: &Case, planned: &Planned, summaries: &Summaries) -> Vec<String> {
    let mut faults = Vec::new();
    let log = format!("{}/patterns/PATTERNS.md", planned.planning);
    for entry in text(case, &log).split("\n### ").skip(1) {
        faults.extend(summaries.fault_of_entry(entry));
    }
    let brief = case.run(&planned.command("plan --json")).output();
    if let Ok(brief) = brief.try_json() {
        let of = number(&brief["rate"]["deviated"]["of"]);
        faults.extend(summaries.fault_of_share("the brief", of));
    }
    let context = text(case, "CLAUDE.md");
    for of in shares(&context) {
        faults.extend(summaries.fault_of_share("CLAUDE.md", of));
        if of < MIN_PLANS_OF_SHARE {
            faults.push(format!("CLAUDE.md tells a share of {of} plans"));
        }
    }
    faults
}

/// What each summary says of how often its plan deviated, by folder; nothing where it does not speak of it.
#[derive(Default)]
pub(super) struct Summaries {
    by_folder: BTreeMap<String, Vec<Option<u64>>>,
}

impl Summaries {
    /// Takes the summaries out of what `inspect` says of all files.
    pub(super) fn of(inspected: &[Value]) -> Self {
        let mut summaries = Self::default();
        for answer in inspected {
            let file = Path::new(answer["file"].as_str().unwrap_or_default());
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            if name.contains("summary") {
                let folder = file.parent().unwrap_or(file).display().to_string();
                let said = answer["deviation_count"].as_u64();
                summaries.by_folder.entry(folder).or_default().push(said);
            }
        }
        summaries
    }

    fn speaking(&self) -> u64 {
        self.by_folder.values().flatten().flatten().count() as u64
    }

    fn fault_of_share(&self, place: &str, of: u64) -> Option<String> {
        let speaking = self.speaking();
        (of > speaking)
            .then(|| format!("{place} counts {of} plans, and {speaking} summaries speak"))
    }

    /// An entry says what the summaries of its phase add up to, and how many of them do not speak.
    fn fault_of_entry(&self, entry: &str) -> Option<String> {
        let name = between(entry, "phase-dir=", " ")?;
        let plans = between(entry, "plans=", " ")?.split(',').count();
        let stated = between(entry, "**Deviations:** ", "\n")?;
        let of_name = |folder: &&String| folder.ends_with(&format!("/{name}"));
        let folders = self.by_folder.keys().filter(of_name);
        // A summary beside those of the plans is its phase's own: the entry counts it nowhere.
        let mut said = folders.map(|folder| &self.by_folder[folder]);
        let mut exact = said.by_ref().filter(|said| said.len() == plans).peekable();
        exact.peek()?;
        let expected: Vec<String> = exact.map(|said| deviations(said)).collect();
        let fits = |expected: &String| {
            let (count, silence) = expected.split_once(';').unwrap_or((expected, ""));
            stated.split(' ').next() == Some(count) && stated.contains(silence)
        };
        let is_right = expected.iter().any(fits);
        (!is_right).then(|| format!("the entry of {name} says {stated:?}, counted {expected:?}"))
    }
}

/// Returns how the summaries of a phase add up: `3`, `3;1 of 4 plans do not say`, `unknown`.
fn deviations(said: &[Option<u64>]) -> String {
    let speaking: Vec<u64> = said.iter().flatten().copied().collect();
    let sum: u64 = speaking.iter().sum();
    match said.len() - speaking.len() {
        0 => sum.to_string(),
        all if all == said.len() => "unknown".to_owned(),
        silent => format!("{sum};{silent} of {} plans do not say", said.len()),
    }
}

/// Returns of how many plans each share in the generated block is told: 24 of `7 of 24 plans`.
fn shares(context: &str) -> Vec<u64> {
    let block = between(context, "<!-- annals:begin", "<!-- annals:end").unwrap_or_default();
    let lessons = block.split("## Learned Patterns").nth(1).unwrap_or_default();
    let lessons = lessons.split("\n## ").next().unwrap_or_default();
    let words: Vec<&str> = lessons.split_whitespace().collect();
    let shares = words.windows(4).filter_map(|four| match four {
        [count, "of", of, what] if what.starts_with("plan") || what.starts_with("summar") => {
            count.parse::<u64>().ok()?;
            of.parse().ok()
        }
        _ => None,
    });
    shares.collect()
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inner, _)| inner)
}

fn text(case: &Case, path: &str) -> String {
    let bytes = case.read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[test]
fn a_figure_that_counts_silence_is_seen() {
    let phases = [("p/01-a", vec![Some(2), None]), ("p/02-b", vec![None])];
    let by_folder = phases.map(|(folder, said)| (folder.to_owned(), said));
    let summaries = Summaries { by_folder: by_folder.into() };
    let entry = |plans: &str, stated: &str, name: &str| {
        let text = format!(
            "Phase\n<!-- phase-dir={name} plans={plans} digest=0 -->\n**Deviations:** {stated}\n"
        );
        summaries.fault_of_entry(&text)
    };
    assert_eq!(entry("01,02", "2 (2 minor; 1 of 2 plans do not say)", "01-a"), None);
    assert_eq!(entry("01", "unknown", "02-b"), None);
    for (plans, stated, name) in
        [("01,02", "2 (2 minor)", "01-a"), ("01", "0", "02-b"), ("01,02", "unknown", "01-a")]
    {
        assert!(entry(plans, stated, name).is_some(), "{stated}");
    }
    assert_eq!(summaries.fault_of_share("x", 1), None);
    let block = "<!-- annals:begin -->\n## Learned Patterns\n\n- 7 of 24 plans failed\n\n## X\n1 of 2 plans<!-- annals:end -->";
    assert_eq!(shares(block), [24]);
}
