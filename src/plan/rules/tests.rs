//! What each rule is worth: it is switched off on real histories, and the answers won and lost are counted.
//!
//! `ANNALS_HISTORIES` names a folder with `next_dev` and `next_more`, each a bundle of planning folders as they stood and
//! a list of what came next.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

use crate::plan::model::phases;
use crate::plan::rules::{APPLIED, Case, OFF, Rule, decide};
use crate::plan::{Action, Phase, PhaseNumber, Survey};
use crate::project::fixture::Tree;
use crate::project::{OpenRequest, Project};
use crate::storage::read;

mod forms;

/// A rule that wins fewer answers, or in fewer projects, is removed.
const LEAST: usize = 3;

/// Rules below the price that stay, each with the kind of situation or the documentation that needs it.
const NEEDED: &[(&str, &str)] = &[
    ("one folder a number", "which milestone: numbers that restart"),
    ("backlog", "GSD documents phases 999.x"),
    ("listed", "which milestone: the roadmap says what has not shipped"),
    ("outside of the roadmap", "which milestone: folders of earlier ones remain"),
    ("shipped", "which milestone: what shipped is not done again"),
    ("dropped", "work that will not be done"),
    ("no plan left", "work that will not be done: GSD counts such a phase as complete"),
    ("over", "which milestone: what is archived or shipped is not archived again"),
    ("all done", "the answer at the end of a milestone"),
    ("end of the milestone", "which milestone: GSD's roadmap lists later ones as planned"),
    ("blank", "the answer for a new planning folder"),
    ("ended", "the answer between milestones"),
    ("not understood", "not understood is not absent"),
    ("open check", "checks, as VBW and GSD document them"),
    ("untested", "checks: VBW's auto_uat"),
    ("undiscussed", "VBW documents require_phase_discussion"),
    ("jump of the pointer", "a jump of the pointer is contested"),
    (
        "called complete without files",
        "a jump of the pointer: STATE.md and the files contradict each other",
    ),
    ("ticked without any plan", "a ticked phase that STATE.md calls not started is contested"),
    ("open plan behind", "an open plan behind the frontier is at least the alternative"),
    ("check left", "checks: what is to be done or repeated is named"),
    ("passed over", "a jump of the pointer: what it passes over is named"),
];

/// A moment of a project's history, with all that deciding needs.
struct Moment {
    project: String,
    survey: Survey,
    phases: Vec<Phase>,
    next: Vec<(String, Option<PhaseNumber>)>,
}

/// What an answer was worth, and the rules that it rests on: to switch off another changes nothing.
#[derive(Clone)]
struct Answer {
    is_right: bool,
    is_right_in_phase: bool,
    is_contested: bool,
    applied: BTreeSet<&'static str>,
}

