//! Describes the supported planning tools, one row per tool, with everything that the code needs to know.
//!
//! The user-visible commands and sentences of a tool are in `templates/layouts/`, one file per tool. The
//! names in a planning folder, which all tools share, are in [`vocabulary`](crate::project::vocabulary).

use std::path::Path;

use serde::Serialize;

use crate::project::vocabulary;
use crate::storage::read;
use crate::text::word_enum;

word_enum! {
    /// The planning tools whose folders are supported, in the order in which their folders are searched for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
        let has_marker = |layout: &Self| {
            let marker = layout.dialect().marker;
            marker.is_some_and(|marker| state.contains(marker))
        };
        if let Some(marked) = Self::ALL.into_iter().find(has_marker) {
            return marked;
        }
        let other_files = [vocabulary::ROADMAP, vocabulary::PROJECT];
        let other_files = other_files.map(|file| read_or_empty(&dir.join(file)));
        let text = state + &other_files.concat();
        let mentions = |layout: &Self| text.matches(&format!("/{}:", layout.as_str())).count();
        // The last of equal maxima wins, so the order is reversed: without evidence, it is the first layout.
        let reversed = Self::ALL.into_iter().rev();
        reversed.max_by_key(mentions).unwrap_or_default()
    }

    /// Returns the layout's commands and sentences, as compiled into the binary.
    pub(crate) fn table(self) -> &'static str {
        self.dialect().table
    }
}

/// Returns a file's text for detecting its tool; read errors are left to the file's parser to report.
pub(crate) fn read_or_empty(path: &Path) -> String {
    match read::text(path) {
        Ok(Some(text)) => text.value,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

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
