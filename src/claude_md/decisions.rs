//! Selects the decisions that a new session must know: the newest, and the most important of the older ones.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::NaiveDate;

use crate::patterns;
use crate::patterns::ContentWords;
use crate::plan::document::is_lead;
use crate::plan::read::vocabulary::{begins, has};
use crate::plan::{Decision, PhaseNumber, Survey};
use crate::text::{Pattern, fold, is_absent, lower_words, negates, non_placeholder, words_in};

/// Number of decisions in the block.
pub(crate) const MAX_DECISIONS: usize = 10;

/// The same next to a long text of the user.
pub(crate) const FEW_DECISIONS: usize = 5;

/// How many of ten decisions may be older but more important ones.
const HELD: usize = 3;

/// How many of ten may be from PROJECT.md's own table, which comes first.
const CURATED: usize = 3;

/// Maximum number of decisions from one plan.
const MAX_PER_PLAN: usize = 3;

/// Maximum length of a decision with its reason, in characters. A shorter one would cut off what follows a semicolon or
/// a colon, which is often the rule itself.
const MAX_CHARS: usize = 240;

/// Number of decisions that a block should have; if fewer are short enough, longer ones may stand in it.
const MIN_DECISIONS: usize = 5;

/// The file that a list of decisions is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionFile {
    /// PROJECT.md.
    Project,
    /// STATE.md.
    #[default]
    State,
}

/// Decisions from one source, in file order.
#[derive(Debug, Default)]
pub struct DecisionList {
    /// The file.
    pub file: DecisionFile,
    /// The heading above them, which may state their order.
    pub heading: Option<String>,
    /// The decisions.
    pub decisions: Vec<Decision>,
}

/// Returns the decisions of STATE.md, one list per heading, followed by those of PROJECT.md, without those about the
/// phases of a milestone that has shipped, which only ordered its work.
pub(crate) fn lists(survey: &Survey) -> Vec<DecisionList> {
    let is_of_shipped = |decision: &Decision| {
        let phases = survey.numbering.phases_in(&decision.text);
        !phases.is_empty()
            && !phases.iter().any(|number| {
                survey.position.with_number(number).any(|phase| phase.is_in_milestone)
            })
    };
    let lists = [
        (DecisionFile::State, &survey.state.decisions),
        (DecisionFile::Project, &survey.project_file.decisions),
    ];
    let mut found = Vec::new();
    for (file, list) in lists {
        for group in list.chunk_by(|one, next| one.heading == next.heading) {
            let heading = group.first().and_then(|first| first.heading.clone());
            let decisions =
                group.iter().filter(|decision| !is_of_shipped(decision)).cloned().collect();
            found.push(DecisionList { file, heading, decisions });
        }
    }
    found
}

/// A decision with the file it is from, and its statement if it was selected.
pub(crate) type Ranked<'a> = (&'a Decision, DecisionFile, Option<String>);

/// Selects at most `most` decisions, and returns these with their statements and all other valid ones; both newest first
/// and without repetitions.
pub(crate) fn select<'a>(ranked: &[Placed<'a>], most: usize) -> (Vec<Ranked<'a>>, Vec<Ranked<'a>>) {
    let all = || 0..ranked.len();
    let (curated, logged): (Vec<_>, Vec<_>) = all().partition(|at| ranked[*at].is_curated);
    let mut weightiest: Vec<usize> = all().collect();
    weightiest.sort_by_key(|at| Reverse(ranked[*at].impact));
    let of_ten = |count: usize| count * most / 10;
    let parts = [(curated, of_ten(CURATED)), (logged, most - of_ten(HELD)), (weightiest, most)];
    let has_few = ranked
        .iter()
        .filter(|placed| decision_statement(placed.decision).is_some())
        .take(MIN_DECISIONS)
        .count()
        < MIN_DECISIONS;
    let mut of_plan: HashMap<&str, usize> = HashMap::new();
    let mut shown: Vec<(usize, ContentWords, BTreeSet<String>, String)> = Vec::new();
    for (at, room) in
        parts.into_iter().flat_map(|(part, room)| part.into_iter().map(move |at| (at, room)))
    {
        if shown.len() >= room || shown.iter().any(|(other, ..)| at == *other) {
            continue;
        }
        let decision = ranked[at].decision;
        let is_room = has_few && shown.len() < MIN_DECISIONS;
        let Some(text) = decision_statement(decision)
            .or_else(|| statement_within(2 * MAX_CHARS, decision).filter(|_| is_room))
        else {
            continue;
        };
        let words = ContentWords::from_text(&text);
        let limits = restrictions_and_numbers(&text);
        let count = plan(decision).map(|plan| of_plan.entry(plan).or_default());
        if count.as_ref().is_some_and(|count| **count >= MAX_PER_PLAN)
            || shown
                .iter()
                .any(|(_, known, of_other, _)| limits == *of_other && known.includes(&words))
        {
            continue;
        }
        if let Some(count) = count {
            *count += 1;
        }
        shown.push((at, words, limits, text));
    }
    let mut texts: HashMap<usize, String> =
        shown.into_iter().map(|(at, .., text)| (at, text)).collect();
    ranked
        .iter()
        .enumerate()
        .map(|(at, placed)| (placed.decision, placed.file, texts.remove(&at)))
        .partition(|(.., text)| text.is_some())
}

