package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/home"
)

// setup makes a home with these two files; "" means no file.
func setup(t *testing.T, yaml, env string) home.Dir {
	t.Helper()
	h := home.At(filepath.Join(t.TempDir(), "h"))
	must(t, os.Mkdir(h.Path(), 0o700))
	if yaml != "" {
		must(t, os.WriteFile(h.Config(), []byte(yaml), 0o600))
	}
	if env != "" {
		must(t, os.WriteFile(h.Env(), []byte(env), 0o600))
	}
	return h
}

// load reads a home with these variables in the environment: name, value, ….
func load(h home.Dir, pairs ...string) *config.Config {
	return config.Load(h, config.Options{Managed: "-", LookupEnv: lookup(pairs...)})
}

func lookup(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func texts(problems []config.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	h := home.At(filepath.Join(t.TempDir(), "nowhere"))
	c := load(h)
	got := []any{
		c.Agent().MaxTurns, c.Agent().APIMaxRetries, c.Terminal().Backend, c.Terminal().Timeout,
		c.Compression().Threshold, c.Memory().CharLimit, c.ToolOutput().MaxBytes, c.Approvals().Mode,
		c.Model().Provider, c.Model().Streaming, c.Display().RuntimeFooter.Fields, c.Streaming().EditInterval,
		c.Auxiliary("vision").Timeout, c.Auxiliary("title_generation").Timeout, c.General().FileReadMaxChars,
		c.Delegation().MaxConcurrent, c.Sessions().RetentionDays, c.Guardrails().StopAfter.SameTool,
	}
	want := []any{
		config.Limit(90), 3, "local", 180 * time.Second,
		0.5, 2200, 50000, "smart",
		"auto", true, []string{"model", "context_pct", "cwd"}, 800 * time.Millisecond,
		120 * time.Second, 30 * time.Second, 100000,
		3, 90, 8,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if h.Exists() || len(c.Warnings()) > 0 {
		t.Errorf("home created: %v; warnings %q", h.Exists(), texts(c.Warnings()))
	}
}

func TestEveryDefaultIsAllowed(t *testing.T) {
	t.Parallel()
	h := home.At(filepath.Join(t.TempDir(), "nowhere"))
	c := load(h)
	for _, e := range c.Entries() {
		text := strings.Trim(cmpText(e.Value), "[]")
		if e.Value == nil || text == "" || strings.Contains(text, "map") {
			continue
		}
		if _, err := c.Set(t.Context(), e.Key, text); err != nil {
			t.Errorf("%s: its default %q is refused: %v", e.Key, text, err)
		}
	}
	again := load(h)
	if diff := cmp.Diff(c.Settings(), again.Settings()); diff != "" {
		t.Errorf("with every default written: %s", diff)
	}
	for _, p := range again.Check() {
		if !strings.HasPrefix(p.Served, "it has no effect before ") { // a planned setting
			t.Errorf("got %q", p)
		}
	}
}

func cmpText(v any) string {
	if list, ok := v.([]any); ok {
		var parts []string
		for _, x := range list {
			parts = append(parts, cmpText(x))
		}
		return strings.Join(parts, ", ")
	}
	return strings.TrimSuffix(strings.TrimPrefix(sprint(v), "<nil>"), "<nil>")
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	managed := filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(managed, []byte("terminal: {backend: docker}\n"), 0o600))
	h := setup(t, "terminal:\n  backend: ssh\n  timeout: 50\n  cwd: /file\n", "TERMINAL_CWD=/dotenv\nTERMINAL_LIFETIME_SECONDS=7\nTERMINAL_SSH_HOST=a\n")
	c := config.Load(h, config.Options{
		Managed:   managed,
		Flags:     map[string]string{"terminal.timeout": "20", "terminal.backend": "local"},
		LookupEnv: lookup("TERMINAL_SSH_HOST", "b", "TERMINAL_TIMEOUT", "1"),
	})
	got := c.Terminal()
	want := []any{"docker", 20 * time.Second, "/file", 7 * time.Second, "b", "auto"}
	if diff := cmp.Diff(want, []any{got.Backend, got.Timeout, got.Cwd, got.Lifetime, got.SSHHost, got.HomeMode}); diff != "" {
		t.Error(diff)
	}
	ignoring := config.Load(h, config.Options{Managed: "-", IgnoreUser: true, LookupEnv: lookup()})
	if got := ignoring.Terminal(); got.Backend != "local" || got.Cwd != "/dotenv" {
		t.Errorf("without config.yaml: %s %s", got.Backend, got.Cwd)
	}
}

func TestValuesAreReadGenerously(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, yaml string
		get        func(*config.Config) any
		want       any
	}{
		{"yes", "memory: {memory_enabled: no}", func(c *config.Config) any { return c.Memory().Enabled }, false},
		{"On", "display: {compact: On}", func(c *config.Config) any { return c.Display().Compact }, true},
		{"quoted bool", "display: {compact: 'yes'}", func(c *config.Config) any { return c.Display().Compact }, true},
		{"one", "display: {compact: 1}", func(c *config.Config) any { return c.Display().Compact }, true},
		{"off is a choice", "approvals: {mode: off}", func(c *config.Config) any { return c.Approvals().Mode }, "off"},
		{"false is off", "display: {tool_progress: false}", func(c *config.Config) any { return c.Display().ToolProgress }, "off"},
		{"true is on", "agent: {tool_use_enforcement: true}", func(c *config.Config) any { return c.Agent().ToolUseEnforcement }, "on"},
		{"case of a choice", "approvals: {mode: Manual}", func(c *config.Config) any { return c.Approvals().Mode }, "manual"},
		{"no limit: none", "agent: {max_turns: none}", func(c *config.Config) any { return c.Agent().MaxTurns }, config.Limit(0)},
		{"no limit: 0", "agent: {max_turns: 0}", func(c *config.Config) any { return c.Agent().MaxTurns }, config.Limit(0)},
		{"a limit", "agent: {max_turns: 500}", func(c *config.Config) any { return c.Agent().MaxTurns }, config.Limit(500)},
		{"null is the default", "agent: {max_turns: }", func(c *config.Config) any { return c.Agent().MaxTurns }, config.Limit(90)},
		{"an empty section is the default", "agent:", func(c *config.Config) any { return c.Agent().MaxTurns }, config.Limit(90)},
		{"minutes", "terminal: {timeout: 5m}", func(c *config.Config) any { return c.Terminal().Timeout }, 5 * time.Minute},
		{"days", "terminal: {timeout: 2d}", func(c *config.Config) any { return c.Terminal().Timeout }, 48 * time.Hour},
		{"fractions", "terminal: {timeout: 1.5}", func(c *config.Config) any { return c.Terminal().Timeout }, 1500 * time.Millisecond},
		{"whole number as a float", "tool_output: {max_lines: 1e3}", func(c *config.Config) any { return c.ToolOutput().MaxLines }, 1000},
		{"quoted number", "tool_output: {max_lines: '50'}", func(c *config.Config) any { return c.ToolOutput().MaxLines }, 50},
		{"text that looks like a number", "model: {default: 1.10}", func(c *config.Config) any { return c.Model().Default }, "1.10"},
		{"model as a text", "model: claude", func(c *config.Config) any { return c.Model().Default }, "claude"},
		{"list as a text", "toolsets: file, web", func(c *config.Config) any { return c.General().Toolsets }, []string{"file", "web"}},
		{"one fallback", "fallback_providers: {provider: x}", func(c *config.Config) any { return c.Fallback()[0].Provider }, "x"},
		{"old fallback_model", "fallback_model: {provider: x, model: m}", func(c *config.Config) any { return c.Fallback()[0].Model }, "m"},
		{"old summary_model", "compression: {summary_model: m}", func(c *config.Config) any { return c.Auxiliary("compression").Model }, "m"},
		{"old custom_providers", "custom_providers: [{name: box, base_url: u}]", func(c *config.Config) any { return c.Providers()["box"].BaseURL }, "u"},
		{"anchors and merges", "x-a: &a {timeout: 9}\nterminal: {<<: *a, cwd: /}", func(c *config.Config) any { return c.Terminal().Timeout }, 9 * time.Second},
		{"free sections", "mcp_servers: {a: {args: [1, x], on: yes}}", func(c *config.Config) any { return c.MCPServers() },
			map[string]any{"a": map[string]any{"args": []any{int64(1), "x"}, "on": true}}},
		{"unknown keys of a platform", "platforms: {irc: {enabled: yes, nick: bob}}", func(c *config.Config) any { return c.Platforms()["irc"].Rest },
			map[string]any{"nick": "bob"}},
		{"model of a provider", "providers: {p: {models: {a.b: {timeout_seconds: 3}}}}", func(c *config.Config) any {
			return c.Providers()["p"].Models["a.b"].Timeout
		}, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(setup(t, tt.yaml+"\n", ""))
			if diff := cmp.Diff(tt.want, tt.get(c)); diff != "" {
				t.Error(diff)
			}
			if w := c.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %q", texts(w))
			}
		})
	}
}

