//! Reads the knowledge graph of MCP's reference server: entities with observations, and relations.
//!
//! ```text
//! {"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}
//! {"type":"relation","from":"Ada","to":"Engine","relationType":"works on"}
//! ```

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::exchange::Format;
use crate::exchange::kind::kind_of;
use crate::exchange::note::tag;
use crate::exchange::source::{ImportSource, Note, SourceItem, title};
use crate::knowledge::{Confidence, ImportItem};
use crate::storage::read;
use crate::text::one_line;
use crate::warning::{SourceLocation, Warning};

/// Maximum number of lines that are not understood; a file with more is not a graph.
const MAX_UNKNOWN: usize = 10_000;

/// Reads a graph.
pub(crate) fn read(path: &Path) -> Result<ImportSource> {
    match read::users_text(path)? {
        Some(text) => {
            let mut source = parse(&text.value, path);
            source.unknown.splice(0..0, text.warnings);
            Ok(source)
        }
        None => Err(Error::not_found("no such file or folder").at(path, None)),
    }
}

/// An entity of the graph while it is parsed.
struct Entity {
    item: SourceItem,
    parts: Vec<SourceItem>,
    kind: String,
    observations: Vec<String>,
    /// The same observations, once an entity is repeated.
    known: Option<HashSet<String>>,
    relations: Vec<(String, String)>,
}

#[derive(Default)]
struct Graph {
    entities: Vec<Entity>,
    by_name: BTreeMap<String, usize>,
    /// Relations, resolved after all entities are known: the item, and from, kind and to.
    relations: Vec<(SourceItem, [String; 3])>,
    source: ImportSource,
}

fn parse(text: &str, path: &Path) -> ImportSource {
    let mut graph = Graph::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        if let Err(reason) = graph.add_line(line, path, index + 1) {
            let unknown = &mut graph.source.unknown;
            if unknown.len() == MAX_UNKNOWN {
                let message = format!(
                    "is not understood, like {MAX_UNKNOWN} lines above; it and everything below is not read"
                );
                unknown.push(Warning::at(path, index + 1, message));
                break;
            }
            unknown.push(Warning::at(path, index + 1, reason));
        }
    }
    graph.into_source()
}

impl Graph {
    fn add_line(
        &mut self,
        line: &str,
        path: &Path,
        number: usize,
    ) -> std::result::Result<(), String> {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("is not JSON: {error}"))?;
        let text = |name: &str| match value.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
            Some(Value::String(_)) => Err(format!("has an empty {name}")),
            Some(_) => Err(format!("has a {name} that is not text")),
            None => Err(format!("has no {name}")),
        };
        let item = |name: String| {
            let place = SourceLocation::new(path, number);
            SourceItem::new(place, name)
        };
        match value.get("type").and_then(Value::as_str) {
            Some("entity") => {
                let name = text("name")?;
                let kind = text("entityType").unwrap_or_default();
                let observations = observations(&value)?;
                self.entity(item(name), kind, observations);
                Ok(())
            }
            Some("relation") => {
                let [from, kind, to] = [text("from")?, text("relationType")?, text("to")?];
                let name = format!("{from} {kind} {to}");
                self.relations.push((item(name), [from, kind, to]));
                Ok(())
            }
            Some(other) => Err(format!("is of the unknown type {other:?}")),
            None => Err("is neither an entity nor a relation".to_owned()),
        }
    }

    /// Adds an entity; a repeated name adds its observations to the first entity.
    fn entity(&mut self, item: SourceItem, kind: String, observations: Vec<String>) {
        let index = *self.by_name.entry(item.name.clone()).or_insert(self.entities.len());
        let Some(first) = self.entities.get_mut(index) else {
            self.entities.push(Entity {
                item,
                parts: Vec::new(),
                kind,
                observations,
                known: None,
                relations: Vec::new(),
            });
            return;
        };
        first.parts.push(item);
        let known = first.known.get_or_insert_with(|| first.observations.iter().cloned().collect());
        for one in observations {
            if known.insert(one.clone()) {
                first.observations.push(one);
            }
        }
    }

    fn into_source(mut self) -> ImportSource {
        for (item, [from, kind, to]) in self.relations {
            if let Some(index) = self.by_name.get(&from) {
                let entity = &mut self.entities[*index];
                entity.relations.push((kind, to));
                entity.parts.push(item);
            } else {
                let reason = format!("starts at {from:?}, which is not an entity of this graph");
                self.source.skip(item, reason);
            }
        }
        self.source.notes = self.entities.into_iter().map(Entity::into_note).collect();
        self.source
    }
}

impl Entity {
    fn into_note(self) -> Note {
        let name = self.item.name.clone();
        let mut body = String::new();
        for one in &self.observations {
            body.extend(["- ", &one_item(one), "\n"]);
        }
        if !self.relations.is_empty() {
            body.push_str("\n## Relations\n\n");
        }
        for (kind, to) in &self.relations {
            // Brackets in a name would end the link early.
            let to = one_line(&to.replace(['[', ']'], " "));
            body.extend(["- ", &one_item(kind), " [[", &to, "]]\n"]);
        }
        let names = vec![name.clone(), name.replace(['[', ']'], " ")];
        Note {
            item: self.item,
            parts: self.parts,
            statements: self.observations,
            piece: ImportItem {
                origin: (Format::ServerMemory.as_str(), name.clone()),
                names,
                title: title(&name, "entity"),
                kind: kind_of(&[&self.kind]),
                confidence: Confidence::Low,
                tags: tag(&self.kind).into_iter().collect(),
                body,
            },
        }
    }
}

fn observations(value: &Value) -> std::result::Result<Vec<String>, String> {
    let all = match value.get("observations") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(all)) => all,
        Some(_) => return Err("has observations that are not a list".to_owned()),
    };
    all.iter()
        .map(|one| match one {
            Value::String(text) => Ok(text.clone()),
            // Other fields of the object are ignored.
            Value::Object(fields) => fields
                .get("content")
                .and_then(Value::as_str)
                .map(str::to_owned)
                .ok_or_else(|| "has an observation without a text".to_owned()),
            _ => Err("has an observation that is not text".to_owned()),
        })
        .collect()
}

/// Returns a text as a list item: further lines are indented.
fn one_item(text: &str) -> String {
    text.trim().lines().collect::<Vec<_>>().join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_graph_is_not_read_to_its_end() {
        let entity = r#"{"type":"entity","name":"Ada","observations":["likes tea"]}"#;
        let path = Path::new("m.jsonl");
        let bad = "{}\n".repeat(MAX_UNKNOWN);
        let all = parse(&format!("{bad}{entity}\n"), path);
        assert_eq!((all.unknown.len(), all.notes.len()), (MAX_UNKNOWN, 1));
        let cut = parse(&format!("{bad}{{}}\n{entity}\n"), path);
        assert_eq!((cut.unknown.len(), cut.notes.len()), (MAX_UNKNOWN + 1, 0));
        assert_eq!(
            cut.unknown[MAX_UNKNOWN].to_string(),
            "m.jsonl:10001: is not understood, like 10000 lines above; it and everything below is not read"
        );
    }

    #[test]
    fn a_repeated_entity_adds_only_new_observations() {
        let line = |observations: &str| {
            format!(r#"{{"type":"entity","name":"Ada","observations":[{observations}]}}"#)
        };
        let text = [line(r#""a","a""#), line(r#""b","a""#), line(r#""b","c""#)].join("\n");
        let found = parse(&text, Path::new("m.jsonl"));
        assert_eq!(found.notes[0].statements, ["a", "a", "b", "c"]);
    }
}
