//! Selects the part of CONSTRAINTS.md that every session receives.

use crate::ledger::constraints::{SECTIONS, is_named};
use crate::markdown::{Outline, Section};

/// The sections, in the order of the brief.
const SESSION_SECTIONS: [&str; 3] = ["Infrastructure", "Rules", "Hazards"];

/// A heading with the text directly below it.
struct HeadedText<'a> {
    /// The standard section that it belongs to.
    standard: &'static str,
    heading: String,
    text: &'a str,
    is_subsection: bool,
}

/// Returns Infrastructure, Rules and Hazards with all their subsections, verbatim.
pub(crate) fn session_constraints(text: &str) -> String {
    let all = headed_texts(&Outline::parse(text, 0));
    let mut parts = Vec::new();
    for title in SESSION_SECTIONS {
        // A heading without text of its own is printed above its first subsection that has some.
        let mut empty_heading = String::new();
        for one in all.iter().filter(|one| one.standard == title) {
            if !one.is_subsection {
                empty_heading.clear();
            }
            if !one.text.is_empty() {
                parts.push(format!("{empty_heading}{}\n{}", one.heading, one.text));
                empty_heading.clear();
            } else if !one.is_subsection {
                empty_heading = format!("{}\n\n", one.heading);
            }
        }
    }
    parts.join("\n\n")
}

/// Returns the headings of the standard sections and of their subsections, in file order.
fn headed_texts<'a>(outline: &Outline<'a>) -> Vec<HeadedText<'a>> {
    let mut found = Vec::new();
    // The sections that contain the current one: their levels and standard sections.
    let mut ancestors: Vec<(usize, Option<&'static str>)> = Vec::new();
    for section in outline.sections() {
        let level = usize::from(section.level);
        ancestors.retain(|(ancestor, _)| *ancestor < level);
        let own = standard_section(section);
        // The file's title is not a standard section, whatever its text.
        let inherited = ancestors
            .last()
            .filter(|(ancestor, _)| *ancestor >= 2)
            .and_then(|(_, standard)| *standard);
        let standard = own.or(inherited);
        ancestors.push((level, standard));
        let Some(standard) = standard else { continue };
        let marks = "#".repeat(if own.is_some() { 2 } else { level });
        found.push(HeadedText {
            standard,
            heading: format!("{marks} {}", section.title),
            text: outline.text()[section.own.clone()].trim(),
            is_subsection: own.is_none(),
        });
    }
    found
}

fn standard_section(section: &Section) -> Option<&'static str> {
    SECTIONS.into_iter().find(|name| is_named(&section.title, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_with_their_subsections() {
        let text = "# Constraints\n\n## Rules\n- one\n\n### Security\n- Never log tokens\n\n## Key Facts\n- k\n\n\
                    ### More\n- m\n\n## Hazards\n\n### Migrations\n- Never run migrate twice\n\n## Other\n- o\n";
        assert_eq!(
            session_constraints(text),
            "## Rules\n- one\n\n### Security\n- Never log tokens\n\n\
             ## Hazards\n\n### Migrations\n- Never run migrate twice"
        );
    }

    #[test]
    fn headings_with_decoration_name_their_sections() {
        for (heading, is_shown) in [
            ("## Hazards & Pitfalls", true),
            ("## Infrastructure (prod)", true),
            ("## \u{26a0} Hazards", true),
            ("## \u{26a0}\u{fe0f} **Rules**:", true),
            ("## 2. Rules", true),
            ("## Rulesets", false),
            ("## Superseded rules", false),
            ("# Rules\n\n## Key Facts", false),
        ] {
            let text = format!("# Constraints\n\n{heading}\n- x\n");
            assert_eq!(session_constraints(&text).contains("- x"), is_shown, "{heading}");
        }
    }
}
