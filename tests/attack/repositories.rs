//! A `.git` that leads to another repository of the user's is neither read nor written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::attack::{HOOKS, Hostile, READS, SECRET, WRITES, Way, tool_calls};
use crate::support::on_two_threads;

/// What an archive may bring in place of `.git`, given the folder of the user's own repository.
type Plant = fn(&Path, &Path);

fn link(place: PathBuf, target: PathBuf) {
    if place.is_dir() {
        fs::remove_dir_all(&place).unwrap();
    } else if place.exists() {
        fs::remove_file(&place).unwrap();
    }
    symlink(target, place).unwrap();
}

fn name_the_folder(root: &Path, private: &Path) {
    fs::remove_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
}

fn name_the_common_folder(root: &Path, private: &Path) {
    fs::write(root.join(".git/commondir"), private.display().to_string()).unwrap();
}

fn link_the_folder(root: &Path, private: &Path) {
    link(root.join(".git"), private.to_owned());
}

fn link_refs_and_objects(root: &Path, private: &Path) {
    for name in ["objects", "refs"] {
        link(root.join(".git").join(name), private.join(name));
    }
}

fn link_a_branch_and_name_the_objects(root: &Path, private: &Path) {
    let git = root.join(".git");
    link(git.join("refs/heads/main"), private.join("refs/heads/main"));
    let objects = private.join("objects").display().to_string();
    fs::create_dir_all(git.join("objects/info")).unwrap();
    fs::write(git.join("objects/info/alternates"), objects).unwrap();
}

fn link_below(root: &Path, private: &Path) {
    for name in ["refs/tags", "objects/info", "logs/HEAD"] {
        link(root.join(".git").join(name), private.join(name));
    }
    for entry in fs::read_dir(private.join("objects")).unwrap() {
        let entry = entry.unwrap();
        let place = root.join(".git/objects").join(entry.file_name());
        link(place, entry.path());
    }
}

/// More than any reader here takes for the path that it ends.
fn padded(text: String) -> String {
    text + &"\n".repeat(5000)
}

fn name_the_common_folder_at_length(root: &Path, private: &Path) {
    // With a branch that only git reads, it is asked for the commit.
    fs::write(root.join(".git/refs/heads/main"), "junk\n").unwrap();
    let text = padded(private.display().to_string());
    fs::write(root.join(".git/commondir"), text).unwrap();
}

fn name_a_folder_with_a_space(root: &Path, private: &Path) {
    fs::rename(root.join(".git"), root.join("own")).unwrap();
    fs::write(root.join(".git"), "gitdir: own \n").unwrap();
    symlink(private, root.join("own ")).unwrap();
}

fn name_a_common_folder_with_a_space(root: &Path, private: &Path) {
    fs::create_dir_all(root.join("common/objects")).unwrap();
    fs::write(root.join(".git/commondir"), "../common \n").unwrap();
    symlink(private, root.join("common ")).unwrap();
}

fn name_the_folder_at_length(root: &Path, private: &Path) {
    fs::remove_dir_all(root.join(".git")).unwrap();
    let text = padded(format!("gitdir: {}", private.display()));
    fs::write(root.join(".git"), text).unwrap();
}

fn name_the_folder_before_a_nul(root: &Path, private: &Path) {
    fs::remove_dir_all(root.join(".git")).unwrap();
    let text = format!("gitdir: {}\0x", private.display());
    fs::write(root.join(".git"), text).unwrap();
}

fn leave_head_dangling(root: &Path, private: &Path) {
    let git = root.join(".git");
    link(git.join("HEAD"), PathBuf::from("refs/heads/main"));
    fs::remove_file(git.join("refs/heads/main")).unwrap();
    for name in ["objects", "packed-refs", "config"] {
        link(git.join(name), private.join(name));
    }
}

fn link_a_branch_and_the_objects(root: &Path, private: &Path) {
    let git = root.join(".git");
    link(git.join("refs/heads/main"), private.join("refs/heads/main"));
    for entry in fs::read_dir(private.join("objects")).unwrap() {
        let entry = entry.unwrap();
        link(git.join("objects").join(entry.file_name()), entry.path());
    }
}

const PLANTS: &[Plant] = &[
    name_the_common_folder_at_length,
    name_a_folder_with_a_space,
    name_a_common_folder_with_a_space,
    name_the_folder_at_length,
    name_the_folder_before_a_nul,
    leave_head_dangling,
    link_a_branch_and_the_objects,
    name_the_folder,
    name_the_common_folder,
    link_the_folder,
    link_refs_and_objects,
    link_a_branch_and_name_the_objects,
    link_below,
];

/// Makes a repository of the user's beside the project, and returns its folder and its commit.
fn private(hostile: &Hostile) -> (PathBuf, String) {
    let folder = hostile.outside.join("private");
    let script = format!(
        "git init -q -b main '{folder}' && cd '{folder}' && git config user.name Ada && \
         git config user.email ada@example.org && git commit -q --allow-empty -m 'fix: {SECRET}' && \
         git tag v9 && git rev-parse HEAD",
        folder = folder.display()
    );
    let commit = hostile.case.shell(&script).success().stdout();
    (folder.join(".git"), commit.trim().to_owned())
}

