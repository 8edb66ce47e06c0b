//! Detects the build and test commands of a project from its root manifests.

use std::path::Path;

use crate::storage::read;

/// The build and test commands of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuildCommands {
    /// The build command.
    pub(crate) build: Option<String>,
    /// The test command.
    pub(crate) test: Option<String>,
}

/// Manifests of tools with fixed commands: the file, the build command, the test command.
const TOOLS: &[(&str, &str, &str)] =
    &[("Cargo.toml", "cargo build", "cargo test"), ("go.mod", "go build ./...", "go test ./...")];

/// Runners of package.json scripts: the lock file, the program.
const SCRIPT_RUNNERS: &[(&str, &str)] =
    &[("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

impl BuildCommands {
    /// Detects the commands in the root of a project; each comes from the first file that defines it.
    pub(super) fn detect(root: &Path) -> Self {
        let all = [of_scripts(root), of_tool(root), of_python(root)].into_iter();
        all.fold(Self::default(), |found, next| Self {
            build: found.build.or(next.build),
            test: found.test.or(next.test),
        })
    }
}

fn of_tool(root: &Path) -> BuildCommands {
    let tool = TOOLS.iter().find(|(file, ..)| read::is_file(&root.join(file)));
    BuildCommands {
        build: tool.map(|(_, build, _)| (*build).to_owned()),
        test: tool.map(|(_, _, test)| (*test).to_owned()),
    }
}

fn of_python(root: &Path) -> BuildCommands {
    let text = text(&root.join("pyproject.toml"));
    let is_pytest = text.contains("pytest") || read::is_file(&root.join("pytest.ini"));
    BuildCommands { build: None, test: is_pytest.then(|| "pytest".to_owned()) }
}

fn of_scripts(root: &Path) -> BuildCommands {
    let manifest: serde_json::Value =
        serde_json::from_str(&text(&root.join("package.json"))).unwrap_or_default();
    let lock = SCRIPT_RUNNERS.iter().find(|(lock, _)| read::is_file(&root.join(lock)));
    let program = lock.map_or("npm", |(_, program)| program);
    let script = |name: &str| {
        manifest["scripts"][name].as_str()?;
        Some(format!("{program} run {name}"))
    };
    BuildCommands { build: script("build"), test: script("test") }
}

/// Returns a manifest's text, or an empty one if it is unreadable; a read error is left to other readers to
/// report.
fn text(path: &Path) -> String {
    match read::text(path) {
        Ok(Some(text)) => text.value,
        Ok(None) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    #[test]
    fn each_command_comes_from_the_first_file_that_has_it() {
        for (files, build, test) in [
            (&[("Cargo.toml", "")][..], "cargo build", "cargo test"),
            (
                &[
                    ("package.json", "{\"scripts\": {\"test\": \"vitest\"}}"),
                    ("pnpm-lock.yaml", ""),
                ],
                "",
                "pnpm run test",
            ),
            (&[("package.json", "{")], "", ""),
            (&[("pyproject.toml", "[tool.pytest.ini_options]\n")], "", "pytest"),
            (&[("go.mod", "")], "go build ./...", "go test ./..."),
            (&[], "", ""),
        ] {
            let tree = Tree::new(&[]);
            for (file, text) in files {
                tree.write(file, text);
            }
            let found = BuildCommands::detect(&tree.at(""));
            let shown = |command: Option<String>| command.unwrap_or_default();
            assert_eq!(
                (shown(found.build).as_str(), shown(found.test).as_str()),
                (build, test),
                "{files:?}"
            );
        }
    }
}
