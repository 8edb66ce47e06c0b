//! Shows changes as a unified diff.

use std::path::Path;

use similar::TextDiff;

use crate::storage::changes::Change;

/// Maximum number of lines of both sides together; longer diffs are useless and slow to compute.
const MAX_LINES: usize = 20_000;

/// Returns the changes as one unified diff, with paths relative to `root`.
pub(crate) fn unified(changes: &[Change], root: &Path) -> String {
    let mut text = String::new();
    for change in changes {
        text.push_str(&diff_of_change(change, changes, root));
    }
    text
}

fn diff_of_change(change: &Change, all: &[Change], root: &Path) -> String {
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match change {
        Change::Write { path, old, new, .. } => {
            let side = |letter, content: &Option<Vec<u8>>| match content {
                Some(_) => format!("{letter}/{}", name(path)),
                None => "/dev/null".to_owned(),
            };
            let (old_name, new_name) = (side('a', old), side('b', new));
            let (old, new) = (old.as_deref(), new.as_deref());
            diff_of_content(&old_name, old.unwrap_or_default(), &new_name, new.unwrap_or_default())
        }
        Change::Append { path, lines } => {
            let name = name(path);
            let added = lines.lines().fold(String::new(), |text, line| text + "+" + line + "\n");
            format!("--- a/{name}\n+++ b/{name}\n@@ at the end @@\n{added}")
        }
        Change::Move { from, to, .. } => {
            format!("rename from {}\nrename to {}\n", name(from), name(to))
        }
        Change::CreateDirectory { path } => {
            let is_below =
                |other: &Change| other.path() != path.as_path() && other.path().starts_with(path);
            if all.iter().any(is_below) {
                return String::new();
            }
            format!("new directory {}\n", name(path))
        }
        Change::RemoveDirectory { path } => format!("remove directory {} if empty\n", name(path)),
    }
}

fn diff_of_content(old_name: &str, old: &[u8], new_name: &str, new: &[u8]) -> String {
    let heading = format!("--- {old_name}\n+++ {new_name}\n");
    let size = format!("{} bytes, was {}", new.len(), old.len());
    let (Ok(old), Ok(new)) = (str::from_utf8(old), str::from_utf8(new)) else {
        return format!("{heading}not text: {size}\n");
    };
    if old.lines().count() + new.lines().count() > MAX_LINES {
        return format!("{heading}too long to show: {size}\n");
    }
    if old.is_empty() && new.is_empty() {
        return heading;
    }
    TextDiff::from_lines(old, new).unified_diff().header(old_name, new_name).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn write(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Change {
        Change::Write {
            path: Path::new("/p").join(path),
            old: old.map(<[u8]>::to_vec),
            new: new.map(<[u8]>::to_vec),
            mode: None,
        }
    }

    #[test]
    fn each_kind_of_change_is_shown() {
        let changes = [
            Change::CreateDirectory { path: PathBuf::from("/p/new") },
            write("new/a.md", None, Some(b"one\n")),
            write("b.md", Some(b"one\ntwo\n"), Some(b"one\n2\n")),
            write("c.md", Some(b"gone"), None),
            write("d.bin", Some(b"\xff"), Some(b"\xfe\xff")),
            Change::Move { from: PathBuf::from("/p/x"), to: PathBuf::from("/p/y") },
            Change::Append { path: PathBuf::from("/p/log.md"), lines: "- line".to_owned() },
        ];
        let shown = unified(&changes, Path::new("/p"));
        let expected = "--- /dev/null\n+++ b/new/a.md\n@@ -0,0 +1 @@\n+one\n\
            --- a/b.md\n+++ b/b.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
            --- a/c.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n\
            --- a/d.bin\n+++ b/d.bin\nnot text: 2 bytes, was 1\n\
            rename from x\nrename to y\n\
            --- a/log.md\n+++ b/log.md\n@@ at the end @@\n+- line\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_huge_change_is_summarised() {
        let lines = "line\n".repeat(MAX_LINES);
        let shown = unified(&[write("a", Some(b"x"), Some(lines.as_bytes()))], Path::new("/p"));
        assert!(shown.contains("too long to show: 100000 bytes, was 1"), "{shown}");
    }
}
