//! The Claude Code plugin: its JSON parses, and what it calls is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Case, require, tree};

const PLUGIN: &str = "plugin";

#[test]
fn every_json_file_parses() {
    let mut seen = 0;
    for path in files() {
        if path.extension().is_some_and(|extension| extension == "json") {
            let parsed: Result<Value, _> =
                serde_json::from_str(&fs::read_to_string(&path).unwrap());
            assert!(parsed.is_ok(), "{}: {parsed:?}", path.display());
            seen += 1;
        }
    }
    assert_eq!(seen, 4, "plugin.json twice, hooks.json, .mcp.json");
}

#[test]
fn its_version_is_the_programs() {
    for manifest in [
        "plugin/.claude-plugin/plugin.json",
        "plugin/.codex-plugin/plugin.json",
        "gemini-extension.json",
    ] {
        let manifest = json(manifest);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["name"], "annals");
    }
    let listed = &json(".claude-plugin/marketplace.json")["plugins"][0];
    assert_eq!(listed["name"], "annals");
    assert_eq!(listed["source"], format!("./{PLUGIN}"));
}

#[test]
fn every_command_it_names_exists() {
    let case = Case::empty();
    let mut checked = BTreeSet::new();
    for path in files() {
        for words in named_commands(&fs::read_to_string(&path).unwrap()) {
            let place = path.display();
            let (flags, commands): (Vec<_>, Vec<_>) =
                words.iter().partition(|word| word.starts_with('-'));
            // The short help of `annals` itself lists no options.
            let all = commands.is_empty().then_some("--all");
            let help = case.run("").args(&commands).args(["--help"]).args(all).output();
            assert_eq!(help.exit_code(), Some(0), "{place}: annals {words:?}");
            for flag in flags {
                assert!(help.stdout().contains(flag.as_str()), "{place}: {words:?}");
            }
            checked.insert(words);
        }
    }
    assert!(checked.len() > 10, "{checked:?}");
}

#[test]
fn commands_are_found_in_text() {
    let text = "Run `annals patterns relevant 4`, !`annals plan $ARGUMENTS`; Bash(annals log:*), `annals sync --check`, `annals log \"a b\" --limit 5 -q`\n";
    let found = named_commands(text);
    let found: Vec<String> = found.into_iter().map(|words| words.join(" ")).collect();
    assert_eq!(found, ["patterns relevant", "plan", "log", "sync --check", "log --limit -q"]);
}

#[test]
fn every_command_and_skill_says_what_it_is_for() {
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let folder = path.to_string_lossy().into_owned();
        if folder.contains("/commands/") || folder.ends_with("SKILL.md") {
            let front = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
            let (front, _) = front.unwrap_or_else(|| panic!("{folder} has front matter"));
            assert!(front.contains("description: "), "{folder}");
        }
        if let Some(folder) = path.parent().filter(|_| path.ends_with("SKILL.md")) {
            let name = folder.file_name().unwrap().to_str().unwrap();
            assert!(text.contains(&format!("name: {name}\n")), "{name}");
        }
    }
}

#[test]
fn every_memory_has_a_skill() {
    let mut named = BTreeSet::new();
    for path in files().iter().filter(|path| path.ends_with("SKILL.md")) {
        let text = fs::read_to_string(path).unwrap();
        let commands = named_commands(&text).into_iter();
        named.extend(commands.filter_map(|words| words.into_iter().next()));
        let lines = text.lines().count();
        assert!(lines <= 30, "{} has {lines} lines", path.display());
    }
    for command in [
        "context", "entry", "execute", "facts", "journal", "ledger", "notepad", "patterns",
        "pause", "plan", "recall", "resume", "ship", "status", "sync",
    ] {
        assert!(named.contains(command), "no skill names `annals {command}`");
    }
}

#[test]
fn its_line_that_forgets_a_fact_is_accepted_as_it_stands() {
    let skill = fs::read_to_string("plugin/skills/user-facts/SKILL.md").unwrap();
    let line = skill.split('`').find(|part| part.starts_with("annals facts forget")).unwrap();
    let case = Case::empty();
    case.run("facts add --user ada --key preference.editor --value helix").success();
    case.run(line.trim_start_matches("annals ")).success();
    assert_eq!(case.run("facts list --user ada --json").success().json()["facts"], json!([]));
}

#[test]
fn the_journal_is_for_use_without_being_asked() {
    let skill = fs::read_to_string("plugin/skills/journal/SKILL.md").unwrap();
    let description = skill.lines().find(|line| line.starts_with("description: ")).unwrap();
    assert!(description.contains("Use proactively, also where the user does not ask"));
}

