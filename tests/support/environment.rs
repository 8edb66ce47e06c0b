//! The environment of a test's processes: the same on every machine, and independent of the developer's.

use std::path::Path;

/// The current time in every run.
pub(crate) const NOW: &str = "2026-03-01T12:00:00Z";

/// Inherited variables: where to find programs, and where to write coverage.
const INHERITED: &[&str] = &["PATH", "LLVM_PROFILE_FILE"];

/// Returns all environment variables of a test's process.
pub(super) fn variables(home: &Path) -> Vec<(String, String)> {
    let home = home.to_str().unwrap();
    let mut all: Vec<(String, String)> = INHERITED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    let own = [
        ("HOME", home.to_owned()),
        ("XDG_CONFIG_HOME", format!("{home}/.config")),
        ("XDG_DATA_HOME", format!("{home}/.local/share")),
        ("XDG_STATE_HOME", format!("{home}/.local/state")),
        ("XDG_CACHE_HOME", format!("{home}/.cache")),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("COLUMNS", "80".to_owned()),
        ("ANNALS_NOW", NOW.to_owned()),
        // Reads what the search has read, and takes longer than all else in an unoptimised build.
        ("ANNALS_ENCODER", "false".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        // A repository that contains the temporary folder must not be detected.
        ("GIT_CEILING_DIRECTORIES", parent(home)),
        ("GIT_AUTHOR_NAME", "Test Author".to_owned()),
        ("GIT_AUTHOR_EMAIL", "author@example.org".to_owned()),
        ("GIT_AUTHOR_DATE", NOW.to_owned()),
        ("GIT_COMMITTER_NAME", "Test Committer".to_owned()),
        ("GIT_COMMITTER_EMAIL", "committer@example.org".to_owned()),
        ("GIT_COMMITTER_DATE", NOW.to_owned()),
    ];
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all
}

fn parent(home: &str) -> String {
    let folder = Path::new(home).parent().unwrap();
    folder.to_str().unwrap().to_owned()
}
