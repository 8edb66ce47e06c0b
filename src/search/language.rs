//! Detects the language of a text by its function words, and stems words in that language.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a word that is stemmed, in bytes.
const MAX_WORD_LENGTH: usize = 64;

/// Number of words examined to detect the language of a text.
const SAMPLE_WORDS: usize = 500;

/// Minimum length of a stem, in characters: a shorter one would match too many words.
const MIN_STEM_LENGTH: usize = 3;

/// A language with a stemmer: its row in the table. English is the default if none is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
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
            return without_accents(word).into_owned();
        }
        let is_cyrillic = |c| matches!(c, '\u{400}'..='\u{52f}');
        let language = if word.contains(is_cyrillic) { RUSSIAN } else { self };
        let nasal_stem = (language == PORTUGUESE).then(|| without_nasal_ending(word));
        if let Some(stem) = nasal_stem.flatten() {
            return without_accents(stem).into_owned();
        }
        let stem = Stemmer::new(ROWS[usize::from(language.0)].0).stem(word);
        without_accents(&stem).into_owned()
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
fn without_accents(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let is_accent = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    Cow::Owned(word.nfd().filter(|c| !is_accent(c)).nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
