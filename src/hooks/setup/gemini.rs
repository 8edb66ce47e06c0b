//! Gemini CLI: hooks and the server in `settings.json`; it counts time in milliseconds.

use crate::hooks::Harness;
use crate::hooks::setup::SetupRequest;
use crate::hooks::setup::entry;
use crate::hooks::setup::entry::Hook;
use crate::hooks::setup::place::Place;
use crate::hooks::setup::server::Server;
use crate::hooks::setup::settings::Entries;
use crate::hooks::setup::wish::Part;
use crate::hooks::setup::wish::Wish;
use crate::hooks::setup::wish::Wishes;

/// Returns what Gemini CLI is to have.
pub(crate) fn wishes(place: &Place, request: SetupRequest) -> Wishes {
    let mut hooks = vec![
        Hook {
            event: "SessionStart",
            matcher: None,
            command: entry::session_start(Harness::Gemini, request.notepad),
            timeout: 10_000,
        },
        Hook {
            event: "AfterTool",
            matcher: Some("write_file|replace"),
            command: entry::command(Harness::Gemini, "post-tool-use"),
            timeout: 5_000,
        },
        Hook {
            event: "SessionEnd",
            matcher: None,
            command: entry::command(Harness::Gemini, "session-end"),
            timeout: 10_000,
        },
    ];
    if request.breadcrumb {
        hooks.push(Hook {
            event: "PreCompress",
            matcher: None,
            command: entry::command(Harness::Gemini, "pre-compact"),
            timeout: 10_000,
        });
    }
    let part = Part::Json(Entries {
        hooks,
        server: Some(Server::Program),
    });
    let path = place.folder.join("settings.json");
    Wishes {
        files: vec![Wish { path, part }],
        notes: Vec::new(),
    }
}
