#!/bin/sh
# Calls `annals hook EVENT`. A plugin cannot contain the binary: if it is missing, this says so once.

# If the settings already call annals, the plugin stays silent, so that nothing is printed twice.
for settings in "${CLAUDE_PROJECT_DIR:-.}/.claude/settings.json" "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"; do
  grep -qs "annals hook $1" "$settings" && exit 0
done
command -v annals >/dev/null 2>&1 && exec annals hook "$@"

notice="${CLAUDE_PLUGIN_DATA:-}/told-that-annals-is-missing"
if [ "$1" = session-start ] && [ ! -e "$notice" ]; then
  echo '{"systemMessage":"The annals plugin needs the program `annals` on PATH; until then it does nothing."}'
  [ -n "${CLAUDE_PLUGIN_DATA:-}" ] && mkdir -p "$CLAUDE_PLUGIN_DATA" && : >"$notice"
fi
exit 0
