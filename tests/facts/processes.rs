//! Many processes at once, some of them killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::facts::TEA;
use crate::support::Case;

fn annals(case: &Case, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command
        .env_clear()
        .env("HOME", case.home())
        .env("XDG_DATA_HOME", case.home())
        .env("ANNALS_USER", "rosalind")
        .env("ANNALS_LOCK_WAIT", "60")
        .current_dir(case.root())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn json(case: &Case, arguments: &[&str]) -> Value {
    let output = annals(case, arguments).arg("--json").stdout(Stdio::piped()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn eight_processes_on_a_new_database_lose_nothing() {
    let case = Case::empty();
    for round in 0..4 {
        let mut children = Vec::new();
        for process in 0..8 {
            let value = format!("value {round} {process}");
            let several =
                annals(&case, &["facts", "add", "--key", "likes[]", "--value", &value]).spawn();
            children.push(several.unwrap());
            let value = format!("city {}", process % 3);
            let single =
                annals(&case, &["facts", "add", "--key", "city", "--value", &value]).spawn();
            children.push(single.unwrap());
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let likes = json(&case, &["facts", "list", "--key", "likes[]"]);
    assert_eq!(likes["facts"].as_array().unwrap().len(), 32);
    let city = json(&case, &["facts", "list", "--key", "city", "--status", "active"]);
    assert_eq!(city["facts"].as_array().unwrap().len(), 1);
    let check = json(&case, &["facts", "check"]);
    assert_eq!(check["problems"], serde_json::json!([]), "{check}");
}

#[test]
fn killed_at_any_moment_the_database_stays_sound() {
    let case = Case::empty();
    annals(&case, &["facts", "add", "--key", "city", "--value", "start"]).status().unwrap();
    for round in 0..24_u64 {
        let values: Vec<String> = (0..4).map(|process| format!("v{round}x{process}")).collect();
        let mut children: Vec<_> = values
            .iter()
            .map(|value| {
                annals(&case, &["facts", "add", "--key", "city", "--value", value]).spawn().unwrap()
            })
            .collect();
        // The moment of the kill differs by how much was done before it.
        for _ in 0..round * 400 {
            std::thread::yield_now();
        }
        for child in &mut children {
            child.kill().unwrap();
        }
        for child in children {
            child.wait_with_output().unwrap();
        }
    }
    let check = json(&case, &["facts", "check"]);
    assert_eq!(check["problems"], serde_json::json!([]), "{check}");
    let city = json(&case, &["facts", "list", "--key", "city", "--status", "active"]);
    assert_eq!(city["facts"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_watching_worker_takes_on_turns_as_they_come() {
    let case = Case::empty();
    let mut worker = annals(&case, &["facts", "work", "--watch", "--json"])
        .env("ANNALS_NOW", "2026-03-01T12:00:00Z")
        .env("ANNALS_LLM_COMMAND", format!("cat > /dev/null; printf '%s' '{TEA}'"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(worker.stdout.take().unwrap()).lines();
    for (id, outcome) in [("a", "inserted"), ("b", "confirmed")] {
        let mut observe = annals(&case, &["facts", "observe"])
            .env("ANNALS_NOW", "2026-03-01T12:00:00Z")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let turn = serde_json::json!({"user_input": "I like tea", "turn_id": id}).to_string();
        let mut stdin = observe.stdin.take().unwrap();
        stdin.write_all(turn.as_bytes()).unwrap();
        drop(stdin);
        assert!(observe.wait().unwrap().success());
        let line: Value = serde_json::from_str(&told.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["turn_id"], id);
        assert_eq!(line["applied"][0]["outcome"], outcome);
    }
    worker.kill().unwrap();
    worker.wait().unwrap();
}
