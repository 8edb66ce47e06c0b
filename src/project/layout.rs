//! The commands and sentences of a planning tool, in the generation that is in use.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::project::dialect::{LayoutName, read_or_empty};
use crate::project::generation::Generation;
use crate::project::{generation, vocabulary};
use crate::storage;
use crate::storage::listing;

/// Returns whether a planning folder does not exist yet, or is as `annals init` creates it by default: with
/// our own config.json, and without phases. An interrupted init may not have written config.json yet.
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSection {
    /// The heading, without its `##`.
    pub heading: String,
    /// The lines under the heading.
    pub lines: Vec<String>,
}

/// A section that a planning tool's own generator writes into a context file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedSection {
    /// The titles that it has had, without their `##`.
    pub titles: Vec<String>,
    /// The forms of its lines, with the kinds of values in braces.
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
    /// What its own generator writes into a context file.
    pub generated: Vec<GeneratedSection>,
    /// Whether the tool is in use here; if not, the commands are plain words.
    pub is_in_use: bool,
    /// Whether the installed generation keeps the name of the active milestone in ACTIVE.
    pub keeps_active: bool,
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
            #[serde(default)]
            generated: Vec<GeneratedSection>,
        }
        let table: Table = toml::from_str(name.table()).map_err(|error| {
            let layout = name.as_str();
            Error::failed(format!("the built-in layout {layout} is invalid: {error}"))
        })?;
        let Some(first) = table.generations.first() else {
            let layout = name.as_str();
            return Err(Error::failed(format!("the built-in layout {layout} has no commands")));
        };
        Ok(Self {
            name,
            brand: table.brand,
            commands: first.commands.clone(),
            section: table.section,
            generated: table.generated,
            is_in_use: true,
            keeps_active: false,
            generations: table.generations,
        })
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
        let installed = generation::installed(&self.generations, root, harness);
        self.keeps_active = installed.is_some_and(|generation| generation.keeps_active);
        let traced = || generation::traced(&self.generations, root, planning);
        let Some(generation) = installed.or_else(traced) else {
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

/// Returns plain words as a substitute for a tool's commands.
fn plain() -> Result<Commands> {
    let table = include_str!("../../templates/layouts/plain.toml");
    toml::from_str(table)
        .map_err(|error| Error::failed(format!("the built-in plain commands are invalid: {error}")))
}

/// The commands of a planning tool, as printed; annals never runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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

#[cfg(test)]
mod tests {
    use crate::project::fixture::Tree;

    use super::*;

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
            layout.use_generation(&tree.at(""), &tree.at(".planning"), Some(&home)).unwrap();
            (layout.commands.plan("2"), layout.section.lines.concat())
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
        assert_eq!(layout.commands.plan("2"), "/vbw:vibe --plan 2");
    }

    #[test]
    fn the_roadmap_names_the_generation_where_nothing_else_does() {
        let tree = Tree::new(&[]);
        let plan = || {
            let mut layout = Layout::load(LayoutName::Gsd).unwrap();
            layout.use_generation(&tree.at(""), &tree.at(".planning"), None).unwrap();
            layout.commands.plan("2")
        };
        tree.write(".planning/PROJECT.md", "# Tides\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
        tree.write(".planning/ROADMAP.md", "Plans: TBD (run /gsd-plan-phase 2)\n");
        assert_eq!(plan(), "/gsd-plan-phase 2");
        tree.write("AGENTS.md", "Run /gsd:progress first.\n");
        assert_eq!(plan(), "/gsd:plan-phase 2");
    }
}
