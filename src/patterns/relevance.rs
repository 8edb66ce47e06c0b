//! Which of the things learned fit a phase.

use serde::Serialize;

use crate::patterns::Entry;
use crate::patterns::Patterns;
use crate::ranking::Corpus;

/// Fewer than these would leave a planner without the little that is known.
const LEAST: usize = 3;

/// More than these are not read.
const MOST: usize = 5;

/// Something learned that fits a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relevant {
    /// What was learned, verbatim.
    pub text: String,
    /// Where it comes from: `Phase 2: Units (2026-02-05)`.
    pub source: String,
    /// Why it may no longer hold; nothing where it does, as far as is known.
    pub stale: Option<String>,
}

impl Patterns {
    /// Returns the three to five things that fit a topic best; the newest where too few share a word with it.
    pub fn relevant(&self, topic: &str) -> Vec<Relevant> {
        let entries = self.entries.iter().rev();
        let bullets = entries.flat_map(|entry| entry.bullets().map(|text| (text, source(entry))));
        let loose = self.loose.iter().map(|pattern| {
            let source = pattern
                .section
                .clone()
                .unwrap_or_else(|| "PATTERNS.md".to_owned());
            (pattern.text.as_str(), source)
        });
        // Newest first, which settles equal scores.
        let known: Vec<(&str, String)> = bullets
            .chain(loose)
            .filter(|(text, _)| *text != "none observed")
            .collect();
        let corpus = Corpus::new(
            known
                .iter()
                .map(|(text, source)| format!("{text} {source}")),
        );
        let mut chosen: Vec<usize> = corpus
            .ranked(topic)
            .into_iter()
            .map(|ranked| ranked.document)
            .take(MOST)
            .collect();
        for newest in 0..known.len() {
            if chosen.len() < LEAST && !chosen.contains(&newest) {
                chosen.push(newest);
            }
        }
        let shown = |index: usize| Relevant {
            text: known[index].0.to_owned(),
            source: known[index].1.clone(),
            stale: None,
        };
        chosen.into_iter().map(shown).collect()
    }
}

/// Names an entry as its heading does.
fn source(entry: &Entry) -> String {
    let phase = entry.phase.as_ref().map(|phase| format!("Phase {phase}"));
    let name = Some(entry.name.clone()).filter(|name| !name.is_empty());
    let named: Vec<String> = phase.into_iter().chain(name).collect();
    let date = entry
        .date
        .map(|date| format!(" ({date})"))
        .unwrap_or_default();
    format!("{}{date}", named.join(": "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const TEXT: &str = "# Learned Patterns

### Phase 1: Store (2026-01-10)

**What worked:**
- Small plans finished (plans 01, 02)

**What failed:**
- Locking the file broke on Windows (plan 03)

### Phase 2: Lists (2026-01-20)

**What worked:**
- Snapshot tests caught the layout (plan 01)
- Sorting by name (plan 02)

**What failed:**
- none observed
";

    fn relevant(topic: &str) -> Vec<(String, String)> {
        let patterns = Patterns::parse(TEXT, Path::new("PATTERNS.md")).value;
        let found = patterns.relevant(topic);
        found
            .into_iter()
            .map(|relevant| (relevant.text, relevant.source))
            .collect()
    }

    #[test]
    fn what_shares_words_with_the_topic_comes_first() {
        let found = relevant("Two processes lock the file");
        assert_eq!(found.len(), 3);
        assert!(found[0].0.starts_with("Locking the file"));
        assert_eq!(found[0].1, "Phase 1: Store (2026-01-10)");
    }

    #[test]
    fn the_newest_fills_up_and_none_is_no_pattern() {
        let found = relevant("nothing in common");
        let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Snapshot tests caught the layout (plan 01)",
                "Sorting by name (plan 02)",
                "Small plans finished (plans 01, 02)"
            ]
        );
    }

    #[test]
    fn no_patterns_is_an_answer() {
        assert_eq!(Patterns::default().relevant("anything"), []);
    }
}
