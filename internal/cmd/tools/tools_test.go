package tools_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/tools"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/toolset"
)

// set is a toolset with tools that do nothing.
type set struct {
	name, off string
	tools     []string
}

func (s set) Name() string                     { return s.name }
func (s set) Available(context.Context) string { return s.off }
func (s set) Tools(context.Context) ([]hermes.Tool, error) {
	var out []hermes.Tool
	for _, name := range s.tools {
		out = append(out, tool(name))
	}
	return out, nil
}

type tool string

func (t tool) Spec() hermes.Spec                                        { return hermes.Spec{Name: string(t)} }
func (t tool) Run(context.Context, *hermes.Call) (hermes.Result, error) { return hermes.Result{}, nil }

func run(t *testing.T, yaml, args string) (out, after string, err error) {
	t.Helper()
	h := home.At(t.TempDir())
	if err := os.WriteFile(h.Config(), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Config, error) {
		return config.Load(h, config.Options{Managed: "-", LookupEnv: func(string) (string, bool) { return "", false }}), nil
	}
	f := factory.New(app.Options{}, factory.IO{})
	f.Config = load
	cmd := tools.NewCmd(f, func(platform string) (tools.Opened, error) {
		c, _ := load()
		enabled := c.PlatformToolsets()[platform]
		if len(enabled) == 0 {
			enabled = c.General().Toolsets
		}
		return tools.Opened{
			Catalogue: toolset.NewCatalogue([]hermes.Toolset{
				set{name: "file", tools: []string{"read_file", "write_file"}},
				set{name: "terminal", tools: []string{"terminal", "process"}},
				set{name: "web", off: "no key is set", tools: []string{"web_search"}},
			}, nil, nil),
			Selection: toolset.Selection{Enabled: enabled, Disabled: c.Agent().DisabledToolsets, Platform: platform},
		}, nil
	})
	var b bytes.Buffer
	cmd.SetOut(&b)
	cmd.SetErr(&b)
	cmd.SetArgs(strings.Fields(args))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	src, _ := os.ReadFile(filepath.Join(h.Path(), "config.yaml"))
	return b.String(), string(src), err
}

func TestList(t *testing.T) {
	t.Parallel()
	file := "✓ file             read_file, write_file\n"
	tests := []struct{ name, yaml, args, want string }{
		{"all", "", "", file + "✓ terminal         process, terminal\n✗ web              no key is set\n"},
		{"one off", "agent: {disabled_toolsets: [terminal]}\n", "list", file + "– terminal         process, terminal\n✗ web              no key is set\n"},
		{"summary", "", "--summary", "cli: 2 of 3 toolsets are on (tools: 4, not available: 1).\n"},
		{"unknown names", "toolsets: [file, nope]\n", "", file + "– terminal         process, terminal\n✗ web              no key is set\n" +
			"? nope             is in the settings, but no toolset or tool has this name\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _, err := run(t, tt.yaml, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, args, want, err string }{
		{"off", "# mine\n", "disable terminal", "# mine\nagent:\n  disabled_toolsets:\n    - terminal\n", ""},
		{"on again", "agent: {disabled_toolsets: [web, terminal]} # x\n", "enable terminal", "agent: {disabled_toolsets: [web]} # x\n", ""},
		{"on joins a list", "toolsets: [file]\n", "enable terminal", "toolsets: [file, terminal]\n", ""},
		{"on already", "# mine\n", "enable terminal", "# mine\n", ""},
		{"on a platform", "# mine\n", "disable terminal --platform telegram", "# mine\nplatform_toolsets:\n  telegram:\n    - file\n", ""},
		{"off everywhere wins", "agent: {disabled_toolsets: [web]}\n", "enable web --platform telegram", "", "hermes tools enable web"},
		{"nothing would be left", "platform_toolsets: {irc: [file]}\n", "disable file --platform irc", "", "irc would have no tools"},
		{"unknown", "", "disable nope", "", "unknown toolset or tool \"nope\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, after, err := run(t, tt.yaml, tt.args)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || after != tt.yaml {
					t.Errorf("got %v, file %q", err, after)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}
