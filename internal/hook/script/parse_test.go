package script_test

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes/internal/hook/script"
)

// parse reads a section hooks.
func parse(t *testing.T, text string) ([]script.Entry, []script.Webhook, []script.Problem) {
	t.Helper()
	var section map[string]any
	if err := yaml.Unmarshal([]byte(text), &section); err != nil {
		t.Fatal(err)
	}
	return script.Parse(section, "config.yaml")
}

func TestBothFormsAreRead(t *testing.T) {
	t.Parallel()
	entries, webhooks, problems := parse(t, `
pre_tool_call:
- {matcher: "write_.*", command: "check.py --strict", timeout: 5, fail_closed: true, read: [~/rules], write: []}
PreToolUse:
- matcher: Edit|Write
  hooks:
  - {type: command, command: "a | b", statusMessage: Checking}
  - {type: http, url: "https://example.org/hook", secret_env: HOOK_SECRET, headers: {X-A: b}, timeout: 900}
Stop:
- hooks: [{type: command, command: "true"}]
outbound:
- {name: log, url: "https://example.org/log", events: [post_tool_call], secret_env: S}
`)
	if len(entries) != 4 || len(webhooks) != 1 {
		t.Fatalf("got %d hooks, %d webhooks, problems %+v", len(entries), len(webhooks), problems)
	}
	byLine := map[string]script.Entry{}
	for _, e := range entries {
		byLine[e.Line()] = e
	}
	own := byLine["check.py --strict"]
	if !own.Command.Words || !own.FailClosed || own.Timeout != 5*time.Second || len(own.Command.Write) != 0 || !own.Matches("write_file") || own.Matches("overwrite_file") {
		t.Errorf("own form: %+v", own)
	}
	claude := byLine["a | b"]
	if claude.Command.Words || claude.Timeout != time.Minute || !claude.Matches("Edit") || claude.Matches("NotebookEdit") || claude.Command.Write[0] != "." {
		t.Errorf("form of Claude Code: %+v", claude)
	}
	if http := byLine["POST https://example.org/hook"]; http.Timeout != 300*time.Second || http.Request.SecretEnv != "HOOK_SECRET" {
		t.Errorf("request: %+v", http)
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Key+" "+p.Text)
	}
	if all := strings.Join(texts, "\n"); len(problems) != 2 || !strings.Contains(all, "statusMessage has no meaning") || !strings.Contains(all, "timeout is longer") {
		t.Errorf("problems:\n%s", all)
	}
}

