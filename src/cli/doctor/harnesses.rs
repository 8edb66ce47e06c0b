//! Which harnesses call annals, and whether their settings are as `setup` wants them.

use crate::audit::Level;
use crate::audit::Row;
use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::setup;
use crate::hooks::setup::FileOutcome;
use crate::hooks::setup::Scope;
use crate::hooks::setup::SetupRequest;
use crate::project::Project;

pub(crate) fn rows(project: &Project) -> Vec<Row> {
    let harnesses = Harness::ALL.into_iter();
    harnesses.map(|harness| row(project, harness)).collect()
}

/// How the settings of a harness stand in one scope.
enum Standing {
    /// Nothing of ours is there.
    Absent,
    /// All that is wanted is there.
    Current,
    /// Something is there, and not as this version wants it.
    Partial,
}

fn row(project: &Project, harness: Harness) -> Row {
    let command = format!("annals setup {}", harness.as_str());
    let mut current = Vec::new();
    for (scope, flag) in [(Scope::Project, ""), (Scope::User, " --user")] {
        let mend = format!("{command}{flag}");
        match standing(project, harness, scope) {
            // Without a home there are no settings of the user's.
            Err(_) if scope == Scope::User && project.environment.home().is_none() => {}
            Err(error) => {
                let message = error.relative_to(&project.root).to_string();
                return finding(harness, &message, &mend);
            }
            Ok(Standing::Absent) => {}
            Ok(Standing::Current) => current.push(match scope {
                Scope::Project => "this project",
                Scope::User => "all of your projects",
            }),
            Ok(Standing::Partial) => {
                return finding(harness, "is set up in part, or by another version", &mend);
            }
        }
    }
    let told = match &current[..] {
        [] => format!("not set up; {command} does it"),
        scopes => format!("set up for {}", scopes.join(" and ")),
    };
    Row::ok("harness", harness.as_str(), &told)
}

fn finding(harness: Harness, message: &str, mend: &str) -> Row {
    Row::finding("harness", harness.as_str(), Level::Attention, message, mend)
}

/// Holds the settings against every way in which they can be wanted.
fn standing(project: &Project, harness: Harness, scope: Scope) -> Result<Standing> {
    let mut is_absent = true;
    for (notepad, breadcrumb) in [(true, false), (false, false), (true, true), (false, true)] {
        let request = |check, remove| SetupRequest {
            harness,
            scope,
            check,
            remove,
            notepad,
            breadcrumb,
        };
        let is_unchanged = |outcome: FileOutcome| outcome == FileOutcome::Unchanged;
        let wanted = setup::setup(project, request(true, false))?;
        if wanted.files.iter().all(|file| is_unchanged(file.outcome)) {
            return Ok(Standing::Current);
        }
        // What a removal would take out is what is there.
        let removed = setup::setup(project, request(false, true))?;
        is_absent &= removed.files.iter().all(|file| is_unchanged(file.outcome));
    }
    Ok(if is_absent {
        Standing::Absent
    } else {
        Standing::Partial
    })
}
