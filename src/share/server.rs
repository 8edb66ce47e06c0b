//! Talks to PostgreSQL; only this module opens connections to it.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, Join, ReadBuf, join, split};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};
use crate::facts::replication;
use crate::facts::replication::{Address, Cursors, Operation, PRIVATE};
use crate::project::{Project, SERVER_ADDRESS_EXAMPLE, ServerAddress};
use crate::storage::{fail_point, read};
use crate::text::{clip, shell_word, strip_controls};

/// Version of the tables that this program creates and supports.
const SCHEMA: i32 = 1;

/// The SQL that creates the tables.
const TABLES: &str = include_str!("schema.sql");

/// Maximum number of bytes that a server may send before it is ready.
const MAX_START_BYTES: usize = 1 << 20;

/// Timeout of the connection.
const QUIET: Duration = Duration::from_secs(10);

/// Additional time in which a server that enforces the timeout itself can report it.
const GRACE: Duration = Duration::from_millis(250);

/// Maximum length of a server's error message that is passed on, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// A hint that local work does not depend on the server.
const KEPT: &str = "everything stays here and is sent with the next `annals share sync`";

/// What a sync needs to start. The private scope contains the role on the server, and is `private` here.
const STATE: &str = "SELECT json_build_array(version, rolsuper OR rolbypassrls, \
       (SELECT coalesce(json_agg(json_build_array(split_part(scope, '/', 1), device, highest)), '[]') FROM annals_devices)) \
     FROM annals_meta, pg_roles WHERE rolname = current_user";

/// All active devices, and whether another device forgot something since their last pull.
const DEVICES: &str = "SELECT coalesce(json_agg(d), '[]') FROM (SELECT split_part(d.scope, '/', 1) AS scope, d.device, \
       d.member, d.highest AS operations, \
       to_char(d.pulled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS pulled_at, \
       EXISTS (SELECT 1 FROM annals_devices AS f WHERE f.scope = d.scope AND f.device <> d.device \
         AND f.forgot_at > coalesce(d.pulled_at, '-infinity')) AS is_behind_a_forget \
     FROM annals_devices AS d WHERE d.left_at IS NULL ORDER BY d.scope, d.device) AS d";

/// A JSON array of operations as rows of their table.
const SENT: &str =
    "WITH sent AS (SELECT * FROM jsonb_populate_recordset(NULL::annals_ops, $1::text::jsonb))";

const INSERT: &str = ", put AS (INSERT INTO annals_ops SELECT * FROM sent ON CONFLICT DO NOTHING RETURNING 1), \
     known AS (INSERT INTO annals_devices (scope, device, highest) \
       SELECT scope, device, max(number) FROM sent GROUP BY scope, device \
       ON CONFLICT (scope, device) DO UPDATE SET highest = greatest(annals_devices.highest, excluded.highest), \
       left_at = NULL) \
     SELECT count(*) FROM put";

/// Overwrites sent operations with what is left of them.
const REWRITE: &str = "UPDATE annals_ops AS o SET (op_id, user_id, kind, owner, subject, turn, payload) = \
       (s.op_id, s.user_id, s.kind, s.owner, s.subject, s.turn, s.payload) FROM sent AS s \
     WHERE o.scope = s.scope AND o.device = s.device AND o.number = s.number AND o.kind = 'fact'";

/// The facts that a sent tombstone reaches: those of its own scope, and those of all scopes from the private one.
const REACHED: &str = "sent.kind = 'forget' AND o.kind = 'fact' AND sent.scope IN (o.scope, 'private/' || current_user)";

/// Erases what the sent tombstones are about, by user and key, all keys if the key is null; the numbers stay.
const ERASE: &str = "UPDATE annals_ops AS o SET kind = 'erased', op_id = '', user_id = '', owner = NULL, \
       subject = NULL, turn = NULL, payload = NULL FROM sent WHERE o.owner = sent.payload ->> 'owner' \
     AND coalesce(sent.payload ->> 'subject', o.subject) = o.subject AND o.born <= (sent.payload ->> 'until')::bigint";

/// Removes the excerpt and the reason from the other facts of the same turns.
const SCRUB: &str = "UPDATE annals_ops AS o SET payload = jsonb_set(jsonb_set(jsonb_set(o.payload, \
       '{fact,source_excerpt}', '\"\"', false), '{was,source_excerpt}', '\"\"', false), '{reason}', '\"\"', false) \
     FROM sent, jsonb_array_elements_text(sent.payload -> 'turns') AS said WHERE o.turn = said";

