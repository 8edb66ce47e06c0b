#!/usr/bin/env node
// Starts the annals binary that npm installed for this platform, with the same arguments, streams and exit code.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "annals.exe" : "annals";

function binary() {
  try {
    return require.resolve(`@PREFIX@${platform}/${file}`);
  } catch {
    console.error(`error: no annals binary for ${platform} is installed`);
    console.error("hint: install without --omit=optional, or build it with `cargo install annals`");
    process.exit(1);
  }
}

const run = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
if (run.error) {
  console.error(`error: cannot start annals: ${run.error.message}`);
  process.exit(1);
}
if (run.signal) {
  process.kill(process.pid, run.signal);
}
process.exit(run.status ?? 1);
