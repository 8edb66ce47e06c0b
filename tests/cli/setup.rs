//! `annals setup`: our entries beside those of others, and away again without a trace.

use std::fs;

use serde_json::json;

use crate::cli::assert_error;
use crate::support::{Case, require};

const TARGETS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "qwen"];

#[test]
fn a_second_run_changes_nothing_and_remove_leaves_nothing() {
    for target in TARGETS.into_iter().chain(["copilot"]) {
        for scope in ["", " --user"] {
            let case = Case::empty();
            case.git_init();
            let line = format!("setup {target}{scope}");
            let before = (case.tree(), settings_at_home(&case));
            case.run(&format!("{line} --check")).code(1);
            assert_eq!((case.tree(), settings_at_home(&case)), before, "{line}");
            case.run(&line).success();
            let set_up = (case.tree(), settings_at_home(&case));
            assert_ne!(set_up, before, "{line}");
            case.run(&format!("{line} --check")).success();
            case.run(&line).success();
            assert_eq!((case.tree(), settings_at_home(&case)), set_up, "{line}");
            case.run(&format!("{line} --remove")).success();
            assert_eq!((case.tree(), settings_at_home(&case)), before, "{line}");
        }
    }
}

/// Every file in the home folder, but for our own records.
fn settings_at_home(case: &Case) -> Vec<(String, Vec<u8>)> {
    let all = crate::support::tree(case.home()).into_iter();
    all.filter(|(path, _)| !path.starts_with(".local/") && !path.ends_with('/')).collect()
}

