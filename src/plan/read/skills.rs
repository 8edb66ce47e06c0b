//! Lists the skills installed for a project: one folder for each, by whose name they are called.
//!
//! ```text
//! ~/.claude/skills/<folder>/SKILL.md            global
//! <root>/.claude/skills/<folder>/SKILL.md       project
//! <root>/.agents/skills/<folder>/SKILL.md       project
//! ```

use std::path::Path;

use crate::plan::read::Skill;
use crate::plan::read::names::entries;
use crate::project::Project;
use crate::storage::read;
use crate::storage::read::PathKind;
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
    let mut skills: Vec<Skill> = Vec::new();
    for (folder, scope) in homes {
        let Some(folder) = folder else { continue };
        for name in names(&folder, &mut warnings) {
            let skill = Skill { name, scope: Some(scope.to_owned()) };
            // The project may be the home directory, and two of the project's folders may hold the same skills.
            if !skills.iter().any(|known| known.name == skill.name) {
                skills.push(skill);
            }
        }
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
    let is_skill = |(name, kind): &(String, PathKind)| {
        *kind == PathKind::Folder && read::is_file(&folder.join(name).join("SKILL.md"))
    };
    listed.into_iter().filter(is_skill).map(|(name, _)| name).collect()
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
        tree.write("home/.claude/skills/zebra/SKILL.md", "");
        tree.write("home/.claude/skills/.hidden/SKILL.md", "");
        tree.write("home/.claude/skills/README.md", "");
        tree.write("app/.claude/skills/docs/SKILL.md", "no front matter");
        tree.write(
            "app/.agents/skills/docs/SKILL.md",
            "---\nname: docs\ndescription: a: b: c\n---\n",
        );
        tree.write("app/.agents/skills/two-words/SKILL.md", "---\nname: Two Words\n---\n");
        let found = found(&tree, "app");
        assert_eq!(shown(&found), ["zebra (global)", "docs (project)", "two-words (project)"]);
        assert_eq!(found.warnings, []);
    }

    #[test]
    fn a_folder_of_two_names_is_read_once() {
        let tree = Tree::new(&["home/.git"]);
        tree.write("home/.claude/skills/docs/SKILL.md", "");
        assert_eq!(shown(&found(&tree, "home")), ["docs (global)"]);
    }

    #[test]
    fn a_folder_without_the_file_is_no_skill() {
        let tree = Tree::new(&["app/.git", "app/.claude/skills/odd/SKILL.md"]);
        let found = found(&tree, "app");
        assert_eq!(found, Parsed::default());
    }

    #[test]
    fn no_home_and_no_skills_is_an_answer() {
        let tree = Tree::new(&["app/.git"]);
        assert_eq!(found(&tree, "app"), Parsed::default());
    }
}
