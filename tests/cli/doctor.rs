//! `annals doctor`

use std::path::Path;

use serde_json::Value;

use crate::cli::VBW;
use crate::support::Case;

/// A `PATH` that leads to the built binary, and to git where the machine has it.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_annals")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", folder.display())
}

fn row<'a>(diagnosis: &'a Value, store: &str, check: &str) -> &'a Value {
    let rows = diagnosis["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["store"] == store && row["check"] == check)
        .unwrap_or_else(|| panic!("no row {store} {check}: {diagnosis:#}"))
}

fn diagnosis(case: &Case) -> Value {
    case.run("doctor --json").env("PATH", path()).without("ANNALS_ENCODER").success().json()
}

#[test]
fn a_fresh_folder_is_told_what_can_be_set_up_and_stays_as_it_is() {
    let case = Case::empty();
    let found = diagnosis(&case);
    assert_eq!(case.whole_tree().len(), 0, "nothing is written");
    assert_eq!(found["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(row(&found, "program", "PATH")["level"], "ok");
    let transcripts = &row(&found, "sessions", "transcripts")["details"][0]["message"];
    assert_eq!(transcripts, "not read; annals setup CLIENT --sessions turns it on");
    let claude = row(&found, "harness", "claude");
    assert_eq!(claude["level"], "unused");
    assert_eq!(claude["details"][0]["message"], "not set up; run annals setup claude");
    let start = &row(&found, "session", "start")["details"][0]["message"];
    assert!(
        start
            .as_str()
            .unwrap()
            .starts_with("no client is set up by `annals setup`; once one is, about ")
    );
    assert_eq!(found["level"], "ok");
}

#[test]
fn a_program_that_is_not_on_path_is_told_with_what_puts_it_there() {
    let case = Case::empty();
    let run = case.run("doctor --check").env("PATH", "/nowhere").code(1);
    let shown = run.stdout();
    assert!(
        shown.contains("program   PATH           attention    1  export PATH=\""),
        "{}",
        run.report()
    );
    assert!(shown.contains("program   git            attention    1  install git\n"), "{shown}");
    assert!(!run.stderr().contains("hint: "), "{}", run.report());
}

#[test]
fn a_harness_is_set_up_whole_in_part_or_unreadable() {
    let case = Case::new(VBW);
    let message = |case: &Case| {
        let found = diagnosis(case);
        let claude = row(&found, "harness", "claude");
        let told = claude["details"][0]["message"].as_str().unwrap();
        (claude["level"].as_str().unwrap().to_owned(), told.to_owned())
    };
    for flags in ["", " --no-notepad", " --breadcrumb"] {
        case.run(&format!("setup claude{flags}")).success();
        let (level, told) = message(&case);
        assert_eq!(level, "ok", "{flags}");
        assert!(
            told.starts_with("set up for this project; the MCP server is not approved yet"),
            "{told}"
        );
        case.run("setup claude --remove").success();
    }
    case.run("setup claude").success();
    case.write(".mcp.json", "{}\n");
    let (level, told) = message(&case);
    assert_eq!(level, "attention");
    assert_eq!(told, "is only partly set up, or was set up by another version");
    case.write(".mcp.json", "{ torn");
    let (level, told) = message(&case);
    assert_eq!(level, "attention");
    assert!(told.starts_with(".mcp.json"), "{told}");
}

#[test]
fn what_a_harness_has_disabled_or_doubled_is_named_with_the_next_step() {
    let case = Case::new(VBW);
    let root = case.root().display().to_string();
    let check = |harness: &str, files: &[(&str, &str)], told: &str, fix: &str| {
        case.run(&format!("setup {harness}")).success();
        let olds: Vec<_> = files.iter().map(|(file, _)| (file, case.read(file))).collect();
        for (file, text) in files {
            case.write(file, text.replace("[ROOT]", &root));
        }
        let found = diagnosis(&case);
        let row = row(&found, "harness", harness);
        assert_eq!(row["level"], "attention", "{harness}: {row:#}");
        let message = row["details"][0]["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
        assert!(row["fix"].as_str().unwrap().contains(fix), "{row:#}");
        for (file, old) in olds {
            match old {
                Some(old) => {
                    case.write(file, old);
                }
                None => std::fs::remove_file(case.root().join(file)).unwrap(),
            }
        }
        case.run(&format!("setup {harness} --remove")).success();
    };
    let local = ".claude/settings.local.json";
    check("claude", &[(local, r#"{"disabledMcpjsonServers": ["annals"]}"#)], "disabled", "/mcp");
    check("claude", &[(local, r#"{"disableAllHooks": true}"#)], "all hooks off", "disableAllHooks");
    let codex = "[mcp_servers.annals]\ncommand = \"annals\"\nargs = [\"mcp\"]\nenabled = false\n";
    check("codex", &[(".codex/config.toml", codex)], "disabled", "enabled = false");
    let opencode =
        r#"{"mcp": {"annals": {"type": "local", "command": ["annals", "mcp"], "enabled": false}}}"#;
    check("opencode", &[("opencode.json", opencode)], "disabled", "enabled to true");
}

#[test]
fn what_qwen_code_turns_off_in_the_file_that_holds_our_entries_is_named() {
    let case = Case::new(VBW);
    case.run("setup qwen").success();
    let file = case.root().join(".qwen/settings.json");
    let ours = std::fs::read_to_string(&file).unwrap();
    for (switch, told, fix) in [
        (r#""disableAllHooks": true"#, "all hooks off", "disableAllHooks"),
        (r#""mcp": {"excluded": ["annals"]}"#, "does not allow", "mcp.excluded"),
    ] {
        std::fs::write(&file, ours.replacen('{', &format!("{{ {switch},"), 1)).unwrap();
        let found = diagnosis(&case);
        let row = row(&found, "harness", "qwen");
        assert_eq!(row["level"], "attention", "{row:#}");
        let message = row["details"][0]["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
        assert!(row["fix"].as_str().unwrap().contains(fix), "{row:#}");
    }
}

#[test]
fn a_harness_that_is_set_up_twice_is_named_with_what_to_drop() {
    let case = Case::new(VBW);
    for harness in ["claude", "codex", "gemini", "opencode", "qwen"] {
        case.run(&format!("setup {harness}")).success();
        case.run(&format!("setup {harness} --user")).success();
        let found = diagnosis(&case);
        let row = row(&found, "harness", harness);
        assert_eq!(row["level"], "attention");
        let fix = row["fix"].as_str().unwrap();
        for (command, whose) in [("--user --remove", "(yours)"), ("--remove", "(the project's,")] {
            assert!(fix.contains(&format!("annals setup {harness} {command} {whose}")), "{fix}");
        }
    }
}

#[test]
fn an_approval_that_is_open_is_named_until_it_is_given() {
    let case = Case::new(VBW);
    let root = case.root().display().to_string();
    let message = |harness: &str| {
        let found = diagnosis(&case);
        let row = row(&found, "harness", harness);
        assert_eq!(row["level"], "ok", "{row:#}");
        row["details"][0]["message"].as_str().unwrap().to_owned()
    };
    for (harness, open, file, given) in [
        (
            "claude",
            "not approved yet",
            ".claude.json",
            format!("{{\"projects\": {{{root:?}: {{\"enabledMcpjsonServers\": [\"annals\"]}}}}}}"),
        ),
        (
            "codex",
            "are not trusted yet",
            ".codex/config.toml",
            format!(
                "[projects.{root:?}]\ntrust_level = \"trusted\"\n[hooks.state.\"{root}/.codex/hooks.json:session_start:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
            ),
        ),
    ] {
        case.run(&format!("setup {harness}")).success();
        assert!(message(harness).contains(open), "{}", message(harness));
        let file = case.home().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, given).unwrap();
        assert_eq!(message(harness), "set up for this project");
    }
}

#[test]
fn what_cannot_be_written_is_named() {
    let case = Case::empty();
    case.write(".annals", "in the way");
    let found = diagnosis(&case);
    assert_eq!(found["level"], "fault");
    assert_eq!(row(&found, "project", ".annals folder")["fix"], "move or rename it");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_named_in_the_fix() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let case = Case::empty();
    set_permissions(case.root(), Permissions::from_mode(0o555)).unwrap();
    let found = diagnosis(&case);
    set_permissions(case.root(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(row(&found, "project", ".annals folder")["fix"], "make [ROOT] writable for you");
}
