//! The vector index: in the file, with a vector of signed bytes for each fact, or on a Chroma server.
//!
//! The index in the file holds the vector of each retrievable fact, of one model at a time.
//! The built-in model takes microseconds, so its vectors are written in the fact's own transaction; those of
//! an endpoint are fetched afterwards by [`refresh`], and until then the fact is found lexically. A server is
//! also updated afterwards: its jobs are in the outbox, which is written in the fact's own transaction.

use std::time::Duration;

use rusqlite::{named_params, params};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::facts::fact::Fact;
use crate::facts::search::FactQuery;
use crate::facts::{Facts, UserId, json, turns};
use crate::project::Project;
use crate::search::{Embedder, Endpoint, Quantized, Vector};
use crate::service::Service;

/// Timeout of an endpoint, or of a question to a server, after which the search is lexical only.
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
pub(crate) fn update_index(facts: &Facts, fact: &Fact) -> Result<()> {
    let (model, server) = current(facts)?;
    let built_in = Embedder::BuiltIn.model();
    if server.is_some() {
        return enqueue(facts, &json(&[&fact.fact_id])?);
    }
    if fact.status.is_retrievable() && model == built_in {
        let vector = Embedder::BuiltIn.vector(&text(&fact.key, &fact.value_text))?;
        return write_vector(facts, fact, &built_in, &vector).map(drop);
    }
    let sql = "DELETE FROM fact_vectors WHERE user_id = ?1 \
               AND seq = (SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2)";
    facts.run(sql, params![fact.user_id, fact.fact_id])
}

/// Returns the text to embed for a fact: its key in words, and its value.
pub(crate) fn text(key: &str, value: &str) -> String {
    format!("{}: {value}", words_of_key(key))
}

/// Returns a key in words.
pub(crate) fn words_of_key(key: &str) -> String {
    key.trim_end_matches("[]").replace(['.', '_'], " ")
}

/// The facts that have no vector but should.
pub(crate) const LACKING: &str = "status IN ('active', 'pending_confirmation') AND NOT EXISTS \
                       (SELECT 1 FROM fact_vectors AS v WHERE v.user_id = facts.user_id AND v.seq = facts.seq)";

/// Embeds every fact that lacks a vector of this model; returns the number of facts embedded, or on a dry run to embed.
///
/// If the model has changed, all vectors are rebuilt: those of different models are not comparable.
pub fn refresh(facts: &Facts, embedder: &Embedder) -> Result<usize> {
    migrate(facts, embedder)?;
    if let Some(server) = current(facts)?.1 {
        // What is forgotten does not wait for an endpoint that makes vectors.
        let erased = drain(facts, &server, embedder, true)?;
        return Ok(erased + drain(facts, &server, embedder, false)?);
    }
    if facts.dry_run {
        return facts.value(&format!("SELECT count(*) FROM facts WHERE {LACKING}"), []);
    }
    let condition = format!("{LACKING} AND fact_id > ?1 ORDER BY fact_id LIMIT {BATCH}");
    let (mut made, mut after) = (0, String::new());
    loop {
        let lacking = facts.of_all_users(&condition, [&after])?;
        // A fact that changed in the meantime gets its vector in the next run.
        let Some(last) = lacking.last() else {
            return Ok(made);
        };
        after.clone_from(&last.fact_id);
        let vectors = of_facts(embedder, &lacking)?;
        made += facts.write(|| {
            let mut written = 0;
            for (fact, vector) in lacking.iter().zip(&vectors) {
                written += write_vector(facts, fact, &embedder.model(), vector)?;
            }
            Ok(written)
        })?;
    }
}

