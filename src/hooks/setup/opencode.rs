//! opencode: the server in `opencode.json`, the hooks as a plugin file of our own.

use crate::hooks::setup::SetupRequest;
use crate::hooks::setup::place::Place;
use crate::hooks::setup::server::Server;
use crate::hooks::setup::settings::Entries;
use crate::hooks::setup::wish::Part;
use crate::hooks::setup::wish::Wish;
use crate::hooks::setup::wish::Wishes;

const PLUGIN: &str = include_str!("../../../templates/opencode/annals.js");
/// Returns what opencode is to have.
pub(crate) fn wishes(place: &Place, request: SetupRequest) -> Wishes {
    let json = place.base.join("opencode.json");
    let other = place.base.join("opencode.jsonc");
    let path = if !json.exists() && other.exists() {
        other
    } else {
        json
    };
    let part = Part::Json(Entries {
        hooks: Vec::new(),
        server: Some(Server::List),
    });
    let plugin = Wish {
        path: place.folder.join("plugins").join("annals.js"),
        part: Part::Whole(plugin(request)),
    };
    Wishes {
        files: vec![Wish { path, part }, plugin],
        notes: Vec::new(),
    }
}

/// Returns the plugin; what is chosen stands in two constants at its head.
fn plugin(request: SetupRequest) -> String {
    let chosen = |text: &str, name: &str, default: bool, chosen: bool| {
        let (old, new) = (
            format!("{name} = {default};"),
            format!("{name} = {chosen};"),
        );
        text.replacen(&old, &new, 1)
    };
    let text = chosen(PLUGIN, "NOTEPAD", true, request.notepad);
    chosen(&text, "BREADCRUMB", false, request.breadcrumb)
}
