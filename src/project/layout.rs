//! The planning tools that are understood: their folders, their words and their commands.

use std::path::Path;

use serde::Deserialize;
use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::storage::read;

/// The planning tools whose folders are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutName {
    /// `.vbw-planning`.
    Vbw,
    /// `.yolo-planning`.
    Yolo,
    /// `.planning`.
    Gsd,
}

impl LayoutName {
    /// All layouts, in the order in which their folders are looked for.
    pub const ALL: [Self; 3] = [Self::Vbw, Self::Yolo, Self::Gsd];

    /// Returns the layout's short name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vbw => "vbw",
            Self::Yolo => "yolo",
            Self::Gsd => "gsd",
        }
    }

    /// Returns the name of the layout's planning folder.
    pub fn dir(self) -> &'static str {
        match self {
            Self::Vbw => ".vbw-planning",
            Self::Yolo => ".yolo-planning",
            Self::Gsd => ".planning",
        }
    }

    /// Returns the layout whose planning folder has this name.
    pub fn of_dir(dir: &Path) -> Option<Self> {
        let name = dir.file_name()?;
        Self::ALL.into_iter().find(|layout| name == layout.dir())
    }

    /// Returns the layout whose tool wrote the files of a planning folder of another name.
    ///
    /// Every tool names its own commands in the files it writes, and only GSD versions its state.
    pub fn of_content(dir: &Path) -> Self {
        let state = glance(&dir.join("STATE.md"));
        if state.contains("gsd_state_version") {
            return Self::Gsd;
        }
        let text = state + &glance(&dir.join("ROADMAP.md")) + &glance(&dir.join("PROJECT.md"));
        let mentions = |layout: &Self| text.matches(&format!("/{}:", layout.as_str())).count();
        // The last of equal maxima wins, so the order is turned round: without evidence it is the first.
        Self::ALL
            .into_iter()
            .rev()
            .max_by_key(mentions)
            .unwrap_or(Self::Vbw)
    }

    fn table(self) -> &'static str {
        match self {
            Self::Vbw => include_str!("../../templates/layouts/vbw.toml"),
            Self::Yolo => include_str!("../../templates/layouts/yolo.toml"),
            Self::Gsd => include_str!("../../templates/layouts/gsd.toml"),
        }
    }
}

/// Returns a file's text for a look at who wrote it; one that cannot be read is its parser's to report.
fn glance(path: &Path) -> String {
    match read::text(path) {
        Ok(Some(text)) => text.value,
        _ => String::new(),
    }
}

/// The commands of a workflow, as they are printed; nothing here is ever run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// Plans a phase; `{phase}` stands for its number.
    pub plan: String,
    /// Executes a phase; `{phase}` stands for its number.
    pub execute: String,
    /// Ships the active milestone.
    pub ship: String,
    /// Starts a milestone where none is active.
    pub new_milestone: String,
}

impl Commands {
    /// Returns the command that plans this phase.
    pub fn plan(&self, phase: &str) -> String {
        self.plan.replace("{phase}", phase)
    }

    /// Returns the command that executes this phase.
    pub fn execute(&self, phase: &str) -> String {
        self.execute.replace("{phase}", phase)
    }
}

/// The section of the context file that says which commands there are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSection {
    /// The heading, without its `##`.
    pub heading: String,
    /// The lines below it.
    pub lines: Vec<String>,
}

/// One planning tool's folder, words and commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Which tool it is.
    pub name: LayoutName,
    /// What the tool calls itself.
    pub brand: String,
    /// Its commands, or those that the settings put in their place.
    pub commands: Commands,
    /// What the context file says about its commands.
    pub section: CommandSection,
}

impl Layout {
    /// Returns a layout as it is compiled into the binary.
    pub fn load(name: LayoutName) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            brand: String,
            commands: Commands,
            section: CommandSection,
        }
        let table: Table = toml::from_str(name.table()).map_err(|error| {
            let layout = name.as_str();
            Error::failed(format!("the built-in layout {layout} is broken: {error}"))
        })?;
        Ok(Self {
            name,
            brand: table.brand,
            commands: table.commands,
            section: table.section,
        })
    }
}

#[cfg(test)]
mod tests {
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
    fn a_folder_of_another_name_is_known_by_what_its_tool_wrote() {
        let tree = Tree::new(&[]);
        assert_eq!(LayoutName::of_content(&tree.at("")), LayoutName::Vbw);
        tree.write(
            "ROADMAP.md",
            "Run /vbw:status, /yolo:vibe or /yolo:status\n",
        );
        assert_eq!(LayoutName::of_content(&tree.at("")), LayoutName::Yolo);
        tree.write("STATE.md", "---\ngsd_state_version: 1.0\n---\n");
        assert_eq!(LayoutName::of_content(&tree.at("")), LayoutName::Gsd);
    }
}
