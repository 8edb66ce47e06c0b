//! Detects sentences that the user's text already contains, so that the block need not repeat them.

use std::collections::HashSet;

use crate::claude_md::select::STALE_MARK;
use crate::patterns;

/// The sentences of a text, normalised for comparison: without case, markup and punctuation.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentenceSet {
    sentences: HashSet<String>,
}

impl SentenceSet {
    /// Splits a text into sentences, which may span several lines of a paragraph.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut sentences = HashSet::new();
        for paragraph in paragraphs(text) {
            sentences.insert(plain(&paragraph));
            sentences.extend(patterns::sentences(&paragraph).into_iter().map(plain));
        }
        Self { sentences }
    }

    /// Returns whether the text contains this line as a sentence, possibly without the line's source, reason or
    /// mark.
    pub(crate) fn contains(&self, line: &str) -> bool {
        let line = line.strip_suffix(STALE_MARK).unwrap_or(line);
        let reason = line.split_once(" \u{2014} ").map(|(what, _)| what);
        let source = line.rsplit_once(" (").filter(|(_, rest)| rest.ends_with(')'));
        let forms = [Some(line), reason, source.map(|(what, _)| what)];
        forms.into_iter().flatten().map(plain).any(|form| self.sentences.contains(&form))
    }
}

/// Joins the lines of each paragraph; each bullet and heading is its own paragraph.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim) {
        let is_start = line.is_empty() || line.starts_with(['#', '-', '*', '+', '|', '>']);
        match paragraphs.last_mut() {
            Some(open) if !is_start => {
                open.push(' ');
                open.push_str(line);
            }
            _ => paragraphs.push(line.to_owned()),
        }
    }
    // A sentence may start with bold text.
    paragraphs.iter().map(|paragraph| paragraph.replace('*', "")).collect()
}

fn plain(sentence: &str) -> String {
    let lower = sentence.to_lowercase();
    // Punctuation inside a name belongs to it: `a.rs`, `--all`.
    let words = lower.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_the_same_without_case_markup_and_punctuation() {
        let sentences = SentenceSet::from_text(
            "# Shop\n\n**Prices are integers**, in cents. Sort `src/a.rs` by\nname!\n\n\
             - Use SQLite\n- Never use tabs\n",
        );
        for line in [
            "Prices are integers, in cents",
            "Sort src/a.rs by name (plans 01, 03)",
            "use SQLite. \u{2014} One file to back up",
            "Use sqlite (2026-02-11)",
            "Never use tabs (possibly stale)",
            "Sort src/a.rs by name (phase 3, plan 01) (possibly stale)",
        ] {
            assert!(sentences.contains(line), "{line}");
        }
        for line in ["Prices are integers", "Use tabs", "Sort src/b.rs by name", "SQLite"] {
            assert!(!sentences.contains(line), "{line}");
        }
    }
}
