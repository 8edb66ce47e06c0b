use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::clock::Clock;
use crate::facts::{Fact, FactStatus, profile};
use crate::search::{Endpoint, Relevance};

const NOW: &str = "2026-03-01T12:00:00Z";

/// A database of facts to search.
struct Store(Facts);

impl Store {
    fn new() -> Self {
        Self(Facts::in_memory(Clock::new(Some(NOW)).unwrap()).unwrap())
    }

    fn with(facts: &[(&str, &str, &str)]) -> Self {
        let mut store = Self::new();
        for (user, key, value) in facts {
            store.put(&fact(user, key, value));
        }
        store
    }

    fn put(&mut self, fact: &Fact) {
        let written = self.0.write(|| {
            fact.upsert(&self.0)?;
            vectors::update_index(&self.0, fact)
        });
        written.unwrap();
    }

    fn ask(&mut self, user: &str, query: &FactQuery, embedder: &Embedder) -> Retrieved {
        retrieve(&self.0, &UserId::new(user).unwrap(), query, embedder).unwrap()
    }

    /// Returns the values of the hits.
    fn values(&mut self, user: &str, text: &str, method: Method) -> Vec<String> {
        let found = self.ask(user, &query(text, method), &Embedder::BuiltIn);
        found.hits.into_iter().map(|hit| hit.fact.value_text).collect()
    }
}

fn query(text: &str, method: Method) -> FactQuery {
    FactQuery {
        text: text.to_owned(),
        limit: 10,
        project: None,
        method,
        selection: Selection::Candidates,
        uses_encoder: false,
    }
}

fn fact(user: &str, key: &str, value: &str) -> Fact {
    let id = format!("{user}/{key}/{value}");
    let user = UserId(user.to_owned());
    Fact {
        confidence: 0.4,
        source_turn_id: "1".to_owned(),
        ..Fact::new(&user, id, key, value.to_owned(), NOW)
    }
}

fn silent() -> Embedder {
    let deadline = Duration::from_millis(200);
    // Nothing listens on the discard port of this machine.
    Embedder::Remote(Endpoint::new("http://127.0.0.1:9", "m", None, deadline).unwrap())
}

#[test]
fn facts_are_found_by_words_in_any_form_and_by_meaning() {
    let mut store = Store::with(&[
        ("ada", "preference.editor", "helix"),
        ("ada", "pet", "a puppy named Ludo"),
        ("ada", "city", "Turin"),
    ]);
    assert_eq!(store.values("ada", "Which EDITORS?", Method::Lexical), ["helix"]);
    let near = store.values("ada", "does she keep a dog", Method::Vector);
    assert_eq!(near[0], "a puppy named Ludo");
    let fused = store.values("ada", "does she keep a dog", Method::Fused);
    assert_eq!(fused[0], "a puppy named Ludo");
}

#[test]
fn a_function_word_alone_is_searched_for_only_where_facts_may_contradict() {
    let mut store = Store::with(&[("ada", "city", "Turin is the city")]);
    let all = FactQuery { selection: Selection::All, ..query("the", Method::Fused) };
    let found = store.ask("ada", &all, &silent());
    assert_eq!((found.hits.len(), found.is_wordless, found.degraded), (0, true, false));
    assert_eq!(store.values("ada", "the", Method::Vector), ["Turin is the city"]);
}

