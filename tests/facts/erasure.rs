//! What is forgotten is nowhere any more.

use std::fs;
use std::path::Path;

use annals::facts;
use annals::facts::Observation;
use serde_json::json;

use crate::facts::{Desk, insert, with};
use crate::support::Case;

/// The files of a folder that hold these words, in any case.
pub(crate) fn holding(folder: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        let words = words.to_ascii_lowercase();
        if bytes.windows(words.len()).any(|window| window == words.as_bytes()) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

/// A user whose address is in every table that can hold it, and another who is to keep hers.
fn desk() -> Desk {
    let mut desk = Desk::new();
    let told = Observation {
        user_input: "I live at 7 Quincunx Lane and like tea".to_owned(),
        turn_id: Some("said".to_owned()),
        ..Observation::default()
    };
    desk.observe(&told);
    let moved = with(insert("home.city", "Zanzibar"), "reason", "moved to Quincunx Lane");
    desk.answer(
        "said",
        &json!([insert("home.address", "7 Quincunx Lane"), insert("likes[]", "tea"), moved]),
    )
    .unwrap();
    desk.act(&insert("home.address", "8 Heliotrope Row"));
    desk.act(&insert("home.city", "Ypres"));
    facts::archive(&desk.facts, "2027-01-01T00:00:00Z".parse().unwrap()).unwrap();
    facts::maintain(&desk.facts, 1).unwrap();
    let grace = facts::UserId::new("grace").unwrap();
    let rosalind = std::mem::replace(&mut desk.user, grace);
    desk.act(&insert("home.address", "9 Marzipan Court"));
    desk.user = rosalind;
    desk
}

#[test]
fn forgetting_a_key_leaves_no_byte_of_its_values() {
    let mut desk = desk();
    let folder = desk.path.parent().unwrap().to_owned();
    assert!(!holding(&folder, "Quincunx").is_empty());
    let user = desk.user.clone();
    let done =
        facts::forget(&desk.facts, &user, Some("home.address"), "moved from 7 Quincunx Lane")
            .unwrap();
    assert_eq!((done.facts, done.turns), (2, 2));
    for gone in ["Quincunx", "Heliotrope"] {
        assert_eq!(holding(&folder, gone), Vec::<String>::new(), "{gone}");
    }
    for kept in ["Marzipan", "Ypres", "Zanzibar"] {
        assert!(!holding(&folder, kept).is_empty(), "{kept}");
    }
    assert!(desk.all().iter().all(|fact| fact.key != "home.address"));
    assert!(desk.history().iter().all(|change| change.key != "home.address"));
    desk.sound();
    // The database goes on as before.
    desk.act(&insert("home.address", "1 New Road"));
    desk.sound();
}

#[test]
fn forgetting_a_user_leaves_no_byte_and_the_others_as_they_are() {
    let desk = desk();
    let folder = desk.path.parent().unwrap().to_owned();
    let user = desk.user.clone();
    facts::forget(&desk.facts, &user, None, "rosalind asked").unwrap();
    for gone in ["Quincunx", "Heliotrope", "Ypres", "Zanzibar", "rosalind"] {
        assert_eq!(holding(&folder, gone), Vec::<String>::new(), "{gone}");
    }
    assert!(!holding(&folder, "Marzipan").is_empty());
    assert!(desk.all().is_empty() && desk.history().is_empty());
    desk.sound();
}

#[test]
fn forgetting_is_refused_while_another_has_the_file_open() {
    let mut desk = desk();
    let case = Case::empty();
    let db = desk.path.to_str().unwrap().to_owned();
    let refused = case
        .run("facts forget --user rosalind --reason asked")
        .args(["--db", &db])
        .env("ANNALS_LOCK_WAIT", "0")
        .code(4);
    let why = "is still held open by another process";
    assert!(refused.stderr().contains(why), "{}", refused.report());
    // Nothing was forgotten, and both can write again.
    assert_eq!(desk.active("likes[]").len(), 1);
    desk.act(&insert("likes[]", "rain"));
    case.run("facts add --user rosalind --key pet --value dog").args(["--db", &db]).success();
    desk.sound();
}

#[test]
fn a_dry_run_forgets_nothing() {
    let desk = desk();
    let case = Case::empty();
    let done = case
        .run("facts forget --user rosalind --reason asked --dry-run")
        .args(["--db", desk.path.to_str().unwrap()])
        .success();
    assert!(
        done.stdout().starts_with("Would be done (dry run, nothing is written):\nforgot "),
        "{}",
        done.report()
    );
    assert_eq!(desk.active("likes[]").len(), 1);
}
