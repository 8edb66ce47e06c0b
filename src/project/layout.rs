//! The commands and sentences of a planning tool, in the generation that is in use.

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;
use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::project::dialect::LayoutName;
use crate::project::dialect::read_or_empty;
use crate::project::vocabulary;
use crate::storage;
use crate::storage::listing;

/// The commands of a planning tool, as printed; annals never runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// Plans a phase; `{phase}` is replaced with its number.
    pub plan: String,
    /// Executes a phase; `{phase}` is replaced with its number.
    pub execute: String,
    /// Verifies a finished phase, or tests it with the user.
    pub verify: String,
    /// Fixes what the verification of a phase found.
    pub remediate: String,
    /// Discusses a phase before it is planned.
    pub discuss: String,
    /// Ships the active milestone.
    pub ship: String,
    /// Starts a milestone if none is active.
    pub new_milestone: String,
}

/// A generation of a tool's commands, and how to detect it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generation {
    /// Files installed with it, relative to a harness's folder; `*` matches any folder name.
    files: Vec<String>,
    /// Prefixes of its commands, as they occur in a project's texts.
    words: Vec<String>,
    /// Keys that only its config.json has.
    #[serde(default)]
    settings: Vec<String>,
    /// Files that only it writes, relative to the planning folder; `*` matches any folder name.
    #[serde(default)]
    writes: Vec<String>,
    /// Parts of paths that only its plans name.
    #[serde(default)]
    paths: Vec<String>,
    commands: Commands,
}

impl Generation {
    fn is_installed(&self, harness: &Path) -> bool {
        has_any(harness, &self.files)
    }

    fn has_written(&self, planning: &Path) -> bool {
        has_any(planning, &self.writes)
    }

    /// Counts the commands of this generation in a text, without paths and links that contain the word, and
    /// without those that belong to a longer word of another generation.
    fn mentions(&self, text: &str, longer: &[&str]) -> usize {
        let is_command = |at: &usize| {
            let before = text[..*at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || "`\"'(*[:>|".contains(c))
                && !longer.iter().any(|word| text[*at..].starts_with(word))
        };
        let words = self.words.iter();
        words
            .map(|word| {
                memmem::find_iter(text.as_bytes(), word)
                    .filter(is_command)
                    .count()
            })
            .sum()
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

/// Returns whether a planning folder does not exist yet, or is as `annals init` creates it by default: with
/// our own config.json, and without phases. An interrupted init may not have written config.json yet.
fn is_pristine(root: &Path, planning: &Path) -> bool {
    let is_empty = |name: &str| {
        listing::entries(&planning.join(name))
            .unwrap_or_default()
            .is_empty()
    };
    let settings = read_or_empty(&planning.join(vocabulary::CONFIG));
    let is_own = settings == include_str!("../../templates/init/config.json")
        || settings.is_empty() && storage::has_pending(root);
    !planning.exists() || is_own && is_empty(vocabulary::PHASES) && is_empty(vocabulary::MILESTONES)
}

/// Returns the text without the generated block of a context file: it repeats commands printed earlier and is
/// no evidence of what is in use.
fn without_own_block(text: &str) -> String {
    match (
        text.find("<!-- annals:begin"),
        text.find("<!-- annals:end -->"),
    ) {
        (Some(begin), Some(end)) if begin < end => format!("{}{}", &text[..begin], &text[end..]),
        _ => text.to_owned(),
    }
}

impl Commands {
    /// Returns a command with this phase filled in.
    pub fn with_phase(command: &str, phase: &str) -> String {
        command.replace("{phase}", phase)
    }

    /// Returns the command that plans this phase.
    pub fn plan(&self, phase: &str) -> String {
        self.plan.replace("{phase}", phase)
    }

    /// Returns the command that executes this phase.
    pub fn execute(&self, phase: &str) -> String {
        self.execute.replace("{phase}", phase)
    }
}

/// The section of the context file that lists the commands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSection {
    /// The heading, without its `##`.
    pub heading: String,
    /// The lines under the heading.
    pub lines: Vec<String>,
}

/// The folder, wording and commands of one planning tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The tool.
    pub name: LayoutName,
    /// The display name of the tool.
    pub brand: String,
    /// Its commands, possibly overridden by settings.
    pub commands: Commands,
    /// The section about its commands in the context file.
    pub section: CommandSection,
    /// Whether the tool is in use here; if not, the commands are plain words.
    pub is_in_use: bool,
    generations: Vec<Generation>,
}

