//! Searches the journal from its end, in a window that grows until it contains enough results.

use std::ops::Range;
use std::path::Path;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};
use clap::Args;
use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};
use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{At, Error, Result};
use crate::journal::file;
use crate::journal::file::{
    BackwardReader, JournalRecord, Region, displayed, open, records, trimmed,
};
use crate::journal::write::input;
use crate::text::word_enum;

/// Number of results, and size of the first window in lines, if the query names none.
const LIMIT: usize = 20;
const FIRST_WINDOW: usize = 50_000;
/// Maximum size to which a search window grows by itself, in lines.
pub const MAX_WINDOW: usize = 1_000_000;

/// Maximum total size of the results, in bytes; the first result is always returned.
const MAX_BYTES: usize = 4 * 1024 * 1024;

word_enum! {
    /// The text that a query is compared with.
    #[derive(Default)]
    pub enum Mode {
        /// The raw line of the file, and its decoded texts if the query may be escaped in the line.
        #[default]
        Hybrid = "hybrid",
        /// The raw line of the file.
        Rg = "rg",
        /// The decoded texts of content, type, tags and meta.
        Jq = "jq",
    }
}

/// A search: the text to find, the search window, and filters.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    /// A literal text in its case, or `/…/` or `/…/i` for a regular expression; an empty text matches every line.
    #[arg(skip)]
    pub q: String,
    /// Maximum number of results [default: 20]
    #[arg(long, value_name = "N", requires = "q")]
    pub limit: Option<usize>,
    /// Number of lines at the end to search first [default: 50000]
    #[arg(long, value_name = "N", requires = "q")]
    pub window_lines: Option<usize>,
    /// Search the raw lines (rg), their decoded texts (jq), or both where a line may escape Q (hybrid)
    /// [default: hybrid]
    #[arg(long, requires = "q")]
    pub mode: Option<Mode>,
    /// The type that a record must have
    #[arg(long = "type", value_name = "TYPE", requires = "q")]
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// A tag that a record must have; may be given several times
    #[arg(long = "tag", value_name = "TAG", requires = "q")]
    pub tags: Option<Vec<String>>,
    /// Only records from this day or time on
    #[arg(long, value_name = "TIME", requires = "q")]
    pub since: Option<String>,
    /// Only records up to this day or time
    #[arg(long, value_name = "TIME", requires = "q")]
    pub until: Option<String>,
}

impl JournalQuery {
    /// Creates a search for a text, with defaults for everything else.
    pub fn new(q: impl Into<String>) -> Self {
        Self { q: q.into(), ..Self::default() }
    }

    /// Parses a search from a JSON object `{q, limit?, window_lines?, mode?, …}`.
    pub fn parse(json: &[u8]) -> Result<Self> {
        input(json)
    }

    /// Returns the size of the first window.
    fn first_window(&self) -> usize {
        self.window_lines.unwrap_or(FIRST_WINDOW)
    }

    /// Returns the maximum number of lines that are searched; a requested window may be larger than the default.
    fn widest_window(&self) -> usize {
        self.first_window().max(MAX_WINDOW)
    }

    /// Returns the size of the first window, after growth, that contains this many lines.
    fn window_for(&self, lines: usize) -> usize {
        let widest = self.widest_window();
        let mut window = self.first_window();
        while window < lines && window < widest {
            window = window.saturating_mul(4).min(widest);
        }
        window
    }
}

/// The results of a search.
#[derive(Debug, Serialize)]
pub struct SearchResults {
    /// The matching records, latest first, each as it is displayed.
    pub results: Vec<Box<RawValue>>,
    /// Whether the window contains more matches than the limit, or than fit into 4 MiB.
    pub truncated: bool,
    /// Size of the search window after growth, in lines from the end.
    pub used_window_lines: usize,
    /// Number of lines that looked like matches but are not JSON objects, or are too long to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<usize>,
}

