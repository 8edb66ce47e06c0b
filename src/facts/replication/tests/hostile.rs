//! Tests operations of a broken or hostile device: they are set aside, or affect nothing beyond their scope.

use crate::facts::replication;
use crate::facts::replication::tests::{Server, ada, replica, rows, state};
use crate::facts::replication::{Operation, receive, set_aside, sharing};
use crate::facts::{Facts, UserId};

const NOW: &str = "2026-03-01T12:00:00Z";

/// Returns an operation in which another device states a fact, as the server returns it.
fn stated(key: &str) -> Operation {
    let device = replica(NOW);
    state(&device, key, "sent", false);
    let mut server = Server::default();
    server.push(&device, 1);
    server.0.into_values().next().unwrap().remove(0)
}

fn receive_batch(facts: &Facts, batch: &[Operation]) {
    facts.write(|| receive(facts, batch, false)).unwrap();
}

fn reasons(facts: &Facts) -> Vec<String> {
    let aside = sharing(facts).unwrap().unwrap().set_aside.0;
    aside.into_iter().map(|one| one.reason).collect()
}

#[test]
fn an_operation_with_an_invalid_clock_is_set_aside_and_does_not_advance_the_clock() {
    let facts = replica(NOW);
    let wrong = [i64::MAX, -1, 1 << 62].map(|clock| Operation { clock, ..stated("city") });
    receive_batch(&facts, &wrong);
    assert_eq!(rows(&facts), []);
    assert_eq!(reasons(&facts), ["invalid clock"; 3]);
    // A retry sets it aside again.
    let aside = set_aside(&facts).unwrap();
    facts.write(|| receive(&facts, &aside, true)).unwrap();
    assert_eq!(reasons(&facts).len(), 3);
    state(&facts, "city", "Rome", false);
    receive_batch(&facts, &[stated("editor")]);
    assert_eq!(rows(&facts).len(), 2);
}

#[test]
fn the_id_of_another_fact_is_set_aside_and_stalls_nobody() {
    let facts = replica(NOW);
    state(&facts, "city", "Rome", false);
    let before = rows(&facts);
    let mut batch = Vec::new();
    for user in ["ada", "eve"] {
        let mut stolen = stated("editor");
        let mut payload: serde_json::Value =
            serde_json::from_str(stolen.payload.as_ref().unwrap()).unwrap();
        payload["fact"]["fact_id"] = before[0].fact_id.clone().into();
        payload["fact"]["user_id"] = user.into();
        stolen.payload = Some(payload.to_string());
        stolen.user_id = UserId::new(user).unwrap();
        batch.push(stolen);
    }
    batch.push(stated("shell"));
    receive_batch(&facts, &batch);
    assert_eq!(reasons(&facts), ["fact_id belongs to another fact"; 2]);
    let after = rows(&facts);
    assert_eq!(after.len(), 2);
    assert!(after.contains(&before[0]));
}

#[test]
fn a_team_that_forgets_reaches_what_it_sees_and_nothing_else() {
    let mut facts = replica(NOW);
    state(&facts, "likes[]", "tea", false);
    facts.scopes = vec![("likes[]".to_owned(), "core".to_owned())];
    state(&facts, "likes[]", "coffee", false);
    let values = |facts: &Facts| -> Vec<String> {
        let values = rows(facts).into_iter().map(|fact| fact.value_text);
        values.collect()
    };
    assert_eq!(values(&facts).len(), 2);
    let tombstone = serde_json::json!({
        "v": 1,
        "owner": replication::owner(ada().as_str()),
        "subject": null,
        "until": i64::MAX,
        "turns": [],
        "mentions": [],
    });
    let forget = |scope: &str| Operation {
        scope: scope.to_owned(),
        kind: "forget".to_owned(),
        payload: Some(tombstone.to_string()),
        ..stated("city")
    };
    receive_batch(&facts, &[forget("others")]);
    assert_eq!(values(&facts).len(), 2);
    receive_batch(&facts, &[forget("core")]);
    assert_eq!(values(&facts), ["tea"]);
    // Late operations are dropped by the same rule.
    let late =
        ["core", "private"].map(|scope| Operation { scope: scope.to_owned(), ..stated("city") });
    receive_batch(&facts, &late);
    assert_eq!(rows(&facts).len(), 2);
    // The user's own devices erase in every scope.
    receive_batch(&facts, &[forget("private")]);
    assert_eq!(values(&facts), [""; 0]);
}

/// Returns a device with facts about coffee in two scopes.
fn with_scopes() -> Facts {
    let mut facts = replica(NOW);
    facts.scopes =
        vec![("likes[]".to_owned(), "core".to_owned()), ("work.".to_owned(), "core".to_owned())];
    for (key, value) in
        [("likes[]", "coffee"), ("habit", "coffee at noon"), ("work.habit", "coffee at nine")]
    {
        state(&facts, key, value, false);
    }
    facts
}

