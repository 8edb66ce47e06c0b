//! Compares phase folders with roadmap phases by name, since numbers change when a phase is removed.

use std::collections::{BTreeSet, HashMap};

use crate::plan::{PhaseDir, PhaseNumber, Roadmap};

/// Minimum share of a roadmap phase's words that a folder's name must contain to match, in percent.
pub(crate) const SAME_NAME: usize = 60;

/// Returns the distinct words of a folder's or a phase's name.
pub(crate) fn words(name: &str) -> BTreeSet<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(char::is_alphabetic))
        .map(str::to_lowercase)
        .collect()
}

/// Returns the words of a name in order, as a folder's name joins them.
pub(crate) fn ordered_words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns the letters and digits of a name in lower case, to compare names despite other punctuation.
pub(crate) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the share of a name's words that a folder's name contains, in percent.
pub(crate) fn shared(folder: &BTreeSet<String>, name: &str) -> usize {
    let wanted = words(name);
    let found = wanted.iter().filter(|word| folder.contains(*word)).count();
    (found * 100).checked_div(wanted.len()).unwrap_or(0)
}

/// Returns the name of a phase that is over: the roadmap's, or the folder's if the two have no word in common.
///
/// Roadmaps that retell shipped milestones may give a number's name to other work than its folder contains.
pub(crate) fn name_of_past_phase<'a>(folder: &'a PhaseDir, planned: Option<&'a str>) -> &'a str {
    let own = words(&folder.name);
    let is_similar = |one: &str, other: &str| one == other || common_start(one, other) >= SAME_STEM;
    let fits_folder = |name: &&str| {
        let planned = words(name);
        // Folders have ASCII names.
        let is_foreign = planned.iter().any(|word| !word.is_ascii());
        let is_same = |word: &String| own.iter().any(|own| is_similar(own, word));
        own.is_empty() || planned.is_empty() || is_foreign || planned.iter().any(is_same)
    };
    planned.filter(fits_folder).unwrap_or(&folder.name)
}

/// Number of equal characters at the start of two forms of a word: `config`, `configuration`.
const SAME_STEM: usize = 4;

fn common_start(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// An index from words to names of phases, to find the names that match a folder.
pub(crate) struct NameIndex {
    /// Number of words of each name.
    lengths: Vec<usize>,
    /// The indices of the names that contain a word.
    with_word: HashMap<String, Vec<usize>>,
}

impl NameIndex {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut index = Self { lengths: Vec::new(), with_word: HashMap::new() };
        for (place, name) in names.enumerate() {
            let words = words(name);
            index.lengths.push(words.len());
            for word in words {
                index.with_word.entry(word).or_default().push(place);
            }
        }
        index
    }

    /// Returns the indices of the names that match a folder's words, in order.
    pub(crate) fn matching(&self, folder: &BTreeSet<String>) -> Vec<usize> {
        let mut shared = vec![0_usize; self.lengths.len()];
        let found = folder.iter().filter_map(|word| self.with_word.get(word));
        for place in found.flatten() {
            shared[*place] += 1;
        }
        let names = shared.iter().zip(&self.lengths).enumerate();
        let matches = names.filter(|(_, (shared, length))| {
            let percent = (**shared * 100).checked_div(**length);
            percent.is_some_and(|percent| percent >= SAME_NAME)
        });
        matches.map(|(place, _)| place).collect()
    }
}

