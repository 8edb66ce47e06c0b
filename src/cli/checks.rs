//! `annals audit` and `annals doctor`

use std::collections::BTreeMap;
use std::fs;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::audit::{AuditRow, Level};
use crate::cli::output::{Output, check_style};
use crate::cli::text::text;
use crate::error::{Error, Result};
use crate::facts::{Facts, Purpose};
use crate::hooks::setup::SetupState;
use crate::hooks::{Harness, SetupScope, setup};
use crate::project::{Origin, Project};
use crate::search::index::CacheState;
use crate::text::{estimate_tokens, quantity};
use crate::{audit, facts, hooks, mcp, recall, sessions, share};

/// Check every store, and name the fix for each finding
///
/// Context files, drift, stale patterns, entries and notepad, ledger, journal, facts, and secrets in any of
/// them. Stores that are not in use are left out. Nothing is changed.
///
/// Example: annals audit --check
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Exit with 1 if something needs fixing
    #[arg(long)]
    check: bool,
}

/// Check the installation: what is set up, what is wrong, and how to fix it
///
/// The program itself and git, the settings and where they come from, what can be written, the caches, the
/// database of facts, each client, and the size of a session's start. Nothing is changed.
///
/// Example: annals doctor --check
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Exit with 1 if something needs fixing
    #[arg(long)]
    check: bool,
}

/// The document of `annals doctor --json`.
#[derive(Debug, Serialize)]
struct Diagnosis {
    version: &'static str,
    level: Level,
    rows: Vec<AuditRow>,
}

pub(crate) fn audit(args: &AuditArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint(check_style);
    let audit = audit::audit(project);
    if !out.is_json() {
        out.warnings(&audit.warnings);
    }
    let end = if args.check { audit.verdict() } else { Ok(()) };
    // With --json, the failure's document is printed instead of the table, so the hint names the command that
    // prints it.
    let end = end.map_err(|error| if out.is_json() { error.hint("annals audit") } else { error });
    out.show_until(&audit, &(), text!("checks"), end)
}

/// What a check of the installation found.
enum CheckResult {
    /// Nothing to say: the row is left out.
    Absent,
    /// What is there.
    Fine(String),
    /// What is wrong, and its fix.
    Attention(String, String),
    /// What keeps annals from working, and its fix.
    Fault(String, String),
}

fn ok(seen: impl Into<String>) -> CheckResult {
    CheckResult::Fine(seen.into())
}

fn attention(what: impl Into<String>, fix: impl Into<String>) -> CheckResult {
    CheckResult::Attention(what.into(), fix.into())
}

fn fault(what: impl Into<String>, fix: impl Into<String>) -> CheckResult {
    CheckResult::Fault(what.into(), fix.into())
}

/// The store, the name and the function of a check.
type Check = (&'static str, &'static str, fn(&Project) -> CheckResult);

/// The checks of the installation besides those of the clients, in the order of the table.
const CHECKS: [Check; 10] = [
    ("program", "PATH", program),
    ("program", "git", git),
    ("settings", "origins", settings),
    ("project", "planning", planning),
    ("project", ".annals folder", own_folder),
    ("project", "interrupted", interrupted),
    ("recall", "cache", cache),
    ("facts", "database", database),
    ("facts", "sharing", sharing),
    ("sessions", "transcripts", transcripts),
];

fn row(store: &'static str, check: &'static str, found: CheckResult) -> Option<AuditRow> {
    Some(match found {
        CheckResult::Absent => return None,
        CheckResult::Fine(seen) => AuditRow::ok(store, check, &seen),
        CheckResult::Attention(what, fix) => AuditRow::attention(store, check, &what, fix),
        CheckResult::Fault(what, fix) => AuditRow::attention(store, check, &what, fix).into_fault(),
    })
}

pub(crate) fn doctor(args: &DoctorArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint(check_style);
    let project = &project.dry_run(true);
    let checks = CHECKS.iter();
    let mut rows: Vec<AuditRow> =
        checks.filter_map(|(store, check, run)| row(store, check, run(project))).collect();
    rows.extend(audit::lack_of_room(project));
    let clients = Harness::ALL.into_iter();
    rows.extend(clients.filter_map(|one| row("harness", one.as_str(), client(project, one))));
    let tokens =
        hooks::start_tokens(project, Harness::Claude) + estimate_tokens(&mcp::advertised(&[])?);
    let message = format!("about {tokens} tokens: context files, hook answer, MCP tools");
    rows.push(AuditRow::ok("session", "start", &message));
    let diagnosis = Diagnosis {
        version: env!("CARGO_PKG_VERSION"),
        level: rows.iter().map(|row| row.level).max().unwrap_or(Level::Ok),
        rows,
    };
    let end = match diagnosis.level {
        Level::Ok => Ok(()),
        _ if !args.check => Ok(()),
        _ => Err(Error::failed("something needs fixing").hint("annals doctor")),
    };
    out.show_until(&diagnosis, &(), text!("checks"), end)
}

