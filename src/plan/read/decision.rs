//! Parses decisions from the tables and bullets of any planning document.

use std::collections::HashMap;
use std::ops::Range;

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::markdown::{BlockContent, ListItem, Outline, Section, Table};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::{PhaseNumber, heading, list_entry, milestone_version, non_placeholder};
use crate::text::one_line;

/// A decision with its known context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The decision, verbatim: a table's `Decision` column, or a whole bullet with its tag.
    pub text: String,
    /// The date, if stated.
    pub date: Option<NaiveDate>,
    /// The reason, if stated, or what is indented below the bullet.
    pub rationale: Option<String>,
    /// Where the decision was made: the leading tag (`[phase-1]`), or the table's phase or source column.
    pub source: Option<String>,
    /// The heading above it: of its section, or of a phase or milestone within the section.
    #[serde(skip)]
    pub heading: Option<String>,
}

/// Returns the sections of decisions, by the words of their headings: `Key Decisions (v1.0)`, `Decisions Log`,
/// `Phase 3 decisions`, but not `Pending Decisions` or `Decisions needed`.
pub(crate) fn sections<'o>(outline: &'o Outline<'_>) -> impl Iterator<Item = &'o Section> {
    let sections = outline.sections().iter();
    sections.filter(|section| section.level > 0 && is_title(&section.title))
}

/// Returns whether a heading says that decisions follow.
fn is_title(title: &str) -> bool {
    /// Words after the noun that only say what kind of list it is.
    const LISTS: &[&str] = &[
        "history", "list", "log", "record", "records", "register", "so", "far", "summary", "table",
    ];
    /// Words after the noun that say that the decisions were made.
    const MADE: &[&str] = &[
        "accepted", "adopted", "agreed", "approved", "captured", "confirmed", "established",
        "finalised", "finalized", "landed", "locked", "made", "recorded", "settled", "taken",
    ];
    /// Words after the noun before what the decisions are about.
    const JOINTS: &[&str] = &["affecting", "during", "for", "from", "in", "of", "since", "with"];
    /// Words for what is not decided, or not valid.
    const UNDECIDED: &[&str] = &[
        "awaiting", "next", "needed", "needing", "needs", "outstanding", "past", "possible",
        "proposed", "required", "reversed", "revisit", "to", "unresolved", "upcoming", "without",
    ];
    // Of the many headings of a file, few get this far.
    if !title.to_ascii_lowercase().contains("decision") {
        return false;
    }
    let words = heading::words(title);
    let words: Vec<&str> = words
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .filter(|word| !word.is_empty())
        .collect();
    let Some(noun) = words.iter().position(|word| word.starts_with("decision")) else {
        return false;
    };
    let (before, after) = (&words[..noun], &words[noun + 1..]);
    let is_list = after.first().is_some_and(|word| LISTS.contains(word));
    let is_noun = words[noun] == "decisions" || words[noun] == "decision" && is_list;
    // `Constraints & Decisions` is a list of both.
    let is_mixed = title.contains('&') || before.contains(&"and");
    let about = after.iter().position(|word| {
        JOINTS.contains(word)
            || word.starts_with(|c: char| c == 'v' || c.is_ascii_digit())
            || ["phase", "milestone"].contains(word)
    });
    let kinds = &after[..about.unwrap_or(after.len())];
    let is_undecided = words.iter().any(|word| UNDECIDED.contains(word));
    is_noun
        && !is_mixed
        && kinds.iter().all(|word| LISTS.contains(word) || MADE.contains(word))
        && !is_undecided
        && !heading::is_about_items(title)
}

