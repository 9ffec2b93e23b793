package fallback_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/fallback"
	"hermes/internal/config"
	"hermes/internal/home"
)

const before = `# mine
model: {default: openrouter:big}

# the fallbacks
fallback_providers:
  # first the careful one
  - provider: anthropic # paid by work
    model: claude-x
  # then the cheap one
  - {provider: deepseek, model: chat, context_length: 9000}
# end
agent: {max_turns: 9}
`

// user has a config.yaml.
type user struct {
	t    *testing.T
	home home.Dir
}

func newUser(t *testing.T, yaml string) user {
	t.Helper()
	p := user{t, home.At(t.TempDir())}
	if err := os.WriteFile(p.home.Config(), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// models has some; those of deepseek need a key.
type models struct{}

func (models) Look(_ context.Context, f config.Fallback) (provider, model, missing string, err error) {
	ref := strings.TrimPrefix(f.Provider+":"+f.Model, ":")
	provider, model, found := strings.Cut(ref, ":")
	if !found {
		return "", "", "", errors.New("no provider is known for the model " + ref)
	}
	if provider == "deepseek" {
		missing = "it needs a key"
	}
	return provider, model, missing, nil
}

func (models) Main(context.Context) string { return "openrouter:big" }

func (p user) run(args ...string) (out, errs string, err error) {
	p.t.Helper()
	f := factory.New(app.Options{}, factory.IO{})
	f.Config = func() (*config.Config, error) {
		return config.Load(p.home, config.Options{Managed: "-", LookupEnv: func(string) (string, bool) { return "", false }}), nil
	}
	cmd := fallback.NewCmd(f, models{})
	var stdout, stderr bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(p.t.Context())
	return stdout.String(), stderr.String(), err
}

func (p user) file() string {
	p.t.Helper()
	text, err := os.ReadFile(p.home.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func TestListShowsTheOrderAndSkippedModels(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"list"}, {"ls"}} {
		out, _, err := newUser(t, before).run(args...)
		if want := "1  anthropic:claude-x\n2  deepseek:chat\n   skipped: it needs a key\n"; out != want || err != nil {
			t.Errorf("%v: got %q, %v", args, out, err)
		}
	}
	if _, errs, err := newUser(t, "{}").run(); err != nil || !strings.Contains(errs, "hermes fallback add") {
		t.Errorf("with none: %q, %v", errs, err)
	}
}

func TestChangesKeepTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	p := newUser(t, before)
	out, _, err := p.run("add", "box:small:7b", "--base-url", "http://box:8000/v1", "--key-env", "BOX_KEY")
	if err != nil || !strings.Contains(out, "Added fallback 3: box:small:7b (") {
		t.Fatalf("%q, %v", out, err)
	}
	added := `  - provider: box
    model: small:7b
    base_url: http://box:8000/v1
    key_env: BOX_KEY
`
	want := strings.Replace(before, "context_length: 9000}\n", "context_length: 9000}\n"+added, 1)
	if diff := cmp.Diff(want, p.file()); diff != "" {
		t.Errorf("added:\n%s", diff)
	}
	for _, word := range []string{"box:small:7b", "2"} {
		if out, _, err := p.run("remove", word); err != nil || !strings.Contains(out, "hermes undo") {
			t.Fatalf("%q, %v", out, err)
		}
	}
	got := p.file()
	for _, want := range []string{"# mine", "# the fallbacks", "# first the careful one", "# paid by work", "model: claude-x", "# end", "agent: {max_turns: 9}"} {
		if !strings.Contains(got, want) {
			t.Errorf("removed: %q is gone from\n%s", want, got)
		}
	}
	if strings.Contains(got, "deepseek") || strings.Contains(got, "box") {
		t.Errorf("removed: still there in\n%s", got)
	}
	if out, _, err := p.run("rm", "anthropic"); err != nil || strings.Contains(p.file(), "claude-x") || !strings.Contains(out, "anthropic:claude-x") {
		t.Errorf("the last one: %q, %v\n%s", out, err, p.file())
	}
}

func TestClearRemovesAll(t *testing.T) {
	t.Parallel()
	p := newUser(t, before)
	if out, _, err := p.run("clear"); err != nil || !strings.Contains(out, "Removed all fallbacks (2).") || strings.Contains(p.file(), "fallback_providers") || !strings.Contains(p.file(), "max_turns: 9") {
		t.Errorf("%q, %v\n%s", out, err, p.file())
	}
	if _, errs, err := p.run("clear"); err != nil || !strings.Contains(errs, "No fallbacks to clear.") {
		t.Errorf("again: %q, %v", errs, err)
	}
}

func TestWhatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		says string
	}{
		{"add anthropic:claude-x", "anthropic:claude-x is already a fallback"},
		{"add openrouter:big", "is already the main model"},
		{"add nobody", "no provider is known"},
		{"remove 3", "shows 1 to 2"},
		{"remove 0", "shows 1 to 2"},
		{"remove nobody", "is not a fallback"},
	} {
		p := newUser(t, before)
		if _, _, err := p.run(strings.Fields(tt.args)...); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.says)
		}
		if diff := cmp.Diff(before, p.file()); diff != "" {
			t.Errorf("%s changed the file:\n%s", tt.args, diff)
		}
	}
	old := newUser(t, "fallback_model: {provider: x, model: m}\n")
	for _, args := range [][]string{{"add", "y:z"}, {"remove", "1"}, {"clear"}} {
		if _, _, err := old.run(args...); err == nil || !strings.Contains(err.Error(), "hermes config migrate") {
			t.Errorf("%v with the old name: %v", args, err)
		}
	}
}
