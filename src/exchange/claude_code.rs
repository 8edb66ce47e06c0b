//! Reads Claude Code's own memory: MEMORY.md, which every session reads, and the topic files that it links
//! to.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::Result;
use crate::exchange::folder::Files;
use crate::exchange::kind::kind_of;
use crate::exchange::note::{NoteFile, item, stem_in_words};
use crate::exchange::source::{ImportSource, Note, SourceItem, title};
use crate::exchange::{Format, folder};
use crate::knowledge::{Confidence, ImportItem};
use crate::markdown::Outline;
use crate::warning::SourceLocation;

/// The file that every session reads.
const INDEX: &str = "MEMORY.md";

/// Reads the `memory` folder, its parent, or MEMORY.md with the files next to it.
pub(crate) fn read(path: &Path) -> Result<ImportSource> {
    let below = path.join("memory");
    let is_index = path.is_file() && path.file_name().is_some_and(|name| name == INDEX);
    let path = match path.parent() {
        Some(folder) if is_index && folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) if is_index => folder,
        _ if below.is_dir() => &below,
        _ => path,
    };
    let files = folder::markdown(path)?;
    let mut source = ImportSource { unknown: files.warnings.clone(), ..ImportSource::default() };
    let (indexes, topics): (Vec<_>, Vec<_>) = files
        .paths
        .iter()
        .map(|path| (path, files.name(path)))
        .partition(|(_, name)| name == INDEX);
    for (path, name) in topics {
        topic(path, name, &mut source);
    }
    // Last: a line that points to a topic is left out only if that topic became a note.
    let topics: HashSet<String> =
        source.notes.iter().map(|note| note.piece.origin.1.clone()).collect();
    for (path, _) in indexes {
        index(path, &files, &topics, &mut source);
    }
    Ok(source)
}

fn topic(path: &Path, name: String, source: &mut ImportSource) {
    let Some(file) = NoteFile::read(path, &name, source) else {
        return;
    };
    let words = stem_in_words(path);
    let named = file.front.text(&["name", "title"]).map(str::to_owned);
    let heading = file.heading.clone().or(named.clone()).unwrap_or_default();
    let nested = file.front.get(&["metadata"]).and_then(|node| node.get(&["type"]));
    let kind = nested.and_then(|node| node.as_text());
    let kind = file.front.text(&["type"]).or(kind).unwrap_or_default();
    let description = file.front.text(&["description"]).unwrap_or_default();
    let body = match description {
        "" => file.body.clone(),
        text if file.body.contains(text) => file.body.clone(),
        text => format!("{text}\n\n{}", file.body),
    };
    let mut aliases = vec![name.trim_end_matches(".md").to_owned(), words.clone()];
    aliases.extend(named);
    let item = item(path, &name);
    let piece = ImportItem {
        origin: (Format::ClaudeCode.as_str(), name),
        names: aliases,
        title: title(&heading, &words),
        kind: kind_of(&[kind, &words, &heading]),
        confidence: file.confidence(),
        tags: Vec::new(),
        body,
    };
    source.notes.push(Note::new(item, piece));
}

/// Reads MEMORY.md: each section with text other than links to topic files becomes a note.
fn index(path: &Path, files: &Files, topics: &HashSet<String>, source: &mut ImportSource) {
    let Some(file) = NoteFile::read(path, INDEX, source) else {
        return;
    };
    let outline = Outline::parse(&file.body, 0);
    let heads = || outline.sections().iter().filter(|section| (1..=2).contains(&section.level));
    let first = heads().next().map_or(file.body.len(), |head| head.heading.start);
    let name = file.heading.clone().unwrap_or_else(|| "Memory".to_owned());
    let mut parts = vec![(name, 0..first, file.line)];
    let ends = heads().skip(1).map(|head| head.heading.start);
    for (head, end) in heads().zip(ends.chain([file.body.len()])) {
        let line = file.line + head.line;
        parts.push((head.title.clone(), head.heading.end..end, line));
    }
    let mut origins = Origins::default();
    for (name, range, line) in parts {
        let place = |line| SourceLocation::new(path, line);
        let mut body = String::new();
        for (index, text) in file.body[range].split_inclusive('\n').enumerate() {
            match pointed_at(text, path, files, topics) {
                Some(topic) => {
                    let reason = format!("points to {topic}, which is imported itself");
                    source.skip(SourceItem::new(place(line + index), text.trim()), reason);
                }
                None => body.push_str(text),
            }
        }
        if body.trim().is_empty() {
            continue;
        }
        let origin = origins.unused(&name);
        let item = SourceItem::new(place(line), format!("{INDEX}: {name}"));
        let piece = ImportItem {
            origin: (Format::ClaudeCode.as_str(), origin),
            names: Vec::new(),
            title: title(&name, "Memory"),
            kind: kind_of(&[&name]),
            confidence: Confidence::Low,
            tags: Vec::new(),
            body,
        };
        source.notes.push(Note::new(item, piece));
    }
}

/// The origins of the sections so far.
#[derive(Default)]
struct Origins {
    /// The number of the last section of each name.
    counts: HashMap<String, usize>,
    used: HashSet<String>,
}

impl Origins {
    /// Returns an origin for the next section of this name that no other section has: a section may itself be named
    /// `Notes (2)`.
    fn unused(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_default();
        loop {
            *count += 1;
            let origin = match count {
                1 => format!("{INDEX} # {name}"),
                _ => format!("{INDEX} # {name} ({count})"),
            };
            if self.used.insert(origin.clone()) {
                return origin;
            }
        }
    }
}

/// Returns the topic file that a list item starts with, if it is one of the topics.
fn pointed_at(line: &str, path: &Path, files: &Files, topics: &HashSet<String>) -> Option<String> {
    let bullet = line.trim_start();
    let item = bullet.strip_prefix("- ").or_else(|| bullet.strip_prefix("* "))?;
    let first = item.trim_start_matches(['*', '`', ' ']);
    let target = match first.strip_prefix('[') {
        Some(rest) => rest[rest.find("](")? + 2..].split(')').next()?,
        None => first.split(|c: char| c.is_whitespace() || c == '`' || c == '*').next()?,
    };
    let target = target.trim_start_matches("./").trim_end_matches([':', ',']);
    let name = files.name(&path.parent()?.join(target));
    topics.contains(&name).then_some(name)
}