/// Returns the decisions in a range: table rows and bullets, in file order.
///
/// ```text
/// | Decision | Date | Rationale |        **Phase 2 decisions:**
/// |----------|------|-----------|        - [02-03]: Use X because Y
/// | Use X    | 2026-02-17 | fast |     - (Phase 6): Replaced A with B
///                                       - 02-04: Use X
///                                       - 2026-02-17: Use X
/// ```
///
/// A bold label above a list is its heading; lists of phases or of open items are left out, as is a list after
/// `Two decisions are still pending:`.
pub(crate) fn decisions(outline: &Outline<'_>, range: &Range<usize>) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    let mut label: Option<&str> = None;
    let mut is_undecided = false;
    for block in outline.blocks(range) {
        let own: Vec<Decision> = match &block.content {
            BlockContent::Paragraph => {
                let text = outline.slice(&block.range);
                label = bold_label(text);
                is_undecided = introduces_undecided(text);
                continue;
            }
            BlockContent::Item(item) => {
                let details = || list_entry::details(outline, block, item);
                from_item(item, details).into_iter().collect()
            }
            BlockContent::Table(table) => from_table(table),
            BlockContent::Code | BlockContent::Html => continue,
        };
        if !is_undecided && label.is_none_or(may_hold) {
            found.extend(
                own.into_iter()
                    .map(|decision| Decision { heading: label.map(str::to_owned), ..decision }),
            );
        }
    }
    found
}

/// Returns the text of a line that consists only of a bold label: `**Phase 2 decisions:**`.
fn bold_label(paragraph: &str) -> Option<&str> {
    let inner = paragraph.strip_prefix("**")?;
    let label = inner.strip_suffix(":**").or_else(|| inner.strip_suffix("**:"))?;
    (!label.contains("**") && !label.contains('\n')).then_some(label)
}

/// Returns whether a paragraph introduces a list of what is not decided: `Two of them remain pending:`.
fn introduces_undecided(paragraph: &str) -> bool {
    const STATES: &[&str] = &["open", "pending", "undecided", "unresolved"];
    const VERBS: &[&str] = &["are", "is", "remain", "remains", "still", "stay"];
    if !list_entry::is_lead(paragraph.trim_end()) {
        return false;
    }
    let text = one_line(paragraph);
    let last = text.rsplit(". ").next().unwrap_or_default();
    let words = heading::words(last);
    let words: Vec<&str> =
        words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_left = |pair: &[&str]| VERBS.contains(&pair[0]) && STATES.contains(&pair[1]);
    let is_settled = words.iter().any(|word| ["now", "settled", "were"].contains(word));
    let to_decide = [["be", "decided"], ["to", "decide"], ["to", "revisit"], ["open", "questions"]];
    let is_to_decide = |pair: &[&str]| to_decide.iter().any(|words| pair == words);
    let mut pairs = words.windows(2);
    !is_settled && pairs.any(|pair| is_left(pair) || is_to_decide(pair))
}

/// Returns whether a list under this heading may hold decisions, rather than open items or the phases of a roadmap.
pub(crate) fn may_hold(title: &str) -> bool {
    let words = heading::words(title);
    let has = |names: &[&str]| words.split(' ').any(|word| names.contains(&word));
    let is_roadmap = has(&["roadmap"]) || has(&["structure"]) && has(&["phase", "milestone"]);
    !heading::is_about_items(title) && (!is_roadmap || has(&["decision", "decisions"]))
}

/// Returns the decisions without duplicates: a bullet may repeat a table row, which adds the date and reason.
pub(crate) fn distinct(decisions: impl Iterator<Item = Decision>) -> Vec<Decision> {
    let mut kept: Vec<Decision> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for decision in decisions {
        // Two decisions are equal if their words match, with or without the reason.
        let mut key = String::new();
        push_words(&mut key, decision.untagged());
        let mut keys = vec![key];
        if let Some(reason) = &decision.rationale {
            let mut with_reason = keys[0].clone();
            push_words(&mut with_reason, reason);
            keys.push(with_reason);
        }
        if let Some(index) = keys.iter().find_map(|key| known.get(key)) {
            complete(&mut kept[*index], decision);
        } else {
            known.extend(keys.into_iter().map(|key| (key, kept.len())));
            kept.push(decision);
        }
    }
    kept
}

/// Fills in missing fields from another statement of the same decision.
fn complete(known: &mut Decision, other: Decision) {
    known.date = known.date.or(other.date);
    known.source = known.source.take().or(other.source);
    if known.rationale.is_none() && other.rationale.is_some() {
        known.text = other.text;
        known.rationale = other.rationale;
    }
}

impl Decision {
    /// Returns the decision without the leading tags.
    pub fn untagged(&self) -> &str {
        untagged(&self.text)
    }

