//! The content of the block, as passed to its template.

use serde::Serialize;

use crate::text::Line;

/// The content of the block; each field is one of the template's. None can act as markdown structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Content {
    /// The project's name; none if the user's text already starts with it.
    pub title: Option<Line>,
    /// The project's purpose.
    pub core_value: Option<Line>,
    /// Whether a planning tool is in use, which would have recorded what is missing here.
    pub has_workflow: bool,
    /// Facts about the code, if no planning tool is in use.
    pub code: Vec<Line>,
    /// The active milestone.
    pub milestone: Option<Line>,
    /// The current phase.
    pub phase: Option<PhaseLine>,
    /// The command to run next.
    pub next_action: Option<Line>,
    /// The reason why the position is contested, if another reading of the files is almost as plausible.
    pub contested: Option<Line>,
    /// The open blockers.
    pub blockers: Vec<Line>,
    /// The decisions, newest first.
    pub decisions: Vec<Line>,
    /// All skills in one line, if space is short.
    pub skills_line: Option<Line>,
    /// The installed skills.
    pub skills: Vec<SkillLine>,
    /// Lessons from finished phases, most relevant first.
    pub patterns: Vec<Line>,
    /// The heading over the workflow's commands.
    pub commands_heading: Line,
    /// The workflow's commands.
    pub commands: Vec<Line>,
}

/// The current phase, as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseLine {
    /// Its number.
    pub number: Line,
    /// Its name.
    pub name: Option<Line>,
    /// Its status.
    pub status: Option<Line>,
}

/// An installed skill, as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SkillLine {
    /// Its name.
    pub name: Line,
    /// `global` or `project`, if known.
    pub scope: Option<Line>,
}

impl Content {
    /// Joins all skills into one line, grouped by scope: `global: a, b; project: c`.
    pub(crate) fn join_skills(&mut self) {
        let mut groups: Vec<(Option<&Line>, Vec<&str>)> = Vec::new();
        for skill in &self.skills {
            let scope = skill.scope.as_ref();
            match groups.iter_mut().find(|(of, _)| *of == scope) {
                Some((_, names)) => names.push(skill.name.as_str()),
                None => groups.push((scope, vec![skill.name.as_str()])),
            }
        }
        let shown = groups.iter().map(|(scope, names)| match scope {
            Some(scope) => format!("{scope}: {}", names.join(", ")),
            None => names.join(", "),
        });
        let line = Line::new(&shown.collect::<Vec<_>>().join("; "));
        self.skills_line = Some(line).filter(|line| !line.is_empty());
        self.skills.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_in_one_line_are_grouped_by_scope() {
        let skill = |name: &str, scope: Option<&str>| SkillLine {
            name: Line::new(name),
            scope: scope.map(Line::new),
        };
        let mut content = Content {
            skills: vec![
                skill("testing", Some("global")),
                skill("design", Some("project")),
                skill("docker", Some("global")),
                skill("own", None),
            ],
            ..Content::default()
        };
        content.join_skills();
        assert_eq!(
            content.skills_line,
            Some(Line::new("global: testing, docker; project: design; own"))
        );
        assert_eq!(content.skills, []);
        let mut none = Content::default();
        none.join_skills();
        assert_eq!(none, Content::default());
    }
}
