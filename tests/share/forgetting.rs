//! What is forgotten on one device is gone from the server at once, and from each other device when it syncs.

use crate::share::{NOW, Replica, devices};

const VALUE: &str = "Zaragoza";

#[test]
fn a_dump_after_a_forget_holds_no_byte_of_it() {
    let Some((server, [one, two, late])) = devices() else {
        return;
    };
    one.state("home.city", VALUE);
    one.state("editor", "helix");
    one.sync();
    two.sync();
    late.sync();
    // Others say more of it before they know.
    two.state("home.city", VALUE);
    two.state("home.note", &format!("a flat in {VALUE}"));
    two.sync();
    late.state("home.city", VALUE);
    assert!(server.dump("annals").contains(VALUE));
    one.run("facts forget --user ada --key home.city --reason asked").success();
    server.sql("annals", "VACUUM annals_ops");
    // What another key says is not what was forgotten.
    let kept = format!("a flat in {VALUE}");
    let dump = server.dump("annals").replace(&kept, "");
    assert!(!dump.contains(VALUE), "{dump}");
    let behind = one.run("share status").success().stdout();
    assert_eq!(behind.matches("nothing since facts were forgotten").count(), 2, "{behind}");
    // What arrives late is dropped.
    late.sync();
    two.sync();
    one.sync();
    assert!(!server.dump("annals").replace(&kept, "").contains(VALUE));
    for replica in [&one, &two, &late] {
        let keys: Vec<String> = replica.rows().into_iter().map(|fact| fact.key).collect();
        assert!(!keys.contains(&"home.city".to_owned()), "{keys:?}");
    }
    assert_eq!(one.rows(), two.rows());
    assert_eq!(one.rows(), late.rows());
    let bytes = std::fs::read(late.db()).unwrap();
    let text = String::from_utf8_lossy(&bytes).replace(&kept, "");
    assert!(!text.contains(VALUE), "the file of another device still holds it");
    let status = one.run("share status").success().stdout();
    assert!(!status.contains("nothing since facts were forgotten"), "{status}");
}

#[test]
fn a_server_that_is_away_is_told_of_it_later() {
    let Some((server, [one])) = devices() else {
        return;
    };
    one.state("home.city", VALUE);
    one.sync();
    server.crash();
    let forgotten = one.run("facts forget --user ada --key home.city --reason asked").success();
    assert!(
        forgotten
            .stderr()
            .contains("the other devices learn of it at the next `annals share sync`")
    );
    server.boot();
    assert!(server.dump("annals").contains(VALUE));
    one.sync();
    assert!(!server.dump("annals").contains(VALUE));
    // What is stated again afterwards is a new fact.
    one.state("home.city", "Teruel");
    let two = Replica::join(&server, "owner", NOW);
    one.sync();
    two.sync();
    assert_eq!(two.rows()[0].value_text, "Teruel");
}

#[test]
fn all_of_a_user_is_forgotten_everywhere() {
    let Some((server, [one, two])) = devices() else {
        return;
    };
    one.state("home.city", VALUE);
    one.state("editor", "helix");
    one.sync();
    two.sync();
    one.run("facts forget --user ada --reason asked").success();
    two.sync();
    assert_eq!(two.rows(), []);
    let dump = server.dump("annals");
    assert!(!dump.contains(VALUE) && !dump.contains("helix"), "{dump}");
}
