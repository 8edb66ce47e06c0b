//! Reads package manifests: Cargo, npm, Python and Go.

use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::storage::read;
use crate::text::{Pattern, file_name, one_line, strip_controls};
use crate::warning::Warning;

/// What the manifests in the root of a project say of it.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// The name of the package, without its owner.
    pub(crate) name: Option<String>,
    /// A one-line description.
    pub(crate) description: Option<String>,
    /// The build command.
    pub(crate) build: Option<String>,
    /// The test command.
    pub(crate) test: Option<String>,
}

/// The manifests, in order of precedence.
const FILES: &[&str] = &["package.json", "Cargo.toml", "pyproject.toml", "go.mod"];

/// Where name and description may be in a parsed manifest.
const HOMES: &[&str] = &["", "/package", "/workspace/package", "/project", "/tool/poetry"];

/// Runners of package.json scripts: the lock file, the program.
const SCRIPT_RUNNERS: &[(&str, &str)] =
    &[("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

impl Manifest {
    /// Reads the manifests in a folder; each field comes from the first one that has it. A broken one is warned of.
    pub(crate) fn read(root: &Path, warnings: &mut Vec<Warning>) -> Result<Self> {
        let mut found = Self::default();
        for file in FILES {
            let path = root.join(file);
            let Some(text) = read::text(&path)? else { continue };
            let text = text.into_value(warnings);
            let text = text.trim_start_matches('\u{feff}');
            match value(file, text) {
                Ok(value) => {
                    let own = Self::parse(file, text, &value, root);
                    found.name = found.name.or(own.name);
                    found.description = found.description.or(own.description);
                    found.build = found.build.or(own.build);
                    found.test = found.test.or(own.test);
                }
                Err(fault) => warnings.push(Warning::file(&path, fault)),
            }
        }
        Ok(found)
    }

    fn parse(file: &str, text: &str, value: &Value, root: &Path) -> Self {
        let field = |name: &str| {
            let line = one_line(&strip_controls(
                HOMES.iter().find_map(|home| value.pointer(home)?.get(name)?.as_str())?,
            ));
            Some(line).filter(|line| !line.is_empty())
        };
        let script = |name: &str| {
            value["scripts"][name].as_str()?;
            let lock = SCRIPT_RUNNERS.iter().find(|(lock, _)| read::is_file(&root.join(lock)));
            Some(format!("{} run {name}", lock.map_or("npm", |(_, program)| program)))
        };
        let (build, test) = match file {
            "package.json" => (script("build"), script("test")),
            "Cargo.toml" => (Some("cargo build".to_owned()), Some("cargo test".to_owned())),
            "go.mod" => (Some("go build ./...".to_owned()), Some("go test ./...".to_owned())),
            _ => (None, text.contains("pytest").then(|| "pytest".to_owned())),
        };
        // In `@owner/name` and `owner/name`, the owner is not part of the name.
        let name = if file == "go.mod" { go_name(text) } else { field("name") };
        Self {
            name: name.map(|name| file_name(&name).to_owned()),
            description: field("description"),
            build,
            test,
        }
    }
}

/// Returns a manifest as a value; one of Go, and a list of requirements, has none.
fn value(file: &str, text: &str) -> Result<Value, String> {
    match file {
        "package.json" => {
            serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))
        }
        "Cargo.toml" | "pyproject.toml" => {
            toml::from_str(text).map_err(|error| format!("is not valid TOML: {}", error.message()))
        }
        _ => Ok(Value::Null),
    }
}

/// Scans for `module example.org/owner/name/v2`.
fn go_name(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .filter(|rest| !rest.is_empty())
            .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    };
    path.trim()
        .trim_matches('"')
        .rsplit('/')
        .find(|part| !is_version(part))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// Returns whether a file is a manifest that lists dependencies.
pub(crate) fn is_manifest(path: &str) -> bool {
    let is_generated = path.split('/').any(|part| part == "node_modules" || part == "vendor");
    (FILES.contains(&file_name(path)) || is_requirements(path)) && !is_generated
}

/// Returns the lines of a manifest, for [`lists`].
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.to_lowercase()
        .lines()
        .filter(|line| !line.contains("// indirect"))
        .map(|line| format!("\"{}", line.trim()))
        .collect()
}

