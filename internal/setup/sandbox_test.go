package setup_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"hermes/internal/isolation"
	"hermes/internal/setup"
)

func TestSandboxCheck(t *testing.T) {
	t.Parallel()
	abilities := []isolation.Ability{{Name: "user namespaces", Detail: "AppArmor forbids them"}, {Name: "Landlock", Allowed: true, Detail: "ABI 7"}}
	for _, c := range []struct {
		mode, layer string
		verdict     setup.Verdict
		text        string
	}{
		{"auto", "A", setup.OK, "layer A"},
		{"auto", "B", setup.OK, "layer B (Landlock, seccomp). This host: without user namespaces (AppArmor forbids them), Landlock (ABI 7) (because)"},
		{"auto", "", setup.OK, "No sandbox on this host"},
		{"strict", "A", setup.OK, "layer A"},
		{"strict", "B", setup.Fail, "Commands do not run"},
		{"off", "A", setup.Warn, "terminal.sandbox is off"},
	} {
		d := healthy(t)
		must(t, os.WriteFile(d.Home.Config(), []byte("terminal: {sandbox: \""+c.mode+"\"}\n"), 0o600))
		d.Sandbox = func(context.Context) isolation.HostWalls {
			return isolation.HostWalls{Layer: c.layer, Why: "because", Abilities: abilities}
		}
		results, _ := diagnose(t, d, false)
		if r := results["sandbox"]; r.Verdict != c.verdict || !strings.Contains(r.Text, c.text) {
			t.Errorf("%s on a host with %q: %s %s", c.mode, c.layer, r.Verdict, r.Text)
		}
	}
}

// TestOtherBackendsCheck: the user reads what each one lacks, and none of it is a fault.
func TestOtherBackendsCheck(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	d.OtherBackends = func() (map[string]error, error) {
		return map[string]error{"ssh": errors.New("no host is set"), "docker": nil, "e2b": errors.New("no key")}, nil
	}
	results, _ := diagnose(t, d, false)
	if r := results["other backends"]; r.Verdict != setup.OK || r.Text != "set up: docker; not set up: e2b (no key), ssh (no host is set)" {
		t.Errorf("%s %s", r.Verdict, r.Text)
	}
}

// TestBackendCheck: a backend that cannot be used fails, with what to do.
func TestBackendCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		verdict setup.Verdict
		text    string
	}{
		{"local", nil, setup.OK, "local: commands run on this machine"},
		{"docker", nil, setup.OK, "docker: it answers"},
		{"docker", errors.New("the engine is down; start it"), setup.Fail, "docker: the engine is down; start it"},
		{"", errors.New("no home"), setup.Fail, "no home"},
	} {
		d := healthy(t)
		d.Backend = func(context.Context) (string, error) { return c.name, c.err }
		results, _ := diagnose(t, d, false)
		if r := results["backend"]; r.Verdict != c.verdict || r.Text != c.text {
			t.Errorf("%+v: %s %s", c, r.Verdict, r.Text)
		}
	}
}
