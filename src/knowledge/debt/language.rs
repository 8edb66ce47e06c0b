//! Defines the comment and string syntax of common languages.

use std::path::Path;

/// The comment and string syntax of a language.
pub(super) struct Language {
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

const fn quote(open: &'static str, close: &'static str, escapes: bool, lines: bool) -> Quote {
    Quote {
        open,
        close,
        escapes,
        lines,
    }
}

const DOUBLE: Quote = quote("\"", "\"", true, false);
const SINGLE: Quote = quote("'", "'", true, false);
const BOTH: &[Quote] = &[DOUBLE, SINGLE];
const BACKTICK: Quote = quote("`", "`", true, true);
const SLASHES: &[&str] = &["//"];
const STARRED: &[(&str, &str)] = &[("/*", "*/")];

const C: Language = Language {
    line: SLASHES,
    block: STARRED,
    strings: &[quote("\"\"\"", "\"\"\"", true, true), DOUBLE, SINGLE],
};
const SCRIPT: Language = Language {
    line: SLASHES,
    block: STARRED,
    strings: &[DOUBLE, SINGLE, BACKTICK],
};
const GO: Language = Language {
    line: SLASHES,
    block: STARRED,
    strings: &[DOUBLE, SINGLE, quote("`", "`", false, true)],
};
const RUST: Language = Language {
    line: SLASHES,
    block: STARRED,
    // A single `'` starts a lifetime; only the two character literals that contain a `"` matter.
    strings: &[
        quote("r###\"", "\"###", false, true),
        quote("r##\"", "\"##", false, true),
        quote("r#\"", "\"#", false, true),
        quote("r\"", "\"", false, true),
        quote("'\"", "'", false, false),
        quote("'\\\"", "'", false, false),
        quote("\"", "\"", true, true),
    ],
};
const PHP: Language = Language {
    line: &["//", "#"],
    block: STARRED,
    strings: BOTH,
};
const CSS: Language = Language {
    line: &[],
    block: STARRED,
    strings: BOTH,
};
const HASH: Language = Language {
    line: &["#"],
    block: &[],
    strings: BOTH,
};
const PYTHON: Language = Language {
    line: &["#"],
    block: &[],
    strings: &[
        quote("\"\"\"", "\"\"\"", true, true),
        quote("'''", "'''", true, true),
        DOUBLE,
        SINGLE,
    ],
};
const TERRAFORM: Language = Language {
    line: &["#", "//"],
    block: STARRED,
    strings: &[DOUBLE],
};
const POWERSHELL: Language = Language {
    line: &["#"],
    block: &[("<#", "#>")],
    strings: BOTH,
};
const SQL: Language = Language {
    line: &["--"],
    block: STARRED,
    strings: BOTH,
};
const LUA: Language = Language {
    line: &["--"],
    block: &[("--[[", "]]")],
    strings: BOTH,
};
const HASKELL: Language = Language {
    line: &["--"],
    block: &[("{-", "-}")],
    strings: &[DOUBLE],
};
const LISP: Language = Language {
    line: &[";"],
    block: &[("#|", "|#")],
    strings: &[quote("\"", "\"", true, true)],
};
const INI: Language = Language {
    line: &[";", "#"],
    block: &[],
    strings: &[],
};
const ASSEMBLY: Language = Language {
    line: &[";", "#", "//"],
    block: STARRED,
    strings: &[DOUBLE],
};
const PERCENT: Language = Language {
    line: &["%"],
    block: &[],
    strings: &[],
};
const ERLANG: Language = Language {
    line: &["%"],
    block: &[],
    strings: &[DOUBLE],
};
const OCAML: Language = Language {
    line: SLASHES,
    block: &[("(*", "*)")],
    strings: &[DOUBLE],
};
const FORTRAN: Language = Language {
    line: &["!"],
    block: &[],
    strings: BOTH,
};
const XML: Language = Language {
    line: &[],
    block: &[("<!--", "-->")],
    strings: &[],
};
const PAGE: Language = Language {
    line: SLASHES,
    block: &[("<!--", "-->"), ("/*", "*/")],
    strings: &[],
};
const TEMPLATE: Language = Language {
    line: &[],
    block: &[("{#", "#}"), ("<!--", "-->")],
    strings: &[],
};

/// The languages, with their extensions and file names.
const LANGUAGES: &[(&Language, &[&str])] = &[
    (&RUST, &["rs"]),
    (
        &SCRIPT,
        &[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "json5", "jsonc",
        ],
    ),
    (&GO, &["go"]),
    (
        &C,
        &[
            "c",
            "h",
            "cc",
            "cpp",
            "cxx",
            "hh",
            "hpp",
            "hxx",
            "m",
            "mm",
            "java",
            "kt",
            "kts",
            "scala",
            "cs",
            "swift",
            "dart",
            "groovy",
            "gradle",
            "proto",
            "zig",
            "sol",
            "scss",
            "less",
            "glsl",
            "wgsl",
            "cu",
            "jenkinsfile",
        ],
    ),
    (&PHP, &["php"]),
    (&CSS, &["css"]),
    (&PYTHON, &["py", "pyi", "pyx", "jl", "bzl", "ex", "exs"]),
    (
        &HASH,
        &[
            "rb",
            "sh",
            "bash",
            "zsh",
            "fish",
            "yaml",
            "yml",
            "toml",
            "pl",
            "pm",
            "r",
            "mk",
            "cmake",
            "conf",
            "cfg",
            "env",
            "nix",
            "tcl",
            "cr",
            "coffee",
            "graphql",
            "nim",
            "awk",
            "just",
            "makefile",
            "dockerfile",
            "justfile",
            "rakefile",
            "gemfile",
            "vagrantfile",
            "cmakelists.txt",
            "build",
            "workspace",
            "gitignore",
            "dockerignore",
            "editorconfig",
        ],
    ),
    (&TERRAFORM, &["tf", "hcl", "tfvars"]),
    (&POWERSHELL, &["ps1", "psm1"]),
    (&SQL, &["sql", "adb", "ads", "vhd", "vhdl", "elm"]),
    (&LUA, &["lua"]),
    (&HASKELL, &["hs"]),
    (
        &LISP,
        &["lisp", "el", "clj", "cljs", "cljc", "edn", "scm", "rkt"],
    ),
    (&INI, &["ini", "properties"]),
    (&ASSEMBLY, &["asm", "s"]),
    (&PERCENT, &["tex", "sty", "cls", "bib"]),
    (&ERLANG, &["erl", "hrl"]),
    (&OCAML, &["ml", "mli", "fs", "fsi", "pas"]),
    (&FORTRAN, &["f90", "f95", "f03"]),
    (&XML, &["xml", "svg", "xsl", "xsd", "plist", "csproj"]),
    (&PAGE, &["html", "htm", "xhtml", "vue", "svelte", "astro"]),
    (&TEMPLATE, &["j2", "jinja", "jinja2"]),
];

/// How a file is scanned for comments.
pub(super) enum SourceKind {
    /// As source in a language with this syntax.
    Source(&'static Language),
    /// As Markdown, where only HTML comments in separate blocks count.
    Markdown,
}

/// Returns how a file is scanned, by its name or first line; `None` if it is not source.
pub(super) fn kind(path: &Path, bytes: &[u8]) -> Option<SourceKind> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let name = name.strip_prefix('.').unwrap_or(&name);
    let extension = name
        .rsplit_once('.')
        .map_or(name, |(_, extension)| extension);
    if ["md", "markdown", "mdx"].contains(&extension) {
        return Some(SourceKind::Markdown);
    }
    let by_name = LANGUAGES
        .iter()
        .find(|(_, names)| names.contains(&name) || names.contains(&extension));
    match by_name {
        Some((language, _)) => Some(SourceKind::Source(language)),
        None if !name.contains('.') && bytes.starts_with(b"#!") => {
            Some(SourceKind::Source(&PYTHON))
        }
        None => None,
    }
}
