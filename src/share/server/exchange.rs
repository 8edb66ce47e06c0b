//! Sends and fetches operations in atomic batches.

use tokio_postgres::Row;

use crate::error::Result;
use crate::facts::replication::{
    DeviceOperation, OperationAddress, OperationKind, Received, Tombstone,
};
use crate::share::server::{SyncServer, Values};

const INSERT: &str = "WITH put AS (INSERT INTO annals_ops \
       (scope, device, number, op_id, user_id, clock, kind, born, owner, subject, turn, payload) \
     SELECT s, d, n, o, u, c, k, b, w, j, t, p::jsonb FROM unnest($1::text[], $2::text[], $3::bigint[], \
       $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[], \
       $12::text[]) AS x(s, d, n, o, u, c, k, b, w, j, t, p) \
     ON CONFLICT (scope, device, number) DO NOTHING RETURNING 1), \
     known AS (INSERT INTO annals_devices (scope, device, highest) \
       SELECT s, d, max(n) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS x(s, d, n) GROUP BY s, d \
       ON CONFLICT (scope, device) DO UPDATE SET highest = greatest(annals_devices.highest, excluded.highest), \
       left_at = NULL) \
     SELECT count(*) FROM put";

const FETCH: &str = "SELECT o.scope, o.device, o.number, o.op_id, o.user_id, o.clock, o.kind, o.born, o.payload::text \
     FROM unnest($1::text[], $2::text[], $3::bigint[]) AS h(scope, device, number), \
     LATERAL (SELECT * FROM annals_ops AS o WHERE o.scope = h.scope AND o.device = h.device \
       AND o.number > h.number ORDER BY o.number LIMIT $4) AS o LIMIT $4";

/// Erases facts by user and key; all keys if the key is null.
const FORGET: &str = "UPDATE annals_ops SET kind = 'erased', op_id = '', user_id = '', owner = NULL, \
     subject = NULL, turn = NULL, payload = NULL \
     WHERE kind = 'fact' AND owner = $1 AND ($2::text IS NULL OR subject = $2) AND born <= $3";

/// Removes the excerpt and the reason from the other facts of the same turns.
const SCRUB: &str = "UPDATE annals_ops SET payload = jsonb_set(jsonb_set(jsonb_set(payload, \
       '{fact,source_excerpt}', '\"\"', false), '{was,source_excerpt}', '\"\"', false), '{reason}', '\"\"', false) \
     WHERE kind = 'fact' AND turn = ANY($1)";

/// Overwrites sent operations with their remaining payload, or erases them if they have none.
const REWRITE: &str = "UPDATE annals_ops AS o SET payload = x.p::jsonb, \
     kind = CASE WHEN x.p IS NULL THEN 'erased' ELSE o.kind END, \
     op_id = CASE WHEN x.p IS NULL THEN '' ELSE o.op_id END, \
     user_id = CASE WHEN x.p IS NULL THEN '' ELSE o.user_id END, \
     owner = CASE WHEN x.p IS NOT NULL THEN o.owner END, \
     subject = CASE WHEN x.p IS NOT NULL THEN o.subject END, \
     turn = CASE WHEN x.p IS NOT NULL THEN o.turn END \
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS x(s, d, n, p) \
     WHERE o.scope = x.s AND o.device = x.d AND o.number = x.n AND o.kind = 'fact'";

impl SyncServer {
    /// Sends a batch; returns the number of operations that are new to the server.
    pub(crate) fn insert(
        &mut self,
        batch: &[DeviceOperation],
        tombstones: &[Tombstone],
    ) -> Result<u64> {
        let scopes = self.server_scopes(batch.iter().map(|one| &one.scope));
        if tombstones.is_empty() {
            return self.insert_batch(batch, &scopes);
        }
        // The erasure is in the same transaction as the tombstone; a failure ends the connection and thereby
        // the transaction.
        self.execute("begin", "BEGIN", &[])?;
        let new = self.insert_batch(batch, &scopes)?;
        for tombstone in tombstones {
            let erased: Values<'_> = &[&tombstone.owner, &tombstone.subject, &tombstone.until];
            self.execute("forget", FORGET, erased)?;
            self.execute("forget", SCRUB, &[&tombstone.turns])?;
        }
        let device = batch.first().map(|one| one.device.as_str());
        let sql = "UPDATE annals_devices SET forgot_at = clock_timestamp() WHERE device = $1";
        self.execute("forget", sql, &[&device])?;
        self.execute("send operations", "COMMIT", &[])?;
        Ok(new)
    }