/// Checks the program on PATH: hooks and MCP entries call `annals` by name, so it must resolve to this
/// program.
fn program(project: &Project) -> CheckResult {
    let resolved = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
    let own = std::env::current_exe().ok().map(resolved);
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder.map_or("its folder".to_owned(), |path| path.display().to_string());
    let fix = format!("export PATH=\"{folder}:$PATH\"");
    match on_path(project, "annals") {
        None => attention("annals is not on PATH, where hooks and MCP entries look for it", fix),
        Some(found) if own.is_some_and(|own| own != resolved(found.clone())) => {
            attention(format!("a different annals is first on PATH: {}", found.display()), fix)
        }
        Some(found) => ok(found.display().to_string()),
    }
}

fn git(project: &Project) -> CheckResult {
    if on_path(project, "git").is_none() {
        return attention(
            "git is not on PATH: history, staleness and the ledger's coverage are unknown",
            "install git",
        );
    }
    ok(match project.git.top() {
        Some(top) => format!("repository at {}", top.display()),
        None => "found; no repository here".to_owned(),
    })
}

/// Lists the sources of non-default settings, with their keys.
fn settings(project: &Project) -> CheckResult {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for setting in project.settings.list() {
        let place = match &setting.origin {
            Origin::Default => continue,
            Origin::User { file, .. } | Origin::Project { file, .. } => {
                project.relative(file).display().to_string()
            }
            Origin::Environment { .. } => "the environment".to_owned(),
            Origin::Flag { .. } => "the command line".to_owned(),
        };
        places.entry(place).or_default().push(setting.key);
    }
    if places.is_empty() {
        return ok("all defaults");
    }
    let origins = places.iter().map(|(place, keys)| format!("{place}: {}", keys.join(", ")));
    ok(origins.collect::<Vec<_>>().join("; "))
}

/// Returns the path that PATH resolves a program name to.
fn on_path(project: &Project, name: &str) -> Option<PathBuf> {
    let path = project.environment.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    let found = fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}

fn planning(project: &Project) -> CheckResult {
    if let Some(odd) = project.warnings.first() {
        let fix = "annals --planning-dir DIR, or planning_dir in annals.toml";
        return attention(&odd.message, fix);
    }
    match project.planning() {
        Ok(planning) => ok(project.relative(&planning.dir).display().to_string()),
        Err(_) => ok("no planning folder; annals init creates one"),
    }
}

/// Checks whether the folder for locks, history and caches is writable, without writing.
fn own_folder(project: &Project) -> CheckResult {
    // With a trailing slash, the lookup would fail if it is not a folder.
    let folder: PathBuf = project.storage().own_file("").components().collect();
    let what = project.relative(&folder).display();
    let found = fs::symlink_metadata(&folder).ok();
    if found.as_ref().is_some_and(|found| !found.is_dir()) {
        let what = format!("{what} is not a folder, so nothing can be written");
        return fault(what, "move or rename it");
    }
    let looked_at = if found.is_some() { &folder } else { &project.root };
    let is_read_only = fs::metadata(looked_at).is_ok_and(|found| found.permissions().readonly());
    let ignore = folder.join(".gitignore");
    if is_read_only || ignore.is_file() && !is_writable(&ignore) {
        let fix = format!("chmod -R u+w {}", project.relative(looked_at).display());
        return fault(format!("{what} cannot be written: nothing can be changed or cached"), fix);
    }
    let state = if found.is_some() { "writable" } else { "created at the first write" };
    ok(format!("{what}: {state}"))
}

fn cache(project: &Project) -> CheckResult {
    match recall::cache_state(project) {
        CacheState::Absent => ok("built at the first search"),
        CacheState::Sound => ok("sound"),
        CacheState::Unusable => {
            attention("cache unusable; the next search rebuilds it", "annals recall WORDS")
        }
    }
}

