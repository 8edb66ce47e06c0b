// Written by `annals setup`; edits are lost. `annals setup opencode --remove` takes it away.
import { spawn } from "node:child_process";

const NOTEPAD = true;
const ENTRIES = true;
const BREADCRUMB = false;

/** The tools that write files; where the path is depends on the tool, and annals looks for it. */
const WRITERS = ["write", "edit", "multiedit", "patch", "apply_patch"];

/** The first words to the models that name or sum up a session: they need no memory. */
const SERVANTS = [
  "You are a title generator",
  "You are an anchored context summarization assistant",
  "Summarize what was done in this conversation",
];

/** Asks annals what it has to say about an event; never fails, and never takes longer than the time given. */
function ask(event, input, timeout) {
  return new Promise((resolve) => {
    let answer = "";
    const done = () => {
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext);
      } catch {
        resolve(undefined);
      }
    };
    try {
      const options = { stdio: ["pipe", "pipe", "ignore"], timeout, windowsHide: true };
      const words = ["hook", event, "--harness", "opencode"];
      if (event === "session-start" && !NOTEPAD) words.push("--no-notepad");
      if (event === "session-start" && !ENTRIES) words.push("--no-entries");
      const child = spawn("annals", words, options);
      child.on("error", () => resolve(undefined));
      child.on("close", done);
      child.stdin.on("error", () => {});
      child.stdout.on("data", (bytes) => (answer += bytes));
      child.stdin.end(JSON.stringify(input));
    } catch {
      resolve(undefined);
    }
  });
}

export const Annals = async ({ directory, worktree }) => {
  // Outside of git the worktree is the top of the file system.
  const cwd = worktree && worktree !== "/" ? worktree : directory;
  const memory = new Map();
  /** The session that started a subagent's session. */
  const parents = new Map();
  const main = (id) => {
    while (parents.has(id)) id = parents.get(id);
    return id;
  };
  /** A subagent's session belongs to the one that started it. */
  const session = (id) =>
    parents.has(id) ? { session_id: main(id), agent_id: id } : { session_id: id };
  const remember = async (id, source) => {
    const input = { hook_event_name: "session.created", session_id: id, cwd, source };
    memory.set(id, await ask("session-start", input, 10000));
  };
  return {
    event: async ({ event }) => {
      const info = event.properties?.info;
      const id = event.properties?.sessionID ?? info?.id;
      if (event.type === "session.created") {
        if (info?.parentID) parents.set(id, info.parentID);
        await remember(id, "startup");
      }
      if (event.type === "session.compacted") await remember(id, "compact");
      if (event.type === "session.idle" && !parents.has(id)) {
        await ask("session-end", { hook_event_name: event.type, session_id: id, cwd }, 1500);
      }
      if (event.type === "session.deleted") {
        memory.delete(id);
        parents.delete(id);
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID;
      if (!id || SERVANTS.some((words) => output.system[0]?.startsWith(words))) return;
      if (!memory.has(id)) await remember(id, "resume");
      const text = memory.get(id);
      // Set up for the project and for the user, there are two of us.
      if (text && !output.system.some((part) => part.includes(text))) output.system.push(text);
    },
    "experimental.session.compacting": async (input) => {
      const event = { hook_event_name: "experimental.session.compacting", cwd };
      if (BREADCRUMB) await ask("pre-compact", { ...event, session_id: input.sessionID }, 5000);
    },
    "tool.execute.after": async (input, output) => {
      const isWriter = WRITERS.includes(input.tool);
      if (!isWriter && input.tool !== "task") return;
      // Paths are relative to the folder that the session works in.
      const event = { hook_event_name: "tool.execute.after", cwd: directory, ...session(input.sessionID) };
      const path = input.args?.filePath ?? output.metadata?.filepath;
      const tool_input = path ? { file_path: path } : input.args;
      const said = isWriter
        ? await ask("post-tool-use", { ...event, tool_input }, 5000)
        : await ask("subagent-stop", event, 5000);
      if (said && !output.output.includes(said)) output.output += `\n${said}`;
    },
  };
};
