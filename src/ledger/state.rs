//! STATE.md: what is true now, rewritten by each update that has a state; and its footer, the commit that the ledger covers,
//! in our format and in other tools'.

use std::ops::Range;

use chrono::NaiveDate;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::json;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::is_hash_prefix;
use crate::ledger::files::{Bullet, LedgerFile, body_start, bullets, is_filled};
use crate::ledger::update::Problems;
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, edit, without_comments};
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::text::{Line, Pattern, fold, join, line_end, line_gap};

/// Placeholder for an unknown value.
const UNKNOWN: &str = "Unknown (needs human)";
/// Placeholder for a pending decision.
const TRIAGE: &str = "Needs triage";
/// Maximum number of lines of the file.
pub(crate) const MAX_LINES: usize = 45;

/// The sections of the file, in their order.
pub(crate) const SECTIONS: [&str; 6] = [
    "Current Objective", "Active Work", "Blockers", "Next Actions", "Quick Reference",
    "Out of Scope",
];

/// The lines of the quick reference that every state has.
const REFERENCE: [&str; 3] = ["Run", "Test", "Entry point"];

/// Matches words about the past or about intentions; STATE.md describes only the present.
static NON_PRESENT: Pattern = Pattern::new(r"(?i)\b(should|we used to|previously|formerly)\b");

/// A new state.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewState {
    objective: String,
    active_work: Vec<String>,
    #[serde(default)]
    blockers: Vec<String>,
    #[serde(default)]
    next_actions: Vec<String>,
    #[serde(default)]
    quick_reference: QuickReference,
    #[serde(default)]
    out_of_scope: Vec<String>,
}

/// How to run and test, and where to begin reading.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct QuickReference {
    run: Option<String>,
    test: Option<String>,
    entry_point: Option<String>,
    more: Vec<String>,
}

/// A section of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StateSection {
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// The bullets.
    pub(crate) bullets: Vec<Bullet>,
    /// The text under the heading, verbatim.
    pub(crate) text: String,
}

/// Returns the existing sections of a text, by their index in [`SECTIONS`].
pub(crate) fn sections(text: &str) -> [Option<StateSection>; 6] {
    let outline = Outline::parse(text, body_start(text));
    SECTIONS.map(|title| {
        let wanted = fold(title);
        let mut sections = outline.sections().iter().filter(|section| section.level >= 2);
        let section = sections.find(|section| fold(&section.title).starts_with(&wanted))?;
        Some(StateSection {
            line: section.line,
            bullets: bullets(&outline, &section.own, 0),
            text: outline.slice(&section.own).to_owned(),
        })
    })
}

/// Returns whether the file has only headings, or has placeholders and no active work.
pub(crate) fn is_uninitialised(text: &str) -> bool {
    let is_marked = text.contains(TRIAGE) || text.to_lowercase().contains(&UNKNOWN.to_lowercase());
    let [_, work, ..] = sections(text);
    let has_work = work.is_some_and(|work| work.bullets.iter().any(|one| is_filled(&one.text)));
    is_marked && !has_work || !says_anything(text)
}

/// Returns whether a text has content: more than headings, comments, labels, placeholders and the footer.
fn says_anything(text: &str) -> bool {
    let body = without_comments(&text[body_start(text)..]);
    body.lines().any(|line| {
        let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let text = line.trim_matches(['\u{feff}', ' ', '\t', '\r', '-', '*', '+', '_', '=']);
        !is_heading && !text.ends_with(':') && is_filled(text) && !Footer::is_part(line)
    })
}

/// Returns the lines of the quick reference that are filled in the old text and not in the new one.
pub(crate) fn lost_reference(old: &str, new: &str) -> Vec<&'static str> {
    let [old, new] = [old, new].map(|text| {
        let [.., reference, _] = sections(text);
        reference.map_or(Vec::new(), |reference| reference.bullets)
    });
    let has = |bullets: &[Bullet], label: &str| {
        let values = bullets.iter().filter_map(|bullet| bullet.text.split_once(": "));
        values.into_iter().any(|(name, value)| name == label && is_filled(value))
    };
    REFERENCE.into_iter().filter(|label| has(&old, label) && !has(&new, label)).collect()
}