/// The settings that each target extends, in the project.
const SETTINGS: [(&str, &str); 7] = [
    ("claude", ".claude/settings.json"),
    ("claude", ".mcp.json"),
    ("codex", ".codex/hooks.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("opencode", "opencode.json"),
    ("qwen", ".qwen/settings.json"),
];

const FOREIGN_JSON: [&str; 9] = [
    "",
    " \n",
    "{}",
    "\u{feff}{\r\n\t\"z\": 1,\r\n\t\"a\": [1,2 , 3]\r\n}",
    "{\"permissions\":{\"allow\":[\"Bash(ls)\"]},\"env\":{}}",
    "{\n    \"hooks\": {},\n    \"mcpServers\": { },\n    \"mcp\": {\n    }\n}\n",
    "{\n  \"hooks\": {\n    \"SessionStart\": [ ],\n    \"AfterTool\": []\n  }\n}",
    "{\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"matcher\": \"startup\", \"hooks\": [ { \"type\": \"command\", \"command\": \"other\" } ] }\n    ],\n    \"Stop\": [{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]\n  },\n  \"mcpServers\": {\"other\": {\"command\": \"o\"}}\n}\n",
    "\n\n{ \"deep\": { \"a\": { \"hooks\": { \"SessionStart\": \"text\" } } } }\n\n",
];

const FOREIGN_TOML: [&str; 5] = [
    "",
    "model = \"x\"",
    "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"o\"\r\n",
    "\u{feff}[a]\nb = 1\n",
    "[mcp_servers]\n",
];

#[test]
fn a_workflow_is_told_what_each_of_its_commands_may_call() {
    for (workflow, first) in [("vbw", "/vbw:init"), ("gsd", "/gsd:new-project")] {
        let told = Case::empty().run(&format!("setup {workflow} --json")).success().json();
        assert_eq!(told["calls"][0], json!({"after": first, "run": "annals init"}));
        assert_eq!(told["calls"].as_array().unwrap().len(), 6);
    }
}

#[test]
fn foreign_settings_are_extended_and_nothing_of_ours_is_left_in_them() {
    for (number, (target, file)) in SETTINGS.into_iter().enumerate() {
        let is_toml = file.ends_with("toml");
        let olds = if is_toml { &FOREIGN_TOML[..] } else { &FOREIGN_JSON[..] };
        // One editor writes all that is JSON: each shape in the first file, and in some of the others.
        let meets = |at: &usize| is_toml || number == 0 || (at + number).is_multiple_of(3);
        for (_, old) in olds.iter().enumerate().filter(|(at, _)| meets(at)) {
            let case = Case::empty();
            case.git_init();
            case.write(file, old);
            case.run(&format!("setup {target}")).success();
            let new = case.tree();
            assert_ne!(case.read(file).unwrap(), old.as_bytes(), "{file}: {old:?}");
            case.run(&format!("setup {target} --check")).success();
            case.run(&format!("setup {target}")).success();
            assert_eq!(case.tree(), new, "{file}: {old:?}");
            case.run(&format!("setup {target} --remove")).success();
            let rest = case.read(file).unwrap_or_default();
            let rest = String::from_utf8(rest).unwrap();
            assert!(!rest.contains("annals"), "{file}: {rest}");
            let others =
                case.tree().into_keys().filter(|path| !path.ends_with('/') && path != file);
            assert_eq!(others.collect::<Vec<_>>(), Vec::<String>::new(), "{file}: {old:?}");
            for kept in ["mine", "Bash(ls)", "\"other\"", "deep", "model = \"x\"", "\u{feff}{"] {
                assert_eq!(rest.contains(kept), old.contains(kept), "{kept}: {rest}");
            }
        }
    }
}

#[test]
fn what_was_changed_since_stays_when_our_entries_go() {
    for (target, file) in SETTINGS.into_iter().filter(|(_, file)| file.ends_with("json")) {
        let case = Case::empty();
        case.git_init();
        case.write(file, "{\n  \"a\": 1\n}\n");
        case.run(&format!("setup {target}")).success();
        let edited = text(&case, file).replace("\"a\": 1", "\"a\": 2, \"b\": []");
        case.write(file, edited);
        case.run(&format!("setup {target} --remove")).success();
        let wanted = "{\n  \"a\": 2, \"b\": []\n}\n";
        assert_eq!(text(&case, file), wanted, "{file}");
    }
}

#[test]
fn what_is_not_json_is_refused_with_its_line_and_nothing_is_written() {
    for (target, file) in SETTINGS.into_iter().filter(|(_, file)| file.ends_with("json")) {
        for (old, line, what) in [
            ("{\n  \"a\": 1\n  \"b\": 2\n}\n", 2, "comma"),
            ("{\n  \"a\": 1,\n  \"a\": 2\n}\n", 3, "duplicate key"),
            ("[]\n", 1, "not an object"),
            ("{\n\"a\": ", 2, "is not valid JSON"),
            ("{} {}", 1, "more than one"),
        ] {
            let case = Case::empty();
            case.git_init();
            case.write(file, old);
            let before = case.tree();
            for mode in ["", " --remove", " --check", " --dry-run"] {
                let refused = case.run(&format!("setup {target}{mode}")).code(4);
                let start = format!("error: {file}:{line}: ");
                assert!(refused.stderr().starts_with(&start), "{}", refused.report());
                assert!(refused.stderr().contains(what), "{}", refused.report());
                assert_eq!(case.tree(), before);
            }
        }
    }
}

#[test]
fn settings_of_another_shape_are_refused_and_both_files_or_none_are_written() {
    let case = Case::empty();
    case.git_init();
    case.write(".claude/settings.json", b"{\"a\": \"\xff\"}");
    case.run("setup claude").code(4);
    for wrong in ["{\"hooks\": []}", "{\"hooks\": {\"SessionStart\": {}}}", "{\"hooks\": null}"] {
        case.write(".claude/settings.json", wrong);
        let refused = case.run("setup claude").code(4);
        assert!(refused.stderr().contains("is not an "), "{}", refused.report());
        assert_eq!(text(&case, ".claude/settings.json"), wrong);
    }
    case.write(".codex/config.toml", "a = 1\na = 2\n");
    let refused = case.run("setup codex").code(4);
    assert!(refused.stderr().starts_with("error: .codex/config.toml:2: "), "{}", refused.report());
    assert!(case.read(".codex/hooks.json").is_none(), "both files or none");
}

#[test]
fn comments_are_kept() {
    for (target, file) in [("claude", ".claude/settings.json"), ("opencode", "opencode.jsonc")] {
        let case = Case::empty();
        case.git_init();
        let old = "{\n  // mine\n  \"a\": 1 /* too */\n}\n";
        case.write(file, old);
        let before = case.tree();
        case.run(&format!("setup {target}")).success();
        let new = text(&case, file);
        assert!(new.contains("annals"), "{new}");
        assert!(new.starts_with("{\n  // mine\n  \"a\": 1, /* too */\n"), "{new}");
        case.run(&format!("setup {target} --check")).success();
        case.write(file, new.replace("\"a\": 1", "\"a\": 2"));
        case.run(&format!("setup {target} --remove")).success();
        assert_eq!(text(&case, file), old.replace("\"a\": 1", "\"a\": 2"));
        case.write(file, old);
        assert_eq!(case.tree(), before);
    }
}

#[test]
fn a_check_takes_the_flags_it_was_set_up_with() {
    for target in TARGETS {
        let case = Case::empty();
        case.git_init();
        case.run(&format!("setup {target} --breadcrumb --no-notepad")).success();
        case.run(&format!("setup {target} --check")).success();
        case.run(&format!("setup {target} --breadcrumb --check")).success();
        case.run(&format!("setup {target} --notepad --no-breadcrumb")).success();
        // Gemini CLI has no breadcrumb to miss.
        let code = i32::from(target != "gemini");
        case.run(&format!("setup {target} --breadcrumb --check")).code(code);
        case.run(&format!("setup {target} --no-notepad --check")).code(1);
    }
}

#[test]
fn a_check_names_the_command_with_its_flags() {
    let case = Case::empty();
    case.git_init();
    case.run("setup claude --breadcrumb").success();
    let line = "setup claude --no-notepad --entries --no-breadcrumb";
    let check = case.run(&format!("{line} --check")).code(1);
    assert!(check.stderr().ends_with(&format!("hint: annals {line}\n")), "{}", check.report());
    case.run(line).success();
    case.run(&format!("{line} --check")).success();
}

#[test]
fn flags_stay_until_they_are_negated() {
    for target in TARGETS {
        let case = Case::empty();
        case.git_init();
        let set_up = |flags: &str| {
            case.run(&format!("setup {target} {flags}")).success();
            case.tree()
        };
        let with_breadcrumb = set_up("--breadcrumb");
        assert_eq!(set_up(""), with_breadcrumb, "{target}");
        let with_both = set_up("--no-notepad");
        assert_ne!(with_both, with_breadcrumb, "{target}");
        case.run(&format!("setup {target} --breadcrumb --no-notepad --check")).success();
        set_up("--no-breadcrumb");
        set_up("--notepad");
        let plain = Case::empty();
        plain.git_init();
        plain.run(&format!("setup {target}")).success();
        assert_eq!(case.tree(), plain.tree(), "{target}");
    }
}

#[test]
fn entries_are_left_out_of_a_start_where_the_user_says_so() {
    for target in TARGETS {
        let case = Case::empty();
        case.git_init();
        case.run(&format!("setup {target} --no-entries")).success();
        case.run(&format!("setup {target} --check")).success();
        case.run(&format!("setup {target} --entries --check")).code(1);
    }
    let case = Case::empty();
    case.run("remember the port is 8080").success();
    let said = |line: &str| case.run(line).stdin("{}").success().stdout();
    assert!(said("hook session-start").contains("the port is 8080"));
    assert_eq!(said("hook session-start --no-entries"), "");
    case.write("annals.toml", "entries = false\n");
    assert_eq!(said("hook session-start"), "");
}

#[test]
fn a_users_own_hook_stays_and_gemini_has_no_breadcrumb() {
    let case = Case::empty();
    case.git_init();
    let own = r#"{
  "hooks": {
    "AfterAgent": [{"hooks": [{"command": "annals hook session-end --harness gemini"}]}]
  }
}"#;
    case.write(".gemini/settings.json", own);
    let report = case.run("setup gemini --breadcrumb").success().stdout();
    assert!(report.contains("Note: no breadcrumb in Gemini CLI"), "{report}");
    assert!(text(&case, ".gemini/settings.json").contains("AfterAgent"));
    case.run("setup gemini --remove").success();
    assert_eq!(text(&case, ".gemini/settings.json"), own);
    // What was on one line gets lines of its own, and `undo` returns the bytes.
    let line = r#"{"hooks": {"AfterAgent": [{"hooks": [{"command": "annals hook session-end --harness gemini"}]}]}}"#;
    case.write(".gemini/settings.json", line);
    case.run("setup gemini").success();
    case.run("undo").success();
    assert_eq!(text(&case, ".gemini/settings.json"), line);
    case.run("setup gemini").success();
    case.run("setup gemini --remove").success();
    assert_eq!(text(&case, ".gemini/settings.json"), own);
}

