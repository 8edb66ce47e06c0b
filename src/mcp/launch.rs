//! Finds the project of a call.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context;
use crate::error::{Error, Result};
use crate::project::{Environment, OpenRequest, Project};

/// The folder and options with which the server was started.
#[derive(Clone, Debug)]
pub(crate) struct LaunchContext {
    pub(crate) environment: Environment,
    pub(crate) directory: PathBuf,
}

impl LaunchContext {
    /// Opens the project of a call: that of the folder in the call, else of the client's first root, else of the folder
    /// that Claude Code works in, else of the folder in which the server was started.
    pub(crate) fn open(&self, named: Option<&str>, root: Option<&Path>) -> Result<Project> {
        let session = self.environment.get("CLAUDE_PROJECT_DIR").map(Path::new);
        let directory = match named {
            Some(folder) => self.directory.join(folder),
            None => root.or(session).map_or_else(|| self.directory.clone(), Path::to_owned),
        };
        if !directory.is_dir() {
            return Err(Error::not_found("no such folder")
                .at(&directory, None)
                .hint("pass the project's folder as an absolute path"));
        }
        Project::open(OpenRequest {
            directory,
            environment: self.environment.clone(),
            ..OpenRequest::default()
        })
    }
}

/// Refuses to write in a folder that is not a project, or that is outside of the roots that a client states.
///
/// If the client supports roots but lists none, only the project in which the server was started is writable.
pub(crate) fn check_writable(
    launch: &LaunchContext,
    project: &Project,
    roots: Option<&[PathBuf]>,
) -> Result<()> {
    if !project.root.join(".git").exists() && !context::has_memory(project) {
        return Err(Error::refused("is not a project, so nothing was written")
            .at(&project.root, None)
            .hint("a project has a planning folder, .git, .vibekit or docs/memory; `annals init` creates one"));
    }
    let is_of = |start: Option<&Path>| {
        let opened = launch.open(None, start);
        opened.is_ok_and(|own| own.root == project.root)
    };
    let is_below = |root: &PathBuf| {
        fs::canonicalize(root).is_ok_and(|root| project.root.starts_with(root))
            // A client may work in a folder of the project.
            || is_of(Some(root))
    };
    let is_inside = match roots {
        None => true,
        Some([]) => is_of(None),
        Some(roots) => roots.iter().any(is_below),
    };
    if is_inside {
        return Ok(());
    }
    Err(Error::refused("is outside the client's roots")
        .at(&project.root, None)
        .hint("pass a project below one of the client's roots"))
}

/// Returns the folder of a client's root: `file:///users/ada/pantry%20list`.
pub(crate) fn root_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = decoded(path)?;
    // `file:///C:/x` names `C:/x`.
    let path = match path.strip_prefix('/') {
        Some(rest) if cfg!(windows) && rest.get(1..2) == Some(":") => PathBuf::from(rest),
        _ => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

/// Returns the decoded name, or `None` if it is not text.
fn decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut bytes_left = encoded.bytes();
    while let Some(byte) = bytes_left.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes_left.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_root_is_a_file_uri() {
        let folder = |uri| root_path(uri).map(|path| path.display().to_string());
        assert_eq!(
            folder("file:///users/ada/pantry%20list").as_deref(),
            Some("/users/ada/pantry list")
        );
        assert_eq!(folder("file://localhost/users").as_deref(), Some("/users"));
        for other in ["https://example.org/", "file://relative", "file:///a%2", "file:///%ff"] {
            assert_eq!(folder(other), None, "{other}");
        }
    }

    #[test]
    fn only_projects_below_the_roots_of_the_client_are_writable() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for name in ["one/.git", "one/sub", "two/.vbw-planning", "three/.vibekit", "bare"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let launch =
            LaunchContext { environment: Environment::default(), directory: top.join("one/sub") };
        let checked = |name: &str, roots: Option<&[PathBuf]>| {
            let project = launch.open(top.join(name).to_str(), None).unwrap();
            check_writable(&launch, &project, roots).map_err(|error| error.kind)
        };
        let check = |name: &str, roots: &[&str]| {
            let roots: Vec<PathBuf> = roots.iter().map(|root| top.join(root)).collect();
            checked(name, Some(&roots))
        };
        for name in ["one", "one/sub", "two", "three"] {
            assert_eq!(checked(name, None), Ok(()), "{name}");
        }
        for name in ["bare", "/", "/etc"] {
            assert_eq!(checked(name, None), Err(ErrorKind::Refused), "{name}");
        }
        assert_eq!(check("one", &[]), Ok(()));
        assert_eq!(check("two", &[]), Err(ErrorKind::Refused));
        assert_eq!(check("one", &["two", "one"]), Ok(()));
        assert_eq!(check("one", &["one/sub"]), Ok(()));
        assert_eq!(check("two", &[""]), Ok(()));
        assert_eq!(check("two", &["one"]), Err(ErrorKind::Refused));
    }

    #[test]
    fn encoded_bytes_are_decoded() {
        assert_eq!(decoded("My%20note%2F%C3%A9"), Some("My note/é".to_owned()));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
