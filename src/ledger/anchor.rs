//! Parses the commit that STATE.md covers, in our format and the formats of other tools.

use std::ops::Range;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::git::is_hash_prefix;
use crate::ledger::apply::line_gap;
use crate::markdown::edit::Edit;

/// The placeholder for a hash if nothing is covered yet.
pub(crate) const NO_HASH: &str = "none yet";

/// The note after the hash that `init` writes: the checked-out commit, which covers nothing yet.
pub(crate) const INIT_NOTE: &str = "(nothing is covered yet)";

const ANCHOR_LABEL: &str = "commits covered through";
const UPDATED_LABEL: &str = "last memory update";
const COMMENT_MARKER: &str = ":last-commit:";

/// A hash that stands for all commits up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The hash as written, or `None` if the line has none.
    pub(crate) hash: Option<String>,
    /// Byte range of the hash or its placeholder.
    pub(crate) range: Range<usize>,
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Whether it is a comment that another tool reads.
    pub(crate) is_comment: bool,
}

/// The footer of STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Every anchor in file order.
    pub(crate) anchors: Vec<Anchor>,
    /// The day of the last update, and its byte range.
    pub(crate) updated: Option<(NaiveDate, Range<usize>)>,
    /// Whether it is as `init` wrote it.
    pub(crate) is_new: bool,
}

impl Footer {
    /// Parses the footer anywhere in the text; code fences are ignored, because nobody quotes a footer.
    pub(crate) fn parse(text: &str) -> Self {
        let mut footer = Self::default();
        let mut start = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            footer.read_line(line, start, index + 1);
            start += line.len();
        }
        footer
    }

    /// Returns whether a line is one of the footer.
    pub(crate) fn is_part(line: &str) -> bool {
        [ANCHOR_LABEL, UPDATED_LABEL].iter().any(|label| value_offset(line, label).is_some())
    }

    fn read_line(&mut self, line: &str, start: usize, number: usize) {
        let mut push = |at: usize, length: usize, hash: Option<&str>, is_comment: bool| {
            self.anchors.push(Anchor {
                hash: hash.map(str::to_owned),
                range: start + at..start + at + length,
                line: number,
                is_comment,
            });
        };
        if let Some(at) = value_offset(line, ANCHOR_LABEL) {
            let value = line[at..].trim_end();
            match find_hash(value) {
                Some(_) if value.ends_with(INIT_NOTE) => {
                    push(at, value.len(), None, false);
                    self.is_new = true;
                }
                Some((offset, hash)) => push(at + offset, hash.len(), Some(hash), false),
                None => push(at, value.len(), None, false),
            }
        } else if let Some(at) = comment_offset(line) {
            let rest = &line[at..];
            let hash = rest.split(|c: char| !c.is_ascii_alphanumeric()).next();
            if let Some(hash) = hash.filter(|hash| is_hash_prefix(hash)) {
                push(at, hash.len(), Some(hash), true);
            }
        } else if let Some(at) = value_offset(line, UPDATED_LABEL)
            && let Some(day) = parse_date(line[at..].trim_matches(['*', '`', '_', ' ', '\r', '\n']))
        {
            let offset = line[at..].find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let length = line[at + offset..]
                .find(|c: char| !c.is_ascii_digit() && !"-/".contains(c))
                .unwrap_or(line.len() - at - offset);
            let from = start + at + offset;
            self.updated = Some((day, from..from + length));
        }
    }

    /// Returns the effective hash: the footer's, or else the one in another tool's comment.
    pub(crate) fn hash(&self) -> Option<&str> {
        let newest = |is_comment: bool| {
            let anchors = self.anchors.iter().rev();
            anchors
                .filter(|anchor| anchor.is_comment == is_comment)
                .find_map(|anchor| anchor.hash.as_deref())
        };
        newest(false).or_else(|| newest(true))
    }

    /// Returns the edits that set every anchor and the day; a missing footer is appended.
    pub(crate) fn advance(
        &self,
        text: &str,
        hash: &str,
        today: NaiveDate,
        line_end: &str,
    ) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self
            .anchors
            .iter()
            .filter(|anchor| anchor.hash.as_deref() != Some(hash))
            .map(|anchor| Edit::replace(anchor.range.clone(), hash))
            .collect();
        if let Some((_, range)) = &self.updated {
            edits.push(Edit::replace(range.clone(), today.to_string()));
        }
        if self.anchors.iter().all(|anchor| anchor.is_comment) {
            let place = self.line_offset(text);
            let mut lines = Vec::new();
            if place.is_none() {
                lines.extend([String::new(), "---".to_owned()]);
            }
            if self.updated.is_none() {
                lines.push(format!("Last memory update: {today}"));
            }
            lines.push(format!("Commits covered through: {hash}"));
            let at = place.unwrap_or(text.len());
            let gap = line_gap(&text[..at], line_end);
            let lines = lines.join(line_end);
            edits.push(Edit::insert(at, format!("{gap}{lines}{line_end}")));
        }
        edits
    }

    /// Returns the byte offset where a missing line of the footer belongs: after the date, or if there is none, after
    /// the `---` before the comment at the end of the text. `None` without a footer.
    fn line_offset(&self, text: &str) -> Option<usize> {
        let after_line = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        if let Some((_, day)) = &self.updated {
            return Some(after_line(day.end));
        }
        let mut end = text.len();
        let mut has_comment = false;
        for line in text.split_inclusive('\n').rev() {
            if line.trim() == "---" {
                return has_comment.then_some(end);
            }
            has_comment |= comment_offset(line).is_some();
            if !line.trim().is_empty() && comment_offset(line).is_none() {
                return None;
            }
            end -= line.len();
        }
        None
    }

    /// Returns other tools' comments with their hash replaced by another one.
    pub(crate) fn comments(&self, text: &str, hash: &str) -> Vec<String> {
        let comments = self.anchors.iter().filter(|anchor| anchor.is_comment);
        comments
            .filter_map(|anchor| {
                let start = text[..anchor.range.start].rfind("<!--")?;
                let length = text[anchor.range.end..].find("-->")? + "-->".len();
                let (before, after) = (
                    &text[start..anchor.range.start],
                    &text[anchor.range.end..anchor.range.end + length],
                );
                Some(format!("{before}{hash}{after}"))
            })
            .collect()
    }
}