func TestVariablesInValues(t *testing.T) {
	t.Parallel()
	yaml := "model:\n  api_key: ${K}\n  base_url: http://${env:HOST}:${PORT}/$PORT\n  default: ${NOPE}\n" +
		"  max_tokens: ${PORT}\nmcp_servers:\n  a: {cwd: '${userHome}/x', key: 'file:${vault:z}'}\n"
	h := setup(t, yaml, "K=secret\nPORT=80\n")
	c := load(h, "HOST", "h", "PORT", "81")
	m := c.Model()
	got := []any{m.APIKey.Reveal(), m.BaseURL, m.Default, m.MaxTokens, c.MCPServers()["a"]}
	want := []any{"secret", "http://h:81/$PORT", "${NOPE}", 81, map[string]any{"cwd": "${userHome}/x", "key": "file:${vault:z}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantWarnings := []string{"config.yaml, line 4: model.default uses the variable NOPE, which is not set; the text is used as written. " +
		"Set it with `hermes config set NOPE VALUE`."}
	if diff := cmp.Diff(wantWarnings, texts(c.Warnings())); diff != "" {
		t.Error(diff)
	}
}

func TestLaterChangesOfTheEnvironmentAreSeen(t *testing.T) {
	t.Parallel()
	value := "one"
	c := config.Load(setup(t, "model: {default: '${M}'}\n", ""), config.Options{Managed: "-",
		LookupEnv: func(name string) (string, bool) { return value, name == "M" }})
	first := c.Model().Default
	value = "two"
	if got := [2]string{first, c.Model().Default}; got != [2]string{"one", "two"} {
		t.Errorf("got %v", got)
	}
}

func TestCheckSaysWhatWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	yaml := `model:
  defualt: x
terminal:
  timeout: soon
  backend: moon
max_iteration: 5
clarify_timeout: 3
display: [a]
memory: {memory_enabled: maybe}
compression: {summary_model: m, enabled: yes}
memory: {memory_enabled: 2}
x-notes: mine
_config_version: 12
`
	c := load(setup(t, yaml, "OK=1\nnot a line\n"))
	got := texts(c.Check())
	want := []string{
		".env, line 2: no NAME=value here; the other lines are used. Write NAME=value, or start the line with #.",
		"config.yaml, line 2: model.defualt is not a known setting; it has no effect. Did you mean model.default?",
		"config.yaml, line 4: terminal.timeout must be a number of seconds (or 90s, 5m, 2h), at least 1, not \"soon\"; it is ignored. Fix it with `hermes config set terminal.timeout VALUE`.",
		"config.yaml, line 5: terminal.backend must be one of local, docker, ssh, modal, daytona, vercel_sandbox, singularity, e2b, runloop, plugin:NAME, not \"moon\"; it is ignored. Fix it with `hermes config set terminal.backend VALUE`.",
		"config.yaml, line 6: max_iteration is not a known setting; it has no effect.",
		"config.yaml, line 7: clarify_timeout is not a known setting; it has no effect. Did you mean agent.clarify_timeout?",
		"config.yaml, line 8: display must be a section with keys, written as `name: value`; it is ignored. Fix it with `hermes config set display '{tool_progress: VALUE}'`.",
		"config.yaml, line 10: compression.summary_model is the old name of auxiliary.compression.model; it still works. Run `hermes config migrate` to write the new name.",
		"config.yaml, line 11: memory.memory_enabled must be true or false, not \"2\"; it is ignored. Fix it with `hermes config set memory.memory_enabled VALUE`.",
		"config.yaml, line 11: memory is already set in line 9; the last one is used. Remove one of them with `hermes config edit`.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Terminal().Timeout != 180*time.Second || c.Terminal().Backend != "local" || c.Broken() {
		t.Errorf("the defaults are not used: %+v", c.Terminal())
	}
}

func TestEveryFieldHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			sf := typ.Field(i)
			key := sf.Tag.Get("key")
			if sf.Anonymous {
				walk(sf.Type, path)
				continue
			}
			if key == "" || seen[path+key] {
				t.Errorf("%s.%s: the key %q is empty or repeated", typ, sf.Name, path+key)
			}
			seen[path+key] = true
			if sf.Type.Kind() == reflect.Struct {
				walk(sf.Type, path+key+".")
			}
		}
	}
	walk(reflect.TypeFor[config.Settings](), "")
	if len(seen) < 300 {
		t.Errorf("only %d keys", len(seen))
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "model: {api_key: sk-123456}\nproviders: {p: {api_key: sk-123456, headers: {Authorization: Bearer sk-123456}}}\n"+
		"platforms: {irc: {token: sk-123456, password: sk-123456}}\nmcp_servers: {a: {env: {A_TOKEN: sk-123456}}}\n", ""))
	if text := sprint(c.Model()); strings.Contains(text, "123456") {
		t.Error(text)
	}
	if c.Model().APIKey != hermes.Secret("sk-123456") {
		t.Error("the secret is lost")
	}
	for _, e := range c.Entries() {
		if text := sprint(e.Masked()); strings.Contains(text, "123456") {
			t.Errorf("%s shows %s", e.Key, text)
		}
	}
}

func TestLargestNumbers(t *testing.T) {
	t.Parallel()
	h := setup(t, "compression:\n  threshold: 50\n  model_thresholds: {claude: 0.4, gpt: 40, broken: -1}\n", "")
	c := load(h)
	got := c.Compression()
	if want := map[string]float64{"claude": 0.4, "gpt": 0, "broken": 0}; got.Threshold != 0.5 || !cmp.Equal(got.ModelThresholds, want) {
		t.Errorf("threshold %v, of models %v", got.Threshold, got.ModelThresholds)
	}
	var all []string
	for _, p := range c.Warnings() {
		all = append(all, p.String())
	}
	for _, want := range []string{
		`compression.threshold must be a number from 0 to 1, not "50"`,
		`compression.model_thresholds.gpt must be a number from 0 to 1, not "40"`,
		`compression.model_thresholds.broken must be a number from 0 to 1, not "-1"`,
	} {
		if !strings.Contains(strings.Join(all, "\n"), want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
	if _, err := c.Set(t.Context(), "compression.model_thresholds.gpt", "2"); err == nil {
		t.Error("2 was accepted")
	}
}
