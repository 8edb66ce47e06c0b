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

/// A bit mask of the languages in which each function word occurs, hashed for fast lookup.
static VOTES: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut votes: HashMap<&'static str, u8> = HashMap::new();
    for (at, language) in Language::ALL.into_iter().enumerate() {
        for word in language.function_words() {
            *votes.entry(word).or_default() |= 1 << at;
        }
    }
    votes
});

/// Minimum length of a stem, in characters: a shorter one would match too many words.
const MIN_STEM_LENGTH: usize = 3;

/// A language with a stemmer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Also the default if no language is detected.
    #[default]
    English,
    /// Dutch.
    Dutch,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Russian, also used for other languages in Cyrillic script.
    Russian,
    /// Spanish.
    Spanish,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 8] = [
        Self::English,
        Self::Dutch,
        Self::French,
        Self::German,
        Self::Italian,
        Self::Portuguese,
        Self::Russian,
        Self::Spanish,
    ];

    /// Returns the language with the most function words and characteristic letters in a text.
    pub fn detect(text: &str) -> Self {
        let mut votes = [0_usize; Self::ALL.len()];
        let words = text.split(|c: char| !c.is_alphanumeric());
        let mut lower = String::new();
        for word in words.filter(|word| !word.is_empty()).take(SAMPLE_WORDS) {
            lower.clear();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(word.chars().flat_map(char::to_lowercase));
            }
            let languages = VOTES.get(lower.as_str()).copied().unwrap_or_default();
            for (at, language) in Self::ALL.into_iter().enumerate() {
                let has_characteristic_letter = || {
                    !lower.is_ascii()
                        && lower.contains(|c| language.characteristic_letters().contains(c))
                };
                votes[at] += usize::from(languages & 1 << at != 0 || has_characteristic_letter());
            }
        }
        // A tie goes to the earlier language, so English comes first.
        let mut best = (Self::English, votes[0]);
        for (language, votes) in Self::ALL.into_iter().zip(votes) {
            if votes > best.1 {
                best = (language, votes);
            }
        }
        best.0
    }

    /// Returns whether a lower-case word is a function word, which carries no meaning of its own.
    pub fn is_function_word(self, word: &str) -> bool {
        self.function_words().binary_search(&word).is_ok()
    }

    /// Returns the stem that the inflected forms of a lower-case word share, without accents.
    ///
    /// Cyrillic words are stemmed as Russian, whatever the language.
    pub fn stem(self, word: &str) -> String {
        if word.len() > MAX_WORD_LENGTH || !word.chars().all(char::is_alphabetic) {
            return without_accents(word).into_owned();
        }
        let language = if word.contains(is_cyrillic) { Self::Russian } else { self };
        let nasal_stem = (language == Self::Portuguese).then(|| without_nasal_ending(word));
        if let Some(stem) = nasal_stem.flatten() {
            return without_accents(stem).into_owned();
        }
        let stem = Stemmer::new(language.algorithm()).stem(word);
        without_accents(&stem).into_owned()
    }

    /// Returns the number under which an index stores the language.
    pub(crate) fn number(self) -> u8 {
        Self::ALL
            .iter()
            .position(|language| *language == self)
            .and_then(|place| u8::try_from(place).ok())
            .unwrap_or_default()
    }

    /// Returns the language for a stored number.
    pub(crate) fn from_number(number: u8) -> Self {
        let language = Self::ALL.get(usize::from(number));
        language.copied().unwrap_or_default()
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::Dutch => Algorithm::Dutch,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
        }
    }

    /// Returns letters that are rare in the other languages.
    fn characteristic_letters(self) -> &'static str {
        match self {
            Self::English | Self::Dutch => "",
            Self::French => "œùûçèêëî",
            Self::German => "ßäöü",
            Self::Italian => "ìòù",
            Self::Portuguese => "ãõçêâ",
            Self::Russian => "абвгдежзийклмнопрстуфхцчшщъыьэюя",
            Self::Spanish => "ñ¿¡",
        }
    }

    /// Returns the sorted function words of the language.
    fn function_words(self) -> &'static [&'static str] {
        match self {
            Self::English => ENGLISH,
            Self::Dutch => DUTCH,
            Self::French => FRENCH,
            Self::German => GERMAN,
            Self::Italian => ITALIAN,
            Self::Portuguese => PORTUGUESE,
            Self::Russian => RUSSIAN,
            Self::Spanish => SPANISH,
        }
    }
}

