//! The embedded index: one vector of bytes a fact, written in the fact's own transaction.
//!
//! It holds a vector for each fact that a search may find, of one model at a time. The built-in model
//! costs microseconds, so its vectors are there when the fact is; those of an endpoint are fetched
//! afterwards by [`refresh`], and until then the fact is found by its words.

mod contiguous;
mod scan;
mod sessions;

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::named_params;
use rusqlite::params;

use crate::embedding::Embedder;
use crate::embedding::Endpoint;
use crate::embedding::MODEL_ID;
use crate::embedding::Table;
use crate::embedding::Vector;
use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
use crate::facts::store::Facts;
use crate::project::Project;

pub(crate) use contiguous::forget as forget_derived;
pub(crate) use scan::Scanned;
pub(crate) use scan::scan;
pub(crate) use sessions::Turn;
pub(crate) use sessions::turns;

/// How long an endpoint may take before words have to do.
const DEADLINE: Duration = Duration::from_millis(1500);

/// How many texts are embedded between two looks at the database.
const BATCH: u32 = 1024;

/// Returns what makes vectors in this run: the built-in table, or the endpoint of the user's own settings.
pub fn embedder(project: &Project) -> Result<Embedder> {
    let settings = &project.settings.embedding;
    let Some(url) = &settings.url else {
        return Ok(Embedder::BuiltIn);
    };
    let model = settings.model.as_deref().ok_or_else(|| {
        Error::usage("embedding.url is set, and embedding.model is not")
            .hint("name the model that the endpoint is to use")
    })?;
    let key = project.environment.get("ANNALS_EMBEDDING_API_KEY");
    Endpoint::new(url, model, key.map(str::to_owned), DEADLINE).map(Embedder::Remote)
}

/// Keeps the index in step with a fact's row, in the transaction that writes it.
pub(crate) fn keep(connection: &Connection, fact: &Fact) -> Result<()> {
    if fact.status.is_retrievable() && model(connection)? == MODEL_ID {
        let vector = Table::built_in().vector(&text(&fact.key, &fact.value_text));
        return put(connection, &fact.user_id, &fact.fact_id, MODEL_ID, &vector);
    }
    connection
        .execute(
            "DELETE FROM fact_vectors WHERE user_id = ?1 \
             AND seq = (SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2)",
            params![fact.user_id, fact.fact_id],
        )
        .stored("remove a vector")
        .map(|_| ())
}

/// Returns the text whose vector stands for a fact: what its key says, and its value.
pub(crate) fn text(key: &str, value: &str) -> String {
    let about = key.trim_end_matches("[]").replace(['.', '_'], " ");
    format!("{about}: {value}")
}

/// Gives every fact that lacks one its vector of this model; returns how many were made.
///
/// With another model than before, all vectors are made anew: those of two models do not compare.
pub fn refresh(facts: &mut Facts, embedder: &Embedder) -> Result<usize> {
    let wanted = embedder.model();
    if model(facts.connection())? != wanted {
        facts.write(|connection| {
            let change = "UPDATE vector_index SET model = ?1";
            let removed = "DELETE FROM fact_vectors WHERE model <> ?1";
            connection
                .execute(change, [&wanted])
                .stored("name the model")?;
            connection
                .execute(removed, [&wanted])
                .stored("remove vectors")
        })?;
    }
    let mut made = 0;
    let mut after = 0;
    loop {
        let lacking = lacking(facts.connection(), after)?;
        match lacking.last() {
            Some(last) => after = last.seq,
            // What was changed meanwhile lacks its vector again.
            None if after > 0 && !facts.is_dry_run() => {
                after = 0;
                continue;
            }
            None => return Ok(made),
        }
        let texts: Vec<&str> = lacking.iter().map(|one| one.text.as_str()).collect();
        let vectors = embedder.vectors(&texts)?;
        made += facts.write(|connection| {
            let mut written = 0;
            for (one, vector) in lacking.iter().zip(&vectors) {
                if one.is_unchanged(connection)? {
                    put(connection, &one.user, &one.fact, &wanted, vector)?;
                    written += 1;
                }
            }
            Ok(written)
        })?;
    }
}

/// Returns whose vectors the index holds.
pub(crate) fn model(connection: &Connection) -> Result<String> {
    connection
        .prepare_cached("SELECT model FROM vector_index")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .stored("read the model of the vectors")
}

/// A fact without a vector.
struct Lacking {
    seq: i64,
    user: String,
    fact: String,
    text: String,
    updated_at: String,
}

impl Lacking {
    fn is_unchanged(&self, connection: &Connection) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE user_id = ?1 AND fact_id = ?2 \
                   AND updated_at = ?3 AND status IN ('active', 'pending_confirmation'))";
        let values = params![self.user, self.fact, self.updated_at];
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(values, |row| row.get(0)))
            .stored("read a fact")
    }
}

fn lacking(connection: &Connection, after: i64) -> Result<Vec<Lacking>> {
    let sql = "SELECT f.user_id, f.fact_id, f.key, f.value_text, f.updated_at, f.seq FROM facts f \
               WHERE f.seq > ?2 AND f.status IN ('active', 'pending_confirmation') AND NOT EXISTS \
               (SELECT 1 FROM fact_vectors v WHERE v.user_id = f.user_id AND v.seq = f.seq) \
               ORDER BY f.seq LIMIT ?1";
    let mut statement = connection.prepare_cached(sql).stored("read the facts")?;
    let rows = statement
        .query_map((BATCH, after), |row| {
            let (key, value): (String, String) = (row.get(2)?, row.get(3)?);
            Ok(Lacking {
                user: row.get(0)?,
                fact: row.get(1)?,
                text: text(&key, &value),
                updated_at: row.get(4)?,
                seq: row.get(5)?,
            })
        })
        .stored("read the facts")?;
    rows.collect::<rusqlite::Result<_>>()
        .stored("read the facts")
}

fn put(
    connection: &Connection,
    user: &str,
    fact: &str,
    model: &str,
    vector: &Vector,
) -> Result<()> {
    let small = vector.quantized();
    let bytes: Vec<u8> = small.bytes().collect();
    let sql = "INSERT INTO fact_vectors (user_id, seq, fact_id, model, dim, scale, vector) \
               SELECT user_id, seq, fact_id, :model, :dim, :scale, :vector FROM facts \
               WHERE user_id = :user AND fact_id = :fact \
               ON CONFLICT (user_id, seq) DO UPDATE SET model = excluded.model, dim = excluded.dim, \
               scale = excluded.scale, vector = excluded.vector \
               WHERE model <> excluded.model OR vector <> excluded.vector";
    let values = named_params! {
        ":user": user, ":fact": fact, ":model": model, ":dim": dim(bytes.len()),
        ":scale": f64::from(small.scale), ":vector": bytes,
    };
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .stored("write a vector")
        .map(|_| ())
}

/// Returns a number of dimensions as it is stored.
pub(crate) fn dim(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
