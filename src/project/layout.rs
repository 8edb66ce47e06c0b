//! The supported planning tools, one row each, with their commands in the generation that is in use.
//!
//! The user-visible commands and sentences of a tool are in `templates/layouts/`, one file per tool. The names in a
//! planning folder, which all tools share, are in [`vocabulary`](crate::project::vocabulary).

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::markdown::generated_block;
use crate::project::open::CLAUDE_FOLDER;
use crate::project::vocabulary;
use crate::storage;
use crate::storage::{listing, read};
use crate::text::word_enum;

/// Returns whether a planning folder does not exist yet, or is as `annals init` creates it by default: with
/// our own config.json, in which no workflow is named, and without phases. An interrupted init may not have
/// written config.json yet.
fn is_pristine(root: &Path, planning: &Path) -> bool {
    if !planning.exists() {
        return true;
    }
    let is_empty =
        |name: &str| listing::entries(&planning.join(name)).unwrap_or_default().is_empty();
    let settings = read_or_empty(&planning.join(vocabulary::CONFIG));
    let is_own = settings == include_str!("../../templates/init/config.json")
        || settings.is_empty() && storage::has_pending(root);
    is_own && is_empty(vocabulary::PHASES) && is_empty(vocabulary::MILESTONES)
}

/// The section of the context file that lists the commands.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSection {
    /// The heading, without its `##`.
    pub heading: String,
    /// The lines under the heading.
    pub lines: Vec<String>,
}

/// A section that a planning tool's own generator writes into a context file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedSection {
    /// The titles that it has had, without their `##`.
    pub titles: Vec<String>,
    /// The forms of its lines, with the kinds of values in braces.
    pub lines: Vec<String>,
}

/// The folder, wording and commands of one planning tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The tool.
    #[serde(skip)]
    pub name: LayoutName,
    /// The display name of the tool.
    pub brand: String,
    /// Its commands, possibly overridden by settings.
    #[serde(skip)]
    pub commands: Commands,
    /// The section about its commands in the context file.
    pub section: CommandSection,
    /// What its own generator writes into a context file.
    #[serde(default)]
    pub generated: Vec<GeneratedSection>,
    /// Whether the tool is in use here; if not, the commands are plain words.
    #[serde(skip)]
    pub is_in_use: bool,
    /// Whether the installed generation keeps the name of the active milestone in ACTIVE.
    #[serde(skip)]
    pub keeps_active: bool,
    generations: Vec<Generation>,
}

impl Layout {
    /// Loads a layout compiled into the binary.
    pub fn load(name: LayoutName) -> Result<Self> {
        let layout: Self =
            toml::from_str(name.dialect().table).map_err(Error::cannot("read a layout"))?;
        let commands = layout.generations[0].commands.clone();
        Ok(Self { name, commands, is_in_use: true, ..layout })
    }

