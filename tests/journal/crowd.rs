//! Many processes write at once, half of them are killed: what was acknowledged is there, whole, once.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

use annals::clock::Clock;
use annals::journal;
use annals::journal::{RecordDraft, WriteOptions};
use serde_json::Value;

const JOB: &str = "ANNALS_JOURNAL_WRITER";
const WRITERS: usize = 16;
const WRITES: usize = 300;

/// A writer process: acknowledges each record on its standard output once it is written.
#[test]
#[ignore = "the crowd runs it, many at a time"]
fn as_a_writer() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (number, path) = job.split_once(' ').unwrap();
    let clock = Clock::new(Some("2026-02-17T10:11:12Z")).unwrap();
    let writing = WriteOptions::new(clock);
    for write in 0..WRITES {
        // Some are longer than a page, where a killed write can be torn.
        let padding = "x".repeat(if write % 20 == 0 { 20_000 } else { 40 });
        let content = format!("{number}/{write} {padding}");
        let draft = RecordDraft::new(None, content, None, None).unwrap();
        journal::write(Path::new(path), &[draft], &writing).unwrap();
        annals_ack(&format!("ack {number}/{write}\n"));
    }
}

/// Past the test runner, which keeps what a test prints.
fn annals_ack(line: &str) {
    use std::io::Write;

    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

fn writer(number: usize, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["journal::crowd::as_a_writer", "--exact", "--ignored", "--nocapture"])
        .env(JOB, format!("{number} {}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads a writer's acknowledgements; kills it after some of them.
fn acknowledged(mut child: Child, kill_after: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(line) = line else { break };
        // The runner's own words may stand before the first one.
        if let Some((_, name)) = line.split_once("ack ") {
            lines.push(name.to_owned());
        }
        if kill_after == Some(lines.len()) {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    lines
}

#[test]
fn what_was_acknowledged_is_there_whole_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    let children: Vec<Child> = (0..WRITERS).map(|number| writer(number, &path)).collect();
    let readers = children.into_iter().enumerate().map(|(number, child)| {
        // Every second one is killed, each at another point.
        let kill_after = (number % 2 == 0).then_some(1 + number * 97 % (WRITES - 200));
        thread::spawn(move || (kill_after, acknowledged(child, kill_after)))
    });
    let readers: Vec<_> = readers.collect();
    let ended: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();

    let mut found: HashMap<String, usize> = HashMap::new();
    let mut torn = 0;
    for line in fs::read_to_string(&path).unwrap().lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            torn += 1;
            continue;
        };
        let content = record["content"].as_str().unwrap();
        let (name, padding) = content.split_once(' ').unwrap();
        assert!(padding.len() == 40 || padding.len() == 20_000, "{name} is not whole");
        *found.entry(name.to_owned()).or_default() += 1;
    }
    assert!(torn <= WRITERS / 2, "{torn} torn lines");
    let survivors = ended.iter().filter(|(kill_after, _)| kill_after.is_none());
    assert!(survivors.clone().count() == WRITERS / 2);
    for (_, acknowledged) in survivors {
        assert_eq!(acknowledged.len(), WRITES);
    }
    let acknowledged: Vec<&String> = ended.iter().flat_map(|(_, names)| names).collect();
    for name in &acknowledged {
        assert_eq!(found.get(*name), Some(&1), "{name}");
    }
    // What was written and not acknowledged is at most the one write in which a writer was killed, and
    // those that were in its pipe when it was.
    assert!(found.values().all(|times| *times == 1));
}
