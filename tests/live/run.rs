//! One run: a home, a project, a client, and what it sent to the model.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Client, Start};
use crate::model::{Asked, Model};
use crate::script::{Reply, Script};

/// The folder of the clients' programs; `.ci/live` sets it.
const CLIENTS: &str = "ANNALS_LIVE_CLIENTS";

/// A client takes no longer than this, in seconds.
const MAX_SECONDS: &str = "240";

/// A folder for one run, thrown away at its end.
pub(crate) struct Run {
    client: Client,
    programs: String,
    folder: TempDir,
    model: Model,
}

/// What reached the model, and what hooks were answered.
pub(crate) struct Heard {
    asked: Vec<Asked>,
    /// What the hooks of a session's start answered.
    starts: Vec<Value>,
}

impl Run {
    /// Makes a home and a copy of the example project; nothing, and a word, where no clients are installed.
    pub(crate) fn begin(client: Client) -> Option<Self> {
        let Ok(programs) = std::env::var(CLIENTS) else {
            eprintln!("SKIPPED {client:?}: {CLIENTS} names no clients; .ci/live installs them");
            return None;
        };
        let (folder, model) = (TempDir::new().unwrap(), Model::start());
        let run = Self { client, programs, folder, model };
        fs::create_dir_all(run.path("home")).unwrap();
        fs::create_dir_all(run.path("bin")).unwrap();
        fs::create_dir_all(run.path("answers")).unwrap();
        // Clients look for annals on PATH; this one keeps what it answers to hooks.
        let program = env!("CARGO_BIN_EXE_annals");
        let answers = run.path("answers");
        let script = format!(
            "#!/bin/sh\ncase $1 in hook) {program} \"$@\" | tee {}/$1-$2-$$ ;; *) exec {program} \"$@\" ;; esac\n",
            answers.display()
        );
        let recorder = run.path("bin").join("annals");
        fs::write(&recorder, script).unwrap();
        let is_done = |command: &mut Command| assert!(command.status().unwrap().success());
        is_done(Command::new("chmod").arg("+x").arg(&recorder));
        is_done(Command::new("cp").args(["-r", "examples/vbw-project"]).arg(run.project()));
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "Begin"]] {
            let mut git = Command::new("git");
            let who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"];
            is_done(git.args(who).args(arguments).current_dir(run.project()));
        }
        for (name, text) in client.home(&run.project(), run.model.address) {
            let path = run.path("home").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Some(run)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Runs a command of annals in the project, which has to succeed, and returns what it prints.
    pub(crate) fn annals(&self, arguments: &[&str]) -> String {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_annals")));
        let done = command.args(arguments).output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "annals {arguments:?}: {out}{err}");
        out.into_owned()
    }

    /// Runs a command line of a client in the checkout, which has to succeed; what it asks is answered with yes.
    pub(crate) fn client(&self, line: &str) {
        let mut command = self.command(Path::new("sh"));
        command.arg("-c").arg(format!("yes | timeout {MAX_SECONDS} {line}"));
        let done = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{line}: {out}{err}");
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let system = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{system}", self.path("bin").display(), self.programs);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", path)
            .env("TERM", "dumb")
            .env("LANG", "C.UTF-8")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    /// Lets the client work through the script.
    pub(crate) fn converse(&self, script: &Script) -> Heard {
        self.hear(script, self.client.start(self.model.address))
    }

    /// Goes on with the last conversation.
    pub(crate) fn resume(&self, script: &Script) -> Heard {
        self.hear(script, self.client.resume(self.model.address))
    }

    fn hear(&self, script: &Script, start: Start) -> Heard {
        self.model.play(self.here(script));
        let mut command = self.command(Path::new("timeout"));
        command.arg(MAX_SECONDS).arg(start.program).args(start.arguments);
        let done = command.envs(start.variables).output().unwrap();
        if !done.status.success() {
            let err = String::from_utf8_lossy(&done.stderr);
            eprintln!("{} ended with {}: {err}", start.program, done.status);
        }
        let mut answers: Vec<PathBuf> =
            fs::read_dir(self.path("answers")).unwrap().map(|file| file.unwrap().path()).collect();
        answers.sort();
        answers.retain(|path| path.to_string_lossy().contains("/hook-session-start-"));
        let answers = answers.iter().map(|path| fs::read_to_string(path).unwrap());
        Heard {
            asked: self.model.asked(),
            starts: answers.filter_map(|text| serde_json::from_str(&text).ok()).collect(),
        }
    }

    /// Returns the replies of a script with the project's folder in them.
    fn here(&self, script: &Script) -> Vec<Reply> {
        let project = self.project().display().to_string();
        let mut replies = script.replies.clone();
        for reply in &mut replies {
            if let Reply::Call(_, input) = reply {
                let text = input.to_string().replace("[PROJECT]", &project);
                *input = serde_json::from_str(&text).unwrap();
            }
        }
        replies
    }

    /// Returns a file's text; an empty one where it is not there.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    /// Returns the settings of clients in the project: what `setup` may write.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        let names = [
            ".claude/settings.json",
            ".mcp.json",
            ".codex/hooks.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".qwen/settings.json",
            "opencode.json",
            ".opencode/plugins/annals.js",
        ];
        let is_there = |name: &&str| self.project().join(name).exists();
        let there = names.into_iter().filter(is_there);
        there.map(|name| (name.to_owned(), self.read(name))).collect()
    }
}

impl Heard {
    /// Returns what the main conversation sent, and no subagent.
    pub(crate) fn main_conversation(&self) -> Vec<&Asked> {
        let all = self.asked.iter();
        all.filter(|asked| asked.is_played && !asked.is_of_subagent).collect()
    }

    pub(crate) fn title_requests(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| !asked.is_played)
    }

    /// Returns whether a tool of annals was named to the model, in whatever way.
    pub(crate) fn names_tool(&self, tool: &str) -> bool {
        // Codex names the server, and its tools to whoever searches for them.
        let names = [
            format!("annals__{tool}"),
            format!("annals_{tool}"),
            format!("annals-{tool}"),
            "mcp__annals".to_owned(),
        ];
        let is_named = |text: &String| names.iter().any(|name| text.contains(name));
        let mut all = self.main_conversation().into_iter();
        all.any(|asked| asked.tools.iter().any(is_named) || is_named(&asked.text))
    }

    /// Returns what the hook of a session's start answered.
    pub(crate) fn start_text(&self) -> String {
        let texts = self.starts.iter().filter_map(|answer| {
            let inner = &answer["hookSpecificOutput"]["additionalContext"];
            // Copilot CLI takes it at the top.
            inner.as_str().or(answer["additionalContext"].as_str())
        });
        texts.map(str::to_owned).next().expect("no hook answered at the start")
    }
}
