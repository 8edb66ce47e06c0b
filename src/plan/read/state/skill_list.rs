//! Parses the Skills section.
//!
//! ```text
//! **Installed:** a, b (global)        **Installed:**        - a (global)
//! **Suggested:** None                 - a (global)          - b (project)
//! ```

use std::ops::Range;

use crate::markdown::{Label, Outline};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::{Skill, heading};
use crate::text::comma_separated;

const TITLES: &[&str] = &["skills", "installed skills", "skill status"];

/// Returns whether a heading is that of a Skills section; VBW writes it below the decisions.
pub(super) fn is_title(title: &str) -> bool {
    TITLES.contains(&heading::words(title).as_str())
}

/// Returns the installed skills, without suggested ones.
pub(super) fn skills(outline: &Outline<'_>) -> Vec<Skill> {
    let mut installed = Vec::new();
    for section in heading::sections(outline, TITLES) {
        let labels = outline.labels(&section.own);
        let parts: Vec<(&Label, LabelTopic)> = labels
            .iter()
            .map(|label| (label, LabelTopic::from_label(label)))
            .filter(|(label, part)| label.is_bold || *part != LabelTopic::Other)
            .collect();
        let first_label = labels.iter().map(|label| label.line).min();
        let unlabelled = outline.items(&section.own);
        let unlabelled =
            unlabelled.take_while(|(block, _)| first_label.is_none_or(|first| block.line < first));
        let skills = unlabelled.filter_map(|(_, item)| skill(&item.text));
        // `Run /find-skills to find more` is a sentence.
        let is_name = |skill: &Skill| !skill.name.starts_with(|c: char| c.is_uppercase());
        installed.extend(skills.filter(is_name));
        for (index, (label, part)) in parts.iter().enumerate() {
            let end = parts.get(index + 1).map_or(section.own.end, |(next, _)| next.range.start);
            let below = label.range.end..end;
            if *part == LabelTopic::Installed {
                installed.extend(under(outline, label, below));
            }
        }
    }
    installed
}

/// The topic of a label in the section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelTopic {
    Installed,
    Suggested,
    Other,
}

impl LabelTopic {
    fn from_label(label: &Label) -> Self {
        match heading::words(&label.name).as_str() {
            "installed" | "installed skills" => Self::Installed,
            "suggested" | "suggested skills" | "recommended" => Self::Suggested,
            _ => Self::Other,
        }
    }
}

/// Returns the skills on a label's line, and in the bullets below it.
fn under(outline: &Outline<'_>, label: &Label, below: Range<usize>) -> Vec<Skill> {
    let bullets = outline
        .items(&below)
        .filter(|(block, _)| block.line > label.line)
        .map(|(_, item)| item.text.as_str());
    comma_separated(&label.value).chain(bullets).filter_map(skill).collect()
}

/// Parses `name (global)`, `` `name` — what it does ``.
fn skill(text: &str) -> Option<Skill> {
    let text = text.trim();
    if is_none_remark(text) {
        return None;
    }
    let scope = ["global", "project"]
        .iter()
        .find(|scope| text.contains(&format!("({scope}")))
        .map(|scope| (*scope).to_owned());
    let name = text
        .split([' ', '(', ':'])
        .find(|word| !word.is_empty())?
        .trim_matches(['`', '*', '_', '.']);
    let name = name.to_owned();
    (!name.is_empty()).then_some(Skill { name, scope })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |skill: Skill| match skill.scope {
            Some(scope) => format!("{}@{scope}", skill.name),
            None => skill.name,
        };
        let found = skills(&Outline::parse(text, 0));
        found.into_iter().map(show).collect()
    }

    #[test]
    fn one_line_and_bullets_are_read() {
        let line = "## Skills\n**Installed:** a, b-c (global), `d` (project)\n**Suggested:** None\n**Stack detected:** go\n";
        assert_eq!(shown(line), ["a", "b-c@global", "d@project"]);
        let bullets = "### Skills\n**Installed:**\n- a (global)\n- b\n\n**Suggested:**\n- c\n\n**Registry:** yes\n- x\n";
        assert_eq!(shown(bullets), ["a@global", "b"]);
        assert!(shown("## Skills\n**Installed:** None detected\n").is_empty());
    }

    #[test]
    fn bullets_without_a_label_are_installed() {
        let plain = "## Skills\n\n- a (global)\n- `b` - what it does\n\n**Suggested:**\n- c\n";
        assert_eq!(shown(plain), ["a@global", "b"]);
        assert!(shown("### Installed Skills\n\n- None\n").is_empty());
        let sentences = "## Skills\n\n- No skills installed\n- Run /find-skills to discover more\n";
        assert!(shown(sentences).is_empty());
        assert!(shown("## Skills\n\nNot installed:\n- a\n").is_empty());
        assert!(shown("## Skills\n\n- **Suggested:** c\n").is_empty());
    }
}
