//! The index of vectors: in the file, one vector of bytes a fact, or on a Chroma server.
//!
//! The one in the file holds the vectors of the passages of each fact that a search may find, of one model at a time. The
//! built-in model costs microseconds, so its vectors are written in the fact's own transaction; those of
//! an endpoint are fetched afterwards by [`refresh`], and until then the fact is found by its words. A
//! server is told afterwards too: what it is to be told waits in the outbox, which is written in the
//! fact's own transaction.

mod chroma;
mod copies;
mod outbox;
mod scan;
mod sessions;

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::Row;
use rusqlite::named_params;
use rusqlite::params;

use crate::embedding::Embedder;
use crate::embedding::Endpoint;
use crate::embedding::Quantized;
use crate::embedding::Vector;
use crate::embedding::VectorTable;
use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
use crate::facts::store::Facts;
use crate::facts::vectors::copies::RetryScope;
use crate::project::Project;
use crate::ranking::passages;

pub(crate) use chroma::Chroma;
pub use copies::Remaining;
pub(crate) use copies::forget as forget_copies;
pub(crate) use copies::remaining;
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
        Error::usage("embedding.url is set, but embedding.model is not")
            .hint("name the model that the endpoint is to use")
    })?;
    let key = project.environment.get("ANNALS_EMBEDDING_API_KEY");
    Endpoint::new(url, model, key.map(str::to_owned), DEADLINE).map(Embedder::Remote)
}

/// Keeps the index in step with a fact's row, in the transaction that writes it.
pub(crate) fn update_index(connection: &Connection, fact: &Fact) -> Result<()> {
    let place = IndexLocation::read(connection)?;
    if place.server.is_some() {
        return outbox::enqueue(connection, fact);
    }
    let built_in = model_of(&Embedder::BuiltIn);
    if fact.status.is_retrievable() && place.model == built_in {
        let texts = passage_texts(&fact.key, &fact.value_text);
        let vectors: Vec<Vector> = texts
            .iter()
            .map(|text| VectorTable::built_in().vector(text))
            .collect();
        return put(
            connection,
            (&fact.user_id, &fact.fact_id),
            &built_in,
            &vectors,
        );
    }
    connection
        .prepare_cached(
            "DELETE FROM fact_vectors WHERE user_id = ?1 \
             AND seq = (SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2)",
        )
        .and_then(|mut statement| statement.execute([&fact.user_id, &fact.fact_id]))
        .stored("remove a vector")
        .map(|_| ())
}

/// Returns the text whose vector stands for a fact: what its key says, and its value.
pub(crate) fn text(key: &str, value: &str) -> String {
    let about = key.trim_end_matches("[]").replace(['.', '_'], " ");
    format!("{about}: {value}")
}

/// Returns the texts whose vectors stand for a fact that may be long: each passage under what its key says.
fn passage_texts(key: &str, value: &str) -> Vec<String> {
    let passages = passages(value).into_iter();
    passages.map(|passage| text(key, passage)).collect()
}

/// Returns what names the vectors of an embedder in the index, where each stands for a passage.
pub(crate) fn model_of(embedder: &Embedder) -> String {
    format!("{} of passages", embedder.model())
}

/// Gives every fact that lacks one its vector of this model; returns how many were made.
///
/// With another model than before, all vectors are rebuilt: those of two models do not compare.
pub fn refresh(facts: &mut Facts, embedder: &Embedder) -> Result<usize> {
    settle(facts, embedder)?;
    if let Some(server) = Chroma::from_database(facts.connection())? {
        return outbox::drain(facts, &server, embedder);
    }
    let wanted = model_of(embedder);
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
        let texts: Vec<&str> = lacking
            .iter()
            .flat_map(|one| one.texts.iter().map(String::as_str))
            .collect();
        let vectors = embedder.vectors(&texts)?;
        made += facts.write(|connection| {
            let mut written = 0;
            let mut rest = vectors.as_slice();
            for one in &lacking {
                let (vectors, after) = rest.split_at(one.texts.len().min(rest.len()));
                rest = after;
                if one.is_unchanged(connection)? {
                    put(connection, (&one.user, &one.fact), &wanted, vectors)?;
                    written += 1;
                }
            }
            Ok(written)
        })?;
    }
}

/// Has the servers that vectors were once sent to erase what is forgotten, unless one failed a moment ago; returns how
/// one failed.
pub fn erase_remaining(facts: &mut Facts) -> Result<Option<Error>> {
    copies::erase(facts, RetryScope::Due)
}

/// The same, whenever one failed last.
pub(crate) fn erase_now(facts: &mut Facts) -> Result<Option<Error>> {
    copies::erase(facts, RetryScope::All)
}

/// Whose vectors the index holds, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexLocation {
    /// The model.
    pub(crate) model: String,
    /// The address of the server, or `None` if they are in the file.
    pub(crate) server: Option<String>,
}

impl IndexLocation {
    /// Returns the place as it is.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let read = |row: &Row<'_>| {
            Ok(Self {
                model: row.get(0)?,
                server: row.get(1)?,
            })
        };
        connection
            .prepare_cached("SELECT model, server FROM vector_index")
            .and_then(|mut statement| statement.query_row([], read))
            .stored("read where the vectors are")
    }

    /// Returns the place as the settings want it.
    pub(crate) fn wanted(facts: &Facts, embedder: &Embedder) -> Self {
        Self {
            model: model_of(embedder),
            server: facts.vector_server().map(str::to_owned),
        }
    }
}

/// Changes model or place to what the settings want: what was there is of no use, and all is told or rebuilt.
fn settle(facts: &mut Facts, embedder: &Embedder) -> Result<()> {
    let wanted = IndexLocation::wanted(facts, embedder);
    let is = IndexLocation::read(facts.connection())?;
    if is == wanted || facts.is_dry_run() {
        return Ok(());
    }
    let stays = is.server.is_some() && is.server == wanted.server;
    let dropped = Chroma::from_database(facts.connection())?.filter(|_| stays);
    if let Some(server) = &dropped {
        // A collection takes vectors of one length only.
        server.remove()?;
    }
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        if let Some(server) = &dropped {
            copies::dropped(connection, server)?;
        }
        let change = "UPDATE vector_index SET model = ?1, server = ?2";
        connection
            .execute(change, params![wanted.model, wanted.server])
            .stored("name the model")?;
        connection
            .execute_batch("DELETE FROM fact_vectors")
            .stored("remove vectors")?;
        if wanted.server.is_some() {
            return outbox::enqueue_all(connection, &now);
        }
        connection
            .execute_batch("DELETE FROM vector_jobs")
            .stored("clear the outbox")
    })
}

/// Returns whose vectors the index holds.
pub(crate) fn model(connection: &Connection) -> Result<String> {
    IndexLocation::read(connection).map(|place| place.model)
}

/// A fact without a vector.
struct Lacking {
    seq: i64,
    user: String,
    fact: String,
    /// The passages that get a vector each.
    texts: Vec<String>,
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
                texts: passage_texts(&key, &value),
                updated_at: row.get(4)?,
                seq: row.get(5)?,
            })
        })
        .stored("read the facts")?;
    rows.collect::<rusqlite::Result<_>>()
        .stored("read the facts")
}

/// Writes the vectors of a fact's passages, one after the other.
fn put(
    connection: &Connection,
    (user, fact): (&str, &str),
    model: &str,
    vectors: &[Vector],
) -> Result<()> {
    let Some(small) = Quantized::concatenated(vectors) else {
        return Ok(());
    };
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