    /// Returns the words of its tags and the first one of its text, in lower case; ids are among them: `02-03`, `d-12`.
    pub(crate) fn possible_ids(&self) -> Vec<String> {
        let text = self.untagged();
        let tags = self.text.strip_suffix(text).unwrap_or_default();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
        let first = text.split([' ', ':']).next();
        let words = tags.split(|c| !is_part(c)).chain(first);
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    }
}

/// Appends the words of a statement, normalised for comparison and without the conjunctions before a reason.
fn push_words(key: &mut String, text: &str) {
    const JOINTS: &[&str] = &["because", "since", "as", "for"];
    let is_joint = |word: &str| JOINTS.iter().any(|joint| joint.eq_ignore_ascii_case(word));
    let words = text.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty() && !is_joint(word)) {
        if !key.is_empty() {
            key.push(' ');
        }
        if word.is_ascii() {
            let start = key.len();
            key.push_str(word);
            key[start..].make_ascii_lowercase();
        } else {
            key.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
}

/// Returns the decisions of a table; empty for tables of other things.
pub(crate) fn from_table(table: &Table) -> Vec<Decision> {
    let Some(text) = table.column(&["Decision", "Key Decision", "Choice"]) else {
        return Vec::new();
    };
    // `Voice provider | Vapi`: the choice is in a separate column from its subject.
    let choice = table.column(&["Choice"]).filter(|choice| *choice != text);
    let date = table.column(&["Date", "When", "Decided"]);
    let rationale = table.column(&["Rationale", "Context", "Reason", "Reasoning", "Why"]);
    let source = table.column(&["Source", "Phase", "Plan", "Made In"]);
    let outcome = table.column(&["Status", "Outcome"]);
    let rows = table.rows.iter().filter_map(|row| {
        let cell = |index: Option<usize>| non_placeholder(row.cells.get(index?)?);
        let text = cell(Some(text))?;
        // `~~SQLite~~ Postgres`, changed in phase 2, is what holds now.
        let is_current = [Some(text), cell(choice)]
            .into_iter()
            .flatten()
            .any(|text| text.contains("~~") && !is_struck_out(text) || text.contains("(was "));
        if cell(outcome).is_some_and(is_taken_back) && !is_current {
            return None;
        }
        Some(Decision {
            text: cell(choice)
                .map_or_else(|| text.to_owned(), |choice| format!("{text}: {choice}")),
            date: cell(date).and_then(parse_date),
            rationale: cell(rationale).map(str::to_owned),
            source: cell(source).map(str::to_owned),
            heading: None,
        })
    });
    rows.collect()
}

/// Returns whether the outcome of a decision says that it is no longer valid: `**Changed in 04-03**`, `Replaced by X`,
/// but not `Replaced three scripts`.
fn is_taken_back(outcome: &str) -> bool {
    const TAKEN_BACK: &[&str] =
        &["changed", "superseded", "replaced", "reverted", "dropped", "rejected", "revoked"];
    /// Words after it before when, why or by what.
    const JOINTS: &[&str] = &["after", "because", "by", "due", "later", "since"];
    let lower = outcome.to_lowercase();
    let start = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = start.find(|c: char| !c.is_alphanumeric());
    let (first, rest) = start.split_at(end.unwrap_or(start.len()));
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut words = rest.split_whitespace().map(bare);
    let is_time = |word: String| {
        ["milestone", "phase", "plan"].contains(&word.as_str())
            || word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
    };
    TAKEN_BACK.contains(&first)
        && (!rest.starts_with(' ')
            || words.next().is_none_or(|word| match word.as_str() {
                "" => true,
                "in" | "on" => words.next().is_some_and(is_time),
                word => JOINTS.contains(&word),
            }))
}

/// Parses a bullet with the lines below it; nested bullets only explain their parent and yield `None`.
fn from_item(item: &ListItem, details: impl FnOnce() -> Option<String>) -> Option<Decision> {
    let text = non_placeholder(&item.text).filter(|_| item.depth == 0)?;
    if is_none_remark(untagged(text)) || is_struck_out(untagged(text)) {
        return None;
    }
    let tag = split_tag(text).map(|(tag, _)| tag);
    let tagged_date = tag.and_then(parse_date);
    let source = tag.filter(|_| tagged_date.is_none());
    Some(Decision {
        text: text.to_owned(),
        date: parse_date(text).or(tagged_date),
        rationale: details(),
        source: source.map(str::to_owned),
        heading: None,
    })
}

/// Returns whether all of a text is struck out.
fn is_struck_out(text: &str) -> bool {
    let inner = text.trim_matches(['*', ' ', '.']).strip_prefix("~~");
    let inner = inner.and_then(|rest| rest.strip_suffix("~~"));
    inner.is_some_and(|inner| !inner.contains("~~"))
}

/// Returns a decision without its tags; a plan may follow a first tag: `[Phase 2]: [02-03]: …`.
fn untagged(text: &str) -> &str {
    let mut rest = text;
    let mut next = split_tag(text);
    while let Some((_, after)) = next {
        rest = after.trim_start_matches([':', ' ']);
        next = split_tag(rest).filter(|(tag, _)| is_plan(tag));
    }
    rest
}

/// Splits off the leading tag: `[02-03]: …`, `(Phase 6): …`, `[Phase 1] …`, `[2026-02-17]: …`, `**(Plan 02-03)** …`, and
/// without brackets only a plan, or a phase of a version: `02-03: …`, `Plan 02-03: …`, `v1.2 (Phase 6): …`.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let Some(bold) = text.strip_prefix("**") else {
        return split_plain_tag(text);
    };
    let (tag, rest) = bold.split_once("**")?;
    let tag = tag.trim_end_matches(':');
    let inside = |open, close| tag.strip_prefix(open)?.strip_suffix(close);
    let bracketed = inside('[', ']').or_else(|| inside('(', ')'));
    let is_tag = bracketed.is_some_and(is_phase) || is_plan(tag);
    is_tag.then(|| (bracketed.unwrap_or(tag), rest))
}

