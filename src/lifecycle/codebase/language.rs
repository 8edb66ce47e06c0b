//! Classifies files by name: the programming language, and whether the file is a test.

use std::path::Path;

/// Languages with their file extensions, one a line; data formats and prose are not included.
const LANGUAGES: &str = "\
Assembly: asm s
Astro: astro
C: c h
C#: cs
C++: cc cpp cxx hh hpp hxx
CSS: css less sass scss
Clojure: clj cljc cljs
Crystal: cr
D: d
Dart: dart
Elixir: ex exs heex
Elm: elm
Erlang: erl hrl
F#: fs fsx
Fortran: f90 f95
Go: go
GraphQL: gql graphql
Groovy: gradle groovy
HCL: hcl tf
HTML: htm html
Haskell: hs
Java: java
JavaScript: cjs js jsx mjs
Julia: jl
Kotlin: kt kts
Lua: lua
Nim: nim
Nix: nix
Notebook: ipynb
OCaml: ml mli
Objective-C: m mm
PHP: php
Pascal: pas
Perl: pl pm
PowerShell: ps1 psm1
Protocol Buffers: proto
Python: py pyi
R: r
Ruby: erb rake rb
Rust: rs
SQL: sql
Scala: sc scala
Shell: bash bats fish sh zsh
Solidity: sol
Svelte: svelte
Swift: swift
TypeScript: cts mts ts tsx
Vue: vue
Zig: zig";

/// Folders that contain only tests.
const TEST_FOLDERS: &[&str] = &["__tests__", "e2e", "spec", "specs", "test", "tests"];

/// Returns the language of a source file.
pub(super) fn language(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (stem, extension) = name.rsplit_once('.')?;
    // Minified files are generated, so they do not count as source.
    let is_minified = Path::new(stem).extension().is_some_and(|inner| inner == "min");
    if stem.is_empty() || is_minified {
        return None;
    }
    let rows = LANGUAGES.lines().filter_map(|line| line.split_once(": "));
    let mut known =
        rows.filter(|(_, extensions)| extensions.split(' ').any(|known| known == extension));
    known.next().map(|(language, _)| language)
}

/// Returns the location of a test: the outermost test folder above it, otherwise its own folder; `None` for
/// other files.
pub(super) fn test_home(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    let is_tests = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| TEST_FOLDERS.contains(&name))
    };
    // The outermost one, which includes those below it.
    let home = folder.ancestors().filter(|folder| is_tests(folder)).last();
    home.or_else(|| is_test_name(path).then_some(folder))
}

/// Returns whether a file name is that of a test: `test_a.py`, `a_test.go`, `a.spec.ts`, `a_spec.rb`,
/// `ATest.java`.
fn is_test_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let parts: Vec<&str> = stem.split(['.', '_', '-']).collect();
    let is_mark = |part: Option<&&str>| matches!(part, Some(&("test" | "tests" | "spec")));
    let is_first = parts.first() == Some(&"test");
    let is_camel = |word: &str| {
        let before = stem.strip_suffix(word).and_then(|rest| rest.chars().next_back());
        before.is_some_and(char::is_alphanumeric)
    };
    parts.len() > 1 && (is_first || is_mark(parts.last()))
        || ["Test", "Tests", "Spec"].iter().any(|word| is_camel(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known_by_the_ending() {
        for (path, expected) in [
            ("src/main.rs", Some("Rust")),
            ("ui/App.TSX", Some("TypeScript")),
            ("README.md", None),
            ("data.json", None),
            ("Makefile", None),
            (".js", None),
            ("jquery.min.js", None),
            ("types.d.ts", Some("TypeScript")),
        ] {
            assert_eq!(language(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn tests_are_known_by_folder_or_name() {
        for (path, expected) in [
            ("tests/cli/init.rs", Some("tests")),
            ("app/spec/models/spec/a.rb", Some("app/spec")),
            ("pkg/a_test.go", Some("pkg")),
            ("test_a.py", Some("")),
            ("ui/a.spec.ts", Some("ui")),
            ("src/CartTest.java", Some("src")),
            ("src/latest.rs", None),
            ("src/test.rs", None),
            ("src/Contest.cs", None),
            ("src/spec_reader.rs", None),
        ] {
            assert_eq!(test_home(Path::new(path)), expected.map(Path::new), "{path}");
        }
    }
}
