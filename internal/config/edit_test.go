package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
	"hermes/internal/home"
)

func read(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	must(t, err)
	return string(src)
}

func TestSetWritesWhereItBelongs(t *testing.T) {
	t.Parallel()
	const yaml = "# mine\nmodel:\n  default: a   # big\n\nagent: {max_turns: 5}\n"
	tests := []struct{ name, yaml, key, value, wantYAML, wantEnv string }{
		{"a text", yaml, "model.default", "b", strings.Replace(yaml, "a   #", "b   #", 1), ""},
		{"a model by its section", yaml, "model", "b", strings.Replace(yaml, "a   #", "b   #", 1), ""},
		{"a model where a text stood", "model: a # x\n", "model.provider", "p", "model: # x\n  default: a\n  provider: p\n", ""},
		{"no limit", yaml, "agent.max_turns", "none", strings.Replace(yaml, "5", "none", 1), ""},
		{"a choice", "", "approvals.mode", "Off", "approvals:\n  mode: 'off'\n", ""},
		{"a bool", "", "display.compact", "yes", "display:\n  compact: true\n", ""},
		{"seconds", "", "terminal.timeout", "90", "terminal:\n  timeout: 90\n", ""},
		{"a time", "", "terminal.timeout", "5m", "terminal:\n  timeout: 5m\n", ""},
		{"a number that is a text", "", "model.default", "4", "model:\n  default: '4'\n", ""},
		{"a list", "", "agent.disabled_toolsets", "web, tts", "agent:\n  disabled_toolsets:\n    - web\n    - tts\n", ""},
		{"a list in brackets", "", "toolsets", "[file]", "toolsets:\n  - file\n", ""},
		{"an empty list", "", "toolsets", "[]", "toolsets: []\n", ""},
		{"a section in braces", "", "mcp_servers.a", "{command: npx, args: [x]}",
			"mcp_servers:\n  a:\n    args:\n      - x\n    command: npx\n", ""},
		{"a reference", "", "terminal.timeout", "${T}", "terminal:\n  timeout: ${T}\n", ""},
		{"an old name", "", "max_turns", "7", "agent:\n  max_turns: 7\n", ""},
		{"an unknown key", "", "foo.bar", "7", "foo:\n  bar: 7\n", ""},
		{"a name with dots", "", `providers.p.models.gpt-4\.1.context_length`, "7",
			"providers:\n  p:\n    models:\n      gpt-4.1:\n        context_length: 7\n", ""},
		{"a variable", yaml, "OPENROUTER_API_KEY", "sk-1", yaml, "OPENROUTER_API_KEY=sk-1\n"},
		{"a variable that is no secret", "", "OPENAI_BASE_URL", "http://x/v1", "", "OPENAI_BASE_URL=http://x/v1\n"},
		{"a secret key", "", "model.api_key", "sk-1", "model:\n  api_key: ${HERMES_MODEL_API_KEY}\n", "HERMES_MODEL_API_KEY=sk-1\n"},
		{"a secret of a platform", "", "platforms.irc.password", "x y",
			"platforms:\n  irc:\n    password: ${HERMES_PLATFORMS_IRC_PASSWORD}\n", "HERMES_PLATFORMS_IRC_PASSWORD='x y'\n"},
		{"no secret though the name has token in it", "", "model.max_tokens", "5", "model:\n  max_tokens: 5\n", ""},
		{"no secret though its last word is key", "", "voice.record_key", "ctrl+r", "voice:\n  record_key: ctrl+r\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, tt.yaml, "")
			_, err := load(h).Set(t.Context(), tt.key, tt.value)
			must(t, err)
			got := [2]string{}
			for i, path := range []string{h.Config(), h.Env()} {
				if src, err := os.ReadFile(path); err == nil {
					got[i] = string(src)
				}
			}
			if diff := cmp.Diff([2]string{tt.wantYAML, tt.wantEnv}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSetRefusesWhatWouldNotWork(t *testing.T) {
	t.Parallel()
	managed := filepath.Join(t.TempDir(), "m.yaml")
	must(t, os.WriteFile(managed, []byte("terminal: {backend: docker}\n"), 0o600))
	const yaml = "m:\n  a:\n    b: 1\nterminal: {timeout: 5}\n"
	tests := []struct{ name, key, value, want string }{
		{"not a number", "terminal.timeout", "soon", "terminal.timeout must be a number of seconds"},
		{"too small", "terminal.timeout", "0", "at least 1"},
		{"negative", "agent.api_max_retries", "-1", "must be a whole number, at least 0, not \"-1\""},
		{"not a choice", "approvals.mode", "never", "must be one of smart, manual, off"},
		{"a section", "web", "exa", "set one of its keys: backend, search_backend,"},
		{"a section in a list's place", "toolsets", "{a: 1}", "must be a list"},
		{"a free section", "mcp_servers", "x", "such as mcp_servers.NAME"},
		{"no key", "a..b", "x", "is not a valid key"},
		{"pinned", "terminal.backend", "local", "is set by the administrator in " + managed},
		{"hidden by dots", `m.a\.b`, "2", "would hide m.a.b (line 3)"},
		{"overruled variable", "TERMINAL_TIMEOUT", "6", "terminal.timeout is set in config.yaml (line 4)"},
		{"below a value", "terminal.timeout.x", "6", "is a single value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, yaml, "")
			c := config.Load(h, config.Options{Managed: managed, LookupEnv: lookup()})
			_, err := c.Set(t.Context(), tt.key, tt.value)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := read(t, h.Config()); got != yaml {
				t.Errorf("the file was changed: %q", got)
			}
			if _, err := os.Stat(h.Env()); err == nil {
				t.Error(".env was written")
			}
		})
	}
}

func TestUnknownKeysGetAHint(t *testing.T) {
	t.Parallel()
	change, err := load(setup(t, "", "")).Set(t.Context(), "agent.max_turn", "3")
	must(t, err)
	if len(change.Notes) != 1 || !strings.Contains(change.Notes[0], "Did you mean agent.max_turns?") {
		t.Errorf("got %q", change.Notes)
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	h := setup(t, "model:\n  default: a # x\n  provider: p\n", "# k\nA_KEY=1\nB=2\n")
	c := load(h)
	_, err := c.Unset(t.Context(), "model.default")
	must(t, err)
	_, err = c.Unset(t.Context(), "A_KEY")
	must(t, err)
	if got := read(t, h.Config()) + read(t, h.Env()); got != "model:\n  provider: p\n# k\nB=2\n" {
		t.Errorf("got %q", got)
	}
	for _, key := range []string{"model.default", "A_KEY"} {
		if _, err := c.Unset(t.Context(), key); !errors.Is(err, config.ErrNotSet) {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func TestFilesStayPrivateAndLinksStayLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links of Unix")
	}
	h := home.At(filepath.Join(t.TempDir(), "h"))
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.yaml")
	must(t, os.Mkdir(h.Path(), 0o700))
	must(t, os.WriteFile(elsewhere, []byte("# shared\n"), 0o644))
	must(t, os.Symlink(elsewhere, h.Config()))
	must(t, os.WriteFile(h.Env(), []byte("A=1\n"), 0o644))
	c := load(h)
	_, err := c.Set(t.Context(), "agent.max_turns", "3")
	must(t, err)
	_, err = c.Set(t.Context(), "B_TOKEN", "2")
	must(t, err)
	if got := read(t, elsewhere); got != "# shared\nagent:\n  max_turns: 3\n" {
		t.Errorf("got %q", got)
	}
	for path, want := range map[string]os.FileMode{elsewhere: 0o644, h.Env(): 0o600} {
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}

func TestEveryEditKeepsACopy(t *testing.T) {
	t.Parallel()
	h := setup(t, "agent: {max_turns: 1}\n", "")
	for i := range 7 {
		_, err := clocked(h, i).Set(t.Context(), "agent.max_turns", string(rune('2'+i)))
		must(t, err)
	}
	edits := 0
	for _, name := range copies(t, h) {
		if strings.HasSuffix(name, "-edit.yaml") {
			edits++
		}
	}
	if edits != 5 {
		t.Errorf("%d copies of %v", edits, copies(t, h))
	}
}

func TestTwoWritersLoseNothing(t *testing.T) {
	t.Parallel()
	h := setup(t, "x: 1\n", "")
	c := load(h)
	keys := []string{"terminal.cwd", "model.default", "display.skin", "timezone", "tts.provider", "web.backend"}
	done := make(chan error, len(keys))
	for _, key := range keys {
		go func() {
			_, err := c.Set(t.Context(), key, "value")
			done <- err
		}()
	}
	for range keys {
		must(t, <-done)
	}
	again := load(h)
	for _, key := range keys {
		path := strings.Split(key, ".")
		if got := again.EntriesBelow(path...); len(got) != 1 || got[0].Value != "value" {
			t.Errorf("%s: got %+v", key, got)
		}
	}
}

func TestMigrateMovesOldNames(t *testing.T) {
	t.Parallel()
	h := setup(t, `# mine
model: claude # the one
max_turns: 7
compression:
  enabled: true # yes
  summary_model: flash
fallback_model:
  provider: p
  model: m
custom_providers:
  - name: box
    base_url: http://box/v1
`, "")
	before := load(h)
	done, err := before.Migrate(t.Context())
	must(t, err)
	want := `# mine
model: # the one
  default: claude
compression:
  enabled: true # yes
agent:
  max_turns: 7
auxiliary:
  compression:
    model: flash
fallback_providers:
  - provider: p
    model: m
providers:
  box:
    name: box
    base_url: http://box/v1
_config_version: 30
`
	if diff := cmp.Diff(want, read(t, h.Config())); diff != "" {
		t.Error(diff)
	}
	if len(done) != 6 {
		t.Errorf("done: %q", done)
	}
	after := load(h)
	if diff := cmp.Diff(before.Settings(), after.Settings()); diff != "" {
		t.Errorf("the meaning changed: %s", diff)
	}
	if problems := after.Check(); len(problems) > 0 {
		t.Errorf("got %q", texts(problems))
	}
	if again, err := after.Migrate(t.Context()); err != nil || len(again) > 0 {
		t.Errorf("a second time: %q %v", again, err)
	}
}

func TestEntriesNameTheirSource(t *testing.T) {
	t.Parallel()
	h := setup(t, "model:\n  default: a\n  api_key: sk-abcdefghijklmnopqrstuvwxyz\n", "TERMINAL_CWD=/x\n")
	c := load(h)
	got := append(c.EntriesBelow("model", "default"), c.EntriesBelow("terminal", "cwd")...)
	got = append(got, c.EntriesBelow("agent", "max_turns")...)
	want := []config.Entry{
		{Key: "model.default", Value: "a", Source: config.FromFile, File: h.Config(), Line: 2},
		{Key: "terminal.cwd", Value: "/x", Source: config.FromEnv, Env: "TERMINAL_CWD"},
		{Key: "agent.max_turns", Value: int64(90), Source: config.FromDefault},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	secret := c.EntriesBelow("model", "api_key")[0]
	if !secret.Secret || secret.Masked() != "sk-abc...wxyz" {
		t.Errorf("got %+v", secret.Masked())
	}
}
