//! How quick it is, beside what `psql \copy` takes for the same rows in the same run.

use std::io::Write;
use std::time::Instant;

use crate::share::{NOW, Replica, devices, state};
use crate::support::Postgres;

#[test]
fn a_sync_with_nothing_new_asks_the_server_less_than_three_times() {
    let Some((_server, [one, two])) = devices() else {
        return;
    };
    one.state("city", "Rome");
    one.note("a line");
    for replica in [&one, &two, &one, &two] {
        replica.sync();
    }
    for replica in [&one, &two] {
        let synced = replica.sync();
        assert!(synced["round_trips"].as_u64().unwrap() < 3, "{synced}");
    }
}

/// Prints what was measured; how quick a shared machine is decides nothing. `ANNALS_SHARE_RATES` asks for it.
#[test]
fn rates_beside_copy() {
    if std::env::var_os("ANNALS_SHARE_RATES").is_none() {
        return tell("SKIPPED rates_beside_copy: ANNALS_SHARE_RATES asks for it\n");
    }
    let Some((server, [one])) = devices() else {
        return;
    };
    let mut all = 0;
    // 10,000 operations, and 100,000: another value of a key is two of them.
    for numbers in [0..10_000, 10_000..70_000] {
        fill(&one, numbers);
        let mut pushed = 0;
        let push = timed(|| pushed = one.sync()["pushed"].as_u64().unwrap());
        all += pushed;
        let two = Replica::join(&server, "owner", NOW);
        let pull = timed(|| assert_eq!(two.sync()["pulled"], all));
        let (out, into) = copied(&server);
        let nothing = timed(|| drop(two.sync()));
        tell(&format!(
            "push of {pushed}: {push:.2} s; first pull of {all}: {pull:.2} s; \\copy of {all} out {out:.2} s, in {into:.2} s; \
             nothing new: {nothing:.3} s\n"
        ));
    }
}

/// Straight to the stream: the test runner would hide what a passing test prints.
fn tell(rate: &str) {
    std::io::stderr().write_all(rate.as_bytes()).unwrap();
}

/// States so many facts; `facts import` would leave them without turns of their own.
fn fill(replica: &Replica, numbers: std::ops::Range<u32>) {
    let facts = replica.open();
    for number in numbers {
        state(
            &facts,
            &format!("topic.n{}", number % 40_000),
            &format!("value {number} of a fact that is told"),
        );
    }
}

/// Returns how long the rows take out of the table into a file, and from there into another table.
fn copied(server: &Postgres) -> (f64, f64) {
    let file = server.scratch("rows");
    server.sql("annals", "CREATE TABLE copied (LIKE annals_ops INCLUDING ALL)");
    let out = timed(|| drop(server.sql("annals", &format!("\\copy annals_ops TO '{file}'"))));
    let into = timed(|| drop(server.sql("annals", &format!("\\copy copied FROM '{file}'"))));
    server.sql("annals", "DROP TABLE copied");
    (out, into)
}

fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}
