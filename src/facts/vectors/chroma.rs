//! A Chroma server as the index: one collection a database, with each fact's vector, value and what is filtered by.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;

use crate::embedding::Vector;
use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::scope::ProjectScope;
use crate::facts::user::UserId;
use crate::service::Service;

/// Below it stand the collections; version 2 of the API, which has tenants and databases.
const BASE: &str = "/api/v2/tenants/default_tenant/databases/default_database/collections";

/// How long a question may take before words have to do.
const ASKED: Duration = Duration::from_millis(1500);

/// How long a change may take, for which nobody waits.
const CHANGED: Duration = Duration::from_secs(30);

/// One collection of a Chroma server.
#[derive(Debug)]
pub(crate) struct Chroma {
    service: Service,
    collection: String,
}

/// A fact and its vector.
pub(crate) struct Point {
    pub(crate) fact: Fact,
    pub(crate) vector: Vector,
}

impl Chroma {
    /// Returns the server and collection that the database says its vectors are in, or `None` if they are in it.
    pub(crate) fn from_database(connection: &Connection) -> Result<Option<Self>> {
        let sql = "SELECT server, collection FROM vector_index";
        let (server, collection): (Option<String>, String) =
            connection.row("read where the vectors are", sql, [], |row| row.try_into())?;
        let Some(server) = server else {
            return Ok(None);
        };
        Self::at(&server, &collection).map(Some)
    }

    /// Returns a collection of the server at an address.
    pub(crate) fn at(server: &str, collection: &str) -> Result<Self> {
        Ok(Self {
            service: Service::new("chroma.url", server)?,
            collection: collection.to_owned(),
        })
    }

    /// Returns the address of the server.
    pub(crate) fn url(&self) -> &str {
        self.service.url()
    }

    /// Returns the name of the collection.
    pub(crate) fn collection(&self) -> &str {
        &self.collection
    }

    /// Writes vectors, in the place of those that the facts had.
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

    /// Removes the vectors of facts; one that is not there is no error.
    pub(crate) fn delete(&self, facts: &[&str]) -> Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        self.ask("delete", &json!({ "ids": facts }), CHANGED)
            .map(|_| ())
    }

    /// Removes the collection.
    pub(crate) fn remove(&self) -> Result<()> {
        let path = format!("{BASE}/{}", self.collection);
        self.service.delete(&path, CHANGED).map_err(server_failed)
    }

    /// Returns a user's nearest facts that may be found, and how near each is, from -1 to 1.
    pub(crate) fn nearest(
        &self,
        user: &UserId,
        scope: &ProjectScope,
        vector: &Vector,
        most: usize,
    ) -> Result<Vec<(String, f32)>> {
        let mut conditions = vec![
            json!({"user_id": {"$eq": user.as_str()}}),
            json!({"status": {"$in": ["active", "pending_confirmation"]}}),
        ];
        match scope {
            ProjectScope::All => {}
            ProjectScope::General => conditions.push(json!({"project": {"$eq": ""}})),
            ProjectScope::Project(name) => conditions.push(json!({"project": {"$in": ["", name]}})),
        }
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
        let made = self
            .service
            .post(BASE, &collection, wait)
            .map_err(server_failed)?;
        let id = made
            .get("id")
            .and_then(Value::as_str)
            .ok_or_else(|| server_failed(self.service.failed("did not send a collection")))?;
        let path = format!("{BASE}/{id}/{what}");
        self.service
            .post(&path, document, wait)
            .map_err(server_failed)
    }
}

/// What a search filters by, and what a person who looks at the server sees.
fn metadata(fact: &Fact) -> Value {
    // A null cannot be filtered by; no project and no end have an empty name.
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

/// Each id with its distance, of the one question that was asked.
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

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cosine needs no more digits than its vectors have"
)]
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
