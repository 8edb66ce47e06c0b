//! The active milestone, read once for each command: its documents, its phases with all facts about each, and where the
//! work stands.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Display, Path, PathBuf};
use std::sync::Arc;

use crate::clock::first_date;
use crate::error::{Error, Result};
use crate::markdown::{FrontMatter, without_bullet};
use crate::plan::phase::may_be_same;
use crate::plan::read::document;
use crate::plan::read::vocabulary::has;
use crate::plan::rules::is_same_milestone;
use crate::plan::{
    Action, Archive, Check, CheckOutcome, Claim, DEFAULT_MILESTONE, Handoff, Located, Phase,
    PhaseDir, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState, PlanSlot, PlanState,
    PlanningFolder, Position, ProjectFile, Requirement, Roadmap, RoadmapMilestone, RoadmapPhase,
    Says, ShippedLine, StateFile, WorkflowSettings, is_settled, milestone_version, notes, rules,
    version_parts,
};
use crate::project::{Layout, Project, vocabulary};
use crate::storage::{Changes, read};
use crate::text::{quantity, says_none, words_in};
use crate::warning::{Parsed, Warning};

/// The active milestone as described by its files.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The names in the folder.
    pub folder: PlanningFolder,
    /// PROJECT.md; empty if missing.
    pub project_file: ProjectFile,
    /// STATE.md; empty if missing.
    pub state: StateFile,
    /// ROADMAP.md; empty if missing.
    pub roadmap: Roadmap,
    /// How the roadmap numbers phases.
    pub(crate) numbering: PhaseNumbering,
    /// Whether STATE.md exists.
    pub has_state: bool,
    /// Whether ROADMAP.md exists.
    pub has_roadmap: bool,
    /// The line of MILESTONES.md that calls the active milestone shipped, with its number.
    pub shipped: Option<(usize, String)>,
    /// Whether MILESTONES.md calls the milestone that STATE.md names shipped.
    is_stated_shipped: bool,
    /// The open todos of STATE.md, then those in files of their own.
    pub todos: Vec<String>,
    /// Where paused work is to be resumed, unless the work has gone on since.
    pub handoff: Option<Handoff>,
    /// The settings of config.json.
    pub workflow: WorkflowSettings,
    /// The planning tool.
    pub(super) layout: Layout,
    /// The position of the work.
    pub position: Position,
    /// Problems while reading the files, with paths relative to the project.
    pub warnings: Vec<Warning>,
    /// What seems to name phases or contain work, but could not be read; what comes next may be among it.
    pub not_understood: Vec<Warning>,
    /// The project's root, to which shown paths are relative.
    pub(super) root: PathBuf,
    /// The texts of STATE.md and ROADMAP.md.
    texts: [String; 2],
}

impl Survey {
    /// Reads STATE, ROADMAP, PROJECT, all file names, and the status of each summary.
    pub fn read(project: &Project) -> Result<Self> {
        let folder = PlanningFolder::read(&project.planning()?.dir)?;
        Ok(Self::read_folder(project, folder, None))
    }

