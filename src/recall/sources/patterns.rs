//! Reads the lessons from finished phases: PATTERNS.md in each planning folder.

use std::path::{Path, PathBuf};

use crate::patterns;
use crate::project::Project;
use crate::recall::markdown_file::{Authority, passages};
use crate::recall::sources::{Source, SourceName, plan};
use crate::search::index::Passage;

/// Returns whether a line of an entry has only unknown values: `Effort: unknown`, or
/// `Plans: 3, Average: unknown, Total: unknown`, whose count is also visible from the entry's plans.
fn is_unknown(text: &str) -> bool {
    let mut fields = text.split(['\n', ',']).map(|field| {
        let field = field.trim().trim_start_matches("- ");
        field.split_once(':').unwrap_or(("", field))
    });
    let is_known = |(name, value): (&str, &str)| {
        let value = value.trim().trim_matches(['*', '_']).trim();
        !value.eq_ignore_ascii_case("unknown") && name.trim_matches(['*', '_']) != "Plans"
    };
    text.contains("unknown") && !fields.any(is_known)
}

/// PATTERNS.md.
pub(crate) struct Patterns;

impl Source for Patterns {
    fn name(&self) -> SourceName {
        SourceName::Patterns
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let folders = plan::folders(project);
        folders.iter().map(|folder| patterns::path(folder)).collect()
    }

    fn passages(&self, text: &str, path: &Path) -> Vec<Passage> {
        let mut passages = passages(text, path, Authority::Canonical);
        passages.retain(|passage| !is_unknown(&passage.text));
        passages
    }

    /// Returns the file of the active planning folder only.
    fn files_to_check_for_secrets(&self, project: &Project) -> Vec<PathBuf> {
        vec![patterns::path(&project.planning_place().dir)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_not_found() {
        let text = "# Patterns\n\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- `a.rs` is unknown to git\n\n**Timing:**\n- Plans: 3, Average: unknown, Total: unknown\n- Effort: unknown\n\n**Deviations:** unknown\n\n### Phase 2: B (2026-01-02)\n\n**Timing:**\n- Plans: 2, Average: unknown, Total: 9m\n- Effort: balanced\n\n**Deviations:** 0\n";
        let found = Patterns.passages(text, Path::new("PATTERNS.md"));
        let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "`a.rs` is unknown to git",
                "Plans: 2, Average: unknown, Total: 9m",
                "Effort: balanced",
                "**Deviations:** 0"
            ]
        );
    }
}
