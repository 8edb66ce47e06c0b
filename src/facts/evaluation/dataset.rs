//! Reads a dataset of questions with known answers.
//!
//! ```text
//! {"kind": "item", "id", "group", "text", "ts", "prev", "next"}
//! {"kind": "query", "id", "group", "text", "category", "relevant": [item ids]}
//! ```
//!
//! A query searches the items of its group; `prev` and `next` are neighbours in one session.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use crate::error::{At, Error, Result};

/// One line of the file.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Item(Item),
    Query(Question),
}

/// A statement that can be searched for.
#[derive(Clone, Debug, Deserialize)]
pub struct Item {
    /// Its identifier.
    pub id: String,
    group: String,
    /// What was said.
    pub text: String,
    /// The time; UTC if it has no zone.
    pub ts: String,
    /// The item before it in its session.
    pub prev: Option<String>,
}

/// A question, and the ids of the items that answer it.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    group: String,
    /// The question.
    pub text: String,
    /// Its kind; `adversarial` ones are about the wrong person.
    pub category: String,
    /// The identifiers of the items.
    pub relevant: Vec<String>,
}

/// Items that are searched together, with the questions about them.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The items, in order.
    pub items: Vec<Item>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// Returns the groups of a file in order of first appearance; the file is read line by line.
pub fn read(reader: impl BufRead, path: &Path) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, line) in reader.lines().enumerate() {
        let line = line.at("read", path)?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).map_err(|error| {
            Error::failed(format!("is neither an item nor a query: {error}")).at(path, index + 1)
        })?;
        let name = match &line {
            Line::Item(item) => &item.group,
            Line::Query(question) => &question.group,
        };
        let place = *places.entry(name.clone()).or_insert_with(|| {
            let name = name.clone();
            groups.push(Group { name, ..Group::default() });
            groups.len() - 1
        });
        match line {
            Line::Item(item) => groups[place].items.push(item),
            Line::Query(question) => groups[place].questions.push(question),
        }
    }
    if groups.iter().all(|group| group.questions.is_empty()) {
        return Err(Error::failed("there are no queries").at(path, None));
    }
    Ok(groups)
}
