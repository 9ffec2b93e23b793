package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/provider"
)

// TestWhichProgramAnswers takes the command of the settings, else of the variables,
// else of the catalogue.
func TestWhichProgramAnswers(t *testing.T) {
	t.Parallel()
	custom := func(name string, c provider.Custom) map[string]provider.Custom {
		return map[string]provider.Custom{name: c}
	}
	for name, tt := range map[string]struct {
		ref    string
		custom map[string]provider.Custom
		env    vars
		looked string // the program that was looked for
		id     string
		fails  string
	}{
		"the catalogue's":      {ref: "copilot-acp", looked: "copilot", id: "copilot-acp:default"},
		"a model of it":        {ref: "copilot-acp:gpt-5.1", looked: "copilot", id: "copilot-acp:gpt-5.1"},
		"a variable":           {ref: "copilot-acp:m", env: vars{"COPILOT_CLI_PATH": "/opt/copilot"}, looked: "/opt/copilot", id: "copilot-acp:m"},
		"the better variable":  {ref: "copilot-acp:m", env: vars{"COPILOT_CLI_PATH": "no", "HERMES_COPILOT_ACP_COMMAND": "mine", "HERMES_COPILOT_ACP_ARGS": "--acp -v"}, looked: "mine", id: "copilot-acp:m"},
		"the settings":         {ref: "copilot-acp:m", custom: custom("copilot-acp", provider.Custom{Command: "own"}), env: vars{"COPILOT_CLI_PATH": "no"}, looked: "own", id: "copilot-acp:m"},
		"another program":      {ref: "agent:m", custom: custom("agent", provider.Custom{Command: "agent-acp", Args: []string{"--stdio"}}), looked: "agent-acp", id: "custom:agent:m"},
		"its default model":    {ref: "custom:agent:", custom: custom("agent", provider.Custom{Command: "agent-acp", Model: "small"}), looked: "agent-acp", id: "custom:agent:small"},
		"not installed":        {ref: "copilot-acp:m", custom: custom("copilot-acp", provider.Custom{Command: "absent"}), looked: "absent", fails: "needs the program absent, which was not found; install it, or set providers.copilot-acp.command"},
		"command and base_url": {ref: "agent:m", custom: custom("agent", provider.Custom{Command: "a", BaseURL: "http://127.0.0.1:1"}), fails: "both command and base_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looked := ""
			c := mustNew(t, provider.Config{Custom: tt.custom, System: provider.System{Getenv: tt.env.get}, Programs: provider.Programs{Dir: t.TempDir(), Find: func(program string) error {
				looked = program
				if program == "absent" {
					return errors.New("no")
				}
				return nil
			}}})
			ref, _, named := strings.Cut(tt.ref, ":")
			var m hermes.Model
			var err error
			if named {
				m, err = c.Model(t.Context(), tt.ref)
			} else {
				p, failed := c.Provider(ref)
				if failed != nil {
					t.Fatal(failed)
				}
				list, failed := p.List(t.Context())
				if failed != nil || len(list) != 1 {
					t.Fatalf("%v, %v", list, failed)
				}
				m, err = p.Model(list[0].ID)
			}
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || m.ID() != tt.id {
				t.Fatalf("%v, %v", m, err)
			}
			if diff := cmp.Diff(tt.looked, looked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAProgramIsUsedOnlyIfItIsNamed has one that is installed, and nothing else.
func TestAProgramIsUsedOnlyIfItIsNamed(t *testing.T) {
	t.Parallel()
	c := mustNew(t, provider.Config{Programs: provider.Programs{Dir: t.TempDir(), Find: func(string) error { return nil }}, Local: []provider.LocalServer{}})
	if m, err := c.Model(t.Context(), ""); !errors.Is(err, hermes.ErrNoModel) {
		t.Errorf("got %v, %v", m, err)
	}
	if c.Program("copilot-acp") != "copilot" || c.Program("openrouter") != "" || c.Program("nonsense") != "" {
		t.Error("which services are programs is wrong")
	}
	if !slices.Contains(c.Configured(), "copilot-acp") {
		t.Errorf("configured: %v", c.Configured())
	}
	if none := mustNew(t, provider.Config{}); slices.Contains(none.Configured(), "copilot-acp") {
		t.Error("a run without a folder for programs starts one")
	}
}
