//! The vector index: in the file, with a vector of signed bytes for each fact, or on a Chroma server.
//!
//! The index in the file holds the vector of each retrievable fact, of one model at a time.
//! The built-in model takes microseconds, so its vectors are written in the fact's own transaction; those of
//! an endpoint are fetched afterwards by [`refresh`], and until then the fact is found lexically. A server is
//! also updated afterwards: its jobs are in the outbox, which is written in the fact's own transaction.

mod chroma;
mod comparison;
mod outbox;

use std::time::Duration;

pub(crate) use chroma::Chroma;
pub(crate) use comparison::{Similarities, compare, of_query};
pub(crate) use outbox::{enqueue_forgotten, forgotten};
use rusqlite::{Connection, named_params, params};

use crate::error::{Error, Result};
use crate::facts::fact::{COLUMNS, Fact};
use crate::facts::{Facts, Sql, row};
use crate::project::Project;
use crate::search::{Embedder, Endpoint, Vector};

/// Timeout of an endpoint, after which the search is lexical only.
const DEADLINE: Duration = Duration::from_millis(1500);

/// Maximum number of facts embedded per transaction.
const BATCH: u32 = 1024;

/// Returns the embedder of this run: the built-in table, or the endpoint from the user's settings.
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

/// Updates the index for a fact, in the transaction that writes its row.
pub(crate) fn update_index(connection: &Connection, fact: &Fact) -> Result<()> {
    let IndexLocation { model, server } = IndexLocation::current(connection)?;
    let built_in = Embedder::BuiltIn.model();
    if server.is_some() {
        return outbox::enqueue(connection, fact);
    }
    if fact.status.is_retrievable() && model == built_in {
        let vector = Embedder::BuiltIn.vector(&text(&fact.key, &fact.value_text))?;
        return write_vector(connection, fact, &built_in, &vector).map(drop);
    }
    let sql = "DELETE FROM fact_vectors WHERE user_id = ?1 \
               AND seq = (SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2)";
    connection.run(sql, [&fact.user_id, &fact.fact_id])
}

/// Returns the text to embed for a fact: its key in words, and its value.
pub(crate) fn text(key: &str, value: &str) -> String {
    format!("{}: {value}", words_of_key(key))
}

/// Returns a key in words.
pub(crate) fn words_of_key(key: &str) -> String {
    key.trim_end_matches("[]").replace(['.', '_'], " ")
}

/// Embeds every fact that lacks a vector of this model; returns the number of facts embedded.
///
/// If the model has changed, all vectors are rebuilt: those of different models are not comparable.
pub fn refresh(facts: &mut Facts, embedder: &Embedder) -> Result<usize> {
    migrate(facts, embedder)?;
    if let Some(server) = Chroma::from_database(facts.connection())? {
        // What is forgotten does not wait for an endpoint that makes vectors.
        let erased = outbox::drain(facts, &server, embedder, true)?;
        return Ok(erased + outbox::drain(facts, &server, embedder, false)?);
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM facts AS f WHERE seq > ?1 AND status IN ('active', 'pending_confirmation') \
         AND NOT EXISTS (SELECT 1 FROM fact_vectors AS v WHERE v.user_id = f.user_id AND v.seq = f.seq) \
         ORDER BY seq LIMIT {BATCH}"
    );
    let (mut made, mut after) = (0, 0_i64);
    loop {
        let lacking: Vec<Fact> = facts.connection().list(&sql, [after])?;
        let Some(last) = lacking.last() else {
            if after == 0 || facts.is_dry_run() {
                return Ok(made);
            }
            // A fact that changed in the meantime lacks its vector again.
            after = 0;
            continue;
        };
        let seq = "SELECT coalesce(max(seq), 0) FROM facts WHERE fact_id = ?1";
        after = facts.connection().value(seq, [&last.fact_id])?;
        let texts: Vec<String> =
            lacking.iter().map(|fact| text(&fact.key, &fact.value_text)).collect();
        let vectors = embedder.vectors(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
        made += facts.write(|connection| {
            let mut written = 0;
            for (fact, vector) in lacking.iter().zip(&vectors) {
                written += write_vector(connection, fact, &embedder.model(), vector)?;
            }
            Ok(written)
        })?;
    }
}

/// Asks the server, if the vectors are on one, to erase the forgotten ones; what fails is tried again by [`refresh`].
pub(crate) fn erase_forgotten(facts: &mut Facts) -> Result<()> {
    if let Some(server) = Chroma::from_database(facts.connection())? {
        // `forgotten` says how many are left, and why.
        outbox::drain(facts, &server, &Embedder::BuiltIn, true).ok();
    }
    Ok(())
}

/// The model and location of the vectors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexLocation {
    /// The model.
    pub(crate) model: String,
    /// The URL of the server, or `None` if they are in the file.
    pub(crate) server: Option<String>,
}