    /// Does the same for a folder of which the names are read, with planned changes that are not written yet, if any.
    pub fn read_folder(
        project: &Project,
        folder: Parsed<PlanningFolder>,
        changes: Option<&Changes>,
    ) -> Self {
        let mut warnings = Vec::new();
        let folder = folder.into_value(&mut warnings);
        let (root, home) = (&folder.dir, &folder.active.dir);
        let [state_path, roadmap_path] =
            [vocabulary::STATE, vocabulary::ROADMAP].map(|name| home.join(name));
        let [shared_path, project_path] =
            [vocabulary::STATE, vocabulary::PROJECT].map(|name| root.join(name));
        // An unreadable file must not prevent reading the others.
        let mut text = |path: &Path| {
            let text = match changes {
                None => read::text(path),
                Some(changes) => {
                    changes.current(path).map(|bytes| bytes.map(|bytes| read::decode(bytes, path)))
                }
            };
            read::or_warning(text, path, &mut warnings)
        };
        let texts = [&state_path, &roadmap_path].map(|path| text(path));
        let shared = Some(&shared_path).filter(|path| **path != state_path);
        let shared = shared.and_then(|path| text(path)).unwrap_or_default();
        let config_path = root.join(vocabulary::CONFIG);
        let config = text(&config_path);
        let project_file = text(&project_path).unwrap_or_default();
        let milestones = text(&root.join(vocabulary::MILESTONE_LIST));
        let [has_state, has_roadmap] = texts.each_ref().map(Option::is_some);
        let texts = texts.map(Option::unwrap_or_default);
        let [state, roadmap] = &texts;
        let workflow = config.map(|text| WorkflowSettings::parse(&text, &config_path));
        let workflow = workflow.map(|read| read.into_value(&mut warnings)).unwrap_or_default();
        let numbering = PhaseNumbering::detect(roadmap, || workflow.numbers_by_milestone);
        let parse = |text: &str, path: &Path| StateFile::parse_with(text, path, numbering);
        let mut state = parse(state, &state_path).into_value(&mut warnings);
        // The planning folder's own STATE.md keeps decisions while the active milestone has a folder of its own. If it names
        // a milestone, it belongs to other work.
        let shared = parse(&shared, &shared_path).into_value(&mut warnings);
        if shared.no_milestone.is_some() {
            state.add_shared(shared);
        }
        let project_file = ProjectFile::parse(&project_file, &project_path);
        let listed = ShippedLine::all(milestones.as_deref().unwrap_or_default());
        let shipped = |name: &str| ShippedLine::of(&listed, name);
        let is_over = |name: &str| shipped(name).is_some() || folder.archive(name).is_some();
        let roadmap = Roadmap::parse_beside(roadmap, &roadmap_path, numbering, is_over);
        let mut survey = Self {
            project_file: project_file.into_value(&mut warnings),
            has_state,
            has_roadmap,
            roadmap: roadmap.into_value(&mut warnings),
            todos: notes::todos(root, &state.todos, &mut warnings),
            state,
            numbering,
            shipped: None,
            is_stated_shipped: false,
            handoff: None,
            workflow,
            layout: project.planning_place().layout.clone(),
            position: Position::default(),
            warnings: Vec::new(),
            not_understood: Vec::new(),
            root: project.root.clone(),
            texts,
            folder,
        };
        // Both lists name the links that were not followed, and asking for these empties their list.
        let unfollowed = project.named(Vec::new());
        survey.not_understood = project.named(survey.unread());
        survey.not_understood.extend(unfollowed.iter().cloned());
        warnings.extend(unfollowed);
        survey.is_stated_shipped = survey.state.milestone.as_deref().and_then(shipped).is_some();
        survey.shipped = survey.milestone().and_then(shipped);
        survey.position = rules::decide(&survey, phases(&survey));
        survey.position.next.unchosen = project.unchosen();
        survey.handoff = handoff(&survey, &mut warnings);
        warnings.extend(survey.unknown_checks());
        warnings.extend(survey.unknown_statuses());
        warnings.extend(survey.unread_files());
        survey.warnings = project.named(warnings);
        survey
    }

    /// Returns the name of the active milestone: STATE.md's, unless that one has shipped and the roadmap names another.
    pub(super) fn milestone(&self) -> Option<&str> {
        // VBW's word for a milestone without a name.
        let label = self.roadmap.milestone.as_deref();
        let is_named = |name: &&str| label.is_none() || *name != DEFAULT_MILESTONE;
        let stated = self.state.milestone.as_deref().filter(is_named);
        let is_stated = |name: &str| stated.is_some_and(|stated| is_same_milestone(name, stated));
        let milestones = &self.roadmap.milestones;
        let has_shipped = self.is_stated_shipped
            || milestones.iter().any(|one| one.is_shipped && is_stated(&one.name));
        let is_archived = stated.is_some_and(|stated| self.folder.archive(stated).is_some());
        // Where headings enclose the phases, the one around the current phase is meant.
        let around = || self.roadmap.phase(self.state.phase.number.as_ref()?)?.milestone;
        let around = around().and_then(|at| milestones.get(at));
        let open = around.into_iter().chain(milestones).find(|one| !one.is_shipped);
        let open = open.map(|one| one.name.as_str());
        // `# Roadmap: v1.1 Sync`, `# Roadmap — Milestone v1.1: Sync`
        let title = self.roadmap.title.as_deref().unwrap_or_default();
        let words = title.match_indices(' ').map(|(at, _)| &title[at + 1..]);
        let is_newer = |name: &&str| version_parts(name) > stated.and_then(version_parts);
        let title = words.filter(|name| name.starts_with(['v', 'V'])).find(is_newer);
        // One that was put off is older than what has shipped.
        let is_older = |name: &&str| {
            version_parts(name).is_some_and(|own| Some(own) < stated.and_then(version_parts))
        };
        let named = label.or(open.filter(|name| !is_older(name))).or(title);
        let newer = label.filter(|_| is_archived).or(named.filter(|_| has_shipped));
        newer.or(stated).or(label).or(open)
    }

