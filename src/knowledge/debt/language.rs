//! How the common languages write comments and strings.

use std::path::Path;

/// The marks of a language.
pub(super) struct Language {
    /// What begins a comment up to the end of the line.
    pub(super) line: &'static [&'static str],
    /// What begins and ends a comment of several lines.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// What begins and ends a string; the longer marks first.
    pub(super) strings: &'static [Quote],
}

/// How a string is written.
pub(super) struct Quote {
    /// What begins it.
    pub(super) open: &'static str,
    /// What ends it.
    pub(super) close: &'static str,
    /// Whether a backslash takes the meaning from what follows.
    pub(super) escapes: bool,
    /// Whether it may go on over a line's end.
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
    // A lone `'` begins a lifetime; the two characters that look like the start of a string do not.
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

/// Each language by its extensions and whole file names.
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

/// What a file is read as.
pub(super) enum SourceKind {
    /// A language with these marks.
    Source(&'static Language),
    /// Markdown, where only a comment of its own is one.
    Markdown,
}

/// Returns what a file is read as, by its name or its first line; nothing for what is no source.
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
