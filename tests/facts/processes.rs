//! Many processes at once, some of them killed.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::process::Command;
use std::process::Stdio;

#[cfg(feature = "fail-point")]
use proptest::prelude::*;
use serde_json::Value;

use crate::support::Case;

fn annals(case: &Case, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command
        .env_clear()
        .env("HOME", case.home())
        .env("XDG_DATA_HOME", case.home())
        .env("ANNALS_USER", "ada")
        .env("ANNALS_LOCK_WAIT", "60")
        .current_dir(case.root())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn json(case: &Case, arguments: &[&str]) -> Value {
    let output = annals(case, arguments)
        .arg("--json")
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn eight_processes_on_a_new_database_lose_nothing() {
    let case = Case::empty();
    for round in 0..4 {
        let mut children = Vec::new();
        for process in 0..8 {
            let value = format!("value {round} {process}");
            let several = annals(
                &case,
                &["facts", "add", "--key", "likes[]", "--value", &value],
            )
            .spawn();
            children.push(several.unwrap());
            let value = format!("city {}", process % 3);
            let single =
                annals(&case, &["facts", "add", "--key", "city", "--value", &value]).spawn();
            children.push(single.unwrap());
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    let likes = json(&case, &["facts", "list", "--key", "likes[]"]);
    assert_eq!(likes["facts"].as_array().unwrap().len(), 32);
    let city = json(
        &case,
        &["facts", "list", "--key", "city", "--status", "active"],
    );
    assert_eq!(city["facts"].as_array().unwrap().len(), 1);
    let check = json(&case, &["facts", "check"]);
    assert_eq!(check["problems"], serde_json::json!([]), "{check}");
}

#[test]
fn killed_at_any_moment_the_database_stays_sound() {
    let case = Case::empty();
    annals(
        &case,
        &["facts", "add", "--key", "city", "--value", "start"],
    )
    .status()
    .unwrap();
    for round in 0..24_u64 {
        let values: Vec<String> = (0..4)
            .map(|process| format!("v{round}x{process}"))
            .collect();
        let mut children: Vec<_> = values
            .iter()
            .map(|value| {
                annals(&case, &["facts", "add", "--key", "city", "--value", value])
                    .spawn()
                    .unwrap()
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
    let city = json(
        &case,
        &["facts", "list", "--key", "city", "--status", "active"],
    );
    assert_eq!(city["facts"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_watching_worker_takes_on_turns_as_they_come() {
    let case = Case::empty();
    let answer = r#"{"actions": [{"type": "insert", "key": "likes[]", "new_value_text": "tea", "confidence_delta": 0, "reason": "said"}]}"#;
    let mut worker = annals(&case, &["facts", "work", "--watch", "--json"])
        .env("ANNALS_NOW", "2026-03-01T12:00:00Z")
        .env(
            "ANNALS_LLM_COMMAND",
            format!("cat > /dev/null; printf '%s' '{answer}'"),
        )
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

/// A statement by one of eight processes, which dies at a step of its transaction where a number is given.
#[cfg(feature = "fail-point")]
type Said = (usize, usize, Option<usize>);

#[cfg(feature = "fail-point")]
fn state_by(case: &Case, nth: usize, (key, value, dies_after): Said) -> Command {
    let key = ["city", "name", "likes[]", "preference.editor"][key];
    let value = ["A", "B", "A of old", "no A"][value];
    let request = format!("said-{nth}");
    let words = ["facts", "add", "--key", key, "--value", value];
    let mut command = annals(case, &words);
    command.args(["--request-id", &request]);
    if let Some(steps) = dies_after {
        command.env("ANNALS_FAIL_AFTER", steps.to_string());
    }
    command
}

#[cfg(feature = "fail-point")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn eight_processes_that_die_anywhere_and_say_it_again_keep_what_must_hold(
        said in prop::collection::vec((0..4_usize, 0..4_usize, prop::option::of(1..6_usize)), 8..32)
    ) {
        let case = Case::empty();
        prop_assert!(annals(&case, &["facts", "add", "--key", "name", "--value", "Ada"]).status().unwrap().success());
        let numbered: Vec<(usize, Said)> = said.into_iter().enumerate().collect();
        for eight in numbered.chunks(8) {
            let children: Vec<_> =
                eight.iter().map(|(nth, said)| state_by(&case, *nth, *said).spawn().unwrap()).collect();
            for child in children {
                child.wait_with_output().unwrap();
            }
        }
        // Said again by all, whether they died or not: each counts once.
        let facts = || json(&case, &["facts", "list", "--all"])["facts"].clone();
        for (nth, (key, value, _)) in &numbered {
            prop_assert!(state_by(&case, *nth, (*key, *value, None)).status().unwrap().success());
        }
        let once = facts();
        for (nth, (key, value, _)) in &numbered {
            prop_assert!(state_by(&case, *nth, (*key, *value, None)).status().unwrap().success());
        }
        prop_assert_eq!(&once, &facts());
        let check = json(&case, &["facts", "check"]);
        prop_assert_eq!(&check["problems"], &serde_json::json!([]));
        prop_assert_eq!(&check["unsynced_vectors"], &serde_json::json!(0));
        let active = |key: &str| {
            let all = once.as_array().unwrap().iter();
            let held: Vec<&Value> = all.filter(|fact| fact["key"] == key && fact["status"] == "active").collect();
            held
        };
        for key in ["city", "preference.editor"] {
            prop_assert!(active(key).len() <= 1);
        }
        high_risk_is_overwritten_by_the_sure_alone(&active("name"), &case);
    }
}

/// The name that was there first stays, unless another was said until it was as sure as 0.90.
#[cfg(feature = "fail-point")]
fn high_risk_is_overwritten_by_the_sure_alone(names: &[&Value], case: &Case) {
    let [name] = names else { panic!("{names:?}") };
    if name["value_text"] == "Ada" {
        return;
    }
    let history = json(case, &["facts", "history", "name"]);
    let changes = history.as_array().unwrap().iter();
    let mut taken = changes
        .filter(|change| change["action"] == "activate")
        .map(|change| change["before"]["confidence"].as_f64().unwrap())
        .peekable();
    assert!(taken.peek().is_some(), "{history}");
    assert!(taken.all(|confidence| confidence >= 0.90), "{history}");
}
