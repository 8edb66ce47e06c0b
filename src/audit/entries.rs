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
    let place = |path: &Path, line| SourceLocation::new(project.relative(path), line);
    let entry = |key: &str, line: Option<usize>, message: &str| {
        Detail::at(place(&store.entry(key), line), message)
    };
    let all = |keys: &[String], message: &str| -> Vec<Detail> {
        keys.iter().map(|key| entry(key, None, message)).collect()
    };
    let in_notepad = |is_found: bool, message: &str| -> Vec<Detail> {
        let found = is_found.then(|| Detail::at(place(&store.notepad(), None), message));
        found.into_iter().collect()
    };
    let old_lines = "has lines of Working Memory over seven days old";
    let too_long = format!("has {priority} characters of Priority Context, {LIMIT} are allowed");
    let index = found.index_rebuilt.then(|| place(&store.index(), None));
    let index = index.map(|index| Detail::at(index, "does not match the entries"));
    let invalid = found.invalid.iter();
    let invalid =
        invalid.map(|one| Detail::at(SourceLocation::new(&one.file, one.line), &one.problem));
    let guesses =
        all(&found.stale_low_confidence, "is a guess that has not been reviewed for 30 days");
    let old = all(&found.stale, "has not been reviewed for 180 days");
    let duplicates = found.duplicates.iter().map(|pair| {
        let message = format!("is a near-duplicate of {} ({})", pair.b, pair.reason);
        entry(&pair.a, None, &message)
    });
    let broken = found.broken_links.iter().map(|link| {
        let message = format!("links to {}, which does not exist", link.to);
        entry(&link.from, Some(link.line), &message)
    });
    let inbound = all(
        &found.superseded_with_active_inbound,
        "is superseded, but an active entry links to it",
    );
    let row = |check, details, fix: &str| AuditRow::new(STORE, check, details, fix);
    let pruned = found.pruned_working;
    let rows = vec![
        AuditRow::counted(STORE, "notepad", pruned, in_notepad(pruned > 0, old_lines), FIX),
        row(
            "priority",
            in_notepad(priority > LIMIT, &too_long),
            "remove something by hand, or write an entry: annals entry write",
        ),
        row("index", index.into_iter().collect(), FIX),
        row("format", invalid.collect(), "edit the file by hand"),
        row("age", [guesses, old].concat(), "annals entry write --key KEY, once it is reviewed"),
        row("duplicates", duplicates.collect(), "annals entry supersede --old KEY --new KEY"),
        row("links", broken.chain(inbound).collect(), "edit the linking entry: annals entry write"),
        row(
            "size",
            all(&found.oversized, "has more than 500 lines"),
            "split it: annals entry write",
        ),
    ];
    warnings.extend(found.warnings);
    Ok(rows)
}
