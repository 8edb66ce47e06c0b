//! Splits texts into stemmed words in their language, and queries into terms; compares short texts by their words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::search::rank::{to_f64, to_u32};
use crate::text::{WordCache, is_combining, is_unspaced, words_in};

/// Maximum number of terms in a query: further ones add little, and each costs a pass over its texts.
const MAX_TERMS: usize = 48;

/// Maximum number of words examined to find them; no language has as many function words.
const MAX_CANDIDATES: usize = 1_024;

/// Maximum length of a term in characters; a longer run of letters is not a word.
const MAX_TERM_LENGTH: usize = 100;

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
    Tokenizer::new(Language::detect(text)).words(text)
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

    /// Returns the stems of the words of a text.
    pub(crate) fn words(&mut self, text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        self.stems(text, &mut stems);
        stems.into_iter().map(|stem| self.text(stem).to_owned()).collect()
    }

    /// Appends the stem of every word of a text.
    pub(crate) fn stems(&mut self, text: &str, stems: &mut Vec<u32>) {
        each_run(text, |run, is_unspaced| {
            if is_unspaced {
                each_gram(run, |gram| stems.push(self.number(gram)));
            } else if let Some(known) = self.runs.get(run) {
                stems.extend_from_slice(known);
            } else {
                let new = self.stems_of(run);
                stems.extend_from_slice(&new);
                self.runs.insert(run, new.into());
            }
        });
    }

    /// Returns the stems of a run: those of its parts, if it has any, and its own.
    fn stems_of(&mut self, run: &str) -> Vec<u32> {
        let mut stems = Vec::new();
        for word in camel_case_parts(run).into_iter().chain([run]) {
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
        let number = to_u32(self.texts.len());
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
/// `languages` are the languages of the texts; each contributes stems. A query of several function words
/// alone keeps them, such as `what is this`, but an English one alone tells no text from another. One word does not show
/// its language, so `door` is not taken for Dutch; one in capitals is a name, such as `IT`.
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
    each_run(query, |run, is_unspaced| {
        if is_unspaced {
            return each_gram(run, |gram| {
                let is_compound = gram.chars().nth(1).is_some();
                all.add(gram.to_owned(), vec![gram.to_owned()], is_compound);
            });
        }
        let parts = camel_case_parts(run);
        for part in &parts {
            all.add_word(part, false);
        }
        all.add_word(run, !parts.is_empty());
    });
    let is_content_word = |term: &Term| {
        let is_function_word = |language: Language| language.is_function_word(&term.word);
        !is_function_word(Language::ENGLISH) && !is_function_word(query_language)
    };
    let mut terms = all.found;
    if let [term] = &terms[..] {
        let is_name = term.word.len() > 1 && !query.contains(char::is_lowercase);
        if !is_name && Language::ENGLISH.is_function_word(&term.word) {
            terms.clear();
        }
    } else if terms.iter().any(is_content_word) {
        terms.retain(is_content_word);
    }
    terms.truncate(MAX_TERMS);
    terms
}

/// What is said of a query that has no word to search for.
pub const NO_WORDS: &str = "nothing to search for: say in words what it is about";

/// Returns whether a query has letters, but no word to search for, such as "the".
pub fn is_wordless(query: &str) -> bool {
    query.contains(char::is_alphabetic) && terms(query, &[]).is_empty()
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

/// Calls `take` with each run of letters, digits and the marks on them, and whether it is in a script without spaces.
fn each_run(text: &str, mut take: impl FnMut(&str, bool)) {
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
        take(run, unspaced);
        rest = after;
    }
}

/// Calls `take` with the characters and bigrams of a run, since its word boundaries are unknown.
fn each_gram(run: &str, mut take: impl FnMut(&str)) {
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
    if !run.chars().skip(1).any(char::is_uppercase) {
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
    if start > 0 {
        parts.push(&run[start..]);
    }
    parts
}

/// Returns the distinct content words of a text in order, accents as written.
pub(crate) fn content_words(text: &str, language: Language) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && !is_combining(c)) {
        let lower = word.to_lowercase();
        let is_function_word =
            Language::ENGLISH.is_function_word(&lower) || language.is_function_word(&lower);
        let is_word = !lower.is_empty() && lower.chars().count() <= MAX_TERM_LENGTH;
        if is_word && !is_function_word && words.len() < MAX_TERMS && !words.contains(&lower) {
            words.push(lower);
        }
    }
    words
}

/// Returns a text as an FTS5 string literal, in which nothing is an operator.
pub fn quoted(text: &str) -> String {
    // A NUL would end the expression.
    format!("\"{}\"", text.replace('\0', " ").replace('"', "\"\""))
}

/// Maximum length of a word that is stemmed, in bytes.
const MAX_WORD_LENGTH: usize = 64;