/// Returns the byte offset of a label's value in a line, after any emphasis markers.
fn value_offset(line: &str, label: &str) -> Option<usize> {
    let trimmed = line.trim_start_matches(['*', '_', '-', '>', ' ', '\t']);
    let start = line.len() - trimmed.len();
    let head = trimmed.get(..label.len())?;
    if !head.eq_ignore_ascii_case(label) {
        return None;
    }
    let rest = trimmed[label.len()..].trim_start_matches(['*', '_', ' ']);
    let value = rest.strip_prefix(':')?.trim_start_matches(['*', '_', ' ']);
    Some(start + (trimmed.len() - value.len()))
}

/// Returns the byte offset of a hash in another tool's comment: that after the marker.
fn comment_offset(line: &str) -> Option<usize> {
    line.match_indices(COMMENT_MARKER)
        .find(|(at, _)| {
            let before = &line[..*at];
            let open = before.rfind("<!--");
            open.is_some_and(|open| !before[open..].contains("-->"))
        })
        .map(|(at, marker)| at + marker.len())
}

/// Returns whether a line is part of a footer, or a comment that another tool reads.
pub(crate) fn is_footer_line(line: &str) -> bool {
    Footer::is_part(line) || comment_offset(line).is_some()
}

/// Minimum length of a hash where a shorter one could be a word or a number; git's default.
const USUAL_LENGTH: usize = 7;

/// Returns the hash in a text with its byte offset.
///
/// A year or an English word such as `added` also consists of hexadecimal digits: dates are skipped, and the
/// first word that is as long as hashes usually are and contains a digit takes precedence.
fn find_hash(text: &str) -> Option<(usize, &str)> {
    let candidates = hash_candidates(text);
    let has_digit = |word: &str| word.bytes().any(|b| b.is_ascii_digit());
    let is_usual = |(_, word): &&(usize, &str)| word.len() >= USUAL_LENGTH && has_digit(word);
    if let Some(found) = candidates.iter().find(is_usual) {
        return Some(*found);
    }
    let is_mixed = |word: &str| has_digit(word) && word.bytes().any(|b| b.is_ascii_alphabetic());
    if let Some(found) = candidates.iter().find(|(_, word)| is_mixed(word)) {
        return Some(*found);
    }
    let [(at, word)] = candidates[..] else {
        return None;
    };
    let is_alone = text.trim_matches(|c: char| !c.is_alphanumeric()) == word;
    (word.len() >= USUAL_LENGTH || is_alone).then_some((at, word))
}

/// Returns the words that could be hashes, with their byte offsets; parts of a date could not.
fn hash_candidates(text: &str) -> Vec<(usize, &str)> {
    let is_in_date = |c: char| c.is_ascii_alphanumeric() || "-/".contains(c);
    let mut found = Vec::new();
    let mut start = 0;
    for token in text.split(|c: char| !is_in_date(c)) {
        if parse_date(token).is_none() {
            let mut at = start;
            for word in token.split(['-', '/']) {
                if is_hash_prefix(word) && !is_compact_date(word) {
                    found.push((at, word));
                }
                at += word.len() + 1;
            }
        }
        // The separator may be longer than one byte.
        start += token.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

/// Returns whether a word is a day such as `20260217`.
pub(crate) fn is_compact_date(word: &str) -> bool {
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
            ("defaced, then d0ea", Some("d0ea")),
            ("defaced (by hand)", Some("defaced")),
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
        let edited = crate::markdown::edit::apply(text, footer.advance(text, HASH, today, "\r\n"));
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
            crate::markdown::edit::apply(text, Footer::parse(text).advance(text, HASH, today, "\n"))
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
            (
                format!("# State\n\n---\n\n{old}\n"),
                format!("# State\n\n---\n{day}\n{line}\n\n{new}\n"),
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
                let edits = Footer::parse(&before).advance(&before, HASH, today, end);
                let edited = crate::markdown::edit::apply(&before, edits);
                assert_eq!(edited, after);
                let again = Footer::parse(&after).advance(&after, HASH, today, end);
                assert_eq!(crate::markdown::edit::apply(&after, again), after);
            }
        }
    }
}
