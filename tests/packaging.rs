//! The packages of a release, made by `packaging/release.py` and used as people use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::require;

const TARGETS: [&str; 5] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// A scratch folder with a stand-in for a platform's binary: a script that starts the one under test.
struct Release {
    folder: tempfile::TempDir,
}

impl Release {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let binary = env!("CARGO_BIN_EXE_annals");
        let script = format!("#!/bin/sh\nexec '{binary}' \"$@\"\n");
        fs::write(folder.path().join("annals"), script).unwrap();
        let release = Self { folder };
        release.call("chmod", &["755", "annals"]);
        release
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program in the folder, with a home of its own.
    fn output(&self, program: &str, arguments: &[&str]) -> Output {
        let home = self.path().join("home");
        fs::create_dir_all(&home).unwrap();
        Command::new(program)
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", home)
            .env("ANNALS_INSTALL_DIR", self.path().join("bin"))
            .env("ANNALS_DOWNLOAD_BASE", self.path().join("made"))
            .env("ANNALS_REPOSITORY", "https://github.com/someone/annals")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap()
    }

    fn call(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.output(program, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}\n{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs one command of the release script and returns the path that it names.
    fn make(&self, command: &[&str]) -> PathBuf {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/release.py");
        let mut arguments = vec![script.to_str().unwrap(), "--out", "made"];
        arguments.extend(command);
        self.path().join(self.call("python3", &arguments).trim_end())
    }

    /// Makes the archive of a platform; only that of the first has the manual, for which each command is asked.
    fn archive(&self, target: &str) -> PathBuf {
        let speaker = if target == TARGETS[0] { env!("CARGO_BIN_EXE_annals") } else { "true" };
        let archive = ["archive", "--target", target, "--binary", "annals"];
        self.make(&[&archive[..], &["--speaker", speaker]].concat())
    }
}

fn version() -> String {
    format!("annals {}\n", env!("CARGO_PKG_VERSION"))
}

#[test]
fn an_archive_has_the_binary_its_manual_and_its_completions() {
    if !require("python3") {
        return;
    }
    let release = Release::new();
    let archive = release.archive(TARGETS[0]);
    release.call("tar", &["-xzf", archive.to_str().unwrap()]);
    let folder = format!("annals-v{}-{}", env!("CARGO_PKG_VERSION"), TARGETS[0]);
    let folder = release.path().join(folder);
    let binary = folder.join("annals");
    assert_eq!(release.call(binary.to_str().unwrap(), &["--version"]), version());
    for file in ["LICENSE", "NOTICE", "README.md", "completions/_annals", "man/annals-status.1"] {
        assert!(folder.join(file).metadata().unwrap().len() > 100, "{file}");
    }
    let checksum = format!("{}.sha256", archive.display());
    let checked = release.path().join("made");
    let output = Command::new("sha256sum").args(["-c", &checksum]).current_dir(checked).output();
    assert!(output.unwrap().status.success());
    let first = fs::read(&archive).unwrap();
    assert_eq!(first, fs::read(release.archive(TARGETS[0])).unwrap(), "the same bytes again");
}

#[test]
fn the_npm_package_runs_without_install_scripts() {
    if !require("npm") || !require("python3") {
        return;
    }
    let release = Release::new();
    let launcher = release.make(&["npm"]);
    let target = if cfg!(target_arch = "aarch64") { TARGETS[1] } else { TARGETS[0] };
    let platform = release.make(&["npm-platform", "--target", target, "--binary", "annals"]);
    let manifest = fs::read_to_string(launcher.join("package.json")).unwrap();
    assert!(!manifest.contains("\"scripts\""), "{manifest}");
    let mut install = vec!["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    let packed: Vec<String> = [launcher, platform]
        .iter()
        .map(|folder| {
            let packed = release.call("npm", &["pack", "--silent", folder.to_str().unwrap()]);
            format!("./{}", packed.trim_end())
        })
        .collect();
    install.extend(packed.iter().map(String::as_str));
    release.call("npm", &install);
    let installed = release.path().join("node_modules/.bin/annals");
    assert_eq!(release.call(installed.to_str().unwrap(), &["--version"]), version());
    let missing = release.output(installed.to_str().unwrap(), &["plan"]);
    assert_eq!(missing.status.code(), Some(3), "the exit code is the binary's");
}

#[test]
fn the_install_script_takes_the_archive_that_it_was_made_for() {
    if !require("python3") || !cfg!(target_os = "linux") {
        return;
    }
    let release = Release::new();
    let archives: Vec<PathBuf> = TARGETS.iter().map(|target| release.archive(target)).collect();
    let script = release.make(&["install-script"]);
    release.call("sh", &[script.to_str().unwrap()]);
    let installed = release.path().join("bin/annals");
    assert_eq!(release.call(installed.to_str().unwrap(), &["--version"]), version());
    fs::remove_file(&installed).unwrap();
    for archive in archives {
        fs::write(archive, b"something else").unwrap();
    }
    let refused = release.output("sh", &[script.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("another checksum"), "{said}");
    assert!(!installed.exists());
}

#[test]
fn the_formula_and_the_registry_entry_name_this_version() {
    if !require("python3") {
        return;
    }
    let release = Release::new();
    for target in TARGETS {
        release.archive(target);
    }
    let formula = fs::read_to_string(release.make(&["formula"])).unwrap();
    assert!(!formula.contains('@') && formula.matches("sha256").count() == 4, "{formula}");
    let entry = fs::read_to_string(release.make(&["registry"])).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
    assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(entry["name"], "io.github.someone/annals");
    // The registry takes no longer one.
    assert!(entry["description"].as_str().unwrap().len() <= 100);
    release.make(&["check"]);
}

#[test]
fn the_readmes_picture_shows_what_is_printed() {
    if !require("python3") {
        return;
    }
    let release = Release::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/draw.py");
    let drawn = release.path().join("session.svg");
    let binary = env!("CARGO_BIN_EXE_annals");
    release.call("python3", &[script.to_str().unwrap(), binary, drawn.to_str().unwrap()]);
    let kept = script.with_file_name("session.svg");
    let same = fs::read_to_string(&kept).unwrap() == fs::read_to_string(drawn).unwrap();
    assert!(same, "run docs/pictures/draw.py");
}
