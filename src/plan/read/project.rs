//! Reads what is known of the project: PROJECT.md, the texts of requirements, and the installed skills.
//!
//! PROJECT.md has the name, core value and decisions:
//!
//! ```text
//! # name
//! **Core value:** …               ## Core Value
//! ## Key Decisions
//! | Decision | Rationale | Outcome |
//! ```
//!
//! The texts of requirement ids are in REQUIREMENTS.md:
//!
//! ```text
//! - [ ] **REQ-01**: text        ### REQ-01: text        | REQ-01 | text | Phase 1 |
//! ```
//!
//! Each installed skill has a folder, by whose name it is called:
//!
//! ```text
//! ~/.claude/skills/<folder>/SKILL.md            global
//! <root>/.claude/skills/<folder>/SKILL.md       project
//! <root>/.agents/skills/<folder>/SKILL.md       project
//! ```

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::folder::folders;
use crate::plan::read::{Decision, Skill, decision, document};
use crate::project::Project;
use crate::storage::read;
use crate::text::{given, is_digit, one_line, says_none, strip_prefix_ignore_case};
use crate::warning::Parsed;

/// The parsed PROJECT.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProjectFile {
    /// The project's name.
    pub name: Option<String>,
    /// The main purpose of the project.
    pub core_value: Option<String>,
    /// The key decisions, in file order.
    pub decisions: Vec<Decision>,
}

impl ProjectFile {
    /// Parses a PROJECT.md.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let value = Self {
            name: name(&outline),
            core_value: core_value(&outline),
            decisions: decision::in_sections(&outline),
        };
        Parsed { value, warnings }
    }
}

fn name(outline: &Outline<'_>) -> Option<String> {
    let title = outline.title()?;
    let named = title
        .split_once(':')
        .filter(|(word, _)| word.trim().eq_ignore_ascii_case("project"))
        .map_or(title, |(_, rest)| rest);
    given(named)
}

/// Returns the first prose paragraph of a range, on one line.
fn paragraph(outline: &Outline<'_>, range: &Range<usize>) -> Option<String> {
    outline.paragraphs(range).find_map(|(block, text)| {
        let is_labelled = outline
            .labels(&block.range)
            .first()
            .is_some_and(|label| label.is_bold && label.line == block.line);
        let text = one_line(text);
        (!is_labelled && !says_none(&text)).then_some(text)
    })
}

fn core_value(outline: &Outline<'_>) -> Option<String> {
    let labels = outline.labels(&outline.all());
    let labelled = labels.iter().find(|label| label.name.eq_ignore_ascii_case("core value"));
    let section = || {
        let section = document::sections(outline, "core value").next()?;
        paragraph(outline, &section.own)
    };
    let labelled = labelled.and_then(|label| given(&label.value));
    Some(without_emphasis(&labelled.or_else(section)?).to_owned())
}

/// Returns a value without the emphasis of the whole of it, which says nothing.
pub(crate) fn without_emphasis(value: &str) -> &str {
    let inner = |mark: &str| value.strip_prefix(mark)?.strip_suffix(mark);
    let plain = ["**", "__", "*", "_"]
        .into_iter()
        .find_map(|mark| inner(mark).filter(|text| !text.contains(mark)));
    plain.filter(|text| !text.is_empty()).unwrap_or(value)
}

/// A requirement that a phase covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// The id; `None` if the roadmap gives the text instead.
    pub id: Option<String>,
    /// The text; `None` if only the id is known.
    pub text: Option<String>,
}

impl Requirement {
    /// Returns the requirements of a roadmap phase, with their texts looked up in REQUIREMENTS.md.
    pub fn resolve(named: &[String], requirements: &str) -> Vec<Self> {
        let lines = lines(requirements);
        named
            .iter()
            .map(|name| {
                if is_id(name) {
                    let text = lines.iter().find_map(|line| after_id(line, name));
                    Self { id: Some(name.clone()), text }
                } else {
                    Self { id: None, text: Some(name.clone()) }
                }
            })
            .collect()
    }
}

/// Returns whether a text is an id: one word that contains a digit.
pub(super) fn is_id(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-._".contains(c);
    text.chars().all(is_part) && text.contains(is_digit)
}

/// Returns the lines that may state a requirement: bullets and headings before table rows.
fn lines(text: &str) -> Vec<String> {
    let outline = Outline::parse_beginning(text, 0);
    let all = 0..text.len();
    let headings = outline.sections().iter().map(|section| section.title.clone());
    let items = outline.items(&all).map(|(_, item)| item.text.clone());
    let rows = outline.tables(&all).flat_map(|table| &table.rows);
    let rows = rows.filter_map(|row| match &row.cells[..] {
        [id, text, ..] if !is_place(text) => Some(format!("{id}: {text}")),
        _ => None,
    });
    items.chain(headings).chain(rows).collect()
}