fn split_plain_tag(text: &str) -> Option<(&str, &str)> {
    let square = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .filter(|(_, rest)| !rest.starts_with('('));
    let round = || {
        text.strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .filter(|(tag, rest)| rest.starts_with(':') || is_phase(tag) || is_plan(tag))
    };
    let plan = || {
        let (tag, rest) = text.split_once(':')?;
        let of_version =
            tag.split_once(" (").filter(|(version, _)| milestone_version(version).is_some());
        let phase = of_version.and_then(|(_, phase)| phase.strip_suffix(')'));
        (is_plan(tag) || phase.is_some_and(is_phase)).then_some((tag, rest))
    };
    square.or_else(round).or_else(plan).and_then(|(tag, rest)| Some((non_placeholder(tag)?, rest)))
}

/// Returns whether a text names a phase or a plan of it: `Phase 6`, `Phase 28-01`.
fn is_phase(text: &str) -> bool {
    let number = text.strip_prefix("Phase ");
    number.is_some_and(|number| PhaseNumber::parse(number).is_some()) || is_plan(text)
}

/// Returns whether a text names a plan by its phase and number: `02-03`, `05.1-02a`, `Plan 02-03`, `Phase 02-03`,
/// `Phase 02 P03`.
fn is_plan(text: &str) -> bool {
    let is_number = |digits: &str| {
        (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let named = ["Plan ", "Phase "].iter().find_map(|noun| text.strip_prefix(noun));
    let numbers = named
        .and_then(|named| named.split_once(" P"))
        .or_else(|| named.unwrap_or(text).split_once('-'));
    numbers.is_some_and(|(phase, plan)| {
        let plan = plan.trim_end_matches(|c: char| c.is_ascii_lowercase());
        phase.split('.').all(is_number) && is_number(plan)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Decision> {
        decisions(&Outline::parse(text, 0), &(0..text.len()))
    }

    #[test]
    fn headings_of_decisions_are_recognised_by_their_words() {
        for title in [
            "Decisions",
            "## Key Decisions (v1.0):",
            "Decisions Log",
            "Decision log",
            "Decision History",
            "Decisions Made So Far",
            "Recent key decisions",
            "Locked Decisions",
            "Phase 3 decisions",
            "Decisions for v1.2",
            "Decisions \u{2014} Phase 4",
            "OpenAPI decisions",
            "Phase 4 \u{2014} Decisions Landed (2026-01-02)",
            "Decisions locked 2026-01-02",
            "Decisions captured during phase 2",
            "Key Decisions Established",
        ] {
            assert!(is_title(title), "{title}");
        }
        for title in [
            "Pending Decisions",
            "Open Decisions",
            "Decisions needed",
            "Decisions to make",
            "Decisions Deferred",
            "Decisions impact",
            "Deferred decisions",
            "Rejected Decisions",
            "Decision",
            "Decision criteria",
            "Indecision log",
            "Constraints & Decisions",
            "Risks and Decisions",
        ] {
            assert!(!is_title(title), "{title}");
        }
    }

    #[test]
    fn rows_and_bullets_are_read_in_file_order() {
        let text = "| Phase | Decision | Rationale |\n|---|---|---|\n| 2 | Use X | fast |\n| | _(No decisions yet)_ | |\n\n- [02-03]: keep `y`\n  - a detail\n- (Phase 6): replaced z\n- None.\n";
        let found = read(text);
        let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(texts, ["Use X", "[02-03]: keep `y`", "(Phase 6): replaced z"]);
        let sources: Vec<_> = found.iter().map(|d| d.source.as_deref()).collect();
        assert_eq!(sources, [Some("2"), Some("02-03"), Some("Phase 6")]);
        let reasons: Vec<_> = found.iter().map(|d| d.rationale.as_deref()).collect();
        assert_eq!(reasons, [Some("fast"), Some("a detail"), None]);
    }

    #[test]
    fn a_row_whose_outcome_takes_it_back_is_no_decision() {
        for (outcome, is_valid) in [
            ("**CHANGED in 04-03**", false),
            ("\u{26a0} Superseded", false),
            ("Replaced by a queue", false),
            ("Reverted \u{2014} too slow", false),
            ("Dropped, see 05-01", false),
            ("rejected in phase 3", false),
            ("Revoked.", false),
            ("\u{2713} Good", true),
            ("Pending", true),
            ("Replaced three scripts", true),
            ("Dropped from 3 s to 1 s", true),
            ("Changed in all packages", true),
            ("Unchanged", true),
            ("", true),
        ] {
            for name in ["Status", "Outcome"] {
                let text = format!("| Decision | {name} |\n|---|---|\n| Use X | {outcome} |\n");
                assert_eq!(!read(&text).is_empty(), is_valid, "{outcome}");
            }
        }
    }

    #[test]
    fn columns_may_come_in_any_order() {
        let text =
            "| Decision | Rationale | Date |\n|---|---|---|\n| Use X | \u{2014} | 2026-03-21 |\n";
        let found = &read(text)[0];
        assert_eq!(found.rationale, None);
        assert_eq!(found.date, NaiveDate::from_ymd_opt(2026, 3, 21));
    }

    #[test]
    fn what_a_bullet_and_a_row_say_alike_is_one_decision() {
        let text = "- [02-03]: Use X because it is fast\n- Keep `y`\n\n| Decision | Date | Rationale |\n|---|---|---|\n| Use X | 2026-02-17 | It is fast |\n| keep y | | |\n| Drop z | | |\n";
        let found = distinct(read(text).into_iter());
        let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(texts, ["Use X", "Keep `y`", "Drop z"]);
        assert_eq!(found[0].source.as_deref(), Some("02-03"));
        assert_eq!(found[0].date, NaiveDate::from_ymd_opt(2026, 2, 17));
    }

    #[test]
    fn a_date_as_a_tag_is_the_date() {
        let found =
            read("- [2026-02-17]: Store cents\n- (2026-02-18): Round half up\n- [02-03]: x\n");
        let day = |day| NaiveDate::from_ymd_opt(2026, 2, day);
        let dates: Vec<_> = found.iter().map(|d| d.date).collect();
        assert_eq!(dates, [day(17), day(18), None]);
        let sources: Vec<_> = found.iter().map(|d| d.source.as_deref()).collect();
        assert_eq!(sources, [None, None, Some("02-03")]);
        assert_eq!(found[0].untagged(), "Store cents");
    }

    #[test]
    fn a_plan_number_without_brackets_is_a_tag() {
        let found = read(
            "- 04-02: Keep the index\n- 05.1-03: Drop z\n- 2026-02-17: x\n- 1000-2000: y\n- 9-5 jobs: w\n- v0.10.0 (Phase 28-01): v\n- Phase 6: u\n",
        );
        let sources: Vec<_> = found.iter().map(|d| d.source.as_deref()).collect();
        assert_eq!(
            sources,
            [Some("04-02"), Some("05.1-03"), None, None, None, Some("v0.10.0 (Phase 28-01)"), None]
        );
        assert_eq!(found[5].untagged(), "v");
        assert_eq!(found[0].text, "04-02: Keep the index");
        assert_eq!(found[0].untagged(), "Keep the index");
        assert_eq!(found[3].untagged(), "1000-2000: y");
    }

    #[test]
    fn tags_may_be_bold_or_followed_by_a_plan() {
        for (text, source, untagged) in [
            ("**(Plan 02-04)** x", Some("Plan 02-04"), "x"),
            ("**[02-04]:** x", Some("02-04"), "x"),
            ("**02-04**: x", Some("02-04"), "x"),
            ("[Phase 02]: [02-04a]: x", Some("Phase 02"), "x"),
            ("[Setup]: Plan 02-03: --all", Some("Setup"), "--all"),
            ("Phase 04 P04: x", Some("Phase 04 P04"), "x"),
            ("[02-04]: [FUTURE] x", Some("02-04"), "[FUTURE] x"),
            ("[v1.0]: Phase 1: x", Some("v1.0"), "Phase 1: x"),
        ] {
            let found = &read(&format!("- {text}\n"))[0];
            let parts = (found.source.as_deref(), found.untagged());
            assert_eq!(parts, (source, untagged), "{text}");
        }
        for text in [
            "**REVERSAL of 02-01** \u{2014} x",
            "**[02-04] Keep** it",
            "**(Optional)** x",
            "(optional) arguments come last",
            "Phase 6 pivot: x",
        ] {
            let found = &read(&format!("- {text}\n"))[0];
            assert_eq!((found.source.as_deref(), found.untagged()), (None, text));
        }
    }

    #[test]
    fn a_tag_before_nothing_is_no_decision() {
        let text = "- [Phase 04]: ---\n- [Phase 05]: None.\n- [05-01]: \u{2014}\n";
        assert_eq!(read(text), []);
    }

    #[test]
    fn a_bold_label_is_the_heading_of_its_list() {
        let text = "- a\n\n**Phase 2 decisions:**\n- b\n\n**v1.2 roadmap structure:**\n- 5 phases\n\n**Phase structure**:\n- 1 to 4\n\n**Deferred:**\n- c\n\n**Table structure:**\n- d\n\n**Note:** more\n- e\n";
        let found = read(text);
        let found: Vec<_> = found.iter().map(|d| (d.text.as_str(), d.heading.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("a", None),
                ("b", Some("Phase 2 decisions")),
                ("d", Some("Table structure")),
                ("e", None)
            ]
        );
    }

    #[test]
    fn a_list_introduced_as_undecided_holds_no_decisions() {
        for (lead, is_decided) in [
            ("Two key decisions remain pending until the launch:", false),
            ("All are recorded. Still open:", false),
            ("These remain to be decided:", false),
            ("Rows to revisit:", false),
            ("**Rejected alternatives:**", false),
            ("These remain valid:", true),
            ("Nothing is pending. Recent decisions:", true),
            ("Open source licences:", true),
            ("Two are pending.", true),
        ] {
            let found = read(&format!("{lead}\n\n- Use X\n\nRecent ones:\n\n- Keep y\n"));
            let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
            let expected: &[&str] = if is_decided { &["Use X", "Keep y"] } else { &["Keep y"] };
            assert_eq!(texts, expected, "{lead}");
        }
    }

    #[test]
    fn what_is_struck_out_is_no_decision() {
        let found = read("- ~~Use X~~\n- [02-01]: ~~Use Y~~.\n- ~~Use Z~~ Use W\n");
        let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(texts, ["~~Use Z~~ Use W"]);
    }

    #[test]
    fn a_link_is_no_tag() {
        assert_eq!(read("- [ADR](adr.md) holds\n")[0].source, None);
    }
}