#[test]
fn the_encoder_reads_a_fact_once_and_again_when_it_has_changed() {
    let mut store = Store::with(&[("ada", "city", "Turin is home")]);
    let kept = |store: &Store| -> Vec<Vec<u8>> {
        store.0.column("SELECT vectors FROM encoded ORDER BY id", []).unwrap()
    };
    let asked = FactQuery {
        selection: Selection::Relevant,
        uses_encoder: true,
        ..query("which city is home", Method::Fused)
    };
    let near = |store: &mut Store| {
        store.ask("ada", &asked, &Embedder::BuiltIn).hits[0].components.encoder_cosine
    };
    let first = near(&mut store);
    assert!(first > Some(0.0));
    let vectors = kept(&store);
    assert_eq!((near(&mut store), kept(&store)), (first, vectors.clone()));
    // The kept vectors are the ones that are used, also by `judge_each`.
    let ada = UserId::new("ada").unwrap();
    let change = |store: &Store, sql: &str| store.0.connection.execute(sql, []).unwrap();
    change(&store, "UPDATE encoded SET scale = x'00000000'");
    assert_eq!(near(&mut store), Some(0.0));
    let all = profile::valid(&store.0, &ada, None).unwrap();
    let judged = judge_each(&store.0, &ada, None, "where does she live", &all, true).unwrap();
    assert_eq!(judged, [None]);
    change(&store, "UPDATE encoded SET encoder = 'another'");
    assert_eq!((near(&mut store), kept(&store)), (first, vectors.clone()));
    change(&store, "UPDATE facts SET value_text = 'Turin is home, near the river'");
    assert_eq!(kept(&store).len(), 0);
    // A search that listed the facts before the change keeps no vectors of the earlier text.
    judge_each(&store.0, &ada, None, "where does she live", &all, true).unwrap();
    assert_eq!(kept(&store).len(), 0);
    near(&mut store);
    assert_ne!(kept(&store), vectors);
    change(&store, "DELETE FROM facts");
    assert_eq!(kept(&store).len(), 0);
}

#[test]
fn no_method_finds_facts_of_another_user() {
    let users = ["ada", "ADA", "ada 2", "ada-2", "616461", "a", "%", "*", "\"ada\" OR x"];
    let mut store = Store::new();
    for user in users {
        store.put(&fact(user, "city", "Turin by the river"));
        store.put(&fact(user, "likes[]", "rivers and 東京"));
    }
    for user in users {
        for method in Method::ALL {
            for text in ["river", "Turin", "東京", "urin", "owner : \"616461\"", "city OR likes"]
            {
                let found = store.ask(user, &query(text, method), &Embedder::BuiltIn);
                let others = found.hits.iter().filter(|hit| hit.fact.user_id.as_str() != user);
                assert_eq!(others.count(), 0, "{user:?} {method:?} {text:?}");
                assert!(method != Method::Fused || !found.hits.is_empty(), "{user:?} {text:?}");
            }
        }
    }
}

#[test]
fn only_what_holds_or_waits_for_an_answer_is_found() {
    let mut store = Store::new();
    for (number, status) in FactStatus::ALL.into_iter().enumerate() {
        let mut fact =
            fact("ada", &format!("city.{number}"), &format!("Turin {}", status.as_str()));
        fact.status = status;
        store.put(&fact);
    }
    for method in Method::ALL {
        let mut found = store.values("ada", "Turin", method);
        found.sort();
        assert_eq!(found, ["Turin active", "Turin pending_confirmation"], "{method:?}");
    }
}

#[test]
fn facts_of_other_projects_are_left_out_unless_asked_for() {
    let mut store = Store::new();
    for project in [None, Some("larder"), Some("atlas")] {
        let mut fact = fact("ada", "build[]", &format!("cargo {}", project.unwrap_or("anywhere")));
        fact.project = project.map(str::to_owned);
        store.put(&fact);
    }
    for method in Method::ALL {
        let mut count = |project: Option<&str>| {
            let project = project.map(str::to_owned);
            let query = FactQuery { project, ..query("cargo", method) };
            store.ask("ada", &query, &Embedder::BuiltIn).hits.len()
        };
        assert_eq!(count(None), 1, "{method:?}");
        assert_eq!(count(Some("atlas")), 2, "{method:?}");
    }
}

