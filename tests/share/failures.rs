//! Servers that are away, wrong or full, and two runs at once: one clear line, and nothing is lost.

use std::thread;

use crate::cli::assert_error;
use crate::share::{NOW, Replica, devices};
use crate::support::Case;

const KEPT: &str = "everything stays here and is sent with the next `annals share sync`";

#[test]
fn a_server_that_cannot_be_used_is_one_clear_line() {
    let Some((server, [])) = devices() else {
        return;
    };
    // Nobody listens there.
    let away = Replica::new("postgres://ada@127.0.0.1:1/annals", NOW);
    let output = away.run("share init").code(1);
    assert!(
        output.stderr().starts_with("error: cannot reach ada@127.0.0.1:1/annals: "),
        "{}",
        output.stderr()
    );
    assert!(output.stderr().contains(KEPT));
    // No such database, no such role.
    let wrong = Replica::new(&server.url("ada", "elsewhere"), NOW);
    assert!(
        wrong.run("share init").code(2).stderr().contains("database \"elsewhere\" does not exist")
    );
    let unknown = Replica::new(&server.url("nobody", "annals"), NOW);
    assert!(unknown.run("share init").code(4).stderr().contains("refused the role"));
}

#[test]
fn tables_that_cannot_be_used_are_one_clear_line() {
    let Some((server, [owner])) = devices() else {
        return;
    };
    // Not set up, and a role that may not set it up.
    server.make_database("empty");
    let bare = Replica::new(&server.url("stranger", "empty"), NOW);
    let output = bare.run("share init").code(4);
    assert!(output.stderr().contains("the role may not create the tables"), "{}", output.stderr());
    // Tables of another version.
    server.sql("annals", "UPDATE annals_meta SET version = 2");
    assert_error(
        &owner.run("share sync").code(4),
        "the server's tables have version 2, and this annals knows version 1",
        "use the same version of annals as the other devices; nothing was sent or received",
    );
    server.sql("annals", "UPDATE annals_meta SET version = 1");
    // Read-only, with something to send.
    owner.state("city", "Rome");
    server.sql("annals", "ALTER DATABASE annals SET default_transaction_read_only = on");
    let output = owner.run("share sync").code(1);
    assert!(
        output.stderr().starts_with("error: the server cannot send operations: "),
        "{}",
        output.stderr()
    );
    server.sql("postgres", "ALTER DATABASE annals SET default_transaction_read_only = off");
    // The failure is remembered where people look.
    let status = owner.run("share status --offline --json").success().json();
    assert_eq!(status["pending"], 1);
    assert!(status["last_error"].as_str().unwrap().contains("read-only"));
    assert_eq!(owner.sync()["pushed"], 1);
    let status = owner.run("share status --offline --json").success().json();
    assert!(status["last_error"].is_null());
}

#[test]
fn a_full_server_takes_nothing_and_loses_nothing() {
    let Some((server, [one])) = devices() else {
        return;
    };
    one.state("city", "Rome");
    server.sql(
        "annals",
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE disk_full USING MESSAGE = 'No space left on device'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON annals_ops EXECUTE FUNCTION full_disk()",
    );
    let output = one.run("share sync").code(1);
    assert!(
        output
            .stderr()
            .starts_with("error: the server cannot send operations: No space left on device"),
        "{}",
        output.stderr()
    );
    server.sql("annals", "DROP TRIGGER full_disk ON annals_ops");
    assert_eq!(one.sync()["pushed"], 1);
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_batch_has_all_of_it_or_none() {
    let Some((server, [one])) = devices() else {
        return;
    };
    let facts = one.open();
    for number in 0..40 {
        crate::share::state(&facts, &format!("topic.n{number}"), "value");
    }
    drop(facts);
    // The connection is cut while the rows of the batch are written.
    server.sql(
        "annals",
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS \
         $$ BEGIN IF new.number = 20 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); END IF; \
         RETURN new; END $$; \
         CREATE TRIGGER die BEFORE INSERT ON annals_ops FOR EACH ROW EXECUTE FUNCTION die()",
    );
    let output = one.run("share sync").code(1);
    assert!(output.stderr().starts_with("error: "), "{}", output.stderr());
    assert!(output.stderr().contains(KEPT));
    assert_eq!(server.sql("annals", "SELECT count(*) FROM annals_ops"), "0");
    server.sql("annals", "DROP TRIGGER die ON annals_ops");
    server.crash();
    assert!(one.run("share sync").code(1).stderr().contains("cannot reach"));
    server.boot();
    assert_eq!(one.sync()["pushed"], 40);
    assert_eq!(one.sync()["pushed"], 0);
    assert_eq!(server.sql("annals", "SELECT count(*) FROM annals_ops"), "40");
}

