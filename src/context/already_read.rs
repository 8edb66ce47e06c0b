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
    pub fn has(&self, line: &str) -> bool {
        let line = words(line);
        !line.trim().is_empty() && self.words.contains(&line)
    }
}

/// Returns the words of a text in lower case, each preceded and followed by a space.
fn words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = " ".to_owned();
    for word in text.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_in_another_form_and_a_part_of_a_word_is_not() {
        let mut known = AlreadyRead::default();
        known.add("- **Phase:** 4 - Low-Stock Alerts\n- Run `low` — cron needs no parsing\n");
        known.add("one two");
        for line in [
            "Phase: 4 - Low-Stock Alerts",
            "Run `low` (Cron needs no parsing)",
            "two",
        ] {
            assert!(known.has(line), "{line}");
        }
        for line in ["Phase: 4 - Low-Stock Alert", "parsing one", "", "--", "tw"] {
            assert!(!known.has(line), "{line}");
        }
    }
}