const FORGOT: &str = "UPDATE annals_devices AS d SET forgot_at = clock_timestamp() FROM sent WHERE d.device = sent.device";

/// Operations after these addresses, each as a JSON object with its payload as text.
const FETCH: &str = "SELECT row_to_json(f)::text FROM (SELECT split_part(o.scope, '/', 1) AS scope, o.device, o.number, \
       o.op_id, o.user_id, o.clock, o.kind, o.born, o.payload::text AS payload \
     FROM jsonb_array_elements($1::text::jsonb) AS h(after), \
     LATERAL (SELECT * FROM annals_ops AS o WHERE o.scope = after ->> 0 AND o.device = after ->> 1 \
       AND o.number > (after ->> 2)::bigint ORDER BY o.number LIMIT $2) AS o LIMIT $2) AS f";

/// The values of a statement's placeholders.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A device in the server's list.
#[derive(Debug, Serialize, Deserialize)]
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

/// A connection with a timeout for each answer, since a server may accept a request and never answer. It must not be
/// used after a failed request.
pub(crate) struct SyncServer {
    runtime: Runtime,
    client: Client,
    role: String,
    wait: Duration,
    pub(crate) round_trips: u32,
}

impl SyncServer {
    /// Connects; `wait` is the timeout of each statement.
    pub(crate) fn connect(project: &Project, wait: Duration) -> Result<Self> {
        let address = find_address(project)?;
        let mut config = address.config.clone();
        config.application_name("annals");
        let host = address.host();
        let is_clear = config.get_ssl_mode() == SslMode::Disable;
        let authority = project.settings.share.ca.as_deref().filter(|_| !is_clear);
        let mut tls = MakeRustlsConnect::new(tls(authority)?);
        // A socket of the system has no name that a certificate could be of.
        let name = if is_clear { "localhost" } else { &host };
        let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, name)
            .map_err(|error| Error::usage(format!("{host} is no name for TLS: {error}")))?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::cannot("use the network"))?;
        let session = async {
            let (socket, left) = open(&host, address.port()).await?;
            let started = config.connect_raw(socket, tls).await;
            left.store(usize::MAX, Ordering::Relaxed);
            io::Result::Ok(started.map(|(client, connection)| {
                // If the connection fails, the next request returns the error.
                drop(tokio::spawn(connection));
                client
            }))
        };
        let opened = runtime.block_on(async { timeout(wait.min(QUIET), session).await });
        let cannot = |why: &str| Error::failed(format!("cannot reach {address}: {why}")).hint(KEPT);
        let failed = match opened {
            Ok(Ok(Ok(client))) => {
                let role = address.role().unwrap_or_default().to_owned();
                return Ok(Self { runtime, client, role, wait, round_trips: 0 });
            }
            Ok(Ok(Err(error))) => refused(&error, &address),
            Ok(Err(error)) => cannot(&error.to_string()),
            Err(_) => cannot("no answer in time"),
        };
        // A DNS lookup may still be running, and is not waited for.
        runtime.shutdown_background();
        Err(failed)
    }

    /// Sends a request; fails if the answer does not arrive in time.
    fn ask<'a, T, F>(
        &'a mut self,
        tried: &str,
        round_trips: u32,
        question: impl FnOnce(&'a Client) -> F,
    ) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    {
        self.round_trips += round_trips;
        let wait = self.wait + GRACE;
        let answered = self.runtime.block_on(async { timeout(wait, question(&self.client)).await });
        // The tests stop the process here: the server has answered, but nothing is recorded yet.
        if fail_point::is_reached() {
            std::process::abort();
        }
        match answered {
            Ok(answer) => answer.map_err(|error| failed(&error, tried)),
            Err(_) => Err(slow(tried)),
        }
    }

    /// Executes a statement.
    fn execute(&mut self, tried: &str, sql: &str, values: Values<'_>) -> Result<()> {
        self.ask(tried, 2, |client| client.execute(sql, values)).map(drop)
    }

    /// Runs statements without placeholders, and returns the JSON document in their first row.
    fn document<T: DeserializeOwned>(&mut self, tried: &str, sql: &str) -> Result<Option<T>> {
        let messages = self.ask(tried, 1, |client| client.simple_query(sql))?;
        let text = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        text.map(|text| read_json(text, tried)).transpose()
    }

    /// Returns the number of each device's last operation on the server, if this program knows its tables.
    pub(crate) fn state(&mut self) -> Result<Cursors> {
        let wait = self.wait.as_millis().max(1);
        let sql = format!("SET statement_timeout = {wait}; {STATE}");
        let state: Option<(i32, bool, Vec<Address>)> =
            self.document("read the server state", &sql)?;
        let (version, sees_all, highest) = state.ok_or_else(not_set_up)?;
        self.check_role(sees_all)?;
        if version == SCHEMA {
            return Ok(replication::by_device(highest));
        }
        let message = format!(
            "the server's tables have version {version}, and this annals knows version {SCHEMA}"
        );
        Err(Error::refused(message).hint(
            "use the same version of annals as the other devices; nothing was sent or received",
        ))
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
        let sql = "SELECT json_build_array(to_regclass('annals_meta') IS NOT NULL, rolsuper OR rolbypassrls) \
             FROM pg_roles WHERE rolname = current_user";
        let found: Option<(bool, bool)> = self.document("check the tables", sql)?;
        let (has_tables, sees_all) = found.unwrap_or_default();
        self.check_role(sees_all)?;
        if !has_tables {
            let sql = format!("BEGIN;\n{TABLES}\nCOMMIT;");
            self.document::<Value>("create the tables", &sql)?;
        }
        Ok(!has_tables)
    }

    /// Adds a device to its scopes.
    pub(crate) fn introduce(&mut self, device: &str, scopes: &[String]) -> Result<()> {
        let scopes: Vec<String> = scopes.iter().map(|scope| self.server_scope(scope)).collect();
        let sql = "INSERT INTO annals_devices (scope, device) SELECT scope, $2 FROM unnest($1::text[]) AS s(scope) \
             ON CONFLICT (scope, device) DO UPDATE SET left_at = NULL";
        self.execute("add this device", sql, &[&scopes, &device])
    }

    /// Returns all active devices that this role may see.
    pub(crate) fn devices(&mut self) -> Result<Vec<SharedDevice>> {
        Ok(self.document("list the devices", DEVICES)?.unwrap_or_default())
    }

    /// Records when this device did something: `pulled_at` or `left_at`.
    pub(crate) fn note(&mut self, device: &str, what: &str) -> Result<()> {
        let sql = format!("UPDATE annals_devices SET {what} = clock_timestamp() WHERE device = $1");
        self.execute("update the list of devices", &sql, &[&device])
    }

    /// Sends a batch; returns the number of operations that are new to the server.
    pub(crate) fn insert(&mut self, batch: &[Operation]) -> Result<usize> {
        let tried = "send operations";
        let (sent, sql) = (self.sent(batch)?, format!("{SENT}{INSERT}"));
        let values: Values<'_> = &[&sent];
        // The erasure is in the same transaction as the tombstone; a failure ends the connection and thereby
        // the transaction.
        let forgets = batch.iter().any(|one| one.kind == "forget");
        if forgets {
            self.execute(tried, "BEGIN", &[])?;
        }
        let row = self.ask(tried, 2, |client| client.query_one(&sql, values))?;
        if forgets {
            for what in [ERASE, SCRUB] {
                self.execute("forget", &format!("{SENT} {what} AND {REACHED}"), values)?;
            }
            self.execute("forget", &format!("{SENT} {FORGOT}"), values)?;
            self.execute(tried, "COMMIT", &[])?;
        }
        Ok(usize::try_from(row.get::<_, i64>(0)).unwrap_or(0))
    }

    /// Fetches the operations after these, sorted per device.
    pub(crate) fn fetch(&mut self, after: &[Address], limit: usize) -> Result<Vec<Operation>> {
        let after = after
            .iter()
            .map(|(scope, device, number)| json!([self.server_scope(scope), device, number]))
            .collect::<Value>()
            .to_string();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values: Values<'_> = &[&after, &limit];
        let tried = "fetch operations";
        let rows = self.ask(tried, 2, |client| client.query(FETCH, values))?;
        let batch = rows.iter().map(|row| read_json(row.get(0), tried));
        let mut batch: Vec<Operation> = batch.collect::<Result<_>>()?;
        batch.sort_by_key(Operation::address);
        Ok(batch)
    }

    /// Updates sent operations to their current local state.
    pub(crate) fn rewrite(&mut self, operations: &[Operation]) -> Result<()> {
        let sent = self.sent(operations)?;
        self.execute("forget", &format!("{SENT} {REWRITE}"), &[&sent])
    }

    /// Returns operations as a JSON array of rows of the server's table.
    fn sent(&self, operations: &[Operation]) -> Result<String> {
        let row = |one: &Operation| {
            let mut row = serde_json::to_value(one)?;
            row["scope"] = self.server_scope(&one.scope).into();
            row["payload"] =
                one.payload.as_deref().map(serde_json::from_str::<Value>).transpose()?.into();
            Ok(row)
        };
        let rows: serde_json::Result<Value> = operations.iter().map(row).collect();
        Ok(rows.map_err(Error::cannot("send an operation"))?.to_string())
    }

    /// Returns the name of a scope on the server: the private one contains the role.
    fn server_scope(&self, scope: &str) -> String {
        match scope {
            PRIVATE => format!("{PRIVATE}/{}", self.role),
            _ => scope.to_owned(),
        }
    }
}

