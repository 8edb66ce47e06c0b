//! Reads the dependencies of a project from its manifests.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::file_name;

/// The names of a project's dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies(BTreeSet<String>);

/// Frameworks, which shape how code is written, not only what it calls; test and build tools do not count.
const FRAMEWORKS: &str = "@angular/core @builder.io/qwik @nestjs/core @prisma/client @remix-run/react @sveltejs/kit \
    @tauri-apps/api actix-web aiohttp astro axum bevy bottle cakephp/cakephp codeigniter4/framework \
    diesel dioxus django djangorestframework drizzle-orm electron ember-source expo express fastapi \
    fastify flask flutter flutter_bloc flutter_riverpod gatsby hanami hapi hono htmx.org iced koa \
    laravel/framework leptos lit litestar livewire/livewire mongoose next nuxt preact prisma pyramid \
    quart qwik rails react react-native rocket sanic sea-orm sequelize sinatra slim/slim solid-js \
    sqlalchemy sqlmodel sqlx starlette streamlit svelte symfony/framework-bundle symfony/symfony \
    tauri tonic tornado typeorm vue warp yew yiisoft/yii2";

/// Frameworks for Go, whose modules are named by URL.
const GO_FRAMEWORKS: &str = "github.com/gin-gonic/gin github.com/labstack/echo github.com/gofiber/fiber \
    github.com/go-chi/chi github.com/gorilla/mux gorm.io/gorm entgo.io/ent google.golang.org/grpc \
    github.com/beego/beego github.com/charmbracelet/bubbletea";

/// Returns whether a file is a manifest in a supported format.
pub(crate) fn is_manifest(path: &str) -> bool {
    let name = file_name(path);
    let is_generated = path.split('/').any(|part| part == "node_modules" || part == "vendor");
    !is_generated && reader(name).is_some()
}

/// Returns whether a dependency is a framework.
pub(crate) fn is_framework(name: &str) -> bool {
    let has = |list: &str, name: &str| list.split(' ').any(|known| known == name);
    let unversioned = match name.rsplit_once("/v") {
        Some((path, version)) if version.bytes().all(|b| b.is_ascii_digit()) => path,
        _ => name,
    };
    has(FRAMEWORKS, name) || has(GO_FRAMEWORKS, unversioned)
}

/// Returns the reader of a manifest, by its file name.
fn reader(name: &str) -> Option<fn(&str) -> Vec<String>> {
    Some(match name {
        "Cargo.toml" => cargo,
        "package.json" => node,
        "pyproject.toml" => python,
        "go.mod" => go,
        "Gemfile" => |text| text.lines().filter_map(gem).collect(),
        "composer.json" => |text| json_keys(text, &["require", "require-dev"]),
        "pubspec.yaml" => pubspec,
        _ => {
            let rest = name.strip_suffix(".txt")?;
            if !rest.starts_with("requirements") {
                return None;
            }
            |text| text.lines().filter_map(requirement).collect()
        }
    })
}

impl Dependencies {
    /// Adds the dependencies of a manifest; a malformed one adds none.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let found = reader(file_name(path)).map(|read| read(text));
        self.0.extend(found.unwrap_or_default());
    }

    /// Adds the dependencies of another manifest.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns the dependencies added and removed up to `later`, sorted.
    pub(crate) fn changes(&self, later: &Self) -> (Vec<String>, Vec<String>) {
        let without = |one: &Self, other: &Self| one.0.difference(&other.0).cloned().collect();
        (without(later, self), without(self, later))
    }
}

fn cargo(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    cargo_table(&manifest, &mut found);
    if let Some(workspace) = manifest.get("workspace").and_then(toml::Value::as_table) {
        cargo_table(workspace, &mut found);
    }
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(toml::Table::values) {
        if let Some(target) = target.as_table() {
            cargo_table(target, &mut found);
        }
    }
    found
}

fn cargo_table(table: &toml::Table, found: &mut Vec<String>) {
    for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
        if let Some(list) = table.get(key).and_then(toml::Value::as_table) {
            found.extend(list.keys().cloned());
        }
    }
}

fn node(text: &str) -> Vec<String> {
    let keys = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    json_keys(text, &keys)
}

fn json_keys(text: &str, keys: &[&str]) -> Vec<String> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    keys.iter()
        .filter_map(|key| manifest.get(key)?.as_object())
        .flat_map(serde_json::Map::keys)
        // PHP itself and its extensions are not packages.
        .filter(|name| *name != "php" && !name.starts_with("ext-"))
        .cloned()
        .collect()
}

fn python(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let at = |path: &[&str]| {
        let mut value = manifest.get(*path.first()?)?;
        for key in &path[1..] {
            value = value.get(key)?;
        }
        Some(value)
    };
    let mut found = Vec::new();
    let mut lists: Vec<&toml::Value> = at(&["project", "dependencies"]).into_iter().collect();
    for groups in [at(&["project", "optional-dependencies"]), at(&["dependency-groups"])] {
        let groups = groups.and_then(toml::Value::as_table);
        lists.extend(groups.into_iter().flat_map(toml::Table::values));
    }
    for list in lists.into_iter().filter_map(toml::Value::as_array) {
        found.extend(list.iter().filter_map(toml::Value::as_str).filter_map(requirement));
    }
    let mut tables =
        vec![at(&["tool", "poetry", "dependencies"]), at(&["tool", "poetry", "dev-dependencies"])];
    let groups = at(&["tool", "poetry", "group"]).and_then(toml::Value::as_table);
    let groups = groups.into_iter().flat_map(toml::Table::values);
    tables.extend(groups.map(|group| group.get("dependencies")));
    for table in tables.into_iter().flatten().filter_map(toml::Value::as_table) {
        found.extend(table.keys().filter(|name| *name != "python").map(|name| normal(name)));
    }
    found
}

