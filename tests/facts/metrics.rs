//! Each measure over a sequence whose figures can be counted by hand.

use annals::facts;
use annals::facts::{FactStatus, Latency, Metrics, Observation, Share, UserId};
use serde_json::json;

use crate::facts::{Desk, insert, is_about, stated};
use crate::support::Case;

/// Has a turn observed at noon and applied so many seconds later.
fn judged(desk: &mut Desk, id: &str, said: &str, action: &serde_json::Value, seconds: u32) {
    let observation = Observation {
        user_input: said.to_owned(),
        turn_id: Some(id.to_owned()),
        ..Observation::default()
    };
    desk.at("2026-03-01T12:00:00Z");
    desk.observe(&observation);
    desk.at(&format!("2026-03-01T12:00:{seconds:02}Z"));
    desk.answer(id, &json!([action])).unwrap();
}

fn metrics(desk: &Desk, days: u32) -> Metrics {
    facts::metrics(&desk.facts, &desk.user, days).unwrap()
}

fn counted(share: Share) -> (u64, u64) {
    (share.part, share.of)
}

fn add(desk: &mut Desk, key: &str, value: &str) -> String {
    let added = facts::add(&desk.facts, &desk.user, &stated(key, value)).unwrap();
    added.fact.unwrap().fact_id
}

#[test]
fn hits_are_counted_over_the_facts_that_a_turn_was_about_and_time_until_it_was_applied() {
    let mut desk = Desk::new();
    judged(&mut desk, "a", "I live in Turin", &insert("city", "Turin"), 2);
    assert_eq!(counted(metrics(&desk, 1).lexical_hits), (0, 0));
    judged(&mut desk, "b", "Turin is still my city", &insert("city", "Turin"), 4);
    let found = metrics(&desk, 1);
    assert_eq!(
        [found.lexical_hits, found.vector_hits, found.hybrid_recall].map(counted),
        [(1, 1); 3]
    );
    for cup in 0..30 {
        add(&mut desk, "likes[]", &format!("green tea, cup {cup}"));
    }
    judged(&mut desk, "c", "green tea", &insert("city", "Turin"), 30);
    // The same answer again is no turn of its own.
    desk.answer("c", &json!([insert("city", "Turin")])).unwrap();
    let found = metrics(&desk, 1);
    assert_eq!(
        [found.lexical_hits, found.vector_hits, found.hybrid_recall].map(counted),
        [(1, 2); 3]
    );
    assert!(is_about(found.hybrid_recall.rate.unwrap(), 0.5));
    let expected = Latency { turns: 3, p50_ms: Some(4000), p95_ms: Some(30_000) };
    assert_eq!(found.observer_latency, expected);
}

#[test]
fn an_overwrite_that_the_user_takes_back_counts_as_wrong_once() {
    let mut desk = Desk::new();
    let helix = add(&mut desk, "preference.editor", "helix");
    add(&mut desk, "preference.editor", "vim");
    add(&mut desk, "preference.editor", "emacs");
    let bash = add(&mut desk, "preference.shell", "bash");
    let fish = add(&mut desk, "preference.shell", "fish");
    let user = desk.user.clone();
    assert_eq!(counted(metrics(&desk, 1).wrong_overwrites), (0, 3));
    facts::answer(&desk.facts, &user, &helix, None).unwrap();
    assert_eq!(counted(metrics(&desk, 1).wrong_overwrites), (1, 3));
    facts::answer(&desk.facts, &user, &helix, Some("no")).unwrap();
    facts::answer(&desk.facts, &user, &fish, Some("no")).unwrap();
    assert_eq!(counted(metrics(&desk, 1).wrong_overwrites), (2, 3));
    facts::answer(&desk.facts, &user, &bash, None).unwrap();
    assert_eq!(counted(metrics(&desk, 1).wrong_overwrites), (2, 3));
    desk.sound();
}

#[test]
fn what_waits_counts_on_its_day_and_as_resolved_once_it_is_answered() {
    let mut desk = Desk::new();
    desk.act(&insert("name", "Ada"));
    for name in ["Grace", "Emmy", "Sofia"] {
        desk.act(&insert("name", name));
    }
    assert_eq!(counted(metrics(&desk, 1).pending_resolved), (0, 3));
    desk.at("2026-03-02T12:00:00Z");
    let mut waiting = desk.all();
    waiting.retain(|fact| fact.status == FactStatus::PendingConfirmation);
    let user = desk.user.clone();
    facts::answer(&desk.facts, &user, &waiting[0].fact_id, None).unwrap();
    facts::answer(&desk.facts, &user, &waiting[1].fact_id, Some("no")).unwrap();
    assert_eq!(counted(metrics(&desk, 1).pending_resolved), (0, 0));
    let both_days = metrics(&desk, 2);
    assert_eq!(counted(both_days.pending_resolved), (2, 3));
    assert_eq!((both_days.since.as_str(), both_days.until.as_str()), ("2026-03-01", "2026-03-02"));
}

#[test]
fn profiles_cost_their_tokens_and_each_user_has_figures_of_their_own() {
    let desk = Desk::new();
    let user = desk.user.clone();
    for tokens in [30, 51] {
        facts::count_injection(&desk.facts, &user, tokens).unwrap();
    }
    let cost = metrics(&desk, 1).injection;
    assert_eq!((cost.profiles, cost.tokens), (2, 81));
    assert!(is_about(cost.mean.unwrap(), 40.5));
    let grace = UserId::new("grace").unwrap();
    let other = facts::metrics(&desk.facts, &grace, 30).unwrap();
    assert_eq!((other.injection.profiles, other.injection.mean), (0, None));
    facts::forget(&desk.facts, &user, None, "asked").unwrap();
    assert_eq!(metrics(&desk, 1).injection.profiles, 0);
}

#[test]
fn the_command_shows_what_was_measured() {
    let case = Case::empty();
    let run = |line: &str| case.run(line).env("ANNALS_USER", "rosalind");
    run("facts add --key city --value Turin").success();
    run("facts inject").success();
    let shown = run("facts metrics").success().stdout();
    assert!(shown.starts_with("2026-01-31 to 2026-03-01\n"), "{shown}");
    assert!(shown.contains("lexical hit rate      -\n"), "{shown}");
    assert!(shown.contains("observer latency      p50 -, p95 - (0 turns)\n"), "{shown}");
    assert!(shown.contains("tokens per profile (1 profile)\n"), "{shown}");
    run("facts inject --dry-run").success();
    let told = run("facts metrics --days 1 --json").success().json();
    assert_eq!(told["injection"]["profiles"], 1);
    for days in ["0", "3000000", "100000000"] {
        run("facts metrics --days").args([days]).code(2);
    }
}