    /// Returns the blockers that a session must know: none once nothing is left to do, unless STATE.md says that no milestone
    /// is active and so was brought up to date.
    pub(crate) fn current_blockers(&self) -> Vec<String> {
        let is_up_to_date =
            self.position.next.action != Action::None || self.state.no_milestone.is_some();
        if is_up_to_date { self.open_blockers() } else { Vec::new() }
    }

    /// Returns the blockers that can still block: none that names only finished phases or is marked with a shipped
    /// milestone. Those that name only other phases than the next one come last.
    pub(crate) fn open_blockers(&self) -> Vec<String> {
        let position = &self.position;
        let nothing_is_open = position.next.action == Action::None;
        // A number without a phase belongs to the past if a phase has a higher one, or if a milestone is archived.
        let is_behind = |number: &PhaseNumber| {
            !self.folder.archived.is_empty()
                || position.members().any(|phase| phase.number > *number)
        };
        let is_over = |number: &PhaseNumber| {
            let named = position.with_number(number).next();
            nothing_is_open
                || named.map_or_else(|| is_behind(number), |phase| !phase.is_in_milestone)
                || self.is_done(number)
        };
        let next = position.next.phase.as_ref();
        let blockers = self.state.blockers.iter().filter_map(|blocker| {
            let phases = self.numbering.phases_in(&blocker.replace(['[', ']'], " "));
            let goes_on = words_in(&blocker.to_lowercase()).any(|word| has("still open", word));
            let is_past = !phases.is_empty() && phases.iter().all(is_over) && !goes_on
                || marked_milestone(blocker).is_some_and(|mark| {
                    self.has_shipped(mark)
                        && !self.milestone().is_some_and(|name| is_same_milestone(name, mark))
                });
            let is_later = !phases.is_empty() && !phases.iter().any(|phase| next == Some(phase));
            (!is_past).then_some((is_later, blocker))
        });
        let mut found: Vec<(bool, &String)> = blockers.collect();
        found.sort_by_key(|(is_later, text)| (*is_later, Reverse(first_date(text, usize::MAX))));
        found.into_iter().map(|(_, blocker)| blocker.clone()).collect()
    }

    /// Returns whether a phase is finished.
    fn is_done(&self, number: &PhaseNumber) -> bool {
        let mut named = self.position.with_number(number).peekable();
        named.peek().is_some()
            && named.all(|phase| phase.state == PhaseState::Done && !phase.awaits_check)
    }

    /// Returns an error that says what was not understood, if what comes next is unknown.
    pub(crate) fn check_understood(&self) -> Result<()> {
        let next = &self.position.next;
        if next.action != Action::Unknown {
            return Ok(());
        }
        let message = format!("what comes next is unknown: {}", next.because.join("; "));
        Err(Error::refused(message).hint("correct what is named, or name the phase"))
    }

    /// Returns an error if the number has a milestone but the project numbers its phases without.
    pub fn check_number(&self, number: &PhaseNumber) -> Result<()> {
        // There, `2-01` is plan 1 of phase 2 or a range.
        if number.numbering() == PhaseNumbering::MilestonePrefixed
            && self.numbering == PhaseNumbering::Plain
        {
            return Err(Error::usage(format!("\"{number}\" is not a phase number"))
                .hint("write it like 3, 05.1 or 3b"));
        }
        Ok(())
    }