#[test]
fn two_runs_of_one_device_at_once_lose_and_double_nothing() {
    let Some((server, [one, two])) = devices() else {
        return;
    };
    let facts = one.open();
    for number in 0..60 {
        crate::share::state(&facts, &format!("topic.n{number}"), "value");
        one.note(&format!("note {number}"));
    }
    drop(facts);
    thread::scope(|scope| {
        for replica in [&one, &one, &two, &two] {
            scope.spawn(|| drop(replica.sync()));
        }
    });
    for replica in [&one, &two] {
        replica.sync();
        assert_eq!(replica.notes().len(), 60);
    }
    assert_eq!(one.rows(), two.rows());
    assert_eq!(one.rows().len(), 60);
    let counted = server.sql("annals", "SELECT count(*), count(DISTINCT op_id) FROM annals_ops");
    assert_eq!(counted, "120|120");
    // What one of two runs has taken in is no gap for the other.
    let three = Replica::join(&server, "owner", NOW);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(three.sync()["stuck"], serde_json::json!([])));
        }
    });
    three.sync();
    assert_eq!(one.rows(), three.rows());
}

#[test]
fn what_is_not_understood_is_set_aside_and_stalls_nobody() {
    let Some((server, [one, two])) = devices() else {
        return;
    };
    for number in 0..4 {
        one.state(&format!("topic.n{number}"), "value");
    }
    one.sync();
    server.sql("annals", "UPDATE annals_ops SET kind = 'riddle' WHERE number = 1");
    server.sql("annals", "UPDATE annals_ops SET payload = '{\"v\": 1}' WHERE number = 2");
    server.sql(
        "annals",
        "UPDATE annals_ops SET payload = jsonb_set(payload, '{v}', '9') WHERE number = 3",
    );
    let synced = two.sync();
    assert_eq!((&synced["pulled"], &synced["set_aside"]), (&4.into(), &3.into()), "{synced}");
    assert_eq!(two.rows().len(), 1);
    let status = two.run("share status --json").success().json();
    let reasons: Vec<&str> = status["set_aside"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons[0], "unknown kind \"riddle\"");
    assert!(reasons[1].starts_with("not understood: missing field"), "{reasons:?}");
    assert_eq!(reasons[2], "needs a newer annals (format 9, this one knows 1)");
    assert!(two.run("audit").output().stdout().contains("set aside from"));
}

#[test]
fn without_a_server_or_a_device_the_next_step_is_named() {
    let case = Case::empty();
    assert_error(
        &case.run("share sync").code(2),
        "this database is not shared",
        "annals share init",
    );
    assert_error(
        &case.run("share init").code(2),
        "no server is set",
        "set share.url in your own config.toml, or ANNALS_SHARE_URL: postgres://role@host/database",
    );
    assert_error(
        &case
            .run("share init")
            .env("ANNALS_SHARE_URL", "postgres://ada@db.example.com/annals?sslmode=disable")
            .code(4),
        "db.example.com is another machine, which requires TLS",
        "remove sslmode from share.url; share.ca names your own authority",
    );
    for password in ["p@ss99word", "p@x/y99word"] {
        let two_at_signs = case
            .run("share init")
            .env("ANNALS_SHARE_URL", format!("postgres://ada:{password}@localhost/annals"))
            .code(2);
        assert_error(
            &two_at_signs,
            "share.url has more than one @",
            "write an @ of the password as %40",
        );
    }
    case.write("annals.toml", "[share]\nurl = \"postgres://eve@example.com/x\"\n");
    let asked = case.run("share status").output();
    assert!(!asked.stdout().contains("eve@"), "a cloned repository must not name the server");
}
