package setup_test

import (
	"errors"
	"strings"
	"testing"

	"hermes/internal/setup"
	"hermes/internal/trust"
)

func TestProjectCheckSaysWhetherSettingsAreTrusted(t *testing.T) {
	t.Parallel()
	files := trust.Project{Files: []trust.File{{Path: ".mcp.json"}}}
	for _, c := range []struct {
		project  trust.Project
		decision trust.Decision
		err      error
		verdict  setup.Verdict
		text     string
	}{
		{verdict: setup.OK, text: "no project settings"},
		{project: files, decision: trust.Decision{State: trust.Trusted}, verdict: setup.OK, text: ".mcp.json), trusted"},
		{project: files, decision: trust.Decision{State: trust.Declined}, verdict: setup.OK, text: "declined"},
		{project: files, verdict: setup.Warn, text: "not trusted"},
		{project: files, decision: trust.Decision{Before: &trust.Version{}}, verdict: setup.Warn, text: "changed since"},
		{project: files, err: errors.New("x is a link"), verdict: setup.Warn, text: "x is a link"},
	} {
		deps := setup.Deps{Project: func() (trust.Project, trust.Decision, error) { return c.project, c.decision, c.err }}
		for _, check := range setup.Checks(deps) {
			if check.Name != "project" {
				continue
			}
			if got := check.Run(t.Context()); got.Verdict != c.verdict || !strings.Contains(got.Text, c.text) {
				t.Errorf("got %v, want %v with %q", got, c.verdict, c.text)
			}
		}
	}
}