    /// Returns the phase of a number, or an error that lists the known phases.
    pub fn phase(&self, number: &PhaseNumber) -> Result<&Phase> {
        let same = || self.position.with_number(number);
        let meant = same().find(|phase| phase.is_in_milestone);
        if let Some(phase) = meant.or_else(|| same().next()) {
            return Ok(phase);
        }
        self.check_number(number)?;
        self.check_understood()?;
        let phases = self.position.phases.iter();
        let mut known: Vec<String> = phases.map(|phase| phase.number.to_string()).collect();
        // Two folders may have the same number.
        known.dedup();
        let hint = match known.as_slice() {
            [] => "the milestone has no phases yet".to_owned(),
            known => format!("known phases: {}", known.join(", ")),
        };
        Err(Error::not_found(format!("there is no phase {number}")).hint(hint))
    }

    /// Returns the project's name from PROJECT.md, otherwise from STATE.md, otherwise from its folder.
    pub fn name(&self, project: &Project) -> String {
        let folder = || project.root.file_name().map(|name| name.to_string_lossy().into_owned());
        let written = self.project_file.name.clone().or_else(|| self.state.project.clone());
        written.or_else(folder).unwrap_or_else(|| "project".to_owned())
    }

    /// Returns the main purpose of the project from PROJECT.md, otherwise from STATE.md.
    pub fn core_value(&self) -> Option<&str> {
        self.project_file.core_value.as_deref().or(self.state.core_value.as_deref())
    }

    /// Returns requirements with their texts; if REQUIREMENTS.md cannot be read, only their ids.
    pub(crate) fn requirements(
        &self,
        named: &[String],
        warnings: &mut Vec<Warning>,
    ) -> Vec<Requirement> {
        if named.is_empty() {
            return Vec::new();
        }
        let homes = [&self.folder.active.dir, &self.folder.dir];
        let mut texts = homes.into_iter().filter_map(|home| {
            read::text_or_warning(&home.join(vocabulary::REQUIREMENTS), warnings)
        });
        let text = texts.find(|text| !text.is_empty());
        Requirement::resolve(named, &text.unwrap_or_default())
    }

