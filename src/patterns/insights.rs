//! Draws conclusions from the whole history of a project, and states where it is too short for any.
//!
//! Questions and boundaries are fixed before anything is counted, and a plan whose summary does not say
//! counts on neither side. A difference is a lesson if both groups have at least five plans and it is
//! significant after correction for all comparisons of the run; the others claim nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::patterns::citation::{known_milestone, short_milestone};
use crate::patterns::lesson::is_planning;
use crate::patterns::retrospective::counted_kinds;
use crate::patterns::statistics::{fisher_exact, mann_whitney};
use crate::patterns::trace::plan_id;
use crate::patterns::{FinishedPhase, PlanRecord, Rate};
use crate::plan::{PhaseNumber, PlanNumber};
use crate::search::to_f64;
use crate::text::{Line, capitalized, sanitized, word_enum};

/// Lower bounds of the task buckets: some workflows ask for one or two tasks, others cut a plan off at five.
const TASKS: &[u32] = &[1, 3, 5];
/// Lower bounds of the file buckets.
const FILES: &[u32] = &[1, 3, 6, 10];

/// Minimum sizes of a large plan, in order of preference; the next is tried if one group has too few plans.
///
/// The limits stated by planning tools come first. The choice depends on the sizes alone, never on the
/// outcomes of plans: the best of many splits would show a difference in noise.
const LARGE_BY_TASKS: [u32; 2] = [5, 3];
const LARGE_BY_FILES: [u32; 2] = [6, 3];

/// Minimum number of plans in each compared group; smaller groups are not compared, since a comparison would only add a
/// test.
const MIN_PLANS: usize = 5;

/// Accepted share of chance findings among the differences reported (the false discovery rate).
const FALSE_DISCOVERIES: f64 = 0.1;

/// Minimum number of plans whose deviations name a file; a single one may be chance.
const MIN_NAMED: usize = 2;

/// The statistics of a project's history. It is the document of `annals patterns insights --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// Number of phases that have plans with a summary.
    pub phases: usize,
    /// Number of plans that have a summary.
    pub plans: usize,
    /// The share of plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// Total number of deviations stated in the summaries.
    pub deviations: u32,
    /// The plans by their number of tasks.
    pub by_tasks: Sizes,
    /// The plans by the number of files they touched.
    pub by_files: Sizes,
    /// All comparisons made, significant or not.
    pub comparisons: Vec<Comparison>,
    /// Comparisons that were not made for lack of data, with the reason.
    pub not_compared: Vec<String>,
    /// The files named in the deviations of several plans, most frequent first.
    pub deviating_files: Vec<DeviatingFile>,
    /// The milestones, in chronological order.
    pub milestones: Vec<MilestoneHistory>,
    /// The effort profiles, as far as they are known.
    pub efforts: Vec<EffortHistory>,
}

/// The plans by one measure of size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Minimum size of a large plan.
    pub large_from: u32,
    /// Number of plans of unknown size; they are in no bucket.
    pub unknown: usize,
    /// The plans by size, smallest first.
    pub buckets: Vec<Bucket>,
}

/// The plans in one range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// Minimum size.
    pub from: u32,
    /// Maximum size; `None` for the last bucket.
    pub to: Option<u32>,
    /// Number of plans of this size.
    pub plans: usize,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of its plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// Number of its plans with a known duration.
    pub timed: usize,
    /// Their median duration.
    pub median_minutes: Option<Minutes>,
}

/// The plans of one effort profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffortHistory {
    /// The profile.
    pub effort: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of its plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// The median duration, where known.
    pub median_minutes: Option<Minutes>,
}

/// The deviations of a milestone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneHistory {
    /// Its slug.
    pub milestone: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The kinds of deviations, most frequent first.
    pub kinds: Vec<KindCount>,
}

/// A kind of deviation and its frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The kind, as the words that all its spellings begin with.
    pub kind: String,
    /// Number of deviations of this kind.
    pub count: u32,
}

