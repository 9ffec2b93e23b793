package app_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// manual is the code of docs/hooks.md.
type manual struct {
	settings []string          // in the order of the page
	scripts  map[string]string // by the name in the sentence above
}

var (
	codeBlock   = regexp.MustCompile("(?s)([^\n]*)\n\n```(\\w+)\n(.*?)```\n")
	scriptName  = regexp.MustCompile("`(\\w+\\.\\w+)`")
	namedScript = regexp.MustCompile(`\.claude/hooks/(\w+\.\w+)`)
)

// readManual reads the page.
func readManual(t *testing.T) manual {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := manual{scripts: map[string]string{}}
	blocks := codeBlock.FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "\n```\n"); len(blocks) != n {
		t.Fatalf("%d of %d blocks of code are understood", len(blocks), n)
	}
	for _, block := range blocks {
		if block[2] == "yaml" {
			m.settings = append(m.settings, block[3])
			continue
		}
		names := scriptName.FindAllStringSubmatch(block[1], -1)
		if len(names) == 0 {
			t.Fatalf("no name is above the script\n%s", block[3])
		}
		m.scripts[names[len(names)-1][1]] = block[3]
	}
	return m
}

// install puts the scripts of the page where its settings look for them.
func (m manual) install(s *scene) {
	s.t.Helper()
	dir := filepath.Join(s.dir, ".claude", "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range m.scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestTheManualHasEachScriptOfItsSettings, and no other.
func TestTheManualHasEachScriptOfItsSettings(t *testing.T) {
	t.Parallel()
	m := readManual(t)
	var want []string
	for _, name := range namedScript.FindAllStringSubmatch(m.settings[0], -1) {
		want = append(want, name[1])
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(m.scripts)); !slices.Equal(got, want) || len(m.settings) != 2 {
		t.Errorf("the page has the scripts %q and %d blocks of settings; its settings name %q", got, len(m.settings), want)
	}
}

// TestTheWebhookOfTheManualIsTold of what its settings name, with a signature.
func TestTheWebhookOfTheManualIsTold(t *testing.T) {
	t.Parallel()
	came := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		came <- r.Header.Get("X-Hermes-Event") + " " + r.Header.Get("X-Hermes-Signature-256")[:7]
	}))
	t.Cleanup(server.Close)
	settings := readManual(t).settings[1]
	s := hooked(t, hermes.AllowOnce, "security: {allow_private_urls: true}\n"+strings.Replace(settings, "https://example.org", server.URL, 1))
	writeFile(t, filepath.Join(s.home, ".env"), "HOOK_SECRET=4cf1b9d3a1\n")
	s.say(`CALL write_file {"path":"a.txt","content":"1"}`, `CALL terminal {"command":"true"}`)
	if problems := s.app.HookProblems(s.dir); len(problems) > 0 {
		t.Errorf("problems %+v", problems)
	}
	s.quit() // what is told is sent
	close(came)
	var got []string
	for one := range came {
		got = append(got, one)
	}
	if want := []string{"post_tool_call sha256=", "on_session_end sha256="}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
