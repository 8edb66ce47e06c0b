//! Parses decisions from the tables and bullets of any planning document.

use std::collections::HashSet;
use std::ops::Range;

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::markdown::{BlockContent, ListItem, Outline, Section, Table};
use crate::plan::letters;
use crate::plan::read::document;
use crate::plan::read::vocabulary::has;
use crate::text::{Pattern, is_digit, non_placeholder, says_none, unmarked};

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

/// Returns the decisions directly in the sections of decisions.
pub(crate) fn in_sections(outline: &Outline<'_>) -> Vec<Decision> {
    sections(outline).flat_map(|section| decisions(outline, &section.own)).collect()
}

/// Returns whether a heading says that decisions follow.
fn is_title(title: &str) -> bool {
    let words = document::heading(title);
    let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).collect();
    let is_log = |pair: &[&str]| pair[0] == "decision" && has("list of decisions", pair[1]);
    (words.iter().any(|word| has("decisions", word)) || words.windows(2).any(is_log))
        && !title.contains('&')
        && !words.iter().any(|word| has("no decisions", word))
        && !document::is_about_items(title)
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
/// A bold label above a list is its heading; lists of phases or of open items are left out.
pub(crate) fn decisions(outline: &Outline<'_>, range: &Range<usize>) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    let mut label: Option<&str> = None;
    for block in outline.blocks(range) {
        let own: Vec<Decision> = match &block.content {
            BlockContent::Paragraph => {
                // A line that consists only of a bold label: `**Phase 2 decisions:**`.
                let inner = outline.slice(&block.range).strip_prefix("**");
                label = inner
                    .and_then(|own| own.strip_suffix(":**").or_else(|| own.strip_suffix("**:")))
                    .filter(|label| !label.contains("**") && !label.contains('\n'));
                continue;
            }
            BlockContent::Item(item) => {
                let details = || document::details(outline, block, item);
                from_item(item, details).into_iter().collect()
            }
            BlockContent::Table(table) => from_table(table),
            BlockContent::Code | BlockContent::Html => continue,
        };
        if label.is_none_or(may_hold) {
            found.extend(
                own.into_iter()
                    .map(|decision| Decision { heading: label.map(str::to_owned), ..decision }),
            );
        }
    }
    found
}

/// Returns whether a list under this heading may hold decisions, rather than open items or the phases of a roadmap.
pub(crate) fn may_hold(title: &str) -> bool {
    !document::is_about_items(title) && !document::heading(title).contains("roadmap")
}

/// Returns the decisions without duplicates: the first one of those with the same words.
pub(crate) fn distinct(decisions: impl Iterator<Item = Decision>) -> Vec<Decision> {
    let mut known = HashSet::new();
    decisions.filter(|decision| known.insert(letters(decision.untagged()))).collect()
}

impl Decision {
    /// Returns the decision without the leading tag.
    pub fn untagged(&self) -> &str {
        untagged(&self.text)
    }

    /// Returns the words of its tag and the first one of its text, in lower case; ids are among them: `02-03`, `d-12`.
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

/// Returns the decisions of a table; empty for tables of other things.
fn from_table(table: &Table) -> Vec<Decision> {
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
        // A pipe in a cell is escaped.
        let plain = |text: &str| text.replace(r"\|", "|");
        let text = cell(Some(text))?;
        let outcome = cell(outcome).unwrap_or_default();
        let outcome = unmarked(outcome);
        if TAKEN_BACK.is_match(outcome) || is_struck_out(text) {
            return None;
        }
        Some(Decision {
            text: cell(choice)
                .map_or_else(|| plain(text), |choice| plain(&format!("{text}: {choice}"))),
            date: cell(date).and_then(parse_date),
            rationale: cell(rationale).map(plain),
            source: cell(source).map(str::to_owned),
            heading: None,
        })
    });
    rows.collect()
}

/// An outcome that says that a decision is no longer valid: `**Changed in 04-03**`, `Replaced by X`, but not `Replaced three
/// scripts`.
static TAKEN_BACK: Pattern = Pattern::new(
    r"(?i)^(changed|superseded|replaced|reverted|dropped|rejected|revoked)(\s*$|\s*[[:punct:]—–→]| (after|because|by|due|in phase|in plan|later)| (in|on) v?\d)",
);

/// A mark before or behind a decision that says the same: `(REVERSED)`, `[Superseded by 04-03]`, `— superseded by D-05`.
/// `[Changed]` is about the new one.
static TAKEN_BACK_MARK: Pattern = Pattern::new(
    r"(?i)^(superseded|reversed|reverted|revoked|rejected)(\s*$| (by|in|on|after) (phase |plan )?(v|d-)?\d| 20\d\d-)",
);

