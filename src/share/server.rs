//! Talks to PostgreSQL; only this module opens connections to it.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};
use crate::facts::json;
use crate::facts::replication::{Address, Operation, PRIVATE, Tombstone};
use crate::project::{Project, ServerAddress};
use crate::storage::{fail_point, read};
use crate::text::{clip, strip_controls};

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

/// Query for all active devices, and whether another device forgot something since their last pull.
const DEVICES: &str = "SELECT d.scope, d.device, d.member, d.highest, \
     to_char(d.pulled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), \
     EXISTS (SELECT 1 FROM annals_devices AS f WHERE f.scope = d.scope AND f.device <> d.device \
       AND f.forgot_at > coalesce(d.pulled_at, '-infinity')) \
     FROM annals_devices AS d WHERE d.left_at IS NULL ORDER BY d.scope, d.device";

/// Operations as a JSON array.
const OPERATIONS: &str = "jsonb_to_recordset($1::text::jsonb) AS x(scope text, device text, number bigint, \
     op_id text, user_id text, clock bigint, kind text, born bigint, owner text, subject text, turn text, payload text)";

const INSERT: &str = "put AS (INSERT INTO annals_ops \
       (scope, device, number, op_id, user_id, clock, kind, born, owner, subject, turn, payload) \
     SELECT scope, device, number, op_id, user_id, clock, kind, born, owner, subject, turn, payload::jsonb FROM sent \
     ON CONFLICT (scope, device, number) DO NOTHING RETURNING 1), \
     known AS (INSERT INTO annals_devices (scope, device, highest) \
       SELECT scope, device, max(number) FROM sent GROUP BY scope, device \
       ON CONFLICT (scope, device) DO UPDATE SET highest = greatest(annals_devices.highest, excluded.highest), \
       left_at = NULL) \
     SELECT count(*) FROM put";

/// Operations after these addresses, each as a JSON object.
const FETCH: &str = "SELECT row_to_json(f)::text FROM (SELECT o.scope, o.device, o.number, o.op_id, o.user_id, \
       o.clock, o.kind, o.born, o.payload::text AS payload FROM jsonb_array_elements($1::text::jsonb) AS h(after), \
     LATERAL (SELECT * FROM annals_ops AS o WHERE o.scope = after ->> 0 AND o.device = after ->> 1 \
       AND o.number > (after ->> 2)::bigint ORDER BY o.number LIMIT $2) AS o LIMIT $2) AS f";

/// Erases operations, but keeps their numbers.
const ERASE: &str = "UPDATE annals_ops SET kind = 'erased', op_id = '', user_id = '', owner = NULL, \
     subject = NULL, turn = NULL, payload = NULL WHERE";

/// Facts by user and key; all keys if the key is null.
const FORGOTTEN: &str =
    "kind = 'fact' AND owner = $1 AND ($2::text IS NULL OR subject = $2) AND born <= $3";

/// Removes the excerpt and the reason from the other facts of the same turns.
const SCRUB: &str = "UPDATE annals_ops SET payload = jsonb_set(jsonb_set(jsonb_set(payload, \
       '{fact,source_excerpt}', '\"\"', false), '{was,source_excerpt}', '\"\"', false), '{reason}', '\"\"', false) \
     WHERE kind = 'fact' AND turn = ANY($1)";

/// Overwrites sent operations with their remaining payload.
const REWRITE: &str = "UPDATE annals_ops AS o SET payload = sent.payload::jsonb FROM sent \
     WHERE o.scope = sent.scope AND o.device = sent.device AND o.number = sent.number AND o.kind = 'fact' \
     AND sent.payload IS NOT NULL";

/// Selects sent operations without a payload.
const GONE: &str = "kind = 'fact' AND (scope, device, number) IN \
     (SELECT scope, device, number FROM sent WHERE payload IS NULL)";

