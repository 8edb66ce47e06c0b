//! Reads the effort profile from config.json.

use std::path::Path;

use crate::error::Result;
use crate::project::vocabulary;
use crate::storage::read;

/// Returns the effort profile that a planning folder sets, such as `balanced`; `None` if it sets none.
pub fn effort(planning_dir: &Path) -> Result<Option<String>> {
    let Some(bytes) = read::bytes(&planning_dir.join(vocabulary::CONFIG))? else {
        return Ok(None);
    };
    // A broken config.json is reported by the planning tool that owns it.
    let config: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // GSD's `model_profile` names a model, not an effort.
    let known = ["effort", "effort_profile"].iter().find_map(|key| config.get(key)?.as_str());
    Ok(known.map(str::to_owned))
}