    /// Returns the whole path of one that is relative to the project.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.root.join(path)
    }

    /// Returns a path relative to the project, if it is inside.
    pub(super) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    pub(crate) fn show<'p>(&self, path: &'p Path) -> Display<'p> {
        self.relative(path).display()
    }

    /// Returns what a line of STATE.md or ROADMAP.md says.
    pub(super) fn text_of(&self, name: &str, line: usize) -> &str {
        let mut lines = self.texts[usize::from(name == vocabulary::ROADMAP)].lines();
        line.checked_sub(1).and_then(|index| lines.nth(index)).map_or("", str::trim)
    }

    /// Returns the place and the words by which STATE.md says that nothing blocks the work; `None` without a section about
    /// that, or if one says anything else, also in a part of it.
    pub(crate) fn no_blockers(&self) -> Option<String> {
        let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
        let (mut within, mut found) = (None, None);
        for (line, number) in self.texts[0].lines().map(str::trim).zip(1..) {
            let own = level(line);
            if own > 0 {
                if has("blockers", &document::heading(line)) {
                    within = Some(own);
                    found = found.or(Some(number));
                } else if within.is_some_and(|outer| own <= outer) {
                    within = None;
                }
            // A template explains the section in brackets.
            } else if within.is_some() && !line.is_empty() && !line.starts_with(['[', '<']) {
                let text = without_bullet(line);
                if !says_none(text) && !is_settled(text) {
                    return None;
                }
                found = Some(number);
            }
        }
        let is_blocked = self
            .state
            .statuses()
            .any(|status| PhaseProgress::parse(status) == Some(PhaseProgress::Blocked));
        let is_open = is_blocked || !self.state.blockers.is_empty();
        found.filter(|_| !is_open).map(|line| self.line(vocabulary::STATE, line))
    }

    /// Returns the place of a line of STATE.md or ROADMAP.md, and what it says.
    pub(super) fn line(&self, name: &str, line: usize) -> String {
        let path = self.folder.active.dir.join(name);
        format!("{}:{line}: {}", self.show(&path), self.text_of(name, line))
    }

    /// Returns the place of a check's file, and its status.
    pub(crate) fn check_line(&self, check: &Check) -> String {
        format!("{}: {}", self.show(&check.file), check.status_word)
    }

    /// Returns the unfinished plans of a phase: `…/03-02-PLAN.md: plan 2 has no summary`.
    pub(crate) fn open_plans(&self, phase: &Phase) -> impl Iterator<Item = String> {
        phase.plans.iter().filter_map(move |slot| {
            let why = match slot.state {
                PlanState::Complete => return None,
                PlanState::Open => "has no summary",
                PlanState::Partial => "is partial",
                PlanState::Failed => "failed",
            };
            Some(format!("{}: plan {} {why}", self.show(slot.paths().last()?), slot.number))
        })
    }

    /// Returns what a phase's folder contains: `…/03-web: 3 plans, 2 summaries`.
    pub(super) fn contents(&self, phase: &Phase) -> Option<String> {
        let dir = self.show(&phase.dir.as_ref()?.path);
        let plans = quantity(phase.plan_files(), "plan");
        let summaries = quantity(phase.summaries(), "summary");
        let declared = phase.declared.map(|declared| format!(", {declared} declared"));
        Some(format!("{dir}: {plans}, {summaries}{}", declared.unwrap_or_default()))
    }

    /// Returns the line of STATE.md that names the current phase.
    pub(super) fn pointer_line(&self) -> String {
        let number = self.state.phase.number.as_ref();
        let is_it = |claim: &Claim| matches!(claim, Claim::Phase(stated) if Some(stated) == number);
        let found = self.state.claims.iter().find(|claim| is_it(&claim.value));
        self.line(vocabulary::STATE, found.map_or(1, |claim| claim.line))
    }

    /// Returns whether the tool that wrote the folder is VBW or its predecessor.
    pub(super) fn is_vbw(&self) -> bool {
        !self.layout.name.keeps_milestones()
    }

    /// Returns the place of an archive, and what it is.
    pub(super) fn archive_line(&self, archive: &Archive) -> String {
        let home = || self.folder.dir.join(vocabulary::MILESTONES);
        let dir = archive.dir.clone().unwrap_or_else(home);
        format!("{}: {} is archived", self.show(&dir), archive.slug)
    }

    /// Returns the place of the heading of MILESTONES.md that calls the milestone shipped.
    pub(super) fn shipped_line(&self) -> Option<String> {
        let (line, text) = self.shipped.as_ref()?;
        let file = self.folder.dir.join(vocabulary::MILESTONE_LIST);
        Some(format!("{}:{line}: {text}", self.show(&file)))
    }

    /// Returns whether the roadmap calls a milestone shipped, or it lies in an archive.
    pub(super) fn has_shipped(&self, name: &str) -> bool {
        let mut shipped = self.roadmap.milestones.iter().filter(|one| one.is_shipped);
        shipped.any(|one| is_same_milestone(&one.name, name)) || self.folder.archive(name).is_some()
    }

    /// Returns the last milestone that the roadmap names, if it calls all of them shipped.
    pub(super) fn last_of_shipped(&self) -> Option<&RoadmapMilestone> {
        let milestones = &self.roadmap.milestones;
        let newest = milestones.iter().max_by_key(|one| (version_parts(&one.name), one.line));
        newest.filter(|_| milestones.iter().all(|one| one.is_shipped))
    }

    /// Returns warnings about checks whose result is not understood, of the last phase worked on: only these matter for what
    /// comes next.
    fn unknown_checks(&self) -> impl Iterator<Item = Warning> {
        let last = self.position.members().filter(|phase| phase.is_begun()).last();
        let checks = last.into_iter().flat_map(Phase::checks);
        checks.filter(|check| check.outcome == CheckOutcome::Unknown).map(|check| {
            let word = &check.status_word;
            let message = format!("not understood as the result of a check: {word:?}");
            Warning::file(&check.file, message)
        })
    }

    /// Returns warnings about summaries whose status is not understood.
    fn unknown_statuses(&self) -> impl Iterator<Item = Warning> {
        let plans = self.position.members().flat_map(|phase| &phase.plans);
        let partial = plans.filter(|slot| slot.state == PlanState::Partial);
        let files = partial.filter_map(|slot| slot.summary.as_ref());
        let unknown =
            |text, path| PlanState::unknown_word(text, &FrontMatter::parse(text, path).value, path);
        files.filter_map(move |file| unknown(file.text()?, &file.path))
    }

    /// Returns warnings about files of the phases that could not be read, of those that were needed so far.
    pub(crate) fn unread_files(&self) -> impl Iterator<Item = Warning> {
        self.position.phases.iter().flat_map(Phase::unread).cloned()
    }

    /// Returns what was not understood, as warnings with their places.
    fn unread(&self) -> Vec<Warning> {
        let folders = self.folder.not_understood.iter();
        let folders = folders.map(|path| Warning::file(path, "contains work that was not read"));
        let [state, roadmap] =
            [vocabulary::STATE, vocabulary::ROADMAP].map(|name| self.folder.active.dir.join(name));
        // Where no phase is read, prose may be about one.
        let has_phases = !(self.roadmap.phases.is_empty() && self.folder.active.phases.is_empty());
        let prose = self.state.prose.iter().filter(|_| !has_phases);
        let in_state = self.state.not_understood.iter().chain(prose).map(|line| (&state, line));
        let in_roadmap = self.roadmap.not_understood.iter().map(|line| (&roadmap, line));
        let lines = in_state.chain(in_roadmap);
        let lines = lines.map(|(path, line)| line.warning(path, "not understood as a phase"));
        folders.chain(lines).chain(self.unlisted_phases()).collect()
    }

    /// Returns a warning if there are folders of phases, and STATE.md counts more, but the roadmap lists none. Without
    /// folders, the count is about a milestone that was archived.
    fn unlisted_phases(&self) -> Option<Warning> {
        let folders = self.folder.active.phases.len();
        if folders == 0 || !self.roadmap.phases.is_empty() {
            return None;
        }
        let counted = |claim: &&Located<Claim>| {
            let total = claim.value.count(Says::Total);
            total.is_some_and(|total| total as usize > folders)
        };
        let claim = self.state.claims.iter().find(counted)?;
        let path = self.folder.active.dir.join(vocabulary::STATE);
        Some(Warning::at(&path, claim.line, "counts phases that the roadmap does not list"))
    }
}

