//go:build unix

package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// agentScript is a program that speaks the Agent Client Protocol. It shows its
// environment, wants to run a command and answers.
const agentScript = `#!/bin/sh
at="$(dirname "$0")"
env > "$at/env"
pwd > "$at/dir"
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r line; printf '%s\n' "$line" > "$at/prompt"
echo '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"title":"delete all"},"options":[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]}}'
read -r line; printf '%s\n' "$line" > "$at/answer"
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I am a program."}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
`

// TestAProgramIsAModel holds a session with a program: nothing is allowed to it, and
// the keys of Hermes are not in its environment.
func TestAProgramIsAModel(t *testing.T) {
	t.Parallel()
	home, at := t.TempDir(), t.TempDir()
	script := filepath.Join(at, "agent")
	if err := os.WriteFile(script, []byte(agentScript), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {provider: copilot-acp}\nauxiliary: {title_generation: {enabled: false}}\nproviders: {copilot-acp: {command: '"+script+"', args: []}}\n")
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": "/somewhere", "OPENROUTER_API_KEY": "canary-key", "GH_TOKEN": "of-github", "FOO": "canary-foo"}
	a := app.New(app.Options{Home: home, Getenv: func(name string) string { return env[name] }})
	t.Cleanup(func() { a.Close() })
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}}})
	var text string
	var notices []string
	for e := range mustSay(t, s, "who are you?") {
		if n, ok := e.(hermes.Notice); ok {
			notices = append(notices, n.Text)
		}
		if done, ok := e.(hermes.TurnDone); ok {
			if text = done.Text; done.Failure != nil {
				t.Fatal(done.Err())
			}
			break
		}
	}
	if text != "I am a program." || !strings.Contains(strings.Join(notices, "\n"), "was refused a tool of its own: delete all") {
		t.Errorf("said %q, notices %q", text, notices)
	}
	for name, want := range map[string]string{"prompt": `\"role\":\"user\",\"text\":\"`, "answer": `"optionId":"r"`, "env": "GH_TOKEN=of-github", "env ": "HERMES_STARTED_BY_AGENT=", "dir": filepath.Join(home, "cache")} {
		raw, err := os.ReadFile(filepath.Join(at, strings.TrimSpace(name)))
		if err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "canary") {
			t.Errorf("%s: %v, %s", name, err, raw)
		}
	}
}

// TestAProgramThatIsMissing says what to install or set.
func TestAProgramThatIsMissing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "providers: {copilot-acp: {command: /nowhere/copilot}}\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { a.Close() })
	_, err := askModel(t, a, "copilot-acp:default")
	if !errors.Is(err, hermes.ErrNoModel) || !strings.Contains(err.Error(), "needs the program /nowhere/copilot") {
		t.Errorf("got %v", err)
	}
}
