//! What must not be taken on trust: a server without its certificate, a role that sees all, a hole in the numbers.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::share::{NOW, Replica, devices};
use crate::support::Case;
#[cfg(target_os = "linux")]
use crate::support::Postgres;

/// This machine under an address that is not that of the loopback, so that TLS is asked for.
#[cfg(target_os = "linux")]
fn as_another_machine(server: &Postgres) -> String {
    server.url("ada", "annals").replace("127.0.0.1", "0.0.0.0")
}

#[cfg(target_os = "linux")]
#[test]
fn another_machine_is_asked_over_tls_and_must_show_a_certificate_that_is_known() {
    let Some((server, [_])) = devices() else {
        return;
    };
    let one = Replica::new(&as_another_machine(&server), NOW);
    let told = |case: &Replica| case.run("share init").code(1).stderr();
    assert!(told(&one).contains("does not support TLS"), "{}", told(&one));
    let certificate = server.certify("0.0.0.0");
    assert!(told(&one).contains("UnknownIssuer"), "{}", told(&one));
    let known = |line: &str| one.run(line).env("ANNALS_SHARE_CA", &certificate);
    known("share init").success();
    one.state("city", "Rome");
    assert_eq!(known("share sync --json").success().json()["pushed"], 1);
    // A certificate of another host is none.
    let other = server.certify("192.0.2.1");
    let refused = one.run("share sync").env("ANNALS_SHARE_CA", &other).code(1);
    assert!(refused.stderr().contains("not valid for name"), "{}", refused.stderr());
}

#[test]
fn a_role_that_no_policy_stops_is_refused_before_anything_is_made() {
    let Some((server, [])) = devices() else {
        return;
    };
    let all = Replica::new(&server.url("postgres", "annals"), NOW);
    for _ in 0..2 {
        let refused = all.run("share init").code(4).stderr();
        assert!(refused.contains("the role postgres bypasses row-level security"), "{refused}");
        assert_eq!(server.sql("annals", "SELECT to_regclass('annals_meta') IS NULL"), "t");
    }
    // A role that came to see all later sends and takes nothing.
    Replica::join(&server, "owner", NOW);
    let one = Replica::join(&server, "ada", NOW);
    one.state("city", "Rome");
    server.sql("postgres", "ALTER ROLE ada BYPASSRLS");
    one.run("share sync").code(4);
    assert_eq!(server.sql("annals", "SELECT count(*) FROM annals_ops"), "0");
}

#[test]
fn a_table_of_a_strangers_own_lets_nobody_into_a_scope() {
    let Some((server, [_])) = devices() else {
        return;
    };
    server.sql("annals", "INSERT INTO annals_members VALUES ('core', 'ada')");
    let ada = Replica::join(&server, "ada", NOW);
    let line = "facts add --key editor --value helix";
    ada.run(line).env("ANNALS_SHARE_SCOPES", "editor=core").success();
    ada.sync();
    let seen = |role: &str| {
        let sql = format!(
            "SET ROLE {role}; CREATE TEMP TABLE annals_members (scope text, member name); \
             INSERT INTO annals_members VALUES ('core', '{role}'); SELECT count(*) FROM annals_ops"
        );
        server.sql("annals", &sql).lines().last().unwrap().to_owned()
    };
    assert_eq!([seen("ada"), seen("stranger")], ["1", "0"]);
}

/// Listens as a server that, after these bytes, sends notices for ever.
fn flooding(first: &'static [u8]) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _startup = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(first).unwrap();
        let fields = b"SNOTICE\0C00000\0Mbusy\0\0";
        let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
        let notices = [b"N", &length[..], fields].concat().repeat(1_000);
        while stream.write_all(&notices).is_ok() {}
    });
    address
}

#[test]
fn a_server_that_never_comes_to_an_answer_keeps_no_session_waiting() {
    let Some((_server, [mut one])) = devices() else {
        return;
    };
    one.case.write(".planning/STATE.md", "# State\n");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let accepted = b"R\0\0\0\x08\0\0\0\0";
    let ready = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    for (address, reason) in [
        (silent.local_addr().unwrap(), "no answer in time"),
        (flooding(accepted), "too much before it is ready"),
        (flooding(ready), "too slow"),
    ] {
        one.url = format!("postgres://owner@{address}/annals");
        one.run("hook session-end").stdin("{\"hook_event_name\": \"SessionEnd\"}").success();
        let status = one.run("share status --offline --json").success().json();
        let why = status["last_error"].as_str().unwrap();
        assert!(why.contains(reason), "{why}");
    }
}

#[test]
fn what_a_server_lost_is_sent_again_and_a_gap_holds_up_its_own_device_alone() {
    let Some((server, [one, two, three])) = devices() else {
        return;
    };
    for key in ["a", "b", "c"] {
        one.state(key, "one");
    }
    one.sync();
    two.state("d", "two");
    two.sync();
    // A server that was restored from an older copy.
    server.sql("annals", "DELETE FROM annals_ops WHERE number > 1");
    server.sql("annals", "UPDATE annals_devices SET highest = 1 WHERE highest > 1");
    assert_eq!(one.sync()["pushed"], 2);
    // An operation that is gone though later ones are there.
    let gone = format!("payload ->> 'turn' LIKE '%{}%' AND number = 2", device(&one));
    server.sql("annals", &format!("DELETE FROM annals_ops WHERE {gone}"));
    let synced = three.sync();
    assert_eq!(
        (&synced["pulled"], &synced["stuck"]),
        (&2.into(), &serde_json::json!([device(&one)])),
        "{synced}"
    );
    let told = three.run("share pull").success().stdout();
    assert!(told.contains("the server lacks an operation of device"), "{told}");
}

fn device(replica: &Replica) -> String {
    let status = replica.run("share status --offline --json").success();
    status.json()["device"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_of_passwords_that_others_may_read_is_refused() {
    const CLEAR: &str = "ada@127.0.0.1:1/annals?sslmode=disable";
    let case = Case::empty();
    let path = case.home().join(".pgpass");
    std::fs::write(&path, "127.0.0.1:1:*:ada:hunter2\n").unwrap();
    let ask =
        |url: &str| case.run("share init").env("ANNALS_SHARE_URL", format!("postgres://{url}"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        assert!(ask(CLEAR).code(4).stderr().contains("other users can read this password file"));
        mode(0o600);
    }
    // Nobody listens there; the password is in no message.
    let away = ask(CLEAR).code(1).stderr();
    assert!(away.contains("cannot reach ada@127.0.0.1:1/annals"), "{away}");
    assert!(!away.contains("hunter2"), "{away}");
    // In clear it goes only where the URL says so.
    let refused = ask("ada@127.0.0.1:1/annals").code(4).stderr();
    assert!(refused.contains("the password would go to 127.0.0.1 in clear"), "{refused}");
}
