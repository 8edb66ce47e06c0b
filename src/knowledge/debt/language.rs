//! Defines the comment and string syntax of common languages.

use std::path::Path;

/// The comment and string syntax of a language.
pub(super) struct Language {
    /// Its file extensions and complete file names.
    names: &'static str,
    /// The start of a line comment.
    pub(super) line: &'static [&'static str],
    /// The start and end of a block comment.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// The kinds of strings, longer quotes first.
    pub(super) strings: &'static [Quote],
}

/// The syntax of a kind of string.
pub(super) struct Quote {
    /// The opening quote.
    pub(super) open: &'static str,
    /// The closing quote.
    pub(super) close: &'static str,
    /// Whether a backslash escapes the next character.
    pub(super) escapes: bool,
    /// Whether it may contain line breaks.
    pub(super) lines: bool,
}

impl Quote {
    /// A string on one line.
    const fn short(mark: &'static str) -> Self {
        Self { open: mark, close: mark, escapes: true, lines: false }
    }

    /// A string that may span lines.
    const fn long(mark: &'static str) -> Self {
        Self { lines: true, ..Self::short(mark) }
    }

    /// A character that looks like the start of a string.
    const fn character(open: &'static str) -> Self {
        Self { lines: false, ..Self::raw(open, "'") }
    }

    /// A raw string, without backslash escapes.
    const fn raw(open: &'static str, close: &'static str) -> Self {
        Self { open, close, escapes: false, lines: true }
    }
}

type Blocks = &'static [(&'static str, &'static str)];
type Strings = &'static [Quote];

const STARS: Blocks = &[("/*", "*/")];
const TAGS: Blocks = &[("<!--", "-->")];

const DOUBLE: Strings = &[Quote::short("\"")];
const BOTH: Strings = &[Quote::short("\""), Quote::short("'")];
const TRIPLE: Strings = &[Quote::long("\"\"\""), Quote::short("\""), Quote::short("'")];
const PYTHON: Strings =
    &[Quote::long("\"\"\""), Quote::long("'''"), Quote::short("\""), Quote::short("'")];
const SCRIPT: Strings = &[Quote::short("\""), Quote::short("'"), Quote::long("`")];
const GO: Strings = &[Quote::short("\""), Quote::short("'"), Quote::raw("`", "`")];
/// A lone `'` begins a lifetime; the two characters that look like the start of a string do not.
const RUST: Strings = &[
    Quote::raw("r###\"", "\"###"),
    Quote::raw("r##\"", "\"##"),
    Quote::raw("r#\"", "\"#"),
    Quote::raw("r\"", "\""),
    Quote::character("'\""),
    Quote::character("'\\\""),
    Quote::long("\""),
];

const fn language(
    names: &'static str,
    line: &'static [&'static str],
    block: Blocks,
    strings: Strings,
) -> Language {
    Language { names, line, block, strings }
}

/// The language of a script without an extension.
const HASH: Language = language("py pyi pyx jl bzl ex exs", &["#"], &[], PYTHON);

/// Comments of markdown that are separate blocks.
pub(super) const MARKDOWN: Language = language("md markdown mdx", &[], TAGS, &[]);

const LANGUAGES: &[Language] = &[
    MARKDOWN,
    HASH,
    language("rs", &["//"], STARS, RUST),
    language("js jsx mjs cjs ts tsx mts cts json5 jsonc", &["//"], STARS, SCRIPT),
    language("go", &["//"], STARS, GO),
    language(
        "c h cc cpp cxx hh hpp hxx m mm java kt kts scala cs swift dart groovy gradle proto zig sol scss less \
         glsl wgsl cu jenkinsfile",
        &["//"],
        STARS,
        TRIPLE,
    ),
    language("php", &["//", "#"], STARS, BOTH),
    language("css", &[], STARS, BOTH),
    language(
        "rb sh bash zsh fish yaml yml toml pl pm r mk cmake conf cfg env nix tcl cr coffee graphql nim awk just \
         makefile dockerfile justfile rakefile gemfile vagrantfile cmakelists.txt build workspace gitignore \
         dockerignore editorconfig",
        &["#"],
        &[],
        BOTH,
    ),
    language("tf hcl tfvars", &["#", "//"], STARS, DOUBLE),
    language("ps1 psm1", &["#"], &[("<#", "#>")], BOTH),
    language("sql adb ads vhd vhdl elm", &["--"], STARS, BOTH),
    language("lua", &["--"], &[("--[[", "]]")], BOTH),
    language("hs", &["--"], &[("{-", "-}")], DOUBLE),
    language("lisp el clj cljs cljc edn scm rkt", &[";"], &[("#|", "|#")], &[Quote::long("\"")]),
    language("ini properties", &[";", "#"], &[], &[]),
    language("asm s", &[";", "#", "//"], STARS, DOUBLE),
    language("tex sty cls bib", &["%"], &[], &[]),
    language("erl hrl", &["%"], &[], DOUBLE),
    language("ml mli fs fsi pas", &["//"], &[("(*", "*)")], DOUBLE),
    language("f90 f95 f03", &["!"], &[], BOTH),
    language("xml svg xsl xsd plist csproj", &[], TAGS, &[]),
    language("html htm xhtml vue svelte astro", &["//"], &[("<!--", "-->"), ("/*", "*/")], &[]),
    language("j2 jinja jinja2", &[], &[("{#", "#}"), ("<!--", "-->")], &[]),
];

impl Language {
    /// Returns the language of a file by its name or its first line; `None` if it is not source code.
    pub(super) fn detect(path: &Path, bytes: &[u8]) -> Option<&'static Self> {
        let name = plain_name(path)?;
        let is_script = !name.contains('.') && bytes.starts_with(b"#!");
        Self::of_name(&name).or(is_script.then_some(&HASH))
    }

    /// Returns whether a file is source code by its name, or may be a script by its first line.
    pub(super) fn may_have_comments(path: &Path) -> bool {
        plain_name(path).is_some_and(|name| !name.contains('.') || Self::of_name(&name).is_some())
    }

    fn of_name(name: &str) -> Option<&'static Self> {
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
        LANGUAGES.iter().find(|language| {
            let mut names = language.names.split_whitespace();
            names.any(|known| known == name || known == extension)
        })
    }

    /// Returns whether it is markdown, in which only a separate block is a comment.
    pub(super) fn is_markdown(&self) -> bool {
        self.names == MARKDOWN.names
    }
}

/// Returns a file's name in lower case, without a leading dot.
fn plain_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    Some(name.strip_prefix('.').unwrap_or(&name).to_owned())
}
