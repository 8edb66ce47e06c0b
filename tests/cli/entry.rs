//! `annals entry`

use crate::cli::assert_error;
use crate::support::Case;

const ENTRY: &str = "---\nkey: test-runner\ntype: convention\ntags: [testing]\ncreated: 2026-02-01\nupdated: 2026-02-17\nstatus: active\nconfidence: high\n---\n\n# Test runner\n\nIt is vitest.\n";

#[test]
fn an_entry_is_read_verbatim_and_a_missing_one_names_the_closest() {
    let case = Case::empty();
    case.write(".vibekit/memory/test-runner.md", ENTRY);
    let read = case.run("entry read --key test-runner").success();
    assert_eq!((read.stdout(), read.stderr()), (ENTRY.into(), String::new()));
    let missing = case.run("entry read --key tset-runner").code(3);
    assert_error(&missing, "not found: tset-runner", "closest keys: test-runner");
}

#[test]
fn a_body_with_invalid_utf_8_is_refused() {
    let case = Case::empty();
    let write = "entry write --key a --type gotcha --confidence high";
    let body = b"caf\xe9 closes at six\n";
    let refused = case.run(&format!("{write} --body-stdin")).stdin(body.to_vec());
    assert_error(&refused.code(2), "standard input is not valid UTF-8", "");
    case.write("note.md", body);
    let refused = case.run(&format!("{write} --body @note.md")).code(2);
    assert_error(&refused, "note.md: is not valid UTF-8", "");
    assert_eq!(case.read(".vibekit/memory/a.md"), None);
}

#[cfg(unix)]
#[test]
fn the_documented_loop_takes_notes_in_and_leaves_existing_entries_alone() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/import.md"));
    let page = page.unwrap();
    let script = page.split("```sh\n").find(|part| part.contains(".serena")).unwrap();
    let script = script.split("```").next().unwrap();
    let case = Case::empty();
    let body = "# Deploy\n\nUse blue-green; ask Mira.\n";
    case.run("entry write --key deploy --type decision --confidence high --body-stdin")
        .stdin(body)
        .success();
    case.write(".serena/memories/deploy.md", "# Deploy\n\nold\n");
    case.write(".serena/memories/Suggested_Commands.md", "# Commands\n\nRun make.\n");
    let script = format!("annals() {{ \"$ANNALS\" \"$@\"; }}\n{script}");
    let done = case.shell(&script).env("PATH", std::env::var("PATH").unwrap()).success();
    assert_eq!(done.stdout(), "Stored: suggested-commands.\nkept: deploy\n");
    let kept = String::from_utf8(case.read(".vibekit/memory/deploy.md").unwrap()).unwrap();
    assert!(kept.contains("type: decision") && kept.ends_with(body), "{kept}");
}
