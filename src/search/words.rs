//! Splits texts into stemmed words, and queries into terms.

use std::collections::HashSet;

use crate::search::language::Language;
use crate::text::{WordCache, is_combining, is_unspaced};

/// Maximum number of terms in a query: further ones add little, and each costs a pass over its texts.
pub(crate) const MAX_TERMS: usize = 48;

/// Maximum number of words examined to find them; no language has as many function words.
const MAX_CANDIDATES: usize = 1_024;

/// Maximum length of a term in characters; a longer run of letters is not a word.
pub(crate) const MAX_TERM_LENGTH: usize = 100;

/// Returns the words of a text in order, normalised for comparison.
///
/// They are stems in lower case and without accents. An identifier yields its parts and, if only case
/// separates them, itself as well. Text in a script without spaces yields single characters and bigrams.
///
/// ```text
/// RetryQueue::push     retri queue retryqueu push
/// src/http_client.rs   src http client rs
/// 再試行               再 試 再試 行 試行
/// ```
pub fn words(text: &str) -> Vec<String> {
    let mut tokenizer = Tokenizer::new(Language::detect(text));
    let mut stems = Vec::new();
    tokenizer.stems(text, &mut stems);
    stems.into_iter().map(|stem| tokenizer.text(stem).to_owned()).collect()
}

/// Splits texts of one language into numbered stems, and caches those of each run of letters, since most recur.
#[derive(Debug, Default)]
pub(crate) struct Tokenizer {
    language: Language,
    runs: WordCache<Box<[u32]>>,
    numbers: foldhash::HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Tokenizer {
    /// Returns a tokenizer for texts in a language.
    ///
    /// In a language other than English, each word also yields its English stem: texts about software mix
    /// both.
    pub(crate) fn new(language: Language) -> Self {
        Self { language, ..Self::default() }
    }

    /// Returns the number of different stems so far.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the stem with a number.
    pub(crate) fn text(&self, stem: u32) -> &str {
        self.texts.get(stem as usize).map_or("", |text| text)
    }

    /// Appends the stem of every word of a text.
    pub(crate) fn stems(&mut self, text: &str, stems: &mut Vec<u32>) {
        each_run(text, |run| match run {
            CharRun::Unspaced(run) => each_gram(run, &mut |gram| stems.push(self.number(gram))),
            CharRun::Spaced(run) => {
                if let Some(known) = self.runs.get(run) {
                    return stems.extend_from_slice(known);
                }
                let new = self.stems_of(run);
                stems.extend_from_slice(&new);
                self.runs.insert(run, new.into());
            }
        });
    }

    /// Returns the stems of a run: those of its parts, if it has any, and its own.
    fn stems_of(&mut self, run: &str) -> Vec<u32> {
        let parts = camel_case_parts(run);
        let parts = if parts.len() > 1 { &parts[..] } else { &[] };
        let mut stems = Vec::new();
        for word in parts.iter().chain([&run]) {
            let word = word.to_lowercase();
            let english = Language::ENGLISH.stem(&word);
            let own = Some(self.language.stem(&word)).filter(|own| *own != english);
            // A combining mark without a base letter folds to nothing.
            let found = [english].into_iter().chain(own).filter(|stem| !stem.is_empty());
            stems.extend(found.map(|stem| self.number(&stem)));
        }
        stems
    }

    fn number(&mut self, stem: &str) -> u32 {
        if let Some(number) = self.numbers.get(stem) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(stem.into(), number);
        self.texts.push(stem.into());
        number
    }
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word in lower case, as written.
    pub word: String,
    /// Its stems; a text matches if it contains any of them.
    pub stems: Vec<String>,
    /// Whether it duplicates adjacent terms: an identifier beside its parts, or a bigram beside its
    /// characters.
    pub is_compound: bool,
}

/// Returns the distinct content words of a query in order.
///
/// `languages` are the languages of the texts; each contributes stems. A query that consists of function words keeps
/// them.
pub fn terms(query: &str, languages: &[Language]) -> Vec<Term> {
    let query_language = Language::detect(query);
    let mut all = Terms {
        languages: languages.to_vec(),
        found: Vec::new(),
        words: HashSet::new(),
        stems: HashSet::new(),
    };
    for language in [Language::ENGLISH, query_language] {
        if !all.languages.contains(&language) {
            all.languages.push(language);
        }
    }
    each_run(query, |run| match run {
        CharRun::Unspaced(run) => each_gram(run, &mut |gram| {
            let is_compound = gram.chars().nth(1).is_some();
            all.add(gram.to_owned(), vec![gram.to_owned()], is_compound);
        }),
        CharRun::Spaced(run) => {
            let parts = camel_case_parts(run);
            if parts.len() > 1 {
                for part in &parts {
                    all.add_word(part, false);
                }
            }
            all.add_word(run, parts.len() > 1);
        }
    });
    let is_content_word = |term: &Term| {
        let is_function_word = |language: Language| language.is_function_word(&term.word);
        !is_function_word(Language::ENGLISH) && !is_function_word(query_language)
    };
    let mut terms = all.found;
    // A query may consist of function words only, such as `The Who`.
    if terms.iter().any(is_content_word) {
        terms.retain(is_content_word);
    }
    terms.truncate(MAX_TERMS);
    terms
}

struct Terms {
    languages: Vec<Language>,
    found: Vec<Term>,
    /// The words and the stems of those found.
    words: HashSet<String>,
    stems: HashSet<Vec<String>>,
}

impl Terms {
    fn add_word(&mut self, word: &str, is_compound: bool) {
        if self.is_full() {
            return;
        }
        let word = word.to_lowercase();
        if word.chars().count() > MAX_TERM_LENGTH {
            return;
        }
        let mut stems: Vec<String> = Vec::new();
        for language in &self.languages {
            let stem = language.stem(&word);
            if !stem.is_empty() && !stems.contains(&stem) {
                stems.push(stem);
            }
        }
        self.add(word, stems, is_compound);
    }