/// Searches the journal; a missing or empty one has no results.
pub fn search(path: &Path, query: &JournalQuery) -> Result<SearchResults> {
    for (name, number) in [("limit", query.limit), ("window_lines", query.window_lines)] {
        if number == Some(0) {
            return Err(Error::failed(format!("{name} must be 1 or more")));
        }
    }
    let found = SearchResults {
        results: Vec::new(),
        truncated: false,
        used_window_lines: query.widest_window(),
        skipped: Some(0),
    };
    let mut search = Search { matcher: Matcher::new(query)?, found, lines: 0, bytes: 0 };
    if let Some((file, length)) = open(path)? {
        let mut reader = BackwardReader::new(&file, length);
        while let Some(region) = reader.next().at("read", path)? {
            if !search.region(&region)? {
                break;
            }
        }
    }
    Ok(search.found)
}

/// The state of a search from the end of the file to its beginning.
struct Search<'a> {
    matcher: Matcher<'a>,
    /// What was found; the window is the largest one, or the one that had enough results.
    found: SearchResults,
    /// Number of lines searched so far, from the end.
    lines: usize,
    /// Size of the results.
    bytes: usize,
}

impl Search<'_> {
    /// Searches a region, and returns whether to go on before it.
    fn region(&mut self, region: &Region) -> Result<bool> {
        let window = self.found.used_window_lines;
        self.skip(region.dropped.min(window - self.lines));
        self.lines += region.dropped;
        if self.lines >= window {
            return Ok(false);
        }
        let total = self.lines + count(region.lines);
        let lines = match total > window {
            true => last_lines(region.lines, window - self.lines),
            false => region.lines,
        };
        let mut behind = lines.len();
        // Number of lines between the candidate and the end of the file.
        let mut after = self.lines;
        for line in self.matcher.candidates(lines).into_iter().rev() {
            after += count(&lines[line.end..behind]);
            behind = line.end;
            let is_within = after < self.found.used_window_lines;
            if !is_within || !self.judge(&lines[line], after)? {
                return Ok(false);
            }
        }
        self.lines = total;
        Ok(total < self.found.used_window_lines)
    }

    fn skip(&mut self, lines: usize) {
        self.found.skipped = self.found.skipped.map(|skipped| skipped + lines);
    }

    /// Handles a candidate, and returns whether to go on; `after` is the number of lines after it.
    fn judge(&mut self, line: &[u8], after: usize) -> Result<bool> {
        let Some(records) = self.matcher.matches(line) else {
            self.skip(1);
            return Ok(true);
        };
        let query = self.matcher.query;
        let limit = query.limit.unwrap_or(LIMIT);
        for range in records.into_iter().rev() {
            let count = self.found.results.len();
            let window = query.window_for(after + 1).min(self.found.used_window_lines);
            if count == limit || count > 0 && self.bytes + range.len() > MAX_BYTES {
                self.found.truncated = true;
                self.found.used_window_lines = window;
                return Ok(false);
            }
            self.bytes += range.len();
            self.found.results.push(displayed(&line[range])?);
            if count + 1 == limit {
                self.found.used_window_lines = window;
            }
        }
        Ok(true)
    }
}

/// Counts the lines of a text, including a last one without a newline.
fn count(lines: &[u8]) -> usize {
    let is_open = lines.last().is_some_and(|last| *last != b'\n');
    memchr_iter(b'\n', lines).count() + usize::from(is_open)
}

/// Returns at most the last `most` lines of a text.
fn last_lines(lines: &[u8], most: usize) -> &[u8] {
    let body = lines.strip_suffix(b"\n").unwrap_or(lines);
    let newline = memrchr_iter(b'\n', body).nth(most.saturating_sub(1));
    newline.map_or(lines, |newline| &lines[newline + 1..])
}

/// A compiled query.
struct Matcher<'a> {
    query: &'a JournalQuery,
    mode: Mode,
    text: Regex,
    /// What every line that may match contains; without it, all lines may.
    prefilter: Option<Regex>,
    /// Whether decoded text may match although the raw line does not.
    decodes: bool,
    /// Whether it may have an anchor, which matches at the ends of a decoded text and not within its line.
    has_anchor: bool,
    since: Option<DateTime<Utc>>,
    before: Option<DateTime<Utc>>,
}

