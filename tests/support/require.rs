//! Checks optional requirements of tests: if one is missing, a test is skipped visibly, or fails on demand.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::support::{corpus, postgres};

/// Returns whether an optional requirement is met: `corpus`, `browser`, `mcp` (the SDK for Python),
/// `mounts` (the right to mount), `postgres` (the server's programs), or the program of that name.
///
/// Otherwise a line says so and the test should return; it fails if `ANNALS_REQUIRE` lists the name.
pub(crate) fn require(name: &str) -> bool {
    let present = match name {
        "corpus" => corpus::location().is_some(),
        "browser" => browser().is_some(),
        "mcp" => can_import("mcp"),
        "mounts" => can_mount(),
        "postgres" => postgres::programs().is_some(),
        program => on_the_path(program),
    };
    let required = std::env::var("ANNALS_REQUIRE").unwrap_or_default();
    if let Some(line) = skipped(name, present, &required).unwrap() {
        // Written directly to the stream, since the test runner hides the output of passing tests.
        io::stderr().write_all(line.as_bytes()).unwrap();
    }
    present
}

/// Returns a browser that tests can drive, if there is one.
pub(crate) fn browser() -> Option<&'static str> {
    browser_among(on_the_path)
}

/// Returns the first of these browsers that can print its console and the DOM; Firefox prints neither.
pub(super) fn browser_among(is_here: impl Fn(&str) -> bool) -> Option<&'static str> {
    ["chromium", "google-chrome"].into_iter().find(|name| is_here(name))
}

/// Returns the line to print for a missing requirement, or an error if it is required.
pub(super) fn skipped(name: &str, present: bool, required: &str) -> Result<Option<String>, String> {
    let is_required = required.split(',').any(|one| one.trim() == name);
    match (present, is_required) {
        (true, _) => Ok(None),
        (false, false) => {
            let test = std::thread::current().name().unwrap_or("?").to_owned();
            Ok(Some(format!("SKIPPED {test}: no {name} here\n")))
        }
        (false, true) => Err(format!("ANNALS_REQUIRE names {name}, and it is not here")),
    }
}

fn can_import(module: &str) -> bool {
    Command::new("python3")
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Mounts in a new namespace, which most containers do not allow.
fn can_mount() -> bool {
    let mount = ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"];
    let output = Command::new("unshare").args(mount).output();
    output.is_ok_and(|output| output.status.success())
}

fn on_the_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_file(&folder.join(program)))
}

fn is_file(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
