//! Audits the knowledge entries, their index and the notepad.

use std::path::Path;

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::notepad::LIMIT;
use crate::knowledge::{KnowledgeDir, notepad};
use crate::project::Project;
use crate::storage::read;
use crate::warning::{SourceLocation, Warning};

const STORE: &str = "entries";

/// The command that rebuilds the index, prunes the notepad, and lists the other problems.
const FIX: &str = "annals entry audit";

/// Runs the entries' own audit as a dry run, so that nothing is pruned or rebuilt.
pub(crate) fn audit(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let store = KnowledgeDir::in_project(project);
    if !read::is_folder(&store.memory()) && !read::exists(&store.notepad()) {
        return Ok(Vec::new());
    }
    let found = knowledge::audit(&project.dry_run(true))?;
    let priority = notepad::priority_characters(project)?;
    let at = |path: &Path, line: Option<usize>, message: &str| {
        Detail::at(SourceLocation::new(project.relative(path), line), message)
    };
    let entry = |key: &str, message: &str| at(&store.entry(key), None, message);
    let all = |keys: &[String], message: &str| -> Vec<Detail> {
        keys.iter().map(|key| entry(key, message)).collect()
    };
    let once = |is_found: bool, path: &Path, message: &str| -> Vec<Detail> {
        is_found.then(|| at(path, None, message)).into_iter().collect()
    };
    let pruned = found.pruned_working;
    let old_lines =
        once(pruned > 0, &store.notepad(), "has lines of Working Memory over seven days old");
    let too_long = format!("has {priority} characters of Priority Context, {LIMIT} are allowed");
    let invalid = found.invalid.iter();
    let invalid = invalid.map(|one| at(&one.file, one.line, &one.problem));
    let guesses =
        all(&found.stale_low_confidence, "is a guess that has not been reviewed for 30 days");
    let old = all(&found.stale, "has not been reviewed for 180 days");
    let duplicates = found.duplicates.iter().map(|pair| {
        entry(&pair.a, &format!("is a near-duplicate of {} ({})", pair.b, pair.reason))
    });
    let broken = found.broken_links.iter().map(|link| {
        let message = format!("links to {}, which does not exist", link.to);
        at(&store.entry(&link.from), Some(link.line), &message)
    });
    let inbound = all(
        &found.superseded_with_active_inbound,
        "is superseded, but an active entry links to it",
    );
    let checks = [
        (
            "priority",
            once(priority > LIMIT, &store.notepad(), &too_long),
            "remove something by hand, or write an entry: annals entry write",
        ),
        ("index", once(found.index_rebuilt, &store.index(), "does not match the entries"), FIX),
        ("format", invalid.collect(), "edit the file by hand"),
        ("age", [guesses, old].concat(), "annals entry write --key KEY, once it is reviewed"),
        ("duplicates", duplicates.collect(), "annals entry supersede --old KEY --new KEY"),
        ("links", broken.chain(inbound).collect(), "edit the linking entry: annals entry write"),
        ("size", all(&found.oversized, "has more than 500 lines"), "split it: annals entry write"),
    ];
    let mut rows = vec![AuditRow::counted(STORE, "notepad", pruned, old_lines, FIX)];
    rows.extend(checks.map(|(check, found, fix)| AuditRow::new(STORE, check, found, fix)));
    warnings.extend(found.warnings);
    Ok(rows)
}
