//! What a server for vectors is told and when: nobody waits for it, and it forgets what is forgotten here.

use std::net::TcpListener;
use std::time::Duration;

use annals::clock::Clock;
use annals::facts;
use annals::facts::{Facts, Purpose, Statement};
use annals::search::Embedder;

use crate::facts::erasure::holding;
use crate::facts::server::Server;
use crate::facts::vectors::{forget, near, say, sync};
use crate::facts::{Desk, START, stated};
use crate::support::{Case, Invocation};

#[test]
fn stage_4_writes_do_not_wait_and_what_failed_is_tried_again_later_and_later() {
    let mut desk = Desk::new();
    let away = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", away.local_addr().unwrap());
    drop(away);
    desk.facts.vector_server = Some(url.clone());
    let refresh = |desk: &mut Desk| facts::refresh(&desk.facts, &Embedder::BuiltIn);
    assert_eq!(refresh(&mut desk).unwrap(), 0);
    say(&mut desk, "city", "Turin");
    assert_eq!(facts::check(&desk.facts).unwrap().unsynced_vectors, 1);
    let user = desk.user.clone();
    let found = near(&mut desk, &user, "Turin", None);
    assert!(found.degraded && found.hits[0].fact.value_text == "Turin", "{found:?}");
    // Due at once, then after 1 second, then after 2 more.
    for (seconds, is_due) in
        [(0, true), (0, false), (1, true), (2, false), (3, true), (6, false), (7, true)]
    {
        desk.at(&format!("2026-03-01T12:00:{seconds:02}Z"));
        let tried = refresh(&mut desk);
        assert_eq!(tried.is_err(), is_due, "after {seconds} s: {tried:?}");
    }
}

