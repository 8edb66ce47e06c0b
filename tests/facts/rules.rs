//! Every rule of the memory loop, a test each, named after it.

use annals::error::ErrorKind;
use annals::facts;
use annals::facts::{ActionOutcome, Category, FactKey, FactStatus, Proposal};
use annals::secrets::SecretPolicy;
use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::json;

use crate::facts::{Desk, action, insert, is_about, stated, with};

#[test]
fn stage_3_rule_1_a_new_fact_is_inserted() {
    for kind in ["insert", "update", "supersede"] {
        let mut desk = Desk::new();
        assert_eq!(
            desk.act(&action(kind, "city", Some("Turin"))),
            ActionOutcome::Inserted,
            "{kind}"
        );
        let [fact] = &desk.all()[..] else { panic!() };
        assert_eq!((fact.status, fact.value_text.as_str()), (FactStatus::Active, "Turin"));
        assert!(is_about(fact.confidence, 0.40));
        assert_eq!(fact.source_turn_id, "t1");
        desk.sound();
    }
}

#[test]
fn stage_3_rule_2_a_refinement_changes_the_fact_in_place() {
    let mut desk = Desk::new();
    let id = desk.known("city", "Turin", 1);
    assert_eq!(desk.act(&action("update", "city", Some("Turin, Italy"))), ActionOutcome::Refined);
    let fact = desk.fact(&id);
    assert_eq!((fact.value_text.as_str(), fact.status), ("Turin, Italy", FactStatus::Active));
    assert_eq!(desk.all().len(), 1);
    // What takes the old value back is no refinement, whatever it is called.
    assert_eq!(
        desk.act(&action("update", "city", Some("no longer Turin, Italy"))),
        ActionOutcome::Superseded
    );
    desk.sound();
}

