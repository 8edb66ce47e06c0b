//! Extracts the project's name from a title.

use crate::project::LayoutName;

/// Words in the title of a STATE.md that refer to the file.
const WORDS: &[&str] = &["state", "state.md", "project", "milestone", "current", "workflow"];

/// Returns the project named in a title: `name State`, `STATE: Name`, `Name — Project State`.
pub(super) fn project(title: &str) -> Option<String> {
    let parts = [": ", " \u{2014} ", " \u{2013} ", " -- ", " - "]
        .iter()
        .find_map(|mark| title.split_once(mark));
    let named = match parts {
        Some((left, right)) if is_file_title(left) => right,
        Some((left, right)) if is_file_title(right) => left,
        _ => without_file_words(title)?,
    };
    let named = named.trim();
    (!named.is_empty() && !is_file_title(named)).then(|| named.to_owned())
}

/// Returns whether a text names only the file or the tool.
fn is_file_title(text: &str) -> bool {
    let tools = LayoutName::ALL.map(LayoutName::as_str);
    let mut known = text.split_whitespace();
    known.all(|word| {
        let mut names = WORDS.iter().chain(&tools);
        names.any(|name| word.eq_ignore_ascii_case(name))
    })
}

/// Strips `State` or `Project State` from the end; a title without the word names no project.
fn without_file_words(title: &str) -> Option<&str> {
    let rest = strip_word(title, "state")?;
    Some(strip_word(rest, "project").unwrap_or(rest))
}

fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_end();
    let start = text.len().checked_sub(word.len())?;
    let rest = text.get(..start)?;
    (text.get(start..)?.eq_ignore_ascii_case(word) && rest.ends_with(' ')).then(|| rest.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_what_the_file_words_leave() {
        for (title, expected) in [
            ("mail-cli State", Some("mail-cli")),
            ("STATE: Heart Rate v2.0", Some("Heart Rate v2.0")),
            ("Masarify \u{2014} Project State", Some("Masarify")),
            ("Project State \u{2014} x-y", Some("x-y")),
            ("VBW State", None),
            ("Project State", None),
            ("STATE", None),
            ("State", None),
            ("Milestone State", None),
            ("STATE.md", None),
            ("STATE.md \u{2014} Milestone Workflow State", None),
            ("STATE.md: Tide table", Some("Tide table")),
            ("Tide table - STATE.md", Some("Tide table")),
            ("Notes", None),
        ] {
            assert_eq!(project(title).as_deref(), expected, "{title}");
        }
    }
}