#[test]
fn what_opencode_adds_to_a_file_of_ours_does_not_keep_it() {
    let case = Case::empty();
    case.git_init();
    let before = case.tree();
    case.run("setup opencode").success();
    let new = text(&case, "opencode.json");
    let schema = "{\n  \"$schema\": \"https://opencode.ai/config.json\",";
    case.write("opencode.json", new.replacen('{', schema, 1));
    case.run("setup opencode --check").success();
    case.run("setup opencode --remove").success();
    assert_eq!(case.tree(), before);
}

#[test]
fn the_next_steps_of_each_harness_are_said_and_a_second_scope_is_named() {
    let case = Case::empty();
    case.git_init();
    for (target, step) in [
        ("claude", "--allowedTools mcp__annals"),
        ("claude", "teammates"),
        ("codex", "/hooks"),
        ("gemini", "GEMINI_CLI_TRUST_WORKSPACE=true"),
        ("opencode", "npm_config_fetch_retries=0"),
        ("qwen", "/permissions"),
    ] {
        let report = case.run(&format!("setup {target}")).success().stdout();
        assert!(report.contains(step), "{report}");
        assert!(!report.contains("as well"), "{report}");
    }
    for target in TARGETS {
        let report = case.run(&format!("setup {target} --user")).success().stdout();
        let step = match target {
            "gemini" => "GEMINI_CLI_TRUST_WORKSPACE=true",
            "qwen" => "/permissions",
            _ => "",
        };
        assert!(report.contains(step), "{report}");
        let drop = format!(
            "set up for this project as well, and one is enough: annals setup {target} --user --remove drops yours, \
             annals setup {target} --remove the project's, for all who share it"
        );
        assert!(report.contains(&drop), "{report}");
    }
}