/// Returns the ways in that ask git, or say where the project lies: one of those that ask the same.
pub(crate) fn ways() -> impl Iterator<Item = Way> {
    const ASK: &[&str] = &[
        "audit", "context", "entry write", "execute", "hook session-end", "init", "ledger pending",
        "ledger update", "patterns check", "recall", "setup git", "ship", "status",
    ];
    let asks = |way: &Way| {
        let line = way.words.join(" ");
        let is_first = line == "hook session-start";
        is_first || ASK.iter().any(|ask| line.starts_with(ask)) && !line.ends_with(" --json")
    };
    let all = [READS, WRITES, HOOKS].into_iter().flat_map(Way::all);
    all.filter(asks).chain([tool_calls()])
}

#[test]
fn another_repository_is_neither_read_nor_written() {
    let plants: Vec<(usize, &Plant)> = PLANTS.iter().enumerate().collect();
    on_two_threads(&plants, |(turn, plant)| {
        let mut hostile = Hostile::new();
        let (private, commit) = private(&hostile);
        hostile.remember();
        plant(hostile.case.root(), &private);
        // One place decides whether a repository is the project's own, so each plant is tried with only a fifth of the ways in,
        // and with those that read most of a repository or write to it.
        let meets = |(place, way): &(usize, Way)| {
            let line = way.words.join(" ");
            place % 5 == turn % 5 || ["ledger pending", "setup git"].contains(&&*line)
        };
        for (_, way) in ways().enumerate().filter(meets) {
            let report = hostile.run(&way).output().report();
            let says = |words: &str| report.contains(words) && !report.contains("ledger pending");
            assert!(!says(SECRET) && !says(&commit[..7]), "{report}");
            assert_eq!(hostile.changed_outside(), [""; 0], "{report}");
            assert_eq!(hostile.leaks(), [""; 0], "{report}");
        }
    });
}

#[test]
fn a_repository_of_pipes_is_not_waited_for() {
    // What stands in one group is read wherever the others are pipes.
    let groups: [&[&str]; 4] = [
        &["HEAD", "../.gitattributes"],
        &["config", "info/exclude"],
        &["packed-refs", "objects/info/alternates", "../.gitignore"],
        &["index", "objects/pack/pack-1111111111111111111111111111111111111111.idx"],
    ];
    on_two_threads(&groups, |places| {
        let hostile = Hostile::new();
        for place in *places {
            let pipe = hostile.case.root().join(".git").join(place);
            let make = format!("rm -f '{pipe}' && mkfifo '{pipe}'", pipe = pipe.display());
            hostile.case.shell(&make).success();
        }
        for way in ways() {
            let ended = hostile.run(&way).output();
            assert!(ended.exit_code().is_some(), "{places:?}: {}", ended.report());
        }
    });
}

#[test]
fn a_bare_repository_below_the_project_is_not_taken_for_its_own() {
    let hostile = Hostile::new();
    let root = hostile.case.root();
    let terminal = "[core]\n\tbare = true\n[include]\n\tpath = /dev/tty\n";
    for folder in ["objects", "refs"] {
        fs::create_dir_all(root.join("app").join(folder)).unwrap();
    }
    fs::write(root.join("app/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join("app/config"), terminal).unwrap();
    hostile.case.write("app/.planning/STATE.md", "# State\n");
    for line in ["context", "audit", "status"] {
        let run = hostile.case.run(&format!("-C app {line}")).output();
        assert!(!run.stderr().contains("/dev/tty"), "{}", run.report());
        assert!(run.exit_code().is_some(), "{}", run.report());
    }
}

#[test]
fn no_repository_is_looked_for_above_one_that_is_not_whole() {
    let mut hostile = Hostile::new();
    let (private, _) = private(&hostile);
    let below = private.parent().unwrap().join("vendor");
    fs::create_dir_all(below.join(".git/refs")).unwrap();
    fs::write(below.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir_all(below.join(".vbw-planning")).unwrap();
    fs::write(below.join(".vbw-planning/STATE.md"), "# State\n").unwrap();
    let head = || fs::read_to_string(private.join("refs/heads/main")).unwrap();
    let before = head();
    hostile.remember();
    for line in ["ledger init", "ledger pending --all", "setup git", "context", "audit"] {
        let run = hostile.case.run(line).args(["-C", below.to_str().unwrap()]).output();
        assert!(!run.report().contains(SECRET), "{}", run.report());
    }
    assert_eq!(head(), before);
    assert!(!fs::read_to_string(private.join("config")).unwrap().contains("annals"));
}

#[test]
fn a_git_that_hangs_ends_with_the_annals_that_waits_for_it() {
    let hostile = Hostile::new();
    // What git holds open ends with it: `cat` ends when both have.
    let script = r#"
        mkdir bin
        printf '#!/bin/sh\necho $$ > started\nexec sleep 1000\n' > bin/git
        chmod +x bin/git
        {
            PATH="$PWD/bin:$PATH" "$ANNALS" ledger pending 3>&1 >/dev/null 2>&1 &
            until [ -s started ]; do :; done
            kill -TERM $!
            wait $!
            echo "ended with $?"
        } | cat
    "#;
    let run = hostile.case.shell(script).within(Duration::from_mins(1));
    assert_eq!(run.success().stdout(), "ended with 143\n");
}