/// Returns the numbers of a text, and its words that restrict or reverse what it says: texts that differ in these do not
/// repeat each other.
fn restrictions_and_numbers(text: &str) -> BTreeSet<String> {
    lower_words(text)
        .filter(|word| negates(word) || has("restriction", word) || word.contains(char::is_numeric))
        .collect()
}

/// Returns a decision as whole sentences, with its reason or the sentences of it that fit, or `None` if it does not fit
/// untruncated.
pub(crate) fn decision_statement(decision: &Decision) -> Option<String> {
    statement_within(MAX_CHARS, decision)
}

/// Returns the statement of a decision in at most `most` characters.
///
/// A single word, such as a version, is meaningless without its reason: it is left out if not even the reason's
/// first sentence fits.
fn statement_within(most: usize, decision: &Decision) -> Option<String> {
    let text = patterns::statement(decision.untagged(), most)?;
    let is_new = |reason: &&str| !fold(&decision.text).contains(&fold(reason));
    let Some(reason) = reason(decision).filter(is_new) else { return Some(text) };
    let joint = if is_lead(&text) { " " } else { " \u{2014} " };
    let room = most.saturating_sub(text.chars().count() + joint.chars().count());
    let fitting = match reason.chars().count() <= room {
        true => Some(reason.to_owned()),
        false => patterns::statement(reason, room).filter(|reason| is_new(&reason.as_str())),
    };
    match fitting {
        Some(reason) => Some(format!("{text}{joint}{reason}")),
        None => Some(text).filter(|text| text.contains(char::is_whitespace)),
    }
}

fn reason(decision: &Decision) -> Option<&str> {
    decision.rationale.as_deref().and_then(non_placeholder)
}

/// The position of an undated decision in the project's plan: the milestone's version and the phase.
type Era = (Vec<u32>, Option<PhaseNumber>);

/// A decision with its place in the history of the project.
pub(crate) struct Placed<'a> {
    decision: &'a Decision,
    file: DecisionFile,
    /// Its own date, or that of its nearest dated neighbour.
    date: Option<NaiveDate>,
    /// Its own milestone and phase, or those of its neighbour.
    era: Era,
    /// Whether it is in PROJECT.md, without a date or phase: it is about the project as a whole.
    is_curated: bool,
    /// One point each for a reason, a binding word and a structural word.
    impact: u8,
}

