//! A connection with a timeout for each answer, since a server may accept a request and never answer.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};
use crate::share::server::failure;
use crate::storage::fail_point;

/// Time without an answer after which a connection is probed or abandoned.
pub(crate) const QUIET: Duration = Duration::from_secs(10);

/// Additional time in which a server that enforces the timeout itself can report it.
const GRACE: Duration = Duration::from_millis(250);

/// A connection, which must not be used after a failed request.
pub(crate) struct ServerConnection {
    runtime: Runtime,
    client: Client,
    answer_timeout: Duration,
}

impl ServerConnection {
    /// Connects, with TLS if given; `wait` is the timeout of each answer.
    pub(crate) fn open(
        config: &Config,
        tls: Option<MakeRustlsConnect>,
        wait: Duration,
        shown: &str,
    ) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::failed(format!("cannot use the network: {error}")))?;
        let opened = runtime.block_on(async {
            timeout(wait.min(QUIET), async {
                match tls {
                    Some(tls) => connect(config, tls).await,
                    None => connect(config, NoTls).await,
                }
            })
            .await
        });
        match opened {
            Ok(Ok(client)) => Ok(Self { runtime, client, answer_timeout: wait + GRACE }),
            failed => {
                // A DNS lookup may still be running, and is not waited for.
                runtime.shutdown_background();
                Err(match failed {
                    Ok(Err(error)) => failure::unreachable(&error, shown),
                    _ => failure::no_answer(shown),
                })
            }
        }
    }

    /// Sends a request; fails if the answer does not arrive in time.
    pub(crate) fn ask<'a, T, F>(
        &'a self,
        tried: &str,
        question: impl FnOnce(&'a Client) -> F,
    ) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    {
        let answered = self
            .runtime
            .block_on(async { timeout(self.answer_timeout, question(&self.client)).await });
        // The tests stop the process here: the server has answered, but nothing is recorded yet.
        if fail_point::is_reached() {
            std::process::abort();
        }
        match answered {
            Ok(answer) => answer.map_err(|error| failure::failed(&error, tried)),
            Err(_) => Err(failure::slow(tried)),
        }
    }
}

async fn connect<T>(config: &Config, tls: T) -> std::result::Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    // If the connection fails, the next request returns the error.
    drop(tokio::spawn(connection));
    Ok(client)
}
