//go:build unix

package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/tool/terminal"
)

// elsewhere is an environment whose commands and files are not on this machine.
type elsewhere struct {
	hermes.Environment
	home  string
	layer string
}

func (e elsewhere) Files() hermes.Files { return struct{ hermes.Files }{e.Environment.Files()} }

func (e elsewhere) Describe(context.Context) hermes.Description {
	return hermes.Description{Home: e.home, Isolation: hermes.Isolation{Layer: e.layer, Holds: e.layer != ""}}
}

// TestCommandsElsewhereAreJudgedByWhatIsThere: the home there counts, and neither the home, the folders nor the
// process of Hermes here.
func TestCommandsElsewhereAreJudgedByWhatIsThere(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), "/home/agent"
	b := mustFixture(t, terminal.Config{Home: here, Hermes: here + "/state", PID: os.Getpid(), Wrote: func(_, _, _ string) []string {
		t.Error("the files of this machine were looked at")
		return nil
	}})
	local := b.host.environment
	keys := func(line string) string {
		var all []string
		for _, r := range b.assess(map[string]any{"command": line}) {
			all = append(all, r.Key)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	for _, tt := range []struct{ line, local, remote, container string }{
		{"echo x >> ~/.ssh/config", "write-ssh", "write-ssh", ""},
		{"echo x >> " + here + "/.bashrc", "write-shell-start", "", ""},
		{"echo x >> " + there + "/.bashrc", "", "write-shell-start", ""},
		{"echo x >> " + here + "/state/hermes.db", "write-hermes", "", ""},
		{fmt.Sprintf("kill %d", os.Getpid()), "self-terminate", "", ""},
		{"rm -rf build", "recursive-delete", "recursive-delete", ""},
		{"git push --force", "git-push-force", "git-push-force", "git-push-force"},
		{"ssh host rm -rf x", "recursive-delete", "recursive-delete", "recursive-delete"},
	} {
		b.host.environment = local
		if got := keys(tt.line); got != tt.local {
			t.Errorf("here %q has %q, want %q", tt.line, got, tt.local)
		}
		b.host.environment = elsewhere{local, there, ""}
		if got := keys(tt.line); got != tt.remote {
			t.Errorf("there %q has %q, want %q", tt.line, got, tt.remote)
		}
		b.host.environment = elsewhere{local, there, "container"}
		if got := keys(tt.line); got != tt.container {
			t.Errorf("in a container %q has %q, want %q", tt.line, got, tt.container)
		}
	}
	for _, layer := range []string{"", "container"} {
		b.host.environment = elsewhere{local, there, layer}
		if r := b.assess(map[string]any{"command": "rm -rf /"}); len(r) == 0 || !r[0].Deny {
			t.Errorf("%q: what is never allowed has %v", layer, r)
		}
		_ = b.assess(map[string]any{"command": "make", "escalate": "because"})
		if _, err := b.call(t.Context(), "terminal", map[string]any{"command": "echo hello", "escalate": "because"}); err == nil || !strings.Contains(err.Error(), "no sandbox") {
			t.Errorf("%q: escalates: %v", layer, err)
		}
	}
}

// TestTheSudoPasswordOfThisMachineStaysHere: elsewhere the user types one.
func TestTheSudoPasswordOfThisMachineStaysHere(t *testing.T) {
	t.Parallel()
	b := withSudo(t, terminal.Config{SudoPassword: configured("geheim")})
	b.host.environment = elsewhere{b.host.environment, "/home/agent", ""}
	if a := b.run("sudo echo x"); strings.Contains(a.Output, "as root") || len(b.host.asked) != 1 {
		t.Errorf("got %+v, asked %v", a, b.host.asked)
	}
}

// lost is an environment that loses the connection to its commands.
type lost struct{ hermes.Environment }

var errLost = errors.New("the connection was lost, so the outcome is unknown")

func (lost) Exec(_ context.Context, c hermes.Command) (hermes.Exit, error) {
	_, _ = io.WriteString(c.Stdout, "deployed 1 of 2\n")
	return hermes.Exit{}, errLost
}

// TestALostCommandIsNotSaidToHaveNotRun, and what it wrote is kept.
func TestALostCommandIsNotSaidToHaveNotRun(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	b.host.environment = lost{b.host.environment}
	_, err := b.call(t.Context(), "terminal", map[string]any{"command": "deploy"})
	if !errors.Is(err, errLost) || strings.Contains(err.Error(), "not run") || !strings.Contains(err.Error(), "deployed 1 of 2") {
		t.Error(err)
	}
}