/// Returns the first word of a text that is about the past or about intentions; inline code is ignored.
pub(crate) fn non_present_word(text: &str) -> Option<String> {
    let plain = join(text.split('`').step_by(2), " ");
    NON_PRESENT.find(&plain).map(|word| word.as_str().to_owned())
}

/// Returns the text of the file with a new state and a new anchor, where there are some.
pub(crate) fn apply(
    project: &Project,
    file: &LedgerFile,
    state: Option<&NewState>,
    anchor: Option<&str>,
    problems: &mut Problems,
) -> Result<String> {
    let footer = Footer::parse(&file.text);
    let today = project.clock.today();
    let Some(state) = state else {
        let Some(anchor) = anchor else { return Ok(file.text.clone()) };
        if !file.exists() {
            return blank(project, anchor);
        }
        return Ok(edit::apply(&file.text, footer.advance(&file.text, anchor, today)));
    };
    let anchor = anchor.or(footer.hash()).unwrap_or(NO_HASH);
    let comments = footer.comments(&file.text, anchor);
    let page = |date| -> Result<String> {
        let text = state.render(anchor, &comments, date)?;
        Ok(text.replace('\n', line_end(&file.text)))
    };
    // The same state on another day is the same state.
    if let (Some((date, _)), true) = (&footer.updated, file.exists())
        && page(*date)? == file.text
    {
        return Ok(file.text.clone());
    }
    let text = page(today)?;
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let limit = format!("at most {MAX_LINES} are allowed");
        problems.add("/state", format!("STATE.md would have {lines} lines; {limit}"));
    }
    Ok(text)
}

/// Returns the text of a state without content.
pub(crate) fn blank(project: &Project, anchor: &str) -> Result<String> {
    let state = NewState {
        objective: UNKNOWN.to_owned(),
        active_work: vec![UNKNOWN.to_owned()],
        ..NewState::default()
    };
    state.render(anchor, &[], project.clock.today())
}

impl NewState {
    fn render(&self, anchor: &str, comments: &[String], date: NaiveDate) -> Result<String> {
        let lines = |texts: &[String]| texts.iter().map(|text| Line::new(text)).collect::<Vec<_>>();
        let quick = &self.quick_reference;
        let command = |label: &str, text: &Option<String>| {
            Line::new(&match text.as_deref() {
                None => format!("{label}: {UNKNOWN}"),
                Some(text) if text.contains('`') => format!("{label}: {text}"),
                Some(text) => format!("{label}: `{}`", text.trim()),
            })
        };
        let known = [&quick.run, &quick.test, &quick.entry_point];
        let mut reference: Vec<Line> =
            REFERENCE.into_iter().zip(known).map(|(label, text)| command(label, text)).collect();
        reference.extend(lines(&quick.more));
        let mut next_actions = lines(&self.next_actions);
        if next_actions.is_empty() {
            next_actions.push(Line::new(TRIAGE));
        }
        let page = json!({
            "objective": Line::new(&self.objective),
            "active_work": lines(&self.active_work),
            "blockers": lines(&self.blockers),
            "next_actions": next_actions,
            "reference": reference,
            "out_of_scope": lines(&self.out_of_scope),
            "date": date.to_string(),
            "anchor": anchor,
            "comments": comments,
        });
        // A document with secrets was refused when it was read, unless the user allows them.
        templates::render_unredacted(Template::LedgerState, &page)
    }
}

/// The placeholder for a hash if nothing is covered yet.
pub(crate) const NO_HASH: &str = "none yet";

/// The note after the hash that `init` writes: the checked-out commit, which covers nothing yet.
pub(crate) const INIT_NOTE: &str = "(nothing is covered yet)";

static ANCHOR: Pattern = Pattern::new(r"(?im)^[>*_ \t-]*commits covered through[*_ ]*:[*_ ]*(.*)$");
static UPDATED: Pattern =
    Pattern::new(r"(?im)^[>*_ \t-]*last memory update[*_ ]*:[*_` ]*([0-9/-]*)");
/// The comment that another tool reads.
static COMMENT: Pattern = Pattern::new(r"<!--[^\n>]*:last-commit:([0-9A-Fa-f]{4,64})\b[^\n]*?-->");
/// A word that is long enough to be no other word, and a year neither.
static HASH: Pattern = Pattern::new(r"\b[0-9A-Fa-f]{7,64}\b");

