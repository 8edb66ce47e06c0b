//! Runs the checks of all stores, which also search their files for secrets, and reports them in one table.
//!
//! Each check of a store is a function; a store that is not in use has no rows. A check that fails to run
//! becomes a separate row, so that the others are still reported. Nothing is changed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::claude_md::ContextFileOutcome;
use crate::error::{At, Error, ErrorKind, Result};
use crate::facts::{Facts, Purpose, SharingState};
use crate::knowledge::notepad::LIMIT;
use crate::knowledge::{EntryAudit, EntryLink, KnowledgeDir, MissingPath, notepad};
use crate::ledger::AnchorState;
use crate::lifecycle::SyncRequest;
use crate::patterns::{PathCheck, PathReport};
use crate::plan::{Drift, StatusReport, Survey};
use crate::project::{ContextTarget, Project};
use crate::recall::SourceName;
use crate::storage::{Boundary, read};
use crate::text::{clip, line_number, one_line, quantity, sanitized, word_enum};
use crate::warning::{SourceLocation, Warning};
use crate::{claude_md, context, facts, journal, knowledge, ledger, lifecycle, patterns, secrets};

/// The result of an audit. It is the document of `annals audit --json`.
#[derive(Debug, Serialize)]
pub struct Audit {
    /// The highest level of all rows.
    pub level: Level,
    /// One row per check, by store.
    pub rows: Vec<AuditRow>,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

/// The rows of a store in use.
type Rows = Result<Vec<AuditRow>>;

/// A check of a store.
type Check = fn(&Project, &mut Vec<Warning>) -> Rows;

/// All checks in the order of the table: the store, the name, and the command to suggest if the check fails to run.
const CHECKS: [(&str, &str, &str, Check); 8] = [
    ("context", "block", "annals sync --check", context_files),
    ("plan", "drift", "annals status", drift),
    ("patterns", "stale", "annals patterns check", stale_patterns),
    ("entries", "audit", "annals entry audit --dry-run", entries),
    ("ledger", "rules", "annals ledger check", ledger_rules),
    ("journal", "lines", "annals journal tail", journal_lines),
    ("journal", "secrets", "annals audit", in_journal),
    ("facts", "database", "annals facts check", fact_database),
];

/// Runs all checks of all stores in use, without changing anything.
pub fn audit(project: &Project) -> Audit {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    for (store, name, command, check) in CHECKS {
        let found = check(project, &mut warnings).unwrap_or_else(|error| {
            let error = error.relative_to(&project.root);
            let detail = Detail { place: error.place.clone(), ..Detail::new(&error.reason()) };
            vec![AuditRow::found(name, vec![detail], command).fault()]
        });
        rows.extend(found.into_iter().map(|row| AuditRow { store, ..row }));
    }
    rows.extend(in_stores(project, &mut warnings));
    let (conflicts, warnings) = project.named(warnings).into_iter().partition(Warning::is_conflict);
    rows.extend(unresolved(conflicts));
    Audit::new(rows, warnings)
}

/// Returns the row for files with an unresolved merge conflict, if there are any.
fn unresolved(conflicts: Vec<Warning>) -> Option<AuditRow> {
    let found: Vec<Detail> = conflicts
        .into_iter()
        .map(|one| Detail { place: Some(one.place), ..Detail::new(&one.message) })
        .collect();
    let fix = "resolve the conflict, then run `annals sync`";
    (!found.is_empty())
        .then(|| AuditRow::found("conflicts", found, fix).fault().named("files", "conflicts"))
}

/// Returns the row for context files without room for the whole block, or `None` if there is room.
pub fn lack_of_room(project: &Project) -> Option<AuditRow> {
    // Other problems of the context files are left to the audit.
    context_files(&project.dry_run(true), &mut Vec::new())
        .unwrap_or_default()
        .into_iter()
        .find(|row| row.check == BUDGET && row.count > 0)
        .map(|row| AuditRow { store: "context", ..row })
}

impl Audit {
    pub(crate) fn new(rows: Vec<AuditRow>, warnings: Vec<Warning>) -> Self {
        let levels = rows.iter().map(|row| row.level);
        Self { level: levels.fold(Level::Ok, Level::max), rows, warnings }
    }

