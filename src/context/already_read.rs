//! Records what a session has already read, so that a digest need not repeat it.

use std::collections::HashSet;

/// The lines that a session has read, compared ignoring case and punctuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlreadyRead {
    /// The words of each line, and of its parts that may stand alone.
    lines: HashSet<String>,
    /// Whether a context file lists the project's decisions.
    pub has_decisions: bool,
}

impl AlreadyRead {
    /// Adds the lines of a text.
    pub fn add(&mut self, text: &str) {
        self.has_decisions |= text.lines().any(|line| line == "## Key Decisions");
        for line in text.lines() {
            // `Blockers: The cron job (phase 2)` also says `The cron job`.
            let unlabelled = line.split_once(':').map_or(line, |(_, rest)| rest);
            let bare = |text: &str| {
                let open = text.strip_suffix(')').and_then(|text| text.rfind(" ("));
                words(open.map_or(text, |at| &text[..at]))
            };
            let parts = [words(line), words(unlabelled), bare(line), bare(unlabelled)];
            self.lines.extend(parts);
        }
    }

    /// Returns whether one of the lines says the same. A line that merely contains the words may say the
    /// opposite.
    pub fn contains(&self, line: &str) -> bool {
        let line = words(line);
        !line.is_empty() && self.lines.contains(&line)
    }
}

/// Returns the words of a text in lower case, separated by spaces.
fn words(text: &str) -> String {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_word_char(c));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_ignoring_case_punctuation_labels_and_a_remark_at_the_end() {
        let mut known = AlreadyRead::default();
        known.add(
            "- **Phase:** 4 - Low-Stock Alerts\n- Run `low` \u{2014} cron needs no parsing\n\
             - Keep the lock short (phase 2, plan 01)\n- **Blockers:** The key is missing\n",
        );
        for line in [
            "Phase: 4 - Low-Stock Alerts",
            "Run `low` (Cron needs no parsing)",
            "Keep the lock short",
            "The key is missing",
        ] {
            assert!(known.contains(line), "{line}");
        }
    }

    #[test]
    fn a_line_that_only_contains_the_words_does_not_match() {
        let mut known = AlreadyRead::default();
        known.add(
            "Never publish the package before review. Keep docs in English\nCI runs on push\n",
        );
        for line in ["Publish the package", "CI", "Docs", "English CI", "", "--"] {
            assert!(!known.contains(line), "{line}");
        }
    }
}
