//! Determines the server's address and credentials, only from the user's own settings and environment.

use std::path::Path;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::config::SslMode;

use crate::error::Error;
use crate::error::Result;
use crate::project::Project;
use crate::project::has_several_at_signs;
use crate::storage::read;

/// A complete server address.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) config: Config,
    /// The address without its password, for display.
    pub(crate) shown: String,
    /// The role, which identifies a person or a service to the server.
    pub(crate) role: String,
}

impl Address {
    /// Returns the address in the settings, or `None` if none is set.
    pub(crate) fn find(project: &Project) -> Result<Option<Self>> {
        let Some(url) = &project.settings.share.url else {
            return Ok(None);
        };
        if has_several_at_signs(url) {
            // Host and database would be shown, and one of them holds a part of the password.
            return Err(Error::usage("share.url has more than one @")
                .hint("write an @ of the password as %40"));
        }
        let config = Config::from_str(url).map_err(|error| {
            let why = std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), ToString::to_string);
            Error::usage(format!(
                "share.url is not the address of a PostgreSQL database: {why}"
            ))
            .hint("write it like postgres://ada@db.example.com/annals")
        })?;
        Self::complete(config, project).map(Some)
    }

    fn complete(mut config: Config, project: &Project) -> Result<Self> {
        let [host] = config.get_hosts() else {
            return Err(Error::usage("share.url must name exactly one host")
                .hint("write it like postgres://ada@db.example.com/annals"));
        };
        let (name, is_local) = match host {
            Host::Tcp(name) => (name.clone(), is_loopback(name)),
            #[cfg(unix)]
            Host::Unix(path) => (path.display().to_string(), true),
        };
        if !config.get_hostaddrs().is_empty() {
            return Err(Error::usage("share.url must name a host, not a hostaddr"));
        }
        if !is_local && config.get_ssl_mode() == SslMode::Disable {
            return Err(
                Error::refused(format!("{name} is another machine, which requires TLS"))
                    .hint("remove sslmode from share.url; share.ca names your own authority"),
            );
        }
        config.ssl_mode(if is_local {
            SslMode::Disable
        } else {
            SslMode::Require
        });
        let environment = &project.environment;
        let role = config
            .get_user()
            .or(environment.get("PGUSER"))
            .or(environment.get("USER"));
        let role = role.map(str::to_owned).ok_or_else(|| {
            Error::usage("share.url names no role")
                .hint("write it like postgres://ada@db.example.com/annals")
        })?;
        config.user(&role);
        let database = config.get_dbname().unwrap_or(&role).to_owned();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        if config.get_password().is_none() {
            let place = PasswordEntry {
                host: &name,
                port,
                database: &database,
                role: &role,
            };
            if let Some(password) = password(project, &place)? {
                config.password(password);
            }
        }
        Ok(Self {
            config,
            shown: format!("{role}@{name}:{port}/{database}"),
            role,
        })
    }
}

fn is_loopback(host: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host == "localhost" || host.parse().is_ok_and(is_loopback)
}

/// The connection that a line of `.pgpass` must match.
struct PasswordEntry<'a> {
    host: &'a str,
    port: u16,
    database: &'a str,
    role: &'a str,
}

/// Returns the password: `PGPASSWORD`, else that of the matching line of `.pgpass`.
fn password(project: &Project, place: &PasswordEntry<'_>) -> Result<Option<String>> {
    let environment = &project.environment;
    if let Some(password) = environment.get("PGPASSWORD") {
        return Ok(Some(password.to_owned()));
    }
    let named = environment.get("PGPASSFILE").map(std::path::PathBuf::from);
    let Some(path) = named.or_else(|| environment.home().map(|home| home.join(".pgpass"))) else {
        return Ok(None);
    };
    let Some(bytes) = read::users_bytes(&path)? else {
        return Ok(None);
    };
    let Some(password) = String::from_utf8_lossy(&bytes)
        .lines()
        .find_map(|line| password_in_line(line, place))
    else {
        return Ok(None);
    };
    refuse_what_others_read(&path)?;
    Ok(Some(password))
}

#[cfg(unix)]
fn refuse_what_others_read(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mode = std::fs::metadata(path).map_or(0, |found| found.permissions().mode());
    let others = mode & 0o077;
    if others == 0 {
        return Ok(());
    }
    Err(Error::refused("other users can read this password file")
        .at(path, None)
        .hint(format!("chmod 600 {}", path.display())))
}

#[cfg(not(unix))]
fn refuse_what_others_read(_path: &Path) -> Result<()> {
    Ok(())
}

/// Returns the password of a line `host:port:database:role:password` that matches the connection.
fn password_in_line(line: &str, place: &PasswordEntry<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let taken = match character {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next()?,
            other => other,
        };
        fields.last_mut()?.push(taken);
    }
    let [host, port, database, role, password] = &fields[..] else {
        return None;
    };
    let is_about = |field: &str, value: &str| field == "*" || field == value;
    let fits = is_about(host, place.host)
        && is_about(port, &place.port.to_string())
        && is_about(database, place.database)
        && is_about(role, place.role);
    fits.then(|| password.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: PasswordEntry<'static> = PasswordEntry {
        host: "db.example.com",
        port: 5432,
        database: "annals",
        role: "ada",
    };

    #[test]
    fn a_line_of_pgpass_fits_by_value_or_star_and_may_escape() {
        let found = |line| password_in_line(line, &PLACE);
        assert_eq!(
            found("db.example.com:5432:annals:ada:secret").as_deref(),
            Some("secret")
        );
        assert_eq!(found("*:*:*:ada:a\\:b\\\\c:d").as_deref(), Some("a:b\\c:d"));
        assert_eq!(found("*:5433:*:ada:x"), None);
        assert_eq!(found("# *:*:*:*:x"), None);
        assert_eq!(found("*:*:ada:x"), None);
    }

    #[test]
    fn only_this_machine_is_local() {
        for host in ["localhost", "127.0.0.1", "127.3.2.1", "::1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["db.example.com", "10.0.0.1", "localhost.example.com"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
