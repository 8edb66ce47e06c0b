//! Times embedding, and retrieval of facts by words, by vectors and by both.
//!
//! ```console
//! $ ANNALS_BENCH_FACTS=10000,100000 ANNALS_BENCH_RUNS=100 cargo bench -- facts
//! ```
//!
//! One user has nearly all facts of a database, another has 1,000 of them. Each query opens the database, as
//! a process does. The texts use a vocabulary in which few words are common and most are rare, as in speech.
//! If python3 is available, its sqlite3 runs the same lexical queries, and if it has chromadb, that is
//! queried for the nearest vectors. The figures are in docs/performance.md.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use annals::clock::Clock;
use annals::facts;
use annals::facts::{FactQuery, Facts, Method, Purpose, Selection, UserId};
use annals::search::{Embedder, VectorTable};
use rusqlite::{Connection, params};

const WAIT: Duration = Duration::from_secs(5);

/// Number of facts of the second user.
const FEW: usize = 1000;

/// Number of dimensions of a built-in vector.
const LENGTH: usize = 128;

const SYLLABLES: [&str; 20] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "za",
];

/// Pseudorandom numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Returns a word; low ranks are common, with a frequency of about 1/n for the n-th word.
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

pub(crate) fn run() {
    let runs = number("ANNALS_BENCH_RUNS", 50);
    let sizes = env::var("ANNALS_BENCH_FACTS").unwrap_or_else(|_| "10000".to_owned());
    embedding(runs);
    for size in sizes.split(',') {
        retrieval(size.trim().parse().unwrap(), runs);
    }
}

