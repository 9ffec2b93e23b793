package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/trust"
	settings "hermes/internal/trust"
)

// desk runs `hermes trust` in a project with one rule.
type desk struct {
	t         *testing.T
	home, dir string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t, t.TempDir(), dir}
	d.write("rules: [{allow: 'terminal: make'}]")
	return d
}

func (d *desk) write(rules string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.dir, ".hermes"), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, ".hermes", "permissions.yaml"), []byte(rules), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// run runs a command; answer is what the user types, "" is no terminal.
func (d *desk) run(answer string, args ...string) (string, error) {
	d.t.Helper()
	var out bytes.Buffer
	f := factory.New(app.Options{Home: d.home}, factory.IO{Terminal: func() bool { return answer != "" }})
	f.Dir = func() (string, error) { return d.dir, nil }
	cmd := trust.NewCmd(f)
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(answer + "\n"))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

// state is what a new process knows of the project.
func (d *desk) state() settings.State {
	d.t.Helper()
	_, decision, err := app.New(app.Options{Home: d.home}).Project(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	return decision.State
}

func TestTrustAsksAndShowsWhatItIsAbout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if out, err := d.run("n"); err == nil || !strings.Contains(out, "terminal: make") || d.state() != settings.Unknown {
		t.Errorf("after no: %v, %q, %s", err, d.state(), out)
	}
	if _, err := d.run(""); err == nil || !strings.Contains(err.Error(), "--hash") || d.state() != settings.Unknown {
		t.Errorf("without a terminal: %v, %q", err, d.state())
	}
	if out, err := d.run("y"); err != nil || d.state() != settings.Trusted {
		t.Errorf("after yes: %v, %q, %s", err, d.state(), out)
	}
	if out, err := d.run("", "list"); err != nil || !strings.Contains(out, d.dir) {
		t.Errorf("list: %v, %s", err, out)
	}
	d.write("rules: [{allow: 'terminal: sh'}]")
	if out, err := d.run("", "show"); err != nil || !strings.Contains(out, "changed since they were trusted") || !strings.Contains(out, "+rules: [{allow: 'terminal: sh'}]") || d.state() != settings.Unknown {
		t.Errorf("after a change: %v, %q, %s", err, d.state(), out)
	}
	if _, err := d.run("", "decline"); err != nil || d.state() != settings.Declined {
		t.Errorf("declined: %v, %q", err, d.state())
	}
	if out, err := d.run("", "revoke", "."); err != nil || d.state() != settings.Unknown {
		t.Errorf("revoked: %v, %q, %s", err, d.state(), out)
	}
	if out, err := d.run("", "revoke", "--all"); err != nil || !strings.Contains(out, "no decisions") {
		t.Errorf("revoke all: %v, %s", err, out)
	}
	log, err := app.New(app.Options{Home: d.home}).Audit()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for r, err := range log.Rows(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == audit.KindTrust {
			rows = append(rows, r.Decision)
		}
	}
	if want := "trusted declined revoked"; strings.Join(rows, " ") != want {
		t.Errorf("the audit log has %q, want %q", rows, want)
	}
}

func TestYesNeedsTheHashOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.run("", "show")
	if err != nil {
		t.Fatal(err)
	}
	hash := regexp.MustCompile(`Hash: ([0-9a-f]{64})`).FindStringSubmatch(out)[1]
	d.write("rules: [{allow: 'terminal: sh'}]")
	for _, args := range [][]string{{"--yes"}, {"--hash", hash}, {"--yes", "--hash", hash}, {"--yes", "--hash", hash[:12]}} {
		if _, err := d.run("y", args...); err == nil || d.state() != settings.Unknown {
			t.Errorf("%v: %v, %q", args, err, d.state())
		}
	}
	d.write("rules: [{allow: 'terminal: make'}]")
	if out, err := d.run("", "--yes", "--hash", hash); err != nil || d.state() != settings.Trusted {
		t.Errorf("%v, %q, %s", err, d.state(), out)
	}
}

func TestAFolderWithoutSettingsIsNotTrusted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	empty := t.TempDir()
	if _, err := d.run("y", empty); err == nil || !strings.Contains(err.Error(), "no project settings") {
		t.Errorf("%v", err)
	}
}
