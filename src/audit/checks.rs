//! The checks of the stores. A store that is not in use has no rows.

use std::path::{Path, PathBuf};

use crate::audit::row::{AuditRow, Detail};
use crate::claude_md::{ContextFileOutcome, RegeneratedFile};
use crate::error::Result;
use crate::facts::{Facts, Purpose, SharingState};
use crate::knowledge::notepad::LIMIT;
use crate::knowledge::{KnowledgeDir, notepad};
use crate::ledger::{AnchorState, Coverage};
use crate::lifecycle::{ContextFiles, SyncRequest};
use crate::plan::{Drift, StatusReport, Survey};
use crate::project::Project;
use crate::storage::read;
use crate::text::quantity;
use crate::warning::{SourceLocation, Warning};
use crate::{facts, journal, knowledge, ledger, lifecycle, patterns, plan};

/// The name of the check of the files' length.
pub(crate) const BUDGET: &str = "budget";

/// Compares every file that has a block or is in the settings with what `sync` would write.
pub(crate) fn context_files(
    project: &Project,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let request = SyncRequest { check: true, ..SyncRequest::default() };
    let report = lifecycle::sync(project, &request)?;
    warnings.extend(report.warnings);
    let of = |file: &RegeneratedFile, message: &str| {
        let place = SourceLocation::new(&file.file, None);
        Detail::at(place, message)
    };
    let context = report.context.unwrap_or_default();
    let files = &context.files;
    let off = files.iter().filter_map(|file| match file.outcome {
        ContextFileOutcome::Created => Some(of(file, "is missing")),
        ContextFileOutcome::Updated => Some(of(file, "is out of date")),
        ContextFileOutcome::Unchanged => None,
    });
    let has_own_limits = project.settings.has_own_limits();
    let long = files.iter().filter_map(|file| match &file.excess {
        Some(excess) => Some(of(file, &format!("is {excess} over its limit"))),
        // If the user has set limits, a shortened block is intended.
        None if file.shrunk.is_empty() || has_own_limits => None,
        None => Some(of(file, "contains so much of your own text that the block was shortened")),
    });
    let mut rows = vec![
        AuditRow::new("context", "block", off.collect(), "annals sync"),
        AuditRow::new("context", BUDGET, long.collect(), "shorten the text outside the block"),
    ];
    rows.extend(refused_files(&context));
    Ok(rows)
}

/// Returns the row for files that a rule protects from being written; `None` if there are none.
fn refused_files(context: &ContextFiles) -> Option<AuditRow> {
    let refused = context.refused.iter();
    let hint = refused.clone().find_map(|refusal| refusal.hint.clone());
    let found: Vec<Detail> = refused
        .map(|refusal| Detail { place: refusal.place.clone(), ..Detail::new(&refusal.message) })
        .collect();
    let fix = hint.unwrap_or_else(|| "annals sync".to_owned());
    (!found.is_empty()).then(|| AuditRow::new("context", "refused", found, fix).into_fault())
}

/// The command that corrects drift.
const REPAIR: &str = "annals sync --fix-state";

/// Lists the statements of STATE.md and ROADMAP.md that the files contradict, the plans that were left without a
/// summary, and the parts that the documents lack or repeat.
pub(crate) fn drift(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let survey = Survey::read(project)?;
    let mut status = StatusReport::from_survey(project, &survey);
    status.add_metric_drift(project, &survey);
    warnings.extend(status.warnings);
    let (left, drift): (Vec<Drift>, Vec<Drift>) =
        status.drift.into_iter().partition(Drift::is_left_plan);
    let details = |found: Vec<Drift>| -> Vec<Detail> {
        let detail = |drift: Drift| {
            let message = drift.sentence();
            Detail::at(SourceLocation::new(drift.file, drift.line), &message)
        };
        found.into_iter().map(detail).collect()
    };
    let findings = status.findings.into_iter();
    let findings = findings.map(|finding| Detail::at(finding.place, &finding.message)).collect();
    let row = |check, found, fix: &str| AuditRow::new("plan", check, found, fix);
    let fix = drift_fix(project, &survey);
    Ok(vec![
        row("drift", details(drift), &fix),
        row("left plans", details(left), "write the missing summaries, or remove the plans"),
        row("documents", findings, "correct the named files by hand"),
    ])
}

