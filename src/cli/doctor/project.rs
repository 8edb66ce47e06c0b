//! Checks the project: its planning folder, write access, the cache, the database of facts.

use std::fs;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use crate::audit::AuditRow;
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::recall::CacheState;
use crate::text::quantity;
use crate::{audit, facts, recall, share};

pub(crate) fn rows(project: &Project) -> Vec<AuditRow> {
    let mut rows = vec![planning(project), own_folder(project), cache(project)];
    rows.extend(audit::lack_of_room(project));
    rows.extend(interrupted(project));
    rows.extend(database(project));
    rows.extend(sharing(project));
    rows
}

fn planning(project: &Project) -> AuditRow {
    if let Some(odd) = project.warnings.first() {
        let fix = "annals --planning-dir DIR, or planning_dir in annals.toml";
        return AuditRow::attention("project", "planning", &odd.message, fix);
    }
    match project.planning() {
        Ok(planning) => {
            let folder = project.relative(&planning.dir).display().to_string();
            AuditRow::ok("project", "planning", &folder)
        }
        Err(_) => {
            AuditRow::ok("project", "planning", "no planning folder; annals init creates one")
        }
    }
}

/// Checks whether the folder for locks, history and caches is writable, without writing.
fn own_folder(project: &Project) -> AuditRow {
    // With a trailing slash, the lookup would fail if it is not a folder.
    let folder: PathBuf = project.storage().own_file("").components().collect();
    let what = project.relative(&folder).display().to_string();
    let (is_there, looked_at) = match fs::symlink_metadata(&folder) {
        Ok(found) if !found.is_dir() => {
            let message = format!("{what} is not a folder, so nothing can be written");
            let fix = "move or rename it";
            return AuditRow::attention("project", ".annals folder", &message, fix).into_fault();
        }
        Ok(_) => (true, folder.as_path()),
        Err(_) => (false, project.root.as_path()),
    };
    let is_read_only = fs::metadata(looked_at).is_ok_and(|found| found.permissions().readonly());
    let ignore = folder.join(".gitignore");
    if is_read_only || ignore.is_file() && !is_writable(&ignore) {
        let message = format!("{what} cannot be written: nothing can be changed or cached");
        let fix = format!("chmod -R u+w {}", project.relative(looked_at).display());
        return AuditRow::attention("project", ".annals folder", &message, fix).into_fault();
    }
    let state = if is_there { "writable" } else { "created at the first write" };
    AuditRow::ok("project", ".annals folder", &format!("{what}: {state}"))
}

fn cache(project: &Project) -> AuditRow {
    match recall::cache_state(project) {
        CacheState::Absent => AuditRow::ok("recall", "cache", "built at the first search"),
        CacheState::Sound => AuditRow::ok("recall", "cache", "sound"),
        CacheState::Unusable => AuditRow::attention(
            "recall",
            "cache",
            "cache unusable; the next search rebuilds it",
            "annals recall QUERY",
        ),
    }
}

/// Returns a row about an interrupted operation, or `None` if there is none.
fn interrupted(project: &Project) -> Option<AuditRow> {
    let fix = "annals sync, or any other command that writes";
    let row = |message: &str| AuditRow::attention("project", "interrupted", message, fix);
    match project.storage().interrupted() {
        Err(error) => Some(row(&error.reason())),
        Ok(found) => found.value.first().map(|operation| {
            let (id, what) = (operation.id, &operation.operation);
            row(&format!("operation {id} ({what}) was interrupted"))
        }),
    }
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
        let message = format!("{file} cannot be written");
        return Some(fault(&message, &format!("chmod u+w {file}")));
    }
    let whose = match facts::user(project, None) {
        Ok(user) => format!("for {}", user.as_str()),
        Err(_) => "no user is set; set `user` in your config.toml".to_owned(),
    };
    Some(ok(&format!("{file}, {whose}")))
}

/// Reports the local state of sharing, if the database is shared; the server is not contacted.
fn sharing(project: &Project) -> Option<AuditRow> {
    let facts = Facts::open(project, None, Purpose::Read).ok()?;
    let here = facts::sharing(&facts).ok()?.filter(|here| !here.has_left)?;
    let row =
        |message: &str, fix: &str| Some(AuditRow::attention("facts", "sharing", message, fix));
    if !share::is_configured(project) {
        return row(
            "the database is shared, but no server is set",
            "set share.url, or annals share leave",
        );
    }
    if let (Some(at), Some(why)) = (&here.failed_at, &here.last_error) {
        return row(&format!("not synchronised since {at}: {why}"), "annals share sync");
    }
    let last = here.synced_at.as_deref().unwrap_or("never");
    let waits = quantity(here.pending, "operation");
    Some(AuditRow::ok(
        "facts",
        "sharing",
        &format!("device {}, last sync: {last}, {waits} to send", here.device),
    ))
}

/// Returns whether a file can be opened for appending, without writing to it.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().append(true).open(path).is_ok()
}
