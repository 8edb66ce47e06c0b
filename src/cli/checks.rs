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
#[derive(Args, Debug)]
#[command(after_help = "Example: annals audit --check")]
pub(crate) struct AuditArgs {
    /// Exit with 1 if something needs fixing
    #[arg(long)]
    check: bool,
}

/// Check the installation: what is set up, what is wrong, and how to fix it
///
/// The program itself and git, the settings and where they come from, what can be written, the caches, the
/// database of facts, each client, and the size of a session's start. Nothing is changed.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals doctor --check")]
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
    out.show_until(&audit, text!("checks"), end)
}

pub(crate) fn doctor(args: &DoctorArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint(check_style);
    let project = &project.dry_run(true);
    let mut rows = vec![program(project), git(project), settings(project)];
    rows.extend([planning(project), own_folder(project), cache(project)]);
    rows.extend(audit::lack_of_room(project));
    rows.extend(interrupted(project));
    rows.extend(database(project));
    rows.extend(sharing(project));
    rows.push(transcripts(project));
    rows.extend(Harness::ALL.into_iter().map(|harness| client(project, harness)));
    rows.push(start(project)?);
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
    out.show_until(&diagnosis, text!("checks"), end)
}

/// Checks the program on PATH: hooks and MCP entries call `annals` by name, so it must resolve to this
/// program.
fn program(project: &Project) -> AuditRow {
    let resolved = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
    let own = std::env::current_exe().ok().map(resolved);
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder.map_or("its folder".to_owned(), |path| path.display().to_string());
    let finding = |message: &str| {
        AuditRow::attention("program", "PATH", message, format!("export PATH=\"{folder}:$PATH\""))
    };
    match on_path(project, "annals") {
        None => finding("annals is not on PATH, where hooks and MCP entries look for it"),
        Some(found) if own.is_some_and(|own| own != resolved(found.clone())) => {
            finding(&format!("a different annals is first on PATH: {}", found.display()))
        }
        Some(found) => AuditRow::ok("program", "PATH", &found.display().to_string()),
    }
}

fn git(project: &Project) -> AuditRow {
    if on_path(project, "git").is_none() {
        let message =
            "git is not on PATH: history, staleness and the ledger's coverage are unknown";
        return AuditRow::attention("program", "git", message, "install git");
    }
    let found = project.git.top().map(|top| format!("repository at {}", top.display()));
    AuditRow::ok("program", "git", found.as_deref().unwrap_or("found; no repository here"))
}

