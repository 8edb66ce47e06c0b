//! Reads the name and the description of a project from its package manifests.

use std::path::Path;

use crate::error::Result;
use crate::storage::read;
use crate::text::{file_name, one_line, strip_controls};
use crate::warning::Warning;

/// The name and description of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the package, without its owner.
    pub(crate) name: Option<String>,
    /// A one-line description.
    pub(crate) description: Option<String>,
}

/// A parsed manifest, or the reason why it is invalid.
type ManifestResult = std::result::Result<Manifest, String>;

/// Reads the text of a manifest.
type ManifestReader = fn(&str) -> ManifestResult;

/// The supported manifests, in order of precedence.
const MANIFESTS: &[(&str, ManifestReader)] = &[
    ("Cargo.toml", cargo),
    ("package.json", json),
    ("pyproject.toml", pyproject),
    ("go.mod", |text| Ok(go(text))),
];

impl Manifest {
    /// Reads the manifests in a folder; each field comes from the first one that has it.
    pub(crate) fn read(root: &Path, warnings: &mut Vec<Warning>) -> Result<Self> {
        let mut found = Self::default();
        for (file, read_manifest) in MANIFESTS {
            let path = root.join(file);
            let Some(text) = read::text(&path)? else {
                continue;
            };
            let text = text.into_value(warnings);
            match read_manifest(&text) {
                Ok(manifest) => {
                    found.name = found.name.or(manifest.name);
                    found.description = found.description.or(manifest.description);
                }
                Err(fault) => warnings.push(Warning::file(&path, fault)),
            }
        }
        Ok(found)
    }

    fn new(name: Option<&str>, description: Option<&str>) -> Self {
        let plain = |text: &str| {
            let line = one_line(&strip_controls(text));
            Some(line).filter(|line| !line.is_empty())
        };
        // In `@owner/name` and `owner/name`, the owner is not part of the name.
        let name = name.map(file_name);
        Self { name: name.and_then(plain), description: description.and_then(plain) }
    }
}

fn cargo(text: &str) -> ManifestResult {
    let table = toml(text)?;
    let package = table.get("package").or_else(|| table.get("workspace")?.get("package"));
    let field = |name: &str| package?.get(name)?.as_str();
    Ok(Manifest::new(field("name"), field("description")))
}

fn pyproject(text: &str) -> ManifestResult {
    let table = toml(text)?;
    let poetry = || table.get("tool")?.get("poetry");
    let project = table.get("project").or_else(poetry);
    let field = |name: &str| project?.get(name)?.as_str();
    Ok(Manifest::new(field("name"), field("description")))
}

fn toml(text: &str) -> std::result::Result<toml::Table, String> {
    text.parse().map_err(|error: toml::de::Error| format!("is not valid TOML: {}", error.message()))
}

fn json(text: &str) -> ManifestResult {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))?;
    let field = |name: &str| value.get(name)?.as_str();
    Ok(Manifest::new(field("name"), field("description")))
}

/// Scans for `module example.org/owner/name/v2`.
fn go(text: &str) -> Manifest {
    let path = text.lines().find_map(|line| line.trim().strip_prefix("module "));
    let mut parts = path.unwrap_or_default().trim().trim_matches('"').rsplit('/');
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let name = parts.find(|part| !is_version(part));
    Manifest::new(name, None)
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    fn read(files: &[(&str, &str)]) -> (Option<String>, Option<String>, Vec<String>) {
        let dir = TempDir::new().unwrap();
        for (file, text) in files {
            dir.child(file).write_str(text).unwrap();
        }
        let mut warnings = Vec::new();
        let found = Manifest::read(dir.path(), &mut warnings).unwrap();
        let warnings = warnings.into_iter().map(|warning| warning.message).collect();
        (found.name, found.description, warnings)
    }

    /// The file name and text of a manifest, and the expected name and description.
    const MANIFEST_TEXTS: &[(&str, &str, &str, &str)] = &[
        (
            "Cargo.toml",
            "[package]\nname = \"pantry\"\ndescription = \"\"\"Two\nlines\"\"\"\n",
            "pantry",
            "Two lines",
        ),
        (
            "package.json",
            "{\"name\": \"@owner/pantry\", \"description\": \"Food\"}",
            "pantry",
            "Food",
        ),
        ("pyproject.toml", "[project]\nname = 'pantry'\n", "pantry", ""),
        (
            "pyproject.toml",
            "[tool.poetry]\nname = 'pantry'\ndescription = 'Food'\n",
            "pantry",
            "Food",
        ),
        ("go.mod", "module example.org/owner/pantry/v2\n\ngo 1.22\n", "pantry", ""),
    ];

    #[test]
    fn every_manifest_names_the_project() {
        for (file, text, name, description) in MANIFEST_TEXTS {
            let (found, said, warnings) = read(&[(file, text)]);
            assert_eq!(
                (found.as_deref(), said.unwrap_or_default().as_str()),
                (Some(*name), *description),
                "{file}"
            );
            assert_eq!(warnings, [""; 0], "{file}");
        }
    }

    #[test]
    fn each_field_comes_from_the_first_manifest_that_has_it() {
        let workspace =
            "[workspace]\nmembers = [\"a\"]\n[workspace.package]\ndescription = \"Shared\"\n";
        let (name, description, _) = read(&[
            ("package.json", "{\"name\": \"web\", \"description\": \"The web part\"}"),
            ("Cargo.toml", workspace),
        ]);
        assert_eq!((name.as_deref(), description.as_deref()), (Some("web"), Some("Shared")));
    }

    #[test]
    fn a_broken_manifest_is_warned_of_and_the_next_is_read() {
        let (name, _, warnings) = read(&[
            ("Cargo.toml", "[package\n"),
            ("package.json", "{\"name\": 7}"),
            ("go.mod", "module pantry\n"),
        ]);
        assert_eq!(name.as_deref(), Some("pantry"));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("is not valid TOML"), "{warnings:?}");
    }

    #[test]
    fn without_a_manifest_name_and_description_are_none() {
        assert_eq!(read(&[]), (None, None, vec![]));
        assert_eq!(read(&[("go.mod", "module \n")]), (None, None, vec![]));
    }
}