#[test]
fn scripts_without_spaces_are_found() {
    let mut store = Store::with(&[
        ("ada", "home", "東京に住んでいる"),
        ("ada", "queue", "再試行キューが遅い"),
        ("ada", "database", "PostgreSQL 16"),
        ("ada", "emoji", "🦀 is the crab"),
        ("ada", "language", "говорит по-русски"),
    ]);
    for (text, expected) in [
        ("東京", "東京に住んでいる"),
        ("東京の天気", "東京に住んでいる"),
        ("キュー", "再試行キューが遅い"),
        ("遅", "再試行キューが遅い"),
        ("🦀 crab", "🦀 is the crab"),
        ("РУССКИ", "говорит по-русски"),
    ] {
        let found = store.values("ada", text, Method::Lexical);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
        let found = store.values("ada", text, Method::Fused);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn a_query_without_words_or_known_pieces_finds_nothing_and_a_long_one_is_answered() {
    let mut store = Store::with(&[("ada", "city", "Turin")]);
    for method in Method::ALL {
        for text in ["", "   ", "\u{0}", "🙂"] {
            assert!(store.values("ada", text, method).is_empty(), "{method:?} {text:?}");
        }
        let long = "where is Turin AND (NEAR \"* ".repeat(400);
        assert!(long.len() > 10_000);
        assert_eq!(store.values("ada", &long, method), ["Turin"], "{method:?}");
    }
}

#[test]
fn neighbours_in_a_session_lend_a_share() {
    let mut store = Store::new();
    let turns = ["What did you see in Lisbon?", "Hm, wait.", "The old tram.", "Lovely."];
    for (number, text) in (0..).zip(turns) {
        let mut fact = fact("ada", "said[]", text);
        fact.session_id = Some("s".to_owned());
        fact.turn_seq = Some(number);
        store.put(&fact);
    }
    let found = store.ask("ada", &query("Lisbon", Method::Fused), &Embedder::BuiltIn);
    let parts = |text: &str| {
        let hit = found.hits.iter().find(|hit| hit.fact.value_text == text);
        hit.unwrap().components
    };
    let lent: Vec<f64> = turns.iter().map(|turn| parts(turn).neighbours).collect();
    assert!(lent[1] > lent[2] && lent[2] > lent[3] && lent[3] > 0.0, "{lent:?}");
    for hit in &found.hits {
        let parts = hit.components;
        let own = parts.lexical + parts.vector + parts.late + parts.encoder;
        let sum = own + parts.neighbours - parts.question + parts.recency;
        assert!((hit.score - sum).abs() < 1e-9);
    }
}

#[test]
fn looking_at_the_best_alone_finds_what_looking_at_all_finds() {
    let mut store = Store::new();
    let words = ["tea", "boat", "river", "code", "night", "train", "letter", "garden", "stone"];
    for number in 0..900_usize {
        let value = format!("{} {} {number}", words[number * 7 % 9], words[number / 9 * 5 % 9]);
        let mut fact = fact("ada", "said[]", &value);
        fact.session_id = Some((number / 20).to_string());
        fact.turn_seq = i64::try_from(number % 20).ok();
        store.put(&fact);
    }
    for text in ["boat on the river", "a letter at night", "stone garden 17"] {
        let all = FactQuery { limit: 900, ..query(text, Method::Fused) };
        let all = store.ask("ada", &all, &Embedder::BuiltIn).hits;
        let best = store.ask("ada", &query(text, Method::Fused), &Embedder::BuiltIn).hits;
        assert_eq!(best.len(), 10);
        for (one, other) in best.iter().zip(&all) {
            assert!((one.score - other.score).abs() < 1e-12, "{text}");
            let (one, other) = (one.components, other.components);
            assert!((one.neighbours - other.neighbours).abs() < 1e-12, "{text}");
        }
    }
}

#[test]
fn facts_in_blocks_are_found_like_facts_read_one_by_one() {
    let mut store = Store::new();
    let words = ["tea", "boat", "river", "code", "night"];
    for number in 0..900_usize {
        let value = format!("{} by the {} {number}", words[number % 5], words[number / 5 % 5]);
        let mut fact = fact(["ada", "eve"][usize::from(number % 7 == 0)], "said[]", &value);
        fact.session_id = (number % 9 > 0).then(|| (number / 20).to_string());
        fact.turn_seq = i64::try_from(number % 20).ok();
        fact.project = (number % 11 == 0).then(|| "larder".to_owned());
        store.put(&fact);
    }
    let ask = |store: &mut Store| {
        let mut found = Vec::new();
        for (method, project) in [(Method::Fused, None), (Method::Vector, Some("larder"))] {
            let project = project.map(str::to_owned);
            let query = FactQuery { project, limit: 900, ..query("boat on the river", method) };
            found.push(store.ask("ada", &query, &Embedder::BuiltIn));
        }
        found
    };
    let blocks = |store: &Store| -> Vec<(String, u32)> {
        let sql = "SELECT user_id, sum(length(rows)) / 24 FROM packed GROUP BY user_id";
        store.0.list(sql, []).unwrap()
    };
    let first = ask(&mut store);
    assert_eq!(blocks(&store), [("ada".to_owned(), 771)]);
    assert_eq!(ask(&mut store), first);
    let mut earlier = first;
    for change in [
        "UPDATE facts SET status = 'superseded' WHERE seq = 20",
        "UPDATE facts SET valid_to = '2026-01-01T00:00:00Z' WHERE seq = 30",
        "UPDATE facts SET project = 'atlas' WHERE seq = 40",
        "UPDATE facts SET session_id = NULL WHERE seq = 51",
        "UPDATE facts SET turn_seq = 100 WHERE seq = 60",
        "UPDATE fact_vectors SET vector = zeroblob(128) WHERE seq = 70",
        "DELETE FROM fact_vectors WHERE seq = 80",
        "DELETE FROM facts WHERE seq = 90",
        "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, valid_from, status, \
         source_turn_id, source_excerpt, created_at, updated_at, last_mentioned_at) VALUES \
         ('new', 'ada', 'boat', 'a boat', 'other', 0.4, '', 'active', '', '', '', '', '')",
    ] {
        let (changed, number) = (store.0.connection.execute(change, []), blocks(&store));
        assert_eq!(changed, Ok(1), "{change}");
        let found = ask(&mut store);
        // What is read one by one because its block was erased is not worth packing.
        assert_eq!(blocks(&store), number, "{change}");
        assert_ne!(found, earlier, "{change}");
        store.0.connection.execute("DELETE FROM packed", []).unwrap();
        assert_eq!(ask(&mut store), found, "{change}");
        earlier = found;
    }
    store.0.connection.execute("DELETE FROM facts WHERE user_id = 'ada'", []).unwrap();
    assert_eq!(blocks(&store), []);
}

#[test]
fn a_fact_alone_that_fits_by_meaning_only_is_found() {
    let mut store = Store::with(&[("ada", "pet", "a puppy named Ludo")]);
    let query = query("does she keep a dog", Method::Fused);
    let found = store.ask("ada", &query, &Embedder::BuiltIn).hits;
    let parts = found[0].components;
    assert!(parts.bm25.abs() < f64::EPSILON);
    assert!(parts.cosine.unwrap() > 0.1 && found[0].score > 0.0);
}

#[test]
fn the_seed_weighs_words_meaning_and_recency() {
    let mut store = Store::new();
    let mut old = fact("ada", "city", "Turin");
    old.updated_at = "2026-01-30T12:00:00Z".to_owned();
    old.last_mentioned_at.clone_from(&old.updated_at);
    store.put(&old);
    store.put(&fact("ada", "tea", "green"));
    let found = store.ask("ada", &query("Turin city", Method::Seed), &Embedder::BuiltIn);
    let best = &found.hits[0];
    assert_eq!(best.fact.key, "city");
    let cosine = best.components.cosine.unwrap();
    assert!((best.components.lexical - 0.45).abs() < 1e-9);
    assert!((best.components.vector - 0.45 * cosine).abs() < 1e-9);
    assert!((best.components.recency - 0.05).abs() < 1e-9, "30 days are half");
    assert!((found.hits[1].components.recency - 0.10).abs() < 1e-9);
}

#[test]
fn of_equal_facts_the_later_is_first() {
    let mut store = Store::new();
    for (key, at) in [("one", "2026-01-01"), ("two", "2026-02-01"), ("six", "2026-01-15")] {
        let mut fact = fact("ada", key, "Turin");
        fact.updated_at = format!("{at}T00:00:00Z");
        fact.last_mentioned_at.clone_from(&fact.updated_at);
        store.put(&fact);
    }
    let limit = FactQuery { limit: 2, ..query("Turin", Method::Lexical) };
    let found = store.ask("ada", &limit, &Embedder::BuiltIn).hits;
    let keys: Vec<&str> = found.iter().map(|hit| hit.fact.key.as_str()).collect();
    assert_eq!(keys, ["two", "six"]);
}

#[test]
fn the_fact_that_a_proposal_contests_comes_right_before_it() {
    let mut store = Store::with(&[
        ("ada", "city", "Rome"),
        ("ada", "walk.one", "in Turin along the river"),
        ("ada", "walk.two", "in Turin along the river"),
    ]);
    let mut proposal = fact("ada", "city", "Turin river quarter");
    proposal.status = FactStatus::PendingConfirmation;
    proposal.contests = Some("ada/city/Rome".to_owned());
    store.put(&proposal);
    let text = "city by the Turin river quarter";
    let limit = FactQuery { limit: 2, selection: Selection::All, ..query(text, Method::Lexical) };
    let found = store.ask("ada", &limit, &Embedder::BuiltIn).hits;
    let values: Vec<&str> = found.iter().map(|hit| hit.fact.value_text.as_str()).collect();
    assert_eq!(values, ["Rome", "Turin river quarter"]);
}

#[test]
fn without_vectors_words_answer_and_the_answer_says_so() {
    let mut store = Store::with(&[("ada", "city", "Turin"), ("ada", "tea", "green")]);
    let found = store.ask("ada", &query("turin", Method::Fused), &silent());
    assert!(found.degraded);
    assert_eq!(found.method, Method::Lexical);
    assert!(found.degraded_because.unwrap().contains("127.0.0.1:9"));
    assert_eq!(found.hits[0].fact.value_text, "Turin");
    assert_eq!(found.hits[0].components.cosine, None);
    // Back to the built-in model: all vectors are rebuilt.
    let found = store.ask("ada", &query("a town in Italy", Method::Vector), &Embedder::BuiltIn);
    assert!(!found.degraded);
    assert_eq!(found.hits.len(), 2);
}

#[test]
fn a_fact_whose_vector_is_still_to_come_is_found_by_its_words() {
    let mut store = Store::with(&[("ada", "city", "Turin"), ("ada", "tea", "green")]);
    let removed = store.0.write(|| {
        let sql = "DELETE FROM fact_vectors WHERE fact_id LIKE '%Turin'";
        store.0.connection.execute(sql, []).map_err(Into::into)
    });
    assert_eq!(removed.unwrap(), 1);
    assert_eq!(store.values("ada", "Turin", Method::Fused)[0], "Turin");
    let removed = store.0.write(|| {
        let sql = "DELETE FROM fact_vectors";
        store.0.connection.execute(sql, []).map_err(Into::into)
    });
    assert_eq!(removed.unwrap(), 1);
    let found = store.ask("ada", &query("Turin", Method::Fused), &Embedder::BuiltIn);
    assert!(found.degraded, "without any vector");
    assert_eq!(found.hits.len(), 1);
    let nobody = store.ask("eve", &query("Turin", Method::Fused), &Embedder::BuiltIn);
    assert!(!nobody.degraded && nobody.hits.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_query_is_answered(text in any::<String>(), operators in "[-\"*^:(){}+ANDORNEAT a]{0,40}") {
        let mut store = Store::with(&[("ada", "city", "Turin"), ("eve", "city", "東京")]);
        for method in Method::ALL {
            for text in [&text, &operators] {
                let found = store.ask("ada", &query(text, method), &Embedder::BuiltIn);
                prop_assert!(found.hits.iter().all(|hit| hit.fact.user_id.as_str() == "ada"));
            }
        }
    }
}

#[test]
fn an_answer_comes_before_the_question_that_was_asked_about_it() {
    let mut store = Store::new();
    let turns = ["Where did you leave the garden keys?", "I left the garden keys in the shed."];
    for (number, text) in (0..).zip(turns) {
        let mut fact = fact("ada", "said[]", text);
        fact.session_id = Some("s".to_owned());
        fact.turn_seq = Some(number);
        store.put(&fact);
    }
    let found = store.values("ada", "where did you leave the garden keys", Method::Fused);
    assert_eq!(found[0], turns[1]);
}

#[test]
fn beyond_the_best_three_what_has_nothing_to_do_with_the_query_is_left_out() {
    let mut store = Store::new();
    for (key, value) in [
        ("preference.editor", "Helix"),
        ("home.city", "Turin"),
        ("likes[]", "alpine hiking"),
        ("pet.name", "Ludo"),
        ("tea", "green"),
    ] {
        store.put(&fact("ada", key, value));
    }
    let mut ask = |text: &str, selection| {
        let query = FactQuery { selection, ..query(text, Method::Fused) };
        store.ask("ada", &query, &Embedder::BuiltIn)
    };
    let found = ask("which editor does she prefer?", Selection::Relevant);
    assert_eq!(found.hits[0].fact.value_text, "Helix");
    assert_eq!(found.hits[0].relevance, Some(Relevance::High));
    for unrelated in ["zzzz qqqq", "what is the boiling point of mercury?"] {
        let found = ask(unrelated, Selection::Relevant);
        let all = ask(unrelated, Selection::All);
        assert!(all.hits.len() >= found.hits.len() && all.withheld == 0, "{unrelated}");
        assert_eq!(found.hits.len(), all.hits.len().min(3), "{unrelated}");
        let is_low = |hit: &FactHit| hit.relevance == Some(Relevance::Low);
        assert!(all.hits.iter().all(is_low), "{unrelated}");
        // Possible contradictions must be found, however dissimilar.
        assert_eq!(ask(unrelated, Selection::Candidates).hits.len(), all.hits.len());
    }
}

#[test]
fn an_inflected_word_finds_its_other_forms_in_any_language() {
    for (stored, asked) in [
        ("Решения записаны в журнал", "решениями"),
        ("die Entscheidung steht im Protokoll", "Welche Entscheidungen?"),
        ("la decisión está en el registro", "¿Qué decisiones?"),
        ("la décision est dans le registre", "Quelles décisions ?"),
        ("a decisão está no registro", "Quais decisões?"),
    ] {
        let mut store = Store::new();
        store.put(&fact("ada", "note[]", stored));
        store.put(&fact("ada", "note[]", "something else altogether"));
        let found = store.values("ada", asked, Method::Lexical);
        assert_eq!(found, [stored], "{asked}");
    }
}

#[test]
fn a_long_fact_is_found_by_any_of_its_passages() {
    let mut store = Store::new();
    let padding = "The build runs twice a day and reports to the team channel. ".repeat(40);
    let long = format!("{padding}{}", "A cat sleeps on the warm sofa. ".repeat(20));
    let long = long.trim_end();
    store.put(&fact("ada", "note[]", long));
    store.put(&fact("ada", "note[]", "The release notes are sent by mail."));
    let query = query("kitten on a couch", Method::Vector);
    let found = store.ask("ada", &query, &Embedder::BuiltIn);
    assert_eq!(found.hits[0].fact.value_text, long);
}
