//! Keeps the vectors that the encoder makes of facts, so that it reads each fact once.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::Sql;
use crate::facts::vectors::narrowed;
use crate::search::{ENCODER_ID, Encoder, Quantized, ReadText, passage_vectors};

/// Returns the vectors of facts by the encoder, given by row, and keeps the new ones in the running transaction. If the
/// database cannot be written now, they are made again.
pub(crate) fn encoded(
    connection: &Connection,
    encoder: &Encoder,
    texts: &[(i64, &ReadText)],
) -> Vec<Quantized> {
    // The table is made when it is first needed.
    let known: Vec<Option<Quantized>> =
        texts.iter().map(|(row, _)| find(connection, *row).ok().flatten()).collect();
    let new = texts.iter().zip(&known).filter(|(_, known)| known.is_none());
    let (rows, new): (Vec<i64>, Vec<&ReadText>) = new.map(|(text, _)| *text).unzip();
    let made = passage_vectors(encoder, &new);
    let _is_kept = new.is_empty() || keep(connection, &rows, &made).is_ok();
    let mut made = made.into_iter();
    known.into_iter().map(|known| known.or_else(|| made.next()).unwrap_or_default()).collect()
}

fn find(connection: &Connection, row: i64) -> Result<Option<Quantized>> {
    let sql = "SELECT scale, vectors FROM fact_encodings WHERE seq = ?1 AND encoder = ?2";
    let found: Option<(f64, Vec<u8>)> = connection.optional(sql, params![row, ENCODER_ID])?;
    Ok(found.map(|(scale, values)| Quantized { scale: narrowed(scale), values }))
}

fn keep(connection: &Connection, rows: &[i64], made: &[Quantized]) -> Result<()> {
    // A search waits for nobody who writes.
    let wait = connection.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
    connection.busy_timeout(Duration::ZERO)?;
    let write = || {
        connection.execute_batch(include_str!("encoded.sql"))?;
        let sql = "INSERT OR REPLACE INTO fact_encodings VALUES (?1, ?2, ?3, ?4)";
        rows.iter().zip(made).try_for_each(|(row, made)| {
            connection.run(sql, params![row, ENCODER_ID, f64::from(made.scale), made.values])
        })
    };
    let written = write();
    connection.busy_timeout(Duration::from_millis(wait))?;
    written
}

#[cfg(test)]
mod tests {
    use crate::clock::Clock;
    use crate::facts::{
        FactQuery, Facts, Method, ProjectScope, Selection, Sql, Statement, UserId, add, forget,
        retrieve,
    };
    use crate::search::Embedder;

    fn search(facts: &mut Facts, user: &UserId) -> Vec<(String, Option<f64>)> {
        let query = FactQuery {
            text: "which city is home".to_owned(),
            limit: 5,
            scope: ProjectScope::All,
            method: Method::Fused,
            selection: Selection::Relevant,
            uses_encoder: true,
        };
        let hits = retrieve(facts, user, &query, &Embedder::BuiltIn).unwrap().hits;
        hits.into_iter().map(|hit| (hit.fact.value_text, hit.components.encoder_cosine)).collect()
    }

    fn kept(facts: &Facts) -> Vec<Vec<u8>> {
        let sql = "SELECT vectors FROM fact_encodings ORDER BY seq";
        facts.connection().column(sql, []).unwrap()
    }

    #[test]
    fn the_encoder_reads_a_fact_once_and_again_when_it_has_changed() {
        let ada = UserId::new("ada").unwrap();
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let state = |facts: &mut Facts, value: &str| {
            let (key, value) = ("city".to_owned(), value.to_owned());
            add(facts, &ada, &Statement { key, value, ..Statement::default() }).unwrap();
        };
        state(&mut facts, "Turin is home");
        let found = search(&mut facts, &ada);
        assert!(found[0].1.is_some());
        let first = kept(&facts);
        assert_eq!(first.len(), 1);
        assert_eq!((search(&mut facts, &ada), kept(&facts)), (found, first.clone()));
        // What is kept is what is used.
        facts.connection().execute("UPDATE fact_encodings SET scale = 0", []).unwrap();
        assert_eq!(search(&mut facts, &ada)[0].1, Some(0.0));
        state(&mut facts, "Turin is home, near the river");
        assert_eq!(kept(&facts).len(), 0);
        search(&mut facts, &ada);
        assert_ne!(kept(&facts), first);
        forget(&mut facts, &ada, Some("city"), "asked").unwrap();
        assert_eq!(kept(&facts).len(), 0);
    }
}