/// Returns the valid decisions, newest first: by date, or else by phase. Without either, those of PROJECT.md come
/// first of all, and of the same list the last.
pub(crate) fn ranked(lists: &[DecisionList]) -> Vec<Placed<'_>> {
    // If STATE.md has a table, as in VBW, the project keeps its decisions there. GSD's STATE.md only logs what plans
    // decide, and refers to PROJECT.md.
    let has_own_table = lists.iter().any(|list| {
        list.file == DecisionFile::State
            && list.heading.as_deref().is_some_and(|heading| fold(heading) == "key decisions")
    });
    let mut lists: Vec<&DecisionList> = lists.iter().collect();
    lists.sort_by_key(|list| list.file);
    let mut all: Vec<Placed<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // Newest first, so that a repeated decision is kept at its newer position.
    for mut placed in lists
        .into_iter()
        .flat_map(|list| list.oldest_first().into_iter().rev())
        .filter(|placed| decides(placed.decision))
    {
        placed.is_curated &= !has_own_table;
        let at = *known.entry(fold(placed.decision.untagged())).or_insert(all.len());
        match all.get_mut(at) {
            None => all.push(placed),
            Some(kept) if kept.decision.rationale.is_none() => {
                (kept.decision, kept.file) = (placed.decision, placed.file);
            }
            Some(_) => {}
        }
    }
    // A stable sort: what has neither date nor era stays in the order of the files.
    all.sort_by(|a, b| (b.is_curated, &b.date, &b.era).cmp(&(a.is_curated, &a.date, &a.era)));
    let revoked = revoked(&all);
    all.retain(|placed| !revoked.contains(&std::ptr::from_ref(placed.decision)));
    all
}

/// Returns whether an entry decides something: it is neither empty nor struck out, nor only orders or logs work.
fn decides(decision: &Decision) -> bool {
    let text = decision.untagged();
    let lower = text.to_lowercase();
    // `[Roadmap]` tags what the roadmap says by itself, and what begins with a phase is about the plan, not the product.
    let is_of_roadmap =
        || decision.source.as_deref().is_some_and(|source| fold(source) == "roadmap");
    let only_orders = || ORDERS_WORK.is_match(&lower);
    let only_logs = || reason(decision).is_none() && patterns::tells_only_what_was_done(text);
    !is_absent(text)
        && !text.starts_with("~~")
        && patterns::numbered_task(&lower).is_none()
        && (is_binding(&lower) || !(is_of_roadmap() || only_orders() || only_logs()))
}

/// Text that only orders the work or says how far it is: it begins with the number of a phase or wave, says how many
/// phases there are, or names their order. Not `Phasing out X`, which is a decision.
static ORDERS_WORK: Pattern = Pattern::new(
    r"(?x) ^\**(?:phases?|waves?)\ *\d | ^\d+\ (?:\w+\ )?phases\b | \bphasing\W*$
        | \bbuild[\ -]order\w* | \bplanning[\ -]depth\b
        | \b(?:phases?|waves?|milestone|roadmap)[\ -]
          (?:order\w*|numbering|structure|derived|roadmap|milestone|depth|parallel\w*|created|approved|complete)\b",
);

fn is_binding(lower: &str) -> bool {
    words_in(lower).any(|word| has("binding", word))
}

