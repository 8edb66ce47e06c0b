//! Detects how a project numbers its phases, from config.json or its roadmap.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use crate::plan::read::phase_numbering::titled;
use crate::plan::read::{PhaseNumber, PhaseNumbering};
use crate::storage::read;

/// The value in GSD's config.json.
const MILESTONE_PREFIXED: &str = "milestone-prefixed";

impl PhaseNumbering {
    /// Detects the convention from the texts of config.json and ROADMAP.md.
    pub fn detect(config: Option<&str>, roadmap: Option<&str>) -> Self {
        if config.is_some_and(is_set) || roadmap.is_some_and(is_used) {
            Self::MilestonePrefixed
        } else if roadmap.is_some_and(has_codes) {
            Self::Coded
        } else {
            Self::Plain
        }
    }

    /// Detects the convention from these files; unreadable ones count as missing.
    pub(crate) fn read(config: &Path, roadmap: &Path) -> Self {
        let text = |path| read::text(path).ok().flatten().map(|text| text.value);
        Self::detect(text(config).as_deref(), text(roadmap).as_deref())
    }
}

fn is_set(config: &str) -> bool {
    let parsed = || serde_json::from_str::<Value>(config).ok();
    // Few projects set it.
    config.contains(MILESTONE_PREFIXED)
        && parsed().is_some_and(|config| config["phase_id_convention"] == MILESTONE_PREFIXED)
}

/// Returns whether a roadmap names its phases with a code: `Phase KIOSK-02`.
fn has_codes(roadmap: &str) -> bool {
    let mut titles =
        roadmap.match_indices("Phase ").map(|(at, title)| &roadmap[at + title.len()..]);
    titles.any(|title| {
        PhaseNumber::split_coded(title, true).is_some()
            && PhaseNumber::split_coded(title, false).is_none()
    })
}

/// Returns whether headings or checklist entries of a roadmap name phases by milestone: `### Phase 2-01: Name`. If the
/// number before the hyphen is a phase itself, they are its plans.
fn is_used(roadmap: &str) -> bool {
    const BOXES: &[&str] = &["- [ ] ", "- [x] ", "- [X] ", "* [ ] ", "* [x] ", "* [X] "];
    let (mut plain, mut prefixed) = (HashSet::new(), HashSet::new());
    let (mut is_code, mut is_section) = (false, false);
    for line in roadmap.lines().map(str::trim_start) {
        is_code ^= line.starts_with("```");
        let boxed = BOXES.iter().find_map(|start| line.strip_prefix(start));
        let title = boxed.unwrap_or(line).trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_heading = line.starts_with('#');
        let is_entry = is_heading || boxed.is_some() && !is_section;
        let number = title.strip_prefix("Phase ").and_then(PhaseNumber::split);
        if let Some(number) = titled(title).filter(|_| is_entry && !is_code) {
            prefixed.insert(number.whole());
        } else if let Some((number, _)) = number.filter(|_| is_entry || line.starts_with("- **")) {
            plain.insert(number.whole());
            is_section |= is_heading;
        }
    }
    prefixed.iter().any(|milestone| !plain.contains(milestone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_read_only_where_the_project_uses_it() {
        let set = r#"{"phase_id_convention": "milestone-prefixed"}"#;
        assert_eq!(PhaseNumbering::detect(Some(set), None), PhaseNumbering::MilestonePrefixed);
        for config in [
            "{}",
            "[1]",
            "not JSON",
            r#"{"phase_id_convention": null}"#,
            r#"{"phase_id_convention": "sequential"}"#,
        ] {
            assert_eq!(
                PhaseNumbering::detect(Some(config), None),
                PhaseNumbering::Plain,
                "{config}"
            );
        }
        for roadmap in [
            "# R\n### Phase 2-01: Name\n",
            "- [ ] **Phase 1-02: Name** - what\n",
            "  - [x] Phase 1-02: Name",
            "- v2.0\n  - [ ] **Phase 2-01: Name**\n",
            "---\na: 1\n---\n\n### Phase 2-01: Name\n\n### Phase 999.1: Backlog\n",
        ] {
            let found = PhaseNumbering::detect(None, Some(roadmap));
            assert_eq!(found, PhaseNumbering::MilestonePrefixed, "{roadmap}");
        }
        for roadmap in [
            "### Phase 1-4: all\n",
            "### Phase 01-03: all\n",
            "### Phase 8-10: all\n",
            "### Phases 2-01\n",
            "- **Phase 2-01:** a decision\n",
            "- [ ] 02-01: a plan\n",
            "Phase 2-01: a sentence\n",
            "- [",
            "```\n### Phase 2-01: an example\n```\n",
            // Plans of phase 2.
            "- [ ] **Phase 2: Parser**\n  - [ ] Phase 2-01: write it\n",
            "- [ ] Phase 2-01: write the parser\n\n### Phase 2: Parser\n",
            "### Phase 2: Parser\n\n#### Phase 2-01: Write it\n",
            "## Phases\n\n- **Phase 2: Parser** - all\n\n## Plans\n\n- [ ] Phase 2-01: write\n",
            "### Phase 3: Parser\n\n- [ ] Phase 2-01: first\n",
        ] {
            assert_eq!(
                PhaseNumbering::detect(None, Some(roadmap)),
                PhaseNumbering::Plain,
                "{roadmap}"
            );
        }
    }
}
