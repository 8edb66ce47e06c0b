//! `annals entry debt`

use serde_json::json;

use crate::cli::assert_unchanged;
use crate::support::Case;

fn indebted() -> Case {
    let case = Case::empty();
    case.write(".gitignore", "dist/\n")
        .write("dist/out.js", "// annals-debt: ignored\n")
        .write(
            "src/rows.rs",
            "fn rows() {}\n// annals-debt: linear scan. ceiling: 10,000 rows. upgrade: p95 over 100 ms.\n",
        )
        .write("src/api.py", "# vibekit: one process. ceiling: 50 users.\n")
        .write("src/deep/a.ts", "/* vibekit: no retry. upgrade: the second timeout. */\n")
        .write("notes.md", "Write `// annals-debt: x` in code.\n");
    case
}

#[test]
fn markers_are_grouped_by_file_and_line_and_counted() {
    let case = indebted();
    let before = case.whole_tree();
    let said = case.run("entry debt").success();
    assert_eq!(
        said.stdout(),
        "src/api.py\n  1  no-trigger  one process. ceiling: 50 users.\nsrc/deep/a.ts\n  1  no retry. upgrade: the second timeout.\nsrc/rows.rs\n  2  linear scan. ceiling: 10,000 rows. upgrade: p95 over 100 ms.\n3 markers, 1 with no trigger.\n"
    );
    assert_eq!(case.whole_tree(), before);
    let document = case.run("entry debt --json").success().json();
    assert_eq!(document["markers"], json!(3));
    assert_eq!(document["no_trigger"], json!(1));
    assert_eq!(
        document["files"][2],
        json!({"file": "src/rows.rs", "markers": [{
            "line": 2, "what": "linear scan", "ceiling": "10,000 rows",
            "upgrade": "p95 over 100 ms", "no_trigger": false,
        }]})
    );
}

#[test]
fn a_project_without_markers_has_none() {
    let case = Case::empty();
    let before = case.tree();
    let said = case.run("entry debt").success();
    assert_eq!(said.stdout(), "0 markers, 0 with no trigger.\n");
    assert_unchanged(&before, &case, &said);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_a_file_over_the_limit_is_reported() {
    let case = indebted();
    std::os::unix::fs::symlink("src/rows.rs", case.root().join("link.rs")).unwrap();
    let large = std::fs::File::create(case.root().join("large.rs")).unwrap();
    large.set_len(9 * 1024 * 1024).unwrap();
    let said = case.run("entry debt").success();
    assert!(said.stdout().ends_with("3 markers, 1 with no trigger.\n"), "{}", said.report());
    assert!(said.stderr().contains("warning: large.rs: is larger than"), "{}", said.report());
}
