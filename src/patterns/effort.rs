//! The effort profile that config.json sets.

use std::path::Path;

use crate::error::Result;
use crate::project::vocabulary;
use crate::storage::read;

/// Returns the profile in force in a planning folder: `balanced`, `thorough`; nothing where none is set.
pub fn effort(planning_dir: &Path) -> Result<Option<String>> {
    let Some(bytes) = read::bytes(&planning_dir.join(vocabulary::CONFIG))? else {
        return Ok(None);
    };
    // A config.json that is broken belongs to the workflow, which says so itself.
    let config: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // GSD's `model_profile` names a model, not an effort.
    let known = ["effort", "effort_profile"]
        .iter()
        .find_map(|key| config.get(key)?.as_str());
    Ok(known.map(str::to_owned))
}