impl Moment {
    /// Returns what the answer without some rules is worth.
    fn answer(&self, off: &[&'static str]) -> Answer {
        OFF.set(off.to_vec());
        APPLIED.take();
        let position = decide(&self.survey, self.phases.clone());
        OFF.set(Vec::new());
        let next = &position.next;
        let word = serde_json::to_value(next.action).unwrap();
        let is_over = matches!(next.action, Action::Ship | Action::None);
        let ships = self.next.iter().any(|(action, _)| action == "ship");
        let mut same = self.next.iter();
        let is_right = same
            .any(|(action, phase)| word == action.as_str() && (is_over || *phase == next.phase));
        let is_right = is_right || is_over && ships;
        let same_phase = self.next.iter().any(|(_, phase)| phase.is_some() && *phase == next.phase);
        Answer {
            is_right,
            is_right_in_phase: is_right || same_phase,
            is_contested: next.rival().is_some(),
            applied: APPLIED.take().into_iter().collect(),
        }
    }

    /// Returns the answer without some rules, given that with all of them.
    fn answer_without(&self, off: &[&'static str], whole: &Answer) -> Answer {
        let changes = off.iter().any(|name| whole.applied.contains(name));
        if changes { self.answer(off) } else { whole.clone() }
    }
}

/// Maps the items on two threads, and returns the results in order.
fn on_two_threads<T: Sync, O: Send>(all: &[T], each: impl Fn(&T) -> O + Sync) -> Vec<O> {
    let run = |half: &[T]| half.iter().map(&each).collect::<Vec<O>>();
    let (first, second) = all.split_at(all.len() / 2);
    thread::scope(|scope| {
        let second = scope.spawn(|| run(second));
        let mut done = run(first);
        done.extend(second.join().unwrap());
        done
    })
}

#[expect(clippy::disallowed_methods, reason = "a test unpacks what a maintainer gave it")]
fn moments(folder: &Path, kept: &TempDir) -> Vec<Moment> {
    let mut moments = Vec::new();
    for name in ["next_dev", "next_more"] {
        let git = kept.path().join(name);
        let bundle = folder.join(format!("{name}.bundle"));
        let clone =
            Command::new("git").args(["clone", "-q", "--bare"]).arg(bundle).arg(&git).status();
        assert!(clone.unwrap().success());
        let rows = read::users_bytes(&folder.join(format!("{name}.jsonl"))).unwrap().unwrap();
        let rows = String::from_utf8(rows).unwrap();
        let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        moments.extend(on_two_threads(&rows, |row| moment(row, &git)));
    }
    moments
}

/// Unpacks a snapshot beside the repository, and reads it.
#[expect(clippy::disallowed_methods, reason = "a test unpacks what a maintainer gave it")]
fn moment(row: &Value, git: &Path) -> Moment {
    let snapshot = row["snapshot"].as_str().unwrap();
    let dir = git.with_extension("folders").join(snapshot);
    std::fs::create_dir_all(&dir).unwrap();
    let mut archive = Command::new("git");
    let archive = archive.arg("--git-dir").arg(git).args(["archive", snapshot]);
    let mut archive = archive.stdout(Stdio::piped()).spawn().unwrap();
    let tree = archive.stdout.take().unwrap();
    let tar = Command::new("tar").arg("-xC").arg(&dir).stdin(tree).status();
    assert!(tar.unwrap().success() && archive.wait().unwrap().success());
    let request = OpenRequest { directory: dir, ..OpenRequest::default() };
    let survey = Survey::read(&Project::open(request).unwrap()).unwrap();
    let phases = phases(&survey);
    // Read once, the checks are cloned with the phases.
    for phase in &phases {
        phase.checks();
    }
    let step = |step: &Value| {
        let phase = step[1].as_str().and_then(|phase| {
            PhaseNumber::parse_id(phase).or_else(|| Some(PhaseNumber::split(phase)?.0))
        });
        (step[0].as_str().unwrap().to_owned(), phase)
    };
    let next = row["next"].as_array().unwrap().iter().map(step).collect();
    let project = snapshot.rsplit_once('/').unwrap().0.to_owned();
    Moment { project, survey, phases, next }
}

fn names() -> Vec<&'static str> {
    let scope = Case::MEMBERSHIP.into_iter().map(|rule| rule.name);
    let state = Case::STATES.into_iter().map(|rule| rule.name);
    let cursor = Case::CURSOR.into_iter().map(|rule| rule.name);
    let next = Case::ACTIONS
        .into_iter()
        .map(|rule| rule.name)
        .chain(Case::GATES.into_iter().map(|rule| rule.name));
    let contest = Case::RIVALS.into_iter().map(|rule| rule.name);
    let contest = contest.chain(Case::SETTLED.into_iter().map(|rule| rule.name));
    scope.chain(state).chain(cursor).chain(next).chain(contest).collect()
}

/// Shares of moments in percent.
#[derive(Debug)]
struct Score {
    action: f64,
    phase: f64,
    contested: f64,
    /// Correct actions, among the moments that are not contested.
    right: f64,
}

/// The scores that `next_dev` and `next_more` must reach, and for `contested` must not exceed. Tighten them when a rule
/// improves a score.
const FLOORS: [Score; 2] = [
    Score { action: 85.0, phase: 89.5, contested: 12.0, right: 89.7 },
    Score { action: 84.5, phase: 88.5, contested: 15.0, right: 92.5 },
];

impl Score {
    fn of(answers: &[Answer]) -> Self {
        let count = |is: fn(&Answer) -> bool| answers.iter().filter(|answer| is(answer)).count();
        let percent = |part: usize, of: usize| {
            f64::from(u32::try_from(part * 1000 / of.max(1)).unwrap()) / 10.0
        };
        let (all, sure) = (answers.len(), count(|one| !one.is_contested));
        Self {
            action: percent(count(|one| one.is_right), all),
            phase: percent(count(|one| one.is_right_in_phase), all),
            contested: percent(all - sure, all),
            right: percent(count(|one| one.is_right && !one.is_contested), sure),
        }
    }

