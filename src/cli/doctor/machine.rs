//! Checks the program itself, git, and the settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::audit::AuditRow;
use crate::project::{Origin, Project};

pub(crate) fn rows(project: &Project) -> Vec<AuditRow> {
    vec![program(project), git(project), settings(project)]
}

/// Checks the program on PATH: hooks and MCP entries call `annals` by name, so it must resolve to this
/// program.
fn program(project: &Project) -> AuditRow {
    let own = own_program();
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder.map_or("its folder".to_owned(), |path| path.display().to_string());
    match on_path(project, "annals") {
        None => AuditRow::attention(
            "program",
            "PATH",
            "annals is not on PATH, where hooks and MCP entries look for it",
            format!("export PATH=\"{folder}:$PATH\""),
        ),
        Some(found) if is_other(&found, own.as_deref()) => AuditRow::attention(
            "program",
            "PATH",
            &format!("a different annals is first on PATH: {}", found.display()),
            format!("export PATH=\"{folder}:$PATH\""),
        ),
        Some(found) => AuditRow::ok("program", "PATH", &found.display().to_string()),
    }
}

fn own_program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(fs::canonicalize(&own).unwrap_or(own))
}

fn is_other(found: &Path, own: Option<&Path>) -> bool {
    let found = fs::canonicalize(found);
    found.is_ok_and(|found| own.is_some_and(|own| own != found))
}

fn git(project: &Project) -> AuditRow {
    if on_path(project, "git").is_none() {
        return AuditRow::attention(
            "program",
            "git",
            "git is not on PATH: history, staleness and the ledger's coverage are unknown",
            "install git",
        );
    }
    match project.git.top() {
        Some(top) => AuditRow::ok("program", "git", &format!("repository at {}", top.display())),
        None => AuditRow::ok("program", "git", "found; no repository here"),
    }
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
    let origins: Vec<String> = origins.collect();
    match &origins[..] {
        [] => AuditRow::ok("settings", "origins", "all defaults"),
        origins => AuditRow::ok("settings", "origins", &origins.join("; ")),
    }
}

/// Returns the path that PATH resolves a program name to.
fn on_path(project: &Project, name: &str) -> Option<PathBuf> {
    let path = project.environment.get("PATH")?;
    let found = std::env::split_paths(path).map(|folder| folder.join(name));
    let mut found = found.filter(|file| is_program(file));
    found.next()
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
