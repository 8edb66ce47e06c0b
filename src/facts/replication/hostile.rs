//! Tests operations of a broken or hostile device: they are set aside, or affect nothing beyond their scope.

use crate::facts::Facts;
use crate::facts::Statement;
use crate::facts::add;
use crate::facts::replication::Received;
use crate::facts::replication::operation;
use crate::facts::replication::receive;
use crate::facts::replication::retry_set_aside;
use crate::facts::replication::sharing;
use crate::facts::replication::tests::Server;
use crate::facts::replication::tests::ada;
use crate::facts::replication::tests::replica;
use crate::facts::replication::tests::rows;
use crate::facts::replication::tests::state;

const NOW: &str = "2026-03-01T12:00:00Z";

/// Returns an operation in which another device states a fact, as the server returns it.
fn stated(key: &str) -> Received {
    let mut device = replica(NOW);
    state(&mut device, key, "sent", false);
    let mut server = Server::default();
    server.push(&mut device, 1);
    server.0.into_values().next().unwrap().remove(0)
}

fn receive_batch(facts: &mut Facts, batch: &[Received]) {
    let clock = facts.clock();
    facts
        .write(|connection| receive(connection, batch, clock))
        .unwrap();
}

fn reasons(facts: &Facts) -> Vec<String> {
    let aside = sharing(facts).unwrap().unwrap().set_aside;
    aside.into_iter().map(|one| one.reason).collect()
}

#[test]
fn an_operation_with_an_invalid_clock_is_set_aside_and_does_not_advance_the_clock() {
    let mut facts = replica(NOW);
    let wrong = [i64::MAX, -1, 1 << 62].map(|clock| Received {
        clock,
        ..stated("city")
    });
    receive_batch(&mut facts, &wrong);
    assert_eq!(rows(&facts), []);
    assert_eq!(reasons(&facts), ["invalid clock"; 3]);
    // A retry sets it aside again.
    let clock = facts.clock();
    facts
        .write(|connection| retry_set_aside(connection, clock))
        .unwrap();
    assert_eq!(reasons(&facts).len(), 3);
    state(&mut facts, "city", "Rome", false);
    receive_batch(&mut facts, &[stated("editor")]);
    assert_eq!(rows(&facts).len(), 2);
}

#[test]
fn the_id_of_another_fact_is_set_aside_and_stalls_nobody() {
    let mut facts = replica(NOW);
    state(&mut facts, "city", "Rome", false);
    let before = rows(&facts);
    let mut batch = Vec::new();
    for user in ["ada", "eve"] {
        let mut stolen = stated("editor");
        let mut payload: serde_json::Value =
            serde_json::from_str(stolen.payload.as_ref().unwrap()).unwrap();
        payload["fact"]["fact_id"] = before[0].fact_id.clone().into();
        payload["fact"]["user_id"] = user.into();
        stolen.payload = Some(payload.to_string());
        stolen.user_id = user.to_owned();
        batch.push(stolen);
    }
    batch.push(stated("shell"));
    receive_batch(&mut facts, &batch);
    assert_eq!(reasons(&facts), ["fact_id belongs to another fact"; 2]);
    let after = rows(&facts);
    assert_eq!(after.len(), 2);
    assert!(after.contains(&before[0]));
}

#[test]
fn a_team_that_forgets_reaches_what_it_sees_and_nothing_else() {
    let mut facts = replica(NOW);
    state(&mut facts, "likes[]", "tea", false);
    let seen_by_others = Statement {
        key: "likes[]".to_owned(),
        value: "coffee".to_owned(),
        scope: Some("core".to_owned()),
        ..Statement::default()
    };
    add(&mut facts, &ada(), &seen_by_others).unwrap();
    let values = |facts: &Facts| -> Vec<String> {
        let values = rows(facts).into_iter().map(|fact| fact.value_text);
        values.collect()
    };
    assert_eq!(values(&facts).len(), 2);
    let tombstone = serde_json::json!({
        "v": 1,
        "owner": operation::owner(ada().as_str()),
        "subject": null,
        "until": i64::MAX,
        "turns": [],
        "mentions": [],
    });
    let forget = |scope: &str| Received {
        scope: scope.to_owned(),
        kind: "forget".to_owned(),
        payload: Some(tombstone.to_string()),
        ..stated("city")
    };
    receive_batch(&mut facts, &[forget("others")]);
    assert_eq!(values(&facts).len(), 2);
    receive_batch(&mut facts, &[forget("core")]);
    assert_eq!(values(&facts), ["tea"]);
    // Late operations are dropped by the same rule.
    let late = ["core", "private"].map(|scope| Received {
        scope: scope.to_owned(),
        ..stated("city")
    });
    receive_batch(&mut facts, &late);
    assert_eq!(rows(&facts).len(), 2);
    // The user's own devices erase in every scope.
    receive_batch(&mut facts, &[forget("private")]);
    assert_eq!(values(&facts), [""; 0]);
}

