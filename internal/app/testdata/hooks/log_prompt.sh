#!/bin/sh
# UserPromptSubmit hook for Claude Code: keep a log of prompts, and remind of the rules.
mkdir -p "$CLAUDE_PROJECT_DIR/logs"
python3 -c '
import json, sys
data = json.load(sys.stdin)
print(data["session_id"], json.dumps(data["prompt"]))
' >> "$CLAUDE_PROJECT_DIR/logs/prompts.log"
echo "Rule of the team: tabs, not spaces."
