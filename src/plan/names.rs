//! Compares the names of phases: a folder's with the roadmap's.

use std::collections::BTreeSet;

/// Returns the distinct words of a folder's or a phase's name.
fn words(name: &str) -> BTreeSet<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(char::is_alphabetic))
        .map(str::to_lowercase)
        .collect()
}

/// Returns the letters and digits of a name in lower case, to compare names despite other punctuation.
pub(crate) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns whether a folder's name and the roadmap's may be of the same phase: they have a word or its stem in common, or
/// cannot be compared.
pub(crate) fn may_be_same(folder: &str, planned: &str) -> bool {
    let (own, planned) = (words(folder), words(planned));
    let is_similar = |one: &str, other: &str| one == other || common_start(one, other) >= SAME_STEM;
    // Folders have ASCII names.
    let is_foreign = planned.iter().any(|word| !word.is_ascii());
    let is_same = |word: &String| own.iter().any(|own| is_similar(own, word));
    own.is_empty() || planned.is_empty() || is_foreign || planned.iter().any(is_same)
}

/// Returns the name of a phase that is over: the roadmap's, or the folder's if the two have no word in common.
///
/// Roadmaps that retell shipped milestones may give a number's name to other work than its folder contains.
pub(crate) fn name_of_past_phase<'a>(folder: &'a str, planned: Option<&'a str>) -> &'a str {
    planned.filter(|name| may_be_same(folder, name)).unwrap_or(folder)
}

/// Number of equal characters at the start of two forms of a word: `config`, `configuration`.
const SAME_STEM: usize = 4;

fn common_start(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}
