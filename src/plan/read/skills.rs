//! Lists the skills installed for a project: one folder per skill, with its name in SKILL.md.
//!
//! ```text
//! ~/.claude/skills/<folder>/SKILL.md            global
//! <root>/.claude/skills/<folder>/SKILL.md       project
//! <root>/.agents/skills/<folder>/SKILL.md       project
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::markdown::FrontMatter;
use crate::plan::read::Skill;
use crate::plan::read::names::entries;
use crate::project::Project;
use crate::storage::read;
use crate::storage::stat::PathKind;
use crate::text::strip_controls;
use crate::warning::{Parsed, Warning};

/// Skill folders of the harnesses, relative to the home directory or the project.
const CLAUDE: &str = ".claude/skills";
const AGENTS: &str = ".agents/skills";

/// Returns the installed skills, global ones first, then sorted by name.
///
/// Unreadable skills are only reported, since no skill is worth failing for.
pub fn installed_skills(project: &Project) -> Parsed<Vec<Skill>> {
    let home = project.environment.home();
    let homes = [
        (home.map(|home| home.join(CLAUDE)), "global"),
        (Some(project.root.join(CLAUDE)), "project"),
        (Some(project.root.join(AGENTS)), "project"),
    ];
    let mut warnings = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut skills: Vec<Skill> = Vec::new();
    for (folder, scope) in homes {
        // A folder may have two paths: the project is the home directory, or one of them is a link to the
        // other.
        let Some(folder) = folder else { continue };
        let Ok(real) = fs::canonicalize(&folder) else {
            continue;
        };
        if seen.contains(&real) {
            continue;
        }
        for name in names(&folder, &mut warnings) {
            let skill = Skill { name, scope: Some(scope.to_owned()) };
            if !skills.contains(&skill) {
                skills.push(skill);
            }
        }
        seen.push(real);
    }
    skills.sort_by(|a, b| (&a.scope, &a.name).cmp(&(&b.scope, &b.name)));
    Parsed::new(skills, warnings)
}

/// Returns the names of the skills in a folder.
fn names(folder: &Path, warnings: &mut Vec<Warning>) -> Vec<String> {
    let listed = match entries(folder, warnings) {
        Ok(listed) => listed,
        Err(error) => {
            warnings.push(Warning::file(folder, error.reason()));
            return Vec::new();
        }
    };
    let folders = listed.into_iter().filter(|(_, kind)| *kind == PathKind::Folder);
    folders
        .filter_map(|(name, _)| {
            let file = folder.join(&name).join("SKILL.md");
            let text = read::text_or_warning(&file, warnings)?;
            Some(own_name(&text, &file).unwrap_or(name))
        })
        .collect()
}

/// Returns the name stated in a SKILL.md, if it is a single word.
///
/// Other problems of its front matter are left to the harness to report.
fn own_name(text: &str, file: &Path) -> Option<String> {
    let front = FrontMatter::parse(text, file).value;
    let name = strip_controls(front.text(&["name"])?).trim().to_owned();
    let is_name =
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "(),".contains(c));
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;
    use crate::project::{Environment, OpenRequest};

    fn found(tree: &Tree, directory: &str) -> Parsed<Vec<Skill>> {
        let home = ("HOME".to_owned(), tree.at("home").display().to_string());
        let environment: Environment = std::iter::once(home).collect();
        let project = Project::open(OpenRequest {
            directory: tree.at(directory),
            environment,
            ..OpenRequest::default()
        });
        installed_skills(&project.unwrap())
    }

    fn shown(found: &Parsed<Vec<Skill>>) -> Vec<String> {
        let skills = found.value.iter();
        skills
            .map(|skill| format!("{} ({})", skill.name, skill.scope.as_deref().unwrap()))
            .collect()
    }

    #[test]
    fn skills_of_all_places_are_found_once() {
        let tree =
            Tree::new(&["app/.git", "app/.claude/skills/empty", "home/.claude/skills/.hidden"]);
        tree.write("home/.claude/skills/zebra/SKILL.md", "---\nname: aardvark\n---\n");
        tree.write("home/.claude/skills/.hidden/SKILL.md", "");
        tree.write("home/.claude/skills/README.md", "");
        tree.write("app/.claude/skills/docs/SKILL.md", "no front matter");
        tree.write(
            "app/.agents/skills/docs/SKILL.md",
            "---\nname: docs\ndescription: a: b: c\n---\n",
        );
        tree.write("app/.agents/skills/two-words/SKILL.md", "---\nname: Two Words\n---\n");
        let found = found(&tree, "app");
        assert_eq!(shown(&found), ["aardvark (global)", "docs (project)", "two-words (project)"]);
        assert_eq!(found.warnings, []);
    }

    #[test]
    fn a_folder_of_two_names_is_read_once() {
        let tree = Tree::new(&["home/.git"]);
        tree.write("home/.claude/skills/docs/SKILL.md", "");
        assert_eq!(shown(&found(&tree, "home")), ["docs (global)"]);
    }

    #[test]
    fn a_skill_that_cannot_be_read_is_warned_of() {
        let tree = Tree::new(&["app/.git", "app/.claude/skills/odd/SKILL.md"]);
        let found = found(&tree, "app");
        assert_eq!(found.value, []);
        assert_eq!(found.warnings.len(), 1);
    }

    #[test]
    fn no_home_and_no_skills_is_an_answer() {
        let tree = Tree::new(&["app/.git"]);
        assert_eq!(found(&tree, "app"), Parsed::default());
    }
}
