//! The project's files that a client may show or attach.

use std::path::Path;

use rmcp::model::ReadResourceResult;
use rmcp::model::Resource;
use rmcp::model::ResourceContents;

use crate::error::Error;
use crate::error::Result;
use crate::patterns;
use crate::planning::Folder;
use crate::project::Project;
use crate::secrets;
use crate::storage::read;

const SCHEME: &str = "annals://";
const MARKDOWN: &str = "text/markdown";

/// A file that can be read, by its name here.
struct File {
    name: String,
    path: std::path::PathBuf,
    about: &'static str,
}

/// Returns what there is.
pub(crate) fn listed(project: &Project) -> Vec<Resource> {
    files(project)
        .into_iter()
        .filter(|file| file.path.is_file())
        .map(|file| {
            Resource::new(format!("{SCHEME}{}", file.name), file.name)
                .with_description(file.about)
                .with_mime_type(MARKDOWN)
        })
        .collect()
}

/// Reads one file; nothing but what is listed can be named, so no path leads out of the project.
pub(crate) fn read(project: &Project, uri: &str) -> Result<ReadResourceResult> {
    let none = || {
        Error::not_found(format!("there is no resource {uri:?}"))
            .hint("resources/list has those that there are")
    };
    let name = uri.strip_prefix(SCHEME).ok_or_else(none)?;
    let known = files(project).into_iter().find(|file| file.name == name);
    let file = known.ok_or_else(none)?;
    let text = read::text(&file.path)?.ok_or_else(none)?.value;
    let contents =
        ResourceContents::text(secrets::redact(&text).text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn files(project: &Project) -> Vec<File> {
    let file = |name: &str, path: &Path, about| File {
        name: name.to_owned(),
        path: path.to_owned(),
        about,
    };
    let mut files = vec![file(
        "CLAUDE.md",
        &project.root.join("CLAUDE.md"),
        "The context file of the project",
    )];
    if let Ok(planning) = project.planning() {
        let patterns = patterns::path(&planning.dir);
        files.push(file(
            "PATTERNS.md",
            &patterns,
            "What finished phases taught",
        ));
        if let Ok(folder) = Folder::read(&planning.dir) {
            let state = folder.value.active.dir.join("STATE.md");
            files.push(file("STATE.md", &state, "Where the work stands"));
        }
    }
    files
}