/// The values of a statement's placeholders.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The number of each device's last operation on the server, by scope and device.
pub(crate) type Highest = BTreeMap<(String, String), i64>;

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
    pub(crate) fn connect(
        project: &Project,
        address: &ServerAddress,
        wait: Duration,
    ) -> Result<Self> {
        let mut config = address.config.clone();
        config.application_name("annals");
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(tls(project)?),
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::failed(format!("cannot use the network: {error}")))?;
        let host = address.host();
        let opened = runtime.block_on(async {
            timeout(wait.min(QUIET), async {
                let socket = Socket::open(&host, address.port()).await?;
                let client = match tls {
                    Some(mut tls) => {
                        let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, &host);
                        start(&config, socket, tls.map_err(io::Error::other)?).await
                    }
                    None => start(&config, socket, NoTls).await,
                };
                Ok::<_, io::Error>(client)
            })
            .await
        });
        let shown = address.to_string();
        let failed = match opened {
            Ok(Ok(Ok(client))) => {
                let role = address.role().unwrap_or_default().to_owned();
                return Ok(Self { runtime, client, role, wait, round_trips: 0 });
            }
            Ok(Ok(Err(error))) => unreachable(&error, &shown),
            Ok(Err(error)) => Error::failed(format!("cannot reach {shown}: {error}")).hint(KEPT),
            Err(_) => Error::failed(format!("cannot reach {shown}: no answer in time")).hint(KEPT),
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

    /// Executes a statement, and returns the number of affected rows.
    fn execute(&mut self, tried: &str, sql: &str, values: Values<'_>) -> Result<u64> {
        self.ask(tried, 2, |client| client.execute(sql, values))
    }

    /// Runs a statement without placeholders, and returns its rows.
    fn rows(&mut self, tried: &str, sql: &str) -> Result<Vec<SimpleQueryRow>> {
        let messages = self.ask(tried, 1, |client| client.simple_query(sql))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Queries all that a sync needs to start, in one round trip: the version, and how far each device is.
    pub(crate) fn state(&mut self) -> Result<Highest> {
        let wait = self.wait.as_millis().max(1);
        let sql = format!(
            "SET statement_timeout = {wait}; \
             SELECT m.version, r.rolsuper OR r.rolbypassrls, d.scope, d.device, d.highest \
             FROM annals_meta AS m JOIN pg_roles AS r ON r.rolname = current_user \
             LEFT JOIN annals_devices AS d ON true"
        );
        let mut highest = Highest::new();
        let mut version = None;
        for row in self.rows("read the server state", &sql)? {
            self.check_role(row.get(1))?;
            version = row.get(0).and_then(|text| text.parse::<i32>().ok());
            if let (Some(scope), Some(device), Some(number)) = (row.get(2), row.get(3), row.get(4))
            {
                let number = number.parse().unwrap_or(0);
                highest.insert((local_scope(scope), device.to_owned()), number);
            }
        }
        match version {
            Some(SCHEMA) => Ok(highest),
            None => Err(not_set_up()),
            Some(other) => Err(Error::refused(format!(
                "the server's tables have version {other}, and this annals knows version {SCHEMA}"
            ))
            .hint(
                "use the same version of annals as the other devices; nothing was sent or received",
            )),
        }
    }

    fn check_role(&self, sees_all: Option<&str>) -> Result<()> {
        if sees_all != Some("t") {
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
        let sql = "SELECT to_regclass('annals_meta') IS NOT NULL, rolsuper OR rolbypassrls \
             FROM pg_roles WHERE rolname = current_user";
        let found = self.rows("check the tables", sql)?.pop();
        self.check_role(found.as_ref().and_then(|row| row.get(1)))?;
        if found.is_some_and(|row| row.get(0) == Some("t")) {
            return Ok(false);
        }
        self.rows("create the tables", &format!("BEGIN;\n{TABLES}\nCOMMIT;"))?;
        Ok(true)
    }

    /// Adds a device to its scopes.
    pub(crate) fn introduce(&mut self, device: &str, scopes: &[String]) -> Result<()> {
        let scopes: Vec<String> = scopes.iter().map(|scope| self.server_scope(scope)).collect();
        let sql = "INSERT INTO annals_devices (scope, device) SELECT scope, $2 FROM unnest($1::text[]) AS s(scope) \
             ON CONFLICT (scope, device) DO UPDATE SET left_at = NULL";
        self.execute("add this device", sql, &[&scopes, &device]).map(|_| ())
    }

    /// Returns all active devices that this role may see.
    pub(crate) fn devices(&mut self) -> Result<Vec<SharedDevice>> {
        let text = |row: &SimpleQueryRow, at: usize| row.get(at).unwrap_or_default().to_owned();
        let device = |row: SimpleQueryRow| SharedDevice {
            scope: local_scope(&text(&row, 0)),
            device: text(&row, 1),
            member: text(&row, 2),
            operations: text(&row, 3).parse().unwrap_or(0),
            pulled_at: row.get(4).map(str::to_owned),
            is_behind_a_forget: row.get(5) == Some("t"),
        };
        Ok(self.rows("list the devices", DEVICES)?.into_iter().map(device).collect())
    }

    /// Records the time at which this device last pulled operations.
    pub(crate) fn note_pull(&mut self, device: &str) -> Result<()> {
        let sql = "UPDATE annals_devices SET pulled_at = clock_timestamp() WHERE device = $1";
        self.execute("note the pull", sql, &[&device]).map(|_| ())
    }

    /// Erases what this device sent, but keeps the numbers.
    pub(crate) fn erase_device(&mut self, device: &str) -> Result<u64> {
        let sql = format!("{ERASE} device = $1 AND kind <> 'erased'");
        self.execute("erase the operations of this device", &sql, &[&device])
    }

    /// Removes a device from the active ones.
    pub(crate) fn remove_device(&mut self, device: &str) -> Result<()> {
        let sql = "UPDATE annals_devices SET left_at = clock_timestamp() WHERE device = $1";
        self.execute("remove this device", sql, &[&device]).map(|_| ())
    }

    /// Sends a batch; returns the number of operations that are new to the server.
    pub(crate) fn insert(&mut self, batch: &[Operation]) -> Result<usize> {
        let payloads = batch.iter().filter(|one| one.kind == "forget");
        let payloads = payloads.filter_map(|one| one.payload.as_deref());
        let tombstones: Vec<Tombstone> =
            payloads.filter_map(|payload| serde_json::from_str(payload).ok()).collect();
        if tombstones.is_empty() {
            return self.insert_batch(batch);
        }
        // The erasure is in the same transaction as the tombstone; a failure ends the connection and thereby
        // the transaction.
        self.execute("begin", "BEGIN", &[])?;
        let new = self.insert_batch(batch)?;
        for one in &tombstones {
            let sql = format!("{ERASE} {FORGOTTEN}");
            self.execute("forget", &sql, &[&one.owner, &one.subject, &one.until])?;
            self.execute("forget", SCRUB, &[&Vec::from_iter(&one.turns)])?;
        }
        let device = batch.first().map(|one| one.device.as_str());
        let sql = "UPDATE annals_devices SET forgot_at = clock_timestamp() WHERE device = $1";
        self.execute("forget", sql, &[&device])?;
        self.execute("send operations", "COMMIT", &[])?;
        Ok(new)
    }

    fn insert_batch(&mut self, batch: &[Operation]) -> Result<usize> {
        let sql = format!("WITH sent AS (SELECT * FROM {OPERATIONS}), {INSERT}");
        let sent = self.sent(batch)?;
        let values: Values<'_> = &[&sent];
        let row = self.ask("send operations", 2, |client| client.query_one(&sql, values))?;
        Ok(usize::try_from(row.get::<_, i64>(0)).unwrap_or(0))
    }

    /// Fetches the operations after these, sorted per device.
    pub(crate) fn fetch(&mut self, after: &[Address], limit: usize) -> Result<Vec<Operation>> {
        let after = after
            .iter()
            .map(|(scope, device, number)| json!([self.server_scope(scope), device, number]));
        let after = after.collect::<Value>().to_string();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values: Values<'_> = &[&after, &limit];
        let tried = "fetch operations";
        let rows = self.ask(tried, 2, |client| client.query(FETCH, values))?;
        let mut batch = Vec::new();
        for row in rows {
            let json: &str = row.try_get(0).map_err(|error| failed(&error, tried))?;
            let operation: Operation = serde_json::from_str(json)
                .map_err(|error| Error::failed(format!("cannot {tried}: {error}")).hint(KEPT))?;
            batch.push(Operation { scope: local_scope(&operation.scope), ..operation });
        }
        batch.sort_by_key(Operation::address);
        Ok(batch)
    }

    /// Updates sent operations to their current local state.
    pub(crate) fn rewrite(&mut self, mut operations: Vec<Operation>) -> Result<()> {
        // An operation that is no longer a fact has no payload.
        for operation in operations.iter_mut().filter(|one| one.kind != "fact") {
            operation.payload = None;
        }
        let sql = format!(
            "WITH sent AS (SELECT * FROM {OPERATIONS}), gone AS ({ERASE} {GONE}) {REWRITE}"
        );
        let sent = self.sent(&operations)?;
        self.execute("forget", &sql, &[&sent]).map(|_| ())
    }

    /// Returns operations as JSON, with the names that their scopes have on the server.
    fn sent(&self, operations: &[Operation]) -> Result<String> {
        let sent = operations.iter().map(|one| {
            let scope = self.server_scope(&one.scope);
            Operation { scope, ..one.clone() }
        });
        json(&sent.collect::<Vec<_>>())
    }

    /// Returns the name of a scope on the server: the private one contains the role.
    fn server_scope(&self, scope: &str) -> String {
        match scope {
            PRIVATE => format!("{PRIVATE}/{}", self.role),
            _ => scope.to_owned(),
        }
    }
}

/// Returns the local name of a scope.
fn local_scope(scope: &str) -> String {
    scope.split('/').next().unwrap_or(scope).to_owned()
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection on which a server may send only so much until it is ready: everything that arrives before, the
/// client library keeps in memory, notices too. Afterwards it drops notices.
struct Socket {
    stream: Box<dyn Stream>,
    left: Arc<AtomicUsize>,
}

impl Socket {
    /// Connects to a host, or to a socket of the system in a folder.
    async fn open(host: &str, port: u16) -> io::Result<Self> {
        #[cfg(unix)]
        if host.starts_with('/') {
            let stream = UnixStream::connect(format!("{host}/.s.PGSQL.{port}")).await?;
            return Ok(Self::new(stream));
        }
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self::new(stream))
    }

    fn new(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), left: Arc::new(AtomicUsize::new(MAX_START_BYTES)) }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        let left = self.left.load(Ordering::Relaxed).checked_sub(read);
        let Some(left) = left else {
            return Poll::Ready(Err(io::Error::other("it sends too much before it is ready")));
        };
        self.left.store(left, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Starts a session on a connection.
async fn start<T>(
    config: &Config,
    socket: Socket,
    tls: T,
) -> std::result::Result<Client, tokio_postgres::Error>
where
    T: TlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let left = Arc::clone(&socket.left);
    let (client, connection) = config.connect_raw(socket, tls).await?;
    left.store(usize::MAX, Ordering::Relaxed);
    // If the connection fails, the next request returns the error.
    drop(tokio::spawn(connection));
    Ok(client)
}

fn tls(project: &Project) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    match &project.settings.share.ca {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let wrong = |why: String| Error::usage(why).at(path, None);
            let pem = read::users_bytes(path)?
                .ok_or_else(|| wrong("there is no such file".to_owned()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate =
                    certificate.map_err(|error| wrong(format!("is not a PEM file: {error}")))?;
                roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("contains no certificate".to_owned()));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::failed(format!("TLS cannot be used: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn not_set_up() -> Error {
    Error::refused("the server is not set up for sharing").hint("annals share init")
}

/// Returns the error for a failed request.
fn failed(error: &tokio_postgres::Error, tried: &str) -> Error {
    let why = reason(error);
    let what = match error.code() {
        None => format!("the connection was lost: cannot {tried}: {why}"),
        Some(&SqlState::UNDEFINED_TABLE) => return not_set_up(),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            return Error::refused(format!("the role may not {tried}: {why}")).hint(
                "its owner runs `annals share init`; a team's scope needs a row in annals_members",
            );
        }
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => {
            format!("the server is read-only: cannot {tried}")
        }
        Some(
            &SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY | &SqlState::INSUFFICIENT_RESOURCES,
        ) => format!("the server is full: cannot {tried}: {why}"),
        Some(&SqlState::QUERY_CANCELED) => return slow(tried),
        Some(_) => format!("the server cannot {tried}: {why}"),
    };
    Error::failed(what).hint(KEPT)
}

/// Returns the error for a request that timed out.
fn slow(tried: &str) -> Error {
    Error::failed(format!("the server is too slow: cannot {tried} in time")).hint(KEPT)
}

/// Returns the error for a failed connection attempt.
fn unreachable(error: &tokio_postgres::Error, address: &str) -> Error {
    let why = reason(error);
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            Error::refused(format!("{address} refused the role: {why}"))
                .hint("the password comes from share.url, PGPASSWORD or ~/.pgpass")
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => Error::usage(format!("{address}: {why}"))
            .hint("create it with createdb; share.url names it"),
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
