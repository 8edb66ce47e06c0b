//! Determines the server's address and credentials, only from the user's own settings and environment.

use std::path::PathBuf;

use tokio_postgres::config::SslMode;

use crate::error::{Error, Result};
use crate::project::{Project, SERVER_ADDRESS_EXAMPLE, ServerAddress};
use crate::storage::read;

/// Returns the address in the settings with its role, database and password.
pub(crate) fn find(project: &Project) -> Result<ServerAddress> {
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
    if !is_local && address.config.get_ssl_mode() == SslMode::Disable {
        return Err(Error::refused(format!("{host} is another machine, which requires TLS"))
            .hint("remove sslmode from share.url; share.ca names your own authority"));
    }
    let environment = &project.environment;
    let role = address.role().or(environment.get("PGUSER"));
    let role = role.or(environment.get("USER")).map(str::to_owned);
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
    let is_network = !host.starts_with('/');
    let is_clear = is_local && address.config.get_ssl_mode() != SslMode::Require;
    if is_clear
        && is_network
        && address.config.get_password().is_some()
        && address.config.get_ssl_mode() != SslMode::Disable
    {
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
    let named = environment.get("PGPASSFILE").map(PathBuf::from);
    let Some(path) = named.or_else(|| environment.home().map(|home| home.join(".pgpass"))) else {
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
                .hint(format!("chmod 600 {}", path.display())));
        }
    }
    Ok(password)
}

/// Returns the password of a line `host:port:database:role:password` that matches the connection.
fn password_in_line(line: &str, entry: [&str; 4]) -> Option<String> {
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
    let password = fields.pop()?;
    let fits = |(field, value): (&String, &str)| field == "*" || field == value;
    (fields.len() == 4 && fields.iter().zip(entry).all(fits)).then_some(password)
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
