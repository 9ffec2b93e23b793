package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/cmd/sessions"
)

func TestAFileIsImportedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text := `{"type":"user","timestamp":"2026-11-01T10:00:00Z","cwd":"/src","sessionId":"abc","message":{"role":"user","content":"fix the zebra"}}
{"type":"assistant","timestamp":"2026-11-01T10:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}
{"type":"assi`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store := hermestest.NewStore()
	run := func(args ...string) (string, error) {
		c := sessions.NewCmd(on(store))
		var out strings.Builder
		c.SetArgs(args)
		c.SetOut(&out)
		c.SetErr(&out)
		return out.String(), func() error { err := c.ExecuteContext(t.Context()); return err }()
	}
	if out, err := run("import", path); err != nil {
		t.Fatal(out, err)
	}
	hits, err := store.Search(t.Context(), hermes.SearchQuery{Text: "zebra"})
	if err != nil || len(hits) != 1 || hits[0].Session.Platform != "import" || hits[0].Session.Dir != "/src" {
		t.Fatalf("%+v, %v", hits, err)
	}
	if m := hits[0].Message; m.Provenance != "import of a.jsonl" || !hits[0].Session.Tainted {
		t.Errorf("an imported message is trusted: %+v", m)
	}
	if _, err := run("import", path); err == nil || !strings.Contains(err.Error(), "already imported") {
		t.Errorf("imported twice: %v", err)
	}
	if _, err := run("import", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was imported")
	}
}