fn excerpt(facts: &Facts, key: &str) -> Option<String> {
    let fact = rows(facts).into_iter().find(|fact| fact.key == key);
    fact.map(|fact| fact.source_excerpt)
}

/// Returns a tombstone for a key, that also names the turn and the operation of the private fact.
fn forgetting(facts: &Facts, scope: &str, key: &str) -> Operation {
    let sql = "SELECT o.scope, o.device, o.number, h.turn_id FROM operations AS o \
         JOIN fact_history AS h USING (history_id) WHERE h.key = 'habit'";
    let read = |row: &rusqlite::Row<'_>| row.try_into();
    let (own, device, number, turn): (String, String, i64, String) =
        facts.connection.query_row(sql, [], read).unwrap();
    let tombstone = serde_json::json!({
        "v": 1,
        "owner": replication::owner(ada().as_str()),
        "subject": replication::subject(ada().as_str(), key),
        "until": i64::MAX,
        "turns": [replication::turn(ada().as_str(), &turn)],
        "mentions": [(own, device, number)],
    });
    Operation {
        scope: scope.to_owned(),
        kind: "forget".to_owned(),
        payload: Some(tombstone.to_string()),
        ..stated("city")
    }
}

#[test]
fn a_team_that_forgets_clears_excerpts_in_its_scope_only() {
    let facts = with_scopes();
    let forget = forgetting(&facts, "core", "likes[]");
    receive_batch(&facts, &[forget]);
    assert_eq!(excerpt(&facts, "likes[]"), None);
    assert_eq!(excerpt(&facts, "work.habit").as_deref(), Some(""));
    assert_eq!(excerpt(&facts, "habit").as_deref(), Some("coffee at noon"));
    // The user's own devices clear in every scope.
    let forget = forgetting(&facts, "private", "nothing");
    receive_batch(&facts, &[forget]);
    assert_eq!(excerpt(&facts, "habit").as_deref(), Some(""));
}

#[test]
fn a_team_that_forgets_drops_what_was_set_aside_in_its_scope_only() {
    let facts = with_scopes();
    let aside = ["core", "private"].map(|scope| Operation {
        scope: scope.to_owned(),
        payload: Some("{}".to_owned()),
        ..stated("city")
    });
    receive_batch(&facts, &aside);
    for (scope, left) in [("core", 1), ("private", 0)] {
        let forget = forgetting(&facts, scope, "likes[]");
        receive_batch(&facts, &[forget]);
        assert_eq!(reasons(&facts).len(), left, "{scope}");
    }
}

#[test]
fn an_excerpt_that_arrives_late_is_cleared_in_the_scope_of_what_was_forgotten_only() {
    let facts = with_scopes();
    let late = stated("drink");
    let turn = replication::decode(late.payload.as_ref().unwrap(), &ada());
    let turn = turn.unwrap().turn_id;
    let tombstone = |scope: &str| {
        let mut forget = forgetting(&facts, scope, "likes[]");
        let payload = forget.payload.as_ref().unwrap();
        let mut payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        payload["turns"] = serde_json::json!([replication::turn(ada().as_str(), &turn)]);
        payload["mentions"] = serde_json::json!([]);
        forget.payload = Some(payload.to_string());
        forget
    };
    let (team, own) = (tombstone("core"), tombstone("private"));
    receive_batch(&facts, &[team, late.clone()]);
    assert_eq!(excerpt(&facts, "drink").as_deref(), Some("sent"));
    receive_batch(&facts, &[own]);
    assert_eq!(excerpt(&facts, "drink").as_deref(), Some(""));
}

#[test]
fn what_is_received_has_the_limits_of_what_is_typed() {
    let facts = replica(NOW);
    let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let long = "x".repeat(20_000);
    let changed = |path: &str, value: &str| {
        let mut one = stated("city");
        let mut payload: serde_json::Value =
            serde_json::from_str(one.payload.as_ref().unwrap()).unwrap();
        *payload.pointer_mut(path).unwrap() = value.into();
        one.payload = Some(payload.to_string());
        one
    };
    let line = |line: &str| Operation {
        kind: "line".to_owned(),
        payload: Some(serde_json::json!({"v": 1, "line": line}).to_string()),
        ..stated("city")
    };
    receive_batch(
        &facts,
        &[
            changed("/fact/value_text", &token),
            changed("/fact/value_text", &long),
            changed("/fact/source_excerpt", &token),
            changed("/fact/key", "wifi.password"),
            changed("/fact/session_id", &token),
            changed("/reason", &token),
            line(&format!("{{\"content\": \"{token}\"}}")),
            line("no record"),
        ],
    );
    assert_eq!(rows(&facts), []);
    let reasons = reasons(&facts).join("; ");
    for (reason, times) in
        [("looks like a secret", 5), ("bytes long", 1), ("names a secret", 1), ("expected", 1)]
    {
        assert_eq!(reasons.matches(reason).count(), times, "{reason} in {reasons}");
    }
}
