//! Reads the dependencies of a project from its manifests: Cargo, npm, Python and Go.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::file_name;

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
    let is_known = matches!(name, "Cargo.toml" | "package.json" | "pyproject.toml" | "go.mod")
        || name.starts_with("requirements") && name.strip_suffix(".txt").is_some();
    is_known && !is_generated
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

/// Returns the names of the dependencies in a manifest; a malformed one has none.
pub(crate) fn dependencies(path: &str, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match file_name(path) {
        "go.mod" => {
            let lines = text.lines().filter(|line| !line.contains("// indirect")).map(str::trim);
            let modules = lines.map(|line| line.strip_prefix("require ").unwrap_or(line));
            let names = modules.filter_map(|module| module.split_whitespace().next());
            // Of the directives of a go.mod, only modules have a host.
            found.extend(names.filter(|name| name.contains('.')).map(str::to_owned));
        }
        name if name.strip_suffix(".txt").is_some() => {
            found.extend(text.lines().filter_map(requirement));
        }
        "package.json" => {
            add_tables(&serde_json::from_str(text).unwrap_or_default(), false, &mut found);
        }
        _ => add_tables(&toml::from_str(text).unwrap_or_default(), false, &mut found),
    }
    found
}

/// Adds the keys of all tables of dependencies, and the packages in all lists of requirements, at any depth:
/// `dependencies`, `devDependencies`, `target.….dev-dependencies`, `project.optional-dependencies`, `tool.poetry.….dependencies`.
fn add_tables(value: &Value, is_list: bool, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let is_dependencies =
                    key.to_lowercase().ends_with("dependencies") || key == "dependency-groups";
                match value {
                    // A group of requirements has a name, a dependency a version.
                    Value::Object(inner) if is_dependencies => {
                        let names = inner.iter().filter(|(_, value)| !value.is_array());
                        found.extend(names.map(|(name, _)| name.clone()));
                        add_tables(value, true, found);
                    }
                    _ => add_tables(value, is_list && value.is_array() || is_dependencies, found),
                }
            }
        }
        Value::Array(list) if is_list => {
            found.extend(list.iter().filter_map(Value::as_str).filter_map(requirement));
        }
        _ => {}
    }
}

/// Parses `Django[argon2]>=4.2; python_version > "3.8"  # why`.
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let is_path = rest.starts_with([':', '/', '\\']);
    // The names of Python packages ignore case, and `_`, `.` and `-` are equivalent.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && !is_path;
    is_name.then(|| name.to_lowercase().replace(['_', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_names_its_dependencies() {
        for (path, text, expected) in [
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n[dependencies]\naxum = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\nnix = { version = \"1\" }\n",
                "axum nix",
            ),
            (
                "web/package.json",
                r#"{"name": "a", "dependencies": {"react": "^19"}, "devDependencies": {"vite": "1"}}"#,
                "react vite",
            ),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"Django>=4\"]\n[project.optional-dependencies]\nweb = [\"Flask_Cors\"]\n[tool.poetry.dependencies]\nfastapi = \"1\"\n",
                "django fastapi flask-cors",
            ),
            (
                "go.mod",
                "module example.com/a\n\ngo 1.22\n\nrequire (\n\tgorm.io/gorm v1.2\n\tb.c/d v1 // indirect\n)\n",
                "gorm.io/gorm",
            ),
            ("requirements-dev.txt", "# tests\npytest==8\n-r base.txt\n./local\n", "pytest"),
            ("Cargo.toml", "[dependencies\n", ""),
        ] {
            let found: Vec<String> = dependencies(path, text).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{path}");
        }
    }
}
