//! Whether a phase's folder and a phase of the roadmap are named alike: numbers move when a phase is taken out.

use std::collections::BTreeSet;

use crate::planning::PhaseDir;
use crate::planning::PhaseNumber;
use crate::planning::Roadmap;

/// A folder has at least this share of a listed phase's words, in percent, if it is of the same name.
pub(crate) const SAME_NAME: usize = 60;

/// Returns the words of a folder's or a phase's name.
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

/// Returns in percent how many of a name's words a folder's name has.
pub(crate) fn shared(folder: &BTreeSet<String>, name: &str) -> usize {
    let wanted = words(name);
    let found = wanted.iter().filter(|word| folder.contains(*word)).count();
    (found * 100).checked_div(wanted.len()).unwrap_or(0)
}

/// Returns whether a folder is another phase's than that of its number in the roadmap.
///
/// It is where its name is that of another number, or where the name of its own number is that of another folder.
pub(crate) fn is_renumbered(roadmap: &Roadmap, folders: &[PhaseDir], folder: &PhaseDir) -> bool {
    let bears =
        |folder: &PhaseDir, name: &str| shared(&words(&folder.dir_name()), name) >= SAME_NAME;
    let names = roadmap.phases.iter();
    let names: Vec<(&PhaseNumber, &str)> = names
        .filter_map(|phase| Some((&phase.number, phase.name.as_deref()?)))
        .collect();
    let own = || names.iter().filter(|(number, _)| *number == &folder.number);
    let is_own = own().any(|(_, name)| bears(folder, name));
    let is_anothers = || {
        let others = folders.iter().filter(|other| other.number != folder.number);
        let mut others = others.filter(|other| own().any(|(_, name)| bears(other, name)));
        others.next().is_some()
    };
    own().next().is_some()
        && !is_own
        && (names.iter().any(|(_, name)| bears(folder, name)) || is_anothers())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_folder_that_kept_its_number_is_of_the_phase_that_has_its_name() {
        let text =
            "## Phases\n- [ ] **Phase 2: Migrate the traces**\n- [ ] **Phase 3: Ensure metrics**\n";
        let roadmap = Roadmap::parse(text, Path::new("ROADMAP.md")).value;
        let is_other = |folders: &[&str]| {
            let folders: Vec<PhaseDir> = folders.iter().map(|name| folder(name)).collect();
            is_renumbered(&roadmap, &folders, &folders[0])
        };
        assert!(is_other(&["02-ensure-metrics"]));
        assert!(!is_other(&["03-ensure-metrics"]));
        // Named as none of them, and so renamed.
        assert!(!is_other(&["02-something-else"]));
        assert!(!is_other(&["04-ensure-metrics"]));
        // The phase of its number is in another folder.
        assert!(is_other(&["03-something-else", "02-ensure-metrics"]));
    }

    fn folder(name: &str) -> PhaseDir {
        let (number, rest) = PhaseNumber::split(name).unwrap();
        PhaseDir {
            dir: PathBuf::from(name),
            number,
            name: rest.to_owned(),
            plans: Vec::new(),
            has_context: false,
            checks: Vec::new(),
            has_files: false,
        }
    }
}
