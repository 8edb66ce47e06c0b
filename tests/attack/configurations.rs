//! Whatever a repository's own settings for git name is not run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::attack::HOOKS;
use crate::attack::Hostile;
use crate::attack::READS;
use crate::attack::WRITES;
use crate::attack::Way;
use crate::attack::tool_calls;

#[test]
fn nothing_that_the_repository_names_is_started() {
    let hostile = Hostile::new();
    let root = hostile.case.root().to_owned();
    let sprung = root.join(".git/sprung");
    let trap = root.join(".git/trap.sh");
    fs::write(
        &trap,
        format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", sprung.display()),
    )
    .unwrap();
    let hooks = root.join(".git/traps");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
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
         [credential]\nhelper = !{trap}\n[gc]\nauto = 1\nrecentObjectsHook = {trap}\n\
         [sequence]\neditor = {trap}\n[uploadpack]\npackObjectsHook = {trap}\n[trailer \"x\"]\ncommand = {trap}\n",
        hooks = hooks.display(),
    );
    let path = root.join(".git/config");
    let own = fs::read_to_string(&path).unwrap();
    fs::write(&path, own + &config).unwrap();
    for attributes in [
        "*.rs filter=evil diff=evil\nClaude* filter=e=v\n",
        "* filter=evil diff=evil\n",
    ] {
        fs::write(root.join(".git/info/attributes"), attributes).unwrap();
        let ways = [READS, WRITES, HOOKS].into_iter().flat_map(Way::all);
        for way in ways.chain([tool_calls()]) {
            let ended = hostile.run(&way).output();
            let started = fs::read_to_string(&sprung).unwrap_or_default();
            assert!(started.is_empty(), "{started}\n{}", ended.report());
        }
    }
}