#[test]
fn of_copilot_the_users_settings_are_the_server_alone_and_both_scopes_are_needed() {
    let case = Case::empty();
    case.git_init();
    let said = |line: &str| case.run(line).success().stdout();
    let user = said("setup copilot --user");
    assert!(!user.contains("A new session reads"), "{user}");
    let project = said("setup copilot");
    assert!(project.contains("A new session reads"), "{project}");
    assert!(!project.contains("one is enough"), "{project}");
    let state = said("doctor");
    let row = state.lines().find(|line| line.contains(" copilot ")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["harness", "copilot", "ok", "set", "up", "for", "this", "project"]);
}

#[test]
fn what_was_set_up_is_shown_if_the_transcripts_cannot_be_read() {
    let case = Case::empty();
    let run = case.run("setup claude --sessions").env("ANNALS_SESSIONS", "codex").code(2);
    let shown = run.stdout();
    assert!(shown.starts_with(".claude/settings.json created.\n"), "{}", run.report());
    assert!(!shown.contains("Transcripts of"), "{shown}");
}

#[test]
fn a_removal_says_where_else_a_client_is_set_up() {
    let case = Case::empty();
    case.git_init();
    let said = |line: &str| case.run(line).success().stdout();
    said("setup gsd --user");
    assert_eq!(
        said("setup gsd --remove"),
        "Note: nothing to remove: Claude Code's settings for this project have no entries of annals.\n\
         Note: it is set up for all of your projects: annals setup gsd --user --remove ends that.\n"
    );
    said("setup gsd");
    let log = said("log --limit 1");
    assert!(log.lines().next().unwrap().ends_with("  setup gsd"), "{log}");
    assert_eq!(
        said("setup claude --remove"),
        ".claude/settings.json deleted.\n.mcp.json deleted.\n\
         Note: it is set up for all of your projects: annals setup claude --user --remove ends that.\n"
    );
}