/// Identifies a plan by milestone, phase and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanRef {
    /// The milestone's slug.
    pub milestone: String,
    /// The phase's number.
    pub phase: PhaseNumber,
    /// The plan's number within its phase.
    pub plan: PlanNumber,
}

impl PlanRef {
    /// Returns a copy with the milestone's name shortened to fit in a line.
    pub fn short(&self) -> String {
        let milestone = short_milestone(&self.milestone).to_owned();
        Self { milestone, ..self.clone() }.to_string()
    }
}

/// Prints `3-01`, after the milestone's name unless it is the default one: `first-shelf 3-01`.
impl fmt::Display for PlanRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(milestone) = known_milestone(&self.milestone) {
            write!(f, "{milestone} ")?;
        }
        write!(f, "{}-{}", self.phase, plan_id(&self.plan))
    }
}

/// A measure of a plan's size.
type Measure = fn(&PlanRecord) -> Option<u32>;

/// A property of a plan; `None` if its summary does not say.
type Answer = fn(&PlanRecord) -> Option<bool>;

word_enum! {
    /// The question that a comparison answers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum ComparisonQuestion {
        /// Do larger plans deviate more often, by tasks?
        DeviationsByTasks = "deviations-by-tasks",
        /// Do larger plans deviate more often, by files?
        DeviationsByFiles = "deviations-by-files",
        /// Are larger plans completed as often, by tasks?
        CompletionByTasks = "completion-by-tasks",
        /// Are larger plans completed as often, by files?
        CompletionByFiles = "completion-by-files",
        /// Do plans that touch a certain file deviate more often?
        DeviationsByFile = "deviations-by-file",
        /// Do larger plans take longer, by tasks?
        DurationByTasks = "duration-by-tasks",
    }
}

impl ComparisonQuestion {
    /// Returns the verb of the statement, and how a plan answers yes or no; `None` if the question is about durations.
    fn answer(self) -> (&'static str, Option<Answer>) {
        match self {
            Self::DeviationsByTasks | Self::DeviationsByFiles | Self::DeviationsByFile => {
                ("deviated", Some(PlanRecord::deviated))
            }
            Self::CompletionByTasks | Self::CompletionByFiles => {
                ("were completed", Some(PlanRecord::completed_as_stated))
            }
            Self::DurationByTasks => ("took", None),
        }
    }

    /// Returns whether it is about how often plans deviated; the others are about what was completed, and how fast.
    pub(crate) fn is_about_deviations(self) -> bool {
        self.answer().0 == "deviated"
    }
}

/// One of two compared groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The property that its plans share: `plans with 5 or more tasks`.
    pub name: String,
    /// Number of its plans for which the answer is known.
    pub plans: usize,
    /// The share of them that has the property in question, for a comparison of rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Their median duration, for a comparison of durations with any known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_minutes: Option<Minutes>,
}

/// A comparison of two groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The question that it answers.
    pub question: ComparisonQuestion,
    /// The file that the group's plans touched, for a question about one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The group that the question is about.
    pub group: Group,
    /// The group that it is compared with.
    pub other: Group,
    /// The p-value: the probability of a difference at least this large by chance, from 0 to 1.
    pub p: f64,
    /// Whether the difference is significant after correction for all comparisons of the run.
    pub is_lesson: bool,
    /// The difference in words: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
    /// The property compared: `deviations by tasks`.
    pub subject: String,
}

