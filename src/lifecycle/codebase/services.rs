//! Detects the infrastructure around the code: CI services, containers, workspaces.

use std::collections::BTreeMap;
use std::path::Path;

use crate::storage::{listing, read};
use crate::text::quantity;

/// Files whose presence indicates a CI service.
const CI_FILES: &[(&str, &str)] = &[
    (".gitlab-ci.yml", "GitLab CI"),
    (".circleci/config.yml", "CircleCI"),
    (".travis.yml", "Travis CI"),
    ("azure-pipelines.yml", "Azure Pipelines"),
    ("bitbucket-pipelines.yml", "Bitbucket Pipelines"),
    (".buildkite/pipeline.yml", "Buildkite"),
    (".cirrus.yml", "Cirrus CI"),
    (".drone.yml", "Drone"),
    (".woodpecker.yml", "Woodpecker"),
    ("appveyor.yml", "AppVeyor"),
    ("cloudbuild.yaml", "Cloud Build"),
    ("Jenkinsfile", "Jenkins"),
];

/// Folders with one file per workflow.
const CI_FOLDERS: &[(&str, &str)] = &[
    (".github/workflows", "GitHub Actions"),
    (".forgejo/workflows", "Forgejo Actions"),
    (".gitea/workflows", "Gitea Actions"),
    (".woodpecker", "Woodpecker"),
];

/// Package manifests, which are counted to size a workspace.
pub(super) const MANIFESTS: &[&str] = &["Cargo.toml", "go.mod", "package.json", "pyproject.toml"];

/// Workspace definitions: the file, the text in it that defines a workspace, the tool's name, the packages'
/// manifest.
const WORKSPACES: &[(&str, &str, &str, &str)] = &[
    ("Cargo.toml", "[workspace]", "Cargo workspace", "Cargo.toml"),
    ("pnpm-workspace.yaml", "", "pnpm workspace", "package.json"),
    ("nx.json", "", "Nx", "package.json"),
    ("turbo.json", "", "Turborepo", "package.json"),
    ("lerna.json", "", "Lerna", "package.json"),
    ("rush.json", "", "Rush", "package.json"),
    ("package.json", "\"workspaces\"", "npm workspaces", "package.json"),
    ("go.work", "", "Go workspace", "go.mod"),
    ("pyproject.toml", "[tool.uv.workspace]", "uv workspace", "pyproject.toml"),
];

/// Returns the CI services that the project is configured for.
pub(super) fn ci(root: &Path) -> Vec<String> {
    let folders = CI_FOLDERS.iter().filter_map(|(folder, service)| {
        let workflows = workflows(&root.join(folder));
        (workflows > 0).then(|| format!("{service} ({})", quantity(workflows, "workflow")))
    });
    let files = CI_FILES.iter().filter(|(file, _)| read::is_file(&root.join(file)));
    folders.chain(files.map(|(_, service)| (*service).to_owned())).collect()
}

fn workflows(folder: &Path) -> usize {
    // A missing or unreadable folder counts as one without workflows.
    let listed = listing::entries(folder).unwrap_or_default();
    listed.iter().filter(|(name, _)| is_yaml(name)).count()
}

fn is_yaml(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "yml" | "yaml")))
}

/// Returns whether a file of this name defines one or more containers.
pub(super) fn is_docker(name: &str) -> bool {
    let lower = name.to_lowercase();
    // In lower case, the name belongs to a syntax file or to a program that reads such files.
    let is_image = |stem: &str| {
        name.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            || lower.ends_with(&format!(".{}", stem.to_lowercase()))
    };
    let is_compose = ["compose.yml", "compose.yaml"].contains(&lower.as_str())
        || lower.starts_with("docker-compose") && is_yaml(&lower);
    is_image("Dockerfile") || is_image("Containerfile") || is_compose
}

/// Returns the workspace tool, and the number of package manifests below the root.
pub(super) fn monorepo(root: &Path, manifests: &BTreeMap<String, usize>) -> Option<String> {
    let says = |file: &str, mark: &str| {
        let path = root.join(file);
        if mark.is_empty() {
            return read::is_file(&path);
        }
        // An unreadable manifest is left to the build to report.
        read::text(&path).ok().flatten().is_some_and(|text| text.value.contains(mark))
    };
    let (.., name, manifest) = WORKSPACES.iter().find(|(file, mark, ..)| says(file, mark))?;
    let packages = manifests.get(*manifest).copied().unwrap_or_default();
    Some(match packages {
        0 => (*name).to_owned(),
        _ => format!("{name}, {packages} {manifest} below the root"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    #[test]
    fn services_are_known_by_their_files() {
        let tree = Tree::new(&[]);
        assert_eq!(ci(&tree.at("")), [""; 0]);
        tree.write(".github/workflows/ci.yml", "");
        tree.write(".github/workflows/release.yaml", "");
        tree.write(".github/workflows/notes.md", "");
        tree.write("Jenkinsfile", "");
        assert_eq!(ci(&tree.at("")), ["GitHub Actions (2 workflows)", "Jenkins"]);
    }

    #[test]
    fn containers_are_known_by_name() {
        for name in [
            "Dockerfile",
            "Dockerfile.dev",
            "api.Dockerfile",
            "Containerfile",
            "compose.yaml",
            "docker-compose.test.yml",
        ] {
            assert!(is_docker(name), "{name}");
        }
        for name in [
            "Dockerfiles", "dockerfile_parser.rs", "dockerfile.vim", ".dockerignore", "compose.rs",
            "docker-compose.md",
        ] {
            assert!(!is_docker(name), "{name}");
        }
    }

    #[test]
    fn a_workspace_counts_its_packages() {
        let tree = Tree::new(&[]);
        let manifests = BTreeMap::from([("package.json".to_owned(), 3)]);
        assert_eq!(monorepo(&tree.at(""), &manifests), None);
        tree.write("package.json", "{\"name\": \"one\"}");
        assert_eq!(monorepo(&tree.at(""), &manifests), None);
        tree.write("package.json", "{\"workspaces\": [\"a\"]}");
        let found = Some("npm workspaces, 3 package.json below the root".to_owned());
        assert_eq!(monorepo(&tree.at(""), &manifests), found);
        tree.write("pnpm-workspace.yaml", "");
        let found = Some("pnpm workspace".to_owned());
        assert_eq!(monorepo(&tree.at(""), &BTreeMap::new()), found);
    }
}