    /// Returns whether enough words were collected for [`MAX_TERMS`] terms.
    fn is_full(&self) -> bool {
        self.found.len() == MAX_CANDIDATES
    }

    fn add(&mut self, word: String, stems: Vec<String>, is_compound: bool) {
        let is_known = self.words.contains(&word) || self.stems.contains(&stems);
        if !self.is_full() && !stems.is_empty() && !is_known {
            self.words.insert(word.clone());
            self.stems.insert(stems.clone());
            self.found.push(Term { word, stems, is_compound });
        }
    }
}

/// A run of characters of one kind.
enum CharRun<'a> {
    /// In a script written without spaces.
    Unspaced(&'a str),
    Spaced(&'a str),
}

/// Calls `take` with each run of letters, digits and the marks on them.
fn each_run<'a>(text: &'a str, mut take: impl FnMut(CharRun<'a>)) {
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let unspaced = rest.chars().next().is_some_and(is_unspaced);
        let continues = |c: char| {
            if c.is_ascii() {
                return !unspaced && c.is_ascii_alphanumeric();
            }
            c.is_alphanumeric() && is_unspaced(c) == unspaced || is_combining(c)
        };
        let end = rest.find(|c| !continues(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        take(if unspaced { CharRun::Unspaced(run) } else { CharRun::Spaced(run) });
        rest = after;
    }
}

/// Calls `take` with the characters and bigrams of a run, since its word boundaries are unknown.
fn each_gram(run: &str, take: &mut impl FnMut(&str)) {
    let mut previous: Option<char> = None;
    for c in run.chars().flat_map(char::to_lowercase) {
        take(c.encode_utf8(&mut [0; 4]));
        if let Some(previous) = previous {
            take(&String::from_iter([previous, c]));
        }
        previous = Some(c);
    }
}

/// Splits `HTTPServer2Config` into `HTTP`, `Server2`, `Config`; a word without inner capitals yields nothing.
fn camel_case_parts(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let has_inner_capital = run.chars().skip(1).any(char::is_uppercase);
    if !has_inner_capital {
        return parts;
    }
    let mut start = 0;
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    for index in 1..chars.len() {
        let (at, c) = chars[index];
        let before = chars[index - 1].1;
        let next = chars.get(index + 1).map(|(_, c)| *c);
        let starts_capitals = c.is_uppercase() && !before.is_uppercase();
        let is_last_capital =
            c.is_uppercase() && before.is_uppercase() && next.is_some_and(char::is_lowercase);
        // `IDs` and `APIs` are plurals; `Ds` is not a word.
        let is_plural = is_last_capital && chars.len() == index + 2 && next == Some('s');
        if starts_capitals || (is_last_capital && !is_plural) {
            parts.push(&run[start..at]);
            start = at;
        }
    }
    parts.push(&run[start..]);
    parts
}

/// Returns the distinct content words of a text in order, accents as written; a text of function words keeps them.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let language = Language::detect(text);
    let (mut words, mut function_words): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for word in text.split(|c: char| !c.is_alphanumeric() && !is_combining(c)) {
        let lower = word.to_lowercase();
        let is_function_word =
            Language::ENGLISH.is_function_word(&lower) || language.is_function_word(&lower);
        let list = if is_function_word { &mut function_words } else { &mut words };
        let is_word = !lower.is_empty() && lower.chars().count() <= MAX_TERM_LENGTH;
        if is_word && list.len() < MAX_TERMS && !list.contains(&lower) {
            list.push(lower);
        }
    }
    if words.is_empty() { function_words } else { words }
}

/// Returns a text as an FTS5 string literal, in which nothing is an operator.
pub fn quoted(text: &str) -> String {
    // A NUL would end the expression.
    format!("\"{}\"", text.replace('\0', " ").replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(text: &str) -> String {
        words(text).join(" ")
    }

    fn asked(query: &str) -> Vec<String> {
        let terms = terms(query, &[]).into_iter();
        terms.map(|term| term.word).collect()
    }

    #[test]
    fn identifiers_yield_their_parts() {
        for (text, expected) in [
            ("RetryQueue::push", "retri queue retryqueu push"),
            ("src/http_client.rs", "src http client rs"),
            ("HTTPServer2Config", "http server2 config httpserver2config"),
            ("max-retry.count", "max retri count"),
            ("the IDs", "the id"),
            ("sha256 v2", "sha256 v2"),
            ("don't", "don t"),
        ] {
            assert_eq!(joined(text), expected, "{text}");
        }
    }

    #[test]
    fn every_script_yields_words() {
        for (text, expected) in [
            ("再試行", "再 試 再試 行 試行"),
            ("use再試go", "use 再 試 再試 go"),
            ("हिन्दी", "हिन्दी"),
            ("猫", "猫"),
            (" — ,;`*` ", ""),
        ] {
            assert_eq!(joined(text), expected, "{text}");
        }
        assert_eq!(words("Очередь ПОВТОРОВ"), words("очереди повтора"));
    }

    #[test]
    fn texts_of_other_languages_keep_english_stems_too() {
        let found = words("Die Warteschlangen werden von retries gefüllt");
        for stem in ["warteschlang", "retri"] {
            assert!(found.iter().any(|word| word == stem), "{found:?}");
        }
    }

    #[test]
    fn a_query_keeps_its_content_words() {
        for (query, expected) in [
            ("What is the Retry policy?", &["retry", "policy"][..]),
            ("the who", &["the", "who"]),
            ("a\" OR b* NEAR(c) -d", &["b", "near", "c", "d"]),
            ("Welche Datei wird gesperrt?", &["datei", "gesperrt"]),
            ("¿Qué archivo se bloquea?", &["archivo", "bloquea"]),
            ("retries retry", &["retries"]),
            ("\"-*()🚀\0", &[]),
        ] {
            assert_eq!(asked(query), expected, "{query}");
        }
    }

    #[test]
    fn a_term_has_the_stems_of_every_language_of_the_texts() {
        let german = Language::detect("die und das");
        let found = terms("Warteschlangen", &[german]);
        assert_eq!(found[0].stems, ["warteschlang", "warteschlangen"]);
        let found = terms("RetryQueue", &[]);
        let compound: Vec<bool> = found.iter().map(|term| term.is_compound).collect();
        assert_eq!(compound, [false, false, true]);
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_word_is_empty(text in "\\PC*") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
            let terms = terms(&text, &Language::all().collect::<Vec<_>>());
            prop_assert!(terms.iter().all(|term| !term.stems.is_empty()));
        }
    }
}
