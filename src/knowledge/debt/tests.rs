use super::*;

fn found(name: &str, text: &str) -> Vec<(usize, String)> {
    let markers = markers_of(Path::new(name), text.as_bytes());
    markers.into_iter().map(|marker| (marker.line, marker.what)).collect()
}

fn lines(name: &str, text: &str) -> Vec<usize> {
    found(name, text).into_iter().map(|(line, _)| line).collect()
}

#[test]
fn markers_are_found_in_the_comments_of_common_languages() {
    for (name, text) in [
        ("a.rs", "/// annals-debt: x"),
        ("a.rs", "fn f<'a>(x: &'a str) {} // annals-debt: x"),
        ("a.rs", "let c = '\"'; // annals-debt: x"),
        ("a.ts", "f(`${x}`) /* annals-debt: x */"),
        ("a.tsx", "{/* annals-debt: x */}"),
        ("a.py", "s = 'don\\'t'  # annals-debt: x"),
        ("a.yml", "note: don't # annals-debt: x"),
        ("Makefile", "## annals-debt: x"),
        ("Dockerfile", "# vibekit: x"),
        ("a.sql", "select 1 -- annals-debt: x"),
        ("a.lua", "--[[ annals-debt: x ]]"),
        ("a.el", ";;; annals-debt: x"),
        ("a.tex", "100\\% % annals-debt: x"),
        ("a.html", "<!-- annals-debt: x -->"),
        ("a.md", "<!-- annals-debt: x -->"),
        ("a.css", "/* annals-debt: x */"),
        ("run", "#!/bin/sh\n# annals-debt: x"),
        (".env", "# annals-debt: x"),
    ] {
        let found = found(name, text);
        assert_eq!(found.len(), 1, "{name}: {text}");
        assert_eq!(found[0].1, "x", "{name}: {text}");
    }
}

#[test]
fn strings_prose_and_other_files_have_none() {
    for (name, text) in [
        ("a.rs", "let s = \"// annals-debt: x\";"),
        ("a.rs", "let s = r#\"\"\n// annals-debt: x\n\"#;"),
        ("a.py", "\"\"\"\n# annals-debt: x\n\"\"\""),
        ("a.js", "const s = `\n// annals-debt: x\n`"),
        ("a.rs", "// we write annals-debt: x"),
        ("a.rs", "annals-debt: x"),
        ("a.md", "A `<!-- annals-debt: x -->` in prose <!-- annals-debt: y -->"),
        ("a.md", "```\n<!-- annals-debt: x -->\n```"),
        ("a.txt", "# annals-debt: x"),
        ("a.json", "{\"vibekit:\": 1}"),
        ("a.rs", "// annals-debt: x\0"),
    ] {
        assert_eq!(found(name, text), [], "{name}: {text}");
    }
}

#[test]
fn the_three_parts_are_separated() {
    let text = "# annals-debt: linear scan. ceiling: 10.5k rows. upgrade: p95 > 1.5 s.\n";
    let marker = &markers_of(Path::new("a.py"), text.as_bytes())[0];
    assert_eq!(marker.what, "linear scan");
    assert_eq!(marker.ceiling.as_deref(), Some("10.5k rows"));
    assert_eq!(marker.upgrade.as_deref(), Some("p95 > 1.5 s"));
    assert!(!marker.no_trigger);
    for text in [
        "# annals-debt: a. ceiling: b.",
        "# annals-debt: a. upgrade:",
        "# annals-debt: a. upgrade: <trigger>.",
        "# annals-debt: a. upgrade: TBD",
        "# annals-debt: a. no-upgrade: b",
    ] {
        let marker = &markers_of(Path::new("a.py"), text.as_bytes())[0];
        assert!(marker.no_trigger, "{text}");
    }
    let swapped = "# annals-debt: a. Upgrade: b. ceiling: c.";
    let marker = &markers_of(Path::new("a.py"), swapped.as_bytes())[0];
    let parts = (marker.ceiling.as_deref(), marker.upgrade.as_deref());
    assert_eq!(parts, (Some("c"), Some("b")));
}

#[test]
fn a_marker_continues_over_the_lines_of_its_comment() {
    let text = "// annals-debt: a list that\n// is walked. ceiling: 10.\n// upgrade: when it\n//   hurts.\n// Another sentence.\nfn f() {}\n";
    let marker = &markers_of(Path::new("a.rs"), text.as_bytes())[0];
    assert_eq!(marker.what, "a list that is walked");
    assert_eq!(marker.upgrade.as_deref(), Some("when it hurts"));
    let block = "/*\n * annals-debt: one\n * two. ceiling: 3.\n *\n * upgrade: never joined\n */\n";
    let marker = &markers_of(Path::new("a.c"), block.as_bytes())[0];
    assert_eq!((marker.line, marker.what.as_str()), (2, "one two"));
    assert!(marker.no_trigger);
    let behind_code = "f() // annals-debt: one\n// about g\ng() // annals-debt: two\n";
    assert_eq!(found("a.ts", behind_code), [(1, "one".to_owned()), (3, "two".to_owned())]);
}

#[test]
fn lines_are_counted_over_strings_and_line_ends_of_any_kind() {
    let text = "let a = \"\n\n\";\r\n/* one\r\n   annals-debt: x */\r\n// annals-debt: y\r\n";
    assert_eq!(lines("a.rs", text), [5, 6]);
    assert_eq!(lines("a.md", "# T\n\ntext\n\n<!--\nannals-debt: x\n-->\n"), [6]);
}

#[test]
fn nothing_open_hides_or_hangs() {
    assert_eq!(lines("a.rs", "let s = \"open\n// annals-debt: x\n"), [2]);
    assert_eq!(lines("a.rs", "/* annals-debt: never closed"), [1]);
    let many = "\"".repeat(100_001) + "\n// annals-debt: x";
    assert_eq!(lines("a.rs", &many), [2]);
    let ticks = "`'\"\\".repeat(50_000) + "\n// annals-debt: x";
    assert!(lines("a.ts", &ticks).len() <= 1);
}
