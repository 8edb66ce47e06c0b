//! Codex: hooks in `hooks.json`, the server in `config.toml`.

use crate::hooks::Harness;
use crate::hooks::setup::SetupRequest;
use crate::hooks::setup::entry;
use crate::hooks::setup::entry::Hook;
use crate::hooks::setup::place::Place;
use crate::hooks::setup::place::Scope;
use crate::hooks::setup::settings::Entries;
use crate::hooks::setup::wish::Part;
use crate::hooks::setup::wish::Wish;
use crate::hooks::setup::wish::Wishes;

/// Returns what Codex is to have; it knows no end of a session.
pub(crate) fn wishes(place: &Place, request: SetupRequest) -> Wishes {
    let mut hooks = vec![
        Hook {
            event: "SessionStart",
            matcher: None,
            command: entry::session_start(Harness::Codex, request.notepad),
            timeout: 10,
        },
        Hook {
            event: "PostToolUse",
            matcher: Some("apply_patch|Write|Edit"),
            command: entry::command(Harness::Codex, "post-tool-use"),
            timeout: 5,
        },
    ];
    if request.breadcrumb {
        hooks.push(Hook {
            event: "PreCompact",
            matcher: None,
            command: entry::command(Harness::Codex, "pre-compact"),
            timeout: 10,
        });
    }
    let mut notes = Vec::new();
    if !request.remove {
        notes.push("Codex runs a hook once you have trusted it: open /hooks there".to_owned());
        if request.scope == Scope::Project {
            notes.push(
                "Codex reads a project's own settings only where the project is trusted".to_owned(),
            );
        }
    }
    let hooks = Part::Json(Entries {
        hooks,
        server: None,
    });
    Wishes {
        files: vec![
            Wish {
                path: place.folder.join("hooks.json"),
                part: hooks,
            },
            Wish {
                path: place.folder.join("config.toml"),
                part: Part::Toml,
            },
        ],
        notes,
    }
}