#[test]
fn a_team_that_forgets_clears_no_excerpt_and_nothing_set_aside_in_another_scope() {
    let mut facts = replica(NOW);
    for (key, value, scope) in [
        ("likes[]", "coffee", "core"),
        ("habit", "coffee at noon", "private"),
        ("work.habit", "coffee at nine", "core"),
    ] {
        let statement = Statement {
            key: key.to_owned(),
            value: value.to_owned(),
            scope: Some(scope.to_owned()),
            ..Statement::default()
        };
        add(&mut facts, &ada(), &statement).unwrap();
    }
    let excerpt = |facts: &Facts, key: &str| {
        let fact = rows(facts).into_iter().find(|fact| fact.key == key);
        fact.map(|fact| fact.source_excerpt)
    };
    let habit = rows(&facts).into_iter().find(|fact| fact.key == "habit");
    let turn = habit.unwrap().source_turn_id;
    let read = |row: &rusqlite::Row<'_>| row.try_into();
    let sql =
        "SELECT scope, device, number FROM operations WHERE scope = 'private' AND kind = 'fact'";
    let mention: (String, String, i64) = facts.connection().query_row(sql, [], read).unwrap();
    let aside = ["core", "private"].map(|scope| Received {
        scope: scope.to_owned(),
        payload: Some("{}".to_owned()),
        ..stated("city")
    });
    receive_batch(&mut facts, &aside);
    assert_eq!(reasons(&facts).len(), 2);
    let forget = |scope: &str, device: &str, subject: Option<String>| {
        let tombstone = serde_json::json!({
            "v": 1,
            "owner": operation::owner(ada().as_str()),
            "subject": subject,
            "until": i64::MAX,
            "turns": [operation::turn(ada().as_str(), &turn)],
            "mentions": [mention],
        });
        Received {
            scope: scope.to_owned(),
            device: device.to_owned(),
            kind: "forget".to_owned(),
            payload: Some(tombstone.to_string()),
            ..stated("city")
        }
    };
    let likes = Some(operation::subject(ada().as_str(), "likes[]"));
    receive_batch(&mut facts, &[forget("core", "other", likes)]);
    assert_eq!(excerpt(&facts, "likes[]"), None);
    assert_eq!(excerpt(&facts, "work.habit").as_deref(), Some(""));
    assert_eq!(excerpt(&facts, "habit").as_deref(), Some("coffee at noon"));
    assert_eq!(reasons(&facts).len(), 1);
    // What arrives late from the user's own devices is left as it is, too.
    let mut other = replica(NOW);
    let statement = Statement {
        key: "drink".to_owned(),
        value: "coffee".to_owned(),
        request_id: Some("drink".to_owned()),
        ..Statement::default()
    };
    add(&mut other, &ada(), &statement).unwrap();
    let mut server = Server::default();
    server.push(&mut other, 1);
    receive_batch(&mut facts, &server.0.into_values().next().unwrap());
    assert_eq!(excerpt(&facts, "drink").as_deref(), Some("coffee"));
    let nobody = Some(String::new());
    receive_batch(&mut facts, &[forget("private", "third", nobody)]);
    assert_eq!(excerpt(&facts, "habit").as_deref(), Some(""));
    assert_eq!(reasons(&facts), [""; 0]);
}
