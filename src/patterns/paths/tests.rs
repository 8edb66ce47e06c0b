use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<String> {
    let shown = |mention: &Mention| {
        let form = match mention.form {
            PathForm::Plain => "",
            PathForm::Folder => "/",
            PathForm::Glob => " glob",
            PathForm::Outside => " outside",
        };
        let grade = match mention.certainty {
            Certainty::Unsure => "?",
            Certainty::Likely => "~",
            Certainty::Sure => "",
        };
        format!("{grade}{}{form}", mention.path)
    };
    mentions(text).iter().map(shown).collect()
}

#[test]
fn paths_are_found_in_prose_without_what_stands_around_them() {
    for (text, expected) in [
        ("`src/api/login.rs`", "src/api/login.rs"),
        ("see src/api/login.rs.", "src/api/login.rs"),
        ("(src/api/login.rs), and", "src/api/login.rs"),
        ("**src/api/login.rs**:", "src/api/login.rs"),
        ("src/api/login.rs's tests", "src/api/login.rs"),
        ("\"src/a.rs\"; 'src/b.rs'", "src/a.rs src/b.rs"),
        ("src/a.rs,src/b.rs→src/c.rs", "src/a.rs src/b.rs src/c.rs"),
        ("[guide](docs/guide.md#setup)", "docs/guide.md"),
        ("`./src/a.rs`", "src/a.rs"),
        ("`src/../lib/a.rs`", "lib/a.rs"),
        ("`src\\win\\main.cs`", "src/win/main.cs"),
        ("docs/my\\_file.md", "docs/my_file.md"),
        ("src/a.rs and again `src/a.rs`", "src/a.rs"),
        ("src/größe/日本語.md", "src/größe/日本語.md"),
        ("日本語（src/a.rs）です", "src/a.rs"),
    ] {
        assert_eq!(found(text).join(" "), expected, "{text}");
    }
}

#[test]
fn lines_anchors_and_symbols_are_cut() {
    for text in [
        "`src/a.rs:12`",
        "src/a.rs:12:5",
        "src/a.rs:12-30,",
        "`src/a.rs#L10-L20`",
        "src/a.rs::parse",
        "`src/a.rs::tests::deep`",
        "`src/a.rs(12)`",
        "`src/a.rs:parse()`",
        "did it break src/a.rs?",
    ] {
        assert_eq!(found(text), ["src/a.rs"], "{text}");
    }
}

#[test]
fn folders_patterns_and_alternatives_keep_their_form() {
    for (text, expected) in [
        ("`src/old/`", &["~src/old/"][..]),
        ("src/old/ moved", &["~src/old/"]),
        ("`src/old`", &["~src/old"]),
        ("`src/**/*.rs`", &["~src/**/*.rs glob"]),
        ("`*.snap`", &["~*.snap glob"]),
        ("`src/{a,b}.ts`", &["src/a.ts", "src/b.ts"]),
        ("src/{api, web}/x.ts", &[]),
        ("`app/(shop)/[id]/page.tsx`", &["app/(shop)/[id]/page.tsx"]),
        ("`docs/My notes.md`", &["~docs/My notes.md"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn bare_names_are_paths_where_only_files_are_called_so() {
    for (text, expected) in [
        ("`login.rs`", "login.rs"),
        ("login.rs grew", "~login.rs"),
        ("`Makefile` and README", "Makefile"),
        ("`Cargo.toml`", "Cargo.toml"),
        ("`.gitignore`", "~.gitignore"),
        ("`.rs` files", ""),
        ("Node.js and Vue.js, `Next.js`", "?Node.js ?Vue.js ?Next.js"),
        ("`response.json`, `console.log`, `items.map`", "?response.json ?console.log ?items.map"),
        ("`vite.config.js`", "vite.config.js"),
    ] {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn what_lies_elsewhere_is_outside() {
    for text in [
        "/etc/hosts",
        "`~/.config/annals/config.toml`",
        "../sibling/src/a.rs",
        "`src/../../x.rs`",
        "C:\\Users\\me\\notes.md",
        "$HOME/notes.md",
        "/usr/local/bin/tool",
    ] {
        let mentions = mentions(text);
        assert_eq!(mentions.len(), 1, "{text}: {mentions:?}");
        assert_eq!(mentions[0].form, PathForm::Outside, "{text}");
    }
}

/// None of these may be reported as gone: they are not paths, or only if the file exists.
#[test]
fn what_looks_like_a_path_and_is_none() {
    for text in [
        "https://example.com/docs/setup.md",
        "[x](https://example.com/a.html)",
        "see example.com/docs/setup.md",
        "github.com/owner/name",
        "docs.rs/tokio",
        "mail me@example.com",
        "git@github.com:owner/name.git",
        "v1.2.3 and 1.2.0/1.3",
        "and/or, his/her, read/write, I/O, TCP/IP, n/a, w/o",
        "3/3 tasks, 12/40, 24/7, 2026/02/11, 10.0.0.1/24",
        "std::fs::write, os.path.join, crate::git::Git, java.util.List",
        "@scope/name, `@types/node`, `@/components/Button.tsx`",
        "`cargo test --lib src/a.rs`, `npm run build`, `git mv src/a.rs src/b.rs`",
        "application/json text/html",
        "/api/users, `/login`, `/vbw:plan`",
        "<!-- annals: phase-dir=src/a.rs plans=01 -->",
        "```\nsrc/a.rs\n```",
        "`src/<name>/mod.rs`, `src/{name}.rs`, `src/.../mod.rs`, src/…/mod.rs",
        "`path/to/file.rs`",
        "`--config=src/a.rs`, -I/usr/include",
        "e.g. i.e. etc.",
        "a * b / c, **bold**, *em*, 2*3",
        "feature/login-form, origin/main",
        "`foo.bar()`, `self.items.len`",
        "100%/50%, +3/-2",
    ] {
        let sure: Vec<Mention> = mentions(text)
            .into_iter()
            .filter(|mention| mention.certainty > Certainty::Unsure)
            .collect();
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