#[test]
fn stage_3_rule_2_an_established_fact_is_refined_only_with_confirmation() {
    let mut desk = Desk::new();
    let id = desk.known("drink", "coffee", 3);
    for value in ["coffee is a thing of the past", "coffee with milk"] {
        assert_eq!(desk.act(&action("update", "drink", Some(value))), ActionOutcome::Pending);
    }
    assert_eq!(desk.active("drink")[0].fact_id, id);
    assert_snapshot!(desk.asked(), @r#"
    Change drink from "coffee" to "coffee is a thing of the past"? 0.40
    Change drink from "coffee" to "coffee with milk"? 0.40
    "#);
    desk.confirm("coffee with milk");
    assert_snapshot!(desk.shown(), @r"
    superseded 0.85 drink: coffee, 03-01 to 03-01
    pending_confirmation 0.40 drink: coffee is a thing of the past, 03-01 to -
    active 1.00 drink: coffee with milk, 03-01 to -
    ");
    desk.sound();
}

#[test]
fn stage_3_rule_3_a_contradiction_closes_the_old_validity_and_inserts() {
    for kind in ["insert", "update", "supersede"] {
        let mut desk = Desk::new();
        let old = desk.known("city", "Turin", 1);
        desk.at("2026-03-02T12:00:00Z");
        assert_eq!(
            desk.act(&action(kind, "city", Some("Rome"))),
            ActionOutcome::Superseded,
            "{kind}"
        );
        let old = desk.fact(&old);
        assert_eq!(old.status, FactStatus::Superseded);
        assert_eq!(old.valid_to.as_deref(), Some("2026-03-02T12:00:00Z"));
        let [new] = &desk.active("city")[..] else { panic!() };
        assert_eq!(
            (new.value_text.as_str(), new.valid_from.as_str()),
            ("Rome", "2026-03-02T12:00:00Z")
        );
        desk.sound();
    }
}

#[test]
fn stage_3_rule_3_a_temporary_value_that_ends_early_gives_way_to_the_one_before() {
    for how in ["ends", "ends with a question", "ends a day later", "is rejected"] {
        let key = if how == "ends" { "place" } else { "address" };
        let mut desk = Desk::new();
        desk.act(&insert(key, "office"));
        let mut home = stated(key, "home");
        (home.confirmed, home.valid_to) = (true, Some("2026-04-01".to_owned()));
        facts::add(&desk.facts, &desk.user, &home).unwrap();
        desk.at("2026-03-10T12:00:00Z");
        let (end, home) = (action("expire", key, None), desk.id("home"));
        if how == "is rejected" {
            facts::answer(&desk.facts, &desk.user, &home, Some("no")).unwrap();
        } else if how == "ends a day later" {
            desk.act(&with(end, "valid_to", "2026-03-11"));
            desk.confirm("no longer home");
            facts::maintain(&desk.at("2026-03-11T00:00:00Z").facts, 5).unwrap();
        } else if desk.act(&end) == ActionOutcome::Pending {
            desk.confirm("no longer home");
        }
        let [office] = &desk.active(key)[..] else { panic!("{how}") };
        assert_eq!((office.value_text.as_str(), &office.valid_to), ("office", &None), "{how}");
        desk.sound();
    }
}

#[test]
fn stage_3_rule_4_an_explicit_invalidation_expires() {
    let mut desk = Desk::new();
    let id = desk.known("pet", "a dog", 1);
    let gone = with(action("expire", "pet", None), "valid_to", "2026-03-01T12:00:00Z");
    assert_eq!(desk.act(&gone), ActionOutcome::Expired);
    assert_eq!(desk.fact(&id).status, FactStatus::Expired);
    assert_eq!(desk.act(&action("expire", "pet", None)), ActionOutcome::Nothing);
    // An end that lies ahead is only noted; the worker expires the fact when it comes.
    let id = desk.known("pet", "a cat", 1);
    desk.act(&with(action("expire", "pet", None), "valid_to", "2026-04-01"));
    assert_eq!(desk.fact(&id).status, FactStatus::Active);
    let done = facts::maintain(&desk.at("2026-04-02T00:00:00Z").facts, 5).unwrap();
    assert_eq!((done.expired, desk.fact(&id).status), (1, FactStatus::Expired));
    desk.sound();
}

#[test]
fn stage_3_rule_4_of_several_values_the_one_named_expires() {
    let mut desk = Desk::new();
    desk.act(&insert("likes[]", "tea"));
    desk.act(&insert("likes[]", "rain"));
    let error = desk.hear(&json!([action("expire", "likes[]", None)])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(desk.act(&action("expire", "likes[]", Some("Tea"))), ActionOutcome::Expired);
    assert_eq!(desk.active("likes[]").len(), 1);
}

#[test]
fn stage_3_a_value_that_becomes_another_of_the_same_key_ends_in_its_favour() {
    let mut desk = Desk::new();
    for (key, value) in [
        ("likes[]", "tea"),
        ("likes[]", "green tea"),
        ("likes[]", "coffee"),
        ("allergy[]", "milk"),
        ("allergy[]", "nuts"),
    ] {
        desk.act(&insert(key, value));
    }
    for (kind, key, old, new) in [
        ("update", "likes[]", "tea", "Green tea."),
        ("supersede", "likes[]", "coffee", "green tea"),
        ("supersede", "allergy[]", "nuts", "milk"),
    ] {
        let change = with(action(kind, key, Some(new)), "target_fact_id", desk.id(old));
        assert_eq!(desk.act(&change), ActionOutcome::Confirmed);
    }
    assert_snapshot!(desk.shown(), @r"
    active 0.70 allergy[]: milk, 03-01 to -
    active 0.40 allergy[]: nuts, 03-01 to -
    pending_confirmation 0.40 allergy[]: no longer nuts, 03-01 to -
    superseded 0.40 likes[]: tea, 03-01 to 03-01
    active 0.85 likes[]: green tea, 03-01 to -
    superseded 0.40 likes[]: coffee, 03-01 to 03-01
    ");
    assert_snapshot!(desk.asked(), @r#"
    Is allergy[] no longer "nuts"? 0.40
    "#);
    desk.sound();
}

#[test]
fn stage_3_rule_5_a_duplicate_refreshes_mention_time_and_confidence() {
    for kind in ["insert", "update", "supersede", "noop"] {
        let mut desk = Desk::new();
        let id = desk.known("city", "Turin", 1);
        desk.at("2026-03-05T12:00:00Z");
        assert_eq!(
            desk.act(&action(kind, "city", Some(" turin."))),
            ActionOutcome::Confirmed,
            "{kind}"
        );
        let fact = desk.fact(&id);
        assert_eq!(fact.last_mentioned_at, "2026-03-05T12:00:00Z");
        assert!(is_about(fact.confidence, 0.70));
        assert_eq!(desk.all().len(), 1);
        desk.sound();
    }
}

#[test]
fn stage_3_rule_5_one_turn_counts_once() {
    let mut desk = Desk::new();
    let id = desk.known("city", "Turin", 1);
    let applied = desk
        .hear(&json!([
            with(action("noop", "city", Some("Turin")), "reason", "first"),
            with(action("noop", "city", Some("Turin")), "reason", "second"),
            insert("pet", "a dog"),
            action("noop", "pet", Some("a dog")),
        ]))
        .unwrap();
    let outcomes: Vec<_> = applied.iter().map(|one| one.outcome).collect();
    assert_eq!(
        outcomes,
        [
            ActionOutcome::Confirmed,
            ActionOutcome::Mentioned,
            ActionOutcome::Inserted,
            ActionOutcome::Mentioned
        ]
    );
    assert!(is_about(desk.fact(&id).confidence, 0.70));
}

#[test]
fn stage_3_rule_6_a_conflict_of_low_confidence_becomes_pending() {
    for unsure in [
        with(insert("city", "Rome"), "confidence_delta", -0.1),
        action("mark_pending_confirmation", "city", Some("Rome")),
        with(insert("city", "Rome"), "valid_from", "2027-01-01"),
    ] {
        let mut desk = Desk::new();
        let old = desk.known("city", "Turin", 1);
        assert_eq!(desk.act(&unsure), ActionOutcome::Pending);
        assert_eq!(desk.fact(&old).status, FactStatus::Active);
        let pending = facts::pending(&desk.facts, &desk.user).unwrap();
        assert_eq!(pending[0].contested.as_ref().map(|fact| &fact.fact_id), Some(&old));
        desk.sound();
    }
}

#[test]
fn stage_3_a_turn_that_is_read_late_overwrites_nothing() {
    let mut desk = Desk::new();
    desk.known("city", "Turin", 1);
    let late = facts::Observation {
        user_input: "I live in Rome".to_owned(),
        turn_id: Some("late".to_owned()),
        timestamp: Some("2026-01-01T00:00:00Z".to_owned()),
        ..facts::Observation::default()
    };
    desk.observe(&late);
    let applied = desk.answer("late", &json!([insert("city", "Rome")])).unwrap();
    assert_eq!(applied[0].outcome, ActionOutcome::Pending);
}

#[test]
fn stage_3_a_turn_that_is_read_late_undoes_no_repetition() {
    for (change, shown) in
        [(insert("city", "Rome"), "Rome"), (action("expire", "city", None), "no longer Turin")]
    {
        let mut desk = Desk::new();
        desk.known("city", "Turin", 1);
        desk.at("2026-03-05T12:00:00Z");
        desk.observe(&facts::Observation {
            user_input: "I have left Turin".to_owned(),
            turn_id: Some("late".to_owned()),
            ..facts::Observation::default()
        });
        desk.at("2026-03-10T12:00:00Z").known("city", "Turin", 1);
        let applied = desk.answer("late", &json!([change])).unwrap();
        assert_eq!(applied[0].outcome, ActionOutcome::Pending);
        assert_eq!(desk.active("city")[0].value_text, "Turin");
        assert_eq!(desk.asked(), format!("city: {shown} 0.40\n"));
        desk.sound();
    }
}

#[test]
fn stage_3_of_the_dates_of_a_proposal_the_latest_count() {
    let mut desk = Desk::new();
    desk.act(&insert("address", "Rome"));
    for (end, from) in [("2026-05-01", "2026-03-02"), ("2026-08-01", "2026-03-03")] {
        let paris = with(action("supersede", "address", Some("Paris")), "valid_to", end);
        desk.act(&with(paris, "valid_from", from));
        desk.act(&with(action("expire", "address", None), "valid_to", end));
    }
    // Nothing new about the dates.
    desk.act(&insert("address", "Paris"));
    assert_snapshot!(desk.shown(), @r"
    active 0.40 address: Rome, 03-01 to -
    pending_confirmation 0.85 address: Paris, 03-03 to 08-01
    pending_confirmation 0.70 address: no longer Rome, 03-01 to 08-01
    ");
    assert_snapshot!(desk.asked(), @r#"
    Change address from "Rome" to "Paris"? 0.85
    Is address no longer "Rome" from 2026-08-01T00:00:00Z on? 0.70
    "#);
    // After its end, the value is meant for longer.
    desk.at("2026-09-01T12:00:00Z").act(&insert("address", "Paris"));
    assert_snapshot!(desk.shown(), @r"
    superseded 0.40 address: Rome, 03-01 to 09-01
    active 0.93 address: Paris, 03-03 to -
    expired 0.70 address: no longer Rome, 03-01 to 08-01
    ");
    desk.sound();
}

#[test]
fn stage_3_the_present_value_stays_until_a_confirmed_one_to_come_begins() {
    let moving = |from: &str, to: Option<&str>| {
        let mut turin = stated("address", "Turin");
        (turin.confirmed, turin.valid_from) = (true, Some(from.to_owned()));
        turin.valid_to = to.map(str::to_owned);
        turin
    };
    let mut desk = Desk::new();
    desk.act(&insert("address", "Rome"));
    let add = |desk: &mut Desk, turin: &facts::Statement| {
        facts::add(&desk.facts, &desk.user, turin).unwrap().outcome
    };
    assert_eq!(add(&mut desk, &moving("2026-06-01", None)), ActionOutcome::Pending);
    // What was confirmed waits for its day alone, and only another confirmation moves that.
    assert_eq!(desk.asked(), "");
    desk.act(&with(insert("address", "Turin"), "valid_from", "2026-05-01"));
    add(&mut desk, &moving("2026-07-01", Some("2026-09-01")));
    assert_snapshot!(desk.shown(), @r"
    active 0.40 address: Rome, 03-01 to 07-01
    pending_confirmation 1.00 address: Turin, 07-01 to 09-01
    ");
    let mut later = |time: &str| {
        facts::maintain(&desk.at(time).facts, 5).unwrap();
        desk.sound();
        desk.shown()
    };
    assert_snapshot!(later("2026-07-01T12:00:00Z"), @r"
    superseded 0.40 address: Rome, 03-01 to 07-01
    active 1.00 address: Turin, 07-01 to 09-01
    ");
    assert_snapshot!(later("2026-09-01T12:00:00Z"), @r"
    active 0.40 address: Rome, 03-01 to -
    expired 1.00 address: Turin, 07-01 to 09-01
    ");
}

#[test]
fn stage_3_a_value_to_come_that_was_repeated_often_enough_begins_on_its_day() {
    let mut desk = Desk::new();
    let mut shown = String::new();
    // The key of high risk has not been repeated often enough.
    for key in ["city", "address"] {
        desk.known(key, "Rome", 1);
        for _ in 0..3 {
            desk.act(&with(insert(key, "Turin"), "valid_from", "2026-06-01"));
        }
    }
    shown += &desk.shown();
    shown += &desk.asked();
    facts::maintain(&desk.at("2026-06-01T12:00:00Z").facts, 5).unwrap();
    shown += &desk.shown();
    assert_snapshot!(shown, @r#"
    active 0.40 address: Rome, 03-01 to -
    pending_confirmation 0.85 address: Turin, 06-01 to -
    active 0.40 city: Rome, 03-01 to 06-01
    pending_confirmation 0.85 city: Turin, 06-01 to -
    Change address from "Rome" to "Turin"? 0.85
    active 0.40 address: Rome, 03-01 to -
    pending_confirmation 0.85 address: Turin, 06-01 to -
    superseded 0.40 city: Rome, 03-01 to 06-01
    active 0.85 city: Turin, 06-01 to -
    "#);
    desk.sound();
}

#[test]
fn stage_3_a_value_that_was_said_again_stays_beyond_the_day_of_a_less_certain_one_to_come() {
    let mut desk = Desk::new();
    desk.known("city", "Rome", 1);
    for _ in 0..3 {
        desk.act(&with(insert("city", "Turin"), "valid_from", "2026-06-01"));
    }
    for _ in 0..4 {
        desk.act(&insert("city", "Rome"));
    }
    let mut shown = desk.shown();
    shown += &desk.asked();
    facts::maintain(&desk.at("2026-06-01T12:00:00Z").facts, 5).unwrap();
    shown += &desk.shown();
    assert_snapshot!(shown, @r#"
    active 0.96 city: Rome, 03-01 to 06-01
    pending_confirmation 0.85 city: Turin, 06-01 to -
    Change city from "Rome" to "Turin"? 0.85
    active 0.96 city: Rome, 03-01 to -
    pending_confirmation 0.85 city: Turin, 06-01 to -
    "#);
    desk.sound();
}

#[test]
fn stage_3_a_change_to_come_that_is_dropped_or_comes_at_once_leaves_no_end_behind() {
    let mut shown = String::new();
    for key in ["address", "place", "city"] {
        let mut desk = Desk::new();
        desk.act(&insert(key, "Rome"));
        desk.act(&with(insert(key, "Turin"), "valid_from", "2026-06-01"));
        desk.confirm("Turin");
        let turin = desk.id("Turin");
        match key {
            "address" => drop(facts::answer(&desk.facts, &desk.user, &turin, Some("no")).unwrap()),
            "place" => {
                let end = action("expire", key, None);
                desk.act(&with(end, "target_fact_id", turin));
            }
            _ => {
                let mut now = stated(key, "Turin");
                now.confirmed = true;
                desk.at("2026-04-01T12:00:00Z");
                facts::add(&desk.facts, &desk.user, &now).unwrap();
            }
        }
        desk.sound();
        shown += &desk.shown();
    }
    assert_snapshot!(shown, @r"
    active 0.40 address: Rome, 03-01 to -
    expired 1.00 address: Turin, 06-01 to 06-01
    active 0.40 place: Rome, 03-01 to -
    expired 1.00 place: Turin, 06-01 to 06-01
    superseded 0.40 city: Rome, 03-01 to 04-01
    active 1.00 city: Turin, 04-01 to -
    ");
}

#[test]
fn stage_3_no_fact_ends_before_it_begins() {
    let mut desk = Desk::new();
    desk.act(&insert("preference.editor", "vim"));
    let refined = insert("preference.editor", "vim of old");
    assert_eq!(
        desk.act(&with(refined, "valid_to", "2026-02-01")),
        ActionOutcome::Expired,
        "it held once, and what holds now stays"
    );
    assert_eq!(desk.active("preference.editor")[0].valid_to, None);
    // What was to begin later and ends before that never holds.
    desk.act(&with(insert("city", "Rome"), "valid_from", "2026-06-01"));
    let over = with(action("expire", "city", None), "valid_to", "2026-05-01");
    assert_eq!(desk.act(&over), ActionOutcome::Expired);
    let rome = desk.all().into_iter().find(|fact| fact.key == "city").unwrap();
    assert_eq!(rome.valid_to.as_ref(), Some(&rome.valid_from));
    desk.sound();
    let mut moved = rome;
    moved.valid_to = Some("2026-05-01T00:00:00Z".to_owned());
    let user = desk.user.clone();
    let line = serde_json::to_string(&moved).unwrap();
    let error = facts::import(&Desk::new().facts, &user, &line, SecretPolicy::Refuse).unwrap_err();
    assert!(error.message.contains("valid_to is before valid_from"), "{error}");
}

#[test]
fn stage_3_all_actions_of_a_turn_or_none() {
    let mut desk = Desk::new();
    let error = desk
        .hear(&json!([
            insert("city", "Turin"),
            with(action("noop", "city", None), "target_fact_id", "nowhere"),
            with(action("expire", "pet", None), "target_fact_id", "nothing"),
        ]))
        .unwrap_err();
    assert!(error.message.contains("actions[1]: target_fact_id nowhere"), "{error}");
    assert!(error.message.contains("actions[2]: target_fact_id nothing"), "{error}");
    assert_eq!((desk.all().len(), desk.history().len()), (0, 0));
}

#[test]
fn stage_3_a_target_is_a_fact_of_this_user_and_key() {
    let mut desk = Desk::new();
    let id = desk.known("city", "Turin", 1);
    let other = with(action("expire", "pet", None), "target_fact_id", id.as_str());
    assert!(desk.hear(&json!([other])).unwrap_err().message.contains("its key is city"));
    desk.user = facts::UserId::new("grace").unwrap();
    let foreign = with(action("expire", "city", None), "target_fact_id", id.as_str());
    assert!(desk.hear(&json!([foreign])).unwrap_err().message.contains("there is no such fact"));
}

#[test]
fn stage_3_every_destructive_change_has_before_and_after() {
    let mut desk = Desk::new();
    desk.known("city", "Turin", 1);
    desk.act(&insert("city", "Turin, Italy"));
    desk.act(&insert("city", "Rome"));
    desk.act(&action("expire", "city", None));
    let history = desk.history();
    let told: Vec<_> = history.iter().map(|change| change.action.as_str()).collect();
    assert_eq!(told, ["insert", "update", "supersede", "insert", "expire"]);
    for change in &history {
        assert_eq!(change.before.is_none(), change.action == "insert");
        assert_eq!(change.turn_id.as_bytes()[0], b't');
    }
}

#[test]
fn stage_3_a_turn_that_is_replayed_changes_nothing() {
    let mut desk = Desk::new();
    let actions =
        json!([insert("city", "Turin"), insert("likes[]", "tea"), action("noop", "city", None)]);
    let first = desk.hear(&actions).unwrap();
    let (facts, history) = (desk.all(), desk.history());
    assert_eq!(desk.answer("t1", &actions).unwrap(), first);
    assert_eq!((desk.all(), desk.history()), (facts, history));
    let error = desk.answer("t1", &json!([insert("city", "Rome")])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
}

#[test]
fn confidence_first_mention_repetition_and_confirmation() {
    let mut desk = Desk::new();
    let mut seen = Vec::new();
    for _ in 0..4 {
        let id = desk.known("city", "Turin", 1);
        seen.push(desk.fact(&id).confidence);
    }
    for (seen, expected) in seen.iter().zip([0.40, 0.70, 0.85, 0.925]) {
        assert!(is_about(*seen, expected), "{seen}");
    }
    let id = desk.active("city")[0].fact_id.clone();
    facts::answer(&desk.facts, &desk.user, &id, None).unwrap();
    assert!(is_about(desk.fact(&id).confidence, 1.0));
}

#[test]
fn confidence_is_never_raised_by_the_auditor() {
    let mut desk = Desk::new();
    desk.act(&with(insert("city", "Turin"), "confidence_delta", 1.0));
    assert!(is_about(desk.active("city")[0].confidence, 0.40));
    let sure = with(insert("city", "Rome"), "confidence_delta", 1.0);
    desk.known("city", "Turin", 2);
    assert_eq!(desk.act(&sure), ActionOutcome::Pending);
}

#[test]
fn confidence_one_contradiction_does_not_overwrite_an_established_fact() {
    for (times, expected) in [
        (1, ActionOutcome::Superseded),
        (2, ActionOutcome::Superseded),
        (3, ActionOutcome::Pending),
    ] {
        let mut desk = Desk::new();
        let id = desk.known("city", "Turin", times);
        assert_eq!(desk.act(&insert("city", "Rome")), expected, "{times}");
        let holds = desk.fact(&id).status == FactStatus::Active;
        assert_eq!(holds, expected == ActionOutcome::Pending);
        desk.sound();
    }
}

#[test]
fn confidence_a_contradiction_that_is_repeated_until_it_is_as_sure_takes_effect() {
    let mut desk = Desk::new();
    let old = desk.known("city", "Turin", 3);
    let outcomes: Vec<_> = (0..3).map(|_| desk.act(&insert("city", "Rome"))).collect();
    assert_eq!(
        outcomes,
        [ActionOutcome::Pending, ActionOutcome::Pending, ActionOutcome::Superseded]
    );
    assert_eq!(desk.fact(&old).status, FactStatus::Superseded);
    assert_eq!(desk.active("city")[0].value_text, "Rome");
    desk.sound();
}

#[test]
fn confidence_what_the_user_confirmed_is_never_overwritten_by_repetition() {
    let mut desk = Desk::new();
    let old = desk.known("city", "Turin", 1);
    facts::answer(&desk.facts, &desk.user, &old, None).unwrap();
    for _ in 0..60 {
        assert_eq!(desk.act(&insert("city", "Rome")), ActionOutcome::Pending);
    }
    assert_eq!(desk.fact(&old).status, FactStatus::Active);
}

#[test]
fn safety_no_high_risk_fact_changes_below_0_90() {
    for change in [
        insert("name", "Eve"),
        action("supersede", "name", Some("Eve")),
        action("update", "name", Some("Ada Lovelace")),
        action("expire", "name", None),
        with(action("expire", "name", None), "valid_to", "2026-01-01"),
        with(insert("name", "Ada"), "valid_to", "2026-03-02"),
    ] {
        let mut desk = Desk::new();
        let id = desk.known("name", "Ada", 1);
        for expected in [0.40, 0.70, 0.85] {
            assert_eq!(desk.act(&change), ActionOutcome::Pending, "{change}");
            let pending = facts::pending(&desk.facts, &desk.user).unwrap();
            assert!(is_about(pending[0].fact.confidence, expected));
            let old = desk.fact(&id);
            assert_eq!(
                (old.status, old.value_text.as_str(), old.valid_to),
                (FactStatus::Active, "Ada", None)
            );
        }
        let fourth = desk.act(&change);
        let old = desk.fact(&id);
        if change["valid_to"] == "2026-03-02" {
            // It ends tomorrow, and holds until then.
            assert_eq!(fourth, ActionOutcome::Refined);
            let end = Some("2026-03-02T00:00:00Z".to_owned());
            assert_eq!((old.status, old.valid_to), (FactStatus::Active, end));
        } else {
            assert!(
                matches!(fourth, ActionOutcome::Superseded | ActionOutcome::Expired),
                "{fourth:?}"
            );
            assert_ne!(old.status, FactStatus::Active);
        }
        desk.sound();
    }
}

#[test]
fn safety_of_several_values_of_high_risk_only_the_one_that_was_spoken_of_ends() {
    let mut desk = Desk::new();
    desk.act(&insert("allergy[]", "nuts"));
    desk.act(&insert("allergy[]", "milk"));
    desk.act(&action("expire", "allergy[]", Some("nuts")));
    let milk = action("expire", "allergy[]", Some("milk"));
    let by_id = with(action("expire", "allergy[]", None), "target_fact_id", desk.id("milk"));
    for end in [&milk, &by_id, &milk] {
        assert_eq!(desk.act(end), ActionOutcome::Pending);
    }
    assert_snapshot!(desk.asked(), @r#"
    Is allergy[] no longer "nuts"? 0.40
    Is allergy[] no longer "milk"? 0.85
    "#);
    assert_eq!(desk.act(&milk), ActionOutcome::Expired);
    assert_snapshot!(desk.shown(), @r"
    active 0.40 allergy[]: nuts, 03-01 to -
    expired 0.40 allergy[]: milk, 03-01 to 03-01
    pending_confirmation 0.40 allergy[]: no longer nuts, 03-01 to -
    expired 0.93 allergy[]: no longer milk, 03-01 to 03-01
    ");
    desk.sound();
}

#[test]
fn safety_a_doubt_without_a_value_leaves_what_matters_alone() {
    let doubt = |key| {
        json!({"type": "mark_pending_confirmation", "key": key, "target_fact_id": null,
        "confidence_delta": 0, "reason": ""})
    };
    for (key, times, expected) in [
        ("city", 1, ActionOutcome::Pending),
        ("city", 3, ActionOutcome::Kept),
        ("allergy", 1, ActionOutcome::Kept),
    ] {
        let mut desk = Desk::new();
        let id = desk.known(key, "x-ray", times);
        let doubt = with(doubt(key), "target_fact_id", id.as_str());
        assert_eq!(desk.act(&doubt), expected, "{key} {times}");
    }
}

#[test]
fn safety_the_users_own_list_makes_keys_of_high_risk() {
    let mut desk = Desk::new();
    desk.facts.high_risk = vec!["travel.".to_owned()];
    desk.known("travel.seat", "aisle", 1);
    assert_eq!(desk.act(&insert("travel.seat", "window")), ActionOutcome::Pending);
}

#[test]
fn safety_passwords_and_tokens_are_never_kept() {
    let mut desk = Desk::new();
    for key in ["password", "wifi.password", "github.token", "api_key"] {
        let error = desk.hear(&json!([insert(key, "x")])).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{key}");
        let error = facts::add(&desk.facts, &desk.user, &stated(key, "x")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{key}");
    }
    let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let mut statement = stated("note", &token);
    assert_eq!(
        facts::add(&desk.facts, &desk.user, &statement).unwrap_err().kind,
        ErrorKind::Refused
    );
    statement.allow_secret = true;
    facts::add(&desk.facts, &desk.user, &statement).unwrap();
}

#[test]
fn safety_the_users_word_overwrites_what_nothing_else_does() {
    let mut desk = Desk::new();
    let old = desk.known("name", "Ada", 4);
    desk.act(&insert("name", "Eve"));
    let pending = facts::pending(&desk.facts, &desk.user).unwrap();
    assert_eq!(pending[0].question.as_deref(), Some("Change name from \"Ada\" to \"Eve\"?"));
    let answered = facts::answer(&desk.facts, &desk.user, &pending[0].fact.fact_id, None).unwrap();
    let fact = answered.fact.unwrap();
    assert_eq!((answered.outcome, fact.status), (ActionOutcome::Superseded, FactStatus::Active));
    assert!(is_about(fact.confidence, 1.0));
    assert_eq!(desk.fact(&old).status, FactStatus::Superseded);
    // And it can be taken back: the old value holds again.
    facts::answer(&desk.facts, &desk.user, &old, None).unwrap();
    assert_eq!(desk.active("name")[0].fact_id, old);
    desk.sound();
}

#[test]
fn safety_a_rejected_proposal_is_dropped() {
    let mut desk = Desk::new();
    let old = desk.known("name", "Ada", 1);
    desk.act(&action("expire", "name", None));
    let pending = facts::pending(&desk.facts, &desk.user).unwrap();
    assert_eq!(pending[0].fact.proposal, Some(Proposal::End));
    assert_eq!(pending[0].question.as_deref(), Some("Is name no longer \"Ada\"?"));
    let id = pending[0].fact.fact_id.clone();
    facts::answer(&desk.facts, &desk.user, &id, Some("still so")).unwrap();
    assert!(facts::pending(&desk.facts, &desk.user).unwrap().is_empty());
    assert_eq!(desk.fact(&old).status, FactStatus::Active);
    desk.sound();
}

#[test]
fn safety_the_end_of_an_old_value_does_not_end_the_new_one() {
    let mut desk = Desk::new();
    desk.act(&insert("address", "Rome"));
    desk.act(&action("expire", "address", None));
    let mut turin = stated("address", "Turin");
    turin.confirmed = true;
    facts::add(&desk.facts, &desk.user, &turin).unwrap();
    assert_eq!(desk.asked(), "");
    assert_eq!(desk.confirm("no longer Rome"), ActionOutcome::Expired);
    assert_snapshot!(desk.shown(), @r"
    superseded 0.40 address: Rome, 03-01 to 03-01
    expired 1.00 address: no longer Rome, 03-01 to 03-01
    active 1.00 address: Turin, 03-01 to -
    ");
    desk.sound();
}

#[test]
fn safety_a_dropped_end_that_is_confirmed_ends_its_value_and_is_none_itself() {
    let mut desk = Desk::new();
    desk.known("name", "Ada", 1);
    desk.act(&action("expire", "name", None));
    let end = desk.id("no longer Ada");
    facts::answer(&desk.facts, &desk.user, &end, Some("still so")).unwrap();
    assert_eq!(desk.confirm("no longer Ada"), ActionOutcome::Expired);
    desk.act(&insert("name", "Ada"));
    assert_eq!(desk.confirm("no longer Ada"), ActionOutcome::Nothing);
    assert_snapshot!(desk.shown(), @r"
    expired 0.40 name: Ada, 03-01 to 03-01
    expired 0.40 name: no longer Ada, 03-01 to 03-01
    active 0.40 name: Ada, 03-01 to -
    ");
    desk.sound();
}

#[test]
fn safety_only_conflicts_of_high_value_are_worth_a_question() {
    let mut desk = Desk::new();
    desk.known("city", "Turin", 1);
    desk.act(&action("mark_pending_confirmation", "city", Some("Rome")));
    let pending = facts::pending(&desk.facts, &desk.user).unwrap();
    assert_eq!(pending[0].question, None);
}

#[test]
fn stage_5_the_profile_has_only_what_is_active_and_valid() {
    let mut desk = Desk::new();
    for (key, value) in [
        ("name", "Ada"),
        ("constraint.diet", "no meat"),
        ("preference.editor", "helix"),
        ("likes[]", "tea"),
        ("likes[]", "rain"),
        ("task.current", "the report"),
        ("allergies[]", "nuts"),
        ("city", "Turin"),
    ] {
        desk.act(&insert(key, value));
    }
    desk.act(&with(insert("task.old", "done"), "valid_to", "2026-03-01T12:00:01Z"));
    desk.act(&with(insert("task.later", "soon"), "valid_from", "2026-05-01"));
    desk.act(&insert("city", "Rome"));
    desk.act(&insert("name", "Eve"));
    desk.at("2026-03-01T12:00:02Z");
    let profile = facts::profile(&desk.facts, &desk.user, None).unwrap().profile;
    assert_eq!(profile.identity.keys().collect::<Vec<_>>(), ["name"]);
    let name = &profile.identity["name"];
    assert_eq!([&name["value"], &name["updated_at"]], ["Ada", "2026-03-01T12:00:00Z"]);
    assert!(is_about(name["confidence"].as_f64().unwrap(), 0.40));
    assert_eq!(profile.hard_preferences.len(), 1);
    assert_eq!(
        profile.soft_preferences.keys().collect::<Vec<_>>(),
        ["city", "likes[]", "preference.editor"]
    );
    assert_eq!(profile.soft_preferences["likes[]"].as_array().unwrap().len(), 2);
    assert_eq!(profile.current_tasks.len(), 1);
    assert_eq!(profile.sensitive_topics[0]["key"], "allergies[]");
    assert!(!profile.recent_changes.is_empty());
}

#[test]
fn stage_5_the_profile_is_rebuilt_every_five_turns_and_at_a_sessions_end() {
    let mut desk = Desk::new();
    for turn in 1..=5 {
        desk.known("city", "Turin", 1);
        let done = facts::maintain(&desk.facts, 5).unwrap();
        assert_eq!(done.profiles, usize::from(turn == 5), "{turn}");
    }
    let built = facts::stored_profile(&desk.facts, &desk.user).unwrap().unwrap();
    assert!(built.profile.soft_preferences.contains_key("city"));
    let end = facts::Observation {
        user_input: "bye".to_owned(),
        session_end: Some(true),
        ..facts::Observation::default()
    };
    desk.observe(&end);
    assert_eq!(facts::maintain(&desk.facts, 5).unwrap().profiles, 1);
    assert_eq!(facts::maintain(&desk.facts, 5).unwrap().profiles, 0);
}

#[test]
fn stage_6_what_is_stale_or_unsure_is_dropped_first() {
    let mut desk = Desk::new();
    desk.at("2025-01-01T00:00:00Z");
    desk.act(&insert("preference.shell", "fish"));
    desk.at(crate::facts::START);
    desk.act(&insert("name", "Ada"));
    desk.act(&insert("task.current", "the report"));
    desk.act(&insert("preference.editor", "helix"));
    desk.act(&with(insert("preference.font", "mono"), "confidence_delta", -0.3));
    let all = facts::inject(&desk.facts, &desk.user, None, 500, None, false).unwrap();
    assert_eq!(all.left_out, 0);
    let lines: Vec<_> = all.text.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].contains("Ada") && lines[1].contains("report") && lines[2].contains("helix"));
    let mut last = all.tokens;
    for budget in (0..all.tokens).rev() {
        let fit = facts::inject(&desk.facts, &desk.user, None, budget, None, false).unwrap();
        assert!(fit.tokens <= budget && fit.tokens <= last, "{budget}: {}", fit.tokens);
        assert_eq!(fit.facts.len() + fit.left_out, 5);
        last = fit.tokens;
    }
    let most = facts::inject(&desk.facts, &desk.user, None, all.tokens - 1, None, false).unwrap();
    assert!(
        most.text.contains("helix") && !most.text.contains("mono") | !most.text.contains("fish")
    );
}

#[test]
fn facts_of_other_projects_are_left_out() {
    let desk = Desk::new();
    let mut statement = stated("task.current", "the report");
    statement.of_project = Some("atlas".to_owned());
    facts::add(&desk.facts, &desk.user, &statement).unwrap();
    let text =
        |project| facts::inject(&desk.facts, &desk.user, project, 500, None, false).unwrap().text;
    assert_eq!(text(None), "");
    assert_eq!(text(Some("other")), "");
    assert!(text(Some("atlas")).contains("the report"));
}

#[test]
fn a_fact_of_a_project_is_replaced_elsewhere_only_by_a_confirmation() {
    let desk = Desk::new();
    let state = |value: &str, project: Option<&str>| {
        let mut statement = stated("build.tool", value);
        statement.of_project = project.map(str::to_owned);
        facts::add(&desk.facts, &desk.user, &statement).unwrap().outcome
    };
    assert_eq!(state("make", Some("alpha")), ActionOutcome::Inserted);
    assert_eq!(state("bazel", Some("beta")), ActionOutcome::Pending);
    assert_eq!(state("cargo", None), ActionOutcome::Pending);
    assert_eq!(state("ninja", Some("alpha")), ActionOutcome::Superseded);
    assert_snapshot!(desk.shown(), @r"
    superseded 0.40 build.tool: make, 03-01 to 03-01
    pending_confirmation 0.40 build.tool: bazel, 03-01 to -
    pending_confirmation 0.40 build.tool: cargo, 03-01 to -
    active 0.40 build.tool: ninja, 03-01 to -
    ");
}

#[test]
fn a_fact_of_a_project_that_is_repeated_elsewhere_belongs_to_no_project() {
    for project in [None, Some("beta")] {
        let desk = Desk::new();
        let mut statement = stated("build.tool", "make");
        for project in [Some("alpha"), Some("alpha"), project] {
            statement.of_project = project.map(str::to_owned);
            facts::add(&desk.facts, &desk.user, &statement).unwrap();
        }
        let text = facts::inject(&desk.facts, &desk.user, None, 500, None, false).unwrap().text;
        assert_eq!(text, "Other facts:\n- build.tool: make [0.85]\n");
        desk.sound();
    }
}

#[test]
fn what_is_stated_with_the_same_value_is_kept_unless_it_changes_what_was_confirmed() {
    let desk = Desk::new();
    for (key, is_confirmed) in [
        ("editor", false),
        ("editor", false),
        ("address", true),
        ("address", false),
        ("shell", true),
        ("shell", true),
    ] {
        let mut statement = stated(key, "x");
        statement.confirmed = is_confirmed;
        if !desk.active(key).is_empty() {
            statement.category = Some(Category::HardPreference);
            statement.value_json = Some("[1]".to_owned());
            statement.event_time = Some("2026-02-01".to_owned());
        }
        facts::add(&desk.facts, &desk.user, &statement).unwrap();
    }
    let told = |fact: &facts::Fact| {
        format!("{fact} {:?} {:?} {:?}\n", fact.category, fact.value_json, fact.event_time)
    };
    assert_snapshot!(desk.all().iter().map(told).collect::<String>(), @r#"
    address: x Identity None None
    editor: x HardPreference Some(Array [Number(1)]) Some("2026-02-01T00:00:00Z")
    shell: x HardPreference Some(Array [Number(1)]) Some("2026-02-01T00:00:00Z")
    "#);
    desk.sound();
}

#[test]
fn a_temporary_value_that_is_confirmed_without_an_end_stays() {
    let mut desk = Desk::new();
    desk.act(&insert("place", "office"));
    desk.act(&with(insert("place", "home"), "valid_to", "2026-04-01"));
    let mut home = stated("place", "home");
    home.confirmed = true;
    facts::add(&desk.facts, &desk.user, &home).unwrap();
    facts::maintain(&desk.at("2026-04-02T12:00:00Z").facts, 5).unwrap();
    assert_snapshot!(desk.shown(), @r"
    superseded 0.40 place: office, 03-01 to 03-01
    active 1.00 place: home, 03-01 to -
    ");
    desk.act(&action("expire", "place", None));
    assert_eq!(desk.active("place"), []);
    desk.sound();
}

#[test]
fn the_archive_takes_what_is_old_and_keeps_it() {
    let mut desk = Desk::new();
    let old = desk.known("city", "Turin", 1);
    desk.act(&insert("city", "Rome"));
    let count = facts::archive(&desk.facts, "2026-03-01T12:00:00Z".parse().unwrap()).unwrap();
    assert_eq!(count, 0);
    let count = facts::archive(&desk.facts, "2026-03-01T12:00:01Z".parse().unwrap()).unwrap();
    assert_eq!((count, desk.all().len()), (1, 1));
    let exported = facts::export(&desk.facts, &desk.user).unwrap();
    assert!(
        exported.iter().any(|fact| fact.fact_id == old && fact.status == FactStatus::Superseded)
    );
    desk.sound();
    // The user can confirm what is in it, as any other fact.
    let user = desk.user.clone();
    facts::answer(&desk.facts, &user, &old, None).unwrap();
    assert_snapshot!(desk.shown(), @r"
    superseded 0.40 city: Rome, 03-01 to 03-01
    active 1.00 city: Turin, 03-01 to -
    ");
    desk.sound();
}

#[test]
fn what_is_exported_can_be_imported_and_overwrites_nothing() {
    let mut from = Desk::new();
    from.known("city", "Turin", 2);
    from.known("name", "Ada", 1);
    from.act(&insert("likes[]", "tea"));
    let lines: String = facts::export(&from.facts, &from.user)
        .unwrap()
        .iter()
        .map(|fact| serde_json::to_string(fact).unwrap() + "\n")
        .collect();
    let mut to = Desk::new();
    to.at("2026-03-02T00:00:00Z").known("city", "Rome", 1);
    let user = to.user.clone();
    let done = facts::import(&to.facts, &user, &lines, SecretPolicy::Refuse).unwrap();
    assert_eq!((done.imported, done.pending, done.known), (3, 1, 0));
    assert_eq!(to.active("city")[0].value_text, "Rome");
    let again = facts::import(&to.facts, &user, &lines, SecretPolicy::Refuse).unwrap();
    assert_eq!((again.imported, again.known), (0, 3));
    to.sound();
    let other = facts::UserId::new("grace").unwrap();
    let error = facts::import(&to.facts, &other, &lines, SecretPolicy::Refuse).unwrap_err();
    assert!(error.message.contains("line 1: a fact of rosalind, not of grace"), "{error}");
}

#[test]
fn lines_of_one_import_are_compared_with_each_other() {
    let mut from = Desk::new();
    from.act(&insert("likes[]", "tea"));
    let tea = facts::export(&from.facts, &from.user).unwrap().remove(0);
    let line = |digit: &str, key: &str, value: &str| {
        let mut fact = tea.clone();
        fact.fact_id = format!("{digit}{}", &tea.fact_id[1..]);
        fact.key = key.to_owned();
        fact.value_text = value.to_owned();
        serde_json::to_string(&fact).unwrap() + "\n"
    };
    let lines = [
        line("1", "likes[]", "tea"),
        line("2", "likes[]", "Tea."),
        line("3", "likes[]", "milk  tea"),
        line("6", "likes[]", "Milk tea!"),
        line("4", "city", "Turin"),
        line("5", "city", "Rome"),
    ];
    let to = Desk::new();
    let user = to.user.clone();
    let done = facts::import(&to.facts, &user, &lines.concat(), SecretPolicy::Refuse).unwrap();
    assert_eq!((done.imported, done.pending, done.known), (4, 1, 2));
    assert_eq!(to.active("likes[]").len(), 2);
    assert_eq!(to.active("city")[0].value_text, "Turin");
    to.sound();
}

#[test]
fn an_explicit_statement_is_judged_by_its_value_alone() {
    let desk = Desk::new();
    for (value, expected) in [
        ("Turin", ActionOutcome::Inserted),
        ("turin", ActionOutcome::Confirmed),
        ("Turin, Italy", ActionOutcome::Refined),
        ("Rome", ActionOutcome::Superseded),
    ] {
        let added = facts::add(&desk.facts, &desk.user, &stated("city", value)).unwrap();
        assert_eq!(added.outcome, expected, "{value}");
    }
    let mut once = stated("city", "Oslo");
    once.request_id = Some("r1".to_owned());
    let first = facts::add(&desk.facts, &desk.user, &once).unwrap();
    let history = desk.history();
    let second = facts::add(&desk.facts, &desk.user, &once).unwrap();
    assert_eq!((first.outcome, first.fact), (second.outcome, second.fact));
    assert_eq!(desk.history(), history);
    for id in ["annals:stated:1", "request:r1"] {
        once.request_id = Some(id.to_owned());
        let error = facts::add(&desk.facts, &desk.user, &once).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{id}");
    }
    desk.sound();
}

#[test]
fn the_category_follows_from_the_key_and_is_kept() {
    let mut desk = Desk::new();
    let mut statement = stated("diet", "vegan");
    statement.category = Some(Category::Health);
    facts::add(&desk.facts, &desk.user, &statement).unwrap();
    // The stored category makes the key one of high risk from then on.
    assert_eq!(desk.act(&insert("diet", "everything")), ActionOutcome::Pending);
    assert_eq!(FactKey::parse("diet").unwrap().category(), Category::Other);
}

#[test]
fn no_user_sees_another() {
    let mut desk = Desk::new();
    let id = desk.known("city", "Turin", 1);
    let grace = facts::UserId::new("grace").unwrap();
    assert!(facts::find(&desk.facts, &grace, &id).is_err());
    assert!(facts::answer(&desk.facts, &grace, &id, None).is_err());
    assert!(facts::answer(&desk.facts, &grace, &id, Some("")).is_err());
    assert!(facts::find_turn(&desk.facts, &grace, "t1").is_err());
    assert!(facts::export(&desk.facts, &grace).unwrap().is_empty());
    assert!(facts::history(&desk.facts, &grace, None).unwrap().is_empty());
    assert!(facts::history(&desk.facts, &grace, Some(&id)).unwrap().is_empty());
    assert!(facts::turns(&desk.facts, &grace).unwrap().is_empty());
    let profile = facts::profile(&desk.facts, &grace, None).unwrap().profile;
    assert_eq!(profile, facts::UserProfile::default());
    // The same turn and action of another user are not taken for a replay.
    desk.user = grace;
    desk.turns = 0;
    assert_eq!(desk.act(&insert("city", "Turin")), ActionOutcome::Inserted);
}

#[test]
fn the_history_shows_what_was_changed_or_deleted_without_it() {
    let mut desk = Desk::new();
    for key in ["city", "pet", "job", "likes[]"] {
        desk.act(&insert(key, "first"));
    }
    desk.act(&insert("city", "second"));
    facts::archive(&desk.facts, "2027-01-01T00:00:00Z".parse().unwrap()).unwrap();
    desk.sound();
    let other = Connection::open(&desk.path).unwrap();
    for change in [
        "DELETE FROM facts WHERE key = 'pet'",
        "DELETE FROM facts_archive WHERE key = 'city'",
        "UPDATE facts SET value_text = 'other' WHERE key = 'job'",
    ] {
        other.execute(change, []).unwrap();
    }
    let found = facts::check(&desk.facts).unwrap();
    assert_eq!(
        found.problems,
        ["2 facts of the history that are gone", "1 facts not matching the history"]
    );
}