impl Comparison {
    /// Compares two groups of plans, each with its name: rates by Fisher's exact test, durations by that of Mann and
    /// Whitney.
    fn new(
        question: ComparisonQuestion,
        group: (&str, &[&PlanRecord]),
        other: (&str, &[&PlanRecord]),
    ) -> Self {
        let (verb, answer) = question.answer();
        let of = |(name, plans): (&str, &[&PlanRecord])| {
            let rate = answer.map(|answer| rate(plans, answer));
            let minutes = if rate.is_none() { minutes(plans) } else { Vec::new() };
            let group = Group {
                name: name.to_owned(),
                plans: rate.map_or(minutes.len(), |rate| rate.of),
                rate,
                median_minutes: median(&minutes),
            };
            let figure = match (rate, group.median_minutes) {
                (Some(rate), _) => format!("in {} of {}", rate.count, rate.of),
                (None, Some(median)) => median.to_string(),
                (None, None) => "unknown".to_owned(),
            };
            (group, figure, minutes)
        };
        let (group, figure, minutes) = of(group);
        let (other, other_figure, other_minutes) = of(other);
        let (p, note) = match (group.rate, other.rate) {
            (Some(one), Some(other)) => (fisher_exact(one, other), String::new()),
            _ => (
                mann_whitney(&minutes, &other_minutes),
                format!(" (medians over {} and {} plans)", group.plans, other.plans),
            ),
        };
        let statement =
            format!("{} {verb} {figure}, {} {other_figure}{note}", group.name, other.name);
        Self {
            question,
            file: None,
            group,
            other,
            p,
            is_lesson: false,
            statement: capitalized(&statement),
            subject: question.as_str().replace('-', " "),
        }
    }

    /// Returns whether both groups are large enough to compare.
    pub fn is_evidence(&self) -> bool {
        is_evidence(self.group.plans, self.other.plans)
    }

    /// Returns the number of plans in both groups.
    pub fn plans(&self) -> usize {
        self.group.plans + self.other.plans
    }

    /// Returns the p-value as printed: `p = 0.006`, `p < 0.001`.
    pub fn p_value_text(&self) -> String {
        match self.p {
            p if p < 0.001 => "p < 0.001".to_owned(),
            p => format!("p = {p:.3}"),
        }
    }
}

/// A file named in the deviations of several plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviatingFile {
    /// Its path, as written in the summaries.
    pub file: String,
    /// The plans whose deviations name it.
    pub named_in: Vec<PlanRef>,
    /// The share of plans with any deviation, among those that touched it and whose summaries say.
    pub deviated: Rate,
}

impl Insights {
    /// Computes the statistics of the phases of all milestones, in chronological order.
    pub fn from_phases(phases: &[FinishedPhase]) -> Self {
        // Quick tasks, which have no number, are not plans.
        let numbered: Vec<&FinishedPhase> =
            phases.iter().filter(|phase| phase.number.is_some()).collect();
        let plans: Vec<&PlanRecord> = numbered.iter().flat_map(|phase| &phase.plans).collect();
        let by_tasks = Sizes::group(&plans, PlanRecord::tasks, TASKS, LARGE_BY_TASKS);
        let by_files = Sizes::group(&plans, PlanRecord::file_count, FILES, LARGE_BY_FILES);
        let files = mentions(&plans);
        let mut comparisons = sizes_compared(&plans, &by_tasks, &by_files);
        let of_files = files_compared(&plans, &files);
        let gap = of_files.is_empty().then(|| {
            "deviations by file (no file was touched by at least 5 plans and not touched by at least 5)".to_owned()
        });
        comparisons.extend(of_files);
        // Listed last, because everyone expects larger plans to take longer.
        comparisons.push(size_compared(
            ComparisonQuestion::DurationByTasks,
            &plans,
            (by_tasks.large_from, "tasks", PlanRecord::tasks),
        ));
        mark_significant(&mut comparisons);
        Self {
            phases: phases.iter().filter(|phase| !phase.plans.is_empty()).count(),
            plans: plans.len(),
            deviated: rate(&plans, PlanRecord::deviated),
            completed: rate(&plans, PlanRecord::completed_as_stated),
            deviations: plans
                .iter()
                .filter_map(|plan| plan.summary.deviation_count)
                .fold(0, u32::saturating_add),
            by_tasks,
            by_files,
            comparisons,
            not_compared: gap.into_iter().collect(),
            deviating_files: named(&numbered, &plans, &files),
            milestones: milestones(&numbered),
            efforts: efforts(&plans),
        }
    }

