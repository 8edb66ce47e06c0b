//! Parses the address of the PostgreSQL database through which devices share.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{Error, Result};

/// An example of an address, for hints.
pub(crate) const EXAMPLE: &str = "write it like postgres://ada@db.example.com/annals";

/// The address of a database on one host. It is displayed without its password.
#[derive(Clone, Debug)]
pub(crate) struct ServerAddress {
    pub(crate) config: Config,
    host: Host,
}

impl ServerAddress {
    /// Parses a URL; fails if it does not show for certain where the password ends.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if has_several_at_signs(url) {
            // Host and database would be shown, and one of them contains a part of the password.
            return Err(Error::usage("share.url has more than one @")
                .hint("write an @ of the password as %40"));
        }
        let config = Config::from_str(url).map_err(|error| {
            let why = std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), ToString::to_string);
            Error::usage(format!("share.url is not the address of a PostgreSQL database: {why}"))
                .hint(EXAMPLE)
        })?;
        let [host] = config.get_hosts() else {
            return Err(Error::usage("share.url must name exactly one host").hint(EXAMPLE));
        };
        let host = host.clone();
        Ok(Self { config, host })
    }

    /// Returns the host, or the folder of its socket.
    pub(crate) fn host(&self) -> String {
        match &self.host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    }

    /// Returns whether the host is this machine.
    pub(crate) fn is_local(&self) -> bool {
        match &self.host {
            Host::Tcp(name) => {
                let address = name.parse::<IpAddr>();
                name == "localhost" || address.is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.config.get_ports().first().copied().unwrap_or(5432)
    }

    /// Returns the role, which identifies a person or a service to the server.
    pub(crate) fn role(&self) -> Option<&str> {
        self.config.get_user()
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(role) = self.role() {
            write!(to, "{role}@")?;
        }
        write!(to, "{}:{}", self.host(), self.port())?;
        match self.config.get_dbname() {
            Some(database) => write!(to, "/{database}"),
            None => Ok(()),
        }
    }
}

/// Returns whether a URL has several `@`: then one in the password was taken for the end of the password, and the
/// rest of it for the host or the database.
fn has_several_at_signs(url: &str) -> bool {
    let rest = url.split_once("://").map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.split('?').next().unwrap_or(rest).matches('@').count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_database_is_never_displayed() {
        for (url, displayed) in [
            ("postgres://role@host/db", "role@host:5432/db"),
            ("postgres://role:ss99word@host:5433/db", "role@host:5433/db"),
            ("postgres://role:pa/ss99word@host/db", "role@host:5432/db"),
            ("postgres://host/db?user=role&password=ss99word", "role@host:5432/db"),
            ("host=h user=r password=ss99word", "r@h:5432"),
            ("postgres://role:p@ss99word@host/db", "-"),
            ("postgres://role:p@x/y99word@host/db", "-"),
            ("postgres://role:p@%2fxy99word@host/db", "-"),
            ("postgres://role:ss99word@host/a%40b", "role@host:5432/a@b"),
            ("postgres://role:ss99word@one,two/db", "-"),
            ("role:ss99word@host/db", "-"),
        ] {
            let address = ServerAddress::parse(url);
            let address = address.map_or("-".to_owned(), |address| address.to_string());
            assert_eq!(address, displayed, "{url}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let is_local = |host: &str| {
            let address = ServerAddress::parse(&format!("host={host} user=ada"));
            address.unwrap().is_local()
        };
        for host in ["localhost", "127.0.0.1", "127.3.2.1", "::1"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["db.example.com", "10.0.0.1", "localhost.example.com"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
