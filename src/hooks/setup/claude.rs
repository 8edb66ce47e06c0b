//! Claude Code: hooks in `settings.json`, the server in the project's `.mcp.json`.

use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::setup::SetupRequest;
use crate::hooks::setup::entry;
use crate::hooks::setup::entry::Hook;
use crate::hooks::setup::place::Place;
use crate::hooks::setup::place::Scope;
use crate::hooks::setup::run;
use crate::hooks::setup::server::Server;
use crate::hooks::setup::settings;
use crate::hooks::setup::settings::Entries;
use crate::hooks::setup::wish::Part;
use crate::hooks::setup::wish::Wish;
use crate::hooks::setup::wish::Wishes;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;

const SETTINGS: &str = "settings.json";

/// Plans the one hook that hands a new session the project's memory, where none of ours is there yet.
///
/// The changes belong to [`Store::Context`](crate::storage::Store::Context).
pub fn session_start(project: &Project) -> Result<Changes> {
    let place = Place::of(project, Harness::Claude, Scope::Project)?;
    let path = place.folder.join(SETTINGS);
    let old = read::bytes(&path)?;
    let hook = start(true);
    let new = settings::with_first(old.as_deref().unwrap_or_default(), &path, &hook)?;
    let mut changes = Changes::new();
    run::replace(&mut changes, &path, old, new)?;
    Ok(changes)
}

/// Returns what Claude Code is to have.
pub(crate) fn wishes(place: &Place, request: SetupRequest) -> Wishes {
    let mut files = vec![Wish {
        path: place.folder.join(SETTINGS),
        part: Part::Json(Entries {
            hooks: hooks(request.notepad, request.breadcrumb),
            server: None,
        }),
    }];
    let mut notes = Vec::new();
    match request.scope {
        Scope::Project => files.push(Wish {
            path: place.base.join(".mcp.json"),
            part: Part::Json(Entries {
                hooks: Vec::new(),
                server: Some(Server::Program),
            }),
        }),
        // Its user-level servers stand in a file that the program rewrites all the time.
        Scope::User => notes.push(if request.remove {
            "for the MCP server: claude mcp remove --scope user annals".to_owned()
        } else {
            "for the MCP server: claude mcp add --scope user annals -- annals mcp".to_owned()
        }),
    }
    Wishes { files, notes }
}

/// Returns the hooks, with the breadcrumb before a compaction where that is wanted.
pub(crate) fn hooks(notepad: bool, breadcrumb: bool) -> Vec<Hook> {
    let mut hooks = vec![
        start(notepad),
        // Not `async`, or what it says is lost.
        Hook {
            event: "PostToolUse",
            matcher: Some("Write|Edit|MultiEdit"),
            command: entry::command(Harness::Claude, "post-tool-use"),
            timeout: 5,
        },
        Hook {
            event: "SessionEnd",
            matcher: None,
            command: entry::command(Harness::Claude, "session-end"),
            timeout: 10,
        },
    ];
    if breadcrumb {
        hooks.push(Hook {
            event: "PreCompact",
            matcher: None,
            command: entry::command(Harness::Claude, "pre-compact"),
            timeout: 10,
        });
    }
    hooks
}

fn start(notepad: bool) -> Hook {
    Hook {
        event: "SessionStart",
        matcher: None,
        command: entry::session_start(Harness::Claude, notepad),
        timeout: 10,
    }
}