impl Layout {
    /// Loads a layout compiled into the binary.
    pub fn load(name: LayoutName) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            brand: String,
            generations: Vec<Generation>,
            section: CommandSection,
        }
        let table: Table = toml::from_str(name.table()).map_err(|error| {
            let layout = name.as_str();
            Error::failed(format!("the built-in layout {layout} is invalid: {error}"))
        })?;
        let Some(first) = table.generations.first() else {
            let layout = name.as_str();
            return Err(Error::failed(format!(
                "the built-in layout {layout} has no commands"
            )));
        };
        Ok(Self {
            name,
            brand: table.brand,
            commands: first.commands.clone(),
            section: table.section,
            is_in_use: true,
            generations: table.generations,
        })
    }

    /// Selects the commands of the generation in use, or plain words if the tool is not in use.
    ///
    /// The first of these that finds one decides:
    ///
    /// - the newest generation installed for the user (`harness` is their folder of the harness) or the project;
    /// - the one mentioned most often in CLAUDE.md and STATE.md, then in AGENTS.md and .claude/CLAUDE.md;
    /// - the newest one whose settings are in config.json, then the newest that wrote files here;
    /// - the one that the last plan mentions, then ROADMAP.md and PROJECT.md.
    pub(crate) fn use_generation(
        &mut self,
        root: &Path,
        planning: &Path,
        harness: Option<&Path>,
    ) -> Result<()> {
        let project_harness = root.join(".claude");
        let harness_dirs = || harness.into_iter().chain([project_harness.as_path()]);
        let mut newest_first = self.generations.iter().rev();
        let installed = newest_first.find(|generation| {
            let mut harness_dirs = harness_dirs();
            harness_dirs.any(|home| generation.is_installed(home))
        });
        let most_mentioned = |text: &str| {
            let all = || self.generations.iter().flat_map(|one| &one.words);
            let counts = self.generations.iter().map(|generation| {
                let is_longer = |word: &&String| {
                    let mut own = generation.words.iter();
                    own.any(|own| word.len() > own.len() && word.starts_with(own.as_str()))
                };
                let longer: Vec<&str> = all().filter(is_longer).map(String::as_str).collect();
                (generation.mentions(text, &longer), generation)
            });
            let highest = counts
                .filter(|(count, _)| *count > 0)
                .max_by_key(|(count, _)| *count);
            highest.map(|(_, generation)| generation)
        };
        let instructions = |name: &str| without_own_block(&read_or_empty(&root.join(name)));
        let in_documents = || {
            let state = read_or_empty(&planning.join(vocabulary::STATE));
            most_mentioned(&(instructions("CLAUDE.md") + &state))
        };
        let in_settings = || {
            let config = read_or_empty(&planning.join(vocabulary::CONFIG));
            let has = |key: &String| config.contains(&format!("\"{key}\""));
            let mut newest_first = self.generations.iter().rev();
            newest_first.find(|generation| generation.settings.iter().any(has))
        };
        let in_files = || {
            let mut newest_first = self.generations.iter().rev();
            newest_first.find(|generation| generation.has_written(planning))
        };
        let in_other_instructions =
            || most_mentioned(&(instructions("AGENTS.md") + &instructions(".claude/CLAUDE.md")));
        let found = installed
            .or_else(in_documents)
            .or_else(in_other_instructions)
            .or_else(in_settings)
            .or_else(in_files);
        let in_plan = || {
            let plan = last_plan(planning)?;
            let names_path = |generation: &&Generation| {
                let mut paths = generation.paths.iter();
                paths.any(|path| plan.contains(path.as_str()))
            };
            most_mentioned(&plan).or_else(|| self.generations.iter().find(names_path))
        };
        let in_roadmap = || {
            let text = |name: &str| read_or_empty(&planning.join(name));
            most_mentioned(&(text(vocabulary::ROADMAP) + &text(vocabulary::PROJECT)))
        };
        let found = found.or_else(in_plan).or_else(in_roadmap);
        let Some(generation) = found else {
            if self.name == LayoutName::default() && is_pristine(root, planning) {
                self.is_in_use = false;
                self.commands = plain()?;
                self.section.lines.clear();
            }
            return Ok(());
        };
        let (old, new) = (&self.generations[0].words[0], &generation.words[0]);
        for line in &mut self.section.lines {
            *line = line.replace(old.as_str(), new);
        }
        self.commands = generation.commands.clone();
        Ok(())
    }
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

