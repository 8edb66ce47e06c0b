//! Checks whether this database is still the only one with its device id.
//!
//! If the server has more operations of this device than were recorded as sent, either an acknowledgement was
//! lost, and the operations are identical; or the database was restored from an older copy or copied to
//! another machine, and they differ. In the latter case, this database becomes a new device.

use crate::error::Result;
use crate::facts::replication::OperationAddress;
use crate::facts::{Device, Facts, replication};
use crate::share::server::{ServerState, SyncServer};

/// Number of this device's own operations that are compared at once.
const BATCH: i64 = 5_000;

/// Verifies the device id; returns the new one if it had to be changed.
pub(crate) fn ensure_unique(
    facts: &mut Facts,
    server: &mut SyncServer,
    state: &ServerState,
    device: &str,
) -> Result<Option<String>> {
    let sent = replication::cursors(facts.connection())?;
    let own = state.highest.keys().chain(sent.keys());
    let mut scopes: Vec<String> =
        own.filter(|(_, of)| of == device).map(|(scope, _)| scope.clone()).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut agreed = Vec::new();
    let mut is_another = false;
    for scope in scopes {
        let address = (scope.clone(), device.to_owned());
        let remembered = sent.get(&address).copied().unwrap_or(0);
        let there = state.highest.get(&address).copied().unwrap_or(0);
        // If the server lost some operations, they are sent again.
        let same = if there > remembered {
            let (scope, device) = address;
            let last = OperationAddress { scope, device, number: remembered };
            last_common(facts, server, last)?
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
    Ok(Some(renamed.map_or_else(|| device.to_owned(), |device| device.id)))
}

/// Returns the last number up to which the server has the same operations as this database.
fn last_common(facts: &Facts, server: &mut SyncServer, from: OperationAddress) -> Result<i64> {
    let mut last = from;
    loop {
        let batch = server.fetch(std::slice::from_ref(&last), BATCH)?;
        if batch.is_empty() {
            return Ok(last.number);
        }
        for one in batch {
            if !replication::is_unchanged(facts.connection(), &one)? {
                return Ok(last.number);
            }
            last.number = one.number;
        }
    }
}
