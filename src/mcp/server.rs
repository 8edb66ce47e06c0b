//! The MCP server: its capabilities, and the handling of requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;

use crate::context;
use crate::error::{Error, Result};
use crate::mcp::tools;
use crate::mcp::tools::{Arguments, Tool, error_text, failure};
use crate::project::{Environment, OpenRequest, Project};
use crate::text::{percent_decoded, sanitized};

/// Time limit of a request for the client's roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(2);

/// The instructions for the model, sent once at the start.
const INSTRUCTIONS: &str = include_str!("../../templates/mcp/instructions.txt").trim_ascii_end();

/// Returns everything that a client receives before the first call: the instructions and the list of tools.
pub fn advertised() -> String {
    format!("{INSTRUCTIONS}\n{}", json!(tools::list(false)))
}

/// Answers one call, `{"name": …, "arguments": {…}}`, without a session, always in this project.
pub fn call(project: &Project, request: &[u8]) -> Result<String> {
    let call: CallToolRequestParams = serde_json::from_slice(request)
        .map_err(|error| Error::usage(format!("is not a tool call: {error}")))?;
    let tool = tools::find(&call.name, true)?;
    let answer = run_tool(tool, project, Arguments::from_object(call.arguments)?);
    Ok(json!(answer).to_string())
}

/// Returns the answer of a tool in a project, or its error as an answer.
fn run_tool(tool: &Tool, project: &Project, arguments: Arguments) -> CallToolResult {
    let function = tool.function().ok_or_else(|| Error::failed("this tool has no function"));
    match function.and_then(|function| function(project, arguments)) {
        Ok(answer) => CallToolResult::success(vec![ContentBlock::text(sanitized(&answer))]),
        Err(error) => failure(&error.relative_to(&project.root)),
    }
}

/// Serves one client on standard input and output until it disconnects; with the default tools, or all.
pub fn serve(environment: Environment, directory: PathBuf, all: bool) -> Result<()> {
    let server = McpServer { environment, directory, all };
    let failed =
        |what: &str, error: &dyn std::fmt::Display| Error::failed(format!("{what}: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::cannot("start the server"))?;
    let outcome = runtime.block_on(async {
        match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => {
                let stopped = running.waiting().await;
                stopped.map(drop).map_err(|error| failed("the server stopped", &error))
            }
            // A client may disconnect before its first request; that is not an error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(failed("the client did not complete the MCP handshake", &error)),
        }
    });
    // A read of standard input cannot be interrupted; waiting for it would hang until the next line.
    runtime.shutdown_background();
    outcome
}

/// A server, with the folder and the environment in which it was started.
struct McpServer {
    environment: Environment,
    directory: PathBuf,
    /// Whether it offers all tools.
    all: bool,
}

impl McpServer {
    /// Asks the client for its roots: `None` if it does not support them, empty if it does not answer.
    #[expect(deprecated, reason = "current clients report their folders in no other way")]
    async fn roots(&self, peer: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
        peer.peer_info()?.capabilities.roots.as_ref()?;
        let listed = tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await;
        let Ok(Ok(listed)) = listed else { return Some(Vec::new()) };
        Some(listed.roots.iter().filter_map(|root| root_path(&root.uri)).collect())
    }

    /// Opens the project that a tool works in; refused if it would write in any folder that a model names.
    async fn project(
        &self,
        tool: &Tool,
        named: Option<&str>,
        peer: &Peer<RoleServer>,
    ) -> Result<Project> {
        let writes = tool.writes_in_project();
        let roots = if writes || named.is_none() { self.roots(peer).await } else { None };
        let first = roots.iter().flatten().next().map(PathBuf::as_path);
        let project = self.open(named, first)?;
        if writes {
            self.check_writable(&project, roots.as_deref())?;
        }
        Ok(project)
    }

    /// Opens the project of a call: that of the folder in the call, else of the client's first root, else of the folder
    /// that Claude Code works in, else of the folder in which the server was started.
    fn open(&self, named: Option<&str>, root: Option<&Path>) -> Result<Project> {
        let session = self.environment.get("CLAUDE_PROJECT_DIR").map(Path::new);
        let folder = named.map(Path::new).or(root).or(session).unwrap_or(&self.directory);
        let directory = self.directory.join(folder);
        if !directory.is_dir() {
            return Err(Error::not_found("no such folder")
                .about(&directory)
                .hint("pass the project's folder as an absolute path"));
        }
        Project::open(OpenRequest {
            directory,
            environment: self.environment.clone(),
            ..OpenRequest::default()
        })
    }

    /// Refuses to write in a folder that is not a project, or that is outside of the roots that a client states.
    ///
    /// If the client supports roots but lists none, only the project in which the server was started is writable.
    fn check_writable(&self, project: &Project, roots: Option<&[PathBuf]>) -> Result<()> {
        if !project.root.join(".git").exists() && !context::has_memory(project) {
            return Err(Error::refused("is not a project, so nothing was written")
                .about(&project.root)
                .hint("a project has a planning folder, .git, .vibekit or docs/memory; `annals init` creates one"));
        }
        let is_of =
            |start: Option<&Path>| self.open(None, start).is_ok_and(|own| own.root == project.root);
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
            .about(&project.root)
            .hint("pass a project below one of the client's roots"))
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("annals", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list(self.all)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Unlike a tool that fails, a request for one that does not exist cannot be answered at all.
        let tool = tools::find(&request.name, self.all)
            .map_err(|error| ErrorData::invalid_params(error_text(&error), None))?;
        let arguments = match Arguments::from_object(request.arguments) {
            Err(error) => return Ok(failure(&error).into()),
            Ok(arguments) => arguments,
        };
        let named = arguments.project.as_deref();
        Ok(match self.project(tool, named, &context.peer).await {
            Err(error) => failure(&error),
            Ok(project) => run_tool(tool, &project, arguments),
        }
        .into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method is among these only if its parameters cannot be read.
        if matches!(&*request.method, "tools/call" | "tools/list") {
            return Err(ErrorData::invalid_params("params or arguments are not an object", None));
        }
        // The name of an unknown method can be any text.
        let method = sanitized(&request.method).into_owned();
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }
}

/// Returns the folder of a client's root: `file:///users/ada/pantry%20list`.
fn root_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decoded(path)?;
    // `file:///C:/x` names `C:/x`.
    let path = match path.strip_prefix('/') {
        Some(rest) if cfg!(windows) && rest.get(1..2) == Some(":") => PathBuf::from(rest),
        _ => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
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
        let directory = top.join("one/sub");
        let server = McpServer { environment: Environment::default(), directory, all: false };
        let checked = |name: &str, roots: Option<&[PathBuf]>| {
            let project = server.open(top.join(name).to_str(), None).unwrap();
            server.check_writable(&project, roots).map_err(|error| error.kind)
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
}