/// A hash that stands for all commits up to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The hash as written, or `None` if the line has none.
    pub(crate) hash: Option<String>,
    /// Byte range of the hash or its placeholder.
    pub(crate) range: Range<usize>,
    /// The whole comment, if it is one that another tool reads.
    comment: Option<Range<usize>>,
}

/// The footer of STATE.md.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Every anchor, those of our format first.
    pub(crate) anchors: Vec<Anchor>,
    /// The day of the last update, and its byte range.
    pub(crate) updated: Option<(NaiveDate, Range<usize>)>,
    /// Whether it is as `init` wrote it.
    pub(crate) is_new: bool,
}

impl Footer {
    /// Parses the footer anywhere in the text, also in code, because nobody quotes a footer.
    pub(crate) fn parse(text: &str) -> Self {
        let mut footer = Self::default();
        for (start, value) in values(&ANCHOR, text) {
            let value = value.trim_end();
            let is_new = value.ends_with(INIT_NOTE);
            let hash = find_hash(value).filter(|_| !is_new);
            let place = hash.clone().unwrap_or(0..value.len());
            footer.is_new |= is_new;
            footer.anchors.push(Anchor {
                hash: hash.map(|hash| value[hash].to_owned()),
                range: start + place.start..start + place.end,
                comment: None,
            });
        }
        footer.anchors.extend(COMMENT.captures_iter(text).filter_map(|found| {
            let (comment, hash) = (found.get(0)?, found.get(1)?);
            Some(Anchor {
                hash: Some(hash.as_str().to_owned()),
                range: hash.range(),
                comment: Some(comment.range()),
            })
        }));
        let days = values(&UPDATED, text);
        footer.updated =
            days.filter_map(|(at, day)| Some((parse_date(day)?, at..at + day.len()))).last();
        footer
    }

    /// Returns whether a line is part of a footer, or a comment that another tool reads.
    pub(crate) fn is_part(line: &str) -> bool {
        [&ANCHOR, &UPDATED, &COMMENT].into_iter().any(|kind| kind.is_match(line))
    }

    /// Returns the last anchor of our format.
    pub(crate) fn own_anchor(&self) -> Option<&Anchor> {
        self.anchors.iter().rfind(|anchor| anchor.comment.is_none())
    }

    /// Returns the effective hash: the footer's, or else the one in another tool's comment.
    pub(crate) fn hash(&self) -> Option<&str> {
        let newest = |is_comment: bool| {
            let mut anchors = self.anchors.iter().rev();
            anchors
                .find_map(|one| one.hash.as_deref().filter(|_| one.comment.is_some() == is_comment))
        };
        newest(false).or_else(|| newest(true))
    }

    /// Returns the edits that set every anchor and the day, none if all anchors are set; a missing line goes below the
    /// day, or to the end.
    fn advance(&self, text: &str, hash: &str, today: NaiveDate) -> Vec<Edit> {
        let end = line_end(text);
        let stale = self.anchors.iter().filter(|anchor| anchor.hash.as_deref() != Some(hash));
        let mut edits: Vec<Edit> =
            stale.map(|anchor| Edit::replace(anchor.range.clone(), hash)).collect();
        let day = self.updated.as_ref().map(|(_, range)| range.clone());
        if self.own_anchor().is_none() {
            let below_day =
                |day: &Range<usize>| text[day.end..].find('\n').map(|at| day.end + at + 1);
            let at = day.as_ref().and_then(below_day).unwrap_or(text.len());
            let head = match day {
                Some(_) => String::new(),
                None => format!("{end}---{end}Last memory update: {today}{end}"),
            };
            let gap = line_gap(&text[..at], end);
            let line = format!("{gap}{head}Commits covered through: {hash}{end}");
            edits.push(Edit::insert(at, line));
        }
        if !edits.is_empty() {
            edits.extend(day.map(|day| Edit::replace(day, today.to_string())));
        }
        edits
    }

    /// Returns other tools' comments with their hash replaced by another one.
    pub(crate) fn comments(&self, text: &str, hash: &str) -> Vec<String> {
        let changed = |anchor: &Anchor| {
            let whole = anchor.comment.clone()?;
            let before = &text[whole.start..anchor.range.start];
            Some(format!("{before}{hash}{}", &text[anchor.range.end..whole.end]))
        };
        self.anchors.iter().filter_map(changed).collect()
    }
}

