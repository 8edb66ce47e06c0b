//! Checks which parts of PATTERNS.md are stale.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::Path;

use crate::error::Result;
use crate::git::Git;
use crate::patterns::LoosePattern;
use crate::patterns::Mention;
use crate::patterns::PatternEntry;
use crate::patterns::Patterns;
use crate::patterns::mentions;
use crate::patterns::staleness::check::DatedText;
use crate::patterns::staleness::removal;
use crate::patterns::staleness::report::Freshness;
use crate::patterns::staleness::report::PathReport;
use crate::patterns::staleness::report::Staleness;
use crate::patterns::staleness::structure::Structure;

impl Staleness {
    /// Checks all of PATTERNS.md, in file order, entries first.
    pub fn of_patterns(patterns: &Patterns, root: &Path, git: &Git) -> Result<Self> {
        let entry_names: Vec<String> = patterns.entries.iter().map(PatternEntry::title).collect();
        let entries = patterns.entries.iter().zip(&entry_names);
        let mut texts: Vec<DatedText<'_>> =
            entries.map(|(entry, id)| of_entry(entry, id)).collect();
        texts.extend(patterns.loose.iter().map(of_loose));
        Self::check(&texts, root, git)
    }

    /// Returns the reasons why texts are stale, for looking up individual bullets.
    pub(crate) fn reasons(&self) -> Reasons<'_> {
        let stale = self.entries.iter().filter(|entry| entry.is_stale);
        let by_line = stale.map(|entry| (entry.line, OfEntry::new(entry)));
        Reasons(by_line.collect())
    }
}

/// The reasons why texts are stale, by the line of their headings.
pub(crate) struct Reasons<'a>(HashMap<usize, OfEntry<'a>>);

struct OfEntry<'a> {
    /// Reasons by path as written, without a folder's trailing slash.
    paths: HashMap<&'a str, String>,
    structure: Option<String>,
}

impl<'a> OfEntry<'a> {
    fn new(entry: &'a Freshness) -> Self {
        let path = |report: &'a PathReport| {
            let reason = report.reason()?;
            Some((report.written.as_str(), reason))
        };
        Self {
            paths: entry.paths.iter().filter_map(path).collect(),
            structure: entry.structure.as_ref().and_then(Structure::reason),
        }
    }
}

impl Reasons<'_> {
    /// Returns why a pattern may be out of date; `None` if it is fresh.
    ///
    /// `line` is the line of the entry's heading, `text` one of its bullets: a bullet is stale because of the
    /// paths that it mentions itself or the structure, not because of other bullets. A path whose removal it
    /// reports does not make it stale.
    pub(crate) fn about(&self, line: usize, text: &str) -> Option<String> {
        let entry = self.0.get(&line)?;
        let removed = LazyCell::new(|| removal::removed_paths(text));
        let of_path = |mention: Mention| {
            let reason = entry.paths.get(mention.path.as_str())?;
            (!removed.contains(&mention.path)).then(|| reason.clone())
        };
        let of_paths = mentions(text).into_iter().find_map(of_path);
        of_paths.or_else(|| entry.structure.clone())
    }
}

fn of_entry<'a>(entry: &'a PatternEntry, id: &'a str) -> DatedText<'a> {
    let trace = entry.trace.as_ref();
    DatedText {
        id,
        line: entry.line,
        text: &entry.text,
        commit: trace.and_then(|trace| trace.commit.as_deref()),
        date: entry.date,
    }
}

fn of_loose(loose: &LoosePattern) -> DatedText<'_> {
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
            Staleness::of_patterns(&patterns, sandbox.0.path(), &sandbox.open_git()).unwrap();
        let stale: Vec<(&str, usize, bool)> = found
            .entries
            .iter()
            .map(|entry| (entry.id.as_str(), entry.line, entry.is_stale))
            .collect();
        assert_eq!(
            stale,
            [
                ("Phase 1: Store", 3, true),
                ("Phase 2: Web", 11, false),
                ("Notes", 18, true),
            ]
        );
        let reasons = found.reasons();
        let reason = |line, text| reasons.about(line, text);
        assert_eq!(reason(3, "Tests in `src/kept.rs` first (plan 01)"), None);
        let gone = reason(3, "`src/gone.rs` grew (plan 02)").unwrap();
        assert!(gone.starts_with("`src/gone.rs` is gone since "), "{gone}");
        assert_eq!(reason(99, "`src/gone.rs`"), None);
    }

    #[test]
    fn an_absolute_path_in_the_project_makes_its_bullet_stale() {
        let sandbox = with_a_removed_file();
        let git = sandbox.open_git();
        let root = git.top().unwrap();
        let text = PATTERNS.replace("`src/", &format!("`{}/src/", root.display()));
        let patterns = Patterns::parse(&text, Path::new("PATTERNS.md")).value;
        let found = Staleness::of_patterns(&patterns, root, &git).unwrap();
        assert_eq!(found.entries[0].reasons.len(), 1);
        let bullet = patterns.entries[0].failed[0].as_str();
        let gone = found.reasons().about(3, bullet).unwrap();
        assert!(gone.starts_with("`src/gone.rs` is gone since "), "{gone}");
        assert_eq!(
            found.reasons().about(3, &patterns.entries[0].worked[0]),
            None
        );
    }
}
