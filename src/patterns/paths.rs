//! Finds mentions of the project's files and folders in prose.
//!
//! ```text
//! `src/api/login.rs:12-30`   the file, without the lines
//! docs/setup.md#install      the file, without the anchor
//! src/old/                   a folder
//! ```
//!
//! Many texts look like paths but are not: URLs, versions, fractions, `and/or`, modules, packages, commands. A text that
//! may be one of these counts only if the file exists, because a wrong "gone" costs more than a missed one. Paths outside
//! of the project and globs are not mentions.

use std::borrow::Cow;

use crate::markdown::{is_fence, without_comments};
use crate::plan::read::vocabulary::has;
use crate::project::vocabulary;
use crate::text::{file_name, listed};

/// A path mentioned in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path, separated by `/`, without line, anchor and punctuation; that of a folder without its last slash.
    pub path: String,
    /// Whether it is written as a folder.
    pub is_folder: bool,
    /// Whether a path is certainly meant; otherwise, it is one only if the file exists.
    pub is_sure: bool,
}

/// Files without an extension, and some whose extension is also a word.
const NAMES: &str = "BUILD CHANGELOG CODEOWNERS Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile NOTICE \
    Procfile README Rakefile go.mod package.json tsconfig.json";

/// Maximum length of a path, in bytes.
const MAX_LENGTH: usize = 300;

/// Returns the paths mentioned in a text, in order and without duplicates.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut add = |word: &str, is_code: bool| {
        let Some(mention) = mention(word, is_code) else { return };
        match found.iter_mut().find(|known| known.path == mention.path) {
            Some(known) => known.is_sure |= mention.is_sure,
            None => found.push(mention),
        }
    };
    let text = if text.contains("<!--") { without_comments(text).into() } else { Cow::from(text) };
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= is_fence(line);
        if is_fenced || is_fence(line) {
            continue;
        }
        let parts: Vec<&str> = line.split('`').collect();
        for (at, part) in parts.iter().enumerate() {
            // The last backtick may be without its pair.
            if at % 2 == 1 && at + 1 < parts.len() {
                // `notes.md` in `docs/My notes.md` is only part of a name.
                let is_one = !part.trim().contains(' ');
                code_words(part).for_each(|word| add(word, is_one));
            } else {
                prose_words(part).for_each(|word| add(word, false));
            }
        }
    }
    found
}

/// Returns the words of a code span that begins with a path; a command has none.
fn code_words(code: &str) -> impl Iterator<Item = &str> {
    let first = code.split_whitespace().next().unwrap_or_default();
    let is_path = first.contains(['/', '.']) && !first.starts_with('-') || first == code.trim();
    code.split_whitespace().filter(move |_| is_path)
}

/// Returns the words of prose, without those that are part of a URL or an option.
fn prose_words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| {
        ",;|\"=>\u{2192}\u{2190}\u{21d2}\u{201c}\u{201d}\u{ab}\u{bb}\u{3001}\u{3002}\u{ff0c}\u{ff08}\u{ff09}".contains(c)
    };
    let words = text.split_whitespace();
    let words = words.filter(|word| {
        !word.contains("://") && !word.starts_with('-') && !word.contains('\u{2026}')
    });
    // Splitting `src/{a,b}.ts` at the comma would give `b}.ts`.
    let words = words.filter(|word| !word.contains('{'));
    words.flat_map(move |word| word.split("](").flat_map(move |part| part.split(is_end)))
}