    /// Fetches the operations after these numbers, sorted per device.
    pub(crate) fn fetch(
        &mut self,
        after: &[OperationAddress],
        limit: i64,
    ) -> Result<Vec<Received>> {
        let scopes = self.server_scopes(after.iter().map(|one| &one.scope));
        let devices: Vec<&str> = after.iter().map(|one| one.device.as_str()).collect();
        let numbers: Vec<i64> = after.iter().map(|one| one.number).collect();
        self.round_trips += 2;
        let places: Values<'_> = &[&scopes, &devices, &numbers, &limit];
        let rows = self.connection.ask("fetch operations", |client| client.query(FETCH, places))?;
        let mut batch: Vec<Received> = rows.iter().map(received).collect();
        batch.sort_by(|a, b| (&a.scope, &a.device, a.number).cmp(&(&b.scope, &b.device, b.number)));
        Ok(batch)
    }

    /// Updates sent operations to their current local state.
    pub(crate) fn rewrite(&mut self, operations: &[DeviceOperation]) -> Result<()> {
        let scopes = self.server_scopes(operations.iter().map(|one| &one.scope));
        let devices: Vec<&str> = operations.iter().map(|one| one.device.as_str()).collect();
        let numbers: Vec<i64> = operations.iter().map(|one| one.number).collect();
        // An operation that is no longer a fact has no payload.
        let payloads: Vec<Option<&str>> = operations
            .iter()
            .map(|one| one.payload.as_deref().filter(|_| one.kind == OperationKind::Fact))
            .collect();
        let changed: Values<'_> = &[&scopes, &devices, &numbers, &payloads];
        self.execute("forget", REWRITE, changed).map(|_| ())
    }

    fn insert_batch(&mut self, batch: &[DeviceOperation], scopes: &[String]) -> Result<u64> {
        let column =
            |of: fn(&DeviceOperation) -> &str| -> Vec<&str> { batch.iter().map(of).collect() };
        let optional = |of: fn(&DeviceOperation) -> &Option<String>| -> Vec<Option<&str>> {
            batch.iter().map(|one| of(one).as_deref()).collect()
        };
        let numbers: Vec<i64> = batch.iter().map(|one| one.number).collect();
        let clocks: Vec<i64> = batch.iter().map(|one| one.clock).collect();
        let births: Vec<Option<i64>> = batch.iter().map(|one| one.born).collect();
        let columns: Values<'_> = &[
            &scopes,
            &column(|one| &one.device),
            &numbers,
            &column(|one| &one.op_id),
            &column(|one| &one.user_id),
            &clocks,
            &column(|one| one.kind.as_str()),
            &births,
            &optional(|one| &one.owner),
            &optional(|one| &one.subject),
            &optional(|one| &one.turn),
            &optional(|one| &one.payload),
        ];
        self.round_trips += 2;
        let row =
            self.connection.ask("send operations", |client| client.query_one(INSERT, columns))?;
        let new: i64 = row.get(0);
        Ok(new.unsigned_abs())
    }
}

fn received(row: &Row) -> Received {
    Received {
        scope: SyncServer::local_scope(row.get(0)),
        device: row.get(1),
        number: row.get(2),
        op_id: row.get(3),
        user_id: row.get(4),
        clock: row.get(5),
        kind: row.get(6),
        born: row.get(7),
        payload: row.get(8),
    }
}
