//! Whether a phase's folder and a phase of the roadmap are named alike: numbers move when a phase is taken out.

use std::collections::BTreeSet;

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

/// Returns in percent how many of a name's words a folder's name has.
pub(crate) fn shared(folder: &BTreeSet<String>, name: &str) -> usize {
    let wanted = words(name);
    let found = wanted.iter().filter(|word| folder.contains(*word)).count();
    (found * 100).checked_div(wanted.len()).unwrap_or(0)
}

/// Tells whether a folder is named as the roadmap names a phase of another number, and not as that of its own.
pub(crate) fn is_renumbered(roadmap: &Roadmap, folder: &str, number: &PhaseNumber) -> bool {
    let words = words(folder);
    let is_like = |name: &str| shared(&words, name) >= SAME_NAME;
    let names = roadmap.phases.iter();
    let mut names = names.filter_map(|phase| Some((&phase.number, phase.name.as_deref()?)));
    let has_own = names.clone().any(|(own, _)| own == number);
    let is_own = names
        .clone()
        .any(|(own, name)| own == number && is_like(name));
    has_own && !is_own && names.any(|(_, name)| is_like(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_folder_that_kept_its_number_is_of_the_phase_that_has_its_name() {
        let text =
            "## Phases\n- [ ] **Phase 2: Migrate the traces**\n- [ ] **Phase 3: Ensure metrics**\n";
        let roadmap = Roadmap::parse(text, Path::new("ROADMAP.md")).value;
        let is_other =
            |folder, number: u32| is_renumbered(&roadmap, folder, &PhaseNumber::from(number));
        assert!(is_other("02-ensure-metrics", 2));
        assert!(!is_other("03-ensure-metrics", 3));
        // Named as none of them, and so renamed.
        assert!(!is_other("02-something-else", 2));
        assert!(!is_other("04-ensure-metrics", 4));
    }
}
