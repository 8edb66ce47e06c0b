//! Checks which parts of PATTERNS.md are stale.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::error::Result;
use crate::git::Git;
use crate::patterns::staleness::check::DatedText;
use crate::patterns::staleness::removal;
use crate::patterns::staleness::report::{Freshness, Staleness};
use crate::patterns::staleness::structure::Structure;
use crate::patterns::{LoosePattern, Mention, PatternEntry, Patterns, mentions};

impl Staleness {
    /// Checks all of PATTERNS.md, in file order, entries first.
    pub fn check_patterns(patterns: &Patterns, root: &Path, git: &Git) -> Result<Self> {
        let entry_names: Vec<String> = patterns.entries.iter().map(PatternEntry::title).collect();
        let entries = patterns.entries.iter().zip(&entry_names);
        let mut texts: Vec<DatedText<'_>> =
            entries.map(|(entry, id)| from_entry(entry, id)).collect();
        texts.extend(patterns.loose.iter().map(from_loose));
        Self::check(&texts, root, git)
    }
}

impl Freshness {
    /// Returns why some of its bullets may be out of date, by their texts.
    ///
    /// A bullet is stale because of the paths that it mentions itself or the structure, not because of other
    /// bullets. A path whose removal it reports does not make it stale.
    pub(crate) fn reasons_of<'t>(
        &self,
        bullets: impl IntoIterator<Item = &'t str>,
    ) -> BTreeMap<String, String> {
        if !self.is_stale {
            return BTreeMap::new();
        }
        // By path as written, without a folder's trailing slash.
        let paths = self.paths.iter();
        let paths: HashMap<&str, String> =
            paths.filter_map(|report| Some((report.written.as_str(), report.reason()?))).collect();
        let structure = self.structure.as_ref().and_then(Structure::reason);
        let reason = |text: &str| {
            let removed = LazyCell::new(|| removal::removed_paths(text));
            let of_path = |mention: Mention| {
                let reason = paths.get(mention.path.as_str())?;
                (!removed.contains(&mention.path)).then(|| reason.clone())
            };
            let of_paths = mentions(text).into_iter().find_map(of_path);
            of_paths.or_else(|| structure.clone())
        };
        let bullets = bullets.into_iter();
        bullets.filter_map(|text| Some((text.to_owned(), reason(text)?))).collect()
    }
}

fn from_entry<'a>(entry: &'a PatternEntry, id: &'a str) -> DatedText<'a> {
    let trace = entry.trace.as_ref();
    DatedText {
        id,
        line: entry.line,
        text: &entry.text,
        commit: trace.and_then(|trace| trace.commit.as_deref()),
        date: entry.date,
    }
}

fn from_loose(loose: &LoosePattern) -> DatedText<'_> {
    DatedText {
        id: loose.section.as_deref().unwrap_or("PATTERNS.md"),
        line: loose.line,
        text: &loose.text,
        commit: None,
        date: None,
    }
}

#[cfg(test)]
mod tests {
    use assert_fs::prelude::*;

    use super::*;
    use crate::git::tests::Sandbox;

    const PATTERNS: &str = "# Patterns\n\n### Phase 1: Store (2026-01-05)\n\n**What worked:**\n\
        - Tests in `src/kept.rs` first (plan 01)\n\n**What failed:**\n- `src/gone.rs` grew (plan 02)\n\n\
        ### Phase 2: Web (2026-01-06)\n\n**What worked:**\n- Small plans (plan 01)\n\n## Notes\n\n- See `src/gone.rs`\n";

    fn with_a_removed_file() -> Sandbox {
        let sandbox = Sandbox::empty();
        for file in ["src/kept.rs", "src/gone.rs", "a", "b", "c"] {
            sandbox.0.child(file).write_str(file).unwrap();
        }
        sandbox.git(&["add", "-A"]);
        sandbox.commit_at("2026-01-05T09:00:00Z");
        sandbox.git(&["rm", "-q", "src/gone.rs"]);
        sandbox.commit_at("2026-01-08T09:00:00Z");
        sandbox
    }

    #[test]
    fn each_bullet_is_as_fresh_as_what_it_names() {
        let sandbox = with_a_removed_file();
        let patterns = Patterns::parse(PATTERNS, Path::new("PATTERNS.md")).value;
        let found =
            Staleness::check_patterns(&patterns, sandbox.0.path(), &sandbox.open_git()).unwrap();
        let stale: Vec<(&str, usize, bool)> = found
            .entries
            .iter()
            .map(|entry| (entry.id.as_str(), entry.line, entry.is_stale))
            .collect();
        assert_eq!(
            stale,
            [("Phase 1: Store", 3, true), ("Phase 2: Web", 11, false), ("Notes", 18, true),]
        );
        let bullets = ["Tests in `src/kept.rs` first (plan 01)", "`src/gone.rs` grew (plan 02)"];
        let reasons = found.entries[0].reasons_of(bullets);
        assert_eq!(reasons.len(), 1);
        let gone = &reasons[bullets[1]];
        assert!(gone.starts_with("`src/gone.rs` is gone since "), "{gone}");
        assert!(found.entries[1].reasons_of(["`src/gone.rs`"]).is_empty());
    }

    #[test]
    fn an_absolute_path_in_the_project_makes_its_bullet_stale() {
        let sandbox = with_a_removed_file();
        let git = sandbox.open_git();
        let root = git.top().unwrap();
        let text = PATTERNS.replace("`src/", &format!("`{}/src/", root.display()));
        let patterns = Patterns::parse(&text, Path::new("PATTERNS.md")).value;
        let found = Staleness::check_patterns(&patterns, root, &git).unwrap();
        assert_eq!(found.entries[0].reasons.len(), 1);
        let bullet = patterns.entries[0].failed[0].as_str();
        let worked = patterns.entries[0].worked[0].as_str();
        let reasons = found.entries[0].reasons_of([bullet, worked]);
        let gone = &reasons[bullet];
        assert!(gone.starts_with("`src/gone.rs` is gone since "), "{gone}");
        assert_eq!(reasons.len(), 1);
    }
}
