//! Stores the vectors on a Chroma server, in one collection per database, with values and filter fields.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::facts::{Fact, Sql, UserId};
use crate::search::Vector;
use crate::service::Service;

/// Base path of the collections in version 2 of the API, which has tenants and databases.
const BASE: &str = "/api/v2/tenants/default_tenant/databases/default_database/collections";

/// Timeout of a query, after which the search is lexical only.
const ASKED: Duration = Duration::from_millis(1500);

/// Timeout of a change, which usually runs in the background.
const CHANGED: Duration = Duration::from_secs(30);

/// A collection on a Chroma server.
#[derive(Debug)]
pub(crate) struct Chroma {
    service: Service,
    collection: String,
}

/// A fact with its vector.
pub(crate) struct Point {
    pub(crate) fact: Fact,
    pub(crate) vector: Vector,
}

impl Chroma {
    /// Returns the collection in which the database keeps its vectors, or `None` if they are in the file.
    pub(crate) fn from_database(connection: &Connection) -> Result<Option<Self>> {
        let sql = "SELECT server, collection FROM vector_index";
        let found: Option<(Option<String>, String)> = connection.optional(sql, [])?;
        let (server, collection) = found.unwrap_or_default();
        let Some(server) = server else {
            return Ok(None);
        };
        Ok(Some(Self { service: Service::new("chroma.url", &server)?, collection }))
    }

    /// Writes vectors, replacing the facts' previous ones.
    pub(crate) fn upsert(&self, points: &[Point]) -> Result<()> {
        if points.is_empty() {
            return Ok(());
        }
        let list = |of: fn(&Point) -> Value| points.iter().map(of).collect::<Vec<Value>>();
        let change = json!({
            "ids": list(|point| json!(point.fact.fact_id)),
            "embeddings": list(|point| json!(point.vector.values())),
            "documents": list(|point| json!(point.fact.value_text)),
            "metadatas": list(|point| metadata(&point.fact)),
        });
        self.ask("upsert", &change, CHANGED).map(|_| ())
    }

    /// Removes the vectors of facts; a missing one is not an error.
    pub(crate) fn delete(&self, facts: &[String]) -> Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        self.ask("delete", &json!({ "ids": facts }), CHANGED).map(|_| ())
    }

    /// Removes the collection.
    pub(crate) fn remove(&self) -> Result<()> {
        let path = format!("{BASE}/{}", self.collection);
        self.service.delete(&path, ASKED).map_err(|error| {
            let left = format!("delete its collection {} there", self.collection);
            server_failed(error).hint(left)
        })
    }

    /// Returns a user's most similar retrievable facts with their similarities, from -1 to 1.
    pub(crate) fn nearest(
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
        let answer = self.ask("query", &question, ASKED)?;
        read(&answer)
            .ok_or_else(|| server_failed(self.service.failed("did not send a list of ids")))
    }

    fn ask(&self, what: &str, document: &Value, wait: Duration) -> Result<Value> {
        let collection = json!({
            "name": self.collection, "get_or_create": true,
            "configuration": {"hnsw": {"space": "cosine"}}, "metadata": {"schema": "1"},
        });
        let made = self.service.post(BASE, &collection, wait).map_err(server_failed)?;
        let id = made
            .get("id")
            .and_then(Value::as_str)
            .ok_or_else(|| server_failed(self.service.failed("did not send a collection")))?;
        let path = format!("{BASE}/{id}/{what}");
        self.service.post(&path, document, wait).map_err(server_failed)
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
            Some((id, similarity(distance.as_f64()?)))
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a cosine is no more precise than its vectors")]
fn similarity(distance: f64) -> f32 {
    (1.0 - distance) as f32
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