/// Returns how to fix drift: the command that corrects it, what must be decided before that, or to edit the
/// lines by hand if all of them say more than the command may change.
fn drift_fix(project: &Project, survey: &Survey) -> String {
    match plan::repair(project, survey) {
        Ok(repair) if repair.corrections.is_empty() && !repair.remaining.is_empty() => {
            "edit these lines by hand".to_owned()
        }
        Ok(_) => REPAIR.to_owned(),
        Err(error) => {
            let hint = error.hint.as_deref().unwrap_or_default();
            let first = hint.strip_suffix("; then run it again");
            first.map_or_else(|| error.to_string(), |first| format!("{first}; then {REPAIR}"))
        }
    }
}

/// Counts the finished phases that are not recorded, if there are any: an observation, as recording is optional.
pub(crate) fn unrecorded_phases(project: &Project, _: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let count = lifecycle::unrecorded(project)?.len();
    let seen = (count > 0).then(|| {
        let verb = if count == 1 { "is" } else { "are" };
        let phases = quantity(count, "finished phase");
        format!("{phases} {verb} not recorded: annals execute --all")
    });
    let row = seen.map(|seen| AuditRow::ok("patterns", "unrecorded", &seen));
    Ok(row.into_iter().collect())
}

/// Lists the recorded patterns that refer to something that no longer exists.
pub(crate) fn stale_patterns(
    project: &Project,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<AuditRow>> {
    let path = patterns::path(&project.planning_place().dir);
    if !read::exists(&path) {
        return Ok(Vec::new());
    }
    let found = patterns::check(project)?.into_value(warnings);
    let stale = found.entries.into_iter().filter(|entry| entry.is_stale);
    let details = stale.map(|entry| {
        let place = SourceLocation::new(project.relative(&path), entry.line);
        Detail::at(place, &format!("{}: {}", entry.id, entry.reasons.join("; ")))
    });
    let details = details.collect();
    if let Some(skipped) = found.skipped {
        warnings.push(Warning::file(&path, skipped));
    }
    let fix = "annals patterns check";
    Ok(vec![AuditRow::new("patterns", "stale", details, fix)])
}

/// The command that rebuilds the index, prunes the notepad, and lists the other problems.
const ENTRY_AUDIT: &str = "annals entry audit";

/// Runs the entries' own audit as a dry run, so that nothing is pruned or rebuilt.
pub(crate) fn entries(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
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
        (
            "index",
            once(found.index_rebuilt, &store.index(), "does not match the entries"),
            ENTRY_AUDIT,
        ),
        ("format", invalid.collect(), "edit the file by hand"),
        ("age", [guesses, old].concat(), "annals entry write --key KEY, once it is reviewed"),
        ("duplicates", duplicates.collect(), "annals entry supersede --old KEY --new KEY"),
        ("links", broken.chain(inbound).collect(), "edit the linking entry: annals entry write"),
        ("size", all(&found.oversized, "has more than 500 lines"), "split it: annals entry write"),
    ];
    let mut rows = vec![AuditRow::counted("entries", "notepad", pruned, old_lines, ENTRY_AUDIT)];
    rows.extend(checks.map(|(check, found, fix)| AuditRow::new("entries", check, found, fix)));
    warnings.extend(found.warnings);
    Ok(rows)
}