/// Returns the decisions that another one revokes by id, where only one has it: `supersedes D-12`, `reversal of 02-01`.
fn revoked(all: &[Placed<'_>]) -> HashSet<*const Decision> {
    let ids: HashSet<String> = all
        .iter()
        .flat_map(|placed| REVOKED.captures_iter(&placed.decision.text))
        .map(|found| found[1].to_lowercase())
        .collect();
    // In one pass, since there may be thousands of both.
    let mut of_id: HashMap<&str, HashSet<*const Decision>> = HashMap::new();
    for placed in all.iter().filter(|_| !ids.is_empty()) {
        for id in placed.decision.possible_ids() {
            if let Some(id) = ids.get(&id) {
                of_id.entry(id).or_default().insert(placed.decision);
            }
        }
    }
    of_id.into_values().filter(|decisions| decisions.len() == 1).flatten().collect()
}

/// A word that revokes, and the id after it: `02-01` in `reversal of the 02-01 pattern`.
static REVOKED: Pattern = Pattern::new(
    r"(?i)\b(?:supersedes|reverses|reversal|replaces)\W+(?:(?:of|the|decision|plan)\W+)*(d-[\d.]*\d|\d[\d.]*-[\d.]*\d)\b",
);

/// Returns the plan that a decision came from, such as `02-03`, if its source is a plan.
fn plan(decision: &Decision) -> Option<&str> {
    decision.source.as_deref().filter(|source| PLAN.is_match(source))
}

static PLAN: Pattern = Pattern::new(r"\d.*-\d[^-]*$");

fn impact(decision: &Decision) -> u8 {
    let reason = reason(decision);
    let text = format!("{} {}", decision.text, reason.unwrap_or_default()).to_lowercase();
    let is_structural = words_in(&text).any(|word| begins("structure", word));
    u8::from(reason.is_some()) + u8::from(is_binding(&text)) + u8::from(is_structural)
}

/// Parses `[02-03]`, `Phase 6`, `v1.2 phase 4`, `3`; a date yields an empty era.
fn era(text: Option<&str>) -> Era {
    let Some(found) = text.and_then(|text| ERA.captures(text)) else { return Era::default() };
    let version = found.get(1).map_or("", |version| version.as_str()).split('.');
    let phase = found.get(2).and_then(|phase| PhaseNumber::parse(phase.as_str()));
    let version = version.filter_map(|part| part.parse().ok()).collect();
    (version, phase.filter(|phase| !phase.is_year()))
}

/// A milestone's version and a phase, at the start of a text.
static ERA: Pattern = Pattern::new(
    r"(?i)^\W*(?:(?:milestone\W+v?|v)(\d+(?:\.\d+)*)\b\W*)?(?:(?:phase|plan)\W+)*(\d[\w.]*)?",
);

impl DecisionList {
    /// Returns the decisions in chronological order; missing dates and eras are taken from their neighbours.
    fn oldest_first(&self) -> Vec<Placed<'_>> {
        let (heading_version, heading_phase) = era(self.heading.as_deref());
        let placed = self.decisions.iter().map(|decision| {
            let (mut version, phase) = era(decision.source.as_deref());
            if version.is_empty() {
                version.clone_from(&heading_version);
            }
            let era = (version, phase.or_else(|| heading_phase.clone()));
            let (date, impact) = (decision.date, impact(decision));
            Placed { decision, file: self.file, date, era, is_curated: false, impact }
        });
        let mut ordered: Vec<Placed<'_>> = placed.collect();
        if self.is_newest_first(&ordered) {
            ordered.reverse();
        }
        let is_known = |era: &&Era| **era != Era::default();
        let mut version: Vec<u32> = Vec::new();
        let mut day = ordered.iter().find_map(|placed| placed.date);
        let mut last = ordered.iter().map(|placed| &placed.era).find(is_known).cloned();
        for placed in &mut ordered {
            if placed.era.0.is_empty() && placed.era.1.is_some() {
                placed.era.0.clone_from(&version);
            }
            version = version.max(placed.era.0.clone());
            day = placed.date.or(day);
            placed.date = day;
            last = Some(placed.era.clone()).filter(|era| is_known(&era)).or(last);
            placed.era = last.clone().unwrap_or_default();
            placed.is_curated =
                self.file == DecisionFile::Project && day.is_none() && last.is_none();
        }
        ordered
    }

    /// Returns whether the list is newest first: by its heading, or else because most dates, or phases, descend.
    fn is_newest_first(&self, decisions: &[Placed<'_>]) -> bool {
        let heading = fold(self.heading.as_deref().unwrap_or_default());
        let says = |orders: &[&str]| orders.iter().any(|order| heading.contains(order));
        if says(&["newest first", "latest first", "most recent first", "reverse chronological"]) {
            return true;
        }
        if says(&["oldest first", "newest last", "chronological"]) {
            return false;
        }
        let days: Vec<NaiveDate> = decisions.iter().filter_map(|placed| placed.date).collect();
        if !days.is_empty() {
            return is_descending(&days);
        }
        is_descending(
            &decisions
                .iter()
                .map(|placed| &placed.era)
                .filter(|era| **era != Era::default())
                .collect::<Vec<_>>(),
        )
    }
}

/// Returns whether a list has more descending than ascending steps.
fn is_descending<T: PartialOrd>(list: &[T]) -> bool {
    let down = list.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let up = list.windows(2).filter(|pair| pair[0] < pair[1]).count();
    down > up
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(heading: &str, decisions: &[(&str, &str)]) -> DecisionList {
        let decision = |(text, at): &(&str, &str)| Decision {
            text: (*text).to_owned(),
            date: at.parse().ok(),
            source: Some((*at).to_owned()).filter(|at| !at.is_empty()),
            ..Decision::default()
        };
        DecisionList {
            heading: Some(heading.to_owned()),
            decisions: decisions.iter().map(decision).collect(),
            ..DecisionList::default()
        }
    }

    fn shown(lists: &[DecisionList]) -> String {
        let shown: Vec<String> = select(&ranked(lists), MAX_DECISIONS)
            .0
            .into_iter()
            .filter_map(|(.., text)| text)
            .collect();
        shown.join(" | ")
    }

    #[test]
    fn newest_come_first_whatever_the_order_of_the_file() {
        for decisions in [
            [("Use tabs", "2026-01-02"), ("Use SQLite", "2026-02-03")],
            [("Use SQLite", "2026-02-03"), ("Use tabs", "2026-01-02")],
            [("Use tabs", "01-01"), ("Use SQLite", "Phase 2")],
            [("Use SQLite", "v1.10 phase 1"), ("Use tabs", "v1.9 phase 7")],
            [("Use tabs", ""), ("Use SQLite", "")],
        ] {
            assert_eq!(
                shown(&[list("Decisions", &decisions)]),
                "Use SQLite | Use tabs",
                "{decisions:?}"
            );
        }
        let undated = [("Use SQLite", ""), ("Use tabs", "")];
        assert_eq!(shown(&[list("Decisions (newest first)", &undated)]), "Use SQLite | Use tabs");
    }

    #[test]
    fn project_md_comes_before_state_md_where_no_date_tells() {
        let state = list("Decisions", &[("Use tabs", "")]);
        let project = DecisionList {
            file: DecisionFile::Project,
            ..list("Key Decisions", &[("Use SQLite", "")])
        };
        assert_eq!(shown(&[state, project]), "Use SQLite | Use tabs");
    }

    #[test]
    fn of_five_decisions_three_are_the_newest_of_state_md() {
        let names: Vec<String> = (0..9).map(|n| format!("Choice number {n} of {n}")).collect();
        let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let project = DecisionList { file: DecisionFile::Project, ..list("", &all[..6]) };
        let lists = [list("Decisions", &all[6..]), project];
        let few = select(&ranked(&lists), FEW_DECISIONS).0;
        let shown: Vec<char> = few.iter().filter_map(|one| one.0.text.chars().last()).collect();
        assert_eq!(shown, ['5', '4', '8', '7', '6']);
    }

    #[test]
    fn what_only_logs_or_orders_work_is_no_decision() {
        let log = [
            ("Phase ordering: base before shelf", ""),
            ("Build order: base before shelf", ""),
            ("Parser landed in 02-01", ""),
            ("i18n files placed in `locales/`, as before", ""),
            ("Tasks 1 and 2 are one commit, since both must pass", ""),
            ("**Phase 1 (Base):** Complete (4 plans)", ""),
            ("Roadmap approved by the client", ""),
            ("~~Use XML~~", ""),
            ("_(No decisions yet)_", ""),
            ("Coarse phase structure", ""),
            ("3 plans with wave parallelism", ""),
            ("Milestone complete: all 4 phases done", ""),
            ("3 sequential phases, no waves", ""),
            ("Wave 1 parallel", ""),
            ("Domain-first phasing", ""),
            ("Phasing out jQuery", ""),
            ("Build structure follows the Bazel rules", ""),
            ("Test 3 browsers in CI", ""),
            ("Use tabs", ""),
            ("Files placed in `locales/` instead of `src/`", ""),
            ("All tests must run offline", ""),
            ("The lockfile must be committed", ""),
        ];
        assert_eq!(
            shown(&[list("Decisions", &log)]),
            "The lockfile must be committed | All tests must run offline | Files placed in `locales/` instead of `src/` | Use tabs | Test 3 browsers in CI | \
             Build structure follows the Bazel rules | Phasing out jQuery"
        );
    }

    #[test]
    fn a_long_sentence_is_shown_where_few_decisions_are() {
        let long =
            format!("Both machines append to one file{}", ", as they write at once".repeat(12));
        let few = [("Use tabs", ""), (long.as_str(), "")];
        assert_eq!(shown(&[list("Decisions", &few)]), format!("{long} | Use tabs"));
        let names: Vec<String> = (0..5).map(|n| format!("Choice number {n} of {n}")).collect();
        let mut all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        all.push((&long, ""));
        assert!(!shown(&[list("Decisions", &all)]).contains("Both machines"));
        // A word stands with its reason or not at all.
        let decision = Decision {
            text: "SQLite".to_owned(),
            rationale: Some("word ".repeat(200)),
            ..Decision::default()
        };
        let list = DecisionList { decisions: vec![decision], ..DecisionList::default() };
        assert_eq!(shown(&[list]), "");
    }

    #[test]
    fn a_decision_revoked_by_id_or_repeated_is_left_out() {
        let all = [
            ("D-12: Sort by name", ""),
            ("D-20: Sort by date (supersedes D-12)", ""),
            ("Use SQLite for the index", ""),
            ("Use SQLite for the index", ""),
            ("Defer configurable lists to v2", ""),
            ("Keep it small; defer configuration of lists to v2", ""),
            ("Do not defer configurable lists to v2", ""),
            ("Defer configurable lists to v3", ""),
        ];
        assert_eq!(
            shown(&[list("Decisions", &all)]),
            "Defer configurable lists to v3 | Do not defer configurable lists to v2 | Keep it small; defer configuration of lists to v2 | \
             Use SQLite for the index | D-20: Sort by date (supersedes D-12)"
        );
    }

    #[test]
    fn a_decision_that_says_more_than_a_shown_one_stays() {
        let newest = "Sign the archives of a release with minisign";
        let older = format!("{newest}; rotate keys yearly");
        assert_eq!(
            shown(&[list("Decisions", &[(&older, ""), (newest, "")])]),
            format!("{newest} | {older}")
        );
        // PROJECT.md comes first, but does not hide a later reversal.
        let table = [("Redis for the session cache of production servers", "")];
        let project = DecisionList { file: DecisionFile::Project, ..list("Key Decisions", &table) };
        let state = list(
            "Decisions",
            &[("Drop Redis for the session cache of production servers", "Phase 5")],
        );
        assert_eq!(shown(&[state, project]).matches("session cache").count(), 2);
        let switched = [
            ("Telemetry is on in the release builds of apps", ""),
            ("Telemetry is off in the release builds of apps", ""),
        ];
        assert_eq!(shown(&[list("Decisions", &switched)]).matches("Telemetry").count(), 2);
        let reversed = [
            ("Pin the versions of build tools in the lock file", ""),
            ("Don\u{2019}t pin the versions of build tools in the lock file", ""),
        ];
        assert_eq!(shown(&[list("Decisions", &reversed)]).matches("versions").count(), 2);
    }

    #[test]
    fn three_places_go_to_older_ones_of_more_weight_and_three_to_one_plan() {
        let names: Vec<String> = (0..20).map(|n| format!("Choice number {n} of {n}")).collect();
        let mut all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        all[2].0 = "The API must stay as it is";
        let text = shown(&[list("Decisions", &all)]);
        assert!(
            text.starts_with("Choice number 19 of 19 |")
                && text.ends_with("| The API must stay as it is"),
            "{text}"
        );
        assert_eq!(text.matches(" | ").count() + 1, MAX_DECISIONS);
        let of_plan: Vec<(&str, &str)> = all.iter().map(|(text, _)| (*text, "02-03")).collect();
        assert_eq!(shown(&[list("Decisions", &of_plan)]).matches(" | ").count() + 1, MAX_PER_PLAN);
    }

    #[test]
    fn a_reason_stands_where_it_fits_whole() {
        let decision = |text: &str, reason: &str| Decision {
            text: text.to_owned(),
            rationale: Some(reason.to_owned()),
            ..Decision::default()
        };
        let long = format!("Two agents write at once. {}", "Word ".repeat(60));
        for (text, reason, expected) in [
            ("Use SQLite", "one file", Some("Use SQLite \u{2014} one file")),
            ("Ship weekly, because one file", "One file", Some("Ship weekly, because one file")),
            ("Lock the file", &long, Some("Lock the file \u{2014} Two agents write at once")),
            ("Rust", "N/A", Some("Rust")),
        ] {
            assert_eq!(decision_statement(&decision(text, reason)).as_deref(), expected);
        }
        assert_eq!(decision_statement(&decision(&"word ".repeat(60), "x")), None);
    }
}
