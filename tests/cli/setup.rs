//! `annals setup`: our entries beside those of others, and away again without a trace.

use crate::support::Case;

const TARGETS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

#[test]
fn a_second_run_changes_nothing_and_remove_leaves_nothing() {
    for target in TARGETS {
        for scope in ["", " --user", " --project"] {
            let case = Case::empty();
            case.git_init();
            let line = format!("setup {target}{scope}");
            let before = (case.tree(), settings_at_home(&case));
            case.run(&format!("{line} --check")).code(1);
            assert_eq!((case.tree(), settings_at_home(&case)), before, "{line}");
            case.run(&line).success();
            let set_up = (case.tree(), settings_at_home(&case));
            assert_ne!(set_up, before, "{line}");
            case.run(&format!("{line} --check")).success();
            case.run(&line).success();
            assert_eq!((case.tree(), settings_at_home(&case)), set_up, "{line}");
            case.run(&format!("{line} --remove")).success();
            assert_eq!((case.tree(), settings_at_home(&case)), before, "{line}");
        }
    }
}

/// Every file in the home folder, but for our own records.
fn settings_at_home(case: &Case) -> Vec<(String, Vec<u8>)> {
    let all = crate::support::tree(case.home()).into_iter();
    all.filter(|(path, _)| !path.starts_with(".local/") && !path.ends_with('/'))
        .collect()
}
