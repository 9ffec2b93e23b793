package cmd

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/chat"
	"hermes/internal/lineage"
	"hermes/internal/policy/shell"
)

func noVariables(string) string { return "" }

// tree lists the commands that do something, by their path.
func tree(root *cobra.Command) map[string]*cobra.Command {
	root.InitDefaultHelpCmd()
	all := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all[below(c)] = c
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return all
}

func testRoot(p Process) *cobra.Command { return newRoot(p, newFactory(p)) }

// TestEveryCommandSaysWhetherItChangesHermes keeps the table whole: a new command
// needs a row there.
func TestEveryCommandSaysWhetherItChangesHermes(t *testing.T) {
	t.Parallel()
	all, rows := tree(testRoot(Process{Getenv: noVariables})), effects()
	for path := range all {
		if rows[path] == nil {
			t.Errorf("`hermes %s` is not in the table of effects: does it only read, or does it change settings, memory, skills, credentials or records?", path)
		}
	}
	for path := range rows {
		if all[path] == nil {
			t.Errorf("`hermes %s` is in the table of effects, but there is no such command", path)
		}
	}
}

// TestWordsOfChangeAreChanges finds rows that are in the wrong class.
func TestWordsOfChangeAreChanges(t *testing.T) {
	t.Parallel()
	words := []string{"add", "approve", "archive", "clear", "create", "delete", "disable", "edit", "enable", "import", "install",
		"login", "logout", "merge", "migrate", "off", "pin", "prune", "purge", "raise", "remove", "rename", "repair", "reset",
		"restore", "revoke", "rollback", "set", "trust", "unattended", "undo", "uninstall", "unset", "update", "use"}
	rows := effects()
	for path, c := range tree(testRoot(Process{Getenv: noVariables})) {
		if slices.Contains(words, c.Name()) && rows[path] != nil && rows[path](c, []string{"x"}) != changes {
			t.Errorf("`hermes %s` counts as harmless", path)
		}
	}
}

// underAgent runs a command line below an agent or not, with the work of all
// commands replaced, and returns whether the work was done.
func underAgent(t *testing.T, above lineage.Above, add *cobra.Command, args ...string) (done bool, err error) {
	t.Helper()
	home := t.TempDir()
	getenv := func(name string) string {
		if name == "HERMES_HOME" {
			return home
		}
		return ""
	}
	p := Process{Getenv: getenv, Above: func() lineage.Above { return above }, Stdin: strings.NewReader("")}
	root := testRoot(p)
	if add != nil {
		root.AddCommand(add)
	}
	for _, c := range tree(root) {
		c.Run, c.RunE = nil, func(*cobra.Command, []string) error { done = true; return nil }
	}
	(&wall{process: p, options: &chat.Options{Factory: newFactory(p)}}).guard(root)
	root.SetArgs(args)
	return done, root.Execute()
}

// found is what the check knows below an agent.
func found() lineage.Above { return lineage.Above{Signs: []string{"a sign"}} }

func TestUnknownCommandsCountAsChanging(t *testing.T) {
	t.Parallel()
	for _, add := range []*cobra.Command{
		{Use: "novel", RunE: func(*cobra.Command, []string) error { return nil }},
		{Use: "novel", Run: func(*cobra.Command, []string) {}},
	} {
		if done, err := underAgent(t, found(), add, "novel"); done || err == nil {
			t.Errorf("a command without a row ran below an agent: %v", err)
		}
	}
}

func TestWhatCannotBeFoundOutNeedsATerminal(t *testing.T) {
	t.Parallel()
	hidden := lineage.Above{Err: errors.New("no /proc")}
	if done, err := underAgent(t, hidden, nil, "config", "set", "a", "b"); done || err == nil || !strings.Contains(err.Error(), "no /proc") {
		t.Errorf("a script: %v, done %v", err, done)
	}
	if done, err := underAgent(t, hidden, nil, "config", "get", "a"); !done || err != nil {
		t.Errorf("a script that reads: %v, done %v", err, done)
	}
	if done, err := underAgent(t, hidden, nil, "-z", "hi"); !done || err != nil {
		t.Errorf("a script that asks: %v, done %v", err, done)
	}
	if done, err := underAgent(t, lineage.Above{}, nil, "config", "set", "a", "b"); !done || err != nil {
		t.Errorf("a script of a user: %v, done %v", err, done)
	}
}

// TestAgentOfAnUnknownHomeMayNotBeAsked has a sign that does not tell the home: the
// second agent might use another one.
func TestAgentOfAnUnknownHomeMayNotBeAsked(t *testing.T) {
	t.Parallel()
	if done, err := underAgent(t, found(), nil, "-z", "hi"); done || err == nil || !strings.Contains(err.Error(), "home of that agent is not known") {
		t.Errorf("%v, done %v", err, done)
	}
}

// TestShellPolicyAsksAboutChangesToo keeps the list of internal/policy/shell like the
// table here: what an agent may not call is not run without a question either.
func TestShellPolicyAsksAboutChangesToo(t *testing.T) {
	t.Parallel()
	lines := []string{"hermes doctor --fix", "hermes config get OPENAI_API_KEY --reveal"}
	all := tree(testRoot(Process{Getenv: noVariables, Stdin: strings.NewReader("")}))
	for path, of := range effects() {
		if of(all[path], []string{"x"}) == changes {
			lines = append(lines, "hermes "+path+" x")
		}
	}
	for _, line := range lines {
		if shell.Judge(line, shell.Context{Home: "/home/ann"}).Level() == shell.Allow {
			t.Errorf("`%s` changes Hermes and runs without a question", line)
		}
	}
}
