//! Defines and parses the queries of the journal.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::journal::draft::input;
use crate::text::word_enum;

/// Maximum size to which a search window grows by itself, in lines.
pub const MAX_WINDOW: usize = 1_000_000;

/// Default maximum number of results.
const DEFAULT_LIMIT: usize = 20;

/// Default size of the first search window, in lines from the end.
const DEFAULT_WINDOW: usize = 50_000;

/// Factor by which a window with too few results grows.
const GROWTH: usize = 4;

word_enum! {
    /// The text that a query is compared with.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    /// A literal text, or `/…/` or `/…/i` for a regular expression; an empty text matches every line.
    pub q: String,
    /// Maximum number of results.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    pub limit: usize,
    /// Size of the first search window, in lines from the end.
    #[serde(default = "default_window", deserialize_with = "window")]
    pub window_lines: usize,
    /// The text that the query is compared with.
    #[serde(default, deserialize_with = "mode")]
    pub mode: Mode,
    /// The required type.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// The required tags.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// The earliest day or time.
    #[serde(default)]
    pub since: Option<String>,
    /// The latest day or time, inclusive.
    #[serde(default)]
    pub until: Option<String>,
}

fn limit<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<usize, D::Error> {
    number(from, "limit", DEFAULT_LIMIT)
}

fn window<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<usize, D::Error> {
    number(from, "window_lines", DEFAULT_WINDOW)
}

fn mode<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Mode, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn number<'de, D: Deserializer<'de>>(
    from: D,
    name: &str,
    default: usize,
) -> std::result::Result<usize, D::Error> {
    let given = Value::deserialize(from)?;
    if given.is_null() {
        return Ok(default);
    }
    let number = given.as_u64().and_then(|number| usize::try_from(number).ok());
    let message = format!("{name} must be a whole number, 1 or more, not {given}");
    number.ok_or_else(|| D::Error::custom(message))
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}

fn default_window() -> usize {
    DEFAULT_WINDOW
}

impl JournalQuery {
    /// Creates a search for a text, with defaults for everything else.
    pub fn new(q: impl Into<String>) -> Self {
        Self {
            q: q.into(),
            limit: DEFAULT_LIMIT,
            window_lines: DEFAULT_WINDOW,
            mode: Mode::default(),
            kind: None,
            tags: None,
            since: None,
            until: None,
        }
    }

    /// Parses a search from a JSON object `{q, limit?, window_lines?, mode?, …}`.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let query: Self = input(json)?;
        query.check()?;
        Ok(query)
    }

    /// Fails if a number is 0.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, number) in [("limit", self.limit), ("window_lines", self.window_lines)] {
            if number == 0 {
                return Err(Error::failed(format!("{name} must be 1 or more")));
            }
        }
        Ok(())
    }

    /// Returns the maximum number of lines that are searched; a requested window may be larger than the
    /// default maximum.
    pub(crate) fn widest_window(&self) -> usize {
        self.window_lines.max(MAX_WINDOW)
    }

    /// Returns the size of the first window, after growth, that contains this many lines.
    pub(crate) fn window_for(&self, lines: usize) -> usize {
        let widest = self.widest_window();
        let mut window = self.window_lines;
        while window < lines && window < widest {
            window = window.saturating_mul(GROWTH).min(widest);
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_its_default() {
        let query = JournalQuery::parse(br#"{"q":"Python"}"#).unwrap();
        assert_eq!(query, JournalQuery::new("Python"));
        assert_eq!((query.limit, query.window_lines), (20, 50_000));
        assert_eq!(query.mode, Mode::Hybrid);
        let query = JournalQuery::parse(
            br#"{"q":"a","limit":5,"mode":"rg","tags":["t"],"since":"2026-02-01"}"#,
        );
        let query = query.unwrap();
        assert_eq!((query.limit, query.mode), (5, Mode::Rg));
    }

    #[test]
    fn a_fault_is_named() {
        for (json, expected) in [
            ("{}", "missing field `q`"),
            ("{\"q\":1}", "invalid type"),
            ("{\"q\":\"a\",\"query\":1}", "unknown field `query`"),
            ("{\"q\":\"a\",\"limit\":-1}", "limit must be a whole number, 1 or more, not -1"),
            ("{\"q\":\"a\",\"limit\":0}", "limit must be 1 or more"),
            ("{\"q\":\"a\",\"window_lines\":0}", "window_lines must be 1 or more"),
            ("{\"q\":\"a\",\"mode\":\"sql\"}", "unknown variant `sql`"),
        ] {
            let fault = JournalQuery::parse(json.as_bytes()).unwrap_err().message;
            assert!(fault.contains(expected), "{json}: {fault}");
        }
    }

    #[test]
    fn a_window_grows_fourfold_up_to_a_million_lines() {
        let windows = |first| {
            let query = JournalQuery { window_lines: first, ..JournalQuery::new("") };
            [1, first + 1, 4 * first + 1, 16 * first + 1, usize::MAX]
                .map(|lines| query.window_for(lines))
        };
        assert_eq!(windows(50_000), [50_000, 200_000, 800_000, 1_000_000, 1_000_000]);
        assert_eq!(windows(1_000_000), [1_000_000; 5]);
        assert_eq!(windows(3_000_000), [3_000_000; 5]);
        assert_eq!(windows(2)[..4], [2, 8, 32, 128]);
    }
}
