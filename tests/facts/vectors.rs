//! What an index of vectors must do, wherever it is: the same tests over the one in the file and over a Chroma server.

use std::collections::BTreeSet;
use std::time::Duration;

use annals::facts;
use annals::facts::{FactQuery, FactStatus, Method, Retrieved, Selection, Statement, UserId};
use annals::search::{Embedder, Endpoint};
use rusqlite::Connection;
use serde_json::json;

use crate::facts::chroma::Chroma;
use crate::facts::server::Server;
use crate::facts::{Desk, stated};
use crate::support::require;

/// Which facts an index has vectors of.
type Ids<'a> = &'a dyn Fn(&Desk) -> BTreeSet<String>;

/// Runs a contract over the index in the file, and over a server where one can be started.
fn over_both(contract: impl Fn(&mut Desk, Ids<'_>)) {
    contract(&mut Desk::new(), &in_file);
    if require("chroma") {
        let chroma = Chroma::start();
        let mut desk = Desk::new();
        desk.facts.vector_server = Some(chroma.url.clone());
        sync(&mut desk);
        contract(&mut desk, &|_| chroma.ids());
    }
}

fn in_file(desk: &Desk) -> BTreeSet<String> {
    let connection = Connection::open(&desk.path).unwrap();
    let mut statement = connection.prepare("SELECT fact_id FROM fact_vectors").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

pub(crate) fn sync(desk: &mut Desk) -> usize {
    facts::refresh(&desk.facts, &Embedder::BuiltIn).unwrap()
}

pub(crate) fn near(desk: &mut Desk, user: &UserId, text: &str, project: Option<&str>) -> Retrieved {
    let query = FactQuery {
        text: text.to_owned(),
        limit: 10,
        project: project.map(str::to_owned),
        method: Method::Vector,
        selection: Selection::All,
        uses_encoder: false,
    };
    facts::retrieve(&desk.facts, user, &query, &Embedder::BuiltIn).unwrap()
}

fn values(desk: &mut Desk, text: &str) -> Vec<String> {
    sync(desk);
    let user = desk.user.clone();
    let found = near(desk, &user, text, None);
    assert!(!found.degraded, "{found:?}");
    let values = found.hits.into_iter().map(|hit| hit.fact.value_text);
    values.collect()
}

pub(crate) fn say(desk: &mut Desk, key: &str, value: &str) -> String {
    let user = desk.user.clone();
    let added = facts::add(&desk.facts, &user, &stated(key, value)).unwrap();
    added.fact.unwrap().fact_id
}

/// Forgets facts; returns what a server may still have of them, and why.
pub(crate) fn forget(desk: &mut Desk, key: Option<&str>) -> (u64, Option<String>) {
    let user = desk.user.clone();
    let forgotten = facts::forget(&desk.facts, &user, key, "asked").unwrap();
    assert_eq!(forgotten.remaining, facts::check(&desk.facts).unwrap().unerased_vectors);
    (forgotten.remaining, forgotten.last_error)
}

#[test]
fn stage_4_the_nearest_meaning_is_first_and_all_of_the_user_are_compared() {
    over_both(|desk, _| {
        say(desk, "likes[]", "strong coffee in the morning");
        say(desk, "likes[]", "mountain bicycles");
        say(desk, "preference.editor", "vim");
        assert_eq!(values(desk, "espresso drinks")[0], "strong coffee in the morning");
        assert_eq!(values(desk, "espresso drinks").len(), 3);
        assert_eq!(values(desk, "cycling")[0], "mountain bicycles");
    });
}

#[test]
fn stage_4_vectors_follow_every_change_of_a_fact() {
    over_both(|desk, _| {
        say(desk, "city", "Turin");
        assert_eq!(values(desk, "city"), ["Turin"]);
        say(desk, "city", "Rome");
        assert_eq!(values(desk, "city"), ["Rome"]);
        let rome = desk.active("city")[0].fact_id.clone();
        let user = desk.user.clone();
        facts::answer(&desk.facts, &user, &rome, Some("no")).unwrap();
        say(desk, "pet", "a dog");
        assert_eq!(values(desk, "city"), ["a dog"]);
        facts::answer(&desk.facts, &user, &rome, None).unwrap();
        let mut both = values(desk, "city");
        both.sort();
        assert_eq!(both, ["Rome", "a dog"]);
        desk.sound();
        assert_eq!(facts::check(&desk.facts).unwrap().unsynced_vectors, 0);
    });
}

#[test]
fn stage_4_after_a_sync_the_index_has_what_is_active_or_pending_and_nothing_else() {
    over_both(|desk, ids| {
        let user = desk.user.clone();
        let same = |desk: &mut Desk| {
            sync(desk);
            let mut found = desk.all();
            found.retain(|fact| {
                matches!(fact.status, FactStatus::Active | FactStatus::PendingConfirmation)
            });
            let found: BTreeSet<String> = found.into_iter().map(|fact| fact.fact_id).collect();
            assert_eq!(ids(desk), found);
            found.len()
        };
        let turin = desk.known("city", "Turin", 3);
        say(desk, "likes[]", "tea");
        assert_eq!(same(desk), 2);
        // It contradicts what is established, and waits.
        let rome = say(desk, "city", "Rome");
        assert_eq!(same(desk), 3);
        facts::answer(&desk.facts, &user, &rome, None).unwrap();
        assert_eq!(same(desk), 2);
        facts::answer(&desk.facts, &user, &turin, None).unwrap();
        let oslo = say(desk, "likes[]", "the city of Oslo");
        facts::answer(&desk.facts, &user, &oslo, Some("no")).unwrap();
        assert_eq!(same(desk), 2);
        facts::archive(&desk.facts, "2027-01-01T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(same(desk), 2);
        forget(desk, Some("city"));
        assert_eq!(same(desk), 1);
        desk.sound();
    });
}

#[test]
fn stage_4_another_model_takes_the_place_of_the_one_before() {
    over_both(|desk, ids| {
        say(desk, "city", "Turin");
        assert_eq!(values(desk, "city"), ["Turin"]);
        let vector = json!({"data": [{"index": 0, "embedding": [0.6, 0.8, 0.0]}]}).to_string();
        let server = Server::answering(vec![("200 OK", vector.clone()), ("200 OK", vector)]);
        let wait = Duration::from_secs(5);
        let endpoint = Endpoint::new(&server.url, "small", None, wait).unwrap();
        let embedder = Embedder::Remote(endpoint);
        assert_eq!(facts::refresh(&desk.facts, &embedder).unwrap(), 1);
        let query = FactQuery {
            text: "city".to_owned(),
            limit: 10,
            project: None,
            method: Method::Vector,
            selection: Selection::All,
            uses_encoder: false,
        };
        let user = desk.user.clone();
        let found = facts::retrieve(&desk.facts, &user, &query, &embedder).unwrap();
        assert!(!found.degraded && found.hits.len() == 1, "{found:?}");
        assert_eq!(ids(desk).len(), 1);
        server.asked();
        assert_eq!(values(desk, "city"), ["Turin"]);
        desk.sound();
    });
}

#[test]
fn stage_2_vectors_are_of_one_user_and_of_the_projects_that_count() {
    over_both(|desk, _| {
        let (rosalind, grace) = (desk.user.clone(), UserId::new("grace").unwrap());
        for (user, value, project) in [
            (&rosalind, "green tea", None),
            (&rosalind, "black tea", Some("kettle")),
            (&grace, "iced tea", None),
        ] {
            let statement =
                Statement { of_project: project.map(str::to_owned), ..stated("likes[]", value) };
            facts::add(&desk.facts, user, &statement).unwrap();
        }
        sync(desk);
        let mut found = |user, project| {
            let hits = near(desk, user, "tea", project).hits;
            let mut values: Vec<String> = hits.into_iter().map(|hit| hit.fact.value_text).collect();
            values.sort();
            values
        };
        assert_eq!(found(&rosalind, None), ["green tea"]);
        assert_eq!(found(&rosalind, Some("kettle")), ["black tea", "green tea"]);
        assert_eq!(found(&rosalind, Some("other")), ["green tea"]);
        assert_eq!(found(&grace, Some("kettle")), ["iced tea"]);
    });
}

#[test]
fn what_is_forgotten_is_forgotten_by_the_index_too() {
    over_both(|desk, _| {
        say(desk, "city", "Turin");
        say(desk, "pet", "a dog");
        assert_eq!(values(desk, "city").len(), 2);
        let user = desk.user.clone();
        assert_eq!(forget(desk, Some("city")).0, 0);
        assert_eq!(values(desk, "city"), ["a dog"]);
        assert_eq!(forget(desk, None).0, 0);
        assert!(near(desk, &user, "city", None).hits.is_empty());
        desk.sound();
    });
}

#[test]
fn vectors_move_to_a_server_and_back_when_the_setting_changes() {
    if !require("chroma") {
        return;
    }
    let chroma = Chroma::start();
    let mut desk = Desk::new();
    say(&mut desk, "city", "Turin");
    desk.facts.vector_server = Some(chroma.url.clone());
    let user = desk.user.clone();
    let before = near(&mut desk, &user, "Turin", None);
    assert!(before.degraded_because.unwrap().contains("not on the Chroma server yet"));
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(values(&mut desk, "Turin"), ["Turin"]);
    desk.facts.vector_server = None;
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(values(&mut desk, "Turin"), ["Turin"]);
    // A server that is no longer used is asked to delete what it has.
    assert_eq!(chroma.ids().len(), 0);
}
