//! `annals entry audit`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::{EntryAudit, yaml};
use crate::project::Project;

pub(crate) fn run(project: &Project, out: &mut Output) -> Result<()> {
    let found = knowledge::audit(project)?;
    out.warnings(&found.warnings);
    out.result(&found, show)
}

fn show(found: &EntryAudit, to: &mut dyn Write) -> io::Result<()> {
    let keys = |keys: &[String]| yaml::list(keys.iter().map(|key| yaml::scalar(key)));
    let duplicates = found.duplicates.iter().map(|pair| {
        let (a, b) = (yaml::scalar(&pair.a), yaml::scalar(&pair.b));
        yaml::map(&[("a", a), ("b", b), ("reason", yaml::scalar(&pair.reason))])
    });
    let broken = found.broken_links.iter().map(|link| {
        let (from, target) = (yaml::scalar(&link.from), yaml::scalar(&link.to));
        yaml::map(&[("from", from), ("to", target), ("line", link.line.to_string())])
    });
    let invalid = found.invalid.iter().map(|one| {
        let line = one.line.map_or("null".to_owned(), |line| line.to_string());
        yaml::map(&[
            ("key", yaml::scalar(&one.key)),
            ("file", yaml::scalar(&one.file.to_string_lossy())),
            ("line", line),
            ("problem", yaml::scalar(&one.problem)),
        ])
    });
    let fields = [
        ("pruned_working", found.pruned_working.to_string()),
        ("stale_low_confidence", keys(&found.stale_low_confidence)),
        ("stale", keys(&found.stale)),
        ("index_rebuilt", found.index_rebuilt.to_string()),
        ("duplicates", yaml::list(duplicates)),
        ("broken_links", yaml::list(broken)),
        ("oversized", keys(&found.oversized)),
        ("superseded_with_active_inbound", keys(&found.superseded_with_active_inbound)),
        ("invalid", yaml::list(invalid)),
    ];
    for (name, value) in fields {
        writeln!(to, "{name}: {value}")?;
    }
    match &found.diff {
        Some(diff) if !diff.is_empty() => write!(to, "\n{diff}"),
        _ => Ok(()),
    }
}
