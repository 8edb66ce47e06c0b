//! Copies all stores to a new folder of plain files.

use std::collections::HashSet;
use std::fs;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{At, Result};
use crate::exchange::manifest;
use crate::exchange::manifest::{Exported, ExportedFile, LeftOut};
use crate::facts::{Facts, UserId};
use crate::project::Project;
use crate::recall::{ExportFiles, SOURCES};
use crate::storage::{Changes, Log, Storage, Store, Visibility, read};
use crate::text::hexadecimal;
use crate::warning::Warning;
use crate::{facts, journal};

const JOURNAL: &str = "journal.jsonl";
const FACTS: &str = "facts.jsonl";
const MANIFEST: &str = "MANIFEST.md";

/// Size of the portions in which a long file is copied, in bytes.
const PORTION: usize = 1 << 20;

/// Exports all stores to a new folder, given as an absolute path; facts only if a user is given.
pub fn export(
    project: &Project,
    folder: &Path,
    user: Option<(&Facts, &UserId)>,
) -> Result<Exported> {
    let mut done = Exported {
        left_out: Vec::new(),
        folder: project.relative(folder).to_owned(),
        files: Vec::new(),
        empty: Vec::new(),
        dry_run: project.dry_run,
        warnings: Vec::new(),
    };
    let copies = copies(project, &mut done.warnings)?;
    let storage = project.storage();
    let unfinished = storage.begin_folder(folder, &names(&copies))?;
    let to = unfinished.folder();
    // Long files first: the manifest, which states that the export is complete, is written last.
    let journal = journal::default_path(&project.environment)?;
    let journal_copy = to.join(JOURNAL);
    if let Some(copied) = copied("journal", &journal, &journal_copy, project.dry_run)? {
        done.files.push(copied);
    }
    if let Some((facts, user)) = user {
        let mut lines = String::new();
        for fact in facts::export(facts, user)? {
            lines.push_str(&fact.to_json()?);
            lines.push('\n');
        }
        if !lines.is_empty() {
            if !project.dry_run {
                write_private(&to.join(FACTS), lines.as_bytes())?;
            }
            done.files.push(described("facts", FACTS, lines.as_bytes()));
        }
    }
    let memories: Vec<&str> = copies.iter().map(|copies| copies.memory).collect();
    write(project, to, copies, &mut done)?;
    unfinished.finish()?;
    let found = done.files.iter().map(|file| file.store);
    let found: HashSet<_> = found.chain(done.left_out.iter().map(|file| file.store)).collect();
    let facts = user.map(|_| "facts");
    let memories = memories.into_iter().chain(["journal"]).chain(facts);
    done.empty = memories.filter(|store| !found.contains(store)).collect();
    done.warnings = project.named(done.warnings);
    Ok(done)
}

/// Returns the names of all files that an export may contain.
fn names(copies: &[ExportFiles]) -> Vec<String> {
    let fixed = [JOURNAL, FACTS, MANIFEST].map(str::to_owned);
    let others = copies.iter().flat_map(|copies| &copies.files);
    fixed.into_iter().chain(others.map(|(name, _)| name.clone())).collect()
}

/// Returns the files to copy, sorted by memory.
fn copies(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<ExportFiles>> {
    let mut all = Vec::new();
    for store in SOURCES {
        all.extend(store.copies(project, warnings)?);
    }
    all.sort_by_key(|copies| copies.memory);
    Ok(all)
}

/// Writes the copied files and the manifest in one transaction.
fn write(
    project: &Project,
    to: &Path,
    copies: Vec<ExportFiles>,
    done: &mut Exported,
) -> Result<()> {
    let mut contents = Vec::new();
    let files = copies.into_iter().flat_map(|copies| {
        let memory = copies.memory;
        copies.files.into_iter().map(move |(file, from)| (memory, file, from))
    });
    for (store, file, from) in files {
        match read::bytes(&from) {
            Ok(Some(bytes)) => {
                done.files.push(described(store, &file, &bytes));
                contents.push((to.join(file), bytes));
            }
            Ok(None) => {}
            Err(error) => {
                done.warnings.push(Warning::file(&from, error.reason()));
                done.left_out.push(LeftOut { file, store });
            }
        }
    }
    done.files.sort_by(|a, b| a.file.cmp(&b.file));
    let manifest = manifest::render(done, &project.clock);
    contents.push((to.join(MANIFEST), manifest.into_bytes()));
    let root = to.ancestors().skip(1).find(|folder| folder.is_dir());
    let root = root.unwrap_or(Path::new("/"));
    let sum = hexadecimal(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
    let storage = project.storage();
    let folder = storage.folder();
    if !project.dry_run {
        // The folder must not be a symbolic link before anything is created in it.
        folder.create()?;
    }
    let history = folder.path().join(format!("export-{}", &sum[..16]));
    let storage = Storage::new(root, project.clock)
        .with_folder(&history)
        .key_in(project.environment.data_dir())
        .dry_run(project.dry_run)
        .keep_history(false)
        .wait(project.settings.lock_wait);
    let ((), applied) = storage.transact("export", &[Store::Entries], || {
        let mut changes = Changes::new();
        for (path, bytes) in &contents {
            changes.write(path, bytes.as_slice())?;
        }
        Ok(((), changes))
    })?;
    done.warnings.extend(applied.warnings);
    Ok(())
}

fn described(store: &'static str, file: &str, bytes: &[u8]) -> ExportedFile {
    ExportedFile {
        file: file.to_owned(),
        store,
        bytes: bytes.len() as u64,
        sha256: hexadecimal(&Sha256::digest(bytes)),
    }
}

fn write_private(to: &Path, lines: &[u8]) -> Result<()> {
    let mut log = Log::lock(to, Visibility::Private)?;
    log.append(lines)?;
    log.flush()
}

/// Copies a possibly long file by whole lines; does nothing if it does not exist.
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
fn copied(
    store: &'static str,
    from: &Path,
    to: &Path,
    dry_run: bool,
) -> Result<Option<ExportedFile>> {
    let is_empty = fs::metadata(from).map_or(true, |file| !file.is_file() || file.len() == 0);
    if is_empty {
        return Ok(None);
    }
    let mut reader = BufReader::new(File::open(from).at("read", from)?);
    let mut log = if dry_run { None } else { Some(Log::lock(to, Visibility::Private)?) };
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    let mut portion = Vec::new();
    loop {
        let read = reader.read_until(b'\n', &mut portion).at("read", from)?;
        if portion.len() >= PORTION || (read == 0 && !portion.is_empty()) {
            if portion.last() != Some(&b'\n') {
                portion.push(b'\n');
            }
            if let Some(log) = &mut log {
                log.append(&portion)?;
            }
            sum.update(&portion);
            bytes += portion.len() as u64;
            portion.clear();
        }
        if read == 0 {
            break;
        }
    }
    if let Some(log) = &mut log {
        log.flush()?;
    }
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some(ExportedFile {
        file: name.into_owned(),
        store,
        bytes,
        sha256: hexadecimal(&sum.finalize()),
    }))
}
