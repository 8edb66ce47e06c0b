// Written by `annals setup`; edits are lost. `annals setup opencode --remove` takes it away.
import { spawn } from "node:child_process";

const NOTEPAD = true;
const BREADCRUMB = false;

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
  const remember = async (id, source) => {
    const input = { hook_event_name: "session.created", session_id: id, cwd, source };
    memory.set(id, await ask("session-start", input, 10000));
  };
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.created") await remember(id, "startup");
      if (event.type === "session.compacted") await remember(id, "compact");
      if (event.type === "session.deleted") {
        memory.delete(id);
        await ask("session-end", { hook_event_name: event.type, session_id: id, cwd }, 1500);
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID;
      if (!memory.has(id)) await remember(id, "resume");
      const text = memory.get(id);
      if (text) output.system.push(text);
    },
    "experimental.session.compacting": async (input) => {
      const event = { hook_event_name: "experimental.session.compacting", cwd };
      if (BREADCRUMB) await ask("pre-compact", { ...event, session_id: input.sessionID }, 5000);
    },
    "tool.execute.after": async (input, output) => {
      if (input.tool !== "write" && input.tool !== "edit") return;
      const path = input.args?.filePath ?? output.metadata?.filepath;
      if (!path) return;
      const event = { hook_event_name: "tool.execute.after", session_id: input.sessionID, cwd };
      const said = await ask("post-tool-use", { ...event, tool_input: { file_path: path } }, 5000);
      if (said) output.output += `\n${said}`;
    },
  };
};
