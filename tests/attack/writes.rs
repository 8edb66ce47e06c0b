//! What a repository plants where annals writes leads nowhere.

use std::path::Path;

use crate::attack::Form;
use crate::attack::HOOKS;
use crate::attack::Hostile;
use crate::attack::WRITES;
use crate::attack::Way;
use crate::attack::tool_calls;
use crate::support::on_two_threads;

/// Where people's text stands that annals writes.
const STORES: &[&str] = &[
    ".vbw-planning",
    ".vbw-planning/STATE.md",
    ".vbw-planning/ROADMAP.md",
    ".vbw-planning/PROJECT.md",
    ".vbw-planning/RESUME.md",
    ".vbw-planning/ACTIVE",
    ".vbw-planning/patterns",
    ".vbw-planning/patterns/PATTERNS.md",
    ".vbw-planning/milestones",
    ".vbw-planning/phases",
    ".vibekit",
    ".vibekit/notepad.md",
    ".vibekit/memory",
    ".vibekit/memory/first.md",
    ".vibekit/memory/INDEX.md",
    "docs/memory",
    "docs/memory/STATE.md",
    "docs/memory/CONSTRAINTS.md",
    "docs/memory/DECISIONS.md",
    "CLAUDE.md",
    ".claude",
    ".claude/settings.json",
    ".mcp.json",
    ".codex",
    ".codex/config.toml",
    ".gemini/settings.json",
    "opencode.json",
    ".opencode",
    ".gitattributes",
    "report.html",
    "exported",
    "ours.md",
];

/// Plants links in these places, some in each of several projects, and runs every way in that writes.
pub(crate) fn nothing_is_written_through(places: &[&str]) {
    let ways: Vec<Way> = [WRITES, HOOKS].into_iter().flat_map(Way::all).collect();
    let rounds: Vec<usize> = (0..2 * Form::ALL.len()).collect();
    on_two_threads(&rounds, |round| {
        let form = Form::ALL[round % Form::ALL.len()];
        let hostile = Hostile::new();
        let mut planted: Vec<&str> = Vec::new();
        for place in places.iter().skip(*round).step_by(rounds.len()) {
            let is_below = |above: &&str| Path::new(place).starts_with(above);
            if !planted.iter().any(is_below) {
                hostile.link(place, form);
                planted.push(place);
            }
        }
        for way in ways.iter().chain([&tool_calls()]) {
            let ended = hostile.run(way).output();
            let changed = hostile.changed_outside();
            let report = ended.report();
            assert!(
                changed.is_empty(),
                "{planted:?}, {form:?}: {changed:?}\n{report}"
            );
        }
    });
}

#[test]
fn links_in_place_of_stores_are_not_written_through() {
    nothing_is_written_through(STORES);
}
