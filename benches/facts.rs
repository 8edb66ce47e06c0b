//! Times embedding, and retrieval of facts by words, by meaning and by both.
//!
//! ```console
//! $ ANNALS_BENCH_FACTS=10000,100000 ANNALS_BENCH_RUNS=100 cargo bench --bench facts
//! ```
//!
//! One user has nearly all facts of a database, another has 1,000 of them. Each question opens the
//! database anew, as a process does. The texts are made of a vocabulary in which few words are common
//! and most are rare, as in speech. docs/performance.md has figures.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the bans hold the library's floors; this reads its own settings and may stop where it stands"
)]

mod measure;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use annals::clock::Clock;
use annals::embedding::Embedder;
use annals::embedding::Table;
use annals::facts;
use annals::facts::Facts;
use annals::facts::Method;
use annals::facts::Purpose;
use annals::facts::Query;
use annals::facts::Scope;
use annals::facts::UserId;
use rusqlite::Connection;
use rusqlite::params;

use crate::measure::Place;
use crate::measure::Row;

const WAIT: Duration = Duration::from_secs(5);

/// How many facts the second user has.
const FEW: usize = 1000;

/// The same questions to a plain full-text index of the same texts: what SQLite itself takes.
const PEER: &str = r#"
import sqlite3, sys, time
path, runs, *questions = sys.argv[1:]
facts = sqlite3.connect(path)
plain = sqlite3.connect(path + ".plain")
plain.execute("CREATE VIRTUAL TABLE plain USING fts5 (text)")
plain.executemany("INSERT INTO plain VALUES (?)", facts.execute("SELECT value_text FROM facts"))
plain.commit()
plain.close()
for question in questions:
    words = " OR ".join(f'"{word}"' for word in question.split())
    times = []
    for _ in range(int(runs)):
        start = time.perf_counter()
        plain = sqlite3.connect(path + ".plain")
        found = plain.execute("SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()
        times.append(time.perf_counter() - start)
        assert len(found) == 10
        plain.close()
    times.sort()
    at = lambda share: times[(len(times) - 1) * share // 100] * 1000
    print(f"python, sqlite3 {sqlite3.sqlite_version}, plain index, {len(question.split())} words: p50 {at(50):7.2f} ms  p95 {at(95):7.2f} ms")
"#;

const SYLLABLES: [&str; 20] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "za",
];

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// A word; the first are common, and the n-th is there about 1/n as often.
    fn word(&mut self) -> String {
        let most = 20_000_u64;
        let rank = self.below(most) * self.below(most) / most * self.below(most) / most;
        word(rank)
    }

    fn sentence(&mut self) -> String {
        let length = 8 + self.below(8);
        let words: Vec<String> = (0..length).map(|_| self.word()).collect();
        words.join(" ")
    }
}

fn word(rank: u64) -> String {
    let mut word = String::new();
    let mut rest = rank;
    for _ in 0..4 {
        let place = usize::try_from(rest % 20).unwrap();
        word.push_str(SYLLABLES[place]);
        rest /= 20;
    }
    word
}

fn main() {
    let runs = measure::setting("ANNALS_BENCH_RUNS", 50);
    let sizes = env::var("ANNALS_BENCH_FACTS").unwrap_or_else(|_| "10000".to_owned());
    embedding(runs);
    for size in sizes.split(',') {
        retrieval(size.trim().parse().unwrap(), runs);
    }
}

fn embedding(runs: usize) {
    let table = Table::built_in();
    let texts: [(&str, String); 4] = [
        ("3 words", "which editor now".to_owned()),
        (
            "12 words",
            "the user prefers tabs over spaces in all of her Go projects".to_owned(),
        ),
        (
            "12 words, accents",
            "l'utilisatrice préfère les tabulations à l'intérieur de tous ses dépôts déjà créés"
                .to_owned(),
        ),
        (
            "1,000 words",
            "retry queue with exponential backoff ".repeat(200),
        ),
    ];
    for (name, text) in texts {
        let start = Instant::now();
        let times = runs * 1000;
        let mut sum = 0.0;
        for _ in 0..times {
            sum += table.vector(std::hint::black_box(&text)).values()[0];
        }
        std::hint::black_box(sum);
        let each = start.elapsed() / u32::try_from(times).unwrap();
        println!("embedding, {name:20} {each:>10.2?}");
    }
}