/// Number of words examined to detect the language of a text.
const SAMPLE_WORDS: usize = 500;

/// Minimum length of a stem, in characters: a shorter one would match too many words.
const MIN_STEM_LENGTH: usize = 3;

/// A language with a stemmer: its row in the table. English is the default if none is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(u8);

/// The stemmer, the letters that are rare in the other languages, and the function words.
type Row = (Algorithm, &'static str, &'static str);

/// English first, since a tie goes to the earlier language. Its list is complete, since projects are written in it; of
/// the others, it has the words by which questions and sentences are recognised.
const ROWS: [Row; 8] = [
    (
        Algorithm::English,
        "",
        "a about again an and any are as at be been being but by can could did do does done down for from had has have \
         having he her here him his how i if in into is it its may me might must my no not of off on or our out over \
         shall she should so than that the their them then there these they this those to under up us was we were what \
         when where which who whom why will with would you your",
    ),
    (
        Algorithm::Dutch,
        "",
        "aan bij dat de deze die door een en er geen het hoe ik is maar met niet of om op te van voor waar waarom \
         wanneer wat welke werd wie wordt worden zijn",
    ),
    (
        Algorithm::French,
        "œùûçèêëî",
        "au aux avec comment dans de des du elle en est et il la le les ne ou où par pas pour pourquoi quand que quel \
         quelle quelles quels qui sont sur un une à",
    ),
    (
        Algorithm::German,
        "ßäöü",
        "auf beim das dem den der des die ein eine im in ist mit nicht sind und von wann warum was welche welchem \
         welchen welcher welches wer werden wie wir wird wo wurde zu",
    ),
    (
        Algorithm::Italian,
        "ìòù",
        "alla che chi come con cosa da dei del della di dove e gli i il in la le lo nel non per perché quale quali \
         quando si sono un una viene è",
    ),
    (
        Algorithm::Portuguese,
        "ãõçêâ",
        "a ao as com como da das de do dos e em foi na no não o onde os para por porque quais qual quando que quem \
         são um uma é",
    ),
    (
        Algorithm::Russian,
        "абвгдежзийклмнопрстуфхцчшщъыьэюя",
        "в где для и из или как какая какие какой когда кто мы на не но о он от по почему с то у чем что это",
    ),
    (
        Algorithm::Spanish,
        "ñ¿¡",
        "al cuando cuál cuáles cuándo cómo de del donde dónde el en es está la las lo los no para por porque que quién \
         qué se son un una y",
    ),
];

const PORTUGUESE: Language = Language(5);
const RUSSIAN: Language = Language(6);

/// A bit mask of the languages in which each function word occurs.
static VOTES: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut votes: HashMap<&'static str, u8> = HashMap::new();
    for (at, (_, _, words)) in ROWS.iter().enumerate() {
        for word in words.split_whitespace() {
            *votes.entry(word).or_default() |= 1 << at;
        }
    }
    votes
});

impl Language {
    /// English.
    pub const ENGLISH: Self = Self(0);

    /// Returns every language.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..8).map(Self)
    }

    /// Returns the language with the most function words and characteristic letters in a text.
    pub fn detect(text: &str) -> Self {
        let mut votes = [0_usize; ROWS.len()];
        let words = words_in(text);
        let mut lower = String::new();
        for word in words.take(SAMPLE_WORDS) {
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            let languages = VOTES.get(lower.as_str()).copied().unwrap_or_default();
            let is_ascii = lower.is_ascii();
            for (at, (_, letters, _)) in ROWS.iter().enumerate() {
                let is_vote = languages & 1 << at != 0
                    || !is_ascii && lower.contains(|c| letters.contains(c));
                votes[at] += usize::from(is_vote);
            }
        }
        // A tie goes to the earlier language.
        let most = votes.into_iter().max();
        let best = Self::all().zip(votes).find(|(_, votes)| Some(*votes) == most);
        best.map_or(Self::ENGLISH, |(language, _)| language)
    }

    /// Returns whether a lower-case word is a function word, which carries no meaning of its own.
    pub fn is_function_word(self, word: &str) -> bool {
        VOTES.get(word).is_some_and(|languages| languages & 1 << self.0 != 0)
    }

    /// Returns the stem that the inflected forms of a lower-case word share, without accents.
    ///
    /// Cyrillic words are stemmed as Russian, whatever the language.
    pub fn stem(self, word: &str) -> String {
        if word.len() > MAX_WORD_LENGTH || !word.chars().all(char::is_alphabetic) {
            return without_accents(word);
        }
        let is_cyrillic = |c| matches!(c, '\u{400}'..='\u{52f}');
        let language = if word.contains(is_cyrillic) { RUSSIAN } else { self };
        let nasal_stem = (language == PORTUGUESE).then(|| without_nasal_ending(word));
        if let Some(stem) = nasal_stem.flatten() {
            return without_accents(stem);
        }
        let stem = Stemmer::new(ROWS[usize::from(language.0)].0).stem(word);
        without_accents(&stem)
    }

    /// Returns the number under which an index stores the language.
    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// Returns the language for a stored number.
    pub(crate) fn from_number(number: u8) -> Self {
        Self(if usize::from(number) < ROWS.len() { number } else { 0 })
    }
}

