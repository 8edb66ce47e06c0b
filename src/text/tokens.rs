//! Estimates the number of tokens in a text; what is computed for a word is kept.

use std::iter::Peekable;
use std::str::Chars;

use foldhash::HashMap;

use crate::text::line::is_unspaced;

/// Returns the estimated number of tokens in a text, erring on the high side.
///
/// Each run of characters costs what runs of its kind cost in byte-pair vocabularies: a word one token; a
/// long, upper-case or camelCase word one more; a word directly after punctuation, with which it shares a
/// token, half a token; digits one token per three; other scripts by the character. The costs were fitted to
/// `cl100k` and `o200k` on planning files and set 3 % above the fit, because exceeding a budget costs more
/// than not using all of it. English and markdown are within 10 %; for other languages the two vocabularies
/// differ by a third, and the more expensive one is followed, although long words in Latin script (German,
/// Dutch) may be underestimated by a fifth.
pub fn estimate_tokens(text: &str) -> usize {
    let mut rest = text.chars().peekable();
    let mut before = '.';
    let mut hundredths = 0;
    while let Some(first) = rest.next() {
        hundredths += run_cost(first, before, &mut rest);
        // Only a space before a run, or its absence, matters.
        before = if first == ' ' { ' ' } else { '.' };
    }
    let estimate = (hundredths * 103 + 5_000) / 10_000;
    estimate.max(usize::from(!text.is_empty()))
}

/// Returns the cost of the run that starts with `first`, in hundredths of a token, and consumes the run.
fn run_cost(first: char, before: char, rest: &mut Peekable<Chars>) -> usize {
    match first {
        'a'..='z' | 'A'..='Z' => word_cost(first, before == ' ', rest),
        '0'..='9' => {
            let space = if before == ' ' { 100 } else { 0 };
            space + consume_run(rest, |c| c.is_ascii_digit()).div_ceil(3) * 103
        }
        '\n' | '\r' => {
            consume_run(rest, |c| matches!(c, '\n' | '\r'));
            75
        }
        // A single space belongs to the next word, several are indentation.
        ' ' | '\t' => {
            let several = consume_run(rest, |c| matches!(c, ' ' | '\t')) > 1;
            if several { 76 } else { 0 }
        }
        c if c.is_ascii_punctuation() => {
            let several = consume_run(rest, |c| c.is_ascii_punctuation()) > 1;
            if several { 125 } else { 100 }
        }
        '\u{2500}'..='\u{259f}' => 45,
        '\u{2010}'..='\u{2027}' => 105,
        '\u{370}'..='\u{6ff}' => 44,
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => 90,
        '\u{3000}'..='\u{30ff}' => 88,
        c if is_unspaced(c) => 112,
        _ => 150,
    }
}

/// Consumes characters while `is_in_run` is true, and returns the length of the run including its first
/// character.
fn consume_run(rest: &mut Peekable<Chars>, is_in_run: fn(char) -> bool) -> usize {
    let mut length = 1;
    while rest.next_if(|c| is_in_run(*c)).is_some() {
        length += 1;
    }
    length
}

/// Returns the cost of a run of ASCII letters, and consumes it.
fn word_cost(first: char, after_space: bool, rest: &mut Peekable<Chars>) -> usize {
    let (mut length, mut camel_humps, mut previous) = (1_usize, 0, first);
    let mut upper = usize::from(first.is_ascii_uppercase());
    while let Some(next) = rest.next_if(char::is_ascii_alphabetic) {
        length += 1;
        upper += usize::from(next.is_ascii_uppercase());
        camel_humps += usize::from(previous.is_ascii_lowercase() && next.is_ascii_uppercase());
        previous = next;
    }
    if camel_humps > 0 {
        return 65 + 95 * camel_humps;
    }
    if upper > 1 && upper == length {
        return 115 + 15 * length.saturating_sub(3);
    }
    let long = length.saturating_sub(8);
    if after_space {
        102 + 8 * long + 45 * length.saturating_sub(12)
    } else {
        50 + 14 * long.max(length.saturating_sub(7)) + 60 * length.saturating_sub(12)
    }
}

