//! The rows that a search may return, with what it needs to know of each of them.
//!
//! SQLite takes several times as long to read a row as scoring it takes, so the table `packed` has these parts of the rows
//! in blocks. Triggers erase the block of a fact that changes. What no block has is read row by row, and packed if that
//! is much. As in every table, a user's blocks have facts of that user alone.

use foldhash::{HashMap, HashSet};
use rusqlite::params;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::facts::vectors::narrowed;
use crate::facts::{Facts, UserId};
use crate::search::{Known, Quantized, to_u32, write_now};

/// Creates the table of blocks.
const PACKED: &str = include_str!("../packed.sql");

/// Number of rows of a block, and of rows in no block above which they are packed.
const BLOCK: usize = 64;
const MAX_UNPACKED: usize = 512;

/// Number of bytes of a row in a block beside its vector, and of the scale of that.
const ROW: usize = 24;
const SCALE: usize = 4;

/// The similarity of a fact without a vector.
pub(super) const NOT_COMPARED: f32 = f32::NEG_INFINITY;

/// The retrievable rows of a user in the selected projects, in the order of their ids: it is the same on every device, so
/// that equal scores are ordered alike.
#[derive(Default)]
pub(super) struct Rows {
    /// The rows.
    pub(super) seqs: Vec<i64>,
    /// What is known of each one; its similarity to the query is from -1 to 1, or [`NOT_COMPARED`].
    pub(super) known: Known,
    /// The number of each session.
    sessions: HashMap<i64, u32>,
    /// The place of each row in its session.
    turns: Vec<i64>,
    /// What is in no block of the table yet, if it is much.
    unpacked: Vec<Block>,
}

impl Rows {
    /// Reads the rows that hold at a time, and compares their vectors.
    pub(super) fn searchable(
        facts: &Facts,
        user: &UserId,
        project: Option<&str>,
        query: Option<&Quantized>,
    ) -> Result<Self> {
        let sql = "SELECT seq FROM facts WHERE user_id = ?1 AND valid_to <= ?2 UNION ALL \
                   SELECT seq FROM facts WHERE user_id = ?1 AND project IS NOT NULL AND project IS NOT ?3";
        let excluded: Vec<i64> = facts.column(sql, params![user, facts.now(), project])?;
        let excluded: HashSet<i64> = excluded.into_iter().collect();
        let mut rows = Self::default();
        // All vectors of a model have the same length, unless an endpoint has changed it.
        let length = match query {
            Some(query) => query.values.len(),
            None => {
                let sql = "SELECT (SELECT dim FROM fact_vectors WHERE user_id = ?1 LIMIT 1)";
                facts.value::<Option<usize>>(sql, [user])?.unwrap_or_default()
            }
        };
        let (mut reached, mut unpacked) = (Value::Text(String::new()), Vec::new());
        let mut add_unpacked = |rows: &mut Self, from: &Value, until: &Value| -> Result<()> {
            for block in unpacked_blocks(facts, user, from, until, length)? {
                rows.add(&block.rows, &block.vectors, query, &excluded);
                unpacked.push(block);
            }
            Ok(())
        };
        let sql = "SELECT first, until, rows, iif(?2, vectors, x'') FROM packed \
                   WHERE user_id = ?1 ORDER BY first";
        // The table does not exist before the first search that packs rows.
        if let Ok(mut statement) = facts.statement(sql) {
            let mut blocks = statement.query(params![user, query.is_some()])?;
            while let Some(block) = blocks.next()? {
                let (known, vectors) = (block.get_ref(2)?.as_blob(), block.get_ref(3)?.as_blob());
                let (known, vectors) = (known.unwrap_or_default(), vectors.unwrap_or_default());
                if query.is_some() && vectors.len() != (length + SCALE) * (known.len() / ROW) {
                    continue;
                }
                let first: Value = block.get(0)?;
                if first != reached {
                    add_unpacked(&mut rows, &reached, &first)?;
                }
                rows.add(known, vectors, query, &excluded);
                reached = block.get(1)?;
            }
        }
        let end = Value::Blob(Vec::new());
        if reached != end {
            add_unpacked(&mut rows, &reached, &end)?;
        }
        let number = unpacked.iter().map(|block| block.rows.len() / ROW).sum::<usize>();
        if number > MAX_UNPACKED {
            rows.unpacked = unpacked;
        }
        rows.known.words = vec![0.0; rows.seqs.len()];
        rows.known.are_turns = true;
        rows.sort_sessions();
        Ok(rows)
    }

    /// Packs what is in no block, once there is an answer: other processes wait to write until this transaction ends. What
    /// cannot be written now is read row by row again.
    pub(super) fn pack(&self, facts: &Facts, user: &UserId) {
        if self.unpacked.is_empty() {
            return;
        }
        let _is_kept = write_now(&facts.connection, PACKED, || {
            let sql = "DELETE FROM packed WHERE user_id = ?1 AND first >= ?2 AND first < ?3";
            let mut clear = facts.connection.prepare_cached(sql)?;
            let mut add = facts
                .connection
                .prepare_cached("INSERT INTO packed VALUES (?1, ?2, ?3, ?4, ?5)")?;
            self.unpacked.iter().try_for_each(|block| {
                clear.execute(params![user, block.first, block.until])?;
                add.execute(params![user, block.first, block.until, block.rows, block.vectors])
                    .map(drop)
            })
        })
        .is_ok();
    }

