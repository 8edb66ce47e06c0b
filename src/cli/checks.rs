//! `annals audit` and `annals doctor`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::audit::{Audit, AuditRow, Level};
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::style::check_style;
use crate::error::{Error, Result};
use crate::hooks::setup::SetupState;
use crate::hooks::{Harness, SetupScope, setup};
use crate::project::Project;
use crate::storage::read;
use crate::text::estimate_tokens;
use crate::{audit, hooks, mcp};

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
/// The program itself and git, what can be written, whose transcripts are read, each client, and the size of a
/// session's start. Nothing is changed.
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
struct Diagnosis<'a> {
    version: &'static str,
    #[serde(flatten)]
    audit: &'a Audit,
}

pub(crate) fn audit(args: &AuditArgs, project: &Project, out: &mut Output) -> Result<()> {
    let audit = audit::audit(project);
    if !out.mode.json {
        out.warnings(&audit.warnings);
    }
    show(&audit, &audit, args.check, out)
}

fn show(document: &impl Serialize, audit: &Audit, fails: bool, out: &mut Output) -> Result<()> {
    out.paint = check_style;
    let end = if fails { audit.verdict() } else { Ok(()) };
    out.show_until(document, &(), text!("checks"), end)
}

pub(crate) fn doctor(args: &DoctorArgs, project: &Project, out: &mut Output) -> Result<()> {
    let project = &project.dry_run(true);
    let mut rows = vec![
        program(project).named("program", "PATH"),
        git(project).named("program", "git"),
        own_folder(project).named("project", ".annals folder"),
        transcripts(project).named("sessions", "transcripts"),
    ];
    rows.extend(audit::lack_of_room(project));
    let clients = Harness::ALL.map(|one| client(project, one).named("harness", one.as_str()));
    let is_set_up = clients.iter().any(|one| one.level != Level::Unused);
    rows.extend(clients);
    let (files, answer) = hooks::start_tokens(project, Harness::Claude);
    let tokens = files + answer + estimate_tokens(&mcp::advertised());
    let message = format!("about {tokens} tokens: context files, hook answer, MCP tools");
    let row = if is_set_up {
        AuditRow::ok(message)
    } else {
        AuditRow::unused(&format!("no client is set up by `annals setup`; once one is, {message}"))
    };
    rows.push(row.named("session", "start"));
    let audit = &Audit::new(rows, Vec::new());
    let version = env!("CARGO_PKG_VERSION");
    show(&Diagnosis { version, audit }, audit, args.check, out)
}

/// Checks the program on PATH: hooks and MCP entries call `annals` by name, so it must resolve to this
/// program.
fn program(project: &Project) -> AuditRow {
    let resolved = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
    let own = std::env::current_exe().ok().map(resolved);
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder.map_or("its folder".to_owned(), |path| path.display().to_string());
    let fix = format!("export PATH=\"{folder}:$PATH\"");
    match on_path(project, "annals") {
        None => AuditRow::attention(
            "annals is not on PATH, where hooks and MCP entries look for it",
            fix,
        ),
        Some(found) if own.is_some_and(|own| own != resolved(found.clone())) => {
            AuditRow::attention(
                format!("a different annals is first on PATH: {}", found.display()),
                fix,
            )
        }
        Some(found) => AuditRow::ok(found.display().to_string()),
    }
}

fn git(project: &Project) -> AuditRow {
    match (on_path(project, "git"), project.git.top()) {
        (None, _) => AuditRow::attention(
            "git is not on PATH: history, staleness and the ledger's coverage are unknown",
            "install git",
        ),
        (_, Some(top)) => match setup::git::missing_driver(project) {
            Ok(None) => AuditRow::ok(format!("repository at {}", top.display())),
            Ok(Some(command)) => AuditRow::attention(
                "this clone lacks the merge driver that .gitattributes names",
                command,
            ),
            Err(error) => unreadable(project, error, "annals setup git"),
        },
        _ => AuditRow::ok("found; no repository here"),
    }
}

/// Returns the result of a check of settings that cannot be read.
fn unreadable(project: &Project, error: Error, fix: impl Into<String>) -> AuditRow {
    AuditRow::attention(error.relative_to(&project.root).to_string(), fix)
}

/// Says whose transcripts of sessions are read.
fn transcripts(project: &Project) -> AuditRow {
    let clients: Vec<&str> = project.settings.sessions.iter().map(|one| one.title()).collect();
    if clients.is_empty() {
        return AuditRow::unused("not read; annals setup CLIENT --sessions turns it on");
    }
    AuditRow::ok(format!("read: {}", clients.join(", ")))
}

/// Returns the path that PATH resolves a program name to.
fn on_path(project: &Project, name: &str) -> Option<PathBuf> {
    let path = project.environment.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}

/// Checks whether the folder for locks, history and caches is writable, without writing.
fn own_folder(project: &Project) -> AuditRow {
    // With a trailing slash, the lookup would fail if it is not a folder.
    let folder: PathBuf = project.storage().own_file("").components().collect();
    let what = project.relative(&folder).display();
    let found = fs::symlink_metadata(&folder).ok();
    if found.as_ref().is_some_and(|found| !found.is_dir()) {
        return AuditRow::attention(
            format!("{what} is not a folder, so nothing can be written"),
            "move or rename it",
        )
        .fault();
    }
    let looked_at = if found.is_some() { &folder } else { &project.root };
    if !read::is_writable(looked_at) {
        let fix = format!("make {} writable for you", looked_at.display());
        return AuditRow::attention(
            format!("{what} cannot be written: nothing can be changed or cached"),
            fix,
        )
        .fault();
    }
    let state = if found.is_some() { "writable" } else { "created at the first write" };
    AuditRow::ok(format!("{what}: {state}"))
}

/// Checks whether a client calls annals, and what prevents it.
fn client(project: &Project, harness: Harness) -> AuditRow {
    let command = format!("annals setup {}", harness.as_str());
    let mut scopes = Vec::new();
    for (scope, flag) in [(SetupScope::Project, ""), (SetupScope::User, " --user")] {
        match setup::setup_state(project, harness, scope) {
            // User settings require a home directory.
            Err(_) if scope == SetupScope::User && project.environment.home().is_none() => {}
            Err(error) => return unreadable(project, error, format!("{command}{flag}")),
            Ok(SetupState::Absent) => {}
            Ok(SetupState::Current) => scopes.push(scope),
            Ok(SetupState::Partial) => {
                return AuditRow::attention(
                    "is only partly set up, or was set up by another version",
                    format!("{command}{flag}"),
                );
            }
        }
    }
    let scope = match scopes[..] {
        [] => return AuditRow::unused(&format!("not set up; run {command}")),
        [scope] => scope,
        [scope, _] if !harness.profile().one_scope_is_enough() => scope,
        _ => {
            return AuditRow::attention(
                "is set up twice, for this project and for all of your projects",
                // The project's settings may be a team's, and the user's serve other projects.
                format!(
                    "{command} --user --remove (yours), or {command} --remove (the project's, for all who share it)"
                ),
            );
        }
    };
    // What the client has disabled or not approved yet.
    let obstacles = match setup::obstacles(project, harness, scope) {
        Ok(obstacles) => obstacles,
        Err(error) => return unreadable(project, error, command),
    };
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_decided) {
        return AuditRow::attention(&obstacle.message, obstacle.next);
    }
    let open = obstacles.iter().map(|one| format!("; {} ({})", one.message, one.next));
    AuditRow::ok(format!("set up for {}{}", scope.whose(), open.collect::<String>()))
}