/// Returns the milestone in brackets with which a text begins or ends: `(v1.0) No key`, `No key [v1.0]`.
fn marked_milestone(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| " *_.".contains(c));
    let first = text.strip_prefix(['(', '[']).and_then(|rest| rest.split([')', ']']).next());
    let last = text.strip_suffix([')', ']']).and_then(|rest| rest.rsplit(['(', '[']).next());
    [first, last].into_iter().flatten().find(|mark| milestone_version(mark).is_some())
}

/// Returns where paused work is to be resumed, unless a date of STATE.md or the current phase says that the work has
/// gone on since.
fn handoff(survey: &Survey, warnings: &mut Vec<Warning>) -> Option<Handoff> {
    let dirs = survey.folder.active.phases.iter().map(|phase| &*phase.path);
    let latest = notes::latest_handoff(&survey.folder.dir, dirs, warnings)?;
    let own = latest.phase_dir.as_ref().and_then(|name| {
        let is_own = |phase: &Phase| phase.dir.as_ref().is_some_and(|dir| dir.path.ends_with(name));
        survey.position.phases.iter().position(is_own)
    });
    let is_passed = own.zip(survey.position.current).is_some_and(|(own, now)| own < now);
    let file = survey.relative(&latest.file).to_owned();
    let mut dates = survey.state.last_active.iter();
    (!is_passed && !dates.any(|date| latest.written < *date)).then_some(Handoff { file, ..latest })
}

