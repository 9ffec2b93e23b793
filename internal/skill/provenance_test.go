package skill_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/skill"
)

func TestAProposedChangeWaitsWhateverIsConfigured(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(*skill.Config) {})
	from := "read_file notes.md"
	out, err := r.Save(t.Context(), hermes.SkillEdit{Name: "a", New: true, Agent: true, Propose: true, Provenance: from, Content: doc("a", "d", "b")})
	must(t, err)
	waiting, err := r.Proposals()
	must(t, err)
	if out.Pending == "" || len(r.names()) > 0 || len(waiting) != 1 || waiting[0].Provenance() != from {
		t.Fatalf("%+v, waiting %+v", out, waiting)
	}
	_, err = r.Approve(t.Context(), out.Pending)
	must(t, err)
	usage, err := r.Usages()
	if err != nil || usage["a"].Provenance != from || len(r.names()) != 1 {
		t.Errorf("the source is lost: %+v, %v", usage, err)
	}
	out, err = r.Remove(t.Context(), hermes.SkillRemoval{Name: "a", Agent: true, Propose: true, Provenance: from})
	if err != nil || out.Pending == "" || len(r.names()) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if r.Waits(t.Context(), "a") || r.Waits(t.Context(), "new") {
		t.Error("a change would wait in any case")
	}
	r.SetApproval(true)
	if !r.Waits(t.Context(), "a") || !r.Waits(t.Context(), "new") {
		t.Error("no change would wait")
	}
}

func TestOthersSkillsAreUntrusted(t *testing.T) {
	t.Parallel()
	for source, want := range map[hermes.SkillSource]string{
		hermes.SkillUser: "", hermes.SkillBundled: "", hermes.SkillHub: "hub skill a", hermes.SkillProject: "project skill a", hermes.SkillExternal: "external skill a",
	} {
		if got := (hermes.Skill{Name: "a", Source: source}).Provenance(); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// TestPendingChangesKeepTheirStoredKeys reads what earlier versions stored, and compares the keys
// that are stored today.
func TestPendingChangesKeepTheirStoredKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	folder := r.home.Pending("skills")
	must(t, r.home.Make(folder))
	stored := map[string]string{
		"aaaaaa": `{"id":"aaaaaa","at":"2026-02-01T00:00:00Z","edit":{"Name":"x","New":true,"Category":"","File":"","Content":"c","Base":"","Agent":true,"Session":"s","Outside":"read_file a","Stage":true,"Granted":false,"Trial":null}}`,
		"bbbbbb": `{"id":"bbbbbb","at":"2026-02-02T00:00:00Z","removal":{"Name":"x","File":"","Agent":true,"Session":"s","Outside":"read_file b","Stage":true}}`,
	}
	for id, text := range stored {
		must(t, os.WriteFile(filepath.Join(folder, id+".json"), []byte(text), 0o600))
	}
	waiting, err := r.Proposals()
	must(t, err)
	if len(waiting) != 2 || waiting[0].Provenance() != "read_file a" || !waiting[0].Edit.Propose || waiting[1].Provenance() != "read_file b" || !waiting[1].Removal.Propose {
		t.Fatalf("got %+v", waiting)
	}
	for _, p := range waiting {
		raw, err := json.Marshal(p)
		must(t, err)
		var got, want any
		must(t, json.Unmarshal(raw, &got))
		must(t, json.Unmarshal([]byte(stored[p.ID]), &want))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("stored keys of %s (-before +now):\n%s", p.ID, d)
		}
	}
}
