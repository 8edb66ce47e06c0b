//! Reads and sets up the tables on the server: their version, the devices, and how far each is.

use std::collections::BTreeMap;

use serde::Serialize;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow};

use crate::error::{Error, Result};
use crate::share::server::{SCHEMA, SyncServer};

/// The SQL that creates the tables.
const TABLES: &str = include_str!("schema.sql");

/// Query for all active devices, and whether another device forgot something since their last pull.
const DEVICES: &str = "SELECT d.scope, d.device, d.member, d.highest, \
     to_char(d.pulled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), \
     EXISTS (SELECT 1 FROM annals_devices AS f WHERE f.scope = d.scope AND f.device <> d.device \
       AND f.forgot_at > coalesce(d.pulled_at, '-infinity')) \
     FROM annals_devices AS d WHERE d.left_at IS NULL ORDER BY d.scope, d.device";

/// The state of the server, by scope and device.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerState {
    /// The number of each device's last operation.
    pub(crate) highest: BTreeMap<(String, String), i64>,
}

/// A device in the server's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedDevice {
    /// The scope.
    pub scope: String,
    /// The device.
    pub device: String,
    /// The role that owns it.
    pub member: String,
    /// Number of operations it sent.
    pub operations: i64,
    /// The time of its last pull.
    pub pulled_at: Option<String>,
    /// Whether facts were forgotten since then, which the device may still have.
    pub is_behind_a_forget: bool,
}

impl SyncServer {
    /// Queries all that a sync needs to start, in one round trip: the version, and how far each device is.
    pub(crate) fn state(&mut self) -> Result<ServerState> {
        let wait = self.wait.as_millis().max(1);
        self.round_trips += 1;
        let sql = format!(
            "SET statement_timeout = {wait}; \
             SELECT m.version, r.rolsuper OR r.rolbypassrls, d.scope, d.device, d.highest \
             FROM annals_meta AS m JOIN pg_roles AS r ON r.rolname = current_user \
             LEFT JOIN annals_devices AS d ON true"
        );
        let messages =
            self.connection.ask("read the server state", |client| client.simple_query(&sql))?;
        let mut state = ServerState::default();
        let (mut version, mut sees_all) = (None, false);
        for row in rows(&messages) {
            version = row.get(0).and_then(|text| text.parse::<i32>().ok());
            sees_all |= row.get(1) == Some("t");
            if let (Some(scope), Some(device), Some(highest)) = (row.get(2), row.get(3), row.get(4))
            {
                let highest = highest.parse().unwrap_or(0);
                state.highest.insert((Self::local_scope(scope), device.to_owned()), highest);
            }
        }
        check_version(version)?;
        self.check_role(sees_all)?;
        Ok(state)
    }

    fn check_role(&self, sees_all: bool) -> Result<()> {
        if !sees_all {
            return Ok(());
        }
        Err(Error::refused(format!(
            "the role {} bypasses row-level security, so it could read and change the data of other roles",
            self.role
        ))
        .hint("name a role in share.url that is not a superuser and does not have BYPASSRLS"))
    }

    /// Creates the tables if they are missing, and returns whether they were.
    pub(crate) fn set_up(&mut self) -> Result<bool> {
        self.round_trips += 1;
        let sql = "SELECT to_regclass('annals_meta') IS NOT NULL, rolsuper OR rolbypassrls \
             FROM pg_roles WHERE rolname = current_user";
        let found = self.connection.ask("check the tables", |client| client.simple_query(sql))?;
        self.check_role(rows(&found).any(|row| row.get(1) == Some("t")))?;
        let is_there = rows(&found).any(|row| row.get(0) == Some("t"));
        if !is_there {
            self.round_trips += 1;
            let tables = format!("BEGIN;\n{TABLES}\nCOMMIT;");
            self.connection.ask("create the tables", |client| client.batch_execute(&tables))?;
        }
        Ok(!is_there)
    }

    /// Adds a device to its scopes.
    pub(crate) fn introduce(&mut self, device: &str, scopes: &[String]) -> Result<()> {
        let scopes = self.server_scopes(scopes);
        let sql = "INSERT INTO annals_devices (scope, device) SELECT scope, $2 FROM unnest($1::text[]) AS s(scope) \
             ON CONFLICT (scope, device) DO UPDATE SET left_at = NULL";
        self.execute("add this device", sql, &[&scopes, &device]).map(|_| ())
    }

    /// Returns all active devices that this role may see.
    pub(crate) fn devices(&mut self) -> Result<Vec<SharedDevice>> {
        self.round_trips += 1;
        let messages =
            self.connection.ask("list the devices", |client| client.simple_query(DEVICES))?;
        let text = |row: &SimpleQueryRow, at: usize| row.get(at).unwrap_or_default().to_owned();
        let device = |row: &SimpleQueryRow| SharedDevice {
            scope: Self::local_scope(&text(row, 0)),
            device: text(row, 1),
            member: text(row, 2),
            operations: text(row, 3).parse().unwrap_or(0),
            pulled_at: row.get(4).map(str::to_owned),
            is_behind_a_forget: row.get(5) == Some("t"),
        };
        Ok(rows(&messages).map(device).collect())
    }

    /// Records the time at which this device last pulled operations.
    pub(crate) fn note_pull(&mut self, device: &str) -> Result<()> {
        let sql = "UPDATE annals_devices SET pulled_at = clock_timestamp() WHERE device = $1";
        self.execute("note the pull", sql, &[&device]).map(|_| ())
    }

    /// Erases what this device sent, but keeps the numbers.
    pub(crate) fn erase_device(&mut self, device: &str) -> Result<u64> {
        let sql = "UPDATE annals_ops SET kind = 'erased', op_id = '', user_id = '', owner = NULL, subject = NULL, \
             turn = NULL, payload = NULL WHERE device = $1 AND kind <> 'erased'";
        self.execute("erase the operations of this device", sql, &[&device])
    }

    /// Removes a device from the active ones.
    pub(crate) fn remove_device(&mut self, device: &str) -> Result<()> {
        let sql = "UPDATE annals_devices SET left_at = clock_timestamp() WHERE device = $1";
        self.execute("remove this device", sql, &[&device]).map(|_| ())
    }
}

fn rows(messages: &[SimpleQueryMessage]) -> impl Iterator<Item = &SimpleQueryRow> {
    messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}

fn check_version(version: Option<i32>) -> Result<()> {
    match version {
        Some(SCHEMA) => Ok(()),
        None => {
            Err(Error::refused("the server is not set up for sharing").hint("annals share init"))
        }
        Some(other) => Err(Error::refused(format!(
            "the server's tables have version {other}, and this annals knows version {SCHEMA}"
        ))
        .hint("use the same version of annals as the other devices; nothing was sent or received")),
    }
}