fn read_json<T: DeserializeOwned>(text: &str, tried: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::failed(format!("cannot {tried}: {error}")).hint(KEPT))
}

type Socket = Join<Limited, Box<dyn AsyncWrite + Send + Unpin>>;

/// A stream of which only so many bytes may be read until the session has started: everything that arrives before,
/// the client library keeps in memory, notices too. Afterwards it drops notices.
struct Limited {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    left: Arc<AtomicUsize>,
}

/// Connects to a host, or to a socket of the system in a folder; returns what is left to read, too.
async fn open(host: &str, port: u16) -> io::Result<(Socket, Arc<AtomicUsize>)> {
    #[cfg(unix)]
    if host.starts_with('/') {
        return Ok(limited(UnixStream::connect(format!("{host}/.s.PGSQL.{port}")).await?));
    }
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(limited(stream))
}

fn limited(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> (Socket, Arc<AtomicUsize>) {
    let (stream, write) = split(stream);
    let left = Arc::new(AtomicUsize::new(MAX_START_BYTES));
    let read = Limited { stream: Box::new(stream), left: Arc::clone(&left) };
    (join(read, Box::new(write)), left)
}

impl AsyncRead for Limited {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        let left = self.left.load(Ordering::Relaxed).checked_sub(read);
        let left = left.ok_or_else(|| io::Error::other("it sends too much before it is ready"))?;
        self.left.store(left, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

fn tls(authority: Option<&Path>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match authority {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let pem = read::users_bytes(path)?
                .ok_or_else(|| Error::usage("there is no such file").at(path, None))?;
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
            if roots.is_empty() {
                return Err(Error::usage("is not a PEM file with a certificate").at(path, None));
            }
        }
    }
    Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

fn not_set_up() -> Error {
    Error::refused("the server is not set up for sharing").hint("annals share init")
}

/// Returns the error for a failed request.
fn failed(error: &tokio_postgres::Error, tried: &str) -> Error {
    let why = reason(error);
    match error.code() {
        Some(&SqlState::UNDEFINED_TABLE) => not_set_up(),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Error::refused(format!(
            "the role may not {tried}: {why}"
        ))
        .hint("its owner runs `annals share init`; a team's scope needs a row in annals_members"),
        Some(&SqlState::QUERY_CANCELED) => slow(tried),
        _ => Error::failed(format!("the server cannot {tried}: {why}")).hint(KEPT),
    }
}

/// Returns the error for a request that timed out.
fn slow(tried: &str) -> Error {
    Error::failed(format!("the server is too slow: cannot {tried} in time")).hint(KEPT)
}

/// Returns the error for a session that did not start.
fn refused(error: &tokio_postgres::Error, address: &ServerAddress) -> Error {
    let why = reason(error);
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            Error::refused(format!("{address} refused the role: {why}"))
                .hint("the password comes from share.url, PGPASSWORD or ~/.pgpass")
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => Error::usage(format!("{address}: {why}")),
        _ => Error::failed(format!("cannot reach {address}: {why}")).hint(KEPT),
    }
}

/// Returns the message of the server or of the connection error, on one line.
fn reason(error: &tokio_postgres::Error) -> String {
    let said = match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    };
    clip(&strip_controls(&said).replace('\n', " "), MAX_MESSAGE_CHARS).into_owned()
}

/// Returns the address in the settings with its role, database and password.
pub(crate) fn find_address(project: &Project) -> Result<ServerAddress> {
    let Some(url) = &project.settings.share.url else {
        return Err(Error::usage("no server is set").hint(
            "set share.url in your own config.toml, or ANNALS_SHARE_URL: postgres://role@host/database",
        ));
    };
    let mut address = ServerAddress::parse(url)?;
    if !address.config.get_hostaddrs().is_empty() {
        return Err(Error::usage("share.url must name a host, not a hostaddr"));
    }
    let (host, is_local) = (address.host(), address.is_local());
    let mode = address.config.get_ssl_mode();
    if !is_local && mode == SslMode::Disable {
        return Err(Error::refused(format!("{host} is another machine, which requires TLS"))
            .hint("remove sslmode from share.url; share.ca names your own authority"));
    }
    let environment = &project.environment;
    let role =
        address.role().or(environment.get("PGUSER")).or(environment.get("USER")).map(str::to_owned);
    let role =
        role.ok_or_else(|| Error::usage("share.url names no role").hint(SERVER_ADDRESS_EXAMPLE))?;
    let database = address.config.get_dbname().unwrap_or(&role).to_owned();
    if address.config.get_password().is_none() {
        let port = address.port().to_string();
        if let Some(password) = password(project, [&host, &port, &database, &role])? {
            address.config.password(password);
        }
    }
    // Whoever listens there first would be sent the password; nobody else can listen at a socket of the system.
    let is_clear = is_local && mode != SslMode::Require;
    let is_allowed = mode == SslMode::Disable || host.starts_with('/');
    if is_clear && !is_allowed && address.config.get_password().is_some() {
        return Err(Error::refused(format!("the password would go to {host} in clear"))
            .hint("add ?sslmode=disable to share.url to allow that, or ?sslmode=require for TLS"));
    }
    address.config.ssl_mode(if is_clear { SslMode::Disable } else { SslMode::Require });
    address.config.user(role).dbname(database);
    Ok(address)
}

/// Returns the password: `PGPASSWORD`, else that of the line of `.pgpass` for this host, port, database and role.
fn password(project: &Project, entry: [&str; 4]) -> Result<Option<String>> {
    let environment = &project.environment;
    if let Some(password) = environment.get("PGPASSWORD") {
        return Ok(Some(password.to_owned()));
    }
    let Some(path) = environment
        .get("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| environment.home().map(|home| home.join(".pgpass")))
    else {
        return Ok(None);
    };
    let bytes = read::users_bytes(&path)?.unwrap_or_default();
    let lines = String::from_utf8_lossy(&bytes);
    let password = lines.lines().find_map(|line| password_in_line(line, entry));
    #[cfg(unix)]
    if password.is_some() {
        use std::os::unix::fs::PermissionsExt;

        let mode = std::fs::metadata(&path).map_or(0, |found| found.permissions().mode());
        if mode & 0o077 != 0 {
            return Err(Error::refused("other users can read this password file")
                .at(&path, None)
                .hint(format!("chmod 600 {}", shell_word(&path.to_string_lossy()))));
        }
    }
    Ok(password)
}

/// Returns the password of a line `host:port:database:role:password` that matches the connection.
fn password_in_line(line: &str, entry: [&str; 4]) -> Option<String> {
    // Escaped characters separate nothing.
    let line = line.replace("\\\\", "\0").replace("\\:", "\u{1}");
    let plain = |field: &str| field.replace('\u{1}', ":").replace('\0', "\\");
    let mut fields = line.splitn(5, ':').map(plain);
    let is_meant =
        entry.iter().all(|value| fields.next().is_some_and(|one| one == "*" || one == *value));
    fields.next().filter(|_| is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: [&str; 4] = ["db.example.com", "5432", "annals", "ada"];

    #[test]
    fn a_line_of_pgpass_fits_by_value_or_star_and_may_escape() {
        let found = |line| password_in_line(line, ENTRY);
        assert_eq!(found("db.example.com:5432:annals:ada:secret").as_deref(), Some("secret"));
        assert_eq!(found("*:*:*:ada:a\\:b\\\\c:d").as_deref(), Some("a:b\\c:d"));
        assert_eq!(found("*:5433:*:ada:x"), None);
        assert_eq!(found("# *:*:*:*:x"), None);
        assert_eq!(found("*:*:ada:x"), None);
    }
}