/// Returns the common stem of singular and plural of a Portuguese word in `-ão`, which Snowball stems
/// differently.
fn without_nasal_ending(word: &str) -> Option<&str> {
    let stem = ["ão", "ãos", "ões", "ães"].iter().find_map(|ending| word.strip_suffix(ending))?;
    (stem.chars().count() >= MIN_STEM_LENGTH).then_some(stem)
}

/// Returns a word without combining accents (U+0300 to U+036F); other marks change the word and are kept.
fn without_accents(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let is_accent = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    word.nfd().filter(|c| !is_accent(c)).nfc().collect()
}

/// Number of characters at the start of a text in which a correction must identify itself.
const OPENING_CHARS: usize = 120;

/// Minimum share of the shorter text's words that both texts must contain.
const MIN_SHARED_WORDS: f64 = 0.5;

/// Openings of a correction.
const OPENINGS: &[&str] =
    &["actually", "correction", "corrected", "erratum", "no longer", "update:", "wrong:"];

/// Phrases by which a correction refers to the earlier statement.
const PHRASES: &[&str] = &[
    " is no longer ", " are no longer ", " was wrong", " were wrong", " not as stated",
    ", not as ", "changed from ", "supersedes ",
];

/// Minimum share of common words at which a text repeats another one.
const MIN_SHARED: f64 = 0.8;
/// Minimum number of words of a text that may be part of a longer one: any text may contain two words.
const MIN_WORDS: usize = 4;

/// The words of a text.
pub(crate) struct WordSet(BTreeSet<String>);

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(words(text).into_iter().collect())
    }

    /// Returns whether this text adds hardly anything to another one.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let is_short = self.0.len() < MIN_WORDS;
        let size = if is_short { self.0.len().max(other.0.len()) } else { self.0.len() };
        size > 0 && to_f64(self.common(other)) >= MIN_SHARED * to_f64(size)
    }

    /// Returns whether two texts have no words in common.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns the number of words that two texts have in common.
    fn common(&self, other: &Self) -> usize {
        self.0.intersection(&other.0).count()
    }
}

/// Returns whether a text corrects another one about the same subject.
pub fn corrects(text: &str, other: &str) -> bool {
    is_correction(text) && !is_correction(other) && have_same_subject(text, other)
}

fn is_correction(text: &str) -> bool {
    let head: String = text.chars().take(OPENING_CHARS).collect();
    let head = head.to_lowercase();
    let head = head.trim_start_matches(|c: char| !c.is_alphanumeric());
    OPENINGS.iter().any(|opening| head.starts_with(opening))
        || PHRASES.iter().any(|phrase| head.contains(phrase))
}

/// Returns whether a text is about the same subject as another one that is not much longer, and has all of its words of the
/// question.
pub(crate) fn answers_anew(question: &str, text: &str, other: &str) -> bool {
    let (asked, own, known) = (long_words(question), long_words(text), long_words(other));
    have_same_subject(text, other)
        && known.len() <= 2 * own.len()
        && known.intersection(&asked).all(|word| own.contains(word))
}

fn long_words(text: &str) -> BTreeSet<String> {
    let is_long = |word: &String| word.chars().count() > 2;
    words(text).into_iter().filter(is_long).collect()
}

