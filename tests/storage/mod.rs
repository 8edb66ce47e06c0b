//! Storage under stress: races, kills, undo, and trees that cannot be written.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up trees, and run themselves as other processes"
)]

#[cfg(debug_assertions)]
mod crash;
mod foreign;
mod history;
mod obstacles;
mod races;
mod requests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use annals::clock::Clock;
use annals::error::Result;
use annals::storage::{Applied, Changes, Storage, Store};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tempfile::TempDir;

const JOB: &str = "ANNALS_TEST_JOB";

fn clock() -> Clock {
    Clock::new(Some("2026-02-17T10:11:12Z")).unwrap()
}

fn storage(root: &Path) -> Storage {
    Storage::new(root, clock()).key_in(Some(home()))
}

/// Returns the home of the user of these tests and of the processes that they start.
fn home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("storage-tests")
}

fn put(root: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

/// Returns a record's file, signed with the key of the user of these tests.
fn signed(id: u64, line: &str, rest: &str) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    transact(&storage(folder.path()), "make the key", |changes| changes.write(&file, "")).unwrap();
    let digits = fs::read_to_string(home().join("key")).unwrap();
    let digits: Vec<char> = digits.trim_end().chars().collect();
    let key =
        digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.collect::<Vec<u8>>()).unwrap();
    for part in ["record", &id.to_string(), line] {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part.as_bytes());
    }
    let signature = mac.finalize().into_bytes();
    let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{line}\n{signature}\n{rest}")
}

/// Applies a plan to the planning store.
fn transact(
    storage: &Storage,
    operation: &str,
    mut plan: impl FnMut(&mut Changes) -> Result<()>,
) -> Result<Applied> {
    let work = || {
        let mut changes = Changes::new();
        plan(&mut changes)?;
        Ok(((), changes))
    };
    let ((), applied) = storage.transact(operation, &[Store::Plan], work)?;
    Ok(applied)
}

/// Returns every file and directory but our own, with its content (`None` for a directory).
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap().to_owned();
            if below == Path::new(".annals") {
                continue;
            }
            let content = if path.is_dir() {
                waiting.push(path);
                None
            } else {
                Some(fs::read(&path).unwrap())
            };
            found.insert(below, content);
        }
    }
    found
}

/// Runs a job in another process: this test binary, with only the test [`as_another_process`].
fn spawn(job: &str, root: &Path, number: usize) -> std::process::Child {
    Command::new(env::current_exe().unwrap())
        .args(["storage::as_another_process", "--exact", "--ignored"])
        .env(JOB, format!("{job}\n{number}\n{}", root.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "other tests run it, each with its own job"]
fn as_another_process() {
    let Ok(job) = env::var(JOB) else {
        return;
    };
    let mut parts = job.splitn(3, '\n');
    let (job, number) = (parts.next().unwrap(), parts.next().unwrap());
    let root = PathBuf::from(parts.next().unwrap());
    let number: usize = number.parse().unwrap();
    match job {
        "count" => races::count(&root, number),
        #[cfg(unix)]
        "fill" => obstacles::write_too_much(&root),
        #[cfg(debug_assertions)]
        job => crash::work(job, &root, number),
        #[cfg(not(debug_assertions))]
        job => panic!("no job is called {job}"),
    }
}
