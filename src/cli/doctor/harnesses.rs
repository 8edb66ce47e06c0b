//! Checks which harnesses call annals, and what prevents them.

use crate::audit::AuditRow;
use crate::error::Result;
use crate::hooks::setup::SetupState;
use crate::hooks::{Harness, SetupScope, setup};
use crate::project::Project;

pub(crate) fn rows(project: &Project) -> Vec<AuditRow> {
    let harnesses = Harness::ALL.into_iter();
    harnesses.map(|harness| row(project, harness)).collect()
}

fn row(project: &Project, harness: Harness) -> AuditRow {
    let command = format!("annals setup {}", harness.as_str());
    let mut scopes = Vec::new();
    for (scope, flag) in [(SetupScope::Project, ""), (SetupScope::User, " --user")] {
        match setup::setup_state(project, harness, scope) {
            // User settings require a home directory.
            Err(_) if scope == SetupScope::User && project.environment.home().is_none() => {}
            Err(error) => {
                let message = error.relative_to(&project.root).to_string();
                return finding(harness, &message, &format!("{command}{flag}"));
            }
            Ok(SetupState::Absent) => {}
            Ok(SetupState::Current) => scopes.push(scope),
            Ok(SetupState::Partial) => {
                let message = "is only partly set up, or was set up by another version";
                return finding(harness, message, &format!("{command}{flag}"));
            }
        }
    }
    match scopes[..] {
        [] => {
            let message = format!("not set up; run {command}");
            AuditRow::ok("harness", harness.as_str(), &message)
        }
        [scope] => of_scope(project, harness, scope).unwrap_or_else(|error| {
            let message = error.relative_to(&project.root).to_string();
            finding(harness, &message, &command)
        }),
        _ => {
            let message = "is set up twice, for this project and for all of your projects";
            finding(harness, message, &format!("{command} --remove"))
        }
    }
}

/// Returns the row of a harness that is set up, with what the harness has disabled or not approved yet.
fn of_scope(project: &Project, harness: Harness, scope: SetupScope) -> Result<AuditRow> {
    let obstacles = setup::obstacles(project, harness, scope)?;
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_decided) {
        return Ok(finding(harness, &obstacle.message, &obstacle.next));
    }
    let whose = match scope {
        SetupScope::Project => "this project",
        SetupScope::User => "all of your projects",
    };
    let open = obstacles.iter();
    let open = open.map(|obstacle| format!("; {} ({})", obstacle.message, obstacle.next));
    let message = format!("set up for {whose}{}", open.collect::<String>());
    Ok(AuditRow::ok("harness", harness.as_str(), &message))
}

fn finding(harness: Harness, message: &str, fix: &str) -> AuditRow {
    AuditRow::attention("harness", harness.as_str(), message, fix)
}
