//! What each rule is worth: it is switched off on real histories, and the answers won and lost are counted.
//!
//! `ANNALS_HISTORIES` names a folder with `next_dev` and `next_more`, each a bundle of planning folders as they stood and
//! a list of what came next.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::plan::model::phases;
use crate::plan::rules::{OFF, contest, decide, next, scope, state};
use crate::plan::{Action, PhaseNumber, Position, Survey};
use crate::project::{OpenRequest, Project};
use crate::storage::read;

/// A rule that wins fewer answers, or in fewer projects, is removed.
const LEAST: usize = 3;

/// Rules below the price that stay, since a kind of situation or a workflow's documentation needs them.
const KEPT: &[&str] = &[];

/// A moment of a project's history.
struct Moment {
    project: String,
    survey: Survey,
    next: Vec<(String, Option<PhaseNumber>)>,
}

/// What an answer was worth.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Answer {
    is_right: bool,
    is_right_in_phase: bool,
    is_contested: bool,
}

type Texts = RefCell<HashMap<PathBuf, Option<String>>>;

impl Moment {
    fn answer(&self, texts: &Texts, off: &[&'static str]) -> Answer {
        OFF.set(off.to_vec());
        let text = |path: &Path| {
            let mut texts = texts.borrow_mut();
            let found = || read::text(path).ok().flatten().map(|text| text.value);
            texts.entry(path.to_owned()).or_insert_with(found).clone()
        };
        let position = decide(&self.survey, phases(&self.survey, &text), &text);
        OFF.set(Vec::new());
        self.judged(&position)
    }

    fn judged(&self, position: &Position) -> Answer {
        let next = &position.next;
        let word = serde_json::to_value(next.action).unwrap();
        let is_over = matches!(next.action, Action::Ship | Action::None);
        let ships = self.next.iter().any(|(action, _)| action == "ship");
        let mut same = self.next.iter();
        let is_right = same.any(|(action, phase)| {
            Value::from(action.as_str()) == word && (is_over || *phase == next.phase)
        });
        let is_right = is_right || is_over && ships;
        let same_phase = self.next.iter().any(|(_, phase)| phase.is_some() && *phase == next.phase);
        Answer {
            is_right,
            is_right_in_phase: is_right || same_phase,
            is_contested: next.rival().is_some(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test unpacks what a maintainer gave it")]
fn moments(folder: &Path, kept: &TempDir) -> Vec<Moment> {
    let mut moments = Vec::new();
    for name in ["next_dev", "next_more"] {
        let git = kept.path().join(name);
        let bundle = folder.join(format!("{name}.bundle"));
        let clone = Command::new("git").args(["clone", "-q", "--bare"]).arg(bundle).arg(&git).status();
        assert!(clone.unwrap().success());
        let rows = read::users_bytes(&folder.join(format!("{name}.jsonl"))).unwrap().unwrap();
        for (index, line) in String::from_utf8(rows).unwrap().lines().enumerate() {
            let row: Value = serde_json::from_str(line).unwrap();
            let snapshot = row["snapshot"].as_str().unwrap();
            let dir = kept.path().join(format!("{name}-{index}"));
            std::fs::create_dir(&dir).unwrap();
            let mut archive = Command::new("git");
            let archive = archive.arg("--git-dir").arg(&git).args(["archive", snapshot]);
            let archive = archive.stdout(Stdio::piped()).spawn().unwrap();
            let tar = Command::new("tar").arg("-xC").arg(&dir).stdin(archive.stdout.unwrap()).status();
            assert!(tar.unwrap().success());
            let request = OpenRequest { directory: dir, ..OpenRequest::default() };
            let survey = Survey::read(&Project::open(request).unwrap()).unwrap();
            let step = |step: &Value| {
                let phase = step[1].as_str().and_then(|phase| {
                    PhaseNumber::parse_id(phase).or_else(|| Some(PhaseNumber::split(phase)?.0))
                });
                (step[0].as_str().unwrap().to_owned(), phase)
            };
            let next = row["next"].as_array().unwrap().iter().map(step).collect();
            let project = snapshot.rsplit_once('/').unwrap().0.to_owned();
            moments.push(Moment { project, survey, next });
        }
    }
    moments
}

fn names() -> Vec<&'static str> {
    let scope = scope::RULES.iter().map(|rule| rule.name);
    let state = state::RULES.iter().map(|rule| rule.name);
    let cursor = next::CURSOR.iter().map(|rule| rule.name);
    let next = next::RULES.iter().map(|rule| rule.name).chain(next::GATES.iter().map(|rule| rule.name));
    let contest = contest::RULES.iter().map(|rule| rule.name);
    scope.chain(state).chain(cursor).chain(next).chain(contest).collect()
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * crate::plan::ratio(part, of.max(1))
}

#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn print_score(name: &str, answers: &[Answer]) {
    let count = |is: fn(&Answer) -> bool| answers.iter().filter(|answer| is(answer)).count();
    let (all, sure) = (answers.len(), count(|one| !one.is_contested));
    println!(
        "{name}: {all} moments, action {:.1} %, phase {:.1} %, contested {:.1} %, of the others {:.1} % right",
        percent(count(|one| one.is_right), all),
        percent(count(|one| one.is_right_in_phase), all),
        percent(all - sure, all),
        percent(count(|one| one.is_right && !one.is_contested), sure)
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn every_rule_is_worth_its_price() {
    let Some(folder) = std::env::var_os("ANNALS_HISTORIES") else {
        println!("skipped: ANNALS_HISTORIES names no histories");
        return;
    };
    let kept = tempfile::tempdir().unwrap();
    let moments = moments(Path::new(&folder), &kept);
    let texts: Vec<Texts> = moments.iter().map(|_| Texts::default()).collect();
    let answers = |off: &[&'static str]| -> Vec<Answer> {
        moments.iter().zip(&texts).map(|(moment, texts)| moment.answer(texts, off)).collect()
    };
    let whole = answers(&[]);
    print_score("dev", &whole[..465.min(whole.len())]);
    print_score("more", &whole[465.min(whole.len())..]);
    let contests: Vec<&str> = contest::RULES.iter().map(|rule| rule.name).collect();
    let mut nets: BTreeMap<&'static str, BTreeMap<&str, (usize, usize)>> = BTreeMap::new();
    let mut cheap = Vec::new();
    for name in names() {
        let without = answers(&[name]);
        let is_contest = contests.contains(&name);
        // A contest wins where it marks a wrong answer, and loses where it marks a right one.
        let net = nets.entry(name).or_default();
        for ((moment, with), without) in moments.iter().zip(&whole).zip(&without) {
            let (won, lost) = if is_contest {
                let marks = with.is_contested && !without.is_contested;
                (marks && !with.is_right, marks && with.is_right)
            } else {
                (with.is_right && !without.is_right, without.is_right && !with.is_right)
            };
            let of = net.entry(&moment.project).or_default();
            *of = (of.0 + usize::from(won), of.1 + usize::from(lost));
        }
        let sum = |pick: fn(&(usize, usize)) -> usize| net.values().map(pick).sum::<usize>();
        let (won, lost) = (sum(|one| one.0), sum(|one| one.1));
        let projects = net.values().filter(|(won, lost)| won > lost).count();
        let earns = if is_contest { won * 3 >= won + lost } else { won >= lost + LEAST };
        let is_worth = earns && won >= LEAST && projects >= LEAST;
        println!("{name}: won {won}, lost {lost}, in {projects} projects{}", if is_worth { "" } else { " (cheap)" });
        if !is_worth && !KEPT.contains(&name) {
            cheap.push(name);
        }
    }
    let mut left_out = Vec::new();
    for (moment, texts) in moments.iter().zip(&texts) {
        let off: Vec<&'static str> = nets
            .iter()
            .filter(|(name, _)| !KEPT.contains(name) && !contests.contains(name))
            .filter(|(_, net)| {
                let others = || net.iter().filter(|(project, _)| **project != moment.project);
                let won: usize = others().map(|(_, (won, _))| won).sum();
                let lost: usize = others().map(|(_, (_, lost))| lost).sum();
                let projects = others().filter(|(_, (won, lost))| won > lost).count();
                won < lost + LEAST || projects < LEAST
            })
            .map(|(name, _)| *name)
            .collect();
        left_out.push(moment.answer(texts, &off));
    }
    print_score("each project by the table chosen without it", &left_out);
    assert!(cheap.is_empty(), "below the price: {cheap:?}");
}
