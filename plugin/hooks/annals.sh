#!/bin/sh
# Calls `annals hook EVENT`. A plugin cannot contain the binary: if it is missing, this says so once.

# If the client's own settings already call annals, the plugin stays silent there, so that nothing is said twice.
# Only Codex sets PLUGIN_ROOT.
if [ -n "${PLUGIN_ROOT:-}" ]; then
  in_project=./.codex/hooks.json in_home="${CODEX_HOME:-$HOME/.codex}/hooks.json"
else
  in_project="${CLAUDE_PROJECT_DIR:-.}/.claude/settings.json" in_home="${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"
fi
grep -qs "annals hook $1" "$in_project" "$in_home" && exit 0
command -v annals >/dev/null 2>&1 && exec annals hook "$@"

notice="${CLAUDE_PLUGIN_DATA:-}/told-that-annals-is-missing"
if [ "$1" = session-start ] && [ ! -e "$notice" ]; then
  echo '{"systemMessage":"The annals plugin needs the program `annals` on PATH; until then it does nothing."}'
  [ -n "${CLAUDE_PLUGIN_DATA:-}" ] && mkdir -p "$CLAUDE_PLUGIN_DATA" && : >"$notice"
fi
exit 0