/// Returns the common stem of singular and plural of a Portuguese word in `-ão`, which Snowball stems
/// differently.
fn without_nasal_ending(word: &str) -> Option<&str> {
    let stem = ["ão", "ãos", "ões", "ães"].iter().find_map(|ending| word.strip_suffix(ending))?;
    (stem.chars().count() >= MIN_STEM_LENGTH).then_some(stem)
}

/// Returns whether a letter is Cyrillic.
fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

/// Returns a word without combining accents (U+0300 to U+036F); other marks change the word and are kept.
fn without_accents(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let is_accent = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    Cow::Owned(word.nfd().filter(|c| !is_accent(c)).nfc().collect())
}

const ENGLISH: &[&str] = &[
    "a", "about", "again", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but",
    "by", "can", "could", "did", "do", "does", "done", "down", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "may", "me", "might", "must", "my", "no", "not", "of", "off", "on", "or", "our", "out", "over",
    "shall", "she", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "under", "up", "us", "was", "we", "were", "what",
    "when", "where", "which", "who", "whom", "why", "will", "with", "would", "you", "your",
];

const DUTCH: &[&str] = &[
    "aan", "al", "als", "bij", "dan", "dat", "de", "deze", "die", "dit", "door", "een", "en", "er",
    "geen", "heeft", "het", "hij", "hoe", "hun", "ik", "in", "is", "je", "kan", "maar", "met",
    "mijn", "moet", "naar", "niet", "nog", "of", "om", "onder", "ons", "ook", "op", "over", "te",
    "tot", "uit", "van", "voor", "waar", "waarom", "wanneer", "waren", "was", "wat", "we", "welke",
    "werd", "wie", "wij", "worden", "wordt", "zal", "ze", "zich", "zij", "zijn",
];

const FRENCH: &[&str] = &[
    "au", "aux", "avec", "ce", "ces", "cette", "comme", "comment", "dans", "de", "des", "donc",
    "du", "elle", "en", "est", "et", "il", "ils", "je", "la", "le", "les", "leur", "lors", "mais",
    "ne", "nos", "notre", "nous", "on", "ou", "où", "par", "pas", "plus", "pour", "pourquoi",
    "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "sa", "sans", "se", "ses",
    "si", "son", "sont", "sous", "sur", "un", "une", "votre", "vous", "à", "été", "être",
];

const GERMAN: &[&str] = &[
    "alle", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bis", "das", "dass", "dem",
    "den", "der", "des", "die", "diese", "dieser", "dieses", "durch", "ein", "eine", "einem",
    "einen", "einer", "eines", "er", "es", "für", "haben", "hat", "ich", "ihr", "im", "in", "ist",
    "kann", "kein", "keine", "mit", "muss", "müssen", "nach", "nicht", "noch", "nur", "ob", "oder",
    "sich", "sie", "sind", "so", "soll", "um", "und", "uns", "unter", "vom", "von", "vor", "wann",
    "war", "warum", "was", "weil", "welche", "welchem", "welchen", "welcher", "welches", "wenn",
    "wer", "werden", "wie", "wir", "wird", "wo", "wurde", "wurden", "zu", "zum", "zur", "über",
];

const ITALIAN: &[&str] = &[
    "a", "ai", "al", "alla", "alle", "anche", "che", "chi", "come", "con", "cosa", "cui", "da",
    "dal", "dalla", "dei", "del", "della", "delle", "di", "dove", "e", "gli", "ha", "hanno", "i",
    "il", "in", "io", "la", "le", "lo", "ma", "nel", "nella", "noi", "non", "o", "per", "perché",
    "più", "quale", "quali", "quando", "questa", "questo", "se", "sono", "su", "sul", "sulla",
    "tra", "un", "una", "vengono", "viene", "è",
];

const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "ela", "ele", "em",
    "entre", "essa", "esse", "esta", "este", "eu", "foi", "foram", "isso", "já", "mais", "mas",
    "na", "nas", "no", "nos", "não", "o", "onde", "os", "ou", "para", "pela", "pelo", "por",
    "porque", "quais", "qual", "quando", "que", "quem", "se", "sem", "ser", "seu", "sua", "são",
    "também", "tem", "um", "uma", "à", "às", "é",
];