/// Names an interrupted operation, if there is one.
fn interrupted(project: &Project) -> CheckResult {
    let what = match project.storage().interrupted() {
        Err(error) => error.reason(),
        Ok(found) => match found.value.first() {
            Some(one) => format!("operation {} ({}) was interrupted", one.id, one.operation),
            None => return CheckResult::Absent,
        },
    };
    attention(what, "annals sync, or any other command that writes")
}

/// Checks the database of facts, if there is one.
fn database(project: &Project) -> CheckResult {
    let facts = match Facts::open(project, None, Purpose::Read) {
        Ok(facts) => facts,
        // Facts require a home directory; having none is not a problem.
        Err(_) if project.settings.db.is_none() && project.environment.data_dir().is_none() => {
            return CheckResult::Absent;
        }
        Err(error) => return fault(error.to_string(), "annals facts check"),
    };
    let path = facts.path();
    let file = path.display();
    if !path.exists() {
        return ok("none; the first fact creates it");
    }
    if !is_writable(path) {
        return fault(format!("{file} cannot be written"), format!("chmod u+w {file}"));
    }
    ok(match facts::user(project, None) {
        Ok(user) => format!("{file}, for {}", user.as_str()),
        Err(_) => format!("{file}, no user is set; set `user` in your config.toml"),
    })
}

/// Reports the local state of sharing, if the database is shared; the server is not contacted.
fn sharing(project: &Project) -> CheckResult {
    let facts = Facts::open(project, None, Purpose::Read);
    let here = facts.and_then(|facts| facts::sharing(&facts)).ok().flatten();
    let Some(here) = here.filter(|here| !here.has_left) else {
        return CheckResult::Absent;
    };
    if !share::is_configured(project) {
        let what = "the database is shared, but no server is set";
        return attention(what, "set share.url, or annals share leave");
    }
    if let (Some(at), Some(why)) = (&here.failed_at, &here.last_error) {
        return attention(format!("not synchronised since {at}: {why}"), "annals share sync");
    }
    let last = here.synced_at.as_deref().unwrap_or("never");
    let (device, waits) = (&here.device, quantity(here.pending, "operation"));
    ok(format!("device {device}, last sync: {last}, {waits} to send"))
}

/// Says whose transcripts of sessions are read, and how many are of this project.
fn transcripts(project: &Project) -> CheckResult {
    let clients = &project.settings.sessions;
    if clients.is_empty() {
        return ok("transcripts are not read; annals setup CLIENT --sessions turns it on");
    }
    let found = sessions::transcripts(project).newest;
    let counts = clients.iter().map(|client| {
        let count = found.iter().filter(|file| file.source == *client as usize).count();
        format!("{} ({count} of this project)", client.title())
    });
    ok(format!("read: {}", counts.collect::<Vec<_>>().join(", ")))
}

/// Returns whether a file can be opened for appending, without writing to it.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().append(true).open(path).is_ok()
}

/// Checks whether a client calls annals, and what prevents it.
fn client(project: &Project, harness: Harness) -> CheckResult {
    let command = format!("annals setup {}", harness.as_str());
    let mut scopes = Vec::new();
    for (scope, flag) in [(SetupScope::Project, ""), (SetupScope::User, " --user")] {
        match setup::setup_state(project, harness, scope) {
            // User settings require a home directory.
            Err(_) if scope == SetupScope::User && project.environment.home().is_none() => {}
            Err(error) => {
                let what = error.relative_to(&project.root).to_string();
                return attention(what, format!("{command}{flag}"));
            }
            Ok(SetupState::Absent) => {}
            Ok(SetupState::Current) => scopes.push(scope),
            Ok(SetupState::Partial) => {
                let what = "is only partly set up, or was set up by another version";
                return attention(what, format!("{command}{flag}"));
            }
        }
    }
    let (scope, whose) = match scopes[..] {
        [] => return ok(format!("not set up; run {command}")),
        [scope @ SetupScope::Project] => (scope, "this project"),
        [scope @ SetupScope::User] => (scope, "all of your projects"),
        _ => {
            let what = "is set up twice, for this project and for all of your projects";
            return attention(what, format!("{command} --remove"));
        }
    };
    // What the client has disabled or not approved yet.
    let obstacles = match setup::obstacles(project, harness, scope) {
        Ok(obstacles) => obstacles,
        Err(error) => return attention(error.relative_to(&project.root).to_string(), command),
    };
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_decided) {
        return attention(&obstacle.message, obstacle.next);
    }
    let open = obstacles.iter();
    let open = open.map(|obstacle| format!("; {} ({})", obstacle.message, obstacle.next));
    ok(format!("set up for {whose}{}", open.collect::<String>()))
}