    /// Adds the rows of a block.
    fn add(
        &mut self,
        rows: &[u8],
        vectors: &[u8],
        query: Option<&Quantized>,
        excluded: &HashSet<i64>,
    ) {
        let mut vectors = vectors.chunks_exact(query.map_or(0, |query| query.values.len()) + SCALE);
        for row in rows.as_chunks().0.chunks(ROW / 8) {
            let &[seq, session, turn] = row else { continue };
            let [seq, session, turn] = [seq, session, turn].map(i64::from_le_bytes);
            let near = query.zip(vectors.next()).and_then(|(query, vector)| {
                let (scale, values) = vector.split_first_chunk()?;
                let near = query.dot(values, f32::from_le_bytes(*scale));
                (!near.is_nan()).then_some(near)
            });
            if excluded.contains(&seq) {
                continue;
            }
            if session != 0 {
                let next = to_u32(self.sessions.len());
                let number = *self.sessions.entry(session).or_insert(next);
                self.known.sequence.push((number, to_u32(self.seqs.len())));
            }
            self.seqs.push(seq);
            self.turns.push(turn);
            self.known.meaning.push(near.unwrap_or(NOT_COMPARED));
        }
    }

    /// Sorts the rows by session and place in it; those of one place keep their order.
    fn sort_sessions(&mut self) {
        // A counting sort by session.
        let mut starts = vec![0; self.sessions.len() + 1];
        for (number, _) in &self.known.sequence {
            starts[*number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut sorted = vec![(0, 0); self.known.sequence.len()];
        for row in &self.known.sequence {
            let next = &mut starts[row.0 as usize];
            sorted[*next] = *row;
            *next += 1;
        }
        for session in sorted.chunk_by_mut(|a, b| a.0 == b.0) {
            session.sort_by_key(|(_, index)| self.turns[*index as usize]);
        }
        self.known.sequence = sorted;
    }

    /// Sets the similarities of rows that a server has compared.
    pub(super) fn set_meaning(
        &mut self,
        facts: &Facts,
        user: &UserId,
        near: Vec<(String, f32)>,
    ) -> Result<()> {
        let sql = "SELECT coalesce(max(seq), 0) FROM facts WHERE user_id = ?1 AND fact_id = ?2";
        let mut similarities: HashMap<i64, f32> = HashMap::default();
        for (fact, similarity) in near {
            similarities.insert(facts.value(sql, params![user, fact])?, similarity);
        }
        for (seq, index) in self.indexes(similarities.keys().copied()) {
            self.known.meaning[index] = similarities[&seq];
        }
        Ok(())
    }

    /// Returns the indexes of those of these rows that a search may return.
    pub(super) fn indexes(&self, seqs: impl Iterator<Item = i64>) -> HashMap<i64, usize> {
        let asked: HashSet<i64> = seqs.collect();
        let rows = self.seqs.iter().enumerate().filter(|(_, seq)| asked.contains(seq));
        rows.map(|(index, seq)| (*seq, index)).collect()
    }
}

/// Rows with ids in a range.
struct Block {
    first: Value,
    until: Value,
    rows: Vec<u8>,
    vectors: Vec<u8>,
}

/// Reads the rows with ids in a range, one by one.
fn unpacked_blocks(
    facts: &Facts,
    user: &UserId,
    from: &Value,
    until: &Value,
    length: usize,
) -> Result<Vec<Block>> {
    let sql = "SELECT f.fact_id, f.seq, f.session_id, f.turn_seq, v.scale, v.vector \
               FROM facts AS f LEFT JOIN fact_vectors AS v ON v.user_id = f.user_id AND v.seq = f.seq \
               AND v.dim = ?4 AND v.model = (SELECT model FROM vector_index) \
               WHERE f.user_id = ?1 AND f.fact_id >= ?2 AND f.fact_id < ?3 \
               AND f.status IN ('active', 'pending_confirmation') ORDER BY f.fact_id";
    let mut statement = facts.statement(sql)?;
    let mut rows = statement.query(params![user, from, until, length])?;
    let new = |first| Block { first, until: until.clone(), rows: vec![], vectors: vec![] };
    let (mut blocks, mut block) = (Vec::new(), new(from.clone()));
    while let Some(row) = rows.next()? {
        if block.rows.len() == BLOCK * ROW {
            block.until = row.get(0)?;
            let next = new(block.until.clone());
            blocks.push(std::mem::replace(&mut block, next));
        }
        let session: Option<String> = row.get(2)?;
        let digest = session.map(Sha256::digest);
        let digest = digest.as_ref().and_then(|digest| digest.first_chunk());
        block.rows.extend(row.get::<_, i64>(1)?.to_le_bytes());
        block.rows.extend(digest.unwrap_or(&[0; 8]));
        block.rows.extend(row.get::<_, Option<i64>>(3)?.unwrap_or(i64::MIN).to_le_bytes());
        let scale = row.get::<_, Option<f64>>(4)?.map_or(f32::NAN, narrowed);
        block.vectors.extend(scale.to_le_bytes());
        let length = block.vectors.len() + length;
        block.vectors.extend(row.get_ref(5)?.as_blob().unwrap_or_default());
        block.vectors.resize(length, 0);
    }
    blocks.push(block);
    Ok(blocks)
}
