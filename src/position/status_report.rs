//! The answer to `annals status`: where the work stands and what comes next.

use std::path::PathBuf;

use serde::Serialize;

use crate::planning::DEFAULT_MILESTONE;
use crate::planning::Decision;
use crate::planning::PhaseNumber;
use crate::planning::RoadmapMilestone;
use crate::planning::Skill;
use crate::planning::StatedPhase;
use crate::position::Action;
use crate::position::Drift;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::PlanState;
use crate::position::Position;
use crate::position::Survey;
use crate::position::drift;
use crate::position::inconsistencies;
use crate::position::roadmap_phase;
use crate::project::Commands;
use crate::project::Layout;
use crate::project::LayoutName;
use crate::project::Project;
use crate::text::quantity;
use crate::warning::Warning;

/// Where the work stands. It is the document of `annals status --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusReport {
    /// The project's name.
    pub project: String,
    /// What the project is for.
    pub core_value: Option<String>,
    /// The tool whose folder it is.
    pub layout: LayoutName,
    /// The planning folder, relative to the project where it lies inside.
    pub planning_dir: PathBuf,
    /// The milestone that is worked on, and the archived ones.
    pub milestone: MilestoneStatus,
    /// The current phase as STATE.md states it; worked out from the files where it states none.
    pub phase: PhaseReport,
    /// The current phase as worked out from the files.
    pub derived: PhaseReport,
    /// The active milestone's plans, counted.
    pub plans: PlanCounts,
    /// STATE.md's decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The open todos.
    pub todos: Vec<String>,
    /// The open blockers.
    pub blockers: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// What to do next.
    pub next: NextStatus,
    /// Where STATE.md and ROADMAP.md contradict the files.
    pub drift: Vec<Drift>,
    /// What the planning documents lack, list twice or disagree on.
    pub findings: Vec<Warning>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

/// The milestone that is worked on, and the archived ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneStatus {
    /// The active milestone's slug.
    pub slug: String,
    /// Its name, as STATE.md says it.
    pub name: Option<String>,
    /// Its title, where STATE.md's front matter has one beside a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The slugs of archived milestones, sorted.
    pub archived: Vec<String>,
}

/// The current phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseReport {
    /// Its number.
    pub number: Option<PhaseNumber>,
    /// How many phases there are.
    pub total: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// Its status: verbatim where stated.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
    /// What it is to achieve, as the roadmap says.
    pub goal: Option<String>,
    /// `state` where STATE.md states it, `files` where it is worked out.
    pub source: &'static str,
}

/// Plans, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanCounts {
    /// All of them.
    pub total: usize,
    /// With a summary that calls it neither partial nor failed.
    pub complete: usize,
    /// With a summary that calls it partial.
    pub partial: usize,
    /// With a summary that calls it failed.
    pub failed: usize,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStatus {
    /// What to do.
    pub action: Action,
    /// Of which phase; null for `ship` and `none`.
    pub phase: Option<PhaseNumber>,
    /// The command of the workflow that does it.
    pub command: String,
    /// Whether another reading of the files is about as good.
    pub conflict: bool,
    /// What that reading would do next; null where there is none.
    pub alternative: Option<AlternativeStatus>,
    /// The evidence; in a conflict that of both readings.
    pub because: Vec<String>,
}

/// What another reading of the files would do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlternativeStatus {
    /// What to do.
    pub action: Action,
    /// Of which phase; null for `ship` and `none`.
    pub phase: Option<PhaseNumber>,
    /// The command of the workflow that does it.
    pub command: String,
    /// The first piece of its evidence.
    #[serde(skip)]
    pub reason: String,
}

impl StatusReport {
    /// Returns where the work stands in a project.
    pub fn from_survey(project: &Project, survey: &Survey) -> Self {
        let planning = project.planning_place();
        let position = &survey.position;
        let derived = derived(position);
        Self {
            project: survey.name(project),
            core_value: survey.core_value().map(str::to_owned),
            layout: planning.layout.name,
            planning_dir: project.relative(&planning.dir).to_owned(),
            milestone: MilestoneStatus {
                slug: survey.folder.active.slug.clone(),
                name: milestone_name(survey),
                title: survey.state.milestone_name.clone(),
                archived: survey
                    .folder
                    .archived
                    .iter()
                    .map(|archive| archive.slug.clone())
                    .collect(),
            },
            phase: stated(survey, &derived),
            derived,
            plans: PlanCounts::count(&position.phases),
            decisions: survey.state.decisions.clone(),
            todos: survey.state.todos.clone(),
            blockers: survey.state.blockers.clone(),
            skills: survey.state.skills.clone(),
            next: NextStatus::from_position(position, &planning.layout),
            drift: drift(&survey.evidence(project), position),
            findings: project.named(inconsistencies(survey)),
            warnings: survey.warnings.clone(),
        }
    }

    /// Returns the milestone's name, else its slug.
    ///
    /// One without a name is `default` to VBW and its kin alone; no other tool has such a word.
    pub fn milestone_name(&self) -> Option<String> {
        let milestone = &self.milestone;
        let is_unnamed = self.layout.keeps_milestones() && milestone.slug == DEFAULT_MILESTONE;
        let slug = (!is_unnamed).then_some(&milestone.slug);
        let name = milestone.name.as_ref().or(slug)?;
        let title = milestone.title.as_ref();
        let title = title.filter(|title| !name.to_lowercase().contains(&title.to_lowercase()));
        Some(match title {
            Some(title) => format!("{name} {title}"),
            None => name.clone(),
        })
    }
}