    /// Selects the commands of the generation in use, or plain words if the tool is not in use.
    ///
    /// `harness` is the user's folder of the harness.
    pub(crate) fn use_generation(
        &mut self,
        root: &Path,
        planning: &Path,
        harness: Option<&Path>,
    ) -> Result<()> {
        let installed = installed(&self.generations, root, harness);
        self.keeps_active = installed.is_some_and(|generation| generation.keeps_active);
        let traced = || traced(&self.generations, root, planning);
        let found = installed.or_else(traced);
        if found.is_none() && self.name == LayoutName::default() && is_pristine(root, planning) {
            self.is_in_use = false;
            let plain = include_str!("../../templates/layouts/plain.toml");
            self.commands = toml::from_str(plain).map_err(Error::cannot("read the plain words"))?;
            self.section.lines.clear();
            return Ok(());
        }
        // The evidence may have been a section that our own block has replaced.
        let Some(generation) =
            found.or_else(|| most_mentioned(&self.generations, &instructions(root).1))
        else {
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

/// The commands of a planning tool, as printed; annals never runs them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// Sets up the project, and its planning folder.
    pub new_project: String,
    /// Gives a roadmap its first phases, where the tool refuses to plan one that the roadmap does not have.
    pub scope: Option<String>,
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

impl Commands {
    /// Returns a command with this phase filled in.
    pub fn with_phase(command: &str, phase: &str) -> String {
        command.replace("{phase}", phase)
    }
}

word_enum! {
    /// The planning tools whose folders are supported, in the order in which their folders are searched for.
    #[derive(Default)]
    pub enum LayoutName {
        /// Vibe Better with Claude Code; the default layout of a new planning folder.
        #[default]
        Vbw = "vbw",
        /// YOLO.
        Yolo = "yolo",
        /// Get Shit Done.
        Gsd = "gsd",
        /// Ariadna, a fork of Get Shit Done for Ruby on Rails.
        Ariadna = "ariadna",
    }
}

/// The properties of one planning tool.
struct Dialect {
    /// The name of its planning folder.
    dir: &'static str,
    /// Prefixes of its commands, in all generations.
    prefixes: &'static [&'static str],
    /// Text that only this tool writes into STATE.md.
    marker: Option<&'static str>,
    /// Whether the tool itself creates and archives milestones and writes config.json in its own format.
    keeps_milestones: bool,
    /// Its commands and sentences, as TOML for `Layout`.
    table: &'static str,
}

/// The tools, in the order of [`LayoutName`].
static DIALECTS: [Dialect; LayoutName::ALL.len()] = [
    Dialect {
        dir: ".vbw-planning",
        prefixes: &["/vbw:"],
        marker: None,
        keeps_milestones: false,
        table: include_str!("../../templates/layouts/vbw.toml"),
    },
    Dialect {
        dir: ".yolo-planning",
        prefixes: &["/yolo:"],
        marker: None,
        keeps_milestones: false,
        table: include_str!("../../templates/layouts/yolo.toml"),
    },
    Dialect {
        dir: ".planning",
        prefixes: &["/gsd:", "/gsd-"],
        marker: Some("gsd_state_version"),
        keeps_milestones: true,
        table: include_str!("../../templates/layouts/gsd.toml"),
    },
    Dialect {
        dir: ".ariadna_planning",
        prefixes: &["/ariadna:"],
        marker: None,
        keeps_milestones: true,
        table: include_str!("../../templates/layouts/ariadna.toml"),
    },
];

impl LayoutName {
    fn dialect(self) -> &'static Dialect {
        &DIALECTS[self as usize]
    }

    /// Returns the name of the layout's planning folder.
    pub fn dir(self) -> &'static str {
        self.dialect().dir
    }

    /// Returns whether the tool creates and archives milestones itself, so that annals must not.
    pub fn keeps_milestones(self) -> bool {
        self.dialect().keeps_milestones
    }

    /// Returns the command prefixes of all tools.
    pub(crate) fn prefixes() -> impl Iterator<Item = &'static str> {
        DIALECTS.iter().flat_map(|dialect| dialect.prefixes.iter().copied())
    }

    /// Returns the layout whose planning folder has this name.
    pub fn from_dir(dir: &Path) -> Option<Self> {
        let name = dir.file_name()?;
        Self::ALL.into_iter().find(|layout| name == layout.dir())
    }

    /// Returns the layout of the tool that wrote a planning folder with a non-standard name.
    ///
    /// Tools mention their own commands in the files they write, and some write text that no other tool does.
    pub fn from_content(dir: &Path) -> Self {
        let state = read_or_empty(&dir.join(vocabulary::STATE));
        if let Some(marked) = Self::ALL
            .into_iter()
            .find(|layout| layout.dialect().marker.is_some_and(|marker| state.contains(marker)))
        {
            return marked;
        }
        let text = state
            + &[vocabulary::ROADMAP, vocabulary::PROJECT]
                .map(|file| read_or_empty(&dir.join(file)))
                .concat();
        // The last of equal maxima wins, so the order is reversed: without evidence, it is the first layout.
        Self::ALL
            .into_iter()
            .rev()
            .max_by_key(|layout| text.matches(&format!("/{}:", layout.as_str())).count())
            .unwrap_or_default()
    }
}

/// Returns a file's text for detecting its tool; read errors are left to the file's parser to report.
fn read_or_empty(path: &Path) -> String {
    match read::text(path) {
        Ok(Some(text)) => text.value,
        _ => String::new(),
    }
}

/// A generation of a tool's commands, and how to detect it.
#[derive(Clone, Debug, Deserialize)]
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
    /// Whether it keeps the name of the active milestone in ACTIVE.
    #[serde(default)]
    keeps_active: bool,
    commands: Commands,
}

/// Returns the newest generation that is installed for the user, in the harness's folder, or for the project.
fn installed<'a>(
    generations: &'a [Generation],
    root: &Path,
    harness: Option<&Path>,
) -> Option<&'a Generation> {
    let own = root.join(CLAUDE_FOLDER);
    generations.iter().rev().find(|one| {
        harness.into_iter().chain([own.as_path()]).any(|home| has_any(home, &one.files))
    })
}

