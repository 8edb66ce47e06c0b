//! Writes and splits paths with forward slashes.

use std::path::Path;

/// Returns a relative path with `/` between its parts, on every system.
pub(crate) fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Returns the last part of a path that is separated by slashes.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_separated_by_slashes() {
        let path: std::path::PathBuf = ["docs", "a b", "x.md"].iter().collect();
        assert_eq!(slashed(&path), "docs/a b/x.md");
        assert_eq!(slashed(Path::new("")), "");
        assert_eq!(["docs/x.md", "x.md", "docs/"].map(file_name), ["x.md", "x.md", ""]);
    }
}
