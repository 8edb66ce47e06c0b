//! Whether this database is still the only one with its device's name.
//!
//! The server has more of this device than is remembered to have been sent where an acknowledgement was lost, and
//! then it is the same; or where the database was restored from an older copy or copied to another machine, and
//! then it differs. In the latter case this database becomes another device.

use crate::error::Result;
use crate::facts::Device;
use crate::facts::Facts;
use crate::facts::replication;
use crate::share::server::ServerState;
use crate::share::server::SyncServer;

/// How many of this device's own operations are compared at once.
const BATCH: i64 = 5_000;

/// Makes sure of the device's name; returns its new one where it had to be changed.
pub(crate) fn ensure_unique(
    facts: &mut Facts,
    server: &mut SyncServer,
    state: &ServerState,
    device: &str,
) -> Result<Option<String>> {
    let sent = replication::cursors(facts.connection())?;
    let own = state.highest.keys().chain(sent.keys());
    let mut scopes: Vec<String> = own
        .filter(|(_, of)| of == device)
        .map(|(scope, _)| scope.clone())
        .collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut agreed = Vec::new();
    let mut is_another = false;
    for scope in scopes {
        let address = (scope.clone(), device.to_owned());
        let remembered = sent.get(&address).copied().unwrap_or(0);
        let there = state.highest.get(&address).copied().unwrap_or(0);
        // A server that lost some is sent them again.
        let same = if there > remembered {
            common(facts, server, &address, remembered)?
        } else {
            there
        };
        is_another |= same < there;
        if same != remembered {
            replication::acknowledge(facts, &[(scope.clone(), same)])?;
        }
        agreed.push((scope, same));
    }
    if !is_another {
        return Ok(None);
    }
    replication::renew(facts, &agreed)?;
    let renamed = Device::find(facts.connection())?;
    Ok(Some(
        renamed.map_or_else(|| device.to_owned(), |device| device.id),
    ))
}

/// Returns the last number up to which the server has what was done here.
fn common(
    facts: &Facts,
    server: &mut SyncServer,
    (scope, device): &(String, String),
    from: i64,
) -> Result<i64> {
    let mut same = from;
    loop {
        let after = [(scope.clone(), device.clone(), same)];
        let batch = server.fetch(&after, BATCH)?;
        let Some(last) = batch.last().map(|one| one.number) else {
            return Ok(same);
        };
        for one in batch {
            if !replication::is_unchanged(facts.connection(), &one)? {
                return Ok(same);
            }
            same = one.number;
        }
        if same < last {
            return Ok(same);
        }
    }
}