row!(IndexLocation: model, server);

impl IndexLocation {
    /// Returns the current location.
    pub(crate) fn current(connection: &Connection) -> Result<Self> {
        let sql = "SELECT model, server FROM vector_index";
        Ok(connection.statement(sql)?.query_row([], Self::read)?)
    }

    /// Returns the location that the settings require.
    pub(crate) fn from_settings(facts: &Facts, embedder: &Embedder) -> Self {
        Self { model: embedder.model(), server: facts.vector_server().map(str::to_owned) }
    }
}

/// Applies a changed model or location: existing vectors are useless, and all are sent or rebuilt. A server that is no
/// longer used is asked once to remove them; if it does not, the error says so, after the change.
fn migrate(facts: &mut Facts, embedder: &Embedder) -> Result<()> {
    let wanted = IndexLocation::from_settings(facts, embedder);
    let current = IndexLocation::current(facts.connection())?;
    if current == wanted || facts.is_dry_run() {
        return Ok(());
    }
    // All vectors of a collection have the same length.
    let old = Chroma::from_database(facts.connection())?;
    let removed = old.map_or(Ok(()), |server| server.remove());
    if removed.is_err() && current.server == wanted.server {
        return removed;
    }
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let change = "UPDATE vector_index SET model = ?1, server = ?2";
        connection.run(change, params![wanted.model, wanted.server])?;
        connection.run("DELETE FROM fact_vectors", [])?;
        connection.run("UPDATE facts SET embedding_id = NULL WHERE embedding_id NOT NULL", [])?;
        if wanted.server.is_some() {
            return outbox::enqueue_all(connection, &now);
        }
        connection.run("DELETE FROM vector_jobs", [])
    })?;
    removed
}

/// Returns the model of the vectors in the index.
pub(crate) fn model(connection: &Connection) -> Result<String> {
    IndexLocation::current(connection).map(|location| location.model)
}

/// Writes the vector of a fact, unless the fact has changed; returns the number of facts that have the vector.
fn write_vector(
    connection: &Connection,
    fact: &Fact,
    model: &str,
    vector: &Vector,
) -> Result<usize> {
    let small = vector.quantized();
    let sql = "INSERT INTO fact_vectors (user_id, seq, fact_id, model, dim, scale, vector) \
               SELECT user_id, seq, fact_id, :model, :dim, :scale, :vector FROM facts \
               WHERE user_id = :user AND fact_id = :fact AND value_text = :value \
               AND status IN ('active', 'pending_confirmation') \
               ON CONFLICT (user_id, seq) DO UPDATE SET model = excluded.model, dim = excluded.dim, \
               scale = excluded.scale, vector = excluded.vector \
               WHERE model <> excluded.model OR vector <> excluded.vector";
    let values = named_params! {
        ":user": fact.user_id, ":fact": fact.fact_id, ":value": fact.value_text, ":model": model,
        ":dim": dim(small.values.len()), ":scale": f64::from(small.scale), ":vector": small.values,
    };
    connection.change(sql, values)
}

/// Returns a number of dimensions as stored.
pub(crate) fn dim(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