/// Returns the path that a word stands for; `None` if it is not a path.
fn mention(word: &str, is_code: bool) -> Option<Mention> {
    // What is around a path is shorter than it; taking off thousands of brackets one by one would take long.
    if word.len() > 2 * MAX_LENGTH {
        return None;
    }
    let word = word.replace("\\_", "_").replace('\\', "/");
    let text = without_location(trimmed(&word)).trim_end_matches('.');
    let text = text.strip_prefix("./").unwrap_or(text);
    let has_folder = text.trim_end_matches('/').contains('/');
    let first = text.split('/').next().unwrap_or(text);
    let is_odd = text.is_empty()
        || text.len() > MAX_LENGTH
        || !text.contains(char::is_alphabetic)
        || text.contains("..")
        || text.contains("//")
        || text.contains("path/to/")
        || text.starts_with(['@', '-', '~', '/', '$'])
        || text.contains(|c: char| "<>\"|=%^&;{}$*?:'`".contains(c) || c.is_control());
    if is_odd || has_folder && (is_host(first) || !first.starts_with('.') && has_extension(first)) {
        return None;
    }
    let is_folder = text.ends_with('/');
    let path = text.trim_end_matches('/').to_owned();
    let name = file_name(&path);
    let is_sure = if has_folder {
        is_folder || has_extension(name)
    } else {
        is_code && !is_folder && is_file_name(name)
    };
    (has_folder || is_folder || is_sure || has_extension(name)).then_some(Mention {
        path,
        is_folder,
        is_sure,
    })
}

/// Returns whether a code span is the name or the path of a file.
pub(crate) fn is_file(code: &str) -> bool {
    has_extension(code)
        && !code.contains(|c: char| c.is_whitespace() || "(){}<>=\"'*:;,$".contains(c))
}

/// Strips punctuation, emphasis, quotes and brackets without their pair from both ends.
fn trimmed(word: &str) -> &str {
    let mut text = word;
    loop {
        let before = text;
        text = text
            .trim_end_matches(|c: char| ".,;:!?'\"*~\u{2019}\u{2018}\u{201d}\u{201c}".contains(c));
        text = text.trim_start_matches(|c: char| ",;:'\"*~\u{2018}\u{201c}\u{2019}".contains(c));
        text = ["'s", "\u{2019}s"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
            let (opened, closed) = (text.matches(open).count(), text.matches(close).count());
            let is_around = text.starts_with(open) && text.ends_with(close) && opened == 1;
            if opened > closed || is_around {
                text = text.strip_prefix(open).unwrap_or(text);
            }
            if closed > opened || is_around {
                text = text.strip_suffix(close).unwrap_or(text);
            }
        }
        if text == before {
            return text;
        }
    }
}

/// Removes a location within a file: `:12`, `:12:5`, `#anchor`, `(12)`, `::name`, `?query`.
fn without_location(text: &str) -> &str {
    let heads = text.match_indices([':', '#', '(', '?']).map(|(at, _)| &text[..at]);
    let mut files = heads.filter(|head| has_extension(head) || is_file_name(file_name(head)));
    files.next().unwrap_or(text)
}

fn is_host(name: &str) -> bool {
    let domain = name.rsplit_once('.').filter(|(label, _)| !label.is_empty());
    domain.is_some_and(|(_, domain)| has("top-level domain", domain))
        || name == "localhost"
        || name.contains('@')
}

fn has_extension(name: &str) -> bool {
    let parts = file_name(name).rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    parts.is_some_and(|(_, extension)| has("extension of a file", extension) || extension == "R")
}

/// Returns whether a name without a folder is certainly a file name.
fn is_file_name(name: &str) -> bool {
    let is_word =
        name.rsplit_once('.').is_some_and(|(_, extension)| has("extension or word", extension));
    listed(NAMES, name) || has_extension(name) && !is_word
}