    /// Fails if something needs fixing.
    pub fn verdict(&self) -> Result<()> {
        match self.rows.iter().filter(|row| row.level > Level::Ok).count() {
            0 => Ok(()),
            open => Err(Error::failed(format!("{} found problems", quantity(open, "check")))),
        }
    }
}

/// Maximum number of findings of a check that are listed; the rest are only counted.
const NAMED: usize = 20;

/// Maximum length of a finding, in characters; the location leads to the details.
const WIDTH: usize = 240;

word_enum! {
    /// The severity of a check's result.
    pub enum Level {
        /// It is optional, and not in use.
        Unused = "unused",
        /// Nothing was found.
        Ok = "ok",
        /// Something should be fixed when there is time.
        Attention = "attention",
        /// Something is broken, leaks, or could not be checked.
        Fault = "fault",
    }
}

/// A finding.
#[derive(Debug, Serialize)]
pub struct Detail {
    /// The location, relative to the project if inside it.
    #[serde(flatten)]
    pub place: Option<SourceLocation>,
    /// The problem, on one line and without secrets.
    pub message: String,
}

impl Detail {
    /// Creates a finding without a location.
    pub(crate) fn new(message: &str) -> Self {
        let message = clip(&one_line(&sanitized(message)), WIDTH).into_owned();
        Self { place: None, message }
    }

    /// Creates a finding in a file.
    pub(crate) fn at(
        file: impl Into<PathBuf>,
        line: impl Into<Option<usize>>,
        message: &str,
    ) -> Self {
        Self { place: Some(SourceLocation::new(file, line)), ..Self::new(message) }
    }
}

/// The result of a check of a store.
#[derive(Debug, Serialize)]
pub struct AuditRow {
    /// The store.
    pub store: &'static str,
    /// The name of the check.
    pub check: &'static str,
    /// The severity.
    pub level: Level,
    /// Number of findings.
    pub count: usize,
    /// The first findings.
    pub details: Vec<Detail>,
    /// The fix: a command, or instructions if no command can fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl AuditRow {
    /// Returns the result of a check with these findings, which need attention; without any, its level is ok.
    pub(crate) fn found(check: &'static str, details: Vec<Detail>, fix: impl Into<String>) -> Self {
        Self::counted(check, details.len(), details, fix)
    }

    /// Returns the result of a check that found nothing to fix, with an observation.
    pub(crate) fn ok(seen: impl AsRef<str>) -> Self {
        Self::counted("", 0, vec![Detail::new(seen.as_ref())], "")
    }

    /// Returns the result of a check of something optional that is not in use.
    pub(crate) fn unused(what: &str) -> Self {
        Self { level: Level::Unused, ..Self::ok(what) }
    }

    /// Returns the result of a check with one finding that needs attention.
    pub(crate) fn attention(message: impl AsRef<str>, fix: impl Into<String>) -> Self {
        Self::found("", vec![Detail::new(message.as_ref())], fix)
    }

    /// Returns the result of a check that counted more findings than it can list.
    pub(crate) fn counted(
        check: &'static str,
        count: usize,
        mut details: Vec<Detail>,
        fix: impl Into<String>,
    ) -> Self {
        details.truncate(NAMED);
        let level = if count == 0 { Level::Ok } else { Level::Attention };
        let fix = (count > 0).then(|| fix.into());
        Self { store: "", check, level, count, details, fix }
    }

    /// Returns the result of a check whose findings mean that something is broken or leaks.
    pub(crate) fn fault(mut self) -> Self {
        if self.count > 0 {
            self.level = Level::Fault;
        }
        self
    }