    /// Returns the significant comparisons.
    pub fn lessons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|one| one.is_lesson)
    }
}

impl Sizes {
    fn group(all: &[&PlanRecord], measure: Measure, starts: &[u32], limits: [u32; 2]) -> Self {
        let is_split = |from: &u32| {
            let (large, small) = parted(all, measure, *from);
            is_evidence(large.len(), small.len())
        };
        let ends = starts.iter().skip(1).map(|next| Some(next - 1)).chain([None]);
        let bucket = |(from, to): (&u32, Option<u32>)| {
            let fits = |size: u32| size >= *from && to.is_none_or(|to| size <= to);
            let inside: Vec<&PlanRecord> =
                all.iter().copied().filter(|plan| measure(plan).is_some_and(fits)).collect();
            let minutes = minutes(&inside);
            Bucket {
                from: *from,
                to,
                plans: inside.len(),
                deviated: rate(&inside, PlanRecord::deviated),
                completed: rate(&inside, PlanRecord::completed_as_stated),
                timed: minutes.len(),
                median_minutes: median(&minutes),
            }
        };
        Self {
            large_from: limits.into_iter().find(is_split).unwrap_or(limits[0]),
            unknown: all.iter().filter(|plan| measure(plan).is_none()).count(),
            buckets: starts.iter().zip(ends).map(bucket).collect(),
        }
    }
}

/// Compares large plans with small ones: how often they deviated, and how often they were completed.
fn sizes_compared(all: &[&PlanRecord], by_tasks: &Sizes, by_files: &Sizes) -> Vec<Comparison> {
    use ComparisonQuestion::{
        CompletionByFiles, CompletionByTasks, DeviationsByFiles, DeviationsByTasks,
    };

    let tasks = (by_tasks.large_from, "tasks", PlanRecord::tasks as Measure);
    let files = (by_files.large_from, "files", PlanRecord::file_count as Measure);
    [
        (DeviationsByTasks, tasks),
        (DeviationsByFiles, files),
        (CompletionByTasks, tasks),
        (CompletionByFiles, files),
    ]
    .map(|(question, size)| size_compared(question, all, size))
    .to_vec()
}

fn size_compared(
    question: ComparisonQuestion,
    all: &[&PlanRecord],
    (from, unit, measure): (u32, &str, Measure),
) -> Comparison {
    let (large, small) = parted(all, measure, from);
    let name = format!("plans with {from} or more {unit}");
    Comparison::new(question, (&name, &large), ("smaller ones", &small))
}

/// Returns the plans of at least a size, and the smaller ones; plans of unknown size are in neither.
fn parted<'a>(
    all: &[&'a PlanRecord],
    measure: Measure,
    from: u32,
) -> (Vec<&'a PlanRecord>, Vec<&'a PlanRecord>) {
    let known = all.iter().copied().filter(|plan| measure(plan).is_some());
    known.partition(|plan| measure(plan).is_some_and(|size| size >= from))
}

/// Returns how many of the plans that say have a property.
fn rate(plans: &[&PlanRecord], answer: Answer) -> Rate {
    Rate::measure_known(plans.iter().map(|plan| answer(plan)))
}

fn minutes(plans: &[&PlanRecord]) -> Vec<f64> {
    plans.iter().filter_map(|plan| plan.minutes()).collect()
}

/// Returns the median of durations; `None` if there are none.
fn median(minutes: &[f64]) -> Option<Minutes> {
    let mut sorted = minutes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Minutes::from_number(f64::midpoint(lower, upper), TimeUnit::Minutes)
}

