//! Enums each of whose variants is one word, in files, in JSON and on the command line alike.

/// Defines an enum by its variants and their words; it derives at least `Clone`, `Copy` and `Serialize`.
///
/// The word of a variant stands beside it and nowhere else: serde writes it, `as_str` returns it, and
/// `from_word`, `from_any_case` and `choose` find the variant by it. `ALL` has the variants in their order.
macro_rules! word_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)+
        }

        // Not every enum needs all of these.
        #[allow(dead_code)]
        impl $name {
            /// Every variant, in order.
            $visibility const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the word for it.
            $visibility fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the variant with a word.
            $visibility fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }

            /// Returns the variant with a word, whatever its case.
            $visibility fn from_any_case(word: &str) -> Option<Self> {
                let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
                Self::ALL.into_iter().find(same)
            }

            /// Returns the variant with a word; else what to say of one that is not `what`.
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