    /// Returns the result as a row of the table.
    pub(crate) fn named(self, store: &'static str, check: &'static str) -> Self {
        Self { store, check, ..self }
    }
}

/// The name of the check of the files' length.
const BUDGET: &str = "budget";

/// Compares every file that has a block or is in the settings with what `sync` would write.
fn context_files(project: &Project, warnings: &mut Vec<Warning>) -> Rows {
    let marked: Vec<ContextTarget> = claude_md::with_block(project).collect();
    let fix = match marked.first() {
        Some(first) if project.planning().is_err() => {
            format!("annals sync --target {}", first.as_str())
        }
        _ => "annals sync".to_owned(),
    };
    let Some(request) = context::upkeep(project, warnings)? else {
        let message = "its block is no longer updated: there is no planning folder, and nothing is remembered";
        let found: Vec<_> = claude_md::with_memory(project)
            .map(|one| Detail::at(one.file(), None, message))
            .collect();
        return Ok((!found.is_empty())
            .then(|| AuditRow::found("block", found, fix))
            .into_iter()
            .collect());
    };
    let request = SyncRequest { check: true, ..request };
    let report = lifecycle::sync(project, &request)?;
    warnings.extend(report.warnings);
    let context = report.context.unwrap_or_default();
    let (mut off, mut long) = (Vec::new(), Vec::new());
    for file in &context.files {
        let at = |message: &str| Detail::at(&file.file, None, message);
        match file.outcome {
            ContextFileOutcome::Created => off.push(at("is missing")),
            ContextFileOutcome::Unchanged | ContextFileOutcome::InConflict => {}
            _ => off.push(at("is out of date")),
        }
        if file.excess > 0 {
            long.push(at(&format!("is {} over its limit", quantity(file.excess, "line"))));
        // If the user has set a limit, a shortened block is intended.
        } else if !file.shrunk.is_empty() && !project.settings.has_own_limits() {
            long.push(at("contains so much of your own text that the block was shortened"));
        }
    }
    let mut rows = vec![
        AuditRow::found("block", off, fix.as_str()),
        AuditRow::found(BUDGET, long, "shorten the text outside the block"),
    ];
    if !context.refused.is_empty() {
        let hint = context.refused.iter().find_map(|refusal| refusal.hint.clone());
        let found = context
            .refused
            .iter()
            .map(|one| Detail { place: one.place.clone(), ..Detail::new(&one.message) });
        let fix = hint.unwrap_or(fix);
        rows.push(AuditRow::found("refused", found.collect(), fix).fault());
    }
    Ok(rows)
}

/// Lists the statements of STATE.md and ROADMAP.md that the files contradict, the plans that were left without a
/// summary, and the documents or parts of them that are missing.
fn drift(project: &Project, warnings: &mut Vec<Warning>) -> Rows {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let survey = Survey::read(project)?;
    let status = StatusReport::with_metrics(project, &survey);
    warnings.extend(status.warnings);
    let (left, drift): (Vec<Drift>, Vec<Drift>) =
        status.drift.into_iter().partition(Drift::is_left_plan);
    let row = |check, found: Vec<Drift>, fix: &str| {
        AuditRow::found(
            check,
            found.iter().map(|one| Detail::at(&one.file, one.line, &one.sentence())).collect(),
            fix,
        )
    };
    let findings =
        status.findings.iter().map(|one| Detail::at(&one.place.file, one.place.line, &one.message));
    Ok(vec![
        row("drift", drift, "annals sync --fix-state"),
        row("left plans", left, "write the missing summaries, or remove the plans"),
        AuditRow::found("documents", findings.collect(), "correct the named files by hand"),
    ])
}

/// Lists the recorded patterns that refer to something that no longer exists.
fn stale_patterns(project: &Project, warnings: &mut Vec<Warning>) -> Rows {
    let path = patterns::path(&project.planning_place().dir);
    if !read::exists(&path) {
        return Ok(Vec::new());
    }
    let found = patterns::check(project)?.into_value(warnings);
    let stale = found.entries.iter().filter(|entry| entry.is_stale).map(|entry| {
        let message = format!("{}: {}", entry.id, entry.reasons.join("; "));
        Detail::at(project.relative(&path), entry.line, &message)
    });
    let row = AuditRow::found(
        "stale",
        stale.collect(),
        "correct the path in PATTERNS.md, or remove the lesson",
    );
    warnings.extend(found.skipped.map(|skipped| Warning::file(&path, skipped)));
    Ok(vec![row])
}

/// The command that rebuilds the index, prunes the notepad, and lists the other problems.
const ENTRY_AUDIT: &str = "annals entry audit";

/// Runs the entries' own audit as a dry run, so that nothing is pruned or rebuilt.
fn entries(project: &Project, warnings: &mut Vec<Warning>) -> Rows {
    let store = KnowledgeDir::in_project(project);
    if !read::is_folder(&store.memory()) && !read::exists(&store.notepad()) {
        return Ok(Vec::new());
    }
    let found = entry_audit(&project.dry_run(true))?;
    warnings.extend(found.warnings);
    // The entries' own audit reads neither the log nor the notepad outside its sections.
    for file in [store.log(), store.notepad()] {
        read::text_or_warning(&file, warnings);
    }
    let (priority, repeated) = notepad::survey(project)?;
    let at = |path: &Path, line: Option<usize>, message: &str| {
        Detail::at(project.relative(path), line, message)
    };
    let all = |keys: &[String], message: &str| -> Vec<Detail> {
        keys.iter().map(|key| at(&store.entry(key), None, message)).collect()
    };
    let once = |is_found: bool, path: &Path, message: &str| -> Vec<Detail> {
        Vec::from_iter(is_found.then(|| at(path, None, message)))
    };
    let pruned = found.pruned_working;
    let old = once(pruned > 0, &store.notepad(), "has lines of Working Memory over seven days old");
    let too_long = format!("has {priority} characters of Priority Context, {LIMIT} are allowed");
    let mut aged =
        all(&found.stale_low_confidence, "is a guess that has not been reviewed for 30 days");
    aged.extend(all(&found.stale, "has not been reviewed for 180 days"));
    let duplicates = found.duplicates.iter().map(|pair| {
        let message = format!("is a near-duplicate of {} ({})", pair.b, pair.reason);
        at(&store.entry(&pair.a), None, &message)
    });
    let links = |links: &[EntryLink], what: &str| -> Vec<Detail> {
        links
            .iter()
            .map(|link| {
                let message = format!("links to {}, which {what}", link.to);
                at(&store.entry(&link.from), Some(link.line), &message)
            })
            .collect()
    };
    let mut linked = links(&found.broken_links, "does not exist");
    linked.extend(links(&found.superseded_links, "is superseded"));
    let missing = found.missing_paths.iter().map(|one| {
        let what = match &one.to {
            Some(to) => format!("moved to {to}"),
            None => "does not exist".to_owned(),
        };
        let message = format!("names {}, which {what}", one.path);
        at(&store.entry(&one.from), Some(one.line), &message)
    });
    let invalid = found.invalid.iter().map(|one| at(&one.file, one.line, &one.problem));
    let repeated = repeated.iter().map(|title| {
        at(
            &store.notepad(),
            None,
            &format!("has several sections {title}, of which the first is written"),
        )
    });
    let index = once(found.index_rebuilt, &store.index(), "does not match the entries");
    let rows = [
        (
            "priority",
            once(priority > LIMIT, &store.notepad(), &too_long),
            "remove something by hand, or write an entry: annals entry write",
        ),
        ("index", index, ENTRY_AUDIT),
        ("format", invalid.chain(repeated).collect(), "edit the file by hand"),
        ("age", aged, "annals entry write --key KEY, once it is reviewed"),
        ("duplicates", duplicates.collect(), "annals entry supersede --old KEY --new KEY"),
        ("links", linked, "edit the linking entry: annals entry write"),
        ("paths", missing.collect(), "correct the path: annals entry write"),
        ("size", all(&found.oversized, "has more than 500 lines"), "split it: annals entry write"),
    ]
    .map(|(check, found, fix)| AuditRow::found(check, found, fix));
    Ok([AuditRow::counted("notepad", pruned, old, ENTRY_AUDIT)].into_iter().chain(rows).collect())
}

/// Runs the entries' own audit, and checks the paths that active entries name as it is done for patterns.
pub fn entry_audit(project: &Project) -> Result<EntryAudit> {
    let mut audit = knowledge::audit(project)?;
    match missing_paths(project) {
        Ok(found) => audit.missing_paths = found,
        Err(error) => {
            let message = format!("the paths in entries are not checked: {error}");
            audit.warnings.push(Warning::file(&project.root, message));
        }
    }
    Ok(audit)
}

/// Returns the paths in active entries that do not exist.
fn missing_paths(project: &Project) -> Result<Vec<MissingPath>> {
    // Files that cannot be read are among the findings already.
    let named = knowledge::scan(&KnowledgeDir::in_project(project), |file| {
        let entry = file.entry();
        entry.is_active().then(|| (entry, file.text.clone()))
    })?;
    let mut missing: Vec<MissingPath> = Vec::new();
    let mut check = PathCheck::new(project);
    for (entry, text) in named.value {
        let body = &text[entry.body.clone()];
        // A file may have moved on the day on which the entry was written.
        let before = entry.created.or(entry.updated).and_then(|day| day.pred_opt());
        let days: Vec<_> = entry.dated().into_iter().chain(before).collect();
        for PathReport { path, to, .. } in check.missing(body, &days)? {
            let line = line_number(&text, entry.body.start) + first_mention(body, &path);
            missing.push(MissingPath { from: entry.key.clone(), path, to, line });
        }
    }
    Ok(missing)
}

/// Returns the index of the line that first mentions a path.
fn first_mention(text: &str, path: &str) -> usize {
    let path = path.trim_end_matches('/');
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let lacks = |end: &usize| patterns::mentions(&text[..*end]).iter().all(|one| one.path != path);
    ends.partition_point(lacks)
}

/// Checks the three files against their rules, and the anchor against the checked-out commit.
fn ledger_rules(project: &Project, warnings: &mut Vec<Warning>) -> Rows {
    if !ledger::paths(project).iter().any(|path| read::exists(path)) {
        return Ok(Vec::new());
    }
    let report = ledger::check(project)?;
    warnings.extend(report.warnings);
    let broken = report
        .findings
        .into_iter()
        .map(|finding| {
            let message = format!("{} ({})", finding.message, finding.rule);
            Detail { place: Some(finding.place), ..Detail::new(&message) }
        })
        .collect();
    let coverage = &report.coverage;
    let behind = match coverage.standing {
        AnchorState::NoRepository | AnchorState::NoCommits | AnchorState::Covered => 0,
        AnchorState::Behind | AnchorState::Diverged => coverage.pending.unwrap_or(1).max(1),
        AnchorState::NoAnchor | AnchorState::Missing => 1,
    };
    Ok(vec![
        AuditRow::found("rules", broken, "annals ledger check"),
        some("coverage", behind, &coverage.line(), "annals ledger pending"),
    ])
}

/// Returns the result of a check that counted findings and has one sentence about them.
fn some(check: &'static str, count: usize, message: &str, fix: &str) -> AuditRow {
    AuditRow::counted(check, count, Vec::from_iter((count > 0).then(|| Detail::new(message))), fix)
}

/// The command that does what waits.
const WORK: &str = "annals facts work";

/// Checks the database as `facts check` does, and lists facts that are awaiting the user's confirmation.
fn fact_database(project: &Project, _warnings: &mut Vec<Warning>) -> Rows {
    if project.settings.db.is_none() && project.environment.data_dir().is_none() {
        return Ok(Vec::new());
    }
    let facts = Facts::open(project, None, Purpose::Read)?;
    if !facts.path.exists() {
        return Ok(Vec::new());
    }
    let found = facts::check(&facts)?;
    let problems = found.problems.iter().map(|problem| Detail::new(problem)).collect();
    let mut rows = vec![AuditRow::found("database", problems, "annals facts check").fault()];
    for (check, count, message, fix) in [
        ("waiting turns", found.waiting_turns, "turns are waiting for the auditor", WORK),
        (
            "dead turns",
            found.dead_turns,
            "no usable answer for these turns",
            "annals facts turns --status dead",
        ),
        ("vectors", found.unsynced_vectors, "the vector index is out of date", WORK),
        ("erasures", found.unerased_vectors, "forgotten facts are still on a vector server", WORK),
    ] {
        rows.push(some(check, usize::try_from(count).unwrap_or(usize::MAX), message, fix));
    }
    // The keys alone; `facts list --pending` shows the values.
    if project.settings.user.is_some() {
        let pending = facts::pending(&facts, &facts::user(project, None)?)?;
        let keys = pending
            .iter()
            .map(|one| Detail::new(&format!("{} waits for the user's confirmation", one.fact.key)));
        rows.push(AuditRow::found("pending", keys.collect(), "annals facts list --pending"));
    }
    rows.extend(facts::sharing(&facts)?.filter(|here| !here.has_left).map(|here| shared(&here)));
    Ok(rows)
}

/// Returns the problems of syncing with other devices.
fn shared(here: &SharingState) -> AuditRow {
    let mut found: Vec<String> = here
        .failed_at
        .iter()
        .zip(&here.last_error)
        .map(|(at, why)| format!("not synchronised since {at}: {why}"))
        .collect();
    let aside = here.set_aside.0.iter();
    found.extend(aside.map(|one| format!("set aside from {}: {}", one.device, one.reason)));
    if here.is_unclean {
        let left = "facts forgotten on other devices may remain in free pages of the file";
        found.push(left.to_owned());
    }
    let found = found.iter().map(|one| Detail::new(one));
    AuditRow::found("sharing", found.collect(), "annals share sync")
}

/// Counts the lines that are not records.
fn journal_lines(project: &Project, _warnings: &mut Vec<Warning>) -> Rows {
    let Some(path) = journal_path(project) else {
        return Ok(Vec::new());
    };
    let found = journal::statistics(&path)?;
    let lines = found.skipped_lines.iter().map(|line| {
        let message = "is not a JSON object, or is too long to be read";
        Detail::at(project.relative(&path), *line, message)
    });
    let fix = "fix the lines by hand: annals never rewrites the journal";
    Ok(vec![AuditRow::counted("lines", found.skipped, lines.collect(), fix)])
}

/// Returns the path of the journal, if it exists; without a home directory, there is none.
fn journal_path(project: &Project) -> Option<PathBuf> {
    journal::default_path(&project.environment).ok().filter(|path| path.is_file())
}

/// Size of the part at its end that is searched for secrets, in bytes: older lines existed at the last audit.
const TAIL: u64 = 1 << 20;

/// Searches the context files, and the files of each store in the project.
fn in_stores(project: &Project, warnings: &mut Vec<Warning>) -> Vec<AuditRow> {
    // If a context file is a link, agents read its target.
    let context = ContextTarget::ALL.map(|target| project.root.join(target.file())).to_vec();
    let mut stores = vec![("context", context)];
    // Files at paths from the user's settings have separate checks.
    for store in SourceName::ALL.into_iter().filter(|store| !store.is_users_own()) {
        // A symbolic link is not a file of the store.
        stores.push((
            store.as_str(),
            store
                .files_to_check_for_secrets(project)
                .into_iter()
                .filter(|file| !file.is_symlink())
                .collect(),
        ));
    }
    stores
        .into_iter()
        .filter_map(|(store, files)| {
            Some(AuditRow { store, ..in_files(project, files, warnings)? })
        })
        .collect()
}

/// Searches files; `None` if none of them exists. One that cannot be read causes a warning, and the others are still
/// searched.
fn in_files(
    project: &Project,
    files: Vec<PathBuf>,
    warnings: &mut Vec<Warning>,
) -> Option<AuditRow> {
    let mut is_used = false;
    let mut found = Vec::new();
    // Files beyond the read limit of a command, counted by reason.
    let mut unread: BTreeMap<String, usize> = BTreeMap::new();
    let folder = files.first().and_then(|file| file.parent()).unwrap_or(&project.root).to_owned();
    for path in &Boundary::within_limit(&folder, files) {
        match read::bytes(path) {
            Ok(None) => continue,
            Ok(Some(bytes)) => {
                found.extend(in_text(project.relative(path), &String::from_utf8_lossy(&bytes), 1));
            }
            Err(error) if error.kind == ErrorKind::Refused => {
                *unread.entry(error.reason()).or_default() += 1;
            }
            Err(error) => {
                let message = format!("is not searched for secrets: {}", error.reason());
                warnings.push(Warning::file(path, message));
            }
        }
        is_used = true;
    }
    for (reason, count) in unread {
        let message = format!("{} not searched for secrets: {reason}", quantity(count, "file"));
        warnings.push(Warning::file(&folder, message));
    }
    is_used.then(|| secret_row(found))
}

/// No command removes a secret, and a secret that was written must be considered compromised.
fn secret_row(found: Vec<Detail>) -> AuditRow {
    AuditRow::found("secrets", found, "revoke the key, then remove it from the file by hand")
        .fault()
}

/// Returns the secrets in a text that starts at line `first`, as location and rule, without the secret
/// itself.
fn in_text(path: &Path, text: &str, first: usize) -> Vec<Detail> {
    secrets::find_lines(text, first)
        .into_iter()
        .map(|(rule, line)| {
            Detail::at(path, line, &format!("contains what looks like a secret ({rule})"))
        })
        .collect()
}

/// Searches the end of the journal for secrets.
fn in_journal(project: &Project, _warnings: &mut Vec<Warning>) -> Rows {
    let Some(path) = journal_path(project) else {
        return Ok(Vec::new());
    };
    let (first, tail) = tail(&path).at("read", &path)?;
    let found = in_text(project.relative(&path), &String::from_utf8_lossy(&tail), first);
    Ok(vec![secret_row(found)])
}

/// Returns the last lines of a file, and the number of the first of them.
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
fn tail(path: &Path) -> std::io::Result<(usize, Vec<u8>)> {
    let mut file = BufReader::new(File::open(path)?);
    let start = file.get_ref().metadata()?.len().saturating_sub(TAIL);
    let (mut at, mut line) = (0, 1);
    while at < start {
        match file.skip_until(b'\n')? as u64 {
            0 => break,
            length => at += length,
        }
        line += 1;
    }
    let mut bytes = Vec::new();
    // Other processes may be appending to it.
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok((line, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_findings_is_ok_and_needs_no_fix() {
        let row = AuditRow::found("drift", Vec::new(), "annals status").fault();
        assert_eq!((row.level, row.count, row.fix), (Level::Ok, 0, None));
    }

    #[test]
    fn many_findings_are_counted_and_the_first_named() {
        let found = (0..50).map(|n| Detail::new(&format!("number {n}")));
        let row = AuditRow::found("drift", found.collect(), "annals status");
        assert_eq!((row.count, row.details.len()), (50, NAMED));
        assert_eq!(row.details[0].message, "number 0");
    }

    #[test]
    fn a_finding_tells_no_secret_and_is_one_line() {
        let key = format!("AKIA{}", "Q7ZT2LMX9VKC4RBW");
        let detail = Detail::new(&format!("says\n{key}"));
        assert_eq!(detail.message, "says [redacted]");
    }
}
