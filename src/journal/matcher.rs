//! Prefilters lines fast, and decides for each candidate whether it matches.

use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Error, Result};
use crate::journal::filter::QueryFilter;
use crate::journal::query::{JournalQuery, Mode};
use crate::journal::record::{JournalRecord, trimmed};
use crate::journal::{MAX_LINE, escape};

/// Maximum size of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 2 * 1024 * 1024;

/// Minimum length of a part of a query that is selective enough to be searched for alone, in bytes.
const MIN_PART_LENGTH: usize = 3;

/// Number of characters of a query that are searched for in all their JSON encodings.
const MAX_ENCODED_CHARS: usize = 16;

/// The result of comparing a line with a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineMatch {
    /// It does not match.
    Other,
    /// It looks like a match, but is not a JSON object.
    Malformed,
    /// It matches.
    Match,
}

/// A compiled query.
pub(crate) struct Matcher {
    text: Text,
    mode: Mode,
    prefilter: Prefilter,
    /// Whether decoded text may match although the raw line does not.
    decodes: bool,
    filter: QueryFilter,
}

enum Text {
    Literal(Box<Finder<'static>>),
    Regex(Regex),
}

/// How candidate lines are found.
enum Prefilter {
    /// They contain one of these.
    Parts(Vec<Finder<'static>>),
    /// They match this regular expression, which includes escaped forms.
    Encoded(Regex),
    /// All lines are candidates.
    None,
}

impl Matcher {
    /// Compiles a query; fails if its regular expression or its times are invalid.
    pub(crate) fn new(query: &JournalQuery) -> Result<Self> {
        let filter = QueryFilter::new(query)?;
        let (mode, text) = (query.mode, query.q.as_str());
        if let Some((pattern, case)) = regex_of(text) {
            return Ok(Self {
                text: Text::Regex(compiled(pattern, case)?),
                mode,
                prefilter: Prefilter::None,
                decodes: mode != Mode::Rg,
                filter,
            });
        }
        let is_plain = text.chars().all(is_plain);
        Ok(Self {
            text: Text::Literal(Box::new(finder(text))),
            mode,
            prefilter: prefilter(text, mode, is_plain)?,
            decodes: match mode {
                Mode::Rg => false,
                Mode::Jq => true,
                Mode::Hybrid => !is_plain,
            },
            filter,
        })
    }

    /// Returns whether lines can be skipped without parsing them.
    pub(crate) fn has_prefilter(&self) -> bool {
        !matches!(self.prefilter, Prefilter::None)
    }

    /// Returns whether any of these lines may match.
    pub(crate) fn has_candidates(&self, lines: &[u8]) -> bool {
        match &self.prefilter {
            Prefilter::None => !lines.is_empty(),
            Prefilter::Encoded(regex) => regex.is_match(lines),
            Prefilter::Parts(parts) => parts.iter().any(|part| part.find(lines).is_some()),
        }
    }

    /// Returns the lines that may match, in file order.
    pub(crate) fn candidates(&self, lines: &[u8]) -> Vec<Range<usize>> {
        match &self.prefilter {
            Prefilter::None => every_line(lines),
            Prefilter::Encoded(regex) => {
                let next = |at| regex.find_at(lines, at).map(|found| found.start());
                lines_at(lines, next)
            }
            Prefilter::Parts(parts) => match &parts[..] {
                [part] => lines_with(part, lines),
                parts => {
                    let all = parts.iter().flat_map(|part| lines_with(part, lines));
                    let mut all: Vec<_> = all.collect();
                    all.sort_unstable_by_key(|line| line.start);
                    all.dedup();
                    all
                }
            },
        }
    }

