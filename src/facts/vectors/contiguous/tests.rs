use std::fs;
use std::io::Write;
use std::time::Duration;

use super::*;
use crate::clock::Clock;
use crate::embedding::Embedder;
use crate::embedding::MODEL_ID;
use crate::embedding::Table;
use crate::facts::search::Method;
use crate::facts::search::Query;
use crate::facts::search::Scope;
use crate::facts::search::retrieve;
use crate::facts::store::Facts;
use crate::facts::store::Purpose;
use crate::facts::vectors::refresh;

const WAIT: Duration = Duration::from_secs(1);

/// A database file with facts of two users, some of them in sessions.
struct Store {
    folder: tempfile::TempDir,
    facts: Facts,
    user: UserId,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let path = folder.path().join("mem.db");
        let facts = Facts::open_file(&path, clock, WAIT, Purpose::Write).unwrap();
        let user = UserId::new("ada").unwrap();
        let mut store = Self {
            folder,
            facts,
            user,
        };
        for number in 0..40 {
            let user = if number % 5 == 4 { "eve" } else { "ada" };
            store.put(user, number);
        }
        store
    }

    fn put(&mut self, user: &str, number: i64) {
        let at = "2026-03-01T12:00:00Z";
        let sql = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, \
                   valid_from, status, source_turn_id, source_excerpt, created_at, updated_at, \
                   last_mentioned_at, session_id, turn_seq) VALUES (?1, ?2, 'said[]', ?1, 'other', \
                   0.4, ?3, 'active', '', '', ?3, ?3, ?3, ?4, ?5)";
        let session = (number % 3 > 0).then(|| (number % 7).to_string());
        let values = rusqlite::params![format!("boat {number}"), user, at, session, -number];
        self.facts.connection().execute(sql, values).unwrap();
        refresh(&mut self.facts, &Embedder::BuiltIn).unwrap();
    }

    fn query() -> Quantized {
        Table::built_in().vector("a boat, 17").quantized()
    }

    fn write(&self) {
        let dim = Self::query().values.len();
        write(self.facts.connection(), &self.user, MODEL_ID, dim).unwrap();
    }

    /// What the file says, where it is of now.
    fn scan(&self) -> Option<Scanned> {
        scanned(
            self.facts.connection(),
            &self.user,
            MODEL_ID,
            &Self::query(),
        )
        .unwrap()
    }

    fn by_rows(&self) -> Scanned {
        scan::by_rows(
            self.facts.connection(),
            &self.user,
            MODEL_ID,
            &Self::query(),
        )
        .unwrap()
    }

    fn change(&self, sql: &str) {
        self.facts.connection().execute(sql, []).unwrap();
    }

    fn path(&self) -> PathBuf {
        path(self.facts.connection(), &self.user).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at files")]
    fn derived(&self) -> usize {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().contains("-vectors-"))
            .count()
    }
}