fn retrieval(size: usize, runs: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mem.db");
    let start = Instant::now();
    build(&path, size);
    println!("\n{size} facts, written in {:.1?}", start.elapsed());
    let common: Vec<String> = (1..6).map(word).collect();
    let two = [word(300), word(700)];
    let questions = [
        ("common words", common.join(" ")),
        ("two words", two.join(" ")),
    ];
    for (user, of) in [("ada", "all facts"), ("grace", "1,000 facts of them")] {
        for (name, text) in &questions {
            for method in [Method::Lexical, Method::Vector, Method::Seed, Method::Fused] {
                let mut times: Vec<Duration> = (0..runs + 2)
                    .map(|_| ask(&path, user, text, method))
                    .collect();
                // The first finds nothing in memory, and builds what is derived.
                let first = times.remove(0);
                times.sort_unstable();
                let at =
                    |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
                println!(
                    "{of:20} {name:13} {:8} p50 {:7.2} ms  p95 {:7.2} ms  first {:7.2} ms",
                    method.as_str(),
                    at(50),
                    at(95),
                    first.as_secs_f64() * 1000.0
                );
            }
        }
    }
    peer(&path, runs, &questions.map(|(_, text)| text));
    println!("\n{}", processes(folder.path(), &path, runs));
}

/// Asks the same of SQLite from python; without python, says so.
fn peer(path: &Path, runs: usize, questions: &[String]) {
    let mut python = Command::new("python3");
    python.args(["-c", PEER]).arg(path).arg(runs.to_string());
    let run = python.args(questions).status();
    if !run.is_ok_and(|status| status.success()) {
        println!("python: not measured");
    }
}

/// Times whole processes on the same database.
fn processes(folder: &Path, path: &Path, runs: usize) -> String {
    let input = folder.join("turn.json");
    let turn = r#"{"user_input":"I moved to Turin and I like it","user_id":"ada"}"#;
    fs::write(&input, turn).unwrap();
    let two = format!("{} {}", word(300), word(700));
    let asked = |user: &str| {
        let name = format!("annals facts retrieve --user {user}");
        let arguments = ["-q", "facts", "retrieve", "--user", user, "--query", &two];
        Row::new(&name, measure::ANNALS, &arguments)
    };
    let rows = vec![
        Row::new("true", "true", &[]),
        Row::annals("facts observe --user ada").reading(&input),
        asked("ada"),
        asked("grace"),
    ];
    let place = Place::new(folder, folder).with("ANNALS_DB", path.to_str().unwrap());
    measure::page(&place, rows, runs, &["true"])
}

fn ask(path: &Path, user: &str, text: &str, method: Method) -> Duration {
    let query = Query {
        text: text.to_owned(),
        limit: 10,
        scope: Scope::General,
        method,
    };
    let start = Instant::now();
    let mut facts = open(path, Purpose::Read);
    let user = UserId::new(user).unwrap();
    let found = facts::retrieve(&mut facts, &user, &query, &Embedder::BuiltIn).unwrap();
    let took = start.elapsed();
    assert_eq!(found.hits.len(), 10);
    took
}

fn open(path: &Path, purpose: Purpose) -> Facts {
    Facts::open_file(path, Clock::new(None).unwrap(), WAIT, purpose).unwrap()
}

/// Writes the facts in one transaction, and their vectors in a few.
fn build(path: &Path, size: usize) {
    let mut facts = open(path, Purpose::Write);
    let mut connection = Connection::open(path).unwrap();
    let transaction = connection.transaction().unwrap();
    let sql = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, valid_from, \
               status, source_turn_id, source_excerpt, created_at, updated_at, last_mentioned_at, \
               session_id, turn_seq) VALUES (?1, ?2, 'said[]', ?3, 'other', 0.4, ?4, 'active', ?1, '', \
               ?4, ?4, ?4, ?5, ?6)";
    let mut numbers = Numbers(88_172_645_463_325_252);
    {
        let mut statement = transaction.prepare(sql).unwrap();
        let stride = (size / FEW).max(2);
        for number in 0..size {
            let user = if number % stride == 1 { "grace" } else { "ada" };
            let value = format!("{} {number}", numbers.sentence());
            let (day, session) = (number % 28 + 1, number / 30);
            let at = format!("2026-01-{day:02}T10:00:00Z");
            let values = params![
                format!("{number:032x}"),
                user,
                value,
                at,
                session.to_string(),
                i64::try_from(number % 30).unwrap()
            ];
            statement.execute(values).unwrap();
        }
    }
    transaction.commit().unwrap();
    facts::refresh(&mut facts, &Embedder::BuiltIn).unwrap();
}
