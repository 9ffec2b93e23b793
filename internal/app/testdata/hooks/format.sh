#!/bin/bash
# PostToolUse hook for Claude Code: format the file that was edited.
set -euo pipefail
file_path=$(python3 -c 'import json,sys; print(json.load(sys.stdin)["tool_input"].get("file_path", ""))')
if [[ "$file_path" == *.txt && -f "$file_path" ]]; then
  sed -i 's/[[:space:]]*$//' "$file_path"
  cat <<JSON
{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "formatted $(basename "$file_path")"}}
JSON
fi