/// Parses `Django[argon2]>=4.2; python_version > "3.8"  # why`.
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let starts = line.starts_with(|c: char| c.is_ascii_alphanumeric());
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))
        .unwrap_or(line.len());
    let name = &line[..end];
    let is_url = line[end..].starts_with("://") || line[end..].starts_with(['/', '\\', ':']);
    (starts && !is_url).then(|| normal(name))
}

/// Normalises the name of a Python package: case is ignored, and `_`, `.` and `-` are equivalent.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

fn go(text: &str) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let (line, note) = line.split_once("//").unwrap_or((line, ""));
        let line = line.trim();
        match line {
            "require (" => is_block = true,
            ")" => is_block = false,
            _ if note.trim() == "indirect" => {}
            _ => {
                let module = line.strip_prefix("require ").or(is_block.then_some(line));
                let module = module.and_then(|module| module.split_whitespace().next());
                found.extend(module.map(str::to_owned));
            }
        }
    }
    found
}

/// Parses `gem "rails", "~> 7.1"`.
fn gem(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("gem")?;
    let rest = rest.trim_start_matches([' ', '(']);
    let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
    let (name, _) = rest[1..].split_once(quote)?;
    Some(name.to_owned())
}

/// Reads the names indented by two spaces under `dependencies:` and `dev_dependencies:`.
fn pubspec(text: &str) -> Vec<String> {
    let mut is_list = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            is_list = matches!(line.trim_end(), "dependencies:" | "dev_dependencies:");
        }
        let name = line.strip_prefix("  ").and_then(|rest| rest.split_once(':'));
        if let Some((name, _)) = name.filter(|(name, _)| is_list && !name.starts_with([' ', '#'])) {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<String> {
        let mut dependencies = Dependencies::default();
        dependencies.add(path, text);
        dependencies.0.into_iter().collect()
    }

    #[test]
    fn each_kind_of_manifest_names_its_dependencies() {
        let cases = [
            (
                "Cargo.toml",
                "[dependencies]\nserde = \"1\"\n[dependencies.clap]\nversion = \"4\"\n[dev-dependencies]\ninsta = \"1\"\n\
                 [target.'cfg(unix)'.dependencies]\nnix = \"0.29\"\n[workspace.dependencies]\ntokio = \"1\"\n",
                "clap insta nix serde tokio",
            ),
            (
                "web/package.json",
                r#"{"dependencies":{"react":"19"},"devDependencies":{"@types/node":"24"}}"#,
                "@types/node react",
            ),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"Django[argon2]>=4; python_version > '3'\", \"typing_extensions\"]\n\
                 [project.optional-dependencies]\ntest = [\"pytest\"]\n[dependency-groups]\ndev = [\"ruff==1\"]\n\
                 [tool.poetry.dependencies]\npython = \"^3\"\nflask = \"*\"\n[tool.poetry.group.x.dependencies]\nnox = \"*\"\n",
                "django flask nox pytest ruff typing-extensions",
            ),
            (
                "requirements-dev.txt",
                "# tools\n-r base.txt\nruff>=0.5  # lint\n\nhttps://x.org/a.whl\nPyYAML\n",
                "pyyaml ruff",
            ),
            (
                "go.mod",
                "module x\n\nrequire github.com/a/b v1.0.0\nrequire (\n\tgorm.io/gorm v1\n\tc.d/e v2 // indirect\n)\n",
                "github.com/a/b gorm.io/gorm",
            ),
            ("Gemfile", "source 'x'\ngem 'rails', '~> 7'\n  gem \"pg\"\n", "pg rails"),
            (
                "composer.json",
                r#"{"require":{"php":">=8","ext-json":"*","laravel/framework":"^11"}}"#,
                "laravel/framework",
            ),
            (
                "pubspec.yaml",
                "name: x\ndependencies:\n  flutter:\n    sdk: flutter\n  # note: x\n  http: ^1\nflutter:\n  assets: []\n",
                "flutter http",
            ),
        ];
        for (path, text, expected) in cases {
            assert!(is_manifest(path));
            assert_eq!(names(path, text).join(" "), expected, "{path}");
        }
    }

    #[test]
    fn what_is_broken_adds_nothing_and_what_is_foreign_is_none() {
        for path in ["Cargo.toml", "package.json", "pyproject.toml", "composer.json"] {
            assert_eq!(names(path, "{[\u{0}"), [""; 0], "{path}");
        }
        assert!(!is_manifest("node_modules/x/package.json") && !is_manifest("README.md"));
        assert!(is_framework("react") && is_framework("github.com/labstack/echo/v4"));
        assert!(!is_framework("left-pad"));
    }

    #[test]
    fn changes_are_told_from_both_sides() {
        let of = |text: &str| {
            let mut dependencies = Dependencies::default();
            dependencies.add("requirements.txt", text);
            dependencies
        };
        let (added, removed) = of("flask\nruff\n").changes(&of("ruff\ndjango\n"));
        assert_eq!((added, removed), (vec!["django".to_owned()], vec!["flask".to_owned()]));
    }
}
