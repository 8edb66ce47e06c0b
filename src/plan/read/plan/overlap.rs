//! Checks that plans of the same wave do not change the same files.

use std::collections::BTreeMap;

use crate::plan::read::Plan;
use crate::warning::Warning;

/// Returns a warning for each plan that changes the same files as an earlier plan of its wave.
pub fn check_overlap(plans: &[Plan]) -> Vec<Warning> {
    let mut owners: BTreeMap<(u32, &str), &Plan> = BTreeMap::new();
    let mut warnings = Vec::new();
    for plan in plans {
        let Some(wave) = plan.wave else {
            continue;
        };
        let mut shared: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in plan.files_modified.iter().flatten() {
            let owner = owners.entry((wave, file)).or_insert(plan);
            if owner.file != plan.file {
                let name = owner.plan.as_deref().unwrap_or("another");
                shared.entry(name).or_default().push(file);
            }
        }
        for (owner, files) in shared {
            let files = files.join(", ");
            let message = format!("changes the same files as plan {owner} in wave {wave}: {files}");
            warnings.push(Warning::file(&plan.file, message));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn plan(number: &str, wave: Option<u32>, files: &[&str]) -> Plan {
        Plan {
            plan: Some(number.to_owned()),
            wave,
            files_modified: Some(files.iter().map(|file| (*file).to_owned()).collect()),
            file: PathBuf::from(format!("{number}-PLAN.md")),
            ..Plan::default()
        }
    }

    #[test]
    fn files_of_one_wave_belong_to_one_plan() {
        let plans = [
            plan("01", Some(1), &["a.rs", "b.rs", "b.rs"]),
            plan("02", Some(1), &["c.rs", "b.rs", "a.rs"]),
            plan("03", Some(2), &["a.rs"]),
            plan("04", None, &["a.rs"]),
            plan("05", Some(1), &[]),
        ];
        let found: Vec<String> = check_overlap(&plans).iter().map(Warning::to_string).collect();
        assert_eq!(found, ["02-PLAN.md: changes the same files as plan 01 in wave 1: b.rs, a.rs"]);
    }
}
