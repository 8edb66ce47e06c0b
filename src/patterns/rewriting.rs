//! Replaces the lessons of an entry with judged ones, as long as its bullets are unchanged since annals wrote
//! them.

use sha2::Digest;
use sha2::Sha256;

use crate::patterns::LessonSource;
use crate::patterns::PatternEntry;
use crate::patterns::judged::CheckedLessons;
use crate::patterns::trace;
use crate::text::hexadecimal;
use crate::text::line_end;

/// Returns the digest of an entry's bullets.
pub(crate) fn digest<T: AsRef<str>>(worked: &[T], failed: &[T]) -> String {
    let digest = Sha256::digest(section(worked, failed));
    hexadecimal(&digest[..8])
}

/// Returns the part of an entry that contains its bullets.
fn section<T: AsRef<str>>(worked: &[T], failed: &[T]) -> String {
    let list = |bullets: &[T]| -> String {
        if bullets.is_empty() {
            return "- none observed\n".to_owned();
        }
        let lines: Vec<String> = bullets
            .iter()
            .map(|bullet| format!("- {}\n", bullet.as_ref()))
            .collect();
        lines.concat()
    };
    format!(
        "**What worked:**\n{}\n**What failed:**\n{}\n",
        list(worked),
        list(failed)
    )
}

/// Returns an entry's text with other lessons; `None` if its bullets are not, byte for byte, what annals
/// wrote.
pub(crate) fn rewritten(entry: &PatternEntry, lessons: &CheckedLessons) -> Option<String> {
    let trace = entry.trace.as_ref()?;
    let written = trace.bullets.as_deref()?;
    if digest(&entry.worked, &entry.failed) != written {
        return None;
    }
    let end = line_end(&entry.text);
    let old = section(&entry.worked, &entry.failed).replace('\n', end);
    let at = entry.text.find(&old)?;
    let texts = |lessons: &[crate::patterns::lesson::Lesson]| -> Vec<String> {
        lessons
            .iter()
            .map(|lesson| lesson.text.to_string())
            .collect()
    };
    let (worked, failed) = (texts(&lessons.worked), texts(&lessons.failed));
    let sources: Vec<Option<LessonSource>> = lessons
        .worked
        .iter()
        .chain(&lessons.failed)
        .map(|lesson| lesson.source.clone())
        .collect();
    let mut new = entry.text.clone();
    let section = section(&worked, &failed).replace('\n', end);
    new.replace_range(at..at + old.len(), &section);
    trace::judged(&new, &sources, &digest(&worked, &failed))
}
