//! Finds mentions of the project's files and folders in prose.
//!
//! ```text
//! `src/api/login.rs:12-30`   the file, without the lines        src/{a,b}.ts    two files
//! docs/setup.md#install      the file, without the anchor       src/old/        a folder
//! tests/**/*.snap            a pattern                          ../notes.md     outside
//! ```
//!
//! Many texts look like paths but are not: URLs, versions, dates, fractions, `and/or`, modules, packages,
//! commands, placeholders. The rest is graded by certainty, because a wrong "gone" costs more than a missed
//! one.

mod extensions;
mod mention;
mod shape;
mod tokens;

use std::collections::HashMap;

pub use mention::{Certainty, Mention, PathForm};

use crate::patterns::paths::shape::shape;
use crate::patterns::paths::tokens::tokens;

/// Returns the paths mentioned in a text, in order and without duplicates.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for token in tokens(text) {
        for mention in expanded(&token.text).iter().filter_map(|path| shape(path, token.is_code)) {
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

/// Maximum number of texts that the braces of a token are expanded to.
const MAX_ALTERNATIVES: usize = 16;

/// Expands `src/{a,b}.ts` to `src/a.ts` and `src/b.ts`; a text without such braces is returned unchanged.
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
