//! The cache is always up to date, and its problems never fail a search.

use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;

use crate::cli::VBW;
use crate::recall::{hits, places};
use crate::support::Case;

const INDEX: &str = ".annals/index.db";

/// Returns the results of a search without a cache.
fn uncached(case: &Case, query: &str) -> Value {
    let dry = case.run("recall --json --limit 50 --no-encoder --dry-run").args([query]);
    dry.success().json()["hits"].clone()
}

/// Asserts that the cache gives the same answers as a new one.
fn assert_current(case: &Case, query: &str) {
    assert_eq!(hits(case, query), uncached(case, query), "{query}");
}

fn notes() -> Case {
    let case = Case::empty();
    case.write(".planning/PROJECT.md", "# P\n\n- red apples\n- green pears\n");
    case.write(".planning/STATE.md", "# S\n\n- apples are ripe\n");
    case
}

#[test]
fn a_second_run_answers_the_same_and_writes_nothing() {
    let case = Case::new(VBW);
    let first = hits(&case, "file locking");
    assert!(first.as_array().unwrap().len() > 3);
    let before = case.whole_tree();
    assert_eq!(hits(&case, "file locking"), first);
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn changed_new_deleted_and_renamed_files_are_seen_at_once() {
    let case = notes();
    assert_eq!(places(&case, "apples").len(), 2);
    case.write(".planning/PROJECT.md", "# P\n\n- new first\n- red apples\n- green plums\n");
    assert_eq!(places(&case, "red apples")[0], ".planning/PROJECT.md:4");
    assert_current(&case, "apples");
    assert_current(&case, "plums");
    assert!(!hits(&case, "pears").to_string().contains("pears"));
    case.write(".planning/phases/01-a/01-CONTEXT.md", "# C\n\n- yellow quinces\n");
    assert_eq!(places(&case, "quinces")[0], ".planning/phases/01-a/01-CONTEXT.md:3");
    fs::remove_file(case.root().join(".planning/STATE.md")).unwrap();
    assert!(!hits(&case, "ripe").to_string().contains("ripe"));
    let phases = case.root().join(".planning/phases");
    fs::rename(phases.join("01-a"), phases.join("02-b")).unwrap();
    assert_eq!(places(&case, "quinces")[0], ".planning/phases/02-b/01-CONTEXT.md:3");
    assert_current(&case, "quinces");
}

#[test]
fn a_file_of_equal_size_and_time_is_still_seen_to_have_changed() {
    let case = notes();
    let path = case.root().join(".planning/STATE.md");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(places(&case, "ripe")[0], ".planning/STATE.md:3");
    case.write(".planning/STATE.md", "# S\n\n- apples are sour\n");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(hits(&case, "sour")[0]["snippet"], "apples are sour");
}

#[test]
fn a_touched_file_is_not_indexed_again() {
    let case = notes();
    let first = hits(&case, "apples");
    let file =
        fs::File::options().write(true).open(case.root().join(".planning/STATE.md")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
    assert_eq!(hits(&case, "apples"), first);
    assert_current(&case, "apples");
}

#[test]
fn the_same_text_in_an_archive_is_found_once_with_its_copy() {
    let case = notes();
    let text = "# Shipped\n\n- a rare walrus\n";
    case.write(".planning/milestones/v1/STATE.md", text);
    case.write(".planning/old/STATE.md", text);
    let found = hits(&case, "walrus");
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["file"], ".planning/old/STATE.md");
    assert_eq!(found[0]["copies"][0], ".planning/milestones/v1/STATE.md:3");
}

#[test]
fn a_damaged_foreign_or_missing_cache_is_built_anew() {
    let case = Case::new(VBW);
    let first = hits(&case, "file locking");
    let good = case.read(INDEX).unwrap();
    let half = good[..good.len() / 2].to_vec();
    let mut holed = good.clone();
    holed[4096..].chunks_mut(4096).step_by(2).for_each(|page| page.fill(0xa5));
    let foreign = {
        let other = Case::new(VBW);
        hits(&other, "file locking");
        other.read(INDEX).unwrap()
    };
    for bytes in [vec![], b"no database".to_vec(), vec![0; 100_000], half, holed, foreign] {
        case.write(INDEX, bytes);
        assert_eq!(hits(&case, "file locking"), first);
        assert_eq!(hits(&case, "file locking"), first);
    }
    fs::remove_dir_all(case.root().join(".annals")).unwrap();
    assert_eq!(hits(&case, "file locking"), first);
    assert!(case.read(INDEX).is_some());
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_cache_is_not_followed() {
    let case = notes();
    let elsewhere = case.home().join("precious");
    fs::write(&elsewhere, "mine").unwrap();
    fs::create_dir(case.root().join(".annals")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, case.root().join(INDEX)).unwrap();
    assert_eq!(places(&case, "apples").len(), 2);
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
}

#[test]
fn without_a_cache_the_answer_is_the_same() {
    let case = Case::new(VBW);
    let dry = uncached(&case, "file locking");
    assert!(!case.root().join(".annals").exists(), "a dry run writes nothing");
    // As in a read-only project, the folder cannot be created.
    case.write(".annals", "in the way");
    assert_eq!(hits(&case, "file locking"), dry);
    assert_eq!(case.read(".annals").unwrap(), b"in the way");
}

#[test]
fn eight_concurrent_searches_all_get_their_answer() {
    let case = Case::new(VBW);
    let expected = uncached(&case, "file locking");
    for round in 0..3 {
        thread::scope(|scope| {
            let runs: Vec<_> =
                (0..8).map(|_| scope.spawn(|| hits(&case, "file locking"))).collect();
            for run in runs {
                assert_eq!(run.join().unwrap(), expected);
            }
        });
        match round {
            0 => drop(case.write(INDEX, "damaged")),
            _ => fs::remove_file(case.root().join(INDEX)).unwrap(),
        }
    }
}

#[test]
fn a_killed_process_leaves_the_cache_usable() {
    let case = Case::new(VBW);
    let expected = uncached(&case, "file locking");
    for pause in [1_u64, 3, 6, 10, 15, 25, 40, 60] {
        fs::remove_file(case.root().join(INDEX)).ok();
        // The time limit kills the run at an arbitrary point.
        let killed =
            case.run("recall").args(["file locking"]).within(Duration::from_millis(pause)).output();
        assert!(killed.crash().is_none() || killed.exit_code().is_none());
        assert_eq!(hits(&case, "file locking"), expected, "killed after {pause} ms");
    }
}

#[test]
fn the_cache_is_closed_to_git_and_to_others() {
    let case = notes();
    places(&case, "apples");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = fs::metadata(case.root().join(INDEX)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(case.read(".annals/.gitignore").unwrap(), b"*\n");
}

#[test]
fn a_folder_without_memory_is_left_as_it_is() {
    let case = Case::empty();
    case.write("README.md", "# Hello\n\nHello.\n");
    let before = case.whole_tree();
    case.run("recall hello").success();
    assert_eq!(case.whole_tree(), before);
}