/// Parses a bullet with the lines below it; nested bullets only explain their parent and yield `None`.
fn from_item(item: &ListItem, details: impl FnOnce() -> Option<String>) -> Option<Decision> {
    let text = non_placeholder(&item.text).filter(|_| item.depth == 0)?;
    let tag = split_tag(text).map(|(tag, _)| tag);
    let own = untagged(text);
    // `(REVERSED) Heights in feet`
    let mark = own.strip_prefix(['(', '[']).and_then(|own| own.split([')', ']']).next());
    let end = own.trim_end_matches('.').strip_suffix([')', ']']);
    let end = end.and_then(|own| own.rsplit(['(', '[']).next());
    let last = own.rsplit(['—', '–']).next().filter(|last| *last != own);
    // `Uploads over 10 MB (rejected)` may be what was decided.
    let behind = [end, last].map(|one| one.map(str::trim).filter(|one| *one != "rejected"));
    let mut marks = [tag, mark].into_iter().chain(behind).flatten();
    let is_taken_back = marks.any(|mark| TAKEN_BACK_MARK.is_match(mark));
    if says_none(own) || is_struck_out(own) || is_taken_back {
        return None;
    }
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

/// The leading tag of a decision: `[02-03]: …`, `(Phase 6): …`, `[2026-02-17]: …`, and without brackets only a plan or the
/// stage before the first one: `02-03: …`, `Phase 02 P03: …`, `Init: …`.
static TAG: Pattern = Pattern::new(
    r"^(?:\[([^\]]+)\]:?|\(([^)]+)\):|((?:Plan |Phase )?\d{1,3}(?:\.\d{1,3})*-\d{1,3}[a-z]*|Phase \d{1,3} P\d{1,3}|Init(?:ialization)?):)\s*",
);

/// Splits off the leading tag; of `[Phase ?]: [Phase 4]: …`, both, since the second says where it was made.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let says_where = |(tag, _): &(&str, &str)| {
        let id = tag.trim_start_matches("Phase ");
        id.starts_with(is_digit) && parse_date(id).is_none()
    };
    let first = first_tag(text)?;
    Some(first_tag(first.1).filter(says_where).unwrap_or(first))
}

fn first_tag(text: &str) -> Option<(&str, &str)> {
    let found = TAG.captures(text)?;
    let tag = found.iter().skip(1).flatten().next()?.as_str();
    let (tagged, rest) = text.split_at(found.get(0)?.end());
    // `[ADR](adr.md)` is a link.
    let is_link = tagged.ends_with(']') && rest.starts_with('(');
    Some((non_placeholder(tag)?, rest)).filter(|_| !is_link)
}

/// Returns a decision without its tag.
fn untagged(text: &str) -> &str {
    split_tag(text).map_or(text, |(_, rest)| rest)
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
    fn columns_may_come_in_any_order_and_cells_have_pipes() {
        let text = "| Decision | Rationale | Date |\n|---|---|---|\n| Use X \\| Y | \u{2014} | 2026-03-21 |\n";
        let found = &read(text)[0];
        assert_eq!((found.text.as_str(), found.rationale.as_deref()), ("Use X | Y", None));
        assert_eq!(found.date, NaiveDate::from_ymd_opt(2026, 3, 21));
    }

    #[test]
    fn what_a_bullet_and_a_row_say_alike_is_one_decision() {
        let text = "- [02-03]: Use X\n- Keep `y`\n\n| Decision | Date | Rationale |\n|---|---|---|\n| Use X | 2026-02-17 | It is fast |\n| keep y | | |\n| Drop z | | |\n";
        let found = distinct(read(text).into_iter());
        let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(texts, ["[02-03]: Use X", "Keep `y`", "Drop z"]);
        assert_eq!(found[0].source.as_deref(), Some("02-03"));
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
            "- 04-02: Keep the index\n- 05.1-03: Drop z\n- 2026-02-17: x\n- 1000-2000: y\n- 9-5 jobs: w\n- Phase 6: u\n",
        );
        let sources: Vec<_> = found.iter().map(|d| d.source.as_deref()).collect();
        assert_eq!(sources, [Some("04-02"), Some("05.1-03"), None, None, None, None]);
        assert_eq!(found[0].text, "04-02: Keep the index");
        assert_eq!(found[0].untagged(), "Keep the index");
        assert_eq!(found[3].untagged(), "1000-2000: y");
    }

    #[test]
    fn a_tag_says_where_it_was_made() {
        for (text, source, untagged) in [
            ("[Setup]: --all", Some("Setup"), "--all"),
            ("Phase 04 P04: x", Some("Phase 04 P04"), "x"),
            ("[02-04]: [FUTURE] x", Some("02-04"), "[FUTURE] x"),
            ("[Phase ?]: [Phase 144]: x", Some("Phase 144"), "x"),
            ("[Phase 3]: [2026-01-02] x", Some("Phase 3"), "[2026-01-02] x"),
            ("[v1.0]: Phase 1: x", Some("v1.0"), "Phase 1: x"),
            ("Init: x", Some("Init"), "x"),
            ("Initial: x", None, "Initial: x"),
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
        let text = "- a\n\n**Phase 2 decisions:**\n- b\n\n**v1.2 roadmap structure:**\n- 5 phases\n\n**Deferred:**\n- c\n\n**Table structure:**\n- d\n\n**Note:** more\n- e\n";
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
    fn what_is_struck_out_is_no_decision() {
        let found = read(
            "- ~~Use X~~\n- [02-01]: ~~Use Y~~.\n- [02-02]: (REVERSED) Use V\n- [Reverted in phase 3] Use U\n- ~~Use Z~~ Use W\n- [Changed] Use T\n- (Reversed: newest first) Sort\n- Use S (superseded by 02-01)\n- [02-01]: Use R — SUPERSEDED by D-05\n- Use Q (reverted 2026-01-05)\n- Uploads over 10 MB (rejected)\n",
        );
        let texts: Vec<_> = found.iter().map(|d| d.text.as_str()).collect();
        let kept = [
            "~~Use Z~~ Use W",
            "[Changed] Use T",
            "(Reversed: newest first) Sort",
            "Uploads over 10 MB (rejected)",
        ];
        assert_eq!(texts, kept);
    }

    #[test]
    fn a_link_is_no_tag() {
        assert_eq!(read("- [ADR](adr.md) holds\n")[0].source, None);
    }
}