/// Returns for each folder whether it belongs to a phase other than the one with its number in the roadmap.
///
/// It does if its name is that of another number, or if the name of its number is that of another folder.
pub(crate) fn are_renumbered(roadmap: &Roadmap, folders: &[PhaseDir]) -> Vec<bool> {
    let names = roadmap.phases.iter();
    let names = names.filter_map(|phase| Some((&phase.number, phase.name.as_deref()?)));
    let names: Vec<(&PhaseNumber, &str)> = names.collect();
    let index = NameIndex::new(names.iter().map(|(_, name)| *name));
    let mut own: HashMap<&PhaseNumber, Vec<usize>> = HashMap::new();
    for (place, (number, _)) in names.iter().enumerate() {
        own.entry(number).or_default().push(place);
    }
    let matching = |folder: &PhaseDir| index.matching(&words(&folder.dir_name()));
    let matches: Vec<Vec<usize>> = folders.iter().map(matching).collect();
    // For each name, the numbers of the folders that match it.
    let mut numbers: Vec<BTreeSet<&PhaseNumber>> = vec![BTreeSet::new(); names.len()];
    for (folder, matches) in folders.iter().zip(&matches) {
        for place in matches {
            numbers[*place].insert(&folder.number);
        }
    }
    let is_renumbered = |(folder, matches): (&PhaseDir, Vec<usize>)| {
        let Some(own) = own.get(&folder.number) else {
            return false;
        };
        let is_own = own.iter().any(|place| matches.binary_search(place).is_ok());
        let mut numbers = own.iter().flat_map(|place| &numbers[*place]);
        !is_own && (!matches.is_empty() || numbers.any(|number| **number != folder.number))
    };
    folders.iter().zip(matches).map(is_renumbered).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::plan::CheckFiles;

    #[test]
    fn a_folder_that_kept_its_number_is_of_the_phase_that_has_its_name() {
        let text =
            "## Phases\n- [ ] **Phase 2: Migrate the traces**\n- [ ] **Phase 3: Ensure metrics**\n";
        let roadmap = Roadmap::parse(text, Path::new("ROADMAP.md")).value;
        let is_other = |folders: &[&str]| {
            let folders: Vec<PhaseDir> = folders.iter().map(|name| folder(name)).collect();
            are_renumbered(&roadmap, &folders)[0]
        };
        assert!(is_other(&["02-ensure-metrics"]));
        assert!(!is_other(&["03-ensure-metrics"]));
        // A folder that matches no name was only renamed.
        assert!(!is_other(&["02-something-else"]));
        assert!(!is_other(&["04-ensure-metrics"]));
        // Another folder has the name of its phase.
        assert!(is_other(&["03-something-else", "02-ensure-metrics"]));
    }

    #[test]
    fn a_past_phase_is_named_by_its_folder_if_the_roadmap_means_another() {
        let folder = folder("02-harbour-removal");
        for (planned, expected) in [
            (Some("Remove the Harbour"), "Remove the Harbour"),
            (Some("Harbours"), "Harbours"),
            (Some("Dependencies"), folder.name.as_str()),
            (
                Some("\u{423}\u{434}\u{430}\u{43b}\u{435}\u{43d}\u{438}\u{435}"),
                "\u{423}\u{434}\u{430}\u{43b}\u{435}\u{43d}\u{438}\u{435}",
            ),
            (None, folder.name.as_str()),
        ] {
            assert_eq!(name_of_past_phase(&folder, planned), expected);
        }
    }

    #[test]
    fn a_thousand_folders_of_other_names_keep_their_numbers() {
        let lines = (1..=1000).map(|at| format!("- [ ] **Phase {at}: Topic of number{at}**\n"));
        let text = format!("## Phases\n{}", lines.collect::<String>());
        let roadmap = Roadmap::parse(&text, Path::new("ROADMAP.md")).value;
        let folders = (1..=1000).map(|at| folder(&format!("{at:04}-apart{at}")));
        let folders: Vec<PhaseDir> = folders.collect();
        assert_eq!(are_renumbered(&roadmap, &folders), [false; 1000]);
    }

    fn folder(name: &str) -> PhaseDir {
        let (number, rest) = PhaseNumber::split(name).unwrap();
        PhaseDir {
            dir: PathBuf::from(name),
            number,
            name: rest.to_owned(),
            plans: Vec::new(),
            has_context: false,
            checks: CheckFiles::default(),
            has_files: false,
        }
    }
}
