//! Parses PROJECT.md: the name, core value and decisions of the project.
//!
//! ```text
//! # name
//! **Core value:** …               ## Core Value
//! ## Key Decisions
//! | Decision | Rationale | Outcome |
//! ```

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::{Decision, decision, heading, non_placeholder};
use crate::text::one_line;
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
            decisions: decisions(&outline),
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
    non_placeholder(named).map(str::to_owned)
}

/// Returns the first prose paragraph of a range, on one line.
fn paragraph(outline: &Outline<'_>, range: &Range<usize>) -> Option<String> {
    outline.paragraphs(range).find_map(|(block, text)| {
        let is_labelled = outline
            .labels(&block.range)
            .first()
            .is_some_and(|label| label.is_bold && label.line == block.line);
        let text = one_line(text);
        (!is_labelled && !is_none_remark(&text)).then_some(text)
    })
}

fn core_value(outline: &Outline<'_>) -> Option<String> {
    let labels = outline.labels(&(0..outline.text().len()));
    let labelled = labels.iter().find(|label| label.name.eq_ignore_ascii_case("core value"));
    let section = || {
        let section = heading::sections(outline, "core value").next()?;
        paragraph(outline, &section.own)
    };
    let labelled = labelled.and_then(|label| non_placeholder(&label.value)).map(str::to_owned);
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

/// Returns the decisions of the decisions section, or without one, of any table of decisions.
fn decisions(outline: &Outline<'_>) -> Vec<Decision> {
    let mut sections = decision::sections(outline).peekable();
    if sections.peek().is_some() {
        return sections.flat_map(|section| decision::decisions(outline, &section.own)).collect();
    }
    let all = 0..outline.text().len();
    outline
        .tables(&all)
        .filter(|table| table.column(&["Decision"]).is_some())
        .flat_map(decision::from_table)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = read(
            "\nIt bridges.\n\n**Core value:** Bridge.\n\n| Decision | Rationale | Outcome |\n|---|---|---|\n| Use X | fast | ok |\n",
        );
        assert_eq!(found.name, None);
        assert_eq!(found.decisions[0].text, "Use X");
    }

    #[test]
    fn template_hints_are_no_values() {
        let found = read("# {project-name}\n## Core Value\n[The one thing that must work]\n");
        assert_eq!(found, ProjectFile::default());
    }
}
