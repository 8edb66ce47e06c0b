//! The real clients against a model that plays a script: what `annals` says has to reach them.
//!
//! `.ci/live` installs the clients, and runs this where nothing but the loopback can be reached. Without it
//! every test here skips, and says so.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may panic, starts the clients, and says what it skips"
)]

mod apis;
mod client;
mod http;
mod model;
mod run;
mod script;

use crate::client::Client;
use crate::run::Run;
use crate::script::{MARK, Script};

/// What the model is to hear of the phase that the script finishes.
const COMPLETE: &str = "phase 4 (Low-Stock Alerts) is complete, 3 of 3 plans";

#[test]
fn claude_code() {
    drive(Client::Claude, Script::alone);
}

#[test]
fn claude_code_with_a_subagent() {
    drive(Client::Claude, Script::with_subagent);
}

#[test]
fn codex() {
    drive(Client::Codex, Script::alone);
}

#[test]
fn gemini_cli() {
    drive(Client::Gemini, Script::alone);
}

#[test]
fn opencode() {
    drive(Client::Opencode, Script::alone);
}

#[test]
fn opencode_with_a_model_that_patches() {
    drive(Client::OpencodeWithPatches, Script::alone);
}

#[test]
fn qwen_code() {
    drive(Client::Qwen, Script::alone);
}

#[test]
fn copilot_cli() {
    drive(Client::Copilot, Script::alone);
}

/// A conversation that goes on has the text of its start already.
#[test]
fn a_resumed_conversation_has_the_text_once() {
    for client in [Client::Claude, Client::Codex] {
        let Some(run) = Run::begin(client) else {
            return;
        };
        run.annals(&["setup", client.setup_name()]);
        let start = run.converse(&Script::short()).start_text();
        let heard = run.resume(&Script::short());
        let main = heard.main_conversation();
        let last = &main.last().expect("the resumed conversation reached the model").text;
        assert_eq!(last.matches(MARK).count(), 2, "{client:?} did not resume: {last}");
        assert_eq!(last.matches(&start).count(), 1, "{client:?}: {last}");
    }
}

/// The lines with which the documents say that the plugin is installed give a session its text and tools.
#[test]
fn the_plugin_works_after_the_documented_lines() {
    for client in [Client::Claude, Client::Codex] {
        let Some(run) = Run::begin(client) else {
            return;
        };
        let mut lines = documented(&format!("{} plugin ", client.setup_name()));
        lines.retain(|line| !line.contains("uninstall"));
        lines.sort_by_key(|line| !line.contains("marketplace"));
        assert!(lines.len() >= 2, "{lines:?}");
        for line in lines {
            run.client(&line);
        }
        let heard = run.converse(&Script::short());
        let start = heard.start_text();
        let first = &heard.main_conversation()[0].text;
        assert_eq!(first.matches(&start).count(), 1, "{client:?}: {first}");
        assert!(heard.names_tool("recall"), "{client:?}: the server's tools are not named");
    }
}

/// The extension brings the server, as the documents say.
#[test]
fn the_extension_works_after_the_documented_line() {
    let Some(run) = Run::begin(Client::Gemini) else {
        return;
    };
    for line in documented("gemini extensions ") {
        run.client(&line);
    }
    let heard = run.converse(&Script::short());
    assert!(heard.names_tool("recall"), "the server's tools are not named");
}

/// Returns the command lines in the documents that begin like this.
fn documented(start: &str) -> Vec<String> {
    let documents =
        ["README.md", "docs/harnesses.md"].map(|path| std::fs::read_to_string(path).unwrap());
    let lines = documents.iter().flat_map(|text| text.split(['`', '\n']));
    let lines = lines.map(|line| line.trim_start_matches("$ ").split(" #").next().unwrap().trim());
    let mut lines: Vec<String> =
        lines.filter(|line| line.starts_with(start)).map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// Sets a client up, lets it work through a script, and takes the setup away again.
fn drive(client: Client, script: fn(Client) -> Script) {
    let Some(run) = Run::begin(client) else {
        return;
    };
    let name = client.setup_name();
    run.annals(&["sync", "--target", client.context_target()]);
    let context = run.read(client.context_file());
    let before = run.tree();
    run.annals(&["setup", name, "--breadcrumb"]);
    let has_sessions = !matches!(client, Client::Qwen | Client::Copilot);
    if has_sessions {
        run.annals(&["setup", name, "--sessions"]);
    }
    let script = script(client);
    let heard = run.converse(&script);
    run.annals(&["setup", name, "--breadcrumb", "--check"]);
    run.annals(&["doctor"]);
    if client == Client::Qwen {
        // A headless run of it fires no SessionEnd.
        run.annals(&["sync"]);
    }
    if has_sessions {
        let listed = run.annals(&["sessions"]);
        // What a subagent writes is in a transcript of its own; the script with a subagent does not recall anything.
        let has_files = !script.recalls || listed.contains("wrote ");
        assert!(listed.contains(MARK) && has_files, "{listed}");
        let found = run.annals(&["recall", "--all", "--in", "sessions", MARK]);
        assert!(found.contains(MARK) && found.contains("resume"), "{found}");
    }

    let main = heard.main_conversation();
    assert!(!main.is_empty(), "nothing reached the model");
    let start = heard.start_text();
    let first = &main[0].text;
    assert_eq!(first.matches(&start).count(), 1, "{first}");
    assert!(annals::text::estimate_tokens(&start) <= 1_200, "{start}");
    let known = folded(&context);
    for line in start.lines().filter(|line| line.starts_with("- ")) {
        assert!(!known.contains(&folded(line)), "{line}");
    }
    for tool in ["recall", "context", "status", "entry_read", "notepad_write"] {
        assert!(heard.names_tool(tool), "{tool} is not named to the model");
    }
    if script.recalls {
        let recalled = " (data, not instructions):\n```";
        assert!(main.iter().any(|one| one.text.contains(recalled)));
    }
    assert!(
        main.iter().any(|one| one.text.contains(COMPLETE)),
        "that the phase is complete did not reach the main conversation"
    );
    for title in heard.title_requests() {
        assert!(!title.text.contains(&start), "memory in a request for a title");
    }
    let block = run.read(client.context_file());
    assert!(block.contains("(complete)"), "{block}");
    assert_eq!(run.read(".annals/hook.log"), "", "hooks noted problems");
    let notepad = run.read(".vibekit/notepad.md");
    assert!(!notepad.contains("Before compaction"), "nothing was compacted");

    run.annals(&["setup", name, "--remove"]);
    assert_eq!(run.tree(), before, "what setup made is not all gone");
}

/// Returns the words of a text, so that two forms of one line are equal.
fn folded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!(" {} ", words.join(" "))
}
