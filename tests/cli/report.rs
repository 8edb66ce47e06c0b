//! `annals report`

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::cli::{VBW, assert_error};
use crate::support::{Case, Outcome, browser, corpus, require, tree};

const HOSTILE: &str =
    "<script>document.title='taken'</script></title></style></svg><img src=x onerror=alert(1)>";

/// What a terminal or a reader's eye would be misled by: escapes, a bell, text turned round, letters nobody sees.
const UNSEEN: &str =
    "\u{1b}[31mred\u{7}\u{202e}derutaerc\u{202c}\u{2066}x\u{2069}\u{e0041}\u{9b}2J";

/// A project whose every store holds a text.
fn project_with(text: &str) -> Case {
    let case = Case::new(VBW);
    let edit = |path: &str, from: &str, to: &str| {
        let old = String::from_utf8(case.read(path).unwrap()).unwrap();
        assert!(old.contains(from), "{path} has {from}");
        case.write(path, old.replace(from, to));
    };
    edit(".vbw-planning/STATE.md", "cron needs no parsing", text);
    let summary = ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md";
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    let deviation = format!("deviations:\n  - \"`src/{quoted}.rs` had to change\"");
    edit(summary, "deviations: []", &deviation);
    case.write(
        ".vbw-planning/ROADMAP.md",
        format!("# Roadmap {text}\n\n## Phase 4: Low {text}\n\n**Goal:** {text}\n"),
    );
    case.write(".vbw-planning/PROJECT.md", format!("# larderbook\n\n**Core value:** {text}\n"));
    let patterns = ".vbw-planning/patterns/PATTERNS.md";
    let old = String::from_utf8(case.read(patterns).unwrap_or_default()).unwrap();
    let phase = format!(
        "\n### Phase 9: Ninth {text} (2026-02-20)\n\n**What worked:**\n- {text}\n\n**What failed:**\n- `src/{text}.rs` broke (plan 01)\n"
    );
    case.write(patterns, old + &phase);
    case.write("CLAUDE.md", format!("# Notes\n\n{text}\n"));
    for (key, to) in [("units", "merging"), ("merging", text)] {
        let entry = format!(
            "---\nkey: {key}\ntype: gotcha\ntags: [\"{quoted}\"]\ncreated: 2026-02-01\nupdated: 2026-02-02\n---\n\n# About {key} {text}\n\nSee [[{to}]].\n"
        );
        case.write(&format!(".vibekit/memory/{key}.md"), entry);
    }
    let pad = format!("# Vibekit Notepad\n\n## Priority Context\n- {text}\n");
    case.write(".vibekit/notepad.md", pad);
    case.write(
        "docs/memory/DECISIONS.md",
        format!(
            "# Decisions\n\n## 2026-02\n\n### 2026-02-17 — Ship {text}\n\n- **Why**: it is time\n"
        ),
    );
    doubted_fact(&case, text);
    case
}

/// Has an auditor doubt a fact that says the text, so that it waits for the user's word.
fn doubted_fact(case: &Case, text: &str) {
    let facts = |line: &str| case.run(line).env("ANNALS_USER", "ada");
    let known = ["--key", "city", "--value", "Turin"];
    facts("facts add").args(known).success();
    let turn = json!({"user_input": "I moved", "turn_id": "a", "session_id": "s"});
    facts("facts observe").stdin(turn.to_string()).success();
    let action = json!({
        "type": "mark_pending_confirmation", "key": "city", "new_value_text": text,
        "confidence_delta": 0, "reason": text,
    });
    let answer = json!({"actions": [action]}).to_string();
    let applied = facts("facts turns --apply a --allow-secret").stdin(answer).success();
    assert!(applied.stdout().contains("pending"), "{}", applied.report());
}

/// A project whose every store holds text that tries to become code.
fn hostile() -> Case {
    project_with(HOSTILE)
}

fn with_user(case: &Case, line: &str) -> Outcome {
    case.run(line).env("ANNALS_USER", "ada").success()
}

