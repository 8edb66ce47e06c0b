//! The real scripts of VBW, before and after annals, in every order.
//!
//! `VBW_ROOT` names a checkout of VBW. Without it, the tests say that they are skipped.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::support::Case;

/// Returns the checkout of VBW, or says that there is none.
fn vbw() -> Option<PathBuf> {
    let root = std::env::var_os("VBW_ROOT").map(PathBuf::from);
    if root.is_none() {
        // Directly to the stream, since the test runner hides the output of passing tests.
        io::stderr().write_all(b"skipped: VBW_ROOT names no checkout of VBW\n").unwrap();
    }
    root
}

/// One step of a day with VBW and annals.
#[derive(Clone, Copy, Debug)]
enum Step {
    Bootstrap,
    SessionStart,
    Sync,
}

impl Step {
    fn run(self, case: &Case, vbw: &str) {
        match self {
            Self::Bootstrap => {
                let script = format!(
                    "bash {vbw}/scripts/bootstrap/bootstrap-claude.sh CLAUDE.md Pantry 'Stock is right' CLAUDE.md"
                );
                case.shell(&script).success();
            }
            // Without a client around it, a hook may end as it likes.
            Self::SessionStart => {
                let _outcome = case
                    .shell(&format!("CLAUDE_PLUGIN_ROOT={vbw} bash {vbw}/scripts/session-start.sh"))
                    .stdin("{}")
                    .output();
            }
            Self::Sync => {
                case.run("sync").success();
            }
        }
    }
}

fn context(case: &Case) -> String {
    String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap()
}

#[test]
fn one_sync_reaches_the_fixed_point_after_vbws_own_scripts_in_any_order() {
    use Step::{Bootstrap, SessionStart, Sync};

    let Some(vbw) = vbw() else { return };
    let vbw = vbw.display().to_string();
    let orders: [&[Step]; 5] = [
        &[Bootstrap, Sync],
        &[Sync, Bootstrap],
        &[Sync, Bootstrap, Sync, Bootstrap],
        &[SessionStart, Bootstrap, Sync, SessionStart],
        &[Bootstrap, Sync, Bootstrap, SessionStart],
    ];
    for finished in [false, true] {
        for order in orders {
            let case = Case::new("examples/vbw-project");
            case.write("CLAUDE.md", "# Pantry\n\n## Rules\n\nUse tabs.\n");
            if finished {
                case.run("ship --force").success();
            }
            for step in order {
                step.run(&case, &vbw);
            }
            case.run("sync").success();
            let text = context(&case);
            let named = format!("{order:?}, finished {finished}:\n{text}");
            assert_eq!(text.matches("## Active Context\n").count(), 1, "{named}");
            assert_eq!(text.matches("annals:begin").count(), 1, "{named}");
            assert!(
                !text.contains("No active milestone") && !text.contains("(Archived Notes)"),
                "{named}"
            );
            assert!(text.contains("Use tabs.") && text.contains("## VBW Rules"), "{named}");
            case.run("sync --check").success();
        }
    }
}

#[test]
fn a_new_milestone_outlives_vbws_session_start() {
    let Some(vbw) = vbw() else { return };
    let vbw = vbw.display().to_string();
    let case = Case::new("examples/vbw-project");
    case.run("ship --force").success();
    case.run("milestone new offline-mode").success();
    let phase = ".vbw-planning/phases/01-cache/01-01-PLAN.md";
    case.write(phase, "---\nphase: 1\nplan: 1\ntitle: Cache\n---\n");
    let before = case.run("status --json").success().json();
    Step::SessionStart.run(&case, &vbw);
    let after = case.run("status --json").success().json();
    let said = |status: &serde_json::Value| {
        (status["milestone"].clone(), status["next"]["command"].clone())
    };
    assert_eq!(said(&after), said(&before));
    let detected = case.shell(&format!("bash {vbw}/scripts/phase-detect.sh")).success().stdout();
    assert!(detected.contains("phase_count=1"), "{detected}");
}

#[test]
fn vbws_own_bookkeeping_and_annals_agree_on_a_finished_milestone() {
    let Some(vbw) = vbw() else { return };
    let vbw = vbw.display().to_string();
    let case = Case::new("examples/vbw-project");
    let phase = ".vbw-planning/phases/04-low-stock-alerts";
    for (file, summary) in [
        ("04-02-SUMMARY.md", include_str!("../templates/demo/04-02-SUMMARY.md")),
        ("04-03-SUMMARY.md", include_str!("../templates/demo/04-03-SUMMARY.md")),
    ] {
        case.write(&format!("{phase}/{file}"), summary);
        let path = case.root().join(phase).join(file).display().to_string();
        let event = format!("{{\"tool_input\":{{\"file_path\":\"{path}\"}}}}");
        case.shell(&format!("CLAUDE_PLUGIN_ROOT={vbw} bash {vbw}/scripts/state-updater.sh"))
            .stdin(event)
            .success();
    }
    case.run("sync --fix-state").success();
    case.run("execute").success();
    case.run("sync --check").success();
    // The workflow archives, and annals cleans up after it.
    let home = ".vbw-planning/milestones/02-shared-pantry";
    let persist = format!(
        "mkdir -p {home} && cd .vbw-planning && mv phases STATE.md ROADMAP.md milestones/02-shared-pantry/ && cd .. && \
         printf '# Shipped: Shared Pantry\\n\\n**Shipped:** 2026-03-01\\n' > {home}/SHIPPED.md && \
         if [ -f {vbw}/scripts/persist-state-after-ship.sh ]; then \
         bash {vbw}/scripts/persist-state-after-ship.sh {home}/STATE.md .vbw-planning/STATE.md larderbook; fi"
    );
    case.shell(&persist).success();
    case.run("ship --cleanup-only").success();
    for step in [Step::Bootstrap, Step::Sync, Step::SessionStart] {
        step.run(&case, &vbw);
    }
    case.run("sync --check").success();
    let text = context(&case);
    assert!(text.contains("**Milestone:** none (shipped: Shared Pantry, 2026-03-01)"), "{text}");
    assert_eq!(text.matches("## Active Context\n").count(), 1, "{text}");
}