impl<'a> Matcher<'a> {
    /// Compiles a query; fails if its regular expression or its times are invalid.
    fn new(query: &'a JournalQuery) -> Result<Self> {
        let mode = query.mode.unwrap_or_default();
        let (text, prefilter, decodes) = if let Some(pattern) = expression(&query.q) {
            (compiled(&pattern)?, None, mode != Mode::Rg)
        } else {
            let is_plain = query.q.chars().all(is_plain);
            let decodes = mode == Mode::Jq || mode == Mode::Hybrid && !is_plain;
            let prefilter =
                prefilter(&query.q, decodes).map(|pattern| compiled(&pattern)).transpose()?;
            (compiled(&regex::escape(&query.q))?, prefilter, decodes)
        };
        let since = query.since.as_deref().map(|text| bound("since", text, 0)).transpose()?;
        let before = query.until.as_deref().map(|text| bound("until", text, 1)).transpose()?;
        let has_anchor = ["^", "$", "\\A", "\\z"].iter().any(|anchor| query.q.contains(anchor));
        Ok(Self { query, mode, text, prefilter, decodes, has_anchor, since, before })
    }

    /// Returns the lines that may match, in file order.
    fn candidates(&self, lines: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let place = match &self.prefilter {
                Some(prefilter) => prefilter.find_at(lines, at).map(|found| found.start()),
                None => Some(at),
            };
            let Some(place) = place else { break };
            let start = memrchr(b'\n', &lines[at..place]).map_or(at, |newline| at + newline + 1);
            let end =
                memchr(b'\n', &lines[place..]).map_or(lines.len(), |newline| place + newline + 1);
            found.push(start..end);
            at = end;
        }
        found
    }

    /// Returns the ranges of the matching records on a line, or `None` if the line matches but has no valid record.
    fn matches(&self, line: &[u8]) -> Option<Vec<Range<usize>>> {
        let is_raw = |text| self.mode != Mode::Jq && self.text.is_match(trimmed(text));
        let is_line = is_raw(line);
        // Without an escape, each decoded text is a part of the line.
        let may_be_decoded = || {
            self.decodes
                && (self.has_anchor
                    || memchr(b'\\', line).is_some()
                    || self.mode == Mode::Jq && self.text.is_match(trimmed(line)))
        };
        if trimmed(line).is_empty() || !is_line && !may_be_decoded() {
            return Some(Vec::new());
        }
        let (records, is_whole) = records(line);
        if records.is_empty() && !is_whole && is_line {
            return None;
        }
        let found = records.into_iter().filter(|(range, record)| {
            (is_raw(&line[range.clone()])
                || self.decodes && record.texts().any(|text| self.text.is_match(text.as_bytes())))
                && self.accepts(record)
        });
        Some(found.map(|(range, _)| range).collect())
    }

    /// Returns whether a record passes all filters.
    fn accepts(&self, record: &JournalRecord) -> bool {
        let tags = record.tags();
        let is_in_time = || {
            record.time().is_some_and(|time| {
                self.since.is_none_or(|since| time >= since)
                    && self.before.is_none_or(|before| time < before)
            })
        };
        self.query.kind.as_deref().is_none_or(|kind| record.text("type") == Some(kind))
            && self.query.tags.iter().flatten().all(|tag| tags.contains(&tag.as_str()))
            && (self.since.is_none() && self.before.is_none() || is_in_time())
    }
}

/// Returns the regular expression between the slashes of a query.
fn expression(query: &str) -> Option<String> {
    let inner = query.strip_prefix('/')?;
    let pattern = match inner.strip_suffix("/i") {
        Some(pattern) if !pattern.is_empty() => format!("(?i){pattern}"),
        _ => inner.strip_suffix('/')?.to_owned(),
    };
    (!pattern.is_empty()).then_some(pattern)
}