/// Returns the history of each effort profile, sorted by name; plans of an unknown one are left out.
fn efforts(all: &[&PlanRecord]) -> Vec<EffortHistory> {
    let mut profiles: BTreeMap<&str, Vec<&PlanRecord>> = BTreeMap::new();
    for plan in all {
        if let Some(effort) = plan.effort.as_deref() {
            profiles.entry(effort).or_default().push(plan);
        }
    }
    let history = |(effort, plans): (&str, Vec<&PlanRecord>)| EffortHistory {
        effort: effort.to_owned(),
        deviated: rate(&plans, PlanRecord::deviated),
        completed: rate(&plans, PlanRecord::completed_as_stated),
        median_minutes: median(&minutes(&plans)),
    };
    profiles.into_iter().map(history).collect()
}

/// Returns the milestones, in the order of their phases, which are next to each other.
fn milestones(phases: &[&FinishedPhase]) -> Vec<MilestoneHistory> {
    let with_plans: Vec<&&FinishedPhase> =
        phases.iter().filter(|phase| !phase.plans.is_empty()).collect();
    let groups = with_plans.chunk_by(|one, next| one.milestone == next.milestone);
    let history = groups.map(|group| {
        let plans: Vec<&PlanRecord> = group.iter().flat_map(|phase| &phase.plans).collect();
        let counted = counted_kinds(&plans).into_iter();
        MilestoneHistory {
            milestone: group[0].milestone.clone(),
            deviated: rate(&plans, PlanRecord::deviated),
            kinds: counted.map(|(kind, count)| KindCount { kind, count }).collect(),
        }
    });
    history.collect()
}

/// The paths of a history by how they may be abbreviated, so that each file has one name.
pub(crate) struct KnownPaths<'a> {
    all: HashSet<&'a str>,
    /// The longer paths that end in each one.
    longer: HashMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> KnownPaths<'a> {
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a String>) -> Self {
        let mut known = Self { all: HashSet::new(), longer: HashMap::new() };
        for path in paths.into_iter().map(|path| bare(path)).filter(|path| !is_planning(path)) {
            if known.all.insert(path) {
                for (at, _) in path.rmatch_indices('/').take(MAX_FOLDERS) {
                    known.longer.entry(&path[at + 1..]).or_default().insert(path);
                }
            }
        }
        known
    }

    /// Returns the full path of a file, which a plan may give by the end of its path.
    ///
    /// If several known paths end in `path`, the one that the plan touched is returned; otherwise it is ambiguous:
    /// `None`.
    pub(crate) fn full(&self, path: &'a str, plan: &PlanRecord) -> Option<&'a str> {
        let path = bare(path);
        if path.is_empty() || is_planning(path) {
            return None;
        }
        let Some(longer) = self.longer.get(path) else { return Some(path) };
        if let (Some(only), 1) = (longer.first(), longer.len()) {
            return Some(only);
        }
        let own: HashSet<&str> = plan.summary.files.iter().flatten().map(|own| bare(own)).collect();
        let mut of_own = longer.iter().filter(|known| own.contains(**known));
        match (of_own.next(), of_own.next()) {
            (Some(one), None) => Some(one),
            // A file with this path exists as well, for example in the root of the project.
            _ => self.all.contains(path).then_some(path),
        }
    }
}

/// Maximum number of folders of a path that an abbreviation may leave out or keep.
const MAX_FOLDERS: usize = 32;

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

/// The plans that touched a file and those that named it in a deviation, by index in the history.
#[derive(Debug, Default)]
struct Mentions {
    touched: BTreeSet<usize>,
    named: BTreeSet<usize>,
}

