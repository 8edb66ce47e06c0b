//! Finds out which generation of a tool's commands is in use.

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use crate::markdown::comments::generated_block;
use crate::project::commands::Commands;
use crate::project::dialect::read_or_empty;
use crate::project::environment::CLAUDE_FOLDER;
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
    /// Parts of paths that only its plans name.
    #[serde(default)]
    paths: Vec<String>,
    /// Whether it keeps the name of the active milestone in ACTIVE.
    #[serde(default)]
    pub(super) keeps_active: bool,
    pub(super) commands: Commands,
}

impl Generation {
    /// Counts the commands of this generation in a text, without paths and links that contain the word, and
    /// without those that belong to a longer word of another generation.
    fn mentions(&self, text: &str, longer: &[&str]) -> usize {
        let is_command = |at: &usize| {
            let before = text[..*at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || "`\"'(*[:>|".contains(c))
                && !longer.iter().any(|word| text[*at..].starts_with(word))
        };
        let words = self.words.iter();
        words.map(|word| memmem::find_iter(text.as_bytes(), word).filter(is_command).count()).sum()
    }
}

/// The generations of a tool, and the places where the one in use has left traces.
pub(super) struct Traces<'a> {
    /// Oldest first.
    pub(super) generations: &'a [Generation],
    /// The project's folder.
    pub(super) root: &'a Path,
    /// The planning folder.
    pub(super) planning: &'a Path,
    /// The user's folder of the harness.
    pub(super) harness: Option<&'a Path>,
}

impl<'a> Traces<'a> {
    /// Returns the generation in use, or `None` if nothing tells.
    ///
    /// The first of these that finds one decides:
    ///
    /// - the newest generation installed for the user or the project;
    /// - the one mentioned most often in CLAUDE.md and STATE.md, then in AGENTS.md and .claude/CLAUDE.md;
    /// - the newest one whose settings are in config.json, then the newest that wrote files here;
    /// - the one that the last plan mentions, then ROADMAP.md and PROJECT.md.
    pub(super) fn generation(&self, installed: Option<&'a Generation>) -> Option<&'a Generation> {
        let has_plans = self.planning.is_dir();
        installed
            .or_else(|| {
                let state = self.planning.join(vocabulary::STATE);
                let state = if has_plans { read_or_empty(&state) } else { String::new() };
                self.most_mentioned(&(self.instructions("CLAUDE.md") + &state))
            })
            .or_else(|| {
                let more = self.instructions("AGENTS.md") + &self.instructions(".claude/CLAUDE.md");
                self.most_mentioned(&more)
            })
            .or_else(|| has_plans.then(|| self.in_planning()).flatten())
    }

    fn in_planning(&self) -> Option<&'a Generation> {
        self.in_settings()
            .or_else(|| self.newest(|generation| has_any(self.planning, &generation.writes)))
            .or_else(|| self.in_last_plan())
            .or_else(|| {
                let text = |name: &str| read_or_empty(&self.planning.join(name));
                self.most_mentioned(&(text(vocabulary::ROADMAP) + &text(vocabulary::PROJECT)))
            })
    }

    fn newest(&self, is_it: impl Fn(&Generation) -> bool) -> Option<&'a Generation> {
        let mut newest_first = self.generations.iter().rev();
        newest_first.find(|generation| is_it(generation))
    }

    /// Returns the newest generation that is installed for the user or the project.
    pub(super) fn installed(&self) -> Option<&'a Generation> {
        let own = self.root.join(CLAUDE_FOLDER);
        let homes = || self.harness.into_iter().chain([own.as_path()]);
        self.newest(|generation| homes().any(|home| has_any(home, &generation.files)))
    }

    /// Returns a file of instructions to agents, without our own block.
    fn instructions(&self, name: &str) -> String {
        without_own_block(&read_or_empty(&self.root.join(name)))
    }

    fn in_settings(&self) -> Option<&'a Generation> {
        let config = read_or_empty(&self.planning.join(vocabulary::CONFIG));
        let has = |key: &String| config.contains(&format!("\"{key}\""));
        self.newest(|generation| generation.settings.iter().any(has))
    }

    fn in_last_plan(&self) -> Option<&'a Generation> {
        let plan = last_plan(self.planning)?;
        let names_path = |generation: &&Generation| {
            let mut paths = generation.paths.iter();
            paths.any(|path| plan.contains(path.as_str()))
        };
        self.most_mentioned(&plan).or_else(|| self.generations.iter().find(names_path))
    }

    fn most_mentioned(&self, text: &str) -> Option<&'a Generation> {
        let all = || self.generations.iter().flat_map(|one| &one.words);
        let counts = self.generations.iter().map(|generation| {
            let is_longer = |word: &&String| {
                let mut own = generation.words.iter();
                own.any(|own| word.len() > own.len() && word.starts_with(own.as_str()))
            };
            let longer: Vec<&str> = all().filter(is_longer).map(String::as_str).collect();
            (generation.mentions(text, &longer), generation)
        });
        let highest = counts.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count);
        highest.map(|(_, generation)| generation)
    }
}

fn has_any(dir: &Path, files: &[String]) -> bool {
    let mut files = files.iter();
    files.any(|file| has_file(dir, &file.split('/').collect::<Vec<_>>()))
}

/// Returns whether a file exists below `dir`, given the components of its path.
fn has_file(dir: &Path, parts: &[&str]) -> bool {
    match parts {
        [] => dir.is_file(),
        ["*", rest @ ..] => {
            let names = listing::entries(dir).unwrap_or_default();
            let mut folders = names.iter().take(MAX_FOLDERS);
            folders.any(|(name, _)| has_file(&dir.join(name), rest))
        }
        [name, rest @ ..] => has_file(&dir.join(name), rest),
    }
}

/// Maximum number of folders searched for a `*`.
const MAX_FOLDERS: usize = 200;

/// Returns the text without the generated block of a context file: it repeats commands printed earlier and is
/// no evidence of what is in use.
fn without_own_block(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(block) = generated_block(&text) {
        text.replace_range(block, "");
    }
    text
}

/// Returns the text of the last plan of the last phase that has one. Only one is read, since `status` asks for it.
fn last_plan(planning: &Path) -> Option<String> {
    let names = |dir: &Path| listing::entries(dir).unwrap_or_default().into_iter();
    let number = |name: &str| -> Option<Vec<u32>> {
        let end = name.find(|c: char| !c.is_ascii_digit() && c != '.');
        let digits = name[..end.unwrap_or(name.len())].trim_end_matches('.');
        digits.split('.').map(|part| part.parse().ok()).collect()
    };
    let phases = planning.join(vocabulary::PHASES);
    let folders = names(&phases).filter_map(|(name, _)| Some((number(&name)?, name)));
    let mut folders: Vec<(Vec<u32>, String)> = folders.collect();
    folders.sort_unstable_by(|a, b| b.cmp(a));
    let plan_of = move |(_, folder): (Vec<u32>, String)| {
        let dir = phases.join(folder);
        let plans = names(&dir).filter(|(name, _)| name.ends_with("PLAN.md"));
        let last = plans.map(|(name, _)| name).max()?;
        Some(read_or_empty(&dir.join(last)))
    };
    folders.into_iter().find_map(plan_of)
}
