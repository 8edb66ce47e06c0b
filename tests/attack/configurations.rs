//! Whatever a repository's own settings for git name is neither run nor read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::attack::repositories::ways;
use crate::attack::{Hostile, SECRET};
use crate::support::on_two_threads;

/// Adds to the settings that git keeps of the hostile project.
fn configure(hostile: &Hostile, settings: &str) {
    let path = hostile.case.root().join(".git/config");
    let own = fs::read_to_string(&path).unwrap();
    fs::write(&path, own + settings).unwrap();
}

/// Who opens a pipe that nobody writes into waits forever, so each run that ends has not opened it.
#[test]
fn no_file_elsewhere_that_the_settings_name_is_read() {
    let of_includes = |pipe: &str| {
        format!("[include]\npath = {pipe}\n[includeIf \"gitdir:**\"]\npath = {pipe}\n")
    };
    let of_rules = |pipe: &str| {
        format!(
            "[core]\nattributesFile = {pipe}\nexcludesFile = {pipe}\n[mailmap]\nfile = {pipe}\n"
        )
    };
    let settings: [&(dyn Fn(&str) -> String + Sync); 2] = [&of_includes, &of_rules];
    on_two_threads(&settings, |settings| {
        let hostile = Hostile::new();
        let pipe = hostile.case.root().parent().unwrap().join("pipe");
        let made = hostile.case.shell(&format!("mkfifo '{}'", pipe.display()));
        made.success();
        configure(&hostile, &settings(&pipe.display().to_string()));
        for way in ways() {
            let ended = hostile.run(&way).output();
            assert!(ended.exit_code().is_some(), "{}", ended.report());
        }
    });
}

#[test]
fn settings_that_include_a_file_elsewhere_are_named() {
    let hostile = Hostile::new();
    configure(&hostile, "[include]\npath = ../../outside/file.md\n");
    let told = hostile.case.run("status").output().stderr();
    let expected = ".git/config: includes a file from outside the repository";
    assert!(told.contains(expected), "{told}");
    // What is included from the repository itself is the team's own.
    let hostile = Hostile::new();
    configure(&hostile, "[include]\npath = ../.gitconfig\n");
    hostile.case.write(".gitconfig", "[core]\nabbrev = 9\n");
    assert_eq!(hostile.case.run("status").output().stderr(), "");
}

#[test]
fn files_that_are_checked_out_elsewhere_are_not_looked_at() {
    let hostile = Hostile::new();
    let elsewhere = hostile.outside.join("folder");
    configure(&hostile, &format!("[core]\nworktree = {}\n", elsewhere.display()));
    for way in ways() {
        let report = hostile.run(&way).output().report();
        assert_eq!(hostile.changed_outside(), [""; 0], "{report}");
        assert!(!report.contains(SECRET), "{report}");
    }
    let committed = hostile.case.program("git --work-tree=. ls-tree -r --name-only HEAD");
    let committed = committed.success().stdout();
    assert!(committed.contains("docs/memory/CONSTRAINTS.md"), "{committed}");
    assert!(!committed.lines().any(|name| name == "first.md"), "{committed}");
}

#[test]
fn nothing_that_the_repository_names_is_started() {
    let hostile = Hostile::new();
    let root = hostile.case.root().to_owned();
    let sprung = root.join(".git/sprung");
    let trap = root.join(".git/trap.sh");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", sprung.display())).unwrap();
    let hooks = root.join(".git/traps");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-commit", "post-commit", "reference-transaction", "post-index-change",
        "prepare-commit-msg",
    ] {
        fs::copy(&trap, hooks.join(hook)).unwrap();
        fs::set_permissions(hooks.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.display();
    let config = format!(
        "[core]\nfsmonitor = {trap}\nhooksPath = {hooks}\npager = {trap}\neditor = {trap}\nsshCommand = {trap}\naskPass = {trap}\n\
         alternateRefsCommand = {trap}\n[gpg]\nprogram = {trap}\n[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n\
         [log]\nshowSignature = true\n[diff]\nexternal = {trap}\n[diff \"evil\"]\ncommand = {trap}\ntextconv = {trap}\n\
         [filter \"evil\"]\nclean = {trap}\nsmudge = {trap}\nprocess = {trap}\nrequired = true\n\
         [filter \"e=v\"]\nclean = {trap}\n[alias]\nstatus = !{trap}\nlog = !{trap}\nadd = !{trap}\n\
         [merge \"evil\"]\ndriver = {trap}\n[credential]\nhelper = !{trap}\n[gc]\nauto = 1\nrecentObjectsHook = {trap}\n\
         [sequence]\neditor = {trap}\n[uploadpack]\npackObjectsHook = {trap}\n[trailer \"x\"]\ncommand = {trap}\n",
        hooks = hooks.display(),
    );
    configure(&hostile, &config);
    for (place, attributes) in [
        (".git/info/attributes", "*.rs filter=evil diff=evil\nClaude* filter=e=v\n"),
        (".gitattributes", "* filter=evil diff=evil merge=evil\n"),
    ] {
        fs::write(root.join(place), attributes).unwrap();
        for way in ways() {
            let ended = hostile.run(&way).output();
            let started = fs::read_to_string(&sprung).unwrap_or_default();
            assert!(started.is_empty(), "{started}\n{}", ended.report());
        }
    }
}