/// Returns the milestone's name as STATE.md says it, else as the roadmap names the one of the current phase.
fn milestone_name(survey: &Survey) -> Option<String> {
    let of_roadmap = || {
        let number = &survey.position.phase()?.number;
        let of_phase = roadmap_phase(&survey.roadmap, number).and_then(|phase| phase.milestone);
        let all = &survey.roadmap.milestones;
        let holds = |milestone: &&RoadmapMilestone| {
            let range = milestone.phases.as_ref();
            range.is_some_and(|range| range.contains(&number.whole()))
        };
        let named = of_phase.and_then(|index| all.get(index));
        let named = named.or_else(|| all.iter().find(|one| !one.is_shipped && holds(one)));
        named
            .filter(|one| !one.is_shipped)
            .map(|one| one.name.clone())
    };
    survey.state.milestone.clone().or_else(of_roadmap)
}

impl PlanCounts {
    fn count(phases: &[Phase]) -> Self {
        let own = || phases.iter().filter(|phase| phase.is_in_milestone);
        let count = |state| own().map(|phase| phase.count(state)).sum();
        Self {
            total: own().map(Phase::plans_expected).sum(),
            complete: count(PlanState::Complete),
            partial: count(PlanState::Partial),
            failed: count(PlanState::Failed),
        }
    }
}

impl NextStatus {
    /// Says in one line what contests it; nothing where no other reading is about as good.
    pub fn contest(&self) -> Option<String> {
        let rival = self.alternative.as_ref()?;
        let own = self.because.first().map(|own| format!(", but {own}"));
        // The command comes first, so that no shorter form loses it.
        Some(format!(
            "perhaps {} is next: {}{}. Check before you act.",
            rival.command,
            rival.reason,
            own.unwrap_or_default()
        ))
    }

    /// Words the next action in the layout's own commands.
    pub fn from_position(position: &Position, layout: &Layout) -> Self {
        let next = &position.next;
        let rival = next.alternative.as_ref();
        Self {
            action: next.action,
            phase: next.phase.clone(),
            command: command(layout, next.action, next.phase.as_ref()),
            conflict: rival.is_some(),
            alternative: rival.map(|rival| AlternativeStatus {
                action: rival.action,
                phase: rival.phase.clone(),
                command: command(layout, rival.action, rival.phase.as_ref()),
                reason: rival.because.first().cloned().unwrap_or_default(),
            }),
            because: next
                .because
                .iter()
                .chain(rival.iter().flat_map(|rival| &rival.because))
                .cloned()
                .collect(),
        }
    }
}

/// Words an action in the layout's own commands.
fn command(layout: &Layout, action: Action, phase: Option<&PhaseNumber>) -> String {
    let phase = phase.map(ToString::to_string).unwrap_or_default();
    match action {
        Action::Plan => layout.commands.plan(&phase),
        Action::Execute => layout.commands.execute(&phase),
        Action::Verify => Commands::with_phase(&layout.commands.verify, &phase),
        Action::Remediate => Commands::with_phase(&layout.commands.remediate, &phase),
        Action::Discuss => Commands::with_phase(&layout.commands.discuss, &phase),
        Action::Ship => layout.commands.ship.clone(),
        Action::None => layout.commands.new_milestone.clone(),
    }
}

fn derived(position: &Position) -> PhaseReport {
    let phase = position.phase();
    PhaseReport {
        number: phase.map(|phase| phase.number.clone()),
        total: u32::try_from(position.total())
            .ok()
            .filter(|total| *total > 0)
            // `15 of 6` would make no sense: numbers go on across milestones.
            .filter(|total| phase.is_none_or(|phase| phase.number.whole() <= *total)),
        name: phase.and_then(|phase| phase.name.clone()),
        status: phase.map(status_words),
        progress_percent: phase.map(|_| position.percent()),
        goal: phase.and_then(|phase| phase.goal.clone()),
        source: "files",
    }
}

/// Says in words how far a phase is: `in progress, 1 of 3 plans`.
pub(crate) fn status_words(phase: &Phase) -> String {
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    match phase.state {
        PhaseState::Done => "complete".to_owned(),
        PhaseState::Unplanned => "not planned".to_owned(),
        PhaseState::Running => match phase.plans_expected() {
            expected if expected > all => format!("in progress, {done} of {expected} plans"),
            _ => format!("in progress, {}", quantity(done, "plan")),
        },
        PhaseState::Dropped => "dropped".to_owned(),
        PhaseState::Open if done == 0 && !phase.is_begun() => {
            format!("planned, {}", quantity(all, "plan"))
        }
        PhaseState::Open => format!("in progress, {done} of {all} plans"),
    }
}

fn stated(survey: &Survey, derived: &PhaseReport) -> PhaseReport {
    let StatedPhase {
        number,
        total,
        name,
        status,
        progress_percent,
    } = survey.state.phase.clone();
    if number.is_none() && status.is_none() && progress_percent.is_none() {
        return derived.clone();
    }
    let goal = survey
        .roadmap
        .phases
        .iter()
        .find(|phase| Some(&phase.number) == number.as_ref())
        .and_then(|phase| phase.goal.clone());
    PhaseReport {
        number,
        total,
        name,
        status,
        progress_percent,
        goal,
        source: "state",
    }
}
