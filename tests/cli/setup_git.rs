//! `annals setup git`

use crate::cli::{VBW, assert_error};
use crate::support::{Case, require};

const ATTRIBUTES: &str = ".gitattributes";

fn repository() -> Option<Case> {
    if !require("git") {
        return None;
    }
    let case = Case::new(VBW);
    case.git_init();
    Some(case)
}

const COMMAND: &str = "git config merge.annals.driver 'annals merge-file %O %A %B --path %P || \
                       git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B'";

#[test]
fn it_is_set_up_once_and_taken_away_to_the_byte() {
    let Some(case) = repository() else { return };
    let mine = b"*.png binary\r\n# mine\n";
    case.write(ATTRIBUTES, mine);
    case.run("setup git --check").code(1);
    let done = case.run("setup git").success();
    let said = format!(".gitattributes extended.\nRun once in this clone: {COMMAND}\n");
    assert_eq!(done.stdout(), said);
    let text = String::from_utf8(case.read(ATTRIBUTES).unwrap()).unwrap();
    assert!(text.contains("\n/.vbw-planning/patterns/PATTERNS.md merge=annals\n"), "{text}");
    case.run("setup git --check").code(1);
    let doctor =
        || case.run("doctor").env("PATH", std::env::var("PATH").unwrap()).success().stdout();
    assert!(
        doctor().contains(&format!(" git            attention    1  {COMMAND}\n")),
        "{}",
        doctor()
    );
    case.shell(COMMAND).success();
    case.run("setup git --check").success();
    assert!(doctor().contains(" git            ok "), "{}", doctor());
    assert_eq!(case.run("setup git").success().stdout(), ".gitattributes unchanged.\n");
    let removed = case.run("setup git --remove").success();
    let said = ".gitattributes reduced.\nRun once in this clone: git config --remove-section merge.annals\n";
    assert_eq!(removed.stdout(), said);
    assert_eq!(case.read(ATTRIBUTES).unwrap(), mine);
}

#[test]
fn a_dry_run_and_a_check_write_nothing() {
    let Some(case) = repository() else { return };
    let shown = case.run("setup git --dry-run").success();
    let diff = shown.stdout();
    assert!(diff.contains("+/docs/memory/DECISIONS.md merge=annals\n"), "{}", shown.report());
    assert!(diff.contains("log.md merge=union\n"), "{}", shown.report());
    assert_eq!(case.run("setup git --check").code(1).stdout(), diff);
    assert!(case.read(ATTRIBUTES).is_none());
}

#[test]
fn a_file_of_ours_alone_goes_with_it() {
    let Some(case) = repository() else { return };
    case.run("setup git").success();
    case.run("setup git --remove").success();
    assert!(case.read(ATTRIBUTES).is_none());
}

#[test]
fn without_a_repository_there_is_nothing_to_set_up() {
    let case = Case::empty();
    assert_error(
        &case.run("setup git").code(3),
        "[ROOT]: this is not a git repository",
        "`git init` creates one",
    );
}
