//! Finds out which generation of a tool's commands is in use.

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use crate::markdown::generated_block;
use crate::project::dialect::read_or_empty;
use crate::project::environment::CLAUDE_FOLDER;
use crate::project::layout::Commands;
use crate::project::vocabulary;
use crate::storage::listing;

/// A generation of a tool's commands, and how to detect it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Generation {
    /// Files installed with it, relative to a harness's folder; `*` matches any folder name.
    files: Vec<String>,
    /// Prefixes of its commands, as they occur in a project's texts.
    pub(super) words: Vec<String>,
    /// Keys that only its config.json has.
    #[serde(default)]
    settings: Vec<String>,
    /// Files that only it writes, relative to the planning folder; `*` matches any folder name.
    #[serde(default)]
    writes: Vec<String>,
    /// Whether it keeps the name of the active milestone in ACTIVE.
    #[serde(default)]
    pub(super) keeps_active: bool,
    pub(super) commands: Commands,
}

/// Returns the newest generation that is installed for the user, in the harness's folder, or for the project.
pub(super) fn installed<'a>(
    generations: &'a [Generation],
    root: &Path,
    harness: Option<&Path>,
) -> Option<&'a Generation> {
    let own = root.join(CLAUDE_FOLDER);
    let is_there = |one: &&Generation| {
        harness.into_iter().chain([own.as_path()]).any(|home| has_any(home, &one.files))
    };
    generations.iter().rev().find(is_there)
}

/// Returns the generation whose traces a project and its planning folder have, or `None` if nothing tells.
///
/// The first of these that finds one decides:
///
/// - the one mentioned most often in CLAUDE.md, AGENTS.md and STATE.md;
/// - the newest one whose settings are in config.json, then the newest that wrote files here;
/// - the one mentioned most often in ROADMAP.md and PROJECT.md.
pub(super) fn traced<'a>(
    generations: &'a [Generation],
    root: &Path,
    planning: &Path,
) -> Option<&'a Generation> {
    let planned = |name: &str| read_or_empty(&planning.join(name));
    let instructions = |name: &str| {
        let mut text = read_or_empty(&root.join(name));
        // Our own block repeats commands printed earlier, and is no evidence of what is in use.
        if let Some(block) = generated_block(&text) {
            text.replace_range(block, "");
        }
        text
    };
    let mentioned = |text: String| most_mentioned(generations, &text);
    mentioned(instructions("CLAUDE.md") + &instructions("AGENTS.md") + &planned(vocabulary::STATE))
        .or_else(|| {
            let config = planned(vocabulary::CONFIG);
            let has = |key: &String| config.contains(&format!("\"{key}\""));
            generations.iter().rev().find(|one| one.settings.iter().any(has))
        })
        .or_else(|| generations.iter().rev().find(|one| has_any(planning, &one.writes)))
        .or_else(|| mentioned(planned(vocabulary::ROADMAP) + &planned(vocabulary::PROJECT)))
}

/// Returns the generation whose commands a text mentions most often, without paths and links that contain the word,
/// and without those that belong to a longer word.
fn most_mentioned<'a>(generations: &'a [Generation], text: &str) -> Option<&'a Generation> {
    let count = |word: &String| {
        let all = generations.iter().flat_map(|one| &one.words);
        let longer: Vec<_> =
            all.filter(|one| one.len() > word.len() && one.starts_with(word.as_str())).collect();
        let is_command = |at: &usize| {
            let before = text[..*at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || "`\"'(*[:>|".contains(c))
                && !longer.iter().any(|word| text[*at..].starts_with(word.as_str()))
        };
        memmem::find_iter(text.as_bytes(), word).filter(is_command).count()
    };
    let counts = generations.iter().map(|one| (one.words.iter().map(count).sum::<usize>(), one));
    let counts = counts.filter(|(count, _)| *count > 0);
    counts.max_by_key(|(count, _)| *count).map(|(_, generation)| generation)
}

fn has_any(dir: &Path, files: &[String]) -> bool {
    files.iter().any(|file| has_file(dir, &file.split('/').collect::<Vec<_>>()))
}

/// Maximum number of folders searched for a `*`.
const MAX_FOLDERS: usize = 200;

/// Returns whether a file exists below `dir`, given the components of its path.
fn has_file(dir: &Path, parts: &[&str]) -> bool {
    match parts {
        [] => dir.is_file(),
        ["*", rest @ ..] => {
            let names = listing::entries(dir).unwrap_or_default();
            names.iter().take(MAX_FOLDERS).any(|(name, _)| has_file(&dir.join(name), rest))
        }
        [name, rest @ ..] => has_file(&dir.join(name), rest),
    }
}
