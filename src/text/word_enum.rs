//! Enums whose variants have one word each, used in files, in JSON and on the command line.

/// Defines an enum by its variants and their words; it derives all that such an enum may need.
///
/// The word of a variant is defined only here: serde reads and writes it, `as_str` returns it, and `from_word`,
/// `from_any_case` and `choose` look the variant up by it. `ALL` lists the variants in order.
macro_rules! word_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)+
        }

        // Not every enum needs all of these.
        #[allow(dead_code)]
        impl $name {
            /// Every variant, in order.
            $visibility const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the variant's word.
            $visibility fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the variant with a word.
            $visibility fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }

            /// Returns the variant with a word, ignoring case.
            $visibility fn from_any_case(word: &str) -> Option<Self> {
                let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
                Self::ALL.into_iter().find(same)
            }

            /// Returns the variant with a word, or a message that the word is not `what`.
            $visibility fn choose(word: &str, what: &str) -> std::result::Result<Self, String> {
                Self::from_word(word).ok_or_else(|| {
                    let words = Self::ALL.map(Self::as_str).join(", ");
                    format!("{word:?} is not {what}: choose from {words}")
                })
            }
        }
    };
}

pub(crate) use word_enum;
