//! Determines which of the found patterns are outdated.

use std::collections::HashSet;

use rusqlite::Result;

use crate::patterns;
use crate::patterns::{Patterns, StaleReasons};
use crate::project::Project;
use crate::recall::index::Index;
use crate::recall::search::Scan;
use crate::recall::sources::SourceName;
use crate::storage::read;
use crate::warning::Parsed;

/// Indexes of the units that refer to something that no longer exists.
#[derive(Default)]
pub(crate) struct Staleness(HashSet<usize>);

impl Staleness {
    /// Returns whether a text is outdated.
    pub(crate) fn contains(&self, unit: usize) -> bool {
        self.0.contains(&unit)
    }

    /// Looks up each searched pattern in the cached result of the staleness check, or runs the check.
    pub(crate) fn check(project: &Project, index: &Index, scan: &Scan) -> Result<Parsed<Self>> {
        let mut stale = Self::default();
        let mut warnings = Vec::new();
        let path = patterns::path(&project.planning_place().dir);
        let name = project.relative(&path).to_string_lossy();
        let units: Vec<usize> = (0..scan.units.len())
            .filter(|unit| scan.units[*unit].source == SourceName::Patterns)
            .filter(|unit| scan.location(*unit).0 == name)
            .collect();
        if units.is_empty() {
            return Ok(Parsed::clean(stale));
        }
        let Ok(Some(text)) = read::text(&path) else {
            return Ok(Parsed::clean(stale));
        };
        let patterns = Patterns::parse(&text.value, &path).value;
        let reasons = StaleReasons::cached_or_checked(project, &patterns, &mut warnings);
        for unit in units {
            let line = scan.location(unit).1;
            let text = index.text(scan.units[unit].id)?.body;
            if reasons.about(reason_line(&patterns, line), &on_one_line(&text)).is_some() {
                stale.0.insert(unit);
            }
        }
        Ok(Parsed::new(stale, warnings))
    }
}

/// Returns the line by which the reasons for a bullet are found: the line of its entry's heading, or its own.
fn reason_line(patterns: &Patterns, line: usize) -> usize {
    if patterns.loose.iter().any(|loose| loose.line == line) {
        return line;
    }
    let before = patterns.entries.iter().map(|entry| entry.line);
    before.filter(|start| *start <= line).max().unwrap_or(line)
}

fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}
