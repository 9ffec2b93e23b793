//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// hooking is a user with a hook that adds words to each message, and a model that says whether it has read them.
func hooking(t *testing.T) *user {
	t.Helper()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		for _, m := range r.Messages {
			if strings.Contains(m.Text(), "words of a hook") {
				return chatserver.Answer{Text: "I have read them."}, nil
			}
		}
		return chatserver.Answer{Text: "I have read nothing."}, nil
	})...)
	p.configure("hooks:\n  UserPromptSubmit:\n  - hooks: [{type: command, command: \"$CLAUDE_PROJECT_DIR/say.sh\"}]\n")
	if err := os.WriteFile(filepath.Join(p.dir, "say.sh"), []byte("#!/bin/sh\ncat > /dev/null\necho the words of a hook\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestHooksAreAgreedToOnce: a question without a terminal says that they do not run; with a flag or variable they do.
func TestHooksAreAgreedToOnce(t *testing.T) {
	t.Parallel()
	p := hooking(t)
	out, errs, _ := p.run("chat", "-Q", "-q", "hello", "-m", "played")
	if !strings.Contains(out, "nothing") || !strings.Contains(errs, "1 hook does not run") {
		t.Errorf("without consent: %s%s", out, errs)
	}
	for range 2 { // the consent is kept
		out, errs, _ = p.run("chat", "-Q", "-q", "hello", "-m", "played", "--accept-hooks")
		if !strings.Contains(out, "read them") || strings.Contains(errs, "hook") {
			t.Errorf("with --accept-hooks: %s%s", out, errs)
		}
	}
	if out, errs, _ = p.run("-z", "hello", "-m", "played"); !strings.Contains(out, "read them") {
		t.Errorf("after it: %s%s", out, errs)
	}
	p = hooking(t)
	p.env = append(p.env, "HERMES_ACCEPT_HOOKS=1")
	if out, errs, _ = p.run("-z", "hello", "-m", "played"); !strings.Contains(out, "read them") {
		t.Errorf("with HERMES_ACCEPT_HOOKS: %s%s", out, errs)
	}
}

// TestAChatAsksAboutHooks that are new, and again about those that have changed.
func TestAChatAsksAboutHooks(t *testing.T) {
	t.Parallel()
	p := hooking(t)
	s := p.sit("xterm", "chat", "-m", "played")
	s.shows("say.sh")
	s.shows("Let them run from now on, as they are? [y/N]")
	s.press("n\r")
	s.shows("You are asked again")
	s.shows("/help")
	s.press("hello\r")
	s.shows("I have read nothing.")
	s.press("\x04")
	s.left()
	s = p.sit("xterm", "chat", "-m", "played")
	s.shows("[y/N]")
	s.press("y\r")
	s.shows("/help")
	s.press("hello\r")
	s.shows("I have read them.")
	s.press("\x04")
	s.left()
	if err := os.WriteFile(filepath.Join(p.dir, "say.sh"), []byte("#!/bin/sh\necho other words of a hook\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s = p.sit("xterm", "chat", "-m", "played")
	s.shows("changed since you agreed")
	s.press("n\r")
	s.shows("/help")
	s.press("\x04")
	s.left()
}

// TestHookMistakesAreReported by `hermes config check`, with their line.
func TestHookMistakesAreReported(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	p.configure("hooks:\n  PretoolUse:\n  - {command: a}\n  pre_tool_call:\n  - {command: b, type: browse, \"timeout\": 3}\n  kanban_task_claimed:\n  - {command: \"${NOT_SET}\"}\n")
	out, errs, status := p.run("config", "check")
	for _, want := range []string{"config.yaml, line 3: hooks.PretoolUse is not a known event", `"browse" is not a kind of hook`, "waits for the kanban board"} {
		if !strings.Contains(out+errs, want) {
			t.Errorf("%q is missing in\n%s%s", want, out, errs)
		}
	}
	if strings.Contains(out+errs, "NOT_SET") || status == 0 {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}
