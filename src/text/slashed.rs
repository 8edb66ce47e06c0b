//! Writes paths with forward slashes.

use std::path::Path;

/// Returns a relative path with `/` between its parts, on every system.
pub(crate) fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_separated_by_slashes() {
        let path: std::path::PathBuf = ["docs", "a b", "x.md"].iter().collect();
        assert_eq!(slashed(&path), "docs/a b/x.md");
        assert_eq!(slashed(Path::new("")), "");
    }
}
