//! Caches the results computed for words, since most words recur.

use foldhash::HashMap;

/// Maximum number of cached words, so that random names cannot exhaust memory.
const MAX_WORDS: usize = 1 << 16;

/// Maximum length of a word, in bytes, that is packed into an integer key, with its length in the last byte.
const MAX_SHORT_LENGTH: usize = 15;

/// A cache of values computed from words.
///
/// Looking up a short word follows no pointer to its text, which saves time among tens of thousands of words.
#[derive(Debug)]
pub(crate) struct WordCache<V> {
    /// The values of words of one byte, such as marks of punctuation.
    bytes: [Option<V>; 128],
    short: HashMap<u128, V>,
    long: HashMap<Box<str>, V>,
}

impl<V> Default for WordCache<V> {
    fn default() -> Self {
        let bytes = [const { None }; 128];
        Self { bytes, short: HashMap::default(), long: HashMap::default() }
    }
}

impl<V> WordCache<V> {
    /// Returns the cached value of a word.
    pub(crate) fn get(&self, word: &str) -> Option<&V> {
        match (word.as_bytes(), key(word)) {
            (&[byte], _) => self.bytes[usize::from(byte)].as_ref(),
            (_, Some(key)) => self.short.get(&key),
            _ => self.long.get(word),
        }
    }

    /// Caches the value of a word; if the cache is full, it is emptied first.
    pub(crate) fn insert(&mut self, word: &str, value: V) {
        if self.short.len() + self.long.len() >= MAX_WORDS {
            self.short.clear();
            self.long.clear();
        }
        match (word.as_bytes(), key(word)) {
            (&[byte], _) => self.bytes[usize::from(byte)] = Some(value),
            (_, Some(key)) => drop(self.short.insert(key, value)),
            _ => drop(self.long.insert(word.into(), value)),
        }
    }
}

fn key(word: &str) -> Option<u128> {
    let length = word.len();
    let mut bytes = [0; MAX_SHORT_LENGTH + 1];
    bytes[..MAX_SHORT_LENGTH].get_mut(..length)?.copy_from_slice(word.as_bytes());
    bytes[MAX_SHORT_LENGTH] = u8::try_from(length).ok()?;
    Some(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_length_are_cached_without_collisions() {
        let long = "x".repeat(MAX_SHORT_LENGTH + 1);
        let words = ["", "\0", "a", "a\0", "ab", "é", &long[1..], &long];
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
        for number in 10..=MAX_WORDS + 10 {
            cache.insert(&number.to_string(), ());
        }
        assert_eq!(cache.get("10"), None);
        assert_eq!(cache.get(&(MAX_WORDS + 10).to_string()), Some(&()));
    }
}