/// Returns plain words as a substitute for a tool's commands.
fn plain() -> Result<Commands> {
    let table = include_str!("../../templates/layouts/plain.toml");
    toml::from_str(table)
        .map_err(|error| Error::failed(format!("the built-in plain commands are invalid: {error}")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::project::fixture::Tree;

    #[test]
    fn every_layout_prints_its_own_commands() {
        let plan = |name| Layout::load(name).unwrap().commands.plan("5.1");
        assert_eq!(plan(LayoutName::Vbw), "/vbw:plan 5.1");
        assert_eq!(plan(LayoutName::Yolo), "/yolo:vibe --plan 5.1");
        assert_eq!(plan(LayoutName::Gsd), "/gsd:plan-phase 5.1");
        for name in LayoutName::ALL {
            let layout = Layout::load(name).unwrap();
            let own = format!("/{}:", name.as_str());
            assert!(layout.commands.execute("2").starts_with(&own));
            assert!(layout.commands.execute("2").ends_with(" 2"));
            assert!(layout.commands.ship.starts_with(&own));
            assert!(layout.commands.new_milestone.starts_with(&own));
            assert!(layout.section.lines.iter().any(|line| line.contains(&own)));
        }
    }

    #[test]
    fn commands_are_those_of_the_generation_in_use() {
        let tree = Tree::new(&[]);
        let commands = |name| {
            let mut layout = Layout::load(name).unwrap();
            let home = tree.at("home/.claude");
            layout
                .use_generation(&tree.at(""), &tree.at(".planning"), Some(&home))
                .unwrap();
            (layout.commands.plan("2"), layout.section.lines.concat())
        };
        assert_eq!(
            commands(LayoutName::Vbw),
            ("plan phase 2".to_owned(), String::new())
        );
        tree.write(".planning/config.json", "{}");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        tree.write("CLAUDE.md", "<!-- annals:begin v1 -->/gsd:a /gsd:b<!-- annals:end -->\nRun /gsd-progress and /vbw:vibe\n");
        let (plan, section) = commands(LayoutName::Gsd);
        assert_eq!(plan, "/gsd-plan-phase 2");
        assert!(
            section.contains("/gsd-progress") && !section.contains("/gsd:"),
            "{section}"
        );
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
        tree.write("CLAUDE.md", "# A\n");
        tree.write(".planning/config.json", r#"{"prefer_teams": "auto"}"#);
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
        tree.write(".planning/config.json", r#"{"agent_teams": true}"#);
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        let stage = ".planning/phases/01-a/remediation/qa/.qa-remediation-stage";
        tree.write(stage, "stage=plan\n");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
        fs::remove_file(tree.at(stage)).unwrap();
        let plan = "@$HOME/.claude/gsd-core/workflows/execute-plan.md\n";
        tree.write(".planning/phases/01-a/01-01-PLAN.md", "Run /gsd:quick\n");
        tree.write(".planning/phases/02-b/02-01-PLAN.md", plan);
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd-plan-phase 2");
        tree.write(
            ".planning/phases/10-c/10-01-PLAN.md",
            "Run /gsd:quick, see @x/gsd-planner.md\n",
        );
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd:plan-phase 2");
        let elsewhere = "See https://example.org/gsd-build and docs/gsd-notes.md\n";
        tree.write("CLAUDE.md", elsewhere);
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd:plan-phase 2");
        tree.write("CLAUDE.md", "Run `$gsd-plan-phase 2`, then $gsd-progress\n");
        assert_eq!(commands(LayoutName::Gsd).0, "$gsd-plan-phase 2");
        let plugin = "Run /gsd-core:progress, /vbw:vibe; @~/.claude/gsd-core/a.md, /gsd-core/b\n";
        tree.write("CLAUDE.md", plugin);
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd-core:plan-phase 2");
        tree.write(
            "home/.claude/plugins/cache/market/vbw/1.2.0/commands/plan.md",
            "",
        );
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        tree.write(
            "home/.claude/plugins/cache/market/vbw/1.30.0/commands/vibe.md",
            "",
        );
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
    }

    #[test]
    fn the_roadmap_names_the_generation_where_nothing_else_does() {
        let tree = Tree::new(&[]);
        let plan = || {
            let mut layout = Layout::load(LayoutName::Gsd).unwrap();
            layout
                .use_generation(&tree.at(""), &tree.at(".planning"), None)
                .unwrap();
            layout.commands.plan("2")
        };
        tree.write(".planning/PROJECT.md", "# Tides\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
        tree.write(
            ".planning/ROADMAP.md",
            "Plans: TBD (run /gsd-plan-phase 2)\n",
        );
        assert_eq!(plan(), "/gsd-plan-phase 2");
        tree.write(".claude/CLAUDE.md", "Run /gsd:progress first.\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
    }
}