/// Returns whether a line names a dependency: at its start or in quotes.
pub(crate) fn lists(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let rest = &line[at + name.len()..];
        line[..at].ends_with(['"', '\''])
            && (rest.is_empty() || rest.starts_with(|c| " \t\"'=<>~!^[:;/,".contains(c)))
    })
}

/// What follows the name of a dependency: its version, or where it is from.
static REQUIREMENT: Pattern = Pattern::new(
    r#"^(?:$|["']?(?:\[[^\]]*\])? *(?:[:=] *["']?v?[\^~<>=*\d]|[<>=~!]=? *\d|= *\{|: *"(?:workspace|npm|file|git|latest)|\.workspace))"#,
);

/// Returns whether a line requires a package, unlike one that names a script or a folder.
pub(crate) fn requires(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        line[..at].ends_with(['"', '\'']) && REQUIREMENT.is_match(&line[at + name.len()..])
    })
}

fn is_requirements(path: &str) -> bool {
    let name = file_name(path);
    name.starts_with("requirements") && Path::new(name).extension().is_some_and(|end| end == "txt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    /// Reads these manifests, and shows all fields and the warnings.
    fn read(files: &[(&str, &str)]) -> String {
        let tree = Tree::new(&[]);
        for (file, text) in files {
            tree.write(file, text);
        }
        let mut warnings = Vec::new();
        let found = Manifest::read(&tree.at(""), &mut warnings).unwrap();
        let fields = [found.name, found.description, found.build, found.test];
        let fields = fields.map(|field| field.unwrap_or_else(|| "-".to_owned()));
        let warnings = warnings.into_iter().map(|one| one.message.chars().take(17).collect());
        fields.into_iter().chain(warnings).collect::<Vec<String>>().join(" | ")
    }

    #[test]
    fn a_required_package_has_a_version_or_an_origin() {
        for (line, expected) in [
            ("  \"pad\": \"^4\",", true),
            ("{\"dependencies\": {\"pad\": \"workspace:*\"}}", true),
            ("pad = \"1\"", true),
            ("pad = { version = \"1\" }", true),
            ("pad.workspace = true", true),
            ("pad[extra]>=4.2", true),
            ("pad", true),
            ("\"pad >= 4\",", true),
            ("\"pad\": \"vite --port=2\",", false),
            ("\"pad\": {", false),
            ("\"files\": [\"pad\"],", false),
            ("\"left-pad\": \"1\",", false),
        ] {
            let lines = lines(line);
            assert_eq!(lines.iter().any(|line| requires(line, "pad")), expected, "{line}");
        }
    }

    #[test]
    fn each_field_comes_from_the_first_manifest_that_has_it() {
        for (files, expected) in [
            (
                &[(
                    "Cargo.toml",
                    "[package]\nname = \"pantry\"\ndescription = \"\"\"Two\nlines\"\"\"\n",
                )][..],
                "pantry | Two lines | cargo build | cargo test",
            ),
            (
                &[
                    (
                        "package.json",
                        "{\"name\": \"@owner/pantry\", \"scripts\": {\"test\": \"vitest\"}}",
                    ),
                    ("pnpm-lock.yaml", ""),
                ],
                "pantry | - | - | pnpm run test",
            ),
            (
                &[(
                    "pyproject.toml",
                    "[tool.poetry]\nname = 'pantry'\ndescription = 'Food'\n[tool.pytest.ini_options]\n",
                )],
                "pantry | Food | - | pytest",
            ),
            (
                &[("go.mod", "module example.org/owner/pantry/v2\n\ngo 1.22\n")],
                "pantry | - | go build ./... | go test ./...",
            ),
            (
                &[
                    ("package.json", "{\"name\": \"web\"}"),
                    ("Cargo.toml", "[workspace.package]\ndescription = \"Shared\"\n"),
                ],
                "web | Shared | cargo build | cargo test",
            ),
            (
                &[
                    ("Cargo.toml", "[package\n"),
                    ("package.json", "{\"name\": 7}"),
                    ("go.mod", "module pantry\n"),
                ],
                "pantry | - | go build ./... | go test ./... | is not valid TOML",
            ),
            (&[("go.mod", "module \n")], "- | - | go build ./... | go test ./..."),
            (&[], "- | - | - | -"),
        ] {
            assert_eq!(read(files), expected, "{files:?}");
        }
    }
}
