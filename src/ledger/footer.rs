//! The footer of STATE.md: the commit that the ledger covers, in our format and in other tools'.

use std::ops::Range;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use crate::clock::parse_date;
use crate::git::is_hash_prefix;
use crate::markdown::edit::Edit;
use crate::text::{line_end, line_gap, pattern};

/// The placeholder for a hash if nothing is covered yet.
pub(crate) const NO_HASH: &str = "none yet";

/// The note after the hash that `init` writes: the checked-out commit, which covers nothing yet.
pub(crate) const INIT_NOTE: &str = "(nothing is covered yet)";

static ANCHOR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?im)^[>*_ \t-]*commits covered through[*_ ]*:[*_ ]*(.*)$"));
static UPDATED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?im)^[>*_ \t-]*last memory update[*_ ]*:[*_` ]*([0-9/-]*)"));
/// The comment that another tool reads.
static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"<!--[^\n>]*:last-commit:([0-9A-Fa-f]{4,64})\b[^\n]*?-->"));
/// A word that is long enough to be no other word, and a year neither.
static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9A-Fa-f]{7,64}\b"));

/// A hash that stands for all commits up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The hash as written, or `None` if the line has none.
    pub(crate) hash: Option<String>,
    /// Byte range of the hash or its placeholder.
    pub(crate) range: Range<usize>,
    /// The whole comment, if it is one that another tool reads.
    pub(crate) comment: Option<Range<usize>>,
}

/// The footer of STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        for found in ANCHOR.captures_iter(text).filter_map(|found| found.get(1)) {
            let value = found.as_str().trim_end();
            let is_new = value.ends_with(INIT_NOTE);
            let hash = find_hash(value).filter(|_| !is_new);
            let place = hash.clone().unwrap_or(0..value.len());
            footer.is_new |= is_new;
            footer.anchors.push(Anchor {
                hash: hash.map(|hash| value[hash].to_owned()),
                range: found.start() + place.start..found.start() + place.end,
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
        let days = UPDATED.captures_iter(text).filter_map(|found| found.get(1));
        footer.updated =
            days.filter_map(|day| Some((parse_date(day.as_str())?, day.range()))).last();
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
    pub(crate) fn advance(&self, text: &str, hash: &str, today: NaiveDate) -> Vec<Edit> {
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
        let edited = crate::markdown::edit::apply(text, footer.advance(text, HASH, today));
        let expected = format!(
            "x\r\n---\r\nLast memory update: 2026-03-01\r\nCommits covered through: {HASH} (y)\r\n\r\n<!-- t:last-commit:{HASH} -->\r\n"
        );
        assert_eq!(edited, expected);
        assert_eq!(footer.comments(text, HASH), [format!("<!-- t:last-commit:{HASH} -->")]);
    }

    #[test]
    fn a_missing_footer_is_appended() {
        let today = parse_date("2026-03-01").unwrap();
        let append = |text: &str| {
            crate::markdown::edit::apply(text, Footer::parse(text).advance(text, HASH, today))
        };
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
                let edited = crate::markdown::edit::apply(&before, edits);
                assert_eq!(edited, after);
                let again = Footer::parse(&after).advance(&after, HASH, today);
                assert_eq!(crate::markdown::edit::apply(&after, again), after);
            }
        }
    }
}