/// Lists the sources of non-default settings, with their keys.
fn settings(project: &Project) -> AuditRow {
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
    let origins = places.iter().map(|(place, keys)| format!("{place}: {}", keys.join(", ")));
    let origins = origins.collect::<Vec<_>>().join("; ");
    let origins = if origins.is_empty() { "all defaults" } else { &origins };
    AuditRow::ok("settings", "origins", origins)
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

fn planning(project: &Project) -> AuditRow {
    if let Some(odd) = project.warnings.first() {
        let fix = "annals --planning-dir DIR, or planning_dir in annals.toml";
        return AuditRow::attention("project", "planning", &odd.message, fix);
    }
    let folder =
        project.planning().map(|planning| project.relative(&planning.dir).display().to_string());
    let folder =
        folder.unwrap_or_else(|_| "no planning folder; annals init creates one".to_owned());
    AuditRow::ok("project", "planning", &folder)
}

/// Checks whether the folder for locks, history and caches is writable, without writing.
fn own_folder(project: &Project) -> AuditRow {
    let fault = |message: &str, fix: &str| {
        AuditRow::attention("project", ".annals folder", message, fix).into_fault()
    };
    // With a trailing slash, the lookup would fail if it is not a folder.
    let folder: PathBuf = project.storage().own_file("").components().collect();
    let what = project.relative(&folder).display().to_string();
    let (is_there, looked_at) = match fs::symlink_metadata(&folder) {
        Ok(found) if !found.is_dir() => {
            let message = format!("{what} is not a folder, so nothing can be written");
            return fault(&message, "move or rename it");
        }
        Ok(_) => (true, folder.as_path()),
        Err(_) => (false, project.root.as_path()),
    };
    let is_read_only = fs::metadata(looked_at).is_ok_and(|found| found.permissions().readonly());
    let ignore = folder.join(".gitignore");
    if is_read_only || ignore.is_file() && !is_writable(&ignore) {
        let message = format!("{what} cannot be written: nothing can be changed or cached");
        return fault(&message, &format!("chmod -R u+w {}", project.relative(looked_at).display()));
    }
    let state = if is_there { "writable" } else { "created at the first write" };
    AuditRow::ok("project", ".annals folder", &format!("{what}: {state}"))
}

fn cache(project: &Project) -> AuditRow {
    let unusable = "cache unusable; the next search rebuilds it";
    match recall::cache_state(project) {
        CacheState::Absent => AuditRow::ok("recall", "cache", "built at the first search"),
        CacheState::Sound => AuditRow::ok("recall", "cache", "sound"),
        CacheState::Unusable => {
            AuditRow::attention("recall", "cache", unusable, "annals recall WORDS")
        }
    }
}

/// Returns a row about an interrupted operation, or `None` if there is none.
fn interrupted(project: &Project) -> Option<AuditRow> {
    let message = match project.storage().interrupted() {
        Err(error) => error.reason(),
        Ok(found) => {
            let first = found.value.first()?;
            format!("operation {} ({}) was interrupted", first.id, first.operation)
        }
    };
    let fix = "annals sync, or any other command that writes";
    Some(AuditRow::attention("project", "interrupted", &message, fix))
}

/// Checks the database of facts, if there is one.
fn database(project: &Project) -> Option<AuditRow> {
    let ok = |message: &str| AuditRow::ok("facts", "database", message);
    let fault = |message: &str, fix: &str| {
        AuditRow::attention("facts", "database", message, fix).into_fault()
    };
    let facts = match Facts::open(project, None, Purpose::Read) {
        Ok(facts) => facts,
        // Facts require a home directory; having none is not a problem.
        Err(_) if project.settings.db.is_none() && project.environment.data_dir().is_none() => {
            return None;
        }
        Err(error) => return Some(fault(&error.to_string(), "annals facts check")),
    };
    let path = facts.path();
    if !path.exists() {
        return Some(ok("none; the first fact creates it"));
    }
    let file = path.display();
    if !is_writable(path) {
        return Some(fault(&format!("{file} cannot be written"), &format!("chmod u+w {file}")));
    }
    let whose = facts::user(project, None).map(|user| format!("for {}", user.as_str()));
    let whose =
        whose.unwrap_or_else(|_| "no user is set; set `user` in your config.toml".to_owned());
    Some(ok(&format!("{file}, {whose}")))
}

/// Reports the local state of sharing, if the database is shared; the server is not contacted.
fn sharing(project: &Project) -> Option<AuditRow> {
    let facts = Facts::open(project, None, Purpose::Read).ok()?;
    let here = facts::sharing(&facts).ok()?.filter(|here| !here.has_left)?;
    let row =
        |message: &str, fix: &str| Some(AuditRow::attention("facts", "sharing", message, fix));
    if !share::is_configured(project) {
        let message = "the database is shared, but no server is set";
        return row(message, "set share.url, or annals share leave");
    }
    if let (Some(at), Some(why)) = (&here.failed_at, &here.last_error) {
        return row(&format!("not synchronised since {at}: {why}"), "annals share sync");
    }
    let last = here.synced_at.as_deref().unwrap_or("never");
    let (device, waits) = (&here.device, quantity(here.pending, "operation"));
    let message = format!("device {device}, last sync: {last}, {waits} to send");
    Some(AuditRow::ok("facts", "sharing", &message))
}

/// Says whose transcripts of sessions are read, and how many are of this project.
fn transcripts(project: &Project) -> AuditRow {
    let clients = &project.settings.sessions;
    if clients.is_empty() {
        let message = "transcripts are not read; annals setup CLIENT --sessions turns it on";
        return AuditRow::ok("sessions", "transcripts", message);
    }
    let found = sessions::transcripts(project).newest;
    let counts = clients.iter().map(|client| {
        let count = found.iter().filter(|file| file.source == *client as usize).count();
        format!("{} ({count} of this project)", client.title())
    });
    let message = format!("read: {}", counts.collect::<Vec<_>>().join(", "));
    AuditRow::ok("sessions", "transcripts", &message)
}

/// Returns whether a file can be opened for appending, without writing to it.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().append(true).open(path).is_ok()
}

/// Checks whether a client calls annals, and what prevents it.
fn client(project: &Project, harness: Harness) -> AuditRow {
    let command = format!("annals setup {}", harness.as_str());
    let finding =
        |message: &str, fix: &str| AuditRow::attention("harness", harness.as_str(), message, fix);
    let mut scopes = Vec::new();
    for (scope, flag) in [(SetupScope::Project, ""), (SetupScope::User, " --user")] {
        match setup::setup_state(project, harness, scope) {
            // User settings require a home directory.
            Err(_) if scope == SetupScope::User && project.environment.home().is_none() => {}
            Err(error) => {
                let message = error.relative_to(&project.root).to_string();
                return finding(&message, &format!("{command}{flag}"));
            }
            Ok(SetupState::Absent) => {}
            Ok(SetupState::Current) => scopes.push(scope),
            Ok(SetupState::Partial) => {
                let message = "is only partly set up, or was set up by another version";
                return finding(message, &format!("{command}{flag}"));
            }
        }
    }
    let (scope, whose) = match scopes[..] {
        [] => {
            let message = format!("not set up; run {command}");
            return AuditRow::ok("harness", harness.as_str(), &message);
        }
        [scope @ SetupScope::Project] => (scope, "this project"),
        [scope @ SetupScope::User] => (scope, "all of your projects"),
        _ => {
            let message = "is set up twice, for this project and for all of your projects";
            return finding(message, &format!("{command} --remove"));
        }
    };
    // What the client has disabled or not approved yet.
    let obstacles = match setup::obstacles(project, harness, scope) {
        Ok(obstacles) => obstacles,
        Err(error) => return finding(&error.relative_to(&project.root).to_string(), &command),
    };
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_decided) {
        return finding(&obstacle.message, obstacle.next);
    }
    let open = obstacles.iter();
    let open = open.map(|obstacle| format!("; {} ({})", obstacle.message, obstacle.next));
    let message = format!("set up for {whose}{}", open.collect::<String>());
    AuditRow::ok("harness", harness.as_str(), &message)
}

/// Returns the size of what a session reads at its start.
fn start(project: &Project) -> Result<AuditRow> {
    let tokens =
        hooks::start_tokens(project, Harness::Claude) + estimate_tokens(&mcp::advertised(&[])?);
    let message = format!("about {tokens} tokens: context files, hook answer, MCP tools");
    Ok(AuditRow::ok("session", "start", &message))
}