fn embedding(runs: usize) {
    let table = VectorTable::built_in();
    let texts: [(&str, String); 4] = [
        ("3 words", "which editor now".to_owned()),
        ("12 words", "the user prefers tabs over spaces in all of her Go projects".to_owned()),
        (
            "12 words, accents",
            "l'utilisatrice préfère les tabulations à l'intérieur de tous ses dépôts déjà créés"
                .to_owned(),
        ),
        ("1,000 words", "retry queue with exponential backoff ".repeat(200)),
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
    let questions = [("common words", common.join(" ")), ("two words", two.join(" "))];
    python(&path, &questions, runs);
    // For more facts, writing alone takes Chroma over half a minute.
    if size <= 100_000 {
        chroma(size, runs);
    }
    for (user, of) in [("ada", "all facts"), ("grace", "1,000 facts of them")] {
        for (name, text) in &questions {
            for method in [Method::Lexical, Method::Vector, Method::Seed, Method::Fused] {
                // The first query runs with cold caches.
                let first = ask(&path, user, text, method);
                let before = on_processor();
                let mut times: Vec<Duration> =
                    (0..runs).map(|_| ask(&path, user, text, method)).collect();
                let busy = on_processor().zip(before).map(|(after, before)| {
                    after.saturating_sub(before).as_secs_f64() * 1000.0
                        / f64::from(u32::try_from(runs).unwrap())
                });
                times.sort_unstable();
                let at =
                    |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
                println!(
                    "{of:20} {name:13} {:8} p50 {:7.2} ms  p95 {:7.2} ms  processor {:7.2} ms  first {:7.2} ms",
                    method.as_str(),
                    at(50),
                    at(95),
                    busy.unwrap_or(f64::NAN),
                    first.as_secs_f64() * 1000.0
                );
            }
        }
    }
}

/// Returns the CPU time of this thread, if the system provides it; load of other processes does not count.
fn on_processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Runs the same queries with SQLite's index from python, on an open connection and without filters.
fn python(path: &Path, questions: &[(&str, String)], runs: usize) {
    const PROGRAM: &str = r#"
import sqlite3, sys, time
facts, runs, questions = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
db = sqlite3.connect(facts + ".python")
db.execute("CREATE VIRTUAL TABLE f USING fts5(value, tokenize='porter unicode61')")
db.execute("ATTACH ? AS facts", (facts,))
db.execute("INSERT INTO f (rowid, value) SELECT seq, value_text FROM facts.facts")
db.commit()
db.execute("DETACH facts")
for question in questions:
    name, words = question.split(":")
    match = " OR ".join('"%s"' % word for word in words.split())
    def ask():
        start = time.perf_counter()
        db.execute("SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT 20", (match,)).fetchall()
        return (time.perf_counter() - start) * 1000
    first, before = ask(), time.thread_time()
    times = sorted(ask() for _ in range(runs))
    busy = (time.thread_time() - before) * 1000 / runs
    at = lambda share: times[(len(times) - 1) * share // 100]
    print("%-20s %-13s %-8s p50 %7.2f ms  p95 %7.2f ms  processor %7.2f ms  first %7.2f ms"
        % ("python sqlite3", name, "fts5", at(50), at(95), busy, first))
"#;
    let questions = questions.iter().map(|(name, text)| format!("{name}:{text}"));
    let told = Command::new("python3")
        .args(["-c", PROGRAM])
        .arg(path)
        .arg(runs.to_string())
        .args(questions)
        .status();
    if !told.is_ok_and(|status| status.success()) {
        println!("python3 with sqlite3 is not here to compare with");
    }
}

/// Queries an embedded Chroma for the nearest vectors of one user.
///
/// The vectors are random; only their number and length are the same.
fn chroma(size: usize, runs: usize) {
    const PROGRAM: &str = r#"
import sys, time
import chromadb, numpy
size, runs, few, length = (int(argument) for argument in sys.argv[1:])
numbers = numpy.random.default_rng(1)
vectors = numbers.standard_normal((size, length), dtype=numpy.float32)
vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
facts = chromadb.EphemeralClient().create_collection("facts", embedding_function=None)
stride = max(size // few, 2)
start = time.perf_counter()
for at in range(0, size, 5000):
    rows = range(at, min(at + 5000, size))
    users = [{"user": "grace" if row % stride == 1 else "ada"} for row in rows]
    facts.add(ids=[str(row) for row in rows], embeddings=vectors[rows.start:rows.stop], metadatas=users)
print("chroma embedded: %d vectors written in %.1f s" % (size, time.perf_counter() - start))
for user, of in (("ada", "all facts"), ("grace", "1,000 facts of them")):
    def ask():
        question = vectors[numbers.integers(size)]
        start = time.perf_counter()
        facts.query(query_embeddings=[question], n_results=10, where={"user": user})
        return (time.perf_counter() - start) * 1000
    first = ask()
    times = sorted(ask() for _ in range(runs))
    at = lambda share: times[(len(times) - 1) * share // 100]
    print("%-20s %-13s %-8s p50 %7.2f ms  p95 %7.2f ms  first %7.2f ms"
        % (of, "chroma", "filtered", at(50), at(95), first))
"#;
    let told = Command::new("python3")
        .args(["-c", PROGRAM])
        .args([size, runs, FEW, LENGTH].map(|number| number.to_string()))
        .stderr(Stdio::null())
        .status();
    if !told.is_ok_and(|status| status.success()) {
        println!("python3 with chromadb is not here to compare with");
    }
}

fn ask(path: &Path, user: &str, text: &str, method: Method) -> Duration {
    let query = FactQuery {
        text: text.to_owned(),
        limit: 10,
        project: None,
        method,
        selection: Selection::All,
        uses_encoder: false,
    };
    let start = Instant::now();
    let facts = open(path, Purpose::Read);
    let user = UserId::new(user).unwrap();
    let found = facts::retrieve(&facts, &user, &query, &Embedder::BuiltIn).unwrap();
    let took = start.elapsed();
    assert!(!found.hits.is_empty());
    took
}

fn open(path: &Path, purpose: Purpose) -> Facts {
    Facts::open_file(path, Clock::new(None).unwrap(), WAIT, purpose).unwrap()
}

/// Writes the facts in one transaction, and their vectors in a few.
fn build(path: &Path, size: usize) {
    let facts = open(path, Purpose::Write);
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
    facts::refresh(&facts, &Embedder::BuiltIn).unwrap();
}

fn number(variable: &str, otherwise: usize) -> usize {
    let value = env::var(variable).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}
