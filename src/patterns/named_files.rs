//! Which files a plan's deviations name.

use crate::patterns::PlanRecord;

impl PlanRecord {
    /// Returns the files that its deviations name, as they are spelled there; each once, sorted.
    pub fn files_in_deviations(&self) -> Vec<&str> {
        let in_details = self.details.iter().flat_map(|detail| &detail.files);
        let in_texts = self
            .deviations
            .iter()
            .flat_map(|deviation| paths(&deviation.text));
        let mut files: Vec<&str> = in_details.map(String::as_str).chain(in_texts).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Returns the paths in a text: between backticks, with a folder or an extension.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| is_path(code))
}

fn is_path(code: &str) -> bool {
    let name = code.rsplit('/').next().unwrap_or(code);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len())
            && extension
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase())
    });
    is_file && !code.contains(|c: char| c.is_whitespace() || "(){}<>=\"'*:;,$".contains(c))
}
