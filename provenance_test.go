package hermes_test

import (
	"testing"

	"hermes"
)

func TestProvenanceSourceIsOneShortLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"read_file notes.md":       "read_file notes.md",
		"terminal\tcurl a; rm\nb":  "terminal curl a, rm b",
		"x\x1b[31m\u202ered\u200b": "x[31mred",
		"":                         "",
		"long " + string(make([]rune, 3)) + "12345678901234567890123456789012345678901234567890123456789": "long 123456789012345678901234567890123456789012345678901234…",
	} {
		if got := hermes.ProvenanceSource(in); got != want {
			t.Errorf("ProvenanceSource(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAddProvenanceNamesTheNewest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		have string
		more []string
		want string
	}{
		{"", nil, ""},
		{"", []string{""}, ""},
		{"", []string{"a", "b", "a"}, "a; b"},
		{"a; b", []string{"b; c"}, "a; b; c"},
		{"a; b; c; d", []string{"e"}, "…; b; c; d; e"},
		{"…; b; c; d; e", []string{"f", "g"}, "…; d; e; f; g"},
		{"…; b; c; d; e", nil, "…; b; c; d; e"},
		{"x", []string{"…; b"}, "…; x; b"},
	} {
		if got := hermes.AddProvenance(tt.have, tt.more...); got != tt.want {
			t.Errorf("AddProvenance(%q, %q) = %q, want %q", tt.have, tt.more, got, tt.want)
		}
	}
}

func TestTranscriptProvenance(t *testing.T) {
	t.Parallel()
	list := []hermes.Message{hermes.UserText("hi"), {Role: hermes.RoleTool, Provenance: "a"}, {Role: hermes.RoleTool, Provenance: "b; a"}}
	if got := hermes.TranscriptProvenance(list); got != "a; b" {
		t.Errorf("got %q", got)
	}
	if got := hermes.TranscriptProvenance(list[:1]); got != "" {
		t.Errorf("got %q for a transcript without untrusted text", got)
	}
}