fn have_same_subject(one: &str, other: &str) -> bool {
    let (one, other) = (long_words(one), long_words(other));
    let shared = one.intersection(&other).count();
    shared > 1 && to_f64(shared) >= MIN_SHARED_WORDS * to_f64(one.len().min(other.len()))
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
            ("the", &[]),
            ("A", &[]),
            ("IT", &["it"]),
            ("door", &["door"]),
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

    fn assert_same_stem(language: Language, forms: &[&str]) {
        for form in forms {
            assert_eq!(language.stem(form), language.stem(forms[0]), "{form}");
        }
    }

    #[test]
    fn languages_are_detected_by_function_words() {
        for (text, expected) in [
            ("The queue is read when the program starts.", Language::ENGLISH),
            ("Die Warteschlange wird beim Start gelesen.", Language(3)),
            ("La file d'attente est lue au démarrage.", Language(2)),
            ("La cola se lee cuando el programa arranca.", Language(7)),
            ("A fila é lida quando o programa é iniciado.", PORTUGUESE),
            ("La coda viene letta quando il programma parte.", Language(4)),
            ("De wachtrij wordt gelezen bij het starten.", Language(1)),
            ("Очередь читается при запуске.", RUSSIAN),
            ("Größe der Dateien", Language(3)),
            ("src/http_client.rs", Language::ENGLISH),
            ("再試行キュー", Language::ENGLISH),
            ("", Language::ENGLISH),
        ] {
            assert_eq!(Language::detect(text), expected, "{text}");
        }
    }

    #[test]
    fn english_forms_share_a_stem() {
        for forms in [
            &["retry", "retries", "retried", "retrying"][..],
            &["stop", "stops", "stopped", "stopping"],
            &["migrate", "migrates", "migrated", "migration"],
            &["class", "classes"],
            &["silent", "silently"],
        ] {
            assert_same_stem(Language::ENGLISH, forms);
        }
        for (one, other) in [("status", "state"), ("string", "str"), ("thing", "th")] {
            assert_ne!(Language::ENGLISH.stem(one), Language::ENGLISH.stem(other));
        }
    }

    #[test]
    fn german_forms_share_a_stem() {
        assert_same_stem(Language(3), &["entscheidung", "entscheidungen"]);
        assert_same_stem(Language(3), &["warteschlange", "warteschlangen"]);
        assert_same_stem(Language(3), &["gesperrte", "gesperrten", "gesperrtes"]);
    }

    #[test]
    fn french_forms_share_a_stem() {
        assert_same_stem(Language(2), &["décision", "décisions"]);
        assert_same_stem(Language(2), &["verrouiller", "verrouillé", "verrouillée"]);
    }

    #[test]
    fn spanish_forms_share_a_stem() {
        assert_same_stem(Language(7), &["decisión", "decisiones"]);
        assert_same_stem(Language(7), &["bloquear", "bloqueado", "bloqueados"]);
    }

    #[test]
    fn portuguese_forms_share_a_stem() {
        assert_same_stem(PORTUGUESE, &["decisão", "decisões"]);
        assert_ne!(PORTUGUESE.stem("mão"), "m", "too little would be left");
        assert_same_stem(PORTUGUESE, &["bloquear", "bloqueado", "bloqueada"]);
    }

    #[test]
    fn russian_forms_share_a_stem_in_any_language() {
        for language in Language::all() {
            assert_same_stem(language, &["решение", "решения", "решений", "решениями"]);
            assert_same_stem(language, &["очередь", "очереди", "очередью"]);
        }
    }

    #[test]
    fn non_words_only_lose_accents() {
        for (word, stem) in [("sqlite3", "sqlite3"), ("v2", "v2"), ("", ""), ("é2", "e2")] {
            assert_eq!(Language::ENGLISH.stem(word), stem);
        }
        let long = "a".repeat(MAX_WORD_LENGTH + 1);
        assert_eq!(Language(3).stem(&long), long);
    }

    #[test]
    fn a_text_that_adds_nothing_is_a_repetition() {
        let repeat =
            |new: &str, old: &str| WordSet::from_text(new).repeats(&WordSet::from_text(old));
        let old = "The gateway listens on port 7778 and binds to all addresses";
        assert!(repeat("The gateway listens on port 7778 and binds to all addresses", old));
        assert!(repeat("Gateway binds to all addresses, port 7778", old));
        assert!(!repeat("The dashboard is served from public/index.html", old));
        assert!(!repeat("Use tabs", "Use tabs in Makefiles, spaces elsewhere"));
        assert!(!repeat(
            "Use worktrees for agents that run at once, never clones",
            "Use worktrees"
        ));
        assert!(repeat("再試行キューはファイルに保存される", "再試行キューはファイルに保存される"));
        assert!(!repeat("", ""));
    }

    #[test]
    fn a_text_answers_anew_if_the_question_has_no_word_of_the_other_one_alone() {
        let old = "Deploys to staging go through Jenkins";
        let new = "Deploys now go through GitHub Actions, no longer through Jenkins";
        assert!(answers_anew("how do we deploy", new, old));
        assert!(!answers_anew("how do we deploy to staging", new, old));
        assert!(!answers_anew("how do we deploy", "Jenkins is slow", old));
        let playbook = format!(
            "{old}. {}",
            "Before, check that main is green and tell the team in the channel."
        );
        assert!(!answers_anew("how do we deploy", "Deploys go through Jenkins", &playbook));
    }

    #[test]
    fn a_correction_identifies_itself_and_shares_the_subject() {
        let old = "The server listens on port 5432.";
        for new in [
            "Correction: the server listens on port 5433.",
            "**Correction** (2026-02-01): the server listens on 5433",
            "The server is no longer on port 5432, it listens on 5433.",
        ] {
            assert!(corrects(new, old), "{new}");
            assert!(!corrects(old, new), "{new}");
        }
        assert!(!corrects("Correction: the logo is green.", old));
        assert!(!corrects("The server listens on port 5433.", old));
        assert!(!corrects("", ""));
    }
}