fn compiled(pattern: &str) -> Result<Regex> {
    /// Maximum size of a compiled regular expression, in bytes.
    const MAX_SIZE: usize = 2 * 1024 * 1024;
    RegexBuilder::new(pattern).size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE).build().map_err(
        |error| {
            let fault = error.to_string();
            let last = fault.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let pattern = pattern.trim_start_matches("(?i)");
            Error::failed(format!("the regular expression /{pattern}/ is invalid: {last}"))
        },
    )
}

/// Returns a pattern of what every line that matches a literal text contains.
fn prefilter(text: &str, decodes: bool) -> Option<String> {
    /// Number of characters that are searched for in all their JSON encodings.
    const ENCODED: usize = 16;
    let raw = regex::escape(text);
    match decodes {
        _ if text.is_empty() => None,
        false => Some(raw),
        true => {
            Some(format!("{}|{raw}", text.chars().take(ENCODED).map(encoded).collect::<String>()))
        }
    }
}

/// Returns whether a character is unescaped in every JSON text that programs write.
fn is_plain(c: char) -> bool {
    // Some programs escape characters with a meaning in HTML, the slash, or all but the most basic ASCII.
    matches!(c, ' '..='~') && !"\"\\/<>&'+`=".contains(c)
}

/// Returns a pattern for all JSON encodings of a character.
fn encoded(c: char) -> String {
    let short = match c {
        '"' | '\\' | '/' => Some(c),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        _ => None,
    };
    let short = short.map(|short| regex::escape(&format!("\\{short}"))).map(|short| short + "|");
    let long = file::escaped(c).replace("\\u", "\\\\u");
    format!("(?:{}|{}(?i:{long}))", regex::escape(&c.to_string()), short.unwrap_or_default())
}

