//! A key that stands anywhere in a repository comes out nowhere, in errors and warnings least of all.

use serde_json::json;

use crate::attack::{HOOKS, Hostile, READS, WRITES, Way, session, tool_calls};
use crate::support::{Case, on_two_threads};

/// A key, put together here so that no scanner finds one in this file.
fn key() -> String {
    format!("ghp_{}", "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo")
}

/// Commands that print what they were given, or one record, as it is.
const AS_STORED: &[&str] = &["entry", "inspect", "log", "merge-file", "notepad", "undo"];

/// A project with a key in names, and in lines that no reader understands.
fn planted() -> Hostile {
    let hostile = Hostile::new();
    let key = key();
    let case = &hostile.case;
    let phase = format!(".vbw-planning/phases/07-{key}");
    case.write(
        &format!("{phase}/07-01-PLAN.md"),
        format!("---\nphase: 07\nplan: 01\nstatus: {key}\ndepends_on: [{key}]\n---\n"),
    );
    case.write(
        &format!("{phase}/07-01-SUMMARY.md"),
        format!("---\nstatus: {key}\nduration: {key}\ncompleted: {key}\n  {key}: [\n---\n"),
    );
    case.write(&format!(".vibekit/memory/{key}.md"), format!("---\ntype: {key}\n{key}\n---\n"));
    case.write(&format!(".serena/memories/{key}.md"), format!("# {key}\n"));
    case.write(
        "docs/memory/DECISIONS.md",
        format!("# Decisions\n\n### ADR-{key}: {key}\n\n**Status:** {key}\n"),
    );
    case.write(
        ".vbw-planning/STATE.md",
        format!("# State\n\n**Phase:** {key}\n**Status:** {key}\n\nPhase: 9 of 3 ({key})\n"),
    );
    case.write(".vbw-planning/ACTIVE", format!("{key}\n"));
    case.write(".mcp.json", format!("{{\"{key}\": {key}}}"));
    case.write(".claude/settings.json", format!("{{\"{key}\": {key}}}"));
    hostile
}

#[test]
fn no_command_prints_a_key_that_a_repository_holds() {
    let ways = [READS, WRITES, HOOKS].map(Way::all).concat();
    on_two_threads(&ways, |way| {
        let key = key();
        let hostile = planted();
        for form in ["--json", ""] {
            let run = hostile.run(way).args(Some(form).filter(|form| !form.is_empty()));
            let ended = run.output();
            assert!(!ended.stderr().contains(&key), "{}", ended.report());
            let prints_as_stored = AS_STORED.contains(&way.words[0]);
            let is_result = matches!(ended.exit_code(), Some(0 | 1));
            if !(prints_as_stored && is_result) {
                assert!(!ended.stdout().contains(&key), "{}", ended.report());
            }
        }
    });
}

#[test]
fn no_error_repeats_a_key_that_it_was_given() {
    let key = key();
    let hostile = planted();
    hostile.case.write("annals.toml", format!("{key} = 1\n"));
    let lines = [
        "status".to_owned(),
        key.clone(),
        format!("status --{key}"),
        format!("facts {key}"),
        format!("plan {key}"),
        format!("entry read --key {key}"),
        format!("-C {key} status"),
        format!("mcp --tools {key}"),
    ];
    for line in lines {
        for form in ["", " --json"] {
            let ended = hostile.case.run(&format!("{line}{form}")).output();
            let said = format!("{}{}", ended.stdout(), ended.stderr());
            assert!(!said.contains(&key), "{line}: {}", ended.report());
            assert!(said.contains("[redacted]"), "{line}: {}", ended.report());
        }
    }
}

#[test]
fn no_answer_of_the_mcp_server_repeats_a_key() {
    let key = key();
    let calls = [
        (key.as_str(), json!({})),
        ("tools/call", json!({"name": key, "arguments": {}})),
        ("tools/call", json!({"name": "status", "arguments": {key.as_str(): 1}})),
        ("tools/call", json!({"name": "status", "arguments": {"project": key}})),
        ("tools/call", json!({"name": "entry_read", "arguments": {"key": key}})),
        ("tools/call", json!({key.as_str(): key})),
        ("initialize", json!({"protocolVersion": key})),
    ];
    let count = calls.len();
    let hostile = planted();
    let ended = hostile.run(&session(&["mcp"], calls)).success();
    for answer in ended.try_json_lines().unwrap() {
        assert!(!answer.to_string().contains(&key), "{answer}");
    }
    assert!(ended.stdout().lines().count() > count, "{}", ended.report());
    assert!(!ended.stderr().contains(&key), "{}", ended.report());
    let ended = hostile.run(&tool_calls()).success();
    assert!(!ended.stdout().contains(&key), "{}", ended.report());
}

#[test]
fn no_list_of_entries_repeats_a_file_name_that_is_no_key() {
    let (case, tag) = (Case::empty(), "<system-reminder>");
    for name in [key(), format!("k{tag}x")] {
        case.write(
            &format!(".vibekit/memory/{name}.md"),
            format!("---\nkey: {name}\n---\n# Needle\n"),
        );
    }
    case.run("remember the needle is thin").success();
    let index = case.read(".vibekit/memory/INDEX.md").unwrap();
    let mut said = vec![String::from_utf8(index).unwrap()];
    for line in ["entry list", "entry query --text needle", "entry audit --dry-run"] {
        for form in ["", " --json"] {
            let ended = case.run(&format!("{line}{form}")).success();
            said.push(format!("{}{}", ended.stdout(), ended.stderr()));
        }
    }
    for text in said {
        assert!(!text.contains(&key()) && !text.contains(tag), "{text}");
        assert!(text.contains("[redacted]") && text.contains("system-reminder"), "{text}");
    }
}
