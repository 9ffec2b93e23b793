package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
	"hermes/internal/home"
)

func sprint(v any) string { return fmt.Sprintf("%+v", v) }

// clocked loads with a clock that advances by a second at each start.
func clocked(h home.Dir, n int) *config.Config {
	return config.Load(h, config.Options{Managed: "-", LookupEnv: lookup(),
		Now: func() time.Time { return time.Date(2026, 11, 20, 17, 0, n, 0, time.Local) }})
}

func copies(t *testing.T, h home.Dir) []string {
	t.Helper()
	entries, err := os.ReadDir(h.Backups("config"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestABrokenFileIsReplacedByItsNewestGoodCopy(t *testing.T) {
	t.Parallel()
	h := setup(t, "agent: {max_turns: 7}\n", "")
	clocked(h, 1)
	const broken = "agent:\n  max_turns: 9\n bad: [1,\n"
	must(t, os.WriteFile(h.Config(), []byte(broken), 0o600))
	for start := range 2 {
		c := clocked(h, 2+start)
		if got := c.Agent().MaxTurns; got != 7 || !c.Broken() {
			t.Errorf("start %d: got %d, broken %v", start, got, c.Broken())
		}
		w := texts(c.Warnings())
		if len(w) != 1 || !strings.HasPrefix(w[0], "config.yaml, line 3: ") || !strings.Contains(w[0], "the copy of 20 November 2026") ||
			!strings.Contains(w[0], "hermes config edit") {
			t.Errorf("start %d: got %q", start, w)
		}
		if _, err := c.Set(t.Context(), "agent.max_turns", "8"); err == nil || !strings.Contains(err.Error(), "line 3") ||
			!strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("set: got %v", err)
		}
	}
	got, err := os.ReadFile(h.Config())
	must(t, err)
	if string(got) != broken {
		t.Errorf("the broken file was changed: %q", got)
	}
}

func TestABrokenFileWithoutACopyGivesDefaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, want string }{
		{"invalid YAML", "a: [1\n", "line 2"},
		{"a list", "- a\n", "expected settings written as"},
		{"a single text", "hello\n", "expected settings written as"},
		{"two documents", "a: 1\n---\nb: 1\n", "second document"},
		{"bytes", "a: \xff\n", "not valid UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, tt.yaml, "")
			c := load(h)
			w := texts(c.Warnings())
			if len(w) != 1 || !strings.Contains(w[0], tt.want) || !strings.Contains(w[0], "built-in defaults") || c.Agent().MaxTurns != 90 {
				t.Errorf("got %q", w)
			}
			if names := copies(t, h); names != nil {
				t.Errorf("copies of a broken file: %v", names)
			}
		})
	}
}

func TestAnUnreadableFileIsReported(t *testing.T) {
	t.Parallel()
	h := setup(t, "", "")
	must(t, os.Mkdir(h.Config(), 0o700)) // a folder cannot be read, not even by a superuser
	must(t, os.Mkdir(h.Env(), 0o700))
	w := texts(load(h).Warnings())
	if len(w) != 2 || !strings.Contains(w[0], "config.yaml: cannot be read") || !strings.Contains(w[1], ".env: cannot be read") {
		t.Errorf("got %q", w)
	}
}

func TestTheGoodCopyIsWrittenOnlyWhenTheContentChanged(t *testing.T) {
	t.Parallel()
	h := setup(t, "agent: {max_turns: 1}\n", "")
	clocked(h, 1)
	clocked(h, 2)
	first := copies(t, h)
	touched := time.Now().Add(time.Minute)
	must(t, os.Chtimes(h.Config(), touched, touched))
	clocked(h, 3)
	if diff := cmp.Diff([]string{"20261120T170001.000Z-good.yaml"}, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, copies(t, h)); diff != "" {
		t.Errorf("after a touch: %s", diff)
	}
	for i := range 8 {
		must(t, os.WriteFile(h.Config(), fmt.Appendf(nil, "agent: {max_turns: %d}\n", i+2), 0o600))
		clocked(h, 10+i)
	}
	names := copies(t, h)
	if len(names) != 5 || names[4] != "20261120T170017.000Z-good.yaml" {
		t.Errorf("got %v", names)
	}
	info, err := os.Stat(filepath.Join(h.Backups("config"), names[0]))
	must(t, err)
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %o", info.Mode().Perm())
	}
}

