//! Finds in prose what names a file or a folder of the project.
//!
//! ```text
//! `src/api/login.rs:12-30`   the file, without the lines        src/{a,b}.ts    two files
//! docs/setup.md#install      the file, without the anchor       src/old/        a folder
//! tests/**/*.snap            a pattern                          ../notes.md     outside
//! ```
//!
//! Much in a text looks like a path and is none: URLs, versions, dates, fractions, `and/or`, modules,
//! packages, commands, placeholders. What is left is graded by how sure it is, because a wrong "gone"
//! costs more than a missed one.

mod extensions;
mod shape;
mod tokens;

use std::collections::HashMap;

use crate::patterns::paths::shape::shape;
use crate::patterns::paths::tokens::tokens;

/// What a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path with `/` between its parts, without line, anchor and punctuation.
    pub path: String,
    /// What kind of name it is.
    pub form: PathForm,
    /// How sure it is that a path is meant.
    pub certainty: Certainty,
}

/// What kind of name a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathForm {
    /// A file, or a folder without a slash behind it.
    Plain,
    /// A folder: a slash stands behind it.
    Folder,
    /// A pattern with `*`, `?` or `[…]`.
    Glob,
    /// A place outside of the project: absolute, in the home folder, or above the root.
    Outside,
}

/// How sure it is that a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// A path only if there is such a file.
    Unsure,
    /// A path if there is such a file, or ever was.
    Likely,
    /// A path.
    Sure,
}

/// Returns what a text names, each path once, in order.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for token in tokens(text) {
        for mention in expanded(&token.text)
            .iter()
            .filter_map(|path| shape(path, token.is_code))
        {
            if let Some(place) = places.get(&mention.path) {
                let known = &mut found[*place];
                known.certainty = known.certainty.max(mention.certainty);
            } else {
                places.insert(mention.path.clone(), found.len());
                found.push(mention);
            }
        }
    }
    found
}

/// As many alternatives in braces are told apart.
const MAX_ALTERNATIVES: usize = 16;

/// Returns `src/{a,b}.ts` as `src/a.ts` and `src/b.ts`; a text without such braces as it is.
fn expanded(token: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![token.to_owned()];
    while let Some(text) = open.pop() {
        let braces = text
            .find('{')
            .and_then(|start| Some((start, start + text[start..].find('}')?)))
            .filter(|(start, end)| text[*start..*end].contains(','));
        match braces {
            Some((start, end)) if open.len() + done.len() < MAX_ALTERNATIVES => {
                let (head, tail) = (&text[..start], &text[end + 1..]);
                let alternatives = text[start + 1..end].split(',').rev();
                open.extend(alternatives.map(|part| format!("{head}{}{tail}", part.trim())));
            }
            _ => done.push(text),
        }
    }
    done
}

#[cfg(test)]
mod tests;