/// Checks the three files against their rules, and the anchor against the checked-out commit.
pub(crate) fn ledger_rules(
    project: &Project,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<AuditRow>> {
    if !ledger::paths(project).iter().any(|path| read::exists(path)) {
        return Ok(Vec::new());
    }
    let report = ledger::check(project)?;
    warnings.extend(report.warnings);
    // Secrets have a separate row, as in every store.
    let broken = report.findings.into_iter();
    let broken: Vec<_> = broken.filter(|finding| finding.rule != "secret").collect();
    let fix = if broken.iter().any(|finding| finding.fixable) {
        "annals ledger check --fix"
    } else {
        "annals ledger check"
    };
    let details = broken.into_iter().map(|finding| {
        let message = format!("{} ({})", finding.message, finding.rule);
        Detail::at(finding.place, &message)
    });
    Ok(vec![
        AuditRow::new("ledger", "rules", details.collect(), fix),
        ledger_coverage(&report.coverage),
    ])
}

fn ledger_coverage(coverage: &Coverage) -> AuditRow {
    let count = match coverage.standing {
        AnchorState::NoRepository | AnchorState::NoCommits | AnchorState::Covered => 0,
        AnchorState::Behind | AnchorState::Diverged => coverage.pending.unwrap_or(1).max(1),
        AnchorState::NoAnchor | AnchorState::Missing => 1,
    };
    let details = (count > 0).then(|| Detail::new(&coverage.line()));
    let fix = "annals ledger pending";
    AuditRow::counted("ledger", "coverage", count, Vec::from_iter(details), fix)
}

/// The command that does what waits.
const WORK: &str = "annals facts work";

/// Checks the database as `facts check` does, and lists facts that are awaiting the user's confirmation.
pub(crate) fn fact_database(
    project: &Project,
    _warnings: &mut Vec<Warning>,
) -> Result<Vec<AuditRow>> {
    let has_place = project.settings.db.is_some() || project.environment.data_dir().is_some();
    if !has_place {
        return Ok(Vec::new());
    }
    let facts = Facts::open(project, None, Purpose::Read)?;
    if !facts.path().exists() {
        return Ok(Vec::new());
    }
    let found = facts::check(&facts)?;
    let problems = found.problems.iter().map(|problem| Detail::new(problem)).collect();
    let erasures = found.remaining.iter().map(|left| left.vectors).sum();
    let mut rows =
        vec![AuditRow::new("facts", "database", problems, "annals facts check").into_fault()];
    for (check, count, message, fix) in [
        ("waiting turns", found.waiting_turns, "turns are waiting for the auditor", WORK),
        (
            "dead turns",
            found.dead_turns,
            "no usable answer for these turns",
            "annals facts turns --status dead",
        ),
        ("vectors", found.unsynced_vectors, "the vector index is out of date", WORK),
        ("erasures", erasures, "forgotten facts are still on a vector server", WORK),
    ] {
        let details = Vec::from_iter((count > 0).then(|| Detail::new(message)));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        rows.push(AuditRow::counted("facts", check, count, details, fix));
    }
    rows.extend(pending(project, &facts)?);
    rows.extend(facts::sharing(&facts)?.filter(|here| !here.has_left).map(|here| shared(&here)));
    Ok(rows)
}

/// Returns the problems of syncing with other devices.
fn shared(here: &SharingState) -> AuditRow {
    let failed = here.failed_at.iter().zip(&here.last_error);
    let failed =
        failed.map(|(at, why)| Detail::new(&format!("not synchronised since {at}: {why}")));
    let aside = here.set_aside.iter();
    let aside =
        aside.map(|one| Detail::new(&format!("set aside from {}: {}", one.device, one.reason)));
    let unclean = here.is_unclean.then(|| {
        Detail::new("facts forgotten on other devices may remain in free pages of the file")
    });
    let found = failed.chain(aside).chain(unclean).collect();
    AuditRow::new("facts", "sharing", found, "annals share sync")
}

/// Lists the keys of facts that are awaiting the user's confirmation; `facts list --pending` shows their values.
fn pending(project: &Project, facts: &Facts) -> Result<Option<AuditRow>> {
    if project.settings.user.is_none() {
        return Ok(None);
    }
    let user = facts::user(project, None)?;
    let pending = facts::pending(facts, &user)?;
    let keys = pending.iter();
    let keys =
        keys.map(|one| Detail::new(&format!("{} waits for the user's confirmation", one.fact.key)));
    let (keys, fix) = (keys.collect(), "annals facts list --pending");
    Ok(Some(AuditRow::new("facts", "pending", keys, fix)))
}

/// Counts the lines that are not records.
pub(crate) fn journal_lines(
    project: &Project,
    _warnings: &mut Vec<Warning>,
) -> Result<Vec<AuditRow>> {
    let Some(path) = journal_path(project) else {
        return Ok(Vec::new());
    };
    let statistics = journal::statistics(&path)?;
    let named = statistics.skipped_lines.iter().map(|line| {
        let place = SourceLocation::new(project.relative(&path), *line);
        Detail::at(place, "is not a JSON object, or is too long to be read")
    });
    let fix = "fix the lines by hand: annals never rewrites the journal";
    let count = statistics.skipped;
    let row = AuditRow::counted("journal", "lines", count, named.collect(), fix);
    Ok(vec![row])
}

/// Returns the path of the journal, if it exists; without a home directory, there is none.
pub(crate) fn journal_path(project: &Project) -> Option<PathBuf> {
    let path = journal::default_path(&project.environment).ok()?;
    path.is_file().then_some(path)
}
