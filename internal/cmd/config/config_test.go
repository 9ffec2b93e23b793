package config_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/app"
	"hermes/internal/cmd/config"
	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
	"hermes/internal/home"
)

// world is a home to run the command in.
type world struct {
	home home.Dir
	edit func(context.Context, string) error
}

func newWorld(t *testing.T, yaml, env string) *world {
	t.Helper()
	w := &world{home: home.At(filepath.Join(t.TempDir(), "h"))}
	must(t, os.Mkdir(w.home.Path(), 0o700))
	for path, text := range map[string]string{w.home.Config(): yaml, w.home.Env(): env} {
		if text != "" {
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	return w
}

// run runs the command and returns its output, with $HOME for the home.
func (w *world) run(t *testing.T, stdin string, args ...string) (out, errs string, err error) {
	t.Helper()
	f := factory.New(app.Options{Getenv: func(string) string { return "" }}, factory.IO{Edit: w.edit})
	f.Config = func() (*settings.Config, error) {
		return settings.Load(w.home, settings.Options{Managed: "-", LookupEnv: func(string) (string, bool) { return "", false }}), nil
	}
	cmd := config.NewCmd(f)
	var stdout, stderr bytes.Buffer
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	tidy := strings.NewReplacer(w.home.Path(), "$HOME")
	return tidy.Replace(stdout.String()), tidy.Replace(stderr.String()), err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const yaml = `model:
  default: big # the one
  api_key: sk-abcdefghijklmnopqrstuv
agent: {max_turns: 5}
toolsets: [file, web]
`

func TestOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args string
		want string
	}{
		{"alone it shows", "", "toolsets: [file, web]  # config.yaml line 5\nmodel.default: big  # config.yaml line 2\n" +
			"model.api_key: sk-abc...stuv  # config.yaml line 3\nagent.max_turns: 5  # config.yaml line 4\n" +
			"terminal.cwd: /x  # TERMINAL_CWD\nA_TOKEN=***  # .env\nTERMINAL_CWD=/x  # .env\n"},
		{"show a section", "show goals", "goals.max_turns: 20  # default; no effect before standing goals\ngoals.model_tool_enabled: false  # default; no effect before standing goals\n"},
		{"show as JSON", "show agent.turn_liveness --json", "{\n  \"agent\": {\n    \"turn_liveness\": {\n      \"poll_s\": 15,\n      \"timeout_s\": 600\n    }\n  }\n}\n"},
		{"get", "get model.default", "big\n"},
		{"get a default", "get terminal.timeout", "180\n"},
		{"get a list", "get toolsets", "file\nweb\n"},
		{"get as JSON", "get toolsets --json", "[\n  \"file\",\n  \"web\"\n]\n"},
		{"get a section", "get goals", "max_turns: 20\nmodel_tool_enabled: false\n"},
		{"get a secret", "get model.api_key", "sk-abc...stuv\n"},
		{"get a secret in the clear", "get model.api_key --reveal", "sk-abcdefghijklmnopqrstuv\n"},
		{"get a variable", "get TERMINAL_CWD", "/x\n"},
		{"get a secret variable", "get A_TOKEN", "***\n"},
		{"path", "path", "$HOME/config.yaml\n"},
		{"env-path", "env-path", "$HOME/.env\n"},
		{"check", "check", "No problems found.\n"},
		{"migrate", "migrate", "Nothing to migrate.\n"},
		{"set", "set agent.max_turns 7", "Set agent.max_turns in $HOME/config.yaml.\n"},
		{"set from input", "set agent.max_turns -", "Set agent.max_turns in $HOME/config.yaml.\n"},
		{"set a secret", "set B_TOKEN", "Set B_TOKEN in $HOME/.env.\n"},
		{"unset", "unset model.default", "Removed model.default from $HOME/config.yaml.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, yaml, "TERMINAL_CWD=/x\nA_TOKEN=abcdef\n")
			out, errs, err := w.run(t, "9\n", strings.Fields(tt.args)...)
			must(t, err)
			if diff := cmp.Diff(tt.want, filepath.ToSlash(out)); diff != "" {
				t.Errorf("%s\nstderr: %s", diff, errs)
			}
		})
	}
}