#[test]
fn the_file_says_what_the_tables_say() {
    let store = Store::new();
    assert_eq!(store.scan(), None);
    store.write();
    let mut scanned = store.scan().unwrap();
    let turns = scanned.turns.take().unwrap();
    assert_eq!(
        turns,
        self::turns(store.facts.connection(), &store.user).unwrap()
    );
    assert!(turns.len() > 15 && turns.len() < 32);
    assert!(scanned.is_complete);
    assert_eq!(scanned.seqs.len(), 32);
    assert_eq!(scanned, store.by_rows());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = fs::metadata(store.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn after_any_change_of_what_is_compared_it_is_not_read() {
    let changes = [
        "UPDATE facts SET turn_seq = 99 WHERE fact_id = 'boat 1'",
        "UPDATE facts SET session_id = 'x' WHERE fact_id = 'boat 1'",
        "UPDATE facts SET status = 'expired' WHERE fact_id = 'boat 1'",
        "UPDATE fact_vectors SET scale = 2.0 WHERE fact_id = 'boat 1'",
        "DELETE FROM fact_vectors WHERE fact_id = 'boat 1'",
        "DELETE FROM facts WHERE fact_id = 'boat 1'",
    ];
    for change in changes {
        let store = Store::new();
        store.write();
        store.change("UPDATE facts SET updated_at = '2027' WHERE user_id = 'ada'");
        store.change("UPDATE facts SET turn_seq = 99 WHERE user_id = 'eve'");
        assert!(store.scan().is_some(), "of another user, or not compared");
        store.change(change);
        assert_eq!(store.scan(), None, "{change}");
        store.write();
        let turns = store.scan().unwrap().turns.unwrap();
        let seqs = store.by_rows().seqs;
        let mut expected = self::turns(store.facts.connection(), &store.user).unwrap();
        expected.retain(|turn| seqs.contains(&turn.row));
        let rows = |turns: &[Turn]| turns.iter().map(|turn| turn.row).collect::<Vec<_>>();
        assert_eq!(rows(&turns), rows(&expected), "{change}");
    }
    let mut store = Store::new();
    store.write();
    store.put("ada", 41);
    assert_eq!(store.scan(), None, "another fact");
}

#[test]
fn a_fact_without_vector_makes_it_incomplete() {
    let store = Store::new();
    store.change("DELETE FROM fact_vectors WHERE fact_id = 'boat 1'");
    store.write();
    let scanned = store.scan().unwrap();
    assert!(!scanned.is_complete);
    assert_eq!(scanned.seqs.len(), 31);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at files")]
fn a_file_of_another_model_or_dimension_or_that_was_cut_is_not_read() {
    let store = Store::new();
    store.write();
    let connection = store.facts.connection();
    let other = scanned(connection, &store.user, "another", &Store::query()).unwrap();
    assert_eq!(other, None);
    let mut short = Store::query();
    short.values.truncate(64);
    let other = scanned(connection, &store.user, MODEL_ID, &short).unwrap();
    assert_eq!(other, None);
    let bytes = fs::read(store.path()).unwrap();
    for length in [0, 7, HEADER - 1, HEADER, HEADER + 100, bytes.len() - 1] {
        let mut file = File::create(store.path()).unwrap();
        file.write_all(&bytes[..length]).unwrap();
        assert_eq!(store.scan(), None, "{length} bytes");
    }
    for place in 0..HEADER {
        let mut torn = bytes.clone();
        torn[place] ^= 0x80;
        File::create(store.path())
            .unwrap()
            .write_all(&torn)
            .unwrap();
        store.scan();
    }
    File::create(store.path())
        .unwrap()
        .write_all(&bytes)
        .unwrap();
    assert!(store.scan().is_some());
}

#[test]
fn a_search_makes_it_of_many_and_finds_the_same_with_it() {
    let mut store = Store::new();
    let vector = Store::query();
    let connection = store.facts.connection();
    let without = scan(connection, &store.user, MODEL_ID, &vector, false).unwrap();
    assert_eq!(store.derived(), 0, "a dry run");
    let query = Query {
        text: "a boat, 17".to_owned(),
        limit: 40,
        scope: Scope::General,
        method: Method::Fused,
    };
    let mut ask = |user: &UserId| {
        retrieve(&mut store.facts, user, &query, &Embedder::BuiltIn)
            .unwrap()
            .hits
    };
    let ada = UserId::new("ada").unwrap();
    let first = ask(&ada);
    assert_eq!(first.len(), 32);
    assert!(first[0].components.neighbours > 0.0);
    assert_eq!(ask(&ada), first);
    assert_eq!(ask(&UserId::new("eve").unwrap()).len(), 8);
    assert_eq!(store.derived(), 1, "eve has too few");
    assert_eq!(store.scan().unwrap().nearness, without.nearness);
}

#[test]
fn what_cannot_be_written_is_read_from_the_tables() {
    let store = Store::new();
    fs::create_dir(store.path()).unwrap();
    store.write();
    assert_eq!(store.scan(), None);
}

#[test]
fn it_is_forgotten_with_what_a_killed_process_left() {
    let mut store = Store::new();
    store.write();
    let mut left = store.path().into_os_string();
    left.push(".77.tmp");
    File::create(left).unwrap();
    assert_eq!(store.derived(), 2);
    crate::facts::forget(&mut store.facts, &store.user, None, "asked").unwrap();
    assert_eq!(store.derived(), 0);
    let sql = "SELECT count(*) FROM vector_revisions WHERE user_id = 'ada'";
    let left: i64 = store
        .facts
        .connection()
        .query_row(sql, [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}
