//! Lines of the journal between devices: whichever journal a run has, and where it stops, none is lost.

use std::fs;

#[cfg(debug_assertions)]
use rusqlite::Connection;

use crate::share::devices;

#[test]
fn lines_are_sent_from_the_journal_in_which_they_were_noted() {
    let Some((_server, [one, two])) = devices() else {
        return;
    };
    // A pull notes the lines, and sends none.
    one.note("first");
    one.run("share pull").success();
    let pushed = one
        .run("share push --json")
        .env("MEMORY_FILE", one.case.home().join("other.jsonl"))
        .success();
    let pushed = pushed.json();
    assert_eq!((&pushed["pushed"], &pushed["missing_lines"]), (&1.into(), &0.into()));
    one.note("second");
    one.run("share pull").success();
    let pushed = one.run("share push --json").env("HOME", "").success().json();
    assert_eq!((&pushed["pushed"], &pushed["missing_lines"]), (&1.into(), &0.into()));
    two.sync();
    assert_eq!(two.notes(), ["first", "second"]);
}

#[test]
fn lines_wait_for_a_run_that_has_a_journal() {
    let Some((_server, [one, two])) = devices() else {
        return;
    };
    one.note("first");
    one.sync();
    let failed = two.run("share pull").env("HOME", "").code(1);
    assert!(failed.stderr().contains("MEMORY_FILE"), "{}", failed.stderr());
    assert_eq!(two.sync()["lines"], 1);
    assert_eq!(two.notes(), ["first"]);
}

#[test]
fn a_line_that_is_gone_is_counted_and_sent_once_it_is_back() {
    let Some((server, [one, two])) = devices() else {
        return;
    };
    one.note("first");
    one.run("share pull").success();
    let away = one.case.home().join("away.jsonl");
    fs::rename(one.journal(), &away).unwrap();
    let pushed = one.run("share push --json").success().json();
    assert_eq!((&pushed["missing_lines"], &pushed["withheld"]), (&1.into(), &0.into()));
    assert_eq!(server.sql("annals", "SELECT kind FROM annals_ops"), "erased");
    two.sync();
    fs::rename(&away, one.journal()).unwrap();
    assert_eq!(one.sync()["missing_lines"], 0);
    two.sync();
    assert_eq!(two.notes(), ["first"]);
}

#[cfg(debug_assertions)]
#[test]
fn a_line_that_was_set_aside_survives_a_run_that_is_killed_while_it_takes_it_up() {
    let Some((_server, [one, two])) = devices() else {
        return;
    };
    one.note("first");
    one.sync();
    two.sync();
    // As an earlier version would have left it: the operation set aside, the line in no journal.
    fs::remove_file(two.journal()).unwrap();
    let database = Connection::open(two.db()).unwrap();
    let aside = "INSERT INTO share_set_aside SELECT scope, device, number, json_object('scope', scope, \
         'device', device, 'number', number, 'op_id', op_id, 'user_id', '', 'clock', clock, 'kind', 'line', \
         'born', NULL, 'payload', json_object('v', 1, 'line', ?1) || ''), 'newer', '' FROM operations WHERE kind = 'line'";
    let line = fs::read_to_string(one.journal()).unwrap();
    assert_eq!(database.execute(aside, [line.trim()]).unwrap(), 1);
    database.execute("DELETE FROM operations", []).unwrap();
    database.execute("DELETE FROM share_journal", []).unwrap();
    drop(database);
    let killed = |point: usize| {
        let run = two.run("share pull").env("ANNALS_FAIL_AFTER", point.to_string());
        run.output().exit_code() != Some(0)
    };
    assert!(killed(1));
    assert_eq!(
        (2..100).find(|point| !killed(*point)).map(|_| two.notes()),
        Some(vec!["first".to_owned()])
    );
}
