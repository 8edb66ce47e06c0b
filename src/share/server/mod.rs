//! Talks to PostgreSQL; only this module opens connections to it.

mod connection;
mod exchange;
mod failure;
mod state;

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
pub(crate) use state::ServerState;
pub use state::SharedDevice;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};
use crate::facts::replication::PRIVATE;
use crate::project::{Project, ServerAddress};
use crate::share::server::connection::{QUIET, ServerConnection};
use crate::storage::read;

/// Version of the tables that this program creates and supports.
pub(crate) const SCHEMA: i32 = 1;

/// The values of a statement's placeholders.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection with the number of its round trips.
pub(crate) struct SyncServer {
    connection: ServerConnection,
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
        config
            .connect_timeout(wait.min(QUIET))
            .keepalives_idle(QUIET)
            .keepalives_interval(QUIET / 2)
            .keepalives_retries(2)
            .tcp_user_timeout(QUIET)
            .application_name("annals");
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(tls(project)?),
        };
        Ok(Self {
            connection: ServerConnection::open(&config, tls, wait, &address.to_string())?,
            role: address.role().unwrap_or_default().to_owned(),
            wait,
            round_trips: 0,
        })
    }

    /// Executes a statement, and returns the number of affected rows.
    fn execute(&mut self, tried: &str, sql: &str, values: Values<'_>) -> Result<u64> {
        self.round_trips += 2;
        self.connection.ask(tried, |client| client.execute(sql, values))
    }

    /// Returns the name of a scope on the server: the private one contains the role.
    fn server_scope(&self, scope: &str) -> String {
        if scope == PRIVATE {
            return format!("{PRIVATE}/{}", self.role);
        }
        scope.to_owned()
    }

    fn server_scopes<'a>(&self, scopes: impl IntoIterator<Item = &'a String>) -> Vec<String> {
        let scopes = scopes.into_iter();
        scopes.map(|scope| self.server_scope(scope)).collect()
    }

    /// Returns the local name of a scope.
    fn local_scope(scope: &str) -> String {
        scope.split('/').next().unwrap_or(scope).to_owned()
    }
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