/// Returns the generation whose traces a project and its planning folder have, or `None` if nothing tells.
///
/// The first of these that finds one decides:
///
/// - the one mentioned most often in CLAUDE.md, AGENTS.md and STATE.md;
/// - the newest one whose settings are in config.json, then the newest that wrote files here;
/// - the one mentioned most often in ROADMAP.md and PROJECT.md.
fn traced<'a>(
    generations: &'a [Generation],
    root: &Path,
    planning: &Path,
) -> Option<&'a Generation> {
    let planned = |name: &str| read_or_empty(&planning.join(name));
    let mentioned = |text: String| most_mentioned(generations, &text);
    mentioned(instructions(root).0 + &planned(vocabulary::STATE))
        .or_else(|| {
            let config = planned(vocabulary::CONFIG);
            generations
                .iter()
                .rev()
                .find(|one| one.settings.iter().any(|key| config.contains(&format!("\"{key}\""))))
        })
        .or_else(|| generations.iter().rev().find(|one| has_any(planning, &one.writes)))
        .or_else(|| mentioned(planned(vocabulary::ROADMAP) + &planned(vocabulary::PROJECT)))
}

/// Returns the text of CLAUDE.md and AGENTS.md without our own block, which repeats commands printed earlier; and the block.
fn instructions(root: &Path) -> (String, String) {
    let (mut text, mut printed) = (String::new(), String::new());
    for name in ["CLAUDE.md", "AGENTS.md"] {
        let mut whole = read_or_empty(&root.join(name));
        if let Some(block) = generated_block(&whole) {
            printed.extend(whole.drain(block));
        }
        text.push_str(&whole);
    }
    (text, printed)
}

