//! What an index of vectors must do, wherever it is: the same tests over the one in the file and over a Chroma server.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::io::BufReader;
use std::net::TcpListener;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use annals::clock::Clock;
use annals::embedding::Embedder;
use annals::embedding::Endpoint;
use annals::facts;
use annals::facts::Facts;
use annals::facts::Method;
use annals::facts::Purpose;
use annals::facts::Query;
use annals::facts::Remaining;
use annals::facts::Retrieved;
use annals::facts::Scope;
use annals::facts::Statement;
use annals::facts::Status;
use annals::facts::UserId;
use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

use crate::facts::Desk;
use crate::facts::START;
use crate::facts::erasure::holding;
use crate::facts::server::Server;
use crate::facts::stated;
use crate::support::Case;
use crate::support::require;

/// A Chroma server on loopback that ends with the test.
struct Chroma {
    url: String,
    child: Child,
    _temp: TempDir,
}

impl Chroma {
    fn start() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut child = Command::new("chroma")
            .args(["run", "--host", "127.0.0.1", "--path"])
            .arg(temp.path())
            .args(["--port", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = said.find(|line| {
            line.as_ref()
                .is_ok_and(|line| line.contains("listening on"))
        });
        assert!(ready.is_some(), "chroma did not start");
        // It would stop where nobody read what it goes on to say.
        std::thread::spawn(move || said.for_each(drop));
        Self {
            url: format!("http://{address}"),
            child,
            _temp: temp,
        }
    }
}

impl Drop for Chroma {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Chroma {
    /// The ids that its one collection holds.
    fn ids(&self) -> BTreeSet<String> {
        let below = format!(
            "{}/api/v2/tenants/default_tenant/databases/default_database/collections",
            self.url
        );
        let read = |mut answer: ureq::http::Response<ureq::Body>| -> Value {
            serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
        };
        let collections = read(ureq::get(&below).call().unwrap());
        let id = collections[0]["id"].as_str().unwrap();
        let all = ureq::post(format!("{below}/{id}/get")).content_type("application/json");
        let found = read(all.send(r#"{"include": []}"#).unwrap());
        let ids = found["ids"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    }
}

/// Which facts an index has vectors of.
type Ids<'a> = &'a dyn Fn(&Desk) -> BTreeSet<String>;

/// Runs a contract over the index in the file, and over a server where one can be started.
fn over_both(contract: impl Fn(&mut Desk, Ids<'_>)) {
    contract(&mut Desk::new(), &in_file);
    if require("chroma") {
        let chroma = Chroma::start();
        let mut desk = Desk::new();
        desk.facts.set_vector_server(Some(&chroma.url));
        sync(&mut desk);
        contract(&mut desk, &|_| chroma.ids());
    }
}

fn in_file(desk: &Desk) -> BTreeSet<String> {
    let connection = Connection::open(&desk.path).unwrap();
    let mut statement = connection
        .prepare("SELECT fact_id FROM fact_vectors")
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn sync(desk: &mut Desk) -> usize {
    facts::refresh(&mut desk.facts, &Embedder::BuiltIn).unwrap()
}

fn near(desk: &mut Desk, user: &UserId, text: &str, scope: Scope) -> Retrieved {
    let query = Query {
        text: text.to_owned(),
        limit: 10,
        scope,
        method: Method::Vector,
    };
    facts::retrieve(&mut desk.facts, user, &query, &Embedder::BuiltIn).unwrap()
}

fn values(desk: &mut Desk, text: &str) -> Vec<String> {
    sync(desk);
    let user = desk.user.clone();
    let found = near(desk, &user, text, Scope::General);
    assert!(!found.degraded, "{found:?}");
    let values = found.hits.into_iter().map(|hit| hit.fact.value_text);
    values.collect()
}

fn say(desk: &mut Desk, key: &str, value: &str) -> String {
    let user = desk.user.clone();
    let added = facts::add(&mut desk.facts, &user, &stated(key, value)).unwrap();
    added.fact.unwrap().fact_id
}

#[test]
fn stage_4_the_nearest_meaning_is_first_and_all_of_the_user_are_compared() {
    over_both(|desk, _| {
        say(desk, "likes[]", "strong coffee in the morning");
        say(desk, "likes[]", "mountain bicycles");
        say(desk, "preference.editor", "vim");
        assert_eq!(
            values(desk, "espresso drinks")[0],
            "strong coffee in the morning"
        );
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
        facts::reject(&mut desk.facts, &user, &rome, "no").unwrap();
        say(desk, "pet", "a dog");
        assert_eq!(values(desk, "city"), ["a dog"]);
        facts::confirm(&mut desk.facts, &user, &rome).unwrap();
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
            found
                .retain(|fact| matches!(fact.status, Status::Active | Status::PendingConfirmation));
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
        facts::confirm(&mut desk.facts, &user, &rome).unwrap();
        assert_eq!(same(desk), 2);
        facts::confirm(&mut desk.facts, &user, &turin).unwrap();
        let oslo = say(desk, "likes[]", "the city of Oslo");
        facts::reject(&mut desk.facts, &user, &oslo, "no").unwrap();
        assert_eq!(same(desk), 2);
        facts::archive(&mut desk.facts, "2027-01-01T00:00:00Z".parse().unwrap()).unwrap();
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
        assert_eq!(facts::refresh(&mut desk.facts, &embedder).unwrap(), 1);
        let query = Query {
            text: "where".to_owned(),
            limit: 10,
            scope: Scope::General,
            method: Method::Vector,
        };
        let user = desk.user.clone();
        let found = facts::retrieve(&mut desk.facts, &user, &query, &embedder).unwrap();
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
        let (ada, grace) = (desk.user.clone(), UserId::new("grace").unwrap());
        for (user, value, project) in [
            (&ada, "green tea", None),
            (&ada, "black tea", Some("kettle")),
            (&grace, "iced tea", None),
        ] {
            let statement = Statement {
                project: project.map(str::to_owned),
                ..stated("likes[]", value)
            };
            facts::add(&mut desk.facts, user, &statement).unwrap();
        }
        sync(desk);
        let mut found = |user, scope| {
            let hits = near(desk, user, "tea", scope).hits;
            let mut values: Vec<String> = hits.into_iter().map(|hit| hit.fact.value_text).collect();
            values.sort();
            values
        };
        let kettle = Scope::Project("kettle".to_owned());
        assert_eq!(found(&ada, Scope::General), ["green tea"]);
        assert_eq!(found(&ada, kettle.clone()), ["black tea", "green tea"]);
        assert_eq!(found(&ada, Scope::All), ["black tea", "green tea"]);
        assert_eq!(
            found(&ada, Scope::Project("other".to_owned())),
            ["green tea"]
        );
        assert_eq!(found(&grace, kettle), ["iced tea"]);
    });
}

#[test]
fn what_is_forgotten_is_forgotten_by_the_index_too() {
    over_both(|desk, _| {
        say(desk, "city", "Turin");
        say(desk, "pet", "a dog");
        assert_eq!(values(desk, "city").len(), 2);
        let user = desk.user.clone();
        assert_eq!(forget(desk, Some("city")), []);
        assert_eq!(values(desk, "city"), ["a dog"]);
        assert_eq!(forget(desk, None), []);
        assert!(near(desk, &user, "city", Scope::General).hits.is_empty());
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
    desk.facts.set_vector_server(Some(&chroma.url));
    let user = desk.user.clone();
    let before = near(&mut desk, &user, "Turin", Scope::General);
    assert!(
        before
            .degraded_because
            .unwrap()
            .contains("not on the Chroma server yet")
    );
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(values(&mut desk, "Turin"), ["Turin"]);
    desk.facts.set_vector_server(None);
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(values(&mut desk, "Turin"), ["Turin"]);
    // What the server has, it keeps until the fact is forgotten.
    assert_eq!(chroma.ids().len(), 1);
    assert_eq!(forget(&mut desk, Some("city")), []);
    assert_eq!(chroma.ids().len(), 0);
}

#[test]
fn stage_4_writes_do_not_wait_and_what_failed_is_tried_again_later_and_later() {
    let mut desk = Desk::new();
    let away = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", away.local_addr().unwrap());
    drop(away);
    desk.facts.set_vector_server(Some(&url));
    let refresh = |desk: &mut Desk| facts::refresh(&mut desk.facts, &Embedder::BuiltIn);
    assert_eq!(refresh(&mut desk).unwrap(), 0);
    say(&mut desk, "city", "Turin");
    assert_eq!(facts::check(&desk.facts).unwrap().unsynced_vectors, 1);
    let user = desk.user.clone();
    let found = near(&mut desk, &user, "Turin", Scope::General);
    assert!(
        found.degraded && found.hits[0].fact.value_text == "Turin",
        "{found:?}"
    );
    // Due at once, then after 1 second, then after 2 more.
    for (seconds, is_due) in [
        (0, true),
        (0, false),
        (1, true),
        (2, false),
        (3, true),
        (6, false),
        (7, true),
    ] {
        desk.at(&format!("2026-03-01T12:00:{seconds:02}Z"));
        let tried = refresh(&mut desk);
        assert_eq!(tried.is_err(), is_due, "after {seconds} s: {tried:?}");
    }
}

/// What a server answers that makes the collection and does what it is told.
fn obeying(times: usize) -> Vec<(&'static str, String)> {
    let both = [("200 OK", r#"{"id": "c"}"#), ("200 OK", "{}")];
    let answers = both.iter().cycle().take(2 * times);
    answers
        .map(|(status, body)| (*status, (*body).to_owned()))
        .collect()
}

/// A database whose one fact is on a server of this address.
fn synced(url: &str) -> Desk {
    let mut desk = Desk::new();
    desk.facts.set_vector_server(Some(url));
    say(&mut desk, "city", "Quincunx");
    assert_eq!(sync(&mut desk), 1);
    desk
}

fn forget(desk: &mut Desk, key: Option<&str>) -> Vec<Remaining> {
    let user = desk.user.clone();
    let forgotten = facts::forget(&mut desk.facts, &user, key, "asked").unwrap();
    let left = facts::check(&desk.facts).unwrap().remaining;
    assert_eq!(forgotten.remaining, left);
    left
}

#[test]
fn forgetting_waits_for_no_server_and_keeps_what_one_did_not_erase_by_id() {
    let mut answers = obeying(1);
    answers.push(("503 Service Unavailable", String::new()));
    answers.extend(obeying(1));
    let server = Server::answering(answers);
    let mut desk = synced(&server.url);
    let folder = desk.path.parent().unwrap().to_owned();
    let id = desk.active("city")[0].fact_id.clone();
    let left = forget(&mut desk, None);
    assert_eq!((left[0].vectors, left[0].attempts), (1, 1));
    assert_eq!(left[0].server, server.url);
    assert!(left[0].last_error.as_ref().unwrap().contains("status 503"));
    for gone in ["Quincunx", "ada"] {
        assert_eq!(holding(&folder, gone), Vec::<String>::new(), "{gone}");
    }
    // A moment later it is left alone, and later it is asked again.
    assert!(facts::erase_remaining(&mut desk.facts).unwrap().is_none());
    assert_eq!(facts::check(&desk.facts).unwrap().remaining.len(), 1);
    desk.at("2026-03-01T12:00:01Z");
    assert!(facts::erase_remaining(&mut desk.facts).unwrap().is_none());
    assert_eq!(facts::check(&desk.facts).unwrap().remaining, []);
    assert!(
        server
            .asked()
            .last()
            .unwrap()
            .ends_with(&format!(r#"{{"ids":["{id}"]}}"#))
    );
    desk.sound();
}

#[test]
fn a_server_is_asked_to_forget_while_others_can_write() {
    let server = Server::answering(obeying(1));
    let mut desk = synced(&server.url);
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    server.asked();
    let listener = TcpListener::bind(address).unwrap();
    let (path, user) = (desk.path.clone(), desk.user.clone());
    let other = std::thread::spawn(move || {
        let (_stream, _) = listener.accept().unwrap();
        let clock = Clock::new(Some(START)).unwrap();
        let mut facts = Facts::open_file(&path, clock, Duration::ZERO, Purpose::Write).unwrap();
        facts::add(&mut facts, &user, &stated("pet", "a dog")).unwrap();
    });
    // It hangs up without an answer.
    assert_eq!(forget(&mut desk, Some("city"))[0].vectors, 1);
    other.join().unwrap();
    assert_eq!(desk.active("pet").len(), 1);
}

#[test]
fn what_is_forgotten_is_erased_on_every_server_that_was_ever_told() {
    let old = Server::answering(obeying(2));
    let new = Server::answering(obeying(2));
    let mut desk = synced(&old.url);
    desk.facts.set_vector_server(Some(&new.url));
    assert_eq!(sync(&mut desk), 1);
    let id = desk.active("city")[0].fact_id.clone();
    desk.facts.set_vector_server(None);
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(forget(&mut desk, Some("city")), []);
    for server in [old, new] {
        let asked = server.asked();
        assert!(
            asked[3].starts_with("POST ") && asked[3].contains("/delete HTTP"),
            "{asked:?}"
        );
        assert!(asked[3].contains(&id), "{asked:?}");
    }
}

#[test]
fn a_fact_that_comes_back_is_not_erased_with_what_was_forgotten() {
    let mut answers = obeying(1);
    answers.push(("500 Internal Server Error", String::new()));
    answers.extend(obeying(1));
    let server = Server::answering(answers);
    let mut desk = Desk::new();
    desk.facts.set_vector_server(Some(&server.url));
    let said = Statement {
        request_id: Some("once".to_owned()),
        ..stated("city", "Turin")
    };
    let user = desk.user.clone();
    facts::add(&mut desk.facts, &user, &said).unwrap();
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(forget(&mut desk, Some("city")).len(), 1);
    // The same id, since it follows from what was said.
    facts::add(&mut desk.facts, &user, &said).unwrap();
    desk.at("2026-03-01T12:00:01Z");
    assert!(facts::erase_remaining(&mut desk.facts).unwrap().is_none());
    assert_eq!(facts::check(&desk.facts).unwrap().remaining.len(), 1);
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(facts::check(&desk.facts).unwrap().remaining, []);
    assert!(server.asked().last().unwrap().contains("/upsert HTTP"));
}

#[test]
fn the_command_says_what_a_server_still_has_and_the_worker_asks_again() {
    let case = Case::empty();
    let run = |line: &str| {
        case.run(line)
            .env("ANNALS_CHROMA_URL", "http://127.0.0.1:9")
    };
    run("facts work").success();
    run("facts add --user ada --key city --value Turin").success();
    run("facts work").success();
    // The setting is gone by now, and what the server may have is known all the same.
    let failed = case.run("facts forget --user ada --reason asked").code(1);
    assert!(
        failed.stdout().starts_with("forgot 1 facts"),
        "{}",
        failed.report()
    );
    let said =
        "forgotten in the database, and not yet everywhere: 1 vectors at http://127.0.0.1:9 (";
    assert!(failed.stderr().contains(said), "{}", failed.report());
    assert!(
        failed.stderr().contains("`annals facts work` asks again"),
        "{}",
        failed.report()
    );
    let check = case.run("facts check").success();
    assert!(
        check
            .stdout()
            .contains("forgotten, and not erased yet: 1 vectors"),
        "{}",
        check.report()
    );
    let work = case
        .run("facts work")
        .env("ANNALS_NOW", "2026-03-01T13:00:00Z")
        .success();
    assert!(
        work.stderr()
            .contains("what is forgotten waits to be erased: "),
        "{}",
        work.report()
    );
}

#[test]
fn a_server_that_answers_nonsense_leaves_words_to_answer() {
    for body in ["{}", "<html>", "[]"] {
        let mut desk = Desk::new();
        let server = Server::answering(vec![("200 OK", body.to_owned())]);
        desk.facts.set_vector_server(Some(&server.url));
        facts::refresh(&mut desk.facts, &Embedder::BuiltIn).unwrap();
        say(&mut desk, "city", "Turin");
        let user = desk.user.clone();
        let found = near(&mut desk, &user, "Turin", Scope::General);
        assert_eq!(found.hits.len(), 1);
        assert!(
            found
                .degraded_because
                .unwrap()
                .contains("the Chroma server at")
        );
        server.asked();
    }
}

#[test]
fn the_worker_says_that_vectors_wait_and_does_the_rest() {
    let case = Case::empty();
    let run = |line: &str| {
        case.run(line)
            .env("ANNALS_CHROMA_URL", "http://127.0.0.1:9")
    };
    run("facts work").success();
    run("facts add --user ada --key city --value Turin").success();
    let done = run("facts work --json").success();
    let why = done.json()["vectors_wait"].as_str().unwrap().to_owned();
    assert!(
        why.contains("the Chroma server at http://127.0.0.1:9"),
        "{why}"
    );
    assert!(
        done.stderr().contains("vectors wait: "),
        "{}",
        done.report()
    );
    let found = run("facts retrieve --query Turin --user ada --json")
        .success()
        .json();
    assert_eq!(found["degraded"], true);
    assert_eq!(found["hits"][0]["fact"]["value_text"], "Turin");
}
