#!/usr/bin/env python3
# PreToolUse hook for Claude Code: refuse recursive deletes.
import json
import re
import sys

data = json.load(sys.stdin)
if data.get("tool_name") != "Bash":
    sys.exit(0)
command = data.get("tool_input", {}).get("command", "")
if re.search(r"\brm\s+(-\w*\s+)*-\w*[rf]\w*[rf]", command):
    print("Blocked: recursive delete is not allowed, move it to the trash instead", file=sys.stderr)
    sys.exit(2)
sys.exit(0)
