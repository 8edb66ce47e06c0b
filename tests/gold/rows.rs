//! The gold rows, as they stand in the corpus.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// What people answered, one JSON object a row.
pub(super) struct Gold {
    pub(super) summaries: Vec<Value>,
    pub(super) states: Vec<Value>,
    pub(super) phases: Vec<Value>,
    pub(super) next: Vec<Value>,
}

impl Gold {
    /// Returns all rows of a gold folder.
    pub(super) fn read(folder: &Path) -> Self {
        let mut states: Vec<_> = fs::read_dir(folder.join("state"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        states.sort();
        let gold = Self {
            summaries: lines(&folder.join("summaries.jsonl")),
            states: states.iter().flat_map(|file| lines(file)).collect(),
            phases: lines(&folder.join("phases.jsonl")),
            next: lines(&folder.join("next.jsonl")),
        };
        for rows in [&gold.summaries, &gold.states, &gold.phases, &gold.next] {
            // An emptied file would else be a perfect score.
            assert!(rows.len() > 5, "too few gold rows in {}", folder.display());
        }
        gold
    }
}

/// One object a line, or one over many lines.
fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    serde_json::Deserializer::from_str(&text)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the project a gold path belongs to (two folders deep) and the path inside it.
pub(super) fn split(path: &str) -> (&str, &str) {
    let second = path.match_indices('/').nth(1);
    let (end, _) = second.unwrap_or_else(|| panic!("no project in {path}"));
    (&path[..end], &path[end + 1..])
}
