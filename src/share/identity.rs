//! Whether this database is still the only one with its device's name.
//!
//! The server has more of this device than is remembered to have been sent where an acknowledgement was lost, and
//! then it is the same; or where the database was restored from an older copy or copied to another machine, and
//! then it differs. In the latter case this database becomes another device.

use crate::error::Result;
use crate::facts::Device;
use crate::facts::replication;
use crate::share::run::Run;

/// How many of this device's own operations are compared at once.
const BATCH: i64 = 5_000;

/// Makes sure of the device's name; tells whether it had to be changed.
pub(crate) fn settle(run: &mut Run<'_>) -> Result<bool> {
    let sent = replication::cursors(run.facts.connection())?;
    let own = run.state.highest.keys().chain(sent.keys());
    let mut scopes: Vec<String> = own
        .filter(|(_, device)| *device == run.device)
        .map(|(scope, _)| scope.clone())
        .collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut agreed = Vec::new();
    let mut is_another = false;
    for scope in scopes {
        let address = (scope.clone(), run.device.clone());
        let remembered = sent.get(&address).copied().unwrap_or(0);
        let there = run.state.highest.get(&address).copied().unwrap_or(0);
        // A server that lost some is sent them again.
        let same = if there > remembered {
            common(run, &scope, remembered)?
        } else {
            there
        };
        is_another |= same < there;
        if same != remembered {
            replication::acknowledge(run.facts, &[(scope.clone(), same)])?;
        }
        agreed.push((scope, same));
    }
    if is_another {
        replication::renew(run.facts, &agreed)?;
        run.done.is_renamed = true;
        if let Some(device) = Device::find(run.facts.connection())? {
            run.device = device.id;
        }
    }
    Ok(is_another)
}

/// Returns the last number up to which the server has what was done here.
fn common(run: &mut Run<'_>, scope: &str, from: i64) -> Result<i64> {
    let mut same = from;
    loop {
        let after = [(scope.to_owned(), run.device.clone(), same)];
        let batch = run.server.fetch(&after, BATCH)?;
        let Some(last) = batch.last().map(|one| one.number) else {
            return Ok(same);
        };
        for one in batch {
            let address = (one.scope.as_str(), one.device.as_str());
            let is_same = replication::is_unchanged(
                run.facts.connection(),
                address,
                one.number,
                (&one.op_id, one.clock),
            )?;
            if !is_same {
                return Ok(same);
            }
            same = one.number;
        }
        if same < last {
            return Ok(same);
        }
    }
}