#[test]
fn its_hooks_are_those_of_setup() {
    let case = Case::empty();
    case.git_init();
    case.run("setup claude").success();
    let settings = case.read(".claude/settings.json").unwrap();
    let mut wanted: Value = serde_json::from_slice(&settings).unwrap();
    for groups in wanted["hooks"].as_object_mut().unwrap().values_mut() {
        for group in groups.as_array_mut().unwrap() {
            let command = group["hooks"][0]["command"].as_str().unwrap().to_owned();
            let event = command.strip_prefix("annals hook ").unwrap();
            let called = format!("sh \"${{CLAUDE_PLUGIN_ROOT}}/hooks/annals.sh\" {event}");
            group["hooks"][0]["command"] = Value::from(called);
        }
    }
    assert_eq!(json("plugin/hooks/hooks.json")["hooks"], wanted["hooks"]);
    let server = case.read(".mcp.json").unwrap();
    let server: Value = serde_json::from_slice(&server).unwrap();
    assert_eq!(json("plugin/.mcp.json"), server);
}

#[test]
fn without_the_binary_it_says_so_once_and_never_fails() {
    if !require("sh") {
        return;
    }
    let case = Case::empty();
    let script = fs::canonicalize("plugin/hooks/annals.sh").unwrap();
    let call = |event: &str| {
        let invocation = case.program("sh").args([script.as_os_str()]).args([event]);
        let invocation = invocation.env("CLAUDE_PLUGIN_DATA", case.home().join("plugin"));
        let invocation = invocation.env("PATH", "/usr/bin:/bin");
        invocation.stdin("{}").success().stdout()
    };
    assert_eq!(call("post-tool-use"), "");
    let said: Value = serde_json::from_str(&call("session-start")).unwrap();
    assert!(said["systemMessage"].as_str().unwrap().contains("on PATH"));
    assert_eq!(call("session-start"), "");
}

#[cfg(unix)]
#[test]
fn the_journal_s_scripts_write_and_search() {
    use std::os::unix::fs::PermissionsExt;

    if !require("sh") {
        return;
    }
    let case = Case::empty();
    let programs = case.home().join("bin");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_annals"), programs.join("annals")).unwrap();
    let run = |name: &str, path: &str, input: &str| {
        let script = fs::canonicalize("plugin/skills/journal/scripts").unwrap().join(name);
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o111, 0o111, "{name}");
        let invocation = case.program("sh").args([script.as_os_str()]);
        invocation.env("PATH", path).stdin(input.to_owned())
    };
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let note = r#"{"type":"note","content":"User prefers Python.","tags":["preference"]}"#;
    let written = run("memory_write", &path, note).success().json();
    assert_eq!(written["ok"], true, "{written}");
    let found = run("memory_search", &path, r#"{"q":"Python","limit":5}"#).success().json();
    assert_eq!(found["results"][0], written["entry"], "{found}");
    for name in ["memory_write", "memory_search"] {
        let missing = run(name, "/usr/bin:/bin", "{}").code(1).json();
        assert_eq!(missing["ok"], false, "{name}");
    }
}

#[test]
fn in_a_client_that_setup_was_run_for_the_plugin_keeps_silent() {
    if !require("sh") {
        return;
    }
    let script = fs::canonicalize("plugin/hooks/annals.sh").unwrap();
    let told = |setup: &str, variable: &str| {
        let case = Case::empty();
        case.git_init();
        case.run(setup).success();
        let run = case.program("sh").args([script.as_os_str()]).args(["session-start"]);
        // Without the program, the plugin says something if it does not keep silent.
        let run = run.env("PATH", "/usr/bin:/bin").env(variable, "plugin");
        !run.stdin("{}").success().stdout().is_empty()
    };
    let (claude, codex) = ("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT");
    for scope in ["", " --user"] {
        let by_claude = format!("setup claude{scope}");
        assert_eq!([claude, codex].map(|client| told(&by_claude, client)), [false, true]);
        let by_codex = format!("setup codex{scope}");
        assert_eq!([claude, codex].map(|client| told(&by_codex, client)), [true, false]);
    }
}

/// The subcommands, and the flags, of each `annals …` in a text that is code.
fn named_commands(text: &str) -> Vec<Vec<String>> {
    let starts = ["`annals ", "Bash(annals "];
    let mut found: Vec<(usize, Vec<String>)> = Vec::new();
    for start in starts {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let end = rest.find(['`', ':', ')', '\n']).unwrap_or(rest.len());
            let words = rest[..end].split_whitespace();
            let is_command = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
            let commands = words.clone().take_while(is_command);
            let flags = words.filter(|word| word.starts_with('-'));
            found.push((at, commands.chain(flags).map(str::to_owned).collect()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, words)| words).collect()
}

fn files() -> Vec<PathBuf> {
    let below = tree(Path::new(PLUGIN)).into_keys();
    let files = below.filter(|path| !path.ends_with('/'));
    files.map(|path| Path::new(PLUGIN).join(path)).collect()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