/// Returns whether a file belongs to the planning tool: every plan touches those, and none is about them.
pub(crate) fn is_planning(path: &str) -> bool {
    const DOCUMENTS: &[&str] = &[vocabulary::STATE, vocabulary::ROADMAP, vocabulary::REQUIREMENTS];
    const ENDINGS: &[&str] = &["PLAN.md", "SUMMARY.md", "VERIFICATION.md", "UAT.md"];
    let is_folder = |part: &str| part.starts_with('.') && part.ends_with("planning");
    let last = file_name(path);
    path.split('/').any(is_folder)
        || DOCUMENTS.contains(&last)
        || ENDINGS.iter().any(|ending| last.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Shows the paths of a text; those that count only if the file exists have a question mark.
    fn found(text: &str) -> String {
        let shown = mentions(text).into_iter().map(|mention| {
            let mark = if mention.is_sure { "" } else { "?" };
            let slash = if mention.is_folder { "/" } else { "" };
            format!("{mark}{}{slash}", mention.path)
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths_are_found_without_what_is_around_them() {
        for (text, expected) in [
            ("see src/api/login.rs.", "src/api/login.rs"),
            ("(src/api/login.rs), and", "src/api/login.rs"),
            ("**src/api/login.rs**:", "src/api/login.rs"),
            ("src/api/login.rs's tests", "src/api/login.rs"),
            ("\"src/a.rs\"; 'src/b.rs'", "src/a.rs src/b.rs"),
            ("src/a.rs,src/b.rs\u{2192}src/c.rs", "src/a.rs src/b.rs src/c.rs"),
            ("[guide](docs/guide.md#setup)", "docs/guide.md"),
            ("`./src/a.rs`", "src/a.rs"),
            ("`src\\win\\main.cs`, docs/my\\_file.md", "src/win/main.cs docs/my_file.md"),
            ("src/a.rs and again `src/a.rs`", "src/a.rs"),
            ("日本語（src/größe/日本語.md）です", "src/größe/日本語.md"),
            (
                "`src/a.rs:12:5` src/b.rs#L10-L20 `src/c.rs::tests::deep`",
                "src/a.rs src/b.rs src/c.rs",
            ),
            ("did it break src/a.rs? `src/b.rs(12)`", "src/a.rs src/b.rs"),
            ("`src/old/` `src/old` old/", "src/old/ ?old/"),
            ("`src/{a,b}.ts` and src/{c,d}.ts", ""),
            ("`app/(shop)/[id]/page.tsx`", "app/(shop)/[id]/page.tsx"),
            ("`login.rs`, login.rs grew; main.rs", "login.rs ?main.rs"),
            ("`Makefile` and README, `Cargo.toml`", "Makefile Cargo.toml"),
            ("an odd ` here, src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn only_code_that_looks_like_a_file_is_one() {
        let spans = ["src/a.rs", "b.ts", ".class", "x.y()", "v1.2", "Some<a.b>", "a b.rs"];
        let files: Vec<&str> = spans.into_iter().filter(|code| is_file(code)).collect();
        assert_eq!(files, ["src/a.rs", "b.ts"]);
    }

    #[test]
    fn what_looks_like_a_path_and_is_none_is_never_sure() {
        for text in [
            "https://example.com/docs/setup.md [x](https://example.com/a.html)",
            "example.com/docs/setup.md github.com/owner/name docs.rs/tokio me@example.com",
            "git@github.com:owner/name.git v1.2.3 and 1.2.0/1.3 Node.js, `Next.js` `response.json`",
            "and/or, his/her, I/O, TCP/IP, n/a, 3/3 tasks, 12/40, 2026/02/11, 10.0.0.1/24",
            "std::fs::write, os.path.join, crate::git::Git, java.util.List `console.log` `items.map`",
            "@scope/name, `@/components/Button.tsx`, application/json, /api/users, `/vbw:plan`",
            "`cargo test --lib src/a.rs`, `git mv src/a.rs src/b.rs`, `--config=src/a.rs`",
            "<!-- annals: phase-dir=src/a.rs plans=01 -->\n```\nsrc/a.rs\n```",
            "`src/<name>/mod.rs`, `src/{name}.rs`, `src/.../mod.rs`, src/\u{2026}/mod.rs, `path/to/file.rs`",
            "/etc/hosts `~/.config/a.toml` ../sibling/a.rs `src/../../x.rs` $HOME/notes.md src/**/*.rs",
            "feature/login-form, origin/main, `foo.bar()`, 100%/50%, a * b / c",
        ] {
            let sure: Vec<Mention> =
                mentions(text).into_iter().filter(|mention| mention.is_sure).collect();
            assert_eq!(sure, [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(
            text in "\\PC*",
            near in "[`(\\[{<*_ ]{0,3}[a-z.é/\\\\{},:#*-]{0,12}[)\\]}>.,:;`'s ]{0,4}",
        ) {
            mentions(&text);
            for mention in mentions(&near) {
                prop_assert!(!mention.path.is_empty());
            }
        }
    }
}
