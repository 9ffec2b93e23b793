package script_test

import (
	"strings"
	"testing"
)

// TestAMatcherThatFitsNothingIsReported, and none that may fit a tool of an MCP server or of Claude Code's list.
func TestAMatcherThatFitsNothingIsReported(t *testing.T) {
	t.Parallel()
	tools := []string{"terminal", "write_file", "patch", "execute_code", "memory"}
	for row, want := range map[string]string{
		`PreToolUse: [{matcher: "Edit|Wirte", hooks: [{command: a}]}]`:              "names Wirte, which is no tool for this event; did you mean Write?",
		`PreToolUse: [{matcher: terminal, hooks: [{command: a}]}]`:                  "did you mean Bash?",
		`pre_tool_call: [{matcher: Bash, command: a}]`:                              "did you mean terminal?",
		`pre_tool_call: [{matcher: Glob, command: a}]`:                              "did you mean search_files?",
		`pre_tool_call: [{matcher: nonsense_of_mine, command: a}]`:                  "names nonsense_of_mine, which is no tool",
		`pre_tool_call: [{matcher: "writ_.*", command: a}]`:                         "writ_.* fits no tool",
		`PreToolUse: [{matcher: NotebookEdit, hooks: [{command: a}]}]`:              "NotebookEdit fits no tool",
		`transform_terminal_output: [{matcher: patch, command: a}]`:                 "names patch",
		`SessionStart: [{matcher: clear, hooks: [{command: a}]}]`:                   "compared with startup or resume",
		`Notification: [{matcher: auth_success, hooks: [{command: a}]}]`:            "compared with permission_prompt or elicitation_dialog or idle_prompt",
		`Notification: [{matcher: permission_prompt, hooks: [{command: a}]}]`:       "",
		`PreCompact: [{matcher: manual, hooks: [{command: a}]}]`:                    "compared with auto",
		`PreToolUse: [{matcher: "Edit|MultiEdit|Write", hooks: [{command: a}]}]`:    "",
		`PreToolUse: [{matcher: "Bash|execute_code", hooks: [{command: a}]}]`:       "",
		`PreToolUse: [{matcher: "Notebook.*|Write", hooks: [{command: a}]}]`:        "",
		`PreToolUse: [{matcher: "WebFetch|Glob", hooks: [{command: a}]}]`:           "",
		`PreToolUse: [{matcher: "mcp__github__create", hooks: [{command: a}]}]`:     "",
		`pre_tool_call: [{matcher: "mcp__.*__delete_.*", command: a}]`:              "",
		`pre_tool_call: [{matcher: "(web|memory).*", command: a}]`:                  "",
		`SessionStart: [{matcher: "startup|clear|compact", hooks: [{command: a}]}]`: "",
		`PreToolUse: [{hooks: [{command: a, if: Bahs, fail_closed: true}]}]`:        "the key if names Bahs, which is no tool for this event; did you mean Bash?",
		`PreToolUse: [{matcher: "*", hooks: [{command: a, if: Nonsense_of_mine}]}]`: "the key if names Nonsense_of_mine, which is no tool",
		`PreToolUse: [{hooks: [{command: a, if: "Edit(*.ts)"}]}]`:                   "",
		`PreToolUse: [{hooks: [{command: a, if: execute_code}]}]`:                   "",
		`PreToolUse: [{hooks: [{command: a, if: mcp__github}]}]`:                    "",
		`pre_tool_call: [{command: a}, {matcher: "*", command: b}]`:                 "",
	} {
		entries, _, _ := parse(t, row)
		if len(entries) == 0 {
			t.Fatal(row)
		}
		got := ""
		for _, e := range entries {
			got += e.Unmatched(tools)
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
	_, hooks, _ := parse(t, `outbound: [{url: "https://example.org", matcher: Bash}]`)
	if got := hooks[0].Entry("config.yaml").Unmatched(tools); !strings.Contains(got, "did you mean terminal?") {
		t.Errorf("a webhook: %q", got)
	}
}

// TestEachKindOfNotificationCanBeTried.
func TestEachKindOfNotificationCanBeTried(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"permission_prompt", "elicitation_dialog", "idle_prompt"} {
		_, at, s := begin(t, `Notification: [{matcher: `+kind+`, hooks: [{command: a}]}]`, map[string]said{"a": {}})
		if list, err := s.Try(t.Context(), "Notification", ""); err != nil || len(at.inputs) != 1 || at.inputs[0]["notification_type"] != kind {
			t.Errorf("%s: %+v, %v", kind, list, err)
		}
	}
}

// TestPermissionRequestsCanBeTried: what a hook would decide is shown, also that an allow has no effect.
func TestPermissionRequestsCanBeTried(t *testing.T) {
	t.Parallel()
	for behavior, want := range map[string]string{"deny": "refuses: no", "allow": "has no effect", "perhaps": "is not known"} {
		_, _, s := begin(t, `PermissionRequest: [{matcher: Bash, hooks: [{command: a}]}]`, map[string]said{"a": {out: `{"hookSpecificOutput":{"decision":{"behavior":"` + behavior + `","message":"no"}}}`}})
		if list, err := s.Try(t.Context(), "PermissionRequest", ""); err != nil || len(list) != 1 || !strings.Contains(list[0].Verdict.String(), want) {
			t.Errorf("%s: %+v, %v", behavior, list, err)
		}
	}
}