/// Returns the generation whose commands a text mentions most often, without paths and links that contain the word,
/// and without those that belong to a longer word.
fn most_mentioned<'a>(generations: &'a [Generation], text: &str) -> Option<&'a Generation> {
    let count = |word: &String| {
        let longer: Vec<_> = generations
            .iter()
            .flat_map(|one| &one.words)
            .filter(|one| one.len() > word.len() && one.starts_with(word.as_str()))
            .collect();
        memmem::find_iter(text.as_bytes(), word)
            .filter(|at| {
                text[..*at]
                    .chars()
                    .next_back()
                    .is_none_or(|c| c.is_whitespace() || "`\"'(*[:>|".contains(c))
                    && !longer.iter().any(|word| text[*at..].starts_with(word.as_str()))
            })
            .count()
    };
    generations
        .iter()
        .map(|one| (one.words.iter().map(count).sum::<usize>(), one))
        .filter(|(count, _)| *count > 0)
        .max_by_key(|(count, _)| *count)
        .map(|(_, generation)| generation)
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
        ["*", rest @ ..] => listing::entries(dir)
            .unwrap_or_default()
            .iter()
            .take(MAX_FOLDERS)
            .any(|(name, _)| has_file(&dir.join(name), rest)),
        [name, rest @ ..] => has_file(&dir.join(name), rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    #[test]
    fn every_layout_prints_its_own_commands() {
        let plan = |name| Commands::with_phase(&Layout::load(name).unwrap().commands.plan, "5.1");
        assert_eq!(plan(LayoutName::Vbw), "/vbw:plan 5.1");
        assert_eq!(plan(LayoutName::Yolo), "/yolo:vibe --plan 5.1");
        assert_eq!(plan(LayoutName::Gsd), "/gsd:plan-phase 5.1");
        for name in LayoutName::ALL {
            let layout = Layout::load(name).unwrap();
            let own = format!("/{}:", name.as_str());
            assert!(layout.commands.execute.starts_with(&own));
            assert!(layout.commands.execute.ends_with(" {phase}"));
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
            layout.use_generation(&tree.at(""), &tree.at(".planning"), Some(&home)).unwrap();
            (Commands::with_phase(&layout.commands.plan, "2"), layout.section.lines.concat())
        };
        assert_eq!(commands(LayoutName::Vbw), ("plan phase 2".to_owned(), String::new()));
        tree.write(".planning/config.json", "{}");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        tree.write("CLAUDE.md", "<!--annals:begin v1-->\n/gsd:a /gsd:b\n<!-- annals:end -->\nRun /gsd-progress and /vbw:vibe\n");
        let (plan, section) = commands(LayoutName::Gsd);
        assert_eq!(plan, "/gsd-plan-phase 2");
        assert!(section.contains("/gsd-progress") && !section.contains("/gsd:"), "{section}");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
        tree.write("CLAUDE.md", "# A\n");
        tree.write(".planning/config.json", r#"{"prefer_teams": "auto"}"#);
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
        tree.write(".planning/config.json", r#"{"agent_teams": true}"#);
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        let elsewhere = "See https://example.org/gsd-build and docs/gsd-notes.md\n";
        tree.write("CLAUDE.md", elsewhere);
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd:plan-phase 2");
        tree.write("CLAUDE.md", "Run `$gsd-plan-phase 2`, then $gsd-progress\n");
        assert_eq!(commands(LayoutName::Gsd).0, "$gsd-plan-phase 2");
        let plugin = "Run /gsd-core:progress, /vbw:vibe; @~/.claude/gsd-core/a.md, /gsd-core/b\n";
        tree.write("CLAUDE.md", plugin);
        assert_eq!(commands(LayoutName::Gsd).0, "/gsd-core:plan-phase 2");
        tree.write("home/.claude/plugins/cache/market/vbw/1.2.0/commands/plan.md", "");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:plan 2");
        tree.write("home/.claude/plugins/cache/market/vbw/1.30.0/commands/vibe.md", "");
        assert_eq!(commands(LayoutName::Vbw).0, "/vbw:vibe --plan 2");
    }

    #[test]
    fn files_that_only_one_generation_writes_tell_which() {
        let tree = Tree::new(&[]);
        tree.write(".planning/config.json", "{}");
        let stage = ".planning/phases/01-a/remediation/qa/.qa-remediation-stage";
        tree.write(stage, "stage=plan\n");
        let mut layout = Layout::load(LayoutName::Vbw).unwrap();
        layout.use_generation(&tree.at(""), &tree.at(".planning"), None).unwrap();
        assert_eq!(Commands::with_phase(&layout.commands.plan, "2"), "/vbw:vibe --plan 2");
    }

    #[test]
    fn the_roadmap_names_the_generation_where_nothing_else_does() {
        let tree = Tree::new(&[]);
        let plan = || {
            let mut layout = Layout::load(LayoutName::Gsd).unwrap();
            layout.use_generation(&tree.at(""), &tree.at(".planning"), None).unwrap();
            Commands::with_phase(&layout.commands.plan, "2")
        };
        tree.write(".planning/PROJECT.md", "# Tides\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
        tree.write(".planning/ROADMAP.md", "Plans: TBD (run /gsd-plan-phase 2)\n");
        assert_eq!(plan(), "/gsd-plan-phase 2");
        tree.write("AGENTS.md", "Run /gsd:progress first.\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
    }

    #[test]
    fn our_own_block_names_the_generation_where_nothing_else_does() {
        let tree = Tree::new(&[]);
        let plan = || {
            let mut layout = Layout::load(LayoutName::Vbw).unwrap();
            layout.use_generation(&tree.at(""), &tree.at(".planning"), None).unwrap();
            Commands::with_phase(&layout.commands.plan, "2")
        };
        let block = "<!-- annals:begin v1 -->\nNext: /vbw:vibe --execute 1\n<!-- annals:end -->\n";
        tree.write("CLAUDE.md", block);
        assert_eq!(plan(), "plan phase 2");
        tree.write(".planning/config.json", "{}");
        assert_eq!(plan(), "/vbw:vibe --plan 2");
        tree.write(".planning/ROADMAP.md", "Run /vbw:plan 1\n");
        assert_eq!(plan(), "/vbw:plan 2");
    }

    #[test]
    fn no_two_tools_share_a_name_or_a_folder_or_the_beginning_of_a_command() {
        for one in LayoutName::ALL {
            for other in LayoutName::ALL.into_iter().filter(|other| *other != one) {
                assert_ne!(one.as_str(), other.as_str());
                assert_ne!(one.dir(), other.dir());
                for prefix in one.dialect().prefixes {
                    assert!(!other.dialect().prefixes.contains(prefix), "{prefix}");
                }
            }
        }
    }

    #[test]
    fn a_folder_with_another_name_is_detected_by_its_content() {
        let tree = Tree::new(&[]);
        assert_eq!(LayoutName::from_content(&tree.at("")), LayoutName::Vbw);
        tree.write("ROADMAP.md", "Run /vbw:status, /yolo:vibe or /yolo:status\n");
        assert_eq!(LayoutName::from_content(&tree.at("")), LayoutName::Yolo);
        tree.write("STATE.md", "---\ngsd_state_version: 1.0\n---\n");
        assert_eq!(LayoutName::from_content(&tree.at("")), LayoutName::Gsd);
    }
}
