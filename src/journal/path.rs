//! Locates the journal.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::project::Environment;

/// Returns the journal's path: `MEMORY_FILE`, else `.codex/memory.jsonl` in the home directory.
pub fn default_path(environment: &Environment) -> Result<PathBuf> {
    if let Some(named) = environment.get("MEMORY_FILE") {
        return Ok(in_home(named, environment));
    }
    let home = environment.home().ok_or_else(|| {
        Error::failed("there is no home directory to keep the journal in")
            .hint("set MEMORY_FILE to the file to use")
    })?;
    Ok(home.join(".codex/memory.jsonl"))
}

/// The variable is often set in files that no shell reads, so the tilde is not expanded there.
fn in_home(named: &str, environment: &Environment) -> PathBuf {
    match (named.strip_prefix("~/"), environment.home()) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_it_and_home_holds_it_otherwise() {
        let of = |variables: &[(&str, &str)]| {
            let pairs =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            default_path(&pairs.collect()).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/users/ada");
        assert_eq!(of(&[home]).unwrap(), "/users/ada/.codex/memory.jsonl");
        assert_eq!(of(&[home, ("MEMORY_FILE", "")]).unwrap(), "/users/ada/.codex/memory.jsonl");
        assert_eq!(of(&[home, ("MEMORY_FILE", "notes.jsonl")]).unwrap(), "notes.jsonl");
        assert_eq!(of(&[home, ("MEMORY_FILE", "~/m.jsonl")]).unwrap(), "/users/ada/m.jsonl");
        assert!(of(&[]).is_err());
    }
}
