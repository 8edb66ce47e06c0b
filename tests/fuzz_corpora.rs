//! The corpora of the fuzz targets, replayed: what a target found once stays mended.

#[path = "../fuzz/src/lib.rs"]
#[allow(
    unreachable_pub,
    reason = "the fuzz targets are another crate, which this file is the library of"
)]
mod entries;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::fuzz_corpora::entries::TARGETS;

fn names(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).unwrap();
    files
        .map(|file| {
            let path = file.unwrap().path();
            path.file_stem().unwrap().to_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn every_corpus_runs_through_its_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for (name, target) in TARGETS {
        let folder = fuzz.join("corpus").join(name);
        let files = fs::read_dir(&folder).unwrap();
        let inputs: Vec<_> = files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for input in inputs {
            target(&input);
            // A file may end anywhere: a writer was killed, a disk was full.
            let step = input.len() / 64 + 1;
            (0..input.len()).step_by(step).for_each(|end| target(&input[..end]));
        }
    }
}

#[test]
fn every_target_has_its_program_and_its_corpus() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz.join("fuzz_targets")), known);
    assert_eq!(names(&fuzz.join("corpus")), known);
    for document in ["hook_input", "mcp_call", "settings_json", "settings_toml"] {
        assert!(known.contains(document), "{document}");
    }
    assert!(fuzz.join("Cargo.lock").is_file() && fuzz.join("README.md").is_file());
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in known {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