    /// Compares a line with the query.
    pub(crate) fn verdict(&self, line: &[u8]) -> LineMatch {
        let line = trimmed(line);
        if line.is_empty() {
            return LineMatch::Other;
        }
        if line.len() > MAX_LINE {
            return LineMatch::Malformed;
        }
        let is_raw = self.mode != Mode::Jq && self.text.is_in(line);
        if !is_raw && !self.decodes {
            return LineMatch::Other;
        }
        match JournalRecord::parse(line) {
            None if is_raw => LineMatch::Malformed,
            None => LineMatch::Other,
            Some(record) => {
                let matches =
                    is_raw || record.texts().iter().any(|text| self.text.is_in(text.as_bytes()));
                if matches && self.filter.accepts(&record) {
                    LineMatch::Match
                } else {
                    LineMatch::Other
                }
            }
        }
    }
}

impl Text {
    fn is_in(&self, text: &[u8]) -> bool {
        match self {
            Self::Literal(finder) => finder.find(text).is_some(),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Whether a regular expression is case-sensitive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterCase {
    Matters,
    Ignored,
}

/// Returns the regular expression between the slashes of a query.
fn regex_of(query: &str) -> Option<(&str, LetterCase)> {
    let inner = query.strip_prefix('/')?;
    let (pattern, case) = match inner.strip_suffix("/i") {
        Some(pattern) => (pattern, LetterCase::Ignored),
        None => (inner.strip_suffix('/')?, LetterCase::Matters),
    };
    (!pattern.is_empty()).then_some((pattern, case))
}

fn compiled(pattern: &str, case: LetterCase) -> Result<Regex> {
    RegexBuilder::new(pattern)
        .case_insensitive(case == LetterCase::Ignored)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|error| {
            let fault = error.to_string();
            let last = fault.lines().last().unwrap_or_default();
            let last = last.trim_start_matches("error: ");
            Error::failed(format!("the regular expression /{pattern}/ is invalid: {last}"))
        })
}

/// Determines what every matching line must contain.
fn prefilter(text: &str, mode: Mode, is_plain: bool) -> Result<Prefilter> {
    if text.is_empty() {
        return Ok(Prefilter::None);
    }
    if mode == Mode::Rg || (is_plain && mode == Mode::Hybrid) {
        return Ok(Prefilter::Parts(vec![finder(text)]));
    }
    let part = text.split(|c| !self::is_plain(c)).max_by_key(|part| part.len());
    match part.filter(|part| part.len() >= MIN_PART_LENGTH || is_plain) {
        // No writer escapes such characters, but this mode promises to search the decoded text.
        Some(part) if mode == Mode::Jq => Ok(Prefilter::Parts(vec![finder(part), finder("\\u00")])),
        Some(part) => Ok(Prefilter::Parts(vec![finder(part)])),
        None => {
            let encoded: String = text.chars().take(MAX_ENCODED_CHARS).map(encoded).collect();
            let raw = regex::escape(text);
            let either = format!("{encoded}|{raw}");
            compiled(&either, LetterCase::Matters).map(Prefilter::Encoded)
        }
    }
}

/// Returns whether a character is unescaped in every JSON text that programs write.
fn is_plain(c: char) -> bool {
    // Some programs escape characters with a meaning in HTML, the slash, or all but the most basic ASCII.
    matches!(c, ' '..='~')
        && !matches!(c, '"' | '\\' | '/' | '<' | '>' | '&' | '\'' | '+' | '`' | '=')
}

/// Returns a pattern for all JSON encodings of a character.
fn encoded(c: char) -> String {
    let mut forms = vec![regex::escape(&c.to_string())];
    let short = match c {
        '"' | '\\' | '/' => Some(c),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        _ => None,
    };
    forms.extend(short.map(|short| regex::escape(&format!("\\{short}"))));
    let mut escaped = String::new();
    escape::push(c, &mut escaped);
    let escaped = escaped.replace("\\u", "\\\\u");
    forms.push(format!("(?i:{escaped})"));
    format!("(?:{})", forms.join("|"))
}

fn finder(text: &str) -> Finder<'static> {
    Finder::new(text).into_owned()
}

fn every_line(lines: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut found = Vec::new();
    for newline in memchr_iter(b'\n', lines) {
        found.push(start..newline + 1);
        start = newline + 1;
    }
    if start < lines.len() {
        found.push(start..lines.len());
    }
    found
}

fn lines_with(part: &Finder, lines: &[u8]) -> Vec<Range<usize>> {
    lines_at(lines, |at| part.find(&lines[at..]).map(|found| at + found))
}

/// Returns the lines in which `next` finds something; after a hit, the search continues at the next line.
fn lines_at(lines: &[u8], next: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(place) = next(at) {
        let start = memrchr(b'\n', &lines[at..place]).map_or(at, |newline| at + newline + 1);
        let end = memchr(b'\n', &lines[place..]).map_or(lines.len(), |newline| place + newline + 1);
        found.push(start..end);
        at = end;
        if at >= lines.len() {
            break;
        }
    }
    found
}