/// Returns whether a cell names the phase in which a requirement is met, rather than describing it.
fn is_place(cell: &str) -> bool {
    let lower = cell.trim().to_lowercase();
    lower.is_empty()
        || lower.starts_with("phase")
        || lower.starts_with(is_digit) && !lower.contains(' ')
}

/// Returns the text after an id at the start of a line, on one line.
fn after_id(line: &str, id: &str) -> Option<String> {
    let bare = line.trim_start_matches(|c: char| "*_`[~ ".contains(c));
    let is_code = line[..line.len() - bare.len()].contains('`');
    let rest = strip_prefix_ignore_case(bare, id)?;
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let is_mark = |c: char| "*_]~:.-\u{2013}\u{2014} \n".contains(c);
    let mut rest = rest.trim_start_matches(is_mark);
    // A backtick closes the id only if one opened it; any other opens a code span of the requirement.
    if is_code {
        rest = rest.strip_prefix('`').unwrap_or(rest).trim_start_matches(is_mark);
    }
    given(&one_line(rest))
}

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
        let is_skill = |name: &String| read::is_file(&folder.join(name).join("SKILL.md"));
        for name in folders(&folder, &mut warnings).into_iter().filter(is_skill) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;
    use crate::project::{Environment, OpenRequest};

    fn read(text: &str) -> ProjectFile {
        ProjectFile::parse(text, Path::new("PROJECT.md")).value
    }

    #[test]
    fn labels_and_headings_say_the_same() {
        let labelled =
            read("<!-- T -->\n# demo\n\nIt does\nthings.\n\n**Core value:** Be right.\n");
        let headed = read(
            "# Project: demo\n\n## What This Is\n\nIt does things.\n\n## Core Value\n\nBe\nright.\n\nMore.\n",
        );
        for found in [labelled, headed] {
            assert_eq!(found.name.as_deref(), Some("demo"));
            assert_eq!(found.core_value.as_deref(), Some("Be right."));
        }
    }

    #[test]
    fn emphasis_of_a_whole_core_value_says_nothing() {
        let value = |text: &str| read(&format!("# demo\n\n**Core value:** {text}\n")).core_value;
        for (written, plain) in [
            ("**Every sale is counted once.**", "Every sale is counted once."),
            ("_Every sale is counted once._", "Every sale is counted once."),
            ("**Every** sale, **once**", "**Every** sale, **once**"),
            ("Every sale *once*", "Every sale *once*"),
        ] {
            assert_eq!(value(written).as_deref(), Some(plain));
        }
        let headed = read("## Core Value\n\n**Every sale\ncounts.**\n");
        assert_eq!(headed.core_value.as_deref(), Some("Every sale counts."));
    }

    #[test]
    fn a_file_without_headings_is_read_too() {
        let found = read("\nIt bridges.\n\n**Core value:** Bridge.\n");
        assert_eq!(found.name, None);
        assert_eq!(found.core_value.as_deref(), Some("Bridge."));
    }

    #[test]
    fn template_hints_are_no_values() {
        let found = read("# {project-name}\n## Core Value\n[The one thing that must work]\n");
        assert_eq!(found, ProjectFile::default());
    }

    fn texts(requirements: &str) -> Vec<Option<String>> {
        let named = ["REQ-01".to_owned(), "AUTH-2".to_owned()];
        let found = Requirement::resolve(&named, requirements);
        found.into_iter().map(|requirement| requirement.text).collect()
    }

    #[test]
    fn an_id_is_found_in_every_form() {
        let both = [Some("One (must)".to_owned()), Some("Two".to_owned())];
        assert_eq!(
            texts("- **REQ-01**: `meta/` folder\n- `AUTH-2`: `x` works\n"),
            [Some("`meta/` folder".to_owned()), Some("`x` works".to_owned())]
        );
        for text in [
            "- [ ] **REQ-01**: One (must)\n- [x] AUTH-2 \u{2014} Two\n",
            "### REQ-01: One (must)\n**Must-have**\n\n### AUTH-2 Two\n",
            "| Id | What | Phase |\n|---|---|---|\n| REQ-01 | One (must) | 1 |\n| **AUTH-2** | Two | 2 |\n",
        ] {
            assert_eq!(texts(text), both, "{text}");
        }
    }

    #[test]
    fn where_a_requirement_is_met_is_not_what_it_is() {
        let text = "| Id | Phase | Status |\n|---|---|---|\n| REQ-01 | Phase 1 | Complete |\n| AUTH-2 | 2 | Open |\n";
        assert_eq!(texts(text), [None, None]);
        let longer = format!("{text}\n- REQ-011: Eleven\n- **REQ-01**: One\n- AUTH-2\n");
        assert_eq!(texts(&longer), [Some("One".to_owned()), None]);
    }

    #[test]
    fn a_text_in_place_of_an_id_stands_for_itself() {
        let found = Requirement::resolve(&["Fast start, under 2 s".to_owned()], "");
        let expected = Requirement { id: None, text: Some("Fast start, under 2 s".to_owned()) };
        assert_eq!(found, [expected]);
    }

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
