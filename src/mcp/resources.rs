//! Resources that a client may show or attach: the project's files and its knowledge entries.

use std::path::{Path, PathBuf};

use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents};

use crate::error::{Error, Result};
use crate::knowledge::{EntryFilter, KnowledgeDir, ListedEntry};
use crate::mcp::answer::fenced;
use crate::mcp::percent_encoding;
use crate::plan::PlanningFolder;
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::text::{clip, sanitized};
use crate::{knowledge, patterns};

const SCHEME: &str = "annals://";
const ENTRY_PREFIX: &str = "annals://entries/";
const MARKDOWN: &str = "text/markdown";

/// Maximum number of entries per page.
const PAGE_SIZE: usize = 50;

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 120;

/// A file that can be read, by its name here.
struct FileResource {
    name: &'static str,
    path: PathBuf,
    description: &'static str,
    /// Whether it contains instructions of the project for agents; all others are data.
    is_instruction: bool,
}

/// Returns a page of resources: the files and the first entries, or the entries after a key.
pub(crate) fn list(project: &Project, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let after = cursor.map(|cursor| {
        percent_encoding::decode(cursor).ok_or_else(|| Error::usage("invalid cursor"))
    });
    let after = after.transpose()?;
    let mut resources = Vec::new();
    if after.is_none() {
        let files = files(project).into_iter();
        resources.extend(files.filter(|file| read::is_file(&file.path)).map(|file| {
            Resource::new(format!("{SCHEME}{}", file.name), file.name)
                .with_description(file.description)
                .with_mime_type(MARKDOWN)
        }));
    }
    let mut entries = knowledge::list(project, &EntryFilter::default())?.value.entries;
    // INDEX.md may have been edited by anyone.
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries.dedup_by(|a, b| a.key == b.key);
    entries.retain(|entry| after.as_ref().is_none_or(|after| entry.key > *after));
    let is_last = entries.len() <= PAGE_SIZE;
    entries.truncate(PAGE_SIZE);
    let next = entries.last().map(|entry| percent_encoding::encode(&entry.key));
    let folder = KnowledgeDir::in_project(project);
    entries.retain(|entry| is_file_name(&entry.key) && read::is_file(&folder.entry(&entry.key)));
    resources.extend(entries.iter().map(resource));
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = next.filter(|_| !is_last);
    Ok(page)
}

fn resource(entry: &ListedEntry) -> Resource {
    let kind = entry.kind.map_or("entry", |kind| kind.as_str());
    let description = match &entry.updated {
        Some(day) => format!("{kind}, updated {day}"),
        None => kind.to_owned(),
    };
    let uri = format!("{ENTRY_PREFIX}{}", percent_encoding::encode(&entry.key));
    Resource::new(uri, entry.key.clone())
        .with_title(clip(&sanitized(&entry.title), MAX_TITLE_CHARS))
        .with_description(description)
        .with_mime_type(MARKDOWN)
}

/// Reads a file or an entry; other names are refused, so no path leads out of the project.
pub(crate) fn read(project: &Project, uri: &str) -> Result<ReadResourceResult> {
    let text = match uri.strip_prefix(ENTRY_PREFIX) {
        Some(key) => entry(project, key, uri)?,
        None => file(project, uri)?,
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn not_found(uri: &str) -> Error {
    Error::not_found(format!("there is no resource {uri:?}"))
        .hint("resources/list lists the available ones")
}

fn entry(project: &Project, key: &str, uri: &str) -> Result<String> {
    let key = percent_encoding::decode(key).filter(|key| is_file_name(key));
    let entry = knowledge::read(project, &key.ok_or_else(|| not_found(uri))?)?;
    let text = String::from_utf8_lossy(&entry.bytes);
    let source = entry.file.display().to_string();
    Ok(fenced(&source, &text))
}

/// Returns whether a key can only be the name of an entry's file, not of a file elsewhere.
fn is_file_name(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('.') && !key.contains(['/', '\\', '\0'])
}

fn file(project: &Project, uri: &str) -> Result<String> {
    let name = uri.strip_prefix(SCHEME).ok_or_else(|| not_found(uri))?;
    let known = files(project).into_iter().find(|file| file.name == name);
    let file = known.ok_or_else(|| not_found(uri))?;
    let text = read::text(&file.path)?.ok_or_else(|| not_found(uri))?.value;
    if file.is_instruction {
        return Ok(sanitized(&text).into_owned());
    }
    let source = project.relative(&file.path).display().to_string();
    Ok(fenced(&source, &text))
}

fn files(project: &Project) -> Vec<FileResource> {
    let file = |name, path: &Path, description| FileResource {
        name,
        path: path.to_owned(),
        description,
        is_instruction: false,
    };
    let mut files = vec![FileResource {
        is_instruction: true,
        ..file("CLAUDE.md", &project.root.join("CLAUDE.md"), "The context file of the project")
    }];
    if let Ok(planning) = project.planning() {
        let patterns = patterns::path(&planning.dir);
        files.push(file("PATTERNS.md", &patterns, "Lessons of finished phases"));
        if let Ok(folder) = PlanningFolder::read(&planning.dir) {
            let state = folder.value.active.dir.join(vocabulary::STATE);
            files.push(file(vocabulary::STATE, &state, "Current state of the work"));
        }
    }
    files
}
