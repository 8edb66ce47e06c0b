//! The part of CONSTRAINTS.md that every session gets.

use crate::ledger::constraints::SECTIONS;
use crate::ledger::constraints::is_named;
use crate::markdown::Outline;
use crate::markdown::Section;

/// The sections, in the order of the brief.
const SESSION_SECTIONS: [&str; 3] = ["Infrastructure", "Rules", "Hazards"];

/// A heading with the text right below it, and the standard section that it belongs to.
struct HeadedText<'a> {
    of: &'static str,
    heading: String,
    text: &'a str,
    is_nested: bool,
}

/// Returns Infrastructure, Rules and Hazards with all their subsections, verbatim.
pub(crate) fn session_constraints(text: &str) -> String {
    let parts = parts(&Outline::parse(text, 0));
    let mut shown = Vec::new();
    for title in SESSION_SECTIONS {
        // A heading without text of its own stands above its first sub-section that has some.
        let mut above = String::new();
        for part in parts.iter().filter(|part| part.of == title) {
            if !part.is_nested {
                above.clear();
            }
            if !part.text.is_empty() {
                shown.push(format!("{above}{}\n{}", part.heading, part.text));
                above.clear();
            } else if !part.is_nested {
                above = format!("{}\n\n", part.heading);
            }
        }
    }
    shown.join("\n\n")
}

/// Returns the headings of standard sections and below them, in file order.
fn parts<'a>(outline: &Outline<'a>) -> Vec<HeadedText<'a>> {
    let mut parts = Vec::new();
    let mut open: Vec<(usize, Option<&'static str>)> = Vec::new();
    for section in outline.sections() {
        let level = usize::from(section.level);
        open.retain(|(above, _)| *above < level);
        let own = standard(section);
        // The file's own title names no section, whatever it says.
        let inherited = open
            .last()
            .filter(|(above, _)| *above >= 2)
            .and_then(|(_, of)| *of);
        let of = own.or(inherited);
        open.push((level, of));
        let Some(of) = of else { continue };
        let marks = if own.is_some() { 2 } else { level };
        parts.push(HeadedText {
            of,
            heading: format!("{} {}", "#".repeat(marks), section.title),
            text: outline.text()[section.own.clone()].trim(),
            is_nested: own.is_none(),
        });
    }
    parts
}

fn standard(section: &Section) -> Option<&'static str> {
    SECTIONS
        .into_iter()
        .find(|name| is_named(&section.title, name))
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
            assert_eq!(
                session_constraints(&text).contains("- x"),
                is_shown,
                "{heading}"
            );
        }
    }
}