func TestAnEmptyFileIsGoodButNoCopy(t *testing.T) {
	t.Parallel()
	h := setup(t, "# nothing yet\n", "")
	c := load(h)
	if len(c.Check()) > 0 || c.Broken() || copies(t, h) != nil {
		t.Errorf("got %q %v", texts(c.Check()), copies(t, h))
	}
}

func TestAliasBombsAreHarmless(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x-%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9)+fmt.Sprintf("*a%d", i))
	}
	b.WriteString("x-m0: &m0 {z: 1}\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x-m%d: &m%d {<<: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*m%d, ", i), 9)+fmt.Sprintf("*m%d", i))
	}
	b.WriteString("mcp_servers: {a: *a9, b: *m9}\nplatforms: *m9\nagent: {max_turns: 4}\n")
	c := load(setup(t, b.String(), ""))
	_ = c.Check()
	_ = c.Entries()
	if got := c.Agent().MaxTurns; got != 4 {
		t.Errorf("got %d", got)
	}
}

// FuzzLoad reads any two files without a panic or a hang.
func FuzzLoad(f *testing.F) {
	f.Add("agent:\n  max_turns: 5\nmodel: x\n", "A=1\n")
	f.Add("a: &a {b: *a}\n", "A='\n")
	f.Add("platforms: {x: {a: {b: [1, {c: ${X}}]}}}\nfallback_providers: [1, {}, [x]]\n<<: 5\n", "")
	f.Fuzz(func(t *testing.T, yaml, env string) {
		h := setup(t, yaml, env)
		c := load(h, "X", "1")
		_ = texts(c.Check())
		_ = c.AddressFaults()
		for _, e := range c.Entries() {
			_ = e.Masked()
		}
		if _, err := c.Set(t.Context(), "agent.max_turns", "3"); err == nil {
			if got := load(h).Agent().MaxTurns; got != 3 {
				t.Errorf("%q: set to 3, reads %d", yaml, got)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	h := home.At(b.TempDir())
	src := "model:\n  default: claude\n  provider: openrouter\nterminal:\n  backend: local\n  timeout: 180\n"
	for i := range 12 {
		src += fmt.Sprintf("# about %d\nx-%d:\n  a: 1 # one\n  b: [x, y]\n  c: {d: text, e: yes}\n", i, i)
	}
	if err := os.WriteFile(h.Config(), []byte(src), 0o600); err != nil {
		b.Fatal(err)
	}
	clocked(h, 1)
	b.ReportAllocs()
	for b.Loop() {
		c := clocked(h, 2)
		_, _, _ = c.Model(), c.Terminal(), c.Agent()
	}
}

func BenchmarkLoadNothing(b *testing.B) {
	h := home.At(filepath.Join(b.TempDir(), "none"))
	for b.Loop() {
		_ = clocked(h, 1)
	}
}

func BenchmarkWarnings(b *testing.B) {
	h := home.At(b.TempDir())
	if err := os.WriteFile(h.Config(), []byte("model: {default: claude}\nagent: {max_turns: 5}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	c := clocked(h, 1)
	for b.Loop() {
		_ = c.Warnings()
	}
}

func TestUnknownToolsetNamesAreReported(t *testing.T) {
	t.Parallel()
	h := home.At(t.TempDir())
	text := "toolsets: [flie, web]\nagent:\n  disabled_toolsets:\n    - terminal\n    - frobnicate\nplatform_toolsets:\n  cli: [file, wbe]\n"
	if err := os.WriteFile(h.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Load(h, config.Options{
		Managed: "-", LookupEnv: func(string) (string, bool) { return "", false },
		Toolset: func(_ *config.Config, name string) (bool, []string) {
			names := []string{"file", "terminal", "web"}
			return slices.Contains(names, name), names
		},
	})
	var got []string
	for _, p := range c.Warnings() {
		got = append(got, p.String())
	}
	slices.Sort(got)
	want := []string{
		"config.yaml, line 1: toolsets lists \"flie\", which is not a toolset or a tool; it is ignored. Did you mean file?",
		"config.yaml, line 4: agent.disabled_toolsets lists \"frobnicate\", which is not a toolset or a tool; it is ignored. Run `hermes tools` to list them.",
		"config.yaml, line 7: platform_toolsets.cli lists \"wbe\", which is not a toolset or a tool; it is ignored. Did you mean web?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
