package memory_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/memory"
)

func TestOnlyChangesPersist(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	spec := memory.Builtin{File: h.File}.Tools()[0].Spec()
	for arguments, want := range map[string]string{
		`{"target":"user","action":"read"}`:                                               "",
		`{"target":"user","action":"read","operations":[{"action":"add","content":"x"}]}`: "memory",
		`{"target":"user","action":"add","content":"x"}`:                                  "memory",
		`{"target":"memory","operations":[{"action":"remove","old_text":"x"}]}`:           "memory",
		`{"target":7}`: "memory",
	} {
		if got := spec.Persists(json.RawMessage(arguments)); got != want {
			t.Errorf("%s persists as %q, want %q", arguments, got, want)
		}
	}
	if !spec.Trusted || !spec.CanPropose {
		t.Errorf("trusted %v, can propose %v", spec.Trusted, spec.CanPropose)
	}
	h.SetApproval(true) // then every change waits, and no second approval is needed
	if got := spec.Persists(json.RawMessage(`{"target":"user","action":"add","content":"x"}`)); got != "" {
		t.Errorf("persists as %q although it waits anyway", got)
	}
}

func TestAPendingChangeKeepsItsProvenance(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tool := memory.Builtin{File: h.File}.Tools()[0]
	who := host{ref: hermes.SessionRef{ID: "s1", Provenance: "read_file notes.md"}}
	r, err := tool.Run(t.Context(), &hermes.Call{
		Name: "memory", Propose: true, Host: who, Arguments: json.RawMessage(`{"target":"memory","action":"add","content":"The host is heron"}`),
	})
	must(t, err)
	if !strings.Contains(r.Text, `"staged"`) || !strings.Contains(r.Text, "has read untrusted text") || h.file(t, "MEMORY.md") != "" {
		t.Errorf("got %s, the file holds %q", r.Text, h.file(t, "MEMORY.md"))
	}
	waiting, err := h.Proposals()
	must(t, err)
	if len(waiting) != 1 || waiting[0].By.Provenance != "read_file notes.md" {
		t.Fatalf("pending %+v", waiting)
	}
	s, err := h.Approve(t.Context(), waiting[0].ID)
	must(t, err)
	if got := s.Entries[0].Origin.String(); !strings.HasSuffix(got, "after reading read_file notes.md") {
		t.Errorf("the entry comes from %q", got)
	}
}