/// What a server answers that makes the collection and does what it is told.
fn obeying(times: usize) -> Vec<(&'static str, String)> {
    let both = [("200 OK", r#"{"id": "c"}"#), ("200 OK", "{}")];
    let answers = both.iter().cycle().take(2 * times);
    answers.map(|(status, body)| (*status, (*body).to_owned())).collect()
}

/// A database whose one fact is on a server of this address.
fn synced(url: &str) -> Desk {
    let mut desk = Desk::new();
    desk.facts.vector_server = Some(url.to_owned());
    say(&mut desk, "city", "Quincunx");
    assert_eq!(sync(&mut desk), 1);
    desk
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
    let (left, why) = forget(&mut desk, None);
    assert_eq!(left, 1);
    assert!(why.unwrap().contains("status 503"));
    for gone in ["Quincunx", "rosalind"] {
        assert_eq!(holding(&folder, gone), Vec::<String>::new(), "{gone}");
    }
    // A moment later it is left alone, and later it is asked again.
    assert_eq!(sync(&mut desk), 0);
    assert_eq!(facts::check(&desk.facts).unwrap().unerased_vectors, 1);
    desk.at("2026-03-01T12:00:01Z");
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(facts::check(&desk.facts).unwrap().unerased_vectors, 0);
    assert!(server.asked().last().unwrap().ends_with(&format!(r#"{{"ids":["{id}"]}}"#)));
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
        let facts = Facts::open_file(&path, clock, Duration::ZERO, Purpose::Write).unwrap();
        facts::add(&facts, &user, &stated("pet", "a dog")).unwrap();
    });
    // It hangs up without an answer.
    assert_eq!(forget(&mut desk, Some("city")).0, 1);
    other.join().unwrap();
    assert_eq!(desk.active("pet").len(), 1);
}

#[test]
fn a_server_that_is_no_longer_used_removes_the_vectors() {
    let removing = || {
        let mut answers = obeying(1);
        answers.push(("200 OK", "{}".to_owned()));
        answers
    };
    let (old, new) = (Server::answering(removing()), Server::answering(removing()));
    let mut desk = synced(&old.url);
    for (server, url) in [(old, Some(new.url.clone())), (new, None)] {
        desk.facts.vector_server = url;
        assert_eq!(sync(&mut desk), 1);
        let asked = server.asked();
        assert!(asked[2].starts_with("DELETE "), "{asked:?}");
    }
    desk.sound();
    // One that is gone is named once, and nobody waits for it.
    let mut desk = synced(&Server::answering(obeying(1)).url);
    desk.facts.vector_server = None;
    let refresh = |desk: &mut Desk| facts::refresh(&desk.facts, &Embedder::BuiltIn);
    let error = refresh(&mut desk).unwrap_err();
    assert!(error.hint.unwrap().starts_with("delete its collection annals-"));
    assert_eq!(refresh(&mut desk).unwrap(), 1);
}

#[test]
fn a_fact_that_comes_back_is_not_erased_with_what_was_forgotten() {
    let mut answers = obeying(1);
    answers.push(("500 Internal Server Error", String::new()));
    answers.extend(obeying(1));
    let server = Server::answering(answers);
    let mut desk = Desk::new();
    desk.facts.vector_server = Some(server.url.clone());
    let said = Statement { request_id: Some("once".to_owned()), ..stated("city", "Turin") };
    let user = desk.user.clone();
    facts::add(&desk.facts, &user, &said).unwrap();
    assert_eq!(sync(&mut desk), 1);
    assert_eq!(forget(&mut desk, Some("city")).0, 1);
    // The same id, since it follows from what was said.
    facts::add(&desk.facts, &user, &said).unwrap();
    assert_eq!(facts::check(&desk.facts).unwrap().unerased_vectors, 0);
    desk.at("2026-03-01T12:00:01Z");
    assert_eq!(sync(&mut desk), 1);
    assert!(server.asked().last().unwrap().contains("/upsert HTTP"));
}

/// A fact whose vector waits for a server that is away.
fn waiting() -> Case {
    let case = Case::empty();
    away(&case, "facts work").success();
    away(&case, "facts add --user rosalind --key city --value Turin").success();
    case
}

fn away<'c>(case: &'c Case, line: &str) -> Invocation<'c> {
    let run = case.run(line);
    run.env("ANNALS_CHROMA_URL", "http://127.0.0.1:9")
}

#[test]
fn the_command_says_what_a_server_still_has_and_the_worker_asks_again() {
    let case = waiting();
    away(&case, "facts work").success();
    // The setting is gone by now, and what the server may have is known all the same.
    let failed = case.run("facts forget --user rosalind --reason asked").code(1);
    assert!(failed.stdout().starts_with("forgot 1 fact,"), "{}", failed.report());
    let said = "forgotten in the database, but 1 vector may still be on the Chroma server: the Chroma \
                server at http://127.0.0.1:9 ";
    assert!(failed.stderr().contains(said), "{}", failed.report());
    assert!(
        failed.stderr().contains("`annals facts work` repeats the request"),
        "{}",
        failed.report()
    );
    let check = case.run("facts check").success();
    assert!(
        check.stdout().contains("forgotten, but perhaps still on the server: 1 vector"),
        "{}",
        check.report()
    );
    let work = case.run("facts work").env("ANNALS_NOW", "2026-03-01T13:00:00Z").success();
    assert!(work.stderr().contains("vectors not updated: "), "{}", work.report());
    assert!(work.stderr().contains("; delete its collection annals-"), "{}", work.report());
}

#[test]
fn a_server_that_answers_nonsense_leaves_words_to_answer() {
    for body in ["{}", "<html>", "[]"] {
        let mut desk = Desk::new();
        let server = Server::answering(vec![("200 OK", body.to_owned())]);
        desk.facts.vector_server = Some(server.url.clone());
        facts::refresh(&desk.facts, &Embedder::BuiltIn).unwrap();
        say(&mut desk, "city", "Turin");
        let user = desk.user.clone();
        let found = near(&mut desk, &user, "Turin", None);
        assert_eq!(found.hits.len(), 1);
        assert!(found.degraded_because.unwrap().contains("the Chroma server at"));
        server.asked();
    }
}

#[test]
fn the_worker_says_that_vectors_wait_and_does_the_rest() {
    let case = waiting();
    let done = away(&case, "facts work --json").success();
    let why = done.json()["vectors_wait"].as_str().unwrap().to_owned();
    assert!(why.contains("the Chroma server at http://127.0.0.1:9"), "{why}");
    assert!(done.stderr().contains("vectors not updated: "), "{}", done.report());
    let found = away(&case, "facts retrieve --query Turin --user rosalind --json").success().json();
    assert_eq!(found["degraded"], true);
    assert_eq!(found["hits"][0]["fact"]["value_text"], "Turin");
}