#[test]
fn the_page_tells_every_store_and_fetches_nothing() {
    let case = hostile();
    let page = with_user(&case, "report --out -").stdout();
    for part in [
        "Where it stands",
        "Low ",
        "What finished phases taught",
        "Ship ",
        "merging",
        "Facts awaiting confirmation",
        "context files</th>",
        "answer of the hook</th>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "{page}");
    assert_eq!(page, with_user(&case, "report --out -").stdout());
    let without = case.run("report --out -").success().stdout();
    assert!(!without.contains("Facts awaiting"), "{without}");
}

#[test]
fn stored_text_stays_text() {
    let page = with_user(&hostile(), "report --out -").stdout();
    let told = page.matches("document.title").count();
    assert!(told >= 8, "{told} of the hostile texts are shown");
    for opened in ["<script", "<img", "<iframe", "onerror=alert(1)>"] {
        assert!(!page.contains(opened), "{opened}\n{page}");
    }
    for element in ["title", "style", "code"] {
        let opened = page.matches(&format!("<{element}")).count();
        let closed = page.matches(&format!("</{element}>")).count();
        assert_eq!(opened, closed, "{element}\n{page}");
    }
}

#[test]
fn nothing_unseen_reaches_the_page() {
    let page = with_user(&project_with(UNSEEN), "report --out -").stdout();
    let is_unseen = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    let found: Vec<char> = page.chars().filter(is_unseen).collect();
    assert!(found.is_empty(), "{found:?}\n{page}");
    assert!(page.matches("derutaerc").count() >= 8, "{page}");
    let arabic = with_user(&project_with("مخزن منخفض"), "report --out -").stdout();
    assert!(arabic.contains("مخزن منخفض"), "{arabic}");
    assert!(arabic.contains("unicode-bidi: plaintext"), "{arabic}");
}

#[test]
fn keys_are_blacked_out_wherever_they_are_kept() {
    let key = ["AKIA", "Q3EGZ7YJ", "4WX2MNTB"].concat();
    let broken = ["AKIA", "Q3EGZ7YJ", "\u{1b}[0m", "4WX2MNTB"].concat();
    for text in [key.clone(), broken] {
        let case = project_with(&text);
        for page in ["report --out -", "report --out - --json"] {
            let page = with_user(&case, page).stdout();
            assert!(!page.contains(&key), "{page}");
            let told = page.matches("[redacted]").count();
            assert!(told >= 8, "{told} of the keys are shown as blacked out\n{page}");
        }
    }
}

#[test]
fn a_file_is_written_inside_the_project_only() {
    let case = Case::new(VBW);
    let before = case.tree();
    let dry = case.run("report --out report.html --dry-run").success();
    assert!(dry.stdout().starts_with("--- /dev/null\n"), "{}", dry.report());
    assert_eq!(case.tree(), before);
    let written = case.run("report --out report.html").success();
    assert_eq!(written.stdout(), "report.html\n");
    let page = case.read("report.html").unwrap();
    assert_eq!(case.run("report --out -").success().stdout().as_bytes(), page);
    let document = case.run("report --out - --json").success().json();
    assert_eq!(document["html"].as_str().unwrap().as_bytes(), page);
    let outside = case.home().join("report.html");
    assert_error(
        &case.run("report --out").args([&outside]).code(4),
        "[HOME]/report.html: lies outside the project, so it is not written",
        "the project is [ROOT]; linked_roots in your own settings can allow a folder outside",
    );
    assert!(!outside.exists());
}

#[test]
fn only_an_earlier_report_is_overwritten() {
    let case = Case::new(VBW);
    case.write("README.md", "# Mine\n");
    let before = case.tree();
    for line in ["report --out README.md", "report --out README.md --dry-run"] {
        assert_error(
            &case.run(line).code(4),
            "README.md: is not a report, so it is not overwritten",
            "name another file, or move this one away",
        );
    }
    assert_eq!(case.tree(), before);
    case.run("report --out report.html").success();
    let first = case.read("report.html").unwrap();
    case.run("execute").success();
    case.run("report --out report.html").success();
    assert_ne!(case.read("report.html").unwrap(), first);
    let log = case.run("log").success().stdout();
    assert!(!log.contains("report"), "{log}");
}

#[test]
fn where_nothing_is_remembered_the_page_says_so() {
    let case = Case::empty();
    let page = case.run("report --out -").success().stdout();
    assert!(page.contains("There is no planning folder here"), "{page}");
    // A section with nothing in it is left out.
    assert!(!page.contains("Decisions"), "{page}");
    assert!(case.whole_tree().is_empty());
}

#[test]
fn a_ledger_alone_is_told_with_its_state_and_constraints() {
    let case = Case::empty();
    case.write(
        "docs/memory/STATE.md",
        "# State\n\n## Now\n\n- The gateway runs in Turin\n\n## Blockers\n\n- None\n",
    );
    case.write("docs/memory/CONSTRAINTS.md", "# Constraints\n\n## Rules\n\n- Freeze on Fridays\n");
    let page = case.run("report --out -").success().stdout();
    let (_, told) = page.split_once("What the ledger says</h2>\n").unwrap();
    assert!(
        told.starts_with(
            "<h3>Now</h3><ul><li>The gateway runs in Turin</li></ul>\n<h3>Rules</h3><ul><li>Freeze on Fridays</li></ul>\n"
        ),
        "{told}"
    );
}

#[test]
fn a_browser_shows_the_page_without_a_complaint() {
    if !require("browser") {
        return;
    }
    let browser = browser().unwrap();
    let case = hostile();
    with_user(&case, "report --out report.html");
    let (dom, log) = shown(browser, &case, "report.html", Scheme::Light);
    assert!(dom.contains("<title>larderbook: project memory</title>"), "{dom}\n{log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    // Were anything cut off by an element that stored text opened, the end would be missing.
    assert!(dom.contains("It fetches nothing and runs no script."), "{dom}");
}

/// Looks at the page in a frame of each width: no window of the browser is as narrow as a telephone.
const LOOK: &str = r#"<!doctype html><title>look</title><script>
const light = rgb => {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const channels = colour => colour.match(/[\d.]+/g).map(Number);
const contrast = (one, window) => {
  const ink = light(channels(window.getComputedStyle(one).color).slice(0, 3));
  let behind = one, ground = [255, 255, 255];
  for (; behind; behind = behind.parentElement) {
    const [r, g, b, a = 1] = channels(window.getComputedStyle(behind).backgroundColor);
    if (a === 1) { ground = [r, g, b]; break; }
  }
  const [high, low] = [ink, light(ground)].sort((a, b) => b - a);
  return (high + .05) / (low + .05);
};
onload = () => {
  const found = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, width = frame.clientWidth;
    const say = what => found.push(width + ": " + what);
    if (page.documentElement.scrollWidth > width) say("wider than the window");
    for (const one of page.querySelectorAll("main *")) {
      const box = one.getBoundingClientRect();
      const inside = one.closest(".scroll");
      if (!inside && box.right > width) say("cut off: " + one.outerHTML.slice(0, 80));
      if (one.matches(".scroll") && one.scrollWidth > one.clientWidth && one.tabIndex !== 0) say("no key reaches it");
    }
    for (const one of page.querySelectorAll("body *")) {
      if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
      if (!one.checkVisibility() || one.matches(".skip, title, style")) continue;
      const ratio = contrast(one, frame.contentWindow);
      if (ratio < 4.5) say("contrast " + ratio.toFixed(2) + ": " + one.outerHTML.slice(0, 80));
    }
    for (const link of page.querySelectorAll("a")) {
      if (!page.querySelector(link.getAttribute("href"))) say("leads nowhere: " + link.href);
    }
    say("looked at " + page.querySelectorAll("main *").length);
  }
  document.body.textContent = found.join("\n");
};
</script><body>"#;

#[test]
fn narrow_and_wide_nothing_is_cut_off_and_keys_reach_all() {
    if !require("browser") {
        return;
    }
    let browser = browser().unwrap();
    let unbroken = "a_name_without_any_place_to_break_it_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on";
    for case in [Case::new(VBW), hostile(), project_with(unbroken)] {
        with_user(&case, "report --out report.html");
        let frame = |width: u32| {
            format!(
                "<iframe src=report.html style='border:0;width:{width}px;height:3000px'></iframe>"
            )
        };
        case.write("look.html", format!("{LOOK}{}{}", frame(390), frame(1280)));
        for scheme in [Scheme::Light, Scheme::Dark] {
            let (dom, log) = shown(browser, &case, "look.html", scheme);
            let (_, said) = dom.rsplit_once("<body>").unwrap();
            let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with('<')).collect();
            assert!(
                lines.len() == 2 && lines.iter().all(|line| line.contains(": looked at ")),
                "{scheme:?} {lines:?}\n{log}"
            );
        }
    }
}

#[test]
fn the_pages_of_the_largest_projects_stay_small() {
    let Some(corpus) = corpus() else { return };
    let folders = ["gsd", "vbw"].map(|dialect| corpus.join(dialect).read_dir().unwrap());
    let mut sized: Vec<(usize, PathBuf)> = folders
        .into_iter()
        .flatten()
        .map(|project| project.unwrap().path())
        .map(|path| (tree(&path).values().map(Vec::len).sum(), path))
        .collect();
    sized.sort();
    for (_, project) in sized.iter().rev().take(2) {
        let page = Case::from(project).run("report --out -").success().stdout();
        let name = project.display();
        assert!(page.len() < 300 * 1024, "{name}: {} bytes", page.len());
    }
}

/// What the system asks pages to look like.
#[derive(Clone, Copy, Debug)]
enum Scheme {
    Light,
    Dark,
}

/// Returns the document as a browser without a window shows it, and what it logs.
fn shown(browser: &str, case: &Case, file: &str, scheme: Scheme) -> (String, String) {
    let preferred = match scheme {
        Scheme::Dark => "preferredColorScheme=0",
        Scheme::Light => "preferredColorScheme=1",
    };
    let output = Command::new(browser)
        // Root has no sandbox, and containers have little shared memory.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .args(["--window-size=2000,2000", "--allow-file-access-from-files"])
        .arg(format!("--blink-settings={preferred}"))
        .arg(format!("--user-data-dir={}", case.home().join("browser").display()))
        .arg(format!("file://{}", case.root().join(file).display()))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