/// Returns the values of the lines of a kind, with their byte offsets.
fn values<'t>(kind: &'static Regex, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    kind.captures_iter(text).filter_map(|found| {
        let value = found.get(1)?;
        Some((value.start(), value.as_str()))
    })
}

/// Returns the place of the hash in a text: the first long word of hexadecimal digits, or else the whole text.
///
/// Some English words consist of such digits, and days do.
fn find_hash(text: &str) -> Option<Range<usize>> {
    let mut words = HASH.find_iter(text);
    let is_hash = |word: &str| word.bytes().any(|b| b.is_ascii_digit()) && !is_compact_date(word);
    if let Some(word) = words.find(|word| is_hash(word.as_str())) {
        return Some(word.range());
    }
    let whole = text.trim_matches(['`', ' ']);
    let at = text.find(whole).unwrap_or_default();
    (is_hash_prefix(whole) && !is_compact_date(whole)).then_some(at..at + whole.len())
}

/// Returns whether a word is a day such as `20260217`.
fn is_compact_date(word: &str) -> bool {
    word.len() == 8 && word.starts_with("20") && NaiveDate::parse_from_str(word, "%Y%m%d").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_placeholders_and_no_work_is_uninitialised() {
        let state = |work: &str, objective: &str| {
            format!("# State\n\n## Current Objective\n{objective}\n\n## Active Work\n- {work}\n")
        };
        for (text, expected) in [
            (state(UNKNOWN, UNKNOWN), true),
            (state("None", UNKNOWN), true),
            (state("Unknown (needs human).", "Ship it"), true),
            (state("Write the parser", UNKNOWN), false),
            (state("Write the parser", "Ship it"), false),
            (state("None", "Ship it"), false),
            (String::new(), true),
            ("# State\n\n## Current Objective\n\n## Active Work\n".to_owned(), true),
            ("<!-- DO:\nx -->\n# State\n\n---\nLast memory update: 2026-01-02\n".to_owned(), true),
            (state("unknown (needs human)", ""), true),
            (state("", "Ship it"), false),
            (state("#42: write the parser", "#41 Release"), false),
            (state("", "Automate the `needs triage` label"), false),
            (state("<https://example.org/board>", ""), false),
            ("# State\n\n## Quick Reference\n- Run:\n".to_owned(), true),
            ("# Where we are\n\nFree text.\n".to_owned(), false),
        ] {
            assert_eq!(is_uninitialised(&text), expected, "{text}");
        }
    }

    #[test]
    fn sections_are_found_by_the_prefix_of_their_titles() {
        let text = "## Next Actions\n- [ ] one\n- two\n\n## Out of Scope (for now)\n- x\n";
        let sections = sections(text);
        let next = &sections[3].as_ref().unwrap().bullets;
        let next: Vec<_> = next.iter().map(|one| (one.text.as_str(), one.has_box)).collect();
        assert_eq!(next, [("one", true), ("two", false)]);
        assert_eq!(sections[5].as_ref().unwrap().bullets.len(), 1);
        assert_eq!(sections[0], None);
    }

    const HASH: &str = "0195fbb00dfc222506b3fb51c5183ed993740d2f";

    #[test]
    fn anchors_of_every_format_are_parsed() {
        for (line, hash) in [
            ("Commits covered through: abc1234 (the parser)", Some("abc1234")),
            ("**Commits covered through:** `abc1234`", Some("abc1234")),
            ("- commits covered through: abc1234\r", Some("abc1234")),
            ("Commits covered through: — abc1234", Some("abc1234")),
            ("Commits covered through: none yet", None),
            ("Commits covered through: abc1234 (nothing is covered yet)", None),
            ("Commits covered through:", None),
        ] {
            let footer = Footer::parse(&format!("# State\n{line}\n"));
            assert_eq!(footer.hash(), hash, "{line:?}");
            assert_eq!(footer.anchors.len(), 1, "{line:?}");
        }
        for line in ["<!-- chinvex:last-commit:abc1234 -->", "<!--mine:last-commit:abc1234-->"] {
            assert_eq!(Footer::parse(line).hash(), Some("abc1234"), "{line:?}");
        }
        assert_eq!(Footer::parse("Commits are covered through tests"), Footer::default());
    }

    #[test]
    fn a_date_or_a_word_is_not_taken_for_the_hash() {
        for (value, hash) in [
            ("2026-02-17 (d0eaf53)", Some("d0eaf53")),
            ("2026-02-17", None),
            ("February 2026", None),
            ("20260217 (d0eaf53)", Some("d0eaf53")),
            ("added by hand, d0eaf53", Some("d0eaf53")),
            ("added by hand", None),
            ("defaced", Some("defaced")),
            ("defaced (by hand)", None),
            ("abcd", Some("abcd")),
            ("fix-d0eaf53", Some("d0eaf53")),
        ] {
            let line = format!("Commits covered through: {value}\n");
            let footer = Footer::parse(&line);
            assert_eq!(footer.hash(), hash, "{value:?}");
            if let Some(hash) = hash {
                assert_eq!(&line[footer.anchors[0].range.clone()], hash);
            }
        }
    }

    #[test]
    fn a_marker_counts_only_inside_a_comment() {
        let text = "See <!-- note --> for t:last-commit:abc1234\n";
        assert_eq!(Footer::parse(text), Footer::default());
        let text = "<!-- a --> <!-- t:last-commit:abc1234 --> x:last-commit:def5678\n";
        let footer = Footer::parse(text);
        assert_eq!(footer.hash(), Some("abc1234"));
        assert_eq!(footer.comments(text, HASH), [format!("<!-- t:last-commit:{HASH} -->")]);
    }

    #[test]
    fn the_footer_takes_precedence_and_comments_advance_too() {
        let text = "x\r\n---\r\nLast memory update: 2026-02-07\r\nCommits covered through: abc1234 (y)\r\n\r\n<!-- t:last-commit:def5678 -->\r\n";
        let footer = Footer::parse(text);
        assert_eq!(footer.hash(), Some("abc1234"));
        let today = parse_date("2026-03-01").unwrap();
        let edited = edit::apply(text, footer.advance(text, HASH, today));
        let expected = format!(
            "x\r\n---\r\nLast memory update: 2026-03-01\r\nCommits covered through: {HASH} (y)\r\n\r\n<!-- t:last-commit:{HASH} -->\r\n"
        );
        assert_eq!(edited, expected);
        assert_eq!(footer.comments(text, HASH), [format!("<!-- t:last-commit:{HASH} -->")]);
    }

    #[test]
    fn a_missing_footer_is_appended() {
        let today = parse_date("2026-03-01").unwrap();
        let append = |text: &str| edit::apply(text, Footer::parse(text).advance(text, HASH, today));
        let footer =
            format!("\n---\nLast memory update: 2026-03-01\nCommits covered through: {HASH}\n");
        assert_eq!(append("# State"), format!("# State\n{footer}"));
        assert_eq!(append(&append("# State")), append("# State"));
    }

    #[test]
    fn a_footer_that_lacks_a_line_is_completed_where_it_is() {
        let today = parse_date("2026-03-01").unwrap();
        let comment = |hash: &str| format!("<!-- t:last-commit:{hash} -->");
        let (old, new) = (comment("abc1234"), comment(HASH));
        let day = "Last memory update: 2026-03-01";
        let line = format!("Commits covered through: {HASH}");
        for (before, after) in [
            (
                format!("# State\n\n---\nLast memory update: 2026-02-07\n{old}\n"),
                format!("# State\n\n---\n{day}\n{line}\n{new}\n"),
            ),
            (
                format!("{old}\n# State\n\n---\nLast memory update: 2026-02-07"),
                format!("{new}\n# State\n\n---\n{day}\n{line}\n"),
            ),
            // A rule above other text is not the footer's.
            (
                format!("# State\n\n---\nOne\n{old}\n"),
                format!("# State\n\n---\nOne\n{new}\n\n---\n{day}\n{line}\n"),
            ),
            (
                format!("{old}\n# State\n\n---\n"),
                format!("{new}\n# State\n\n---\n\n---\n{day}\n{line}\n"),
            ),
        ] {
            for end in ["\n", "\r\n"] {
                let (before, after) = (before.replace('\n', end), after.replace('\n', end));
                let edits = Footer::parse(&before).advance(&before, HASH, today);
                let edited = edit::apply(&before, edits);
                assert_eq!(edited, after);
                let again = Footer::parse(&after).advance(&after, HASH, today);
                assert_eq!(edit::apply(&after, again), after);
            }
        }
    }
}
