//! Reads the newest records of the journal, each identified by its timestamp.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::clock::parse_date;
use crate::error::Result;
use crate::journal;
use crate::project::Project;
use crate::recall::sources::{Source, SourceName};
use crate::search::index::Passage;
use crate::text::clip;
use crate::warning::Parsed;

/// Maximum number of records; `journal search` searches all of them.
const MAX_RECORDS: usize = 2000;

/// Maximum total size of these records, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of the text searched of one record, in characters.
const MAX_RECORD_LENGTH: usize = 4000;

/// The newest records of the journal.
pub(crate) struct Journal;

impl Source for Journal {
    fn name(&self) -> SourceName {
        SourceName::Journal
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        // Without a home directory there is no journal.
        journal::default_path(&project.environment).into_iter().collect()
    }

    fn is_users_own(&self) -> bool {
        true
    }

    fn read(&self, path: &Path) -> Result<Option<Parsed<String>>> {
        let from = journal::last(path, MAX_RECORDS)?;
        let mut lines = VecDeque::new();
        let mut bytes = 0;
        journal::read_from(path, from, |entry| {
            let line = entry.json.get().to_owned();
            bytes += line.len();
            lines.push_back(line);
            while bytes > MAX_BYTES
                && let Some(oldest) = lines.pop_front()
            {
                bytes -= oldest.len();
            }
            true
        })?;
        let lines: Vec<String> = lines.into();
        Ok(Some(Parsed::clean(lines.join("\n"))))
    }

    fn passages(&self, text: &str, _path: &Path) -> Vec<Passage> {
        text.lines().filter_map(passage).collect()
    }
}

/// Returns a record as a passage under its type and tags, or `None` if its content is empty.
fn passage(line: &str) -> Option<Passage> {
    let record: Value = serde_json::from_str(line).ok()?;
    let content = record.get("content")?.as_str()?.trim();
    let field = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let tags = record.get("tags").and_then(Value::as_array);
    let tags = tags.into_iter().flatten().filter_map(Value::as_str);
    let headings = field("type").into_iter().chain(tags.map(str::to_owned));
    let time = field("ts");
    (!content.is_empty()).then(|| Passage {
        headings: headings.collect(),
        line: 0,
        date: time.as_deref().and_then(parse_date),
        id: time,
        text: clip(content, MAX_RECORD_LENGTH).into_owned(),
        flags: 0,
        weight: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_time_as_id_and_its_type_and_tags_as_headings() {
        let line = r#"{"ts":"2026-03-01T12:00:00+00:00","type":"note","content":" tabs ","tags":["style"],"meta":null}"#;
        let found = passage(line).unwrap();
        assert_eq!(found.headings, ["note", "style"]);
        assert_eq!(found.text, "tabs");
        assert_eq!(found.id.as_deref(), Some("2026-03-01T12:00:00+00:00"));
        assert_eq!(found.date.unwrap().to_string(), "2026-03-01");
    }

    #[test]
    fn records_without_content_are_skipped() {
        for line in ["", "torn", "[]", "{}", r#"{"content":""}"#, r#"{"content":7}"#] {
            assert_eq!(passage(line), None, "{line}");
        }
    }
}
