//! Who sees what: the device, the person, a team, and nobody else, whatever they ask the server.

use annals::facts;

use crate::share::{NOW, Replica, ada, devices};
use crate::support::Postgres;

#[test]
fn each_role_sees_its_own_scopes_and_no_others() {
    let Some(server) = team() else {
        return;
    };
    let ada = Replica::join(&server, "ada", NOW);
    let grace = Replica::join(&server, "grace", NOW);
    let stranger = Replica::join(&server, "stranger", NOW);
    let rules = "work.=core,health.=device,book=core";
    for (key, value) in
        [("work.editor", "helix"), ("health.allergy", "nuts"), ("city", "Rome"), ("book", "Emma")]
    {
        let line = format!("facts add --key {key} --value {value}");
        ada.run(&line).env("ANNALS_SHARE_SCOPES", rules).success();
    }
    ada.sync();
    let keys = |replica: &Replica| -> Vec<String> {
        replica.sync();
        let mut keys: Vec<String> = replica.rows().into_iter().map(|fact| fact.key).collect();
        keys.sort();
        keys
    };
    let second = Replica::join(&server, "ada", NOW);
    assert_eq!(keys(&second), ["book", "city", "work.editor"]);
    assert_eq!(keys(&grace), ["book", "work.editor"]);
    assert_eq!(keys(&stranger), [""; 0]);
    assert!(!server.dump("annals").contains("nuts"), "the scope device never leaves it");
    seen_by_sql(&server);
    // A role that was taken out of a team is told so.
    server.sql("annals", "DELETE FROM annals_members WHERE member = 'grace'");
    let shell = grace.run("facts add --key work.shell --value fish");
    shell.env("ANNALS_SHARE_SCOPES", rules).success();
    let output = grace.run("share sync").code(4);
    assert!(output.stderr().contains("the role may not send operations"), "{}", output.stderr());
}

/// Returns a server where `ada` and `grace` share the scope `core`.
fn team() -> Option<Postgres> {
    let (server, [_]) = devices()?;
    for member in ["ada", "grace"] {
        let sql = format!("INSERT INTO annals_members VALUES ('core', '{member}')");
        server.sql("annals", &sql);
    }
    Some(server)
}

fn seen_by_sql(server: &Postgres) {
    // Row-level security holds for whatever SQL a role writes, also for the owner of the tables.
    let seen = |role: &str| {
        let sql = format!("SET ROLE {role}; SELECT count(*) FROM annals_ops");
        server.sql("annals", &sql).lines().last().unwrap().to_owned()
    };
    assert_eq!([seen("ada"), seen("grace"), seen("stranger"), seen("owner")], ["3", "2", "0", "0"]);
    let forged = "SET ROLE stranger; INSERT INTO annals_ops (scope, device, number, op_id, user_id, clock, kind) \
        VALUES ('core', 'x', 1, '', '', 0, 'erased')";
    let refused =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.sql("annals", forged)));
    assert!(refused.is_err(), "a stranger wrote into the scope of others");
}

#[test]
fn forgetting_for_a_team_leaves_the_private_facts_of_the_same_turn() {
    let Some(server) = team() else {
        return;
    };
    let [one, two] = [(); 2].map(|()| Replica::join(&server, "ada", NOW));
    for (replica, fact) in [(&one, "work.editor --value helix"), (&two, "city --value Rome")] {
        let line = format!("facts add --request-id same --key {fact}");
        replica.run(&line).env("ANNALS_SHARE_SCOPES", "work.=core").success();
        replica.run("share push").success();
    }
    // The device has received nothing of what is private.
    facts::forget(&one.open(), &ada(), Some("work.editor"), "asked").unwrap();
    one.run("share push").success();
    let sql = "SELECT string_agg(payload -> 'fact' ->> 'source_excerpt', ' ') FROM annals_ops WHERE kind = 'fact'";
    assert_eq!(server.sql("annals", sql), "Rome");
}

#[test]
fn what_looks_like_a_secret_is_not_sent() {
    let Some((server, [one, two])) = devices() else {
        return;
    };
    let secret = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    one.run("facts add --key build.note --allow-secret").args(["--value", &secret]).success();
    one.run("journal write --allow-secret --content").args([&secret]).success();
    one.state("city", "Rome");
    let synced = one.sync();
    assert_eq!((&synced["pushed"], &synced["withheld"]), (&3.into(), &2.into()), "{synced}");
    assert!(!server.dump("annals").contains(&secret));
    two.sync();
    assert_eq!(two.rows().len(), 1);
    assert!(
        one.run("share status")
            .success()
            .stdout()
            .contains("not sent, looks like a secret: 2 operations")
    );
}

#[test]
fn a_dry_run_sends_and_takes_in_nothing() {
    let Some((server, [one])) = devices() else {
        return;
    };
    one.state("city", "Rome");
    let shown = one.run("share sync --dry-run").success().stdout();
    assert_eq!(shown, "would have sent 1 operation, would have received 0 operations\n");
    assert_eq!(server.sql("annals", "SELECT count(*) FROM annals_ops"), "0");
    one.sync();
    let left = one.run("share leave --dry-run").success();
    assert!(left.stdout().contains("no longer shares"));
    assert_eq!(one.sync()["pushed"], 0, "a dry run left nothing");
    one.run("share leave").success();
    assert!(one.run("share sync").code(2).stderr().contains("this database is not shared"));
    one.state("pet", "dog");
    // Whoever comes back goes on.
    one.run("share init").success();
    assert_eq!(one.sync()["pushed"], 1);
}

#[test]
fn the_worker_and_a_sessions_end_bring_devices_in_step() {
    let Some((_server, [one, two])) = devices() else {
        return;
    };
    one.state("city", "Rome");
    one.run("facts work").success();
    two.case.write(".planning/STATE.md", "# State\n");
    two.run("hook session-end").stdin("{\"hook_event_name\": \"SessionEnd\"}").success();
    assert_eq!(two.rows(), one.rows());
    assert_eq!(two.rows().len(), 1);
}