// TestPlannedSettingsAreMarked has every verb that names a setting without an effect.
func TestPlannedSettingsAreMarked(t *testing.T) {
	t.Parallel()
	const yaml = "goals: {max_turns: 3}\n"
	const effect = "no effect before standing goals"
	for args, want := range map[string][2]string{
		"show":                  {"goals.max_turns: 3  # config.yaml line 1; " + effect + "\n", ""},
		"get goals.max_turns":   {"3\n", "note: goals.max_turns has " + effect + "\n"},
		"check":                 {"note: config.yaml, line 1: goals.max_turns is set; it has " + effect + ".\n", ""},
		"set goals.max_turns 4": {"Set goals.max_turns in $HOME/config.yaml.\n", "note: saved; has " + effect + "\n"},
		"get goals":             {"max_turns: 3\nmodel_tool_enabled: false\n", ""},
	} {
		out, errs, err := newWorld(t, yaml, "").run(t, "", strings.Fields(args)...)
		if err != nil || out != want[0] || errs != want[1] {
			t.Errorf("%s: got %q, %q, %v", args, out, errs, err)
		}
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, args, want string }{
		{"unknown key", yaml, "get model.defualt", "did you mean model.default?"},
		{"key of another section", yaml, "get max_turns", "did you mean agent.max_turns?"},
		{"variable", yaml, "get NOPE", "is not set in the environment or in"},
		{"unset twice", yaml, "unset agent.service_tier", "is not set in"},
		{"bad value", yaml, "set agent.max_turns lots", "must be a number, or none (no limit)"},
		{"broken file", "a: [\n", "set agent.max_turns 5", "hermes config edit"},
		{"faults", "agent: {max_turns: lots}\n", "check", "problems in the settings: 1"},
		{"no editor", yaml, "edit", "no terminal for an editor; use `hermes config set KEY VALUE`, or open $HOME/config.yaml yourself"},
		{"no value", yaml, "set agent.max_turns", "no value on standard input"},
		{"too many words", yaml, "set a b c", "accepts between 1 and 2 arg(s)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.yaml, "")
			_, _, err := w.run(t, "", strings.Fields(tt.args)...)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), w.home.Path(), "$HOME"), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			src, err := os.ReadFile(w.home.Config())
			must(t, err)
			if string(src) != tt.yaml {
				t.Errorf("the file was changed: %q", src)
			}
		})
	}
}

func TestShowWarnsAboutABrokenFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a: [\n", "")
	out, errs, err := w.run(t, "")
	must(t, err)
	if !strings.HasPrefix(errs, "error: config.yaml, line ") || !strings.Contains(out, "No settings; the defaults apply.") {
		t.Errorf("got %q, %q", out, errs)
	}
}

func TestEditMakesTheFileAndChecksIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "")
	tries := 0
	w.edit = func(_ context.Context, path string) error {
		tries++
		text := "agent: [\n"
		if tries == 2 {
			text = "agent: {max_turns: 3}\n"
		}
		if tries == 3 {
			return errors.New("the editor ended with status 1")
		}
		return os.WriteFile(path, []byte(text), 0o600)
	}
	if _, errs, err := w.run(t, "", "edit"); err == nil || !strings.Contains(errs, "line 2") {
		t.Errorf("broken: got %v, %q", err, errs)
	}
	if out, _, err := w.run(t, "", "edit"); err != nil || out != "No problems found.\n" {
		t.Errorf("fixed: got %v, %q", err, out)
	}
	if _, _, err := w.run(t, "", "edit"); err == nil {
		t.Error("a failing editor was not reported")
	}
}

// TestOverridingEnvironmentIsShown covers a variable in .env that has another value in the
// environment, which wins.
func TestOverridingEnvironmentIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "A=file\nB=file\nC=same\n")
	f := factory.New(app.Options{}, factory.IO{})
	f.Config = func() (*settings.Config, error) {
		set := map[string]string{"A": "mine", "C": "same", "D": "not in .env"}
		return settings.Load(w.home, settings.Options{Managed: "-", LookupEnv: func(name string) (string, bool) {
			v, ok := set[name]
			return v, ok
		}}), nil
	}
	cmd := config.NewCmd(f)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"show"})
	must(t, cmd.ExecuteContext(t.Context()))
	want := "A=mine  # environment, overrides .env\nB=file  # .env\nC=same  # .env\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
