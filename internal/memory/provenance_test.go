package memory_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
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

func TestLocalKnowsWhichTurnsHadReadUntrustedText(t *testing.T) {
	t.Parallel()
	store := &hermestest.Recollections{}
	p := memory.NewLocal(func(context.Context) (hermes.Recollections, error) { return store, nil })
	clean, tainted, wordless := turnOf("Our invoices are due on the 14th", "noted"), turnOf("Which printer does the office have?", "the heron 300"), turnOf("The garden gate has code word tulip", "")
	tainted.Session.Provenance, wordless.Session.Provenance = "read_file printers.md", "read_file gate.md"
	for _, turn := range []hermes.MemoryTurn{clean, tainted, wordless} {
		must(t, p.Observe(t.Context(), turn))
	}
	for question, want := range map[string]string{
		"when are the invoices due?":                "",
		"which printer does the office have?":       "read_file printers.md",
		"what is the code word of the garden gate?": "", // the user's own words
	} {
		got, err := p.Recall(t.Context(), hermes.RecallQuery{Session: hermes.SessionRef{ID: "other"}, Text: question})
		must(t, err)
		if got.Text == "" || got.Provenance != want {
			t.Errorf("%s: recalled %+v, want from %q", question, got, want)
		}
	}
}