/// Parses the time of an option, and returns the start of its day or second, or with `after` 1 that of the next.
fn bound(option: &str, text: &str, after: u64) -> Result<DateTime<Utc>> {
    let second = TimeDelta::seconds(i64::from(after == 1));
    let time = match parse_timestamp(text) {
        Some(time) => time.checked_add_signed(second),
        None => parse_date(text)
            .and_then(|day| day.checked_add_days(Days::new(after)))
            .map(|day| day.and_time(NaiveTime::MIN).and_utc()),
    };
    time.ok_or_else(|| {
        Error::failed(format!("{option} is not a valid date or time: {text:?}"))
            .hint("write it like 2026-02-17 or 2026-02-17T10:11:12Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grows_fourfold_up_to_its_maximum() {
        let query = JournalQuery::new("x");
        let windows = [1, 50_000, 50_001, 200_001, 2_000_000].map(|lines| query.window_for(lines));
        assert_eq!(windows, [50_000, 50_000, 200_000, 800_000, MAX_WINDOW]);
    }

    #[test]
    fn input_is_checked_field_by_field() {
        let query =
            JournalQuery::parse(br#"{"q":"x","limit":null,"mode":null,"tags":["a"]}"#).unwrap();
        assert_eq!((query.limit, query.mode, query.tags), (None, None, Some(vec!["a".to_owned()])));
        for (json, fault) in [
            (r#"{"q":"x","limit":0}"#, "limit must be 1 or more"),
            (r#"{"q":"x","limit":-1}"#, "invalid value: integer `-1`"),
            (r#"{"q":"x","mode":"grep"}"#, "unknown variant"),
            (r#"{"limit":1}"#, "missing field `q`"),
            (r#"{"q":"x","mod":"rg"}"#, "unknown field"),
        ] {
            let query = JournalQuery::parse(json.as_bytes());
            let error = query.and_then(|query| search(Path::new("none"), &query)).unwrap_err();
            assert!(error.message.contains(fault), "{json}: {}", error.message);
        }
    }

    #[test]
    fn escaped_forms_of_a_text_are_found_by_a_hybrid_search() {
        let matches = |q: &str, mode: Mode, line: &str| {
            let query = JournalQuery { mode: Some(mode), ..JournalQuery::new(q) };
            let matcher = Matcher::new(&query).unwrap();
            let is_candidate = !matcher.candidates(line.as_bytes()).is_empty();
            is_candidate && matcher.matches(line.as_bytes()).is_some_and(|found| !found.is_empty())
        };
        for (q, line) in [
            ("caf\u{e9}", r#"{"content":"caf\u00E9"}"#),
            ("\u{e9}", r#"{"content":"\u00e9"}"#),
            ("a/b", r#"{"content":"a\/b"}"#),
            ("say \"hi\"", "{\"content\":\"say \\\"hi\\\"\"}"),
            ("one\ntwo", r#"{"content":"one\ntwo"}"#),
            ("\u{1f600}", r#"{"meta":{"x":["\ud83d\ude00"]}}"#),
        ] {
            assert!(matches(q, Mode::Hybrid, line), "{q}");
            assert!(!matches(q, Mode::Rg, line), "{q}");
        }
        assert!(matches("plain", Mode::Jq, r#"{"content":"pl\u0061in"}"#));
        assert!(!matches("content", Mode::Jq, r#"{"content":"x"}"#));
        assert!(matches("/h.llo/i", Mode::Hybrid, r#"{"content":"HELLO"}"#));
        assert!(matches("/h.llo/", Mode::Jq, r#"{"content":"h\u0065llo"}"#));
        assert!(matches("/^hello$/", Mode::Jq, r#"{"content":"hello"}"#));
        assert!(!matches("/^hello$/", Mode::Rg, r#"{"content":"hello"}"#));
        assert!(matches("", Mode::Hybrid, "{}"));
    }

    #[test]
    fn each_record_on_a_line_is_judged_alone() {
        let matches = |q: &str, line: &str| {
            let found = Matcher::new(&JournalQuery::new(q)).unwrap().matches(line.as_bytes());
            found.map(|found| {
                found.into_iter().map(|range| line[range].to_owned()).collect::<Vec<_>>()
            })
        };
        let line = "{\"content\":\"a zebra\"}{\"content\":\"b\"} {\"content\":\"c zebra\"}\n";
        let two = ["{\"content\":\"a zebra\"}".to_owned(), "{\"content\":\"c zebra\"}".to_owned()];
        assert_eq!(matches("zebra", line).unwrap(), two);
        assert_eq!(matches("zebra", "zebra"), None);
    }

    #[test]
    fn filters_restrict_type_tags_and_time() {
        let accepts = |query: &str, record: &str| {
            let query = JournalQuery::parse(query.as_bytes()).unwrap();
            let found = Matcher::new(&query).unwrap().matches(record.as_bytes());
            found.is_some_and(|found| !found.is_empty())
        };
        let record = r#"{"ts":"2026-02-17T10:11:12Z","type":"note","tags":["a","b"]}"#;
        for (query, expected) in [
            (r#"{"q":"","type":"note","tags":["b"]}"#, true),
            (r#"{"q":"","type":"fact"}"#, false),
            (r#"{"q":"","tags":["a","c"]}"#, false),
            (r#"{"q":"","since":"2026-02-17","until":"2026-02-17"}"#, true),
            (r#"{"q":"","until":"2026-02-16"}"#, false),
            (r#"{"q":"","since":"2026-02-17T10:11:12Z","until":"2026-02-17T10:11:12Z"}"#, true),
            (r#"{"q":"","since":"2026-02-17T10:11:13Z"}"#, false),
        ] {
            assert_eq!(accepts(query, record), expected, "{query}");
        }
        assert!(!accepts(r#"{"q":"","since":"2026-01-01"}"#, "{}"));
        let query = JournalQuery { until: Some("soon".to_owned()), ..JournalQuery::new("") };
        assert!(Matcher::new(&query).err().unwrap().message.contains("until"));
    }
}