/// Maximum number of cached words, so that random names cannot exhaust memory.
const MAX_WORDS: usize = 1 << 16;

/// A cache of values computed from words.
#[derive(Debug, Default)]
pub(crate) struct WordCache<V>(HashMap<Box<str>, V>);

impl<V> WordCache<V> {
    /// Returns the cached value of a word.
    pub(crate) fn get(&self, word: &str) -> Option<&V> {
        self.0.get(word)
    }

    /// Caches the value of a word; if the cache is full, it is emptied first.
    pub(crate) fn insert(&mut self, word: &str, value: V) {
        if self.0.len() >= MAX_WORDS {
            self.0.clear();
        }
        self.0.insert(word.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with their token counts in `cl100k`.
    const COUNTED: [(&str, usize); 6] = [
        (
            "The session context is rebuilt whenever a phase ends. It names the current position, the decisions\n\
             that still bind, and what the last phases taught: which kinds of plans deviated, how long they really\n\
             took, and which approaches should not be tried a second time. Text that people wrote stays untouched.\n",
            62,
        ),
        (
            "---\nphase: 05.1-retry-queue\nplan: 02\ntitle: \"Retry failed uploads with back-off\"\nwave: 2\n\
             depends_on: [\"05.1-01\"]\nfiles_modified:\n  - src/upload/retry_queue.rs\n  - tests/upload_retry.rs\n\
             ---\n<task type=\"auto\">\n  <name>Task 1: Add RetryQueue</name>\n  \
             <action>Create `RetryQueue::push(job, not_before)`; persist to `var/queue.jsonl`.</action>\n</task>\n",
            112,
        ),
        (
            "| Phase | Plans | Duration | Commit |\n|-------|-------|----------|--------|\n\
             | 1. Foundation | 3/3 | 12 min | `84e9493` |\n| 2. Upload API | 2/4 | 1h 05m | `0753326` |\n\
             | 3. Retry | 0/2 | — | – |\n\n- [x] **Decision:** keep SQLite → no server (2026-02-17)\n",
            100,
        ),
        (
            "```rust\npub fn parse(text: &str) -> Option<Minutes> {\n    let mut total = 0.0;\n    \
             for part in text.split_whitespace() {\n        \
             total += part.strip_suffix(\"min\")?.parse::<f64>().ok()?;\n    }\n    Some(Minutes(total))\n}\n```\n",
            65,
        ),
        (
            "Очередь повторов хранится в файле и читается при запуске. Ошибки сети не теряют задания, а\n\
             сроки выполнения считаются по времени первой записи.\n",
            58,
        ),
        (
            "再試行キューはファイルに保存され、起動時に読み込まれます。ネットワークの障害で作業が失われることはありません。\n",
            57,
        ),
    ];

    #[test]
    fn estimates_are_within_a_tenth_of_a_real_tokenizer() {
        for (text, counted) in COUNTED {
            let estimate = estimate_tokens(text);
            assert!(
                estimate.abs_diff(counted) * 10 <= counted,
                "{estimate}, not {counted}: {text}"
            );
        }
    }

    #[test]
    fn only_an_empty_text_has_zero_tokens() {
        assert_eq!(estimate_tokens(""), 0);
        for text in ["a", "7", "é", "日", "-", "\n", " "] {
            assert!((1..=2).contains(&estimate_tokens(text)), "{text:?}");
        }
    }

    #[test]
    fn a_full_cache_is_emptied() {
        let mut cache = WordCache::default();
        for number in 10..=MAX_WORDS + 10 {
            cache.insert(&number.to_string(), ());
        }
        assert_eq!(cache.get("10"), None);
        assert_eq!(cache.get(&(MAX_WORDS + 10).to_string()), Some(&()));
    }
}