/// Returns the phases of the milestone in number order, with what the documents say of them: those with a folder, and those
/// that only the roadmap or STATE.md names. Their states are not determined yet.
pub(super) fn phases(survey: &Survey) -> Vec<Phase> {
    let (roadmap, state) = (&survey.roadmap, &survey.state);
    let dirs = &survey.folder.active.phases;
    let folders = dirs.iter().zip(old_folders(roadmap, dirs, state.phase.number.as_ref()));
    let with_folder = |(dir, is_old): (&Arc<PhaseDir>, bool)| {
        let planned = roadmap.phase(&dir.number).filter(|_| !is_old);
        Phase { is_old, ..Phase::with_folder(dir, planned.cloned()) }
    };
    let mut phases: Vec<Phase> = folders.map(with_folder).collect();
    let live = phases.iter().filter(|phase| !phase.is_old);
    let known: BTreeSet<PhaseNumber> = live.map(|phase| phase.number.clone()).collect();
    let only_listed =
        |phase: &&Arc<RoadmapPhase>| !phase.is_shipped && !known.contains(&phase.number);
    let listed = roadmap.phases.iter().filter(only_listed);
    phases.extend(listed.map(|planned| Phase::new(planned.number.clone(), Some(planned.clone()))));
    phases.extend(only_stated(&phases, survey));
    // The sort is stable, so that two folders with the same number remain sorted by name.
    phases.sort_by(|a, b| a.number.cmp(&b.number));
    rules::add_documents(state, &mut phases);
    phases
}

/// Returns for each folder whether it is of a milestone before, since numbering restarted: the folder is complete, or begun
/// where a milestone has shipped, and has no word of the name that the roadmap gives its number. Besides, either a listed
/// number has two folders, or this holds for all folders that the roadmap lists, the others are complete, the roadmap calls
/// no phase complete, and STATE.md names no phase behind the first.
fn old_folders(
    roadmap: &Roadmap,
    dirs: &[Arc<PhaseDir>],
    stated: Option<&PhaseNumber>,
) -> Vec<bool> {
    let live = |dir: &PhaseDir| roadmap.phase(&dir.number).filter(|planned| !planned.is_shipped);
    let is_done = |slot: &PlanSlot| {
        slot.summary.is_some() || slot.plan().is_some_and(|plan| plan.value.is_dropped)
    };
    // A plan may have been left in what has shipped.
    let has_shipped = roadmap.has_shipped();
    let is_complete = |dir: &PhaseDir| {
        dir.plans.iter().all(is_done)
            || has_shipped && dir.plans.iter().any(|slot| slot.summary.is_some())
    };
    let is_other = |dir: &Arc<PhaseDir>| {
        let name = live(dir).and_then(|planned| planned.name.as_deref());
        name.is_some_and(|name| !may_be_same(&dir.name, name)) && is_complete(dir)
    };
    let is_left = |dir: &PhaseDir| live(dir).is_none() && is_complete(dir);
    let others: Vec<_> = dirs.iter().map(|dir| (dir, is_other(dir))).collect();
    let mut of_number = others.chunk_by(|(one, _), (next, _)| one.number == next.number);
    let has_two =
        of_number.any(|same| same.iter().any(|(_, is)| *is) && same.iter().any(|(_, is)| !is));
    let mut own = roadmap.phases.iter().filter(|phase| !phase.is_shipped);
    let has_restarted = has_two
        || others.len() > 1
            && others.iter().any(|(_, is_other)| *is_other)
            && others
                .iter()
                .all(|(dir, is_other)| (*is_other || is_left(dir)) && !dir.plans.is_empty())
            && stated.is_none_or(|stated| dirs[0].number >= *stated)
            && own.all(|phase| phase.status != Some(PhaseProgress::Complete));
    others.into_iter().map(|(dir, is)| has_restarted && (is || is_left(dir))).collect()
}

/// Returns the phase that STATE.md names, if it has neither a folder nor an entry in the roadmap. If no phase has one, its
/// status must say that it is in progress: a template names a phase, too, and so may the STATE.md of a finished milestone.
fn only_stated(known: &[Phase], survey: &Survey) -> Option<Phase> {
    let state = &survey.state;
    let number = state.phase.number.clone()?;
    let is_known =
        known.iter().any(|phase| phase.number == number) || survey.roadmap.phase(&number).is_some();
    let mut statuses = state.statuses();
    let is_begun = |status: &str| PhaseProgress::parse(status) == Some(PhaseProgress::InProgress);
    let mut is_current = || state.no_milestone.is_none() && statuses.any(is_begun);
    (!is_known && (!known.is_empty() || is_current()))
        .then(|| Phase { name: state.phase.name.clone(), ..Phase::new(number, None) })
}