    #[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
    fn is_above(&self, name: &str, floor: &Self) {
        println!("{name}: {self:?}");
        let is_above = self.action >= floor.action
            && self.phase >= floor.phase
            && self.contested <= floor.contested
            && self.right >= floor.right;
        assert!(is_above, "{name}: {self:?}, below {floor:?}");
    }
}

/// Returns the rows of a table of rules.
fn rows<A, O, const COUNT: usize>(rules: [Rule<'_, A, O>; COUNT]) -> Vec<String> {
    rules.into_iter().map(|rule| format!("| {} | {} |", rule.name, rule.reason)).collect()
}

#[test]
fn the_documented_rules_are_those_that_decide() {
    let docs = read::users_bytes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md"));
    let docs = String::from_utf8(docs.unwrap().unwrap()).unwrap();
    let tables = [
        ("### 1. Scope", rows(Case::MEMBERSHIP)),
        ("### 2. State", rows(Case::STATES)),
        ("### 3. Cursor", rows(Case::CURSOR)),
        ("### 4. Next", rows(Case::ACTIONS)),
        ("### 5. What comes first", rows(Case::GATES)),
        ("### 6. What else", rows(Case::RIVALS)),
        ("### 7. What is settled", rows(Case::SETTLED)),
    ];
    for (heading, rows) in tables {
        let (_, section) = docs.split_once(heading).unwrap();
        let lines = section.lines().skip_while(|line| !line.starts_with("|---"));
        let table: Vec<&str> = lines.skip(1).take_while(|line| line.starts_with('|')).collect();
        assert_eq!(table, rows, "{heading}");
    }
}

/// What a rule wins and loses in each project: answers, or for a contest marks at wrong and at right answers.
type Price<'m> = BTreeMap<&'m str, (usize, usize)>;

/// Returns what a rule wins in all projects but one, what it loses there, and in how many it wins more than it loses.
fn summed(price: &Price<'_>, without: Option<&str>) -> (usize, usize, usize) {
    let of = price.iter().filter(|(project, _)| Some(**project) != without);
    of.fold((0, 0, 0), |sum, (_, (won, lost))| {
        (sum.0 + won, sum.1 + lost, sum.2 + usize::from(won > lost))
    })
}

/// Returns whether a rule is worth its price: a contest, if a third of what it marks is wrong.
fn is_worth((won, lost, projects): (usize, usize, usize), is_contest: bool) -> bool {
    let earns = if is_contest { won * 3 >= won + lost } else { won >= lost + LEAST };
    earns && won >= LEAST && projects >= LEAST
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
#[expect(clippy::disallowed_methods, reason = "the folder of the histories is given by a variable")]
fn every_rule_is_worth_its_price() {
    let Some(folder) = std::env::var_os("ANNALS_HISTORIES") else {
        let required = std::env::var("ANNALS_REQUIRE").unwrap_or_default();
        assert!(!required.contains("histories"), "ANNALS_HISTORIES names no histories");
        let line = "SKIPPED every_rule_is_worth_its_price: ANNALS_HISTORIES names no histories";
        writeln!(std::io::stderr(), "{line}").unwrap();
        return;
    };
    let kept = tempfile::tempdir().unwrap();
    let moments = moments(Path::new(&folder), &kept);
    let whole = on_two_threads(&moments, |moment| moment.answer(&[]));
    let known: Vec<(&Moment, &Answer)> = moments.iter().zip(&whole).collect();
    let (dev, more) = whole.split_at(465.min(whole.len()));
    Score::of(dev).is_above("dev", &FLOORS[0]);
    Score::of(more).is_above("more", &FLOORS[1]);
    let is_contest = |name: &str| Case::RIVALS.into_iter().any(|rule| rule.name == name);
    let settles = |name: &str| Case::SETTLED.into_iter().any(|rule| rule.name == name);
    let mut prices: Vec<(&'static str, Price<'_>)> = Vec::new();
    for name in names() {
        let mut price = Price::new();
        let without = on_two_threads(&known, |(moment, with)| moment.answer_without(&[name], with));
        for ((moment, with), without) in known.iter().zip(without) {
            let (won, lost) = if is_contest(name) {
                let marks = with.is_contested && !without.is_contested;
                (marks && !with.is_right, marks && with.is_right)
            } else if settles(name) {
                let clears = without.is_contested && !with.is_contested;
                (clears && with.is_right, clears && !with.is_right)
            } else {
                (with.is_right && !without.is_right, without.is_right && !with.is_right)
            };
            let of = price.entry(&moment.project).or_default();
            *of = (of.0 + usize::from(won), of.1 + usize::from(lost));
        }
        prices.push((name, price));
    }
    let needed = |name: &str| NEEDED.iter().find(|(rule, _)| *rule == name).map(|(_, kind)| *kind);
    let mut cheap = Vec::new();
    for (name, price) in &prices {
        let sum = summed(price, None);
        let (won, lost, projects) = sum;
        let is_worth = is_worth(sum, is_contest(name));
        let remark = if is_worth { "" } else { needed(name).unwrap_or("BELOW THE PRICE") };
        println!("{name}: won {won}, lost {lost}, in {projects} projects; {remark}");
        cheap.extend((!is_worth && needed(name).is_none()).then_some(*name));
    }
    // For each project, the table that would have been chosen without it.
    let chosen = |moment: &Moment| -> Vec<&'static str> {
        let is_off = |(name, price): &&(&'static str, Price<'_>)| {
            let others = summed(price, Some(&moment.project));
            needed(name).is_none() && !is_worth(others, is_contest(name))
        };
        prices.iter().filter(is_off).map(|(name, _)| *name).collect()
    };
    let left_out =
        on_two_threads(&known, |(moment, with)| moment.answer_without(&chosen(moment), with));
    println!("each project by the table chosen without it: {:?}", Score::of(&left_out));
    // They go one at a time, the cheapest first, since two rules can cover each other.
    assert!(cheap.is_empty(), "below the price: {cheap:?}");
}

/// Returns the next action of a planning folder, and what else may be next: `execute 2, or plan 3`, `execute 2 (plan 3)`.
fn answer(files: &[(&str, &str)]) -> String {
    let tree = Tree::new(&[]);
    for (path, text) in files {
        tree.write(&format!(".planning/{path}"), text);
    }
    let request = OpenRequest { directory: tree.at(""), ..OpenRequest::default() };
    let next = Survey::read(&Project::open(request).unwrap()).unwrap().position.next;
    let show = |action: Action, phase: &Option<PhaseNumber>| {
        let word = format!("{action:?}").to_lowercase();
        phase.as_ref().map_or(word.clone(), |phase| format!("{word} {phase}"))
    };
    let first = show(next.action, &next.phase);
    match next.alternative {
        Some(other) if next.conflict => {
            format!("{first}, or {}", show(other.action, &other.phase))
        }
        Some(other) => format!("{first} ({})", show(other.action, &other.phase)),
        None => first,
    }
}

const THREE: &str = "# Roadmap\n\n- [x] **Phase 1: Gauges**\n- [ ] **Phase 2: Alerts**\n- [ ] **Phase 3: Report**\n";
const GAUGES: [(&str, &str); 2] =
    [("phases/01-gauges/01-01-PLAN.md", ""), ("phases/01-gauges/01-01-SUMMARY.md", "# Summary\n")];

/// Returns the answer for three phases, the first of which is done.
fn of_three(files: &[(&str, &str)]) -> String {
    let roadmap = [("ROADMAP.md", THREE)];
    answer(&[&roadmap, &GAUGES[..], files].concat())
}

/// Returns the answer for a finished first phase and another entry of the roadmap.
fn of_entry(entry: &str) -> String {
    let roadmap = format!("# Roadmap\n\n- [x] Phase 1: Gauges\n{entry}\n");
    answer(&[&[("ROADMAP.md", roadmap.as_str())], &GAUGES[..]].concat())
}

#[test]
fn a_box_with_another_mark_is_open() {
    for mark in ["~", "/", ">", "!", "\u{1f6a7}", "WIP"] {
        assert_eq!(of_entry(&format!("- [{mark}] **Phase 2: Alerts**")), "plan 2", "{mark}");
    }
}

#[test]
fn an_entry_that_is_not_read_is_no_reason_to_ship() {
    for entry in [
        "- [o] Phase 2: Alerts",
        "-[ ] Phase 2: Alerts",
        "**Phase 2: Alerts**",
        "- [ ] Phase-2: Alerts",
        "- [ ] Phases 2-3: Alerts and report",
        "- [ ] Stage 2: Alerts",
        "- [ ] Alerts (phase 2)",
        "  - [ ] Phase 1.1: Fix (INSERTED)",
        // The word without a number.
        "- [ ] **Final phase: Polish**",
        "- [ ] **Phase Polish**",
        "- [ ] **Final phase: Upgrade to Django v5.0**",
        "\n### Phase 1: Gauges\n\nShow.\n\n### Phase Polish",
        // A number without the word, in a heading or a row.
        "\n### 2. Alerts\n\nWarn.",
        "\n### 1. Gauges\n\nShow.\n\n### 2 - Alerts",
        "\n| 2 | Alerts | Pending |",
        "\n| | | |\n|---|---|---|\n| 2 | Alerts | Pending |",
        "\n| 1 | Gauges | Complete |\n|---|---|---|\n| 2 | Alerts | Pending |",
        // An id of which only a part is read.
        "- [ ] Phase 1-B: Alerts",
        "- [ ] Phase 1.b: Alerts",
    ] {
        assert_eq!(of_entry(entry), "unknown", "{entry}");
    }
    for entry in [
        "- [x] Phase 1: Gauges",
        "- [x] Kick-off",
        "Phase 1: all of it is done",
        "  - Phase 3: a later idea",
        "- [ ] Milestone v1.1: more",
        "- [ ] ~~2. Alerts~~",
        "\n### 1. Risks\n\nFew.\n\n### 2. Costs",
        "\n### Phase 1: Gauges\n\n#### 2. Alerts",
        "\n## 2026: a year\n\n## 2 pages",
        "\n| 2 | Alerts | Complete |",
        "\n| Requirement | Status |\n|---|---|\n| 2. Alerts | Pending |",
        "\nCoverage:\n\n- [ ] REQ-1: counted",
        "\n## Later\n\n- Phase 3: Mobile\n\nPhase 4: another",
        "\n<details>\n<summary>v0.9</summary>\n\n- Phase 9: shipped long ago\n\n</details>",
        "\n## Again\n\n- [x] **Phase 1: The gauges** - all of them",
    ] {
        assert_eq!(of_entry(entry), "ship", "{entry}");
    }
}

#[test]
fn a_summary_whose_status_is_not_understood_does_not_finish_its_plan() {
    let of = |status: &str| {
        let text = format!("---\nstatus: {status}\n---\n");
        let summary = ("phases/02-alerts/02-01-SUMMARY.md", text.as_str());
        of_three(&[("phases/02-alerts/02-01-PLAN.md", ""), summary])
    };
    assert_eq!(of("rolled_back"), "execute 2");
    assert_eq!(of("needs_review"), "execute 2");
    assert_eq!(of("superseded"), "plan 3");
    assert_eq!(of("completed"), "plan 3");
    assert_eq!(of("implemented"), "plan 3");
    assert_eq!(of("\u{2705}"), "plan 3");
}

#[test]
fn where_work_is_not_read_no_first_phase_is_planned() {
    for plan in [
        "phases/01-01-PLAN.md",
        "Phases/01-gauges/01-01-PLAN.md",
        "phases/01-gauges/PLAN-A.md",
        "phases/01-gauges/01-01-PLAN.txt",
        "phases/01-gauges/01-01-PLAN-REVISED.md",
        "phases/gauges/01-PLAN.md",
        "one/phases/01-gauges/01-01-PLAN.md",
        "plans/01-01-PLAN.md",
    ] {
        let files = [("ROADMAP.md", "# Roadmap\n\n- [ ] Phase 1: Gauges\n"), (plan, "")];
        assert_eq!(answer(&files), "unknown", "{plan}");
    }
}

#[test]
fn a_text_about_plans_is_none() {
    for name in ["02-PLAN-OUTLINE.md", "plan-review.md", "ROLLBACK-PLAN.md", "test-plan.md"] {
        assert_eq!(of_three(&[(&format!("phases/02-alerts/{name}"), "")]), "plan 2", "{name}");
    }
    assert_eq!(of_three(&[("history/phases/01-old/01-01-PLAN.md", "")]), "plan 2");
}

#[test]
fn a_summary_that_says_when_it_was_completed_is_filled_in() {
    let of = |front: &str| {
        let text = format!("---\n{front}\n---\n# Summary\n");
        let summary = ("phases/02-alerts/02-01-SUMMARY.md", text.as_str());
        of_three(&[("phases/02-alerts/02-01-PLAN.md", ""), summary])
    };
    assert_eq!(of("status: [complete]"), "plan 3");
    assert_eq!(of("status:\ncompleted: 2026-03-01"), "plan 3");
    assert_eq!(of("status:\ncompleted: {date}"), "execute 2");
}

#[test]
fn a_dropped_plan_leaves_a_phase_that_state_md_calls_ready_to_plan() {
    let plan = ("phases/02-alerts/02-01-PLAN.md", "---\nstatus: superseded\n---\n");
    let state = "# State\n\nPhase: 2 of 3 (Alerts)\nStatus: Ready to plan\n";
    assert_eq!(of_three(&[plan]), "plan 3");
    assert_eq!(of_three(&[plan, ("STATE.md", state)]), "plan 2");
}

#[test]
fn an_old_copy_of_a_check_decides_nothing() {
    let of = |name: &str| {
        let check = (&*format!("phases/01-gauges/{name}"), "---\nstatus: issues_found\n---\n");
        of_three(&[check])
    };
    assert_eq!(of("01-UAT-old.md"), "plan 2");
    assert_eq!(of("01UAT.md"), "remediate 1");
}

#[test]
fn an_empty_folder_of_phases_hides_no_workstreams() {
    let plan = "workstreams/api/phases/01-gauges/01-01-PLAN.md";
    let roadmap = ("workstreams/web/ROADMAP.md", "# Roadmap\n");
    let files = [("phases/.gitkeep", ""), (plan, ""), roadmap];
    assert_eq!(answer(&files), "unknown");
    assert_eq!(answer(&files[..2]), "execute 1");
}

#[test]
fn the_phases_of_the_open_milestone_may_be_in_two_folders() {
    for live in ["milestones/v1.1-phases/02-alerts", "milestones/v1.1/phases/02-alerts"] {
        let files = [
            ("STATE.md", "---\nmilestone: v1.1\n---\n# State\n\nPhase: 2 (Alerts)\n"),
            ("ROADMAP.md", THREE),
            (&format!("{live}/02-01-PLAN.md"), ""),
            (&format!("{live}/02-01-SUMMARY.md"), ""),
            (&format!("{live}/02-02-PLAN.md"), ""),
        ];
        assert_eq!(answer(&[&files, &GAUGES[..]].concat()), "execute 2", "{live}");
        for archived in ["v1.1-ROADMAP.md", "v1.1/ROADMAP.md", "v1.1/SHIPPED.md"] {
            let archived = format!("milestones/{archived}");
            let is_it = live.contains("v1.1/") || archived.ends_with("v1.1-ROADMAP.md");
            let answer = answer(&[&files, &GAUGES[..], &[(&archived, "# Roadmap\n")]].concat());
            assert_eq!(answer, if is_it { "plan 2" } else { "execute 2" }, "{live}, {archived}");
        }
    }
}

#[test]
fn what_the_roadmap_lists_may_be_in_an_archive_of_any_name() {
    let archived = "milestones/old/phases/01-gauges";
    for (name, expected) in [("Gauges", "none"), ("Alerts", "ship")] {
        let files = [
            ("ROADMAP.md", &*format!("# Roadmap\n\n- [x] Phase 1: {name}\n")),
            (&format!("{archived}/01-01-PLAN.md"), ""),
            (&format!("{archived}/01-01-SUMMARY.md"), "# Summary\n"),
        ];
        assert_eq!(answer(&files), expected, "{name}");
    }
}

#[test]
fn a_partial_or_failed_plan_is_open_work() {
    for status in ["partial", "failed"] {
        let text = format!("---\nstatus: {status}\n---\n");
        let summary = ("phases/02-alerts/02-01-SUMMARY.md", text.as_str());
        let plan = ("phases/02-alerts/02-01-PLAN.md", "");
        assert_eq!(of_three(&[plan, summary]), "execute 2", "{status}");
        // It does not hold the project once the work has gone on.
        let later = [
            ("phases/03-report/03-01-PLAN.md", ""),
            ("phases/03-report/03-01-SUMMARY.md", "# Summary\n"),
            ("phases/03-report/03-02-PLAN.md", ""),
        ];
        let state = ("STATE.md", "# State\n\nPhase: 2 of 3 (Alerts)\n");
        let files = [&[plan, summary, state], &later[..]].concat();
        assert_eq!(of_three(&files), "execute 3, or execute 2", "{status}");
    }
}

#[test]
fn a_plan_that_will_not_be_done_needs_no_summary() {
    let done = [
        ("phases/02-alerts/02-01-PLAN.md", ""),
        ("phases/02-alerts/02-01-SUMMARY.md", "# Summary\n"),
    ];
    for front in
        ["status: superseded", "status: cancelled", "superseded_by: 02-03", "status: deferred"]
    {
        let text = format!("---\nplan: 02\n{front}\n---\n");
        let left = [("phases/02-alerts/02-02-PLAN.md", text.as_str())];
        assert_eq!(of_three(&[&done[..], &left].concat()), "plan 3", "{front}");
    }
}

#[test]
fn an_open_plan_behind_is_named_beside_the_answer() {
    let added = [("phases/01-gauges/01-02-PLAN.md", "")];
    assert_eq!(of_three(&added), "plan 2, or execute 1");
}

#[test]
fn the_planning_of_a_discussed_phase_is_not_contested() {
    let files = [("ROADMAP.md", THREE), GAUGES[1]];
    assert_eq!(answer(&files), "plan 2, or execute 1");
    let discussed = [&files[..], &[("phases/02-alerts/02-CONTEXT.md", "")]].concat();
    assert_eq!(answer(&discussed), "plan 2 (execute 1)");
}

#[test]
fn a_pointer_that_jumps_over_phases_never_begun_is_contested() {
    let list: String = (1..=9).map(|n| format!("- [ ] **Phase {n}: Step**\n")).collect();
    let roadmap = format!("# Roadmap\n\n{list}");
    let state = "# State\n\nPhase: 9 of 9\nStatus: Ready to plan\n";
    let files = [("ROADMAP.md", roadmap.as_str()), ("STATE.md", state)];
    let files = [&files, &GAUGES[..]].concat();
    assert_eq!(answer(&files), "plan 9, or plan 2");
}

#[test]
fn a_ticked_phase_without_plans_that_has_not_started_is_contested() {
    let roadmap = THREE.replace("[ ]", "[x]");
    let state = "# State\n\nPhase: 3\nPlan: Not started\nStatus: Ready to plan\n";
    let files = [("ROADMAP.md", roadmap.as_str()), ("STATE.md", state)];
    assert_eq!(answer(&[&files, &GAUGES[..]].concat()), "ship, or plan 3");
}

#[test]
fn a_phase_that_is_called_complete_without_any_file_is_contested() {
    let state = "# State\n\nPhase: 2 (Alerts) — COMPLETE\nPlan: 3 of 3\n";
    assert_eq!(of_three(&[("STATE.md", state)]), "plan 2, or plan 3");
    let listed = "# State\n\nPhase: 2\n\n## Phase Status\n\n- **Phase 2:** Complete\n";
    assert_eq!(of_three(&[("STATE.md", listed)]), "plan 2, or plan 3");
    let planned = ("phases/02-alerts/02-CONTEXT.md", "");
    assert_eq!(of_three(&[("STATE.md", state), planned]), "plan 2");
}

#[test]
fn a_check_that_is_left_is_named_until_its_phase_is_ticked() {
    let roadmap =
        ("ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: Gauges**\n- [ ] **Phase 2: Alerts**\n");
    let check = ("phases/01-gauges/01-VERIFICATION.md", "---\nstatus: human_needed\n---\n");
    let next = [
        ("phases/02-alerts/02-01-PLAN.md", ""),
        ("phases/02-alerts/02-01-SUMMARY.md", "# Summary\n"),
        ("phases/02-alerts/02-02-PLAN.md", ""),
    ];
    let files = [&GAUGES[..], &[check], &next].concat();
    assert_eq!(answer(&[&[roadmap], &files[..]].concat()), "execute 2 (verify 1)");
    assert_eq!(of_three(&files[2..]), "execute 2");
}

#[test]
fn a_check_that_only_state_md_names_is_an_alternative_and_contests_shipping_while_it_goes_on() {
    let roadmap = "# Roadmap\n\n- [ ] **Phase 1: Gauges**\n";
    let of = |roadmap: &str, status: &str| {
        let state = format!("# State\n\nPhase: 1 (Gauges)\nStatus: {status}\n");
        let files = [("ROADMAP.md", roadmap), ("STATE.md", &state)];
        answer(&[&files, &GAUGES[..]].concat())
    };
    let ready = "Phase complete — ready for verification";
    assert_eq!(of(roadmap, ready), "ship (verify 1)");
    assert_eq!(of(roadmap, "verifying"), "ship, or verify 1");
    assert_eq!(of(&roadmap.replace("[ ]", "[x]"), "verifying"), "ship");
    assert_eq!(of(&THREE.replace("[x]", "[ ]"), ready), "plan 2 (verify 1)");
}

#[test]
fn a_milestone_ends_before_the_later_ones_that_the_roadmap_lists() {
    let roadmap = "# Roadmap\n\n### \u{1f6a7} v1.1 Gauges (In Progress)\n\n#### Phase 1: Gauges\n\n\
                   ### \u{1f4cb} v2.0 Alerts (Planned)\n\n#### Phase 2: Alerts\n";
    let of = |state: &str, files: &[(&str, &str)]| {
        let documents = [("ROADMAP.md", roadmap), ("STATE.md", state)];
        answer(&[&documents, &GAUGES[..], files].concat())
    };
    let state = "---\nmilestone: v1.1\n---\n# State\n\nPhase: 1 (Gauges)\nStatus: Complete\n";
    assert_eq!(of(state, &[]), "ship, or plan 2");
    assert_eq!(of("# State\n\nPhase: 1 (Gauges)\nStatus: Complete\n", &[]), "ship, or plan 2");
    assert_eq!(of(&state.replace("v1.1", "v2.0"), &[]), "plan 2");
    assert_eq!(of(&state.replace("Phase: 1 (Gauges)", "Phase: 2 (Alerts)"), &[]), "plan 2");
    assert_eq!(of(state, &[("phases/02-alerts/02-CONTEXT.md", "")]), "plan 2");
    let shipped = ("MILESTONES.md", "# Milestones\n\n## v1.1 Gauges (Shipped: 2026-01-02)\n");
    assert_eq!(of(state, &[shipped]), "plan 2");
}

#[test]
fn a_phase_that_was_inserted_before_the_one_that_state_md_names_contests_it() {
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Gauges**\n- [ ] **Phase 01.1: Fix TLS** (INSERTED)\n\
                   - [ ] **Phase 2: Alerts**\n";
    let state = "# State\n\nPhase: 2 of 2 (Alerts)\nStatus: Ready to plan\n";
    let of = |roadmap: &str| {
        answer(&[&[("ROADMAP.md", roadmap), ("STATE.md", state)], &GAUGES[..]].concat())
    };
    assert_eq!(of(roadmap), "plan 2, or plan 1.1");
    assert_eq!(of(&roadmap.replace("- [ ] **Phase 01.1", "- [x] **Phase 01.1")), "plan 2");
}

#[test]
fn between_milestones_the_last_one_is_named() {
    let roadmap = "# Roadmap\n\n- ✅ **v1.2 Base** - Phases 1-2 (shipped 2026-01-02)\n\n\
                   ## Milestones\n\n- ✅ **v1.9 Old** - Phases 1-1 (shipped 2026-01-02)\n\
                   - ✅ **v1.10 Loans** - Phases 2-2 (shipped 2026-02-02)\n";
    let state = "---\nmilestone: none\nstatus: idle\n---\n# State\n";
    assert_eq!(answer(&[("ROADMAP.md", roadmap), ("STATE.md", state)]), "none");
    let named = "---\nmilestone: v2.0\n---\n# State\n";
    assert_eq!(answer(&[("ROADMAP.md", roadmap), ("STATE.md", named)]), "plan 1");
    let written_up = [("phases/02-loans/02-01-SUMMARY.md", "# Summary\n")];
    let files = [("ROADMAP.md", roadmap), ("STATE.md", state)];
    assert_eq!(answer(&[&files, &written_up[..]].concat()), "none");
}

#[test]
fn folders_before_a_restart_of_the_numbers_are_left_alone() {
    let state = ("STATE.md", "# State\n\nPhase: 1 of 3 (Gauges)\n");
    let roadmap = THREE.replace("[x]", "[ ]");
    let files = [
        ("ROADMAP.md", roadmap.as_str()),
        state,
        ("phases/01-login/01-01-PLAN.md", ""),
        ("phases/01-login/01-01-SUMMARY.md", "# Summary\n"),
        ("phases/02-mail/02-01-PLAN.md", ""),
        ("phases/02-mail/02-01-SUMMARY.md", "# Summary\n"),
        ("phases/01-gauges/01-01-PLAN.md", ""),
    ];
    assert_eq!(answer(&files), "execute 1");
}

#[test]
fn what_is_not_understood_is_not_absent() {
    let roadmap = "# Roadmap\n\n- [ ] **Phase One: Gauges**\n- [ ] **Phase Two: Alerts**\n";
    assert_eq!(answer(&[("ROADMAP.md", roadmap)]), "unknown");
    let lost = [("phases/gauges/PLAN-01.md", ""), ("phases/gauges/PLAN-02.md", "")];
    assert_eq!(answer(&lost), "unknown");
    assert_eq!(answer(&[("PROJECT.md", "# Gauges\n")]), "plan 1");
    let steps = "# Roadmap\n\n## Step A - Gauges\n\n## Step B - Alerts\n";
    assert_eq!(answer(&[("ROADMAP.md", steps)]), "unknown");
    // Not phase 3.
    let roadmap = "# Roadmap\n\n- [ ] **Phase A-3: Gauges**\n";
    let files = [("ROADMAP.md", roadmap), ("phases/A-3-gauges/A-3-01-PLAN.md", "")];
    assert_eq!(answer(&files), "unknown");
}
