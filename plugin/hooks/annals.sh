#!/bin/sh
# Calls `annals hook EVENT`. A plugin cannot contain the binary: if it is missing, this says so once.

# Settings that call annals themselves come first, or everything would be said twice.
for settings in "${CLAUDE_PROJECT_DIR:-.}/.claude/settings.json" "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"; do
  grep -qs "annals hook $1" "$settings" && exit 0
done
command -v annals >/dev/null 2>&1 && exec annals hook "$@"

told="${CLAUDE_PLUGIN_DATA:-}/told-that-annals-is-missing"
if [ "$1" = session-start ] && [ ! -e "$told" ]; then
  echo '{"systemMessage":"The annals plugin needs the program `annals` on PATH; until then it does nothing."}'
  [ -n "${CLAUDE_PLUGIN_DATA:-}" ] && mkdir -p "$CLAUDE_PLUGIN_DATA" && : >"$told"
fi
exit 0