// TestNothingThatIsWrongIsSilent: each mistake is a problem, and what is wrong does not run, but a guard that is wrong
// refuses.
func TestNothingThatIsWrongIsSilent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`pre_tol_call: [{command: a}]`:                                                  "hooks.pre_tol_call is not a known event; did you mean pre_tool_call?",
		`PretoolUse: [{command: a}]`:                                                    "did you mean PreToolUse?",
		`kanban_task_claimed: [{command: a}]`:                                           "waits for the kanban board",
		`pre_tool_call: {command: a}`:                                                   "is not a list",
		`pre_tool_call: [a]`:                                                            "is not a hook",
		`pre_tool_call: [{type: prompt, prompt: x}]`:                                    `"prompt" is for PreToolUse`,
		`SessionEnd: [{hooks: [{type: prompt, prompt: x}]}]`:                            `"prompt" is for PreToolUse`,
		`Stop: [{hooks: [{type: prompt}]}]`:                                             "prompt is missing",
		`Stop: [{hooks: [{type: agent, prompt: x}]}]`:                                   `"agent" waits for children`,
		`Stop: [{hooks: [{type: shell, command: x}]}]`:                                  "use command, http or prompt",
		`pre_tool_call: [{matcher: a}]`:                                                 "command is missing",
		`pre_tool_call: [{command: "a 'b"}]`:                                            "quote is not closed",
		`PreToolUse: [{hooks: [{command: "a && "}]}]`:                                   "cannot be read as a command line",
		`pre_tool_call: [{command: a, matcher: "("}]`:                                   "matcher is not a pattern",
		`pre_tool_call: [{command: a, matcher: "(?!b)c"}]`:                              "matcher is not a pattern",
		`pre_tool_call: [{command: a, matchers: b}]`:                                    "matchers is not a known key",
		`PreToolUse: [{matcher: a, hook: b, hooks: [{command: c}]}]`:                    "hooks.PreToolUse.0.hook is not a known key",
		`PreToolUse: [{hooks: [{command: c, if: "Task(x)"}]}]`:                          "rules for a part of Task are not supported",
		`Stop: [{hooks: [{command: c, if: "Bash(git *)"}]}]`:                            "is for PreToolUse",
		`pre_tool_call: [{command: c, if: "Bash(git *)"}]`:                              "is for PreToolUse",
		`PreToolUse: [{if: "bash(git *)", hooks: [{command: c}]}]`:                      "is not understood",
		`PreToolUse: [{hooks: [{command: c, if: "write_file"}]}]`:                       "did you mean Write?",
		`PreToolUse: [{hooks: [{command: c, if: "Edit([a-z].ts)"}]}]`:                   "use * and **",
		`PreToolUse: [{hooks: [{command: c, if: "WebFetch(example.org)"}]}]`:            "needs a domain",
		`PreToolUse: [{hooks: [{command: c, if: ""}]}]`:                                 "is not a rule",
		`PreToolUse: [{hooks: [{command: c, if: "tool_input.command matches 'git'"}]}]`: "is not a rule",
		`post_tool_call: [{command: a, fail_closed: true}]`:                             "is for pre_tool_call, PreToolUse and PermissionRequest only",
		`pre_llm_call: [{command: a, matcher: b}]`:                                      "matcher means nothing for pre_llm_call",
		`pre_tool_call: [{type: http, url: "ftp://x"}]`:                                 "begins with https",
		`pre_tool_call: [{type: http, url: "https://a:b@x/"}]`:                          "password",
		`outbound: [{url: "https://x/", events: [PreTool]}]`:                            `names "PreTool", which is not a known event`,
		`outbound: [{url: "https://x/", evens: [PreToolUse]}]`:                          "evens is not a known key",
		`pre_tool_call: [{command: a, timeout: soon}]`:                                  "is not a number of seconds",
		`pre_tool_call: [{command: a, fail_closed: "yes, please", x: 1}]`:               "fail_closed is neither true nor false",
	} {
		_, _, problems := parse(t, text)
		var all []string
		for _, p := range problems {
			all = append(all, p.Key+" "+p.Text+"; "+p.Served)
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: problems %q, want %q", text, got, want)
		}
	}
	entries, _, _ := parse(t, `pre_tool_call: [{command: a, matcher: "(", fail_closed: true}, {command: b, matcher: "("}]`)
	if len(entries) != 1 || entries[0].Fault == "" || !entries[0].Matches("anything") {
		t.Errorf("a guard that is wrong: %+v", entries)
	}
	for _, text := range []string{
		`pre_tool_call: {command: a, fail_closed: true}`, `PreToolUse: [{matcher: a, hooks: {command: a, fail_closed: true}}]`,
		`PreToolUse: [{matcher: a, fail_closed: true, hooks: [{command: a}]}]`, `pre_tool_call: [{command: a, fail_closed: "true"}]`,
	} {
		if entries, _, _ := parse(t, text); len(entries) != 1 || !entries[0].FailClosed {
			t.Errorf("%s: the guard is lost: %+v", text, entries)
		}
	}
	if entries, _, _ = parse(t, `PretoolUse: [{hooks: [{command: a, fail_closed: true}]}]`); len(entries) != 1 || entries[0].Fault == "" {
		t.Errorf("a guard of an event that is misspelt: %+v", entries)
	}
	if entries, _, _ = parse(t, `PretoolUse: [{hooks: [{command: a}]}]`); len(entries) != 0 {
		t.Errorf("a hook of an event that is misspelt: %+v", entries)
	}
}

// TestEveryEventIsKnownOnce: those of both forms, and each either happens or says what it waits for.
func TestEveryEventIsKnownOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range script.Events() {
		if seen[e.Name] || (e.When == "") == (e.Waits == "") {
			t.Errorf("%+v", e)
		}
		seen[e.Name] = true
	}
	for _, name := range strings.Fields(`PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop PreCompact SessionStart SessionEnd Notification
		pre_tool_call post_tool_call transform_tool_result transform_terminal_output transform_llm_output pre_llm_call post_llm_call pre_verify pre_api_request
		post_api_request api_request_error pre_auxiliary_call post_auxiliary_call on_stream_start on_stream_delta on_stream_end on_interim_message
		transform_api_error_classification on_session_start on_session_end on_session_finalize on_session_reset agent_loop_stopped on_skill_lifecycle
		subagent_start subagent_stop pre_gateway_dispatch gateway_platform_event pre_command pre_approval_request post_approval_response pre_transcription
		pre_tts_synthesis on_room_member_activity gateway:startup session:start session:end session:reset session:compress agent:start agent:step agent:end
		reaction:added reaction:removed`) {
		if !seen[name] {
			t.Errorf("%s is not known", name)
		}
	}
}
