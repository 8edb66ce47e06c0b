//! Audits the knowledge entries, their index and the notepad.

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::notepad::LIMIT;
use crate::knowledge::{EntryAudit, KnowledgeDir, notepad};
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
    let named = EntryRows { project, store };
    let rows = named.rows(&found, priority);
    warnings.extend(found.warnings);
    Ok(rows)
}

/// Resolves keys to their files.
struct EntryRows<'a> {
    project: &'a Project,
    store: KnowledgeDir,
}

impl EntryRows<'_> {
    fn rows(&self, found: &EntryAudit, priority: usize) -> Vec<AuditRow> {
        let row = |check, details, fix: &str| AuditRow::new(STORE, check, details, fix);
        let old = self.all(&found.stale, "has not been reviewed for 180 days");
        let guesses = self
            .all(&found.stale_low_confidence, "is a guess that has not been reviewed for 30 days");
        let index = found.index_rebuilt.then(|| {
            let place = self.location(&self.store.index(), None);
            Detail::at(place, "does not match the entries")
        });
        let invalid = found.invalid.iter().map(|one| {
            let place = SourceLocation::new(&one.file, one.line);
            Detail::at(place, &one.problem)
        });
        vec![
            self.notepad(found.pruned_working),
            self.priority(priority),
            row("index", index.into_iter().collect(), FIX),
            row("format", invalid.collect(), "edit the file by hand"),
            row(
                "age",
                [guesses, old].concat(),
                "annals entry write --key KEY, once it is reviewed",
            ),
            row("duplicates", self.duplicates(found), "annals entry supersede --old KEY --new KEY"),
            row("links", self.links(found), "edit the linking entry: annals entry write"),
            row(
                "size",
                self.all(&found.oversized, "has more than 500 lines"),
                "split it: annals entry write",
            ),
        ]
    }

    fn notepad(&self, old: usize) -> AuditRow {
        let place = self.location(&self.store.notepad(), None);
        let message = "has lines of Working Memory over seven days old";
        let details = (old > 0).then(|| Detail::at(place, message));
        AuditRow::counted(STORE, "notepad", old, Vec::from_iter(details), FIX)
    }

    fn priority(&self, characters: usize) -> AuditRow {
        let place = self.location(&self.store.notepad(), None);
        let message =
            format!("has {characters} characters of Priority Context, {LIMIT} are allowed");
        let details = (characters > LIMIT).then(|| Detail::at(place, &message));
        let fix = "remove something by hand, or write an entry: annals entry write";
        let details = details.into_iter().collect();
        AuditRow::new(STORE, "priority", details, fix)
    }

    fn duplicates(&self, found: &EntryAudit) -> Vec<Detail> {
        let pairs = found.duplicates.iter();
        pairs
            .map(|pair| {
                let message = format!("is a near-duplicate of {} ({})", pair.b, pair.reason);
                self.entry(&pair.a, None, &message)
            })
            .collect()
    }

    fn links(&self, found: &EntryAudit) -> Vec<Detail> {
        let broken = found.broken_links.iter().map(|link| {
            let message = format!("links to {}, which does not exist", link.to);
            self.entry(&link.from, Some(link.line), &message)
        });
        let inbound = found.superseded_with_active_inbound.iter();
        let inbound = inbound
            .map(|key| self.entry(key, None, "is superseded, but an active entry links to it"));
        broken.chain(inbound).collect()
    }

    fn all(&self, keys: &[String], message: &str) -> Vec<Detail> {
        let details = keys.iter().map(|key| self.entry(key, None, message));
        details.collect()
    }

    fn entry(&self, key: &str, line: Option<usize>, message: &str) -> Detail {
        Detail::at(self.location(&self.store.entry(key), line), message)
    }

    fn location(&self, path: &std::path::Path, line: Option<usize>) -> SourceLocation {
        SourceLocation::new(self.project.relative(path), line)
    }
}