/// Returns the vectors of facts.
fn of_facts(embedder: &Embedder, facts: &[Fact]) -> Result<Vec<Vector>> {
    let texts: Vec<String> = facts.iter().map(|fact| text(&fact.key, &fact.value_text)).collect();
    embedder.vectors(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Asks the server, if the vectors are on one, to erase the forgotten ones; what fails is tried again by [`refresh`].
pub(crate) fn erase_forgotten(facts: &Facts) -> Result<()> {
    if let Some(server) = current(facts)?.1 {
        // `forgotten` says how many are left, and why.
        drain(facts, &server, &Embedder::BuiltIn, true).ok();
    }
    Ok(())
}

/// Returns the model of the vectors, and the collection that they are in, or `None` if they are in the file.
fn current(facts: &Facts) -> Result<(String, Option<Chroma>)> {
    let sql = "SELECT model, server, coalesce(collection, '') FROM vector_index";
    let found: Option<(String, Option<String>, String)> = facts.optional(sql, [])?;
    let (model, server, collection) = found.unwrap_or_default();
    Ok((model, server.map(|url| Chroma { url, collection })))
}

/// Returns whether the vectors are of the model, and where, that the settings require.
fn is_settled(facts: &Facts, embedder: &Embedder) -> Result<bool> {
    let (model, server) = current(facts)?;
    Ok(model == embedder.model() && server.map(|server| server.url) == facts.vector_server)
}

/// Applies a changed model or location: existing vectors are useless, and all are sent or rebuilt. A server that is no
/// longer used is asked once to remove them; if it does not, the error says so, after the change.
fn migrate(facts: &Facts, embedder: &Embedder) -> Result<()> {
    if facts.dry_run || is_settled(facts, embedder)? {
        return Ok(());
    }
    // All vectors of a collection have the same length.
    let old = current(facts)?.1;
    let removed = old.as_ref().map_or(Ok(()), Chroma::remove);
    if removed.is_err() && old.map(|old| old.url) == facts.vector_server {
        return removed;
    }
    facts.write(|| {
        let change = "UPDATE vector_index SET model = ?1, server = ?2";
        facts.run(change, params![embedder.model(), facts.vector_server])?;
        facts.run("DELETE FROM fact_vectors", [])?;
        facts.run("UPDATE facts SET embedding_id = NULL WHERE embedding_id NOT NULL", [])?;
        facts.run("DELETE FROM vector_jobs", [])?;
        let all = "SELECT json_group_array(fact_id) FROM facts \
                   WHERE status IN ('active', 'pending_confirmation')";
        enqueue(facts, &facts.value::<String>(all, [])?)
    })?;
    removed
}

/// Returns the model of the vectors in the index.
pub(crate) fn model(facts: &Facts) -> Result<String> {
    Ok(current(facts)?.0)
}

/// Writes the vector of a fact, unless the fact has changed; returns the number of facts that have the vector.
fn write_vector(facts: &Facts, fact: &Fact, model: &str, vector: &Vector) -> Result<usize> {
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
        ":dim": small.values.len(), ":scale": f64::from(small.scale), ":vector": small.values,
    };
    facts.change(sql, values)
}

/// Number of vectors requested from a server per requested fact, and at least.
const OVERFETCH: usize = 4;
const MIN_CANDIDATES: usize = 100;

/// The vector of a query.
#[derive(Default)]
pub(crate) struct QueryVector {
    /// What is compared with the vectors in the file, without numbers if all are on a server; `None` if it resembles none.
    pub(crate) vector: Option<Quantized>,
    /// The nearest facts on a server, with their similarities from -1 to 1.
    pub(crate) near: Vec<(String, f32)>,
}

/// Returns the vector of a query, after ensuring that the vectors in the index are of its model, unless nothing is written.
pub(crate) fn of_query(
    facts: &Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<QueryVector> {
    if facts.vector_server.is_some() {
        return on_server(facts, user, query, embedder);
    }
    // The built-in vectors are written with their facts; an endpoint's may be missing.
    if !embedder.is_built_in() || model(facts)? != embedder.model() {
        refresh(facts, embedder)?;
    }
    let vector = embedder.vector(&query.text)?;
    let vector = (!vector.is_zero()).then(|| vector.quantized());
    Ok(QueryVector { vector, near: Vec::new() })
}

fn on_server(
    facts: &Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<QueryVector> {
    let is_settled = is_settled(facts, embedder)?;
    let server = current(facts)?.1.filter(|_| is_settled);
    let server = server.ok_or_else(|| {
        Error::failed("the vectors are not on the Chroma server yet")
            .hint("`annals facts work` sends them")
    })?;
    let vector = embedder.vector(&query.text)?;
    if vector.is_zero() {
        return Ok(QueryVector::default());
    }
    let most = query.limit.saturating_mul(OVERFETCH).max(MIN_CANDIDATES);
    let near = server.nearest(user, query.project.as_deref(), &vector, most)?;
    Ok(QueryVector { vector: Some(Quantized::default()), near })
}

#[expect(clippy::cast_possible_truncation, reason = "the value is no more precise than an f32")]
pub(crate) fn narrowed(value: f64) -> f32 {
    value as f32
}

/// Maximum number of jobs per request.
const JOBS: u32 = 256;

/// Stores the latest job for each of these facts, a JSON array of their ids, if the vectors are on a server. It is part
/// of the transaction that changes or forgets them; a pause after a failure remains, unless a fact is forgotten.
pub(crate) fn enqueue(facts: &Facts, ids: &str) -> Result<()> {
    let sql = "INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at, wish) \
               SELECT value, coalesce(user_id, ''), \
               iif(status IN ('active', 'pending_confirmation'), 'upsert', 'delete'), '', \
               coalesce(updated_at, ''), lower(hex(randomblob(8))) \
               FROM json_each(?1) LEFT JOIN facts ON fact_id = value \
               WHERE (SELECT server FROM vector_index) NOT NULL \
               ON CONFLICT (fact_id) DO UPDATE SET user_id = excluded.user_id, \
               operation = excluded.operation, created_at = excluded.created_at, wish = excluded.wish, \
               not_before = iif(excluded.user_id = '', '', not_before)";
    facts.run(sql, [ids])
}

/// Returns the number of forgotten facts that the server may still have, and why.
pub(crate) fn forgotten(facts: &Facts) -> Result<(u64, Option<String>)> {
    let sql = "SELECT count(*), max(last_error) FROM vector_jobs WHERE user_id = ''";
    Ok(facts.optional(sql, [])?.unwrap_or_default())
}

/// Executes the jobs that are due, or of these those of forgotten facts, and returns their number; if the server fails,
/// they are retried later.
fn drain(
    facts: &Facts,
    server: &Chroma,
    embedder: &Embedder,
    only_forgotten: bool,
) -> Result<usize> {
    let mut done = 0;
    loop {
        let now = turns::now_millis(facts);
        // A later job replaces the random id.
        let sql = "SELECT fact_id, wish FROM vector_jobs WHERE not_before <= ?1 \
                   AND (user_id = '' OR NOT ?3) ORDER BY not_before, fact_id LIMIT ?2";
        let values = params![now, JOBS, only_forgotten];
        let jobs: Vec<(String, String)> = facts.list(sql, values)?;
        if jobs.is_empty() || facts.dry_run {
            return Ok(done);
        }
        let of_jobs = "(fact_id, wish) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:jobs))";
        let (ids, sent) = (json(&jobs.iter().map(|job| &job.0).collect::<Vec<_>>())?, json(&jobs)?);
        match carry_out(facts, server, embedder, &ids) {
            Ok(gone) => facts.write(|| {
                let sql = "UPDATE facts SET embedding_id = \
                           iif(fact_id IN (SELECT value FROM json_each(?2)), NULL, fact_id) \
                           WHERE fact_id IN (SELECT value FROM json_each(?1))";
                facts.run(sql, [&ids, &json(&gone)?])?;
                let sql = format!("DELETE FROM vector_jobs WHERE {of_jobs}");
                facts.run(&sql, named_params! { ":jobs": sent })
            })?,
            Err(error) => {
                // The pause doubles up to a little over an hour.
                let sql = format!(
                    "UPDATE vector_jobs SET attempts = attempts + 1, last_error = :error, not_before = \
                     strftime('%Y-%m-%dT%H:%M:%fZ', :now, (1 << min(attempts, 12)) || ' seconds') \
                     WHERE {of_jobs}"
                );
                let values =
                    named_params! { ":jobs": sent, ":now": now, ":error": error.to_string() };
                facts.write(|| facts.run(&sql, values))?;
                return Err(error);
            }
        }
        done += jobs.len();
    }
}

/// Sends the current state of these facts, which may be newer than the jobs; returns those without a vector.
fn carry_out(
    facts: &Facts,
    server: &Chroma,
    embedder: &Embedder,
    ids: &str,
) -> Result<Vec<String>> {
    let is_current = "fact_id IN (SELECT value FROM json_each(?1)) \
                      AND status IN ('active', 'pending_confirmation')";
    let current = facts.of_all_users(is_current, [ids])?;
    let vectors = of_facts(embedder, &current)?;
    // A zero vector means no known words, and has no cosine.
    let points = current.into_iter().zip(vectors).filter(|(_, vector)| !vector.is_zero());
    let points: Vec<(Fact, Vector)> = points.collect();
    let mut gone: Vec<String> = facts.column("SELECT value FROM json_each(?1)", [ids])?;
    gone.retain(|id| points.iter().all(|(fact, _)| fact.fact_id != *id));
    server.upsert(&points)?;
    server.delete(&gone)?;
    Ok(gone)
}

/// Base path of the collections in version 2 of the API, which has tenants and databases.
const BASE: &str = "/api/v2/tenants/default_tenant/databases/default_database/collections";

/// Timeout of a change, which usually runs in the background.
const CHANGED: Duration = Duration::from_secs(30);

/// A collection on a Chroma server.
struct Chroma {
    url: String,
    collection: String,
}

impl Chroma {
    fn service(&self) -> Result<Service> {
        Service::new("chroma.url", &self.url)
    }

    /// Writes vectors, replacing the facts' previous ones.
    fn upsert(&self, points: &[(Fact, Vector)]) -> Result<()> {
        if points.is_empty() {
            return Ok(());
        }
        let list = |of: fn(&(Fact, Vector)) -> Value| points.iter().map(of).collect::<Vec<Value>>();
        let change = json!({
            "ids": list(|(fact, _)| json!(fact.fact_id)),
            "embeddings": list(|(_, vector)| json!(vector.values())),
            "documents": list(|(fact, _)| json!(fact.value_text)),
            "metadatas": list(|(fact, _)| metadata(fact)),
        });
        self.ask("upsert", &change, CHANGED).map(drop)
    }

    /// Removes the vectors of facts; a missing one is not an error.
    fn delete(&self, facts: &[String]) -> Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        self.ask("delete", &json!({ "ids": facts }), CHANGED).map(drop)
    }

    /// Removes the collection.
    fn remove(&self) -> Result<()> {
        let path = format!("{BASE}/{}", self.collection);
        self.service()?.delete(&path, DEADLINE).map_err(|error| {
            let left = format!("delete its collection {} there", self.collection);
            server_failed(error).hint(left)
        })
    }

    /// Returns a user's most similar retrievable facts with their similarities, from -1 to 1.
    fn nearest(
        &self,
        user: &UserId,
        project: Option<&str>,
        vector: &Vector,
        most: usize,
    ) -> Result<Vec<(String, f32)>> {
        let conditions = [
            json!({"user_id": {"$eq": user.as_str()}}),
            json!({"status": {"$in": ["active", "pending_confirmation"]}}),
            json!({"project": {"$in": ["", project.unwrap_or_default()]}}),
        ];
        let question = json!({
            "query_embeddings": [vector.values()], "n_results": most,
            "where": {"$and": conditions}, "include": ["distances"],
        });
        let answer = self.ask("query", &question, DEADLINE)?;
        let service = self.service()?;
        read(&answer).ok_or_else(|| server_failed(service.failed("did not send a list of ids")))
    }

    fn ask(&self, what: &str, document: &Value, wait: Duration) -> Result<Value> {
        let collection = json!({
            "name": self.collection, "get_or_create": true,
            "configuration": {"hnsw": {"space": "cosine"}}, "metadata": {"schema": "1"},
        });
        let service = self.service()?;
        let made = service.post(BASE, &collection, wait).map_err(server_failed)?;
        let id = made
            .get("id")
            .and_then(Value::as_str)
            .ok_or_else(|| server_failed(service.failed("did not send a collection")))?;
        let path = format!("{BASE}/{id}/{what}");
        service.post(&path, document, wait).map_err(server_failed)
    }
}

/// Returns the fields that searches filter by, and that identify the fact to people inspecting the server.
fn metadata(fact: &Fact) -> Value {
    // Null cannot be filtered by, so a missing project or end is an empty string.
    json!({
        "fact_id": fact.fact_id, "user_id": fact.user_id, "key": fact.key,
        "category": fact.category, "status": fact.status, "confidence": fact.confidence,
        "valid_from": fact.valid_from, "valid_to": fact.valid_to.as_deref().unwrap_or_default(),
        "updated_at": fact.updated_at, "project": fact.project.as_deref().unwrap_or_default(),
    })
}

fn server_failed(error: Error) -> Error {
    let message = error.message;
    Error::failed(format!("the Chroma server {message}"))
        .hint("chroma.url names it; `chroma run` starts one")
}

/// Returns each id with its similarity from the response to a single query.
fn read(answer: &Value) -> Option<Vec<(String, f32)>> {
    let ids = answer.get("ids")?.get(0)?.as_array()?;
    let distances = answer.get("distances")?.get(0)?.as_array()?;
    let pairs = ids.iter().zip(distances);
    pairs
        .map(|(id, distance)| {
            let id = id.as_str()?.to_owned();
            Some((id, narrowed(1.0 - distance.as_f64()?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whole_or_not_at_all() {
        let answer = json!({"ids": [["a", "b"]], "distances": [[0.0, 1.5]], "metadatas": null});
        let near = read(&answer).unwrap();
        assert_eq!(near, [("a".to_owned(), 1.0), ("b".to_owned(), -0.5)]);
        for odd in [
            json!({}),
            json!([]),
            json!({"ids": [[7]], "distances": [[0.1]]}),
            json!({"ids": [["a"]], "distances": [[null]]}),
        ] {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }
}
