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
		{"MCP client e", []string{"a; b; c; d", "e"}, "…; MCP client e; b; c; d; e"},
		{"MCP client 1; a", []string{"MCP client 2; MCP client 3", "MCP client 4", "MCP client 5"}, "…; a; MCP client 2; MCP client 3; MCP client 4; MCP client 5"},
	} {
		if got := hermes.AddProvenance(tt.have, tt.more...); got != tt.want {
			t.Errorf("AddProvenance(%q, %q) = %q, want %q", tt.have, tt.more, got, tt.want)
		}
	}
}

// TestWhatTheUserChoseIsWeaker marks sources and looks for those that are not.
func TestWhatTheUserChoseIsWeaker(t *testing.T) {
	t.Parallel()
	mine := func(s string) bool { return s == "a" || s == "b" }
	marked := hermes.MarkChosen("a; x; b", mine)
	if marked != "project: a; x; project: b" || hermes.OutsideProvenance(marked) != "x" {
		t.Errorf("got %q, outside %q", marked, hermes.OutsideProvenance(marked))
	}
	if got := hermes.MarkChosen("project: x; y", mine); got != "x; y" {
		t.Errorf("a mark that was not earned: %q", got)
	}
	if got := hermes.MarkChosen("…; a", func(string) bool { return true }); hermes.OutsideProvenance(got) != "…" {
		t.Errorf("unknown sources were chosen: %q", got)
	}
	all := "web x"
	for _, s := range []string{"1", "2", "3", "4", "5", "6"} {
		all = hermes.AddProvenance(all, "project: "+s)
	}
	if got := hermes.OutsideProvenance(all); got != "web x" || all != "web x; project: 3; project: 4; project: 5; project: 6" {
		t.Errorf("got %q, outside %q", all, got)
	}
	if got := hermes.OutsideProvenance(hermes.AddProvenance("", "project: a", "project: b")); got != "" {
		t.Errorf("outside: %q", got)
	}
	for source, want := range map[string]bool{"project file AGENTS.md": true, "project file sub/AGENTS.md": true, "project file ../AGENTS.md": false, "project file /x/AGENTS.md": false, "read_file a": false} {
		if hermes.IsProjectFile(source) != want {
			t.Errorf("%s: want %v", source, want)
		}
	}
	if got := hermes.WithoutSources("a; b; c", "b; d"); got != "a; c" {
		t.Errorf("got %q", got)
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

// TestAMessageOfASessionIsFromAClient: only the user allows what it asks for.
func TestAMessageOfASessionIsFromAClient(t *testing.T) {
	t.Parallel()
	all := hermes.AddProvenance("read_file notes.md", hermes.SessionSource("20261129_1"))
	if !hermes.FromClient(all) || hermes.FromClient("message from sessions") || hermes.FromClient("read_file message from session 1") {
		t.Errorf("from a client: %q", all)
	}
	if got := hermes.WithoutSessions(all); got != "read_file notes.md" {
		t.Errorf("without sessions: %q", got)
	}
	if got := hermes.OutsideProvenance(all); got != all {
		t.Errorf("outside: %q", got)
	}
}