/// Returns every file that a plan touched or a deviation names, by its full path.
fn mentions<'a>(all: &[&'a PlanRecord]) -> BTreeMap<&'a str, Mentions> {
    let known = KnownPaths::new(all.iter().flat_map(|plan| plan.summary.files.iter().flatten()));
    let mut found: BTreeMap<&str, Mentions> = BTreeMap::new();
    for (at, plan) in all.iter().enumerate() {
        for path in plan.summary.files.iter().flatten().filter_map(|path| known.full(path, plan)) {
            found.entry(path).or_default().touched.insert(at);
        }
        for path in plan.files_in_deviations().into_iter().filter_map(|path| known.full(path, plan))
        {
            found.entry(path).or_default().named.insert(at);
        }
    }
    found
}

/// Returns the files named in the deviations of several plans, most frequent first.
fn named(
    phases: &[&FinishedPhase],
    all: &[&PlanRecord],
    files: &BTreeMap<&str, Mentions>,
) -> Vec<DeviatingFile> {
    let references = phases.iter().flat_map(|phase| {
        phase.plans.iter().map(|plan| {
            let (milestone, plan) = (phase.milestone.clone(), plan.plan.clone());
            phase.number.clone().map(|phase| PlanRef { milestone, phase, plan })
        })
    });
    let references: Vec<Option<PlanRef>> = references.collect();
    let several = files.iter().filter(|(_, mentions)| mentions.named.len() >= MIN_NAMED);
    let mut found: Vec<DeviatingFile> = several
        .map(|(file, mentions)| DeviatingFile {
            file: (*file).to_owned(),
            named_in: mentions.named.iter().filter_map(|at| references[*at].clone()).collect(),
            // A plan that names a file in a deviation touched it, even if it does not list the file.
            deviated: Rate::measure_known(
                (&mentions.touched | &mentions.named).iter().map(|at| all[*at].deviated()),
            ),
        })
        .collect();
    found.sort_by_key(|file| std::cmp::Reverse(file.named_in.len()));
    found
}

/// Compares the plans that touched a file with those that did not, for each file with enough plans in both.
fn files_compared(all: &[&PlanRecord], files: &BTreeMap<&str, Mentions>) -> Vec<Comparison> {
    let says = |plan: &PlanRecord| plan.file_count().is_some() && plan.deviated().is_some();
    let listed: Vec<(usize, &PlanRecord)> =
        all.iter().copied().enumerate().filter(|(_, plan)| says(plan)).collect();
    let compared = files.iter().filter_map(|(file, mentions)| {
        let plans = |is_touched: bool| -> Vec<&PlanRecord> {
            let own = listed.iter().filter(|(at, _)| mentions.touched.contains(at) == is_touched);
            own.map(|(_, plan)| *plan).collect()
        };
        let (touched, others) = (plans(true), plans(false));
        if !is_evidence(touched.len(), others.len()) {
            return None;
        }
        let name = format!("plans that touched `{}`", Line::new(&sanitized(file)).clipped(80));
        let compared = Comparison::new(
            ComparisonQuestion::DeviationsByFile,
            (&name, &touched),
            ("others", &others),
        );
        Some(Comparison { file: Some((*file).to_owned()), ..compared })
    });
    compared.collect()
}

/// Marks the significant differences: Benjamini-Hochberg over all comparisons of a run.
///
/// Comparisons with a group that is too small are not tested and not counted.
fn mark_significant(comparisons: &mut [Comparison]) {
    let tested = comparisons.iter().filter(|one| one.is_evidence());
    let mut p_values: Vec<f64> = tested.map(|one| one.p).collect();
    p_values.sort_by(f64::total_cmp);
    let all = to_f64(p_values.len());
    let within = |(rank, p): &(usize, &f64)| **p <= to_f64(rank + 1) / all * FALSE_DISCOVERIES;
    let Some(limit) = p_values.iter().enumerate().rfind(within) else {
        return;
    };
    for one in comparisons.iter_mut() {
        one.is_lesson = one.is_evidence() && one.p <= *limit.1;
    }
}

/// Returns whether both groups are large enough to compare.
fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= MIN_PLANS
}

#[cfg(test)]
mod tests;