const RUSSIAN: &[&str] = &[
    "а", "без", "бы", "был", "была", "были", "было", "быть", "в", "вместо", "во", "все", "вы",
    "где", "для", "до", "его", "ее", "если", "есть", "еще", "ещё", "же", "за", "и", "из", "или",
    "их", "к", "как", "какая", "какие", "какой", "когда", "которые", "который", "кто", "ли", "мы",
    "на", "не", "нет", "но", "о", "об", "он", "она", "они", "от", "по", "под", "почему", "при",
    "с", "со", "так", "также", "то", "только", "у", "уже", "чем", "что", "чтобы", "это", "этот",
    "я",
];

const SPANISH: &[&str] = &[
    "a", "al", "cada", "como", "con", "cuando", "cuál", "cuáles", "cuándo", "cómo", "de", "del",
    "desde", "donde", "dónde", "e", "el", "ella", "ellos", "en", "entre", "era", "es", "esta",
    "este", "esto", "está", "están", "fue", "ha", "hay", "la", "las", "lo", "los", "me", "mi",
    "muy", "más", "no", "nos", "o", "para", "pero", "por", "porque", "que", "quién", "qué", "se",
    "ser", "si", "sin", "sobre", "son", "su", "sus", "también", "un", "una", "y", "ya",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_same_stem(language: Language, forms: &[&str]) {
        for form in forms {
            assert_eq!(language.stem(form), language.stem(forms[0]), "{form}");
        }
    }

    #[test]
    fn function_words_are_sorted_and_numbers_round_trip() {
        for language in Language::ALL {
            let mut sorted = language.function_words().to_vec();
            sorted.sort_unstable();
            assert_eq!(language.function_words(), sorted, "{language:?}");
            assert_eq!(Language::from_number(language.number()), language);
        }
    }

    #[test]
    fn languages_are_detected_by_function_words() {
        for (text, expected) in [
            ("The queue is read when the program starts.", Language::English),
            ("Die Warteschlange wird beim Start gelesen.", Language::German),
            ("La file d'attente est lue au démarrage.", Language::French),
            ("La cola se lee cuando el programa arranca.", Language::Spanish),
            ("A fila é lida quando o programa é iniciado.", Language::Portuguese),
            ("La coda viene letta quando il programma parte.", Language::Italian),
            ("De wachtrij wordt gelezen bij het starten.", Language::Dutch),
            ("Очередь читается при запуске.", Language::Russian),
            ("Größe der Dateien", Language::German),
            ("src/http_client.rs", Language::English),
            ("再試行キュー", Language::English),
            ("", Language::English),
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
            assert_same_stem(Language::English, forms);
        }
        for (one, other) in [("status", "state"), ("string", "str"), ("thing", "th")] {
            assert_ne!(Language::English.stem(one), Language::English.stem(other));
        }
    }

    #[test]
    fn german_forms_share_a_stem() {
        assert_same_stem(Language::German, &["entscheidung", "entscheidungen"]);
        assert_same_stem(Language::German, &["warteschlange", "warteschlangen"]);
        assert_same_stem(Language::German, &["gesperrte", "gesperrten", "gesperrtes"]);
    }

    #[test]
    fn french_forms_share_a_stem() {
        assert_same_stem(Language::French, &["décision", "décisions"]);
        assert_same_stem(Language::French, &["verrouiller", "verrouillé", "verrouillée"]);
    }

    #[test]
    fn spanish_forms_share_a_stem() {
        assert_same_stem(Language::Spanish, &["decisión", "decisiones"]);
        assert_same_stem(Language::Spanish, &["bloquear", "bloqueado", "bloqueados"]);
    }

    #[test]
    fn portuguese_forms_share_a_stem() {
        assert_same_stem(Language::Portuguese, &["decisão", "decisões"]);
        assert_ne!(Language::Portuguese.stem("mão"), "m", "too little would be left");
        assert_same_stem(Language::Portuguese, &["bloquear", "bloqueado", "bloqueada"]);
    }

    #[test]
    fn russian_forms_share_a_stem_in_any_language() {
        for language in Language::ALL {
            assert_same_stem(language, &["решение", "решения", "решений", "решениями"]);
            assert_same_stem(language, &["очередь", "очереди", "очередью"]);
        }
    }

    #[test]
    fn non_words_only_lose_accents() {
        for (word, stem) in [("sqlite3", "sqlite3"), ("v2", "v2"), ("", ""), ("é2", "e2")] {
            assert_eq!(Language::English.stem(word), stem);
        }
        let long = "a".repeat(MAX_WORD_LENGTH + 1);
        assert_eq!(Language::German.stem(&long), long);
    }
}