#[test]
fn a_removal_says_whose_settings_it_took_and_what_is_still_read() {
    let case = Case::empty();
    let said = |line: &str| {
        let shown = case.run(line).success().stdout();
        let notes = shown.lines().filter(|line| line.starts_with("Note: "));
        notes.map(|note| format!("{line}: {note}\n")).collect::<String>()
    };
    let mut notes = String::new();
    for client in ["copilot", "vbw", "codex"] {
        case.run("setup claude").success();
        case.run(&format!("setup {client}")).success();
        notes.push_str(&said(&format!("setup {client} --remove")));
    }
    case.run("setup copilot --user").success();
    notes.push_str(&said("setup copilot --user --remove"));
    case.run("setup claude --sessions").success();
    notes.push_str(&said("setup claude --remove"));
    insta::assert_snapshot!(notes, @r"
    setup copilot --remove: Note: these were the settings of Claude Code, too: annals setup claude connects it again.
    setup vbw --remove: Note: these were the settings of Claude Code, too: annals setup claude connects it again.
    setup copilot --user --remove: Note: it is set up for this project: annals setup copilot --remove ends that.
    setup claude --remove: Note: its transcripts are still read: annals sessions --off ends that, and deletes their indexes.
    ");
}

#[cfg(unix)]
#[test]
fn a_write_protected_file_is_refused_and_a_private_one_stays_private() {
    use std::os::unix::fs::PermissionsExt;

    let case = Case::empty();
    case.git_init();
    case.write(".claude/settings.json", "{\"a\": 1}");
    let file = case.root().join(".claude/settings.json");
    let mode = |bits| fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
    mode(0o444);
    let before = case.tree();
    let refused = case.run("setup claude").code(4);
    assert!(refused.stderr().contains("is write-protected"), "{}", refused.report());
    assert_eq!(case.tree(), before);
    mode(0o600);
    case.run("setup claude").success();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through_inside_and_refused_outside() {
    use std::os::unix::fs::symlink;

    let case = Case::empty();
    case.git_init();
    case.write("shared/settings.json", "{\"a\": 1}");
    fs::create_dir(case.root().join(".claude")).unwrap();
    let link = case.root().join(".claude/settings.json");
    symlink("../shared/settings.json", &link).unwrap();
    let before = case.tree();
    case.run("setup claude").success();
    assert!(link.is_symlink());
    assert!(text(&case, "shared/settings.json").contains("annals hook session-start"));
    case.run("setup claude --remove").success();
    assert!(link.is_symlink());
    assert!(!text(&case, "shared/settings.json").contains("annals"));
    let names = |tree: std::collections::BTreeMap<String, _>| tree.into_keys().collect::<Vec<_>>();
    assert_eq!(names(case.tree()), names(before));
    let outside = case.home().join("settings.json");
    fs::write(&outside, "{}").unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&outside, &link).unwrap();
    for mode in ["", " --check", " --remove"] {
        let refused = case.run(&format!("setup claude{mode}")).code(4);
        assert!(refused.stderr().contains("outside"), "{}", refused.report());
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn the_command_strings_never_change() {
    let case = Case::empty();
    case.git_init();
    let mut found = Vec::new();
    for target in TARGETS {
        for flags in ["", "--no-notepad --breadcrumb"] {
            let report = case.run(&format!("setup {target} {flags}")).success().stdout();
            let entries = report.lines().filter_map(|line| line.strip_prefix("  "));
            found.extend(entries.filter(|line| line.contains("hook ")).map(str::to_owned));
        }
    }
    let pinned = [
        "SessionStart: annals hook session-start",
        "PostToolUse: annals hook post-tool-use",
        "PostToolUse: annals hook subagent-stop",
        "SessionEnd: annals hook session-end",
        "SessionStart: annals hook session-start --no-notepad",
        "PostToolUse: annals hook post-tool-use",
        "PostToolUse: annals hook subagent-stop",
        "SessionEnd: annals hook session-end",
        "PreCompact: annals hook pre-compact",
        "SessionStart: annals hook session-start --harness codex",
        "PostToolUse: annals hook post-tool-use --harness codex",
        "SessionEnd: annals hook session-end --harness codex",
        "SessionStart: annals hook session-start --harness codex --no-notepad",
        "PostToolUse: annals hook post-tool-use --harness codex",
        "SessionEnd: annals hook session-end --harness codex",
        "PreCompact: annals hook pre-compact --harness codex",
        "SessionStart: annals hook session-start --harness gemini",
        "AfterTool: annals hook post-tool-use --harness gemini",
        "SessionEnd: annals hook session-end --harness gemini",
        "SessionStart: annals hook session-start --harness gemini --no-notepad",
        "AfterTool: annals hook post-tool-use --harness gemini",
        "SessionEnd: annals hook session-end --harness gemini",
        "SessionStart: annals hook session-start --harness qwen",
        "PostToolUse: annals hook post-tool-use --harness qwen",
        "SessionEnd: annals hook session-end --harness qwen",
        "SessionStart: annals hook session-start --harness qwen --no-notepad",
        "PostToolUse: annals hook post-tool-use --harness qwen",
        "SessionEnd: annals hook session-end --harness qwen",
        "PreCompact: annals hook pre-compact --harness qwen",
    ];
    assert_eq!(found, pinned, "users have trusted exactly these strings");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let case = Case::empty();
    case.git_init();
    case.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = case.whole_tree();
    let shown = case.run("setup claude --dry-run").success().stdout();
    assert!(shown.contains("+            \"command\": \"annals hook session-start\","), "{shown}");
    assert_eq!(case.whole_tree(), before);
    let report = case.run("setup claude --json --check").code(1).json();
    assert_eq!(report["error"]["hint"], "annals setup claude");
    assert_eq!(report["files"][0]["outcome"], "extended");
}

#[test]
fn nothing_is_set_up_in_the_home_folder_as_if_it_were_a_project() {
    let case = Case::empty();
    let home = case.home().to_owned();
    let refused = case.run("setup claude").args(["-C".as_ref(), home.as_os_str()]).code(4);
    assert!(refused.stderr().contains("--user"), "{}", refused.report());
    assert!(settings_at_home(&case).is_empty());
}

#[test]
fn a_home_that_is_no_absolute_path_is_none() {
    let case = Case::empty();
    case.git_init();
    let before = case.tree();
    for target in TARGETS {
        for home in ["relative/home", ""] {
            let run = case.run(&format!("setup {target} --user"));
            let message = "HOME is not set to an absolute path, so your settings cannot be located";
            assert_error(&run.env("HOME", home).code(1), message, "");
        }
    }
    assert_eq!(case.tree(), before);
}

#[test]
fn a_moved_settings_folder_is_found() {
    let case = Case::empty();
    case.git_init();
    let moved = case.home().parent().unwrap().join("elsewhere/moved");
    for (client, variable, file) in [
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ] {
        for _ in 0..2 {
            case.run(&format!("setup {client} --user")).env(variable, &moved).success();
            assert!(moved.join(file).is_file(), "{client}");
            case.run(&format!("setup {client} --user --remove")).env(variable, &moved).success();
            assert!(!moved.join(file).exists(), "{client}");
        }
    }
}

#[test]
fn the_plugin_of_opencode_is_a_module_and_ours_alone() {
    let case = Case::empty();
    case.git_init();
    case.run("setup opencode --no-notepad --breadcrumb").success();
    let file = ".opencode/plugins/annals.js";
    assert!(
        text(&case, file)
            .contains("const NOTEPAD = false;\nconst ENTRIES = true;\nconst BREADCRUMB = true;\n")
    );
    if require("node") {
        case.write("check.mjs", text(&case, file) + "\nconsole.log(typeof Annals);\n");
        assert_eq!(case.program("node check.mjs").success().stdout(), "function\n");
    }
    case.write(file, "// somebody's\n");
    case.run("setup opencode").code(4);
    case.run("setup opencode --remove").success();
    assert_eq!(text(&case, file), "// somebody's\n");
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}
