//! Records what a session has already read, so that a digest need not repeat it.

/// Texts that a session has read, compared ignoring case and punctuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlreadyRead {
    /// The words of the texts, which are separated by line ends.
    words: String,
}

impl AlreadyRead {
    /// Adds a text.
    pub fn add(&mut self, text: &str) {
        self.words.push_str(&words(text));
        self.words.push('\n');
    }

    /// Returns whether one of the texts contains the words of a line consecutively.
    pub fn contains(&self, line: &str) -> bool {
        let line = words(line);
        !line.trim().is_empty() && self.words.contains(&line)
    }
}

/// Returns the words of a text in lower case, each preceded and followed by a space.
fn words(text: &str) -> String {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = " ".to_owned();
    for word in text
        .split(|c| !is_word_char(c))
        .filter(|word| !word.is_empty())
    {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_ignoring_case_and_punctuation_but_not_within_words() {
        let mut known = AlreadyRead::default();
        known.add("- **Phase:** 4 - Low-Stock Alerts\n- Run `low` — cron needs no parsing\n");
        known.add("one two");
        for line in [
            "Phase: 4 - Low-Stock Alerts",
            "Run `low` (Cron needs no parsing)",
            "two",
        ] {
            assert!(known.contains(line), "{line}");
        }
        for line in ["Phase: 4 - Low-Stock Alert", "parsing one", "", "--", "tw"] {
            assert!(!known.contains(line), "{line}");
        }
    }
}
