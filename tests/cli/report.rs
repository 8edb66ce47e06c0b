//! `annals report`

use std::process::Command;

use crate::cli::VBW;
use crate::cli::assert_error;
use crate::support::Case;
use crate::support::Outcome;
use crate::support::browser;
use crate::support::require;

const HOSTILE: &str = "<script>document.title='taken'</script><img src=x onerror=alert(1)>";

/// A project whose every store holds text that tries to become code.
fn hostile() -> Case {
    let case = Case::new(VBW);
    let state = ".vbw-planning/STATE.md";
    let text = String::from_utf8(case.read(state).unwrap()).unwrap();
    case.write(state, text.replace("cron needs no parsing", HOSTILE));
    let summary = ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md";
    let text = String::from_utf8(case.read(summary).unwrap()).unwrap();
    let deviation = format!("deviations:\n  - \"{HOSTILE}\"");
    case.write(summary, text.replace("deviations: []", &deviation));
    case.write(
        ".vbw-planning/ROADMAP.md",
        format!("# Roadmap {HOSTILE}\n\n## Phase 4: Low {HOSTILE}\n\n**Goal:** {HOSTILE}\n"),
    );
    case.write(
        ".vbw-planning/PROJECT.md",
        format!("# larderbook\n\n**Core value:** {HOSTILE}\n"),
    );
    case.write("CLAUDE.md", format!("# Notes\n\n{HOSTILE}\n"));
    for (key, to) in [("units", "merging"), ("merging", HOSTILE)] {
        let entry = format!(
            "---\nkey: {key}\ntype: gotcha\ntags: [\"{HOSTILE}\"]\ncreated: 2026-02-01\nupdated: 2026-02-02\n---\n\n# About {key} {HOSTILE}\n\nSee [[{to}]].\n"
        );
        case.write(&format!(".vibekit/memory/{key}.md"), entry);
    }
    let pad = format!("# Vibekit Notepad\n\n## Priority Context\n- {HOSTILE}\n");
    case.write(".vibekit/notepad.md", pad);
    case.write(
        "docs/memory/DECISIONS.md",
        format!("# Decisions\n\n## 2026-02\n\n### 2026-02-17 — Ship {HOSTILE}\n\n- **Why**: it is time\n"),
    );
    case
}

fn with_user(case: &Case, line: &str) -> Outcome {
    case.run(line).env("ANNALS_USER", "ada").success()
}

#[test]
fn the_page_tells_every_store_and_fetches_nothing() {
    let case = hostile();
    let page = with_user(&case, "report").stdout();
    for part in [
        "Where the work stands",
        "Phases over time",
        "1 Event log store",
        "Plans with 5 or more tasks deviated in",
        "Thresholds stand in",
        "Ship ",
        "units names merging",
        "Nothing waits for confirmation.",
        "CLAUDE.md, read by the harness",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "{page}"
    );
    assert_eq!(page.matches("<svg").count(), 7);
    assert_eq!(page, with_user(&case, "report").stdout());
    let without = case.run("report").success().stdout();
    assert!(!without.contains("Facts awaiting"), "{without}");
}

#[test]
fn stored_text_stays_text() {
    let page = with_user(&hostile(), "report").stdout();
    let told = page.matches("document.title").count();
    assert!(told >= 6, "{told} of the hostile texts are shown");
    for opened in ["<script", "<img", "<iframe", "onerror=alert(1)>"] {
        assert!(!page.contains(opened), "{opened}\n{page}");
    }
}

#[test]
fn a_file_is_written_inside_the_project_only() {
    let case = Case::new(VBW);
    let before = case.tree();
    let dry = case.run("report --out report.html --dry-run").success();
    assert!(
        dry.stdout().starts_with("--- /dev/null\n"),
        "{}",
        dry.report()
    );
    assert_eq!(case.tree(), before);
    let written = case.run("report --out report.html").success();
    assert_eq!(written.stdout(), "Wrote report.html.\n");
    let page = case.read("report.html").unwrap();
    assert_eq!(case.run("report").success().stdout().as_bytes(), page);
    let document = case.run("report --json").success().json();
    assert_eq!(document["html"].as_str().unwrap().as_bytes(), page);
    let outside = case.home().join("report.html");
    assert_error(
        &case.run("report --out").args([&outside]).code(4),
        "[HOME]/report.html: lies outside the project, so it is not written",
        "the project is [ROOT]",
    );
    assert!(!outside.exists());
}

#[test]
fn where_nothing_is_remembered_the_page_says_so() {
    let case = Case::empty();
    let page = case.run("report").success().stdout();
    for part in [
        "There is no planning folder here",
        "No decision is recorded.",
        "No entry yet",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(case.whole_tree().is_empty());
}

#[test]
fn a_browser_shows_the_page_without_a_complaint() {
    if !require("browser") {
        return;
    }
    let browser = browser().unwrap();
    let case = hostile();
    with_user(&case, "report --out report.html");
    for width in ["400", "1600"] {
        let output = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-dev-shm-usage"])
            .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
            .arg(format!("--window-size={width},2000"))
            .arg(format!(
                "--user-data-dir={}",
                case.home().join(width).display()
            ))
            .arg(format!(
                "file://{}",
                case.root().join("report.html").display()
            ))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(
            dom.contains("<title>larderbook: project memory</title>"),
            "{dom}\n{log}"
        );
        assert!(!log.contains("CONSOLE"), "{log}");
        // Were anything cut off by an element that stored text opened, the end would be missing.
        assert!(
            dom.contains("It fetches nothing and runs no script."),
            "{dom}"
        );
    }
}
