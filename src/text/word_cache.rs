//! Caches the results computed for words, since most words recur.

use std::collections::HashMap;

/// Maximum number of cached words, so that random names cannot exhaust memory.
const MAX_WORDS: usize = 1 << 16;

/// A cache of values computed from words.
#[derive(Debug)]
pub(crate) struct WordCache<V>(HashMap<Box<str>, V>);

impl<V> Default for WordCache<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

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

    #[test]
    fn words_of_any_length_are_cached_without_collisions() {
        let words = ["", "\0", "a", "a\0", "ab", "é"];
        let mut cache = WordCache::default();
        for (index, word) in words.iter().enumerate() {
            assert_eq!(cache.get(word), None, "{word:?}");
            cache.insert(word, index);
        }
        for (index, word) in words.iter().enumerate() {
            assert_eq!(cache.get(word), Some(&index), "{word:?}");
        }
    }

    #[test]
    fn a_full_cache_is_emptied() {
        let mut cache = WordCache::default();
        for number in 0..=MAX_WORDS {
            cache.insert(&number.to_string(), ());
        }
        assert_eq!(cache.get("0"), None);
        assert_eq!(cache.get(&MAX_WORDS.to_string()), Some(&()));
    }
}
