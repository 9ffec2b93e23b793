package turn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session/turn"
)

func TestAPictureIsUntrusted(t *testing.T) {
	t.Parallel()
	parts := []hermes.Part{{Text: "look", Provenance: "a page"}, {Image: &hermes.Image{MediaType: "image/png"}}}
	plain, from := turn.SplitProvenance(parts)
	if want := hermes.AddProvenance("a page", "a picture"); from != want {
		t.Errorf("from %q, want %q", from, want)
	}
	if plain[0].Provenance != "" || parts[0].Provenance != "a page" {
		t.Errorf("split into %+v, the original is %+v", plain, parts)
	}
}

// TestWhatIsReadWithAMessage: what the memory knows above it, the rest below, all of it hidden.
func TestWhatIsReadWithAMessage(t *testing.T) {
	t.Parallel()
	m := hermes.UserText("hello")
	known := hermes.Recalled{Text: "likes tea", Provenance: "a memory"}
	turn.AddRecalled(&m, known, nil)
	turn.AddSurroundings(&m, "main.go changed")
	turn.AddSurroundings(&m, "")
	hint := hermes.Part{Text: "a hint", Provenance: "a hook", Hidden: true}
	turn.AddParts(&m, []hermes.Part{hint})
	turn.AddParts(&m, []hermes.Part{hint}) // as for a retried message
	if len(m.Parts) != 4 || m.Visible() != "hello" {
		t.Fatalf("the message has %+v", m.Parts)
	}
	if !turn.Recalled(m.Parts[0]) || !strings.Contains(m.Parts[0].Text, "likes tea") || m.Parts[1].Text != "hello" {
		t.Errorf("above it is %+v", m.Parts[:2])
	}
	if !turn.IsSurroundings(m.Parts[2]) || m.Parts[3].Text != "a hint" {
		t.Errorf("below it is %+v", m.Parts[2:])
	}
	if turn.Recalled(m.Parts[1]) || turn.Recalled(m.Parts[2]) || turn.IsSurroundings(m.Parts[1]) || turn.IsSurroundings(m.Parts[3]) {
		t.Error("parts are taken for others")
	}
	if want := hermes.AddProvenance("a memory", "a hook"); m.Provenance != want {
		t.Errorf("from %q, want %q", m.Provenance, want)
	}
	next := hermes.UserText("again")
	if turn.AddRecalled(&next, known, []hermes.Message{m}); len(next.Parts) != 1 || next.Provenance != "" {
		t.Errorf("what the transcript has was added again: %+v", next)
	}
}

// TestTheModelIsToldAboutPlanMode with each message in it, and once that it has ended.
func TestTheModelIsToldAboutPlanMode(t *testing.T) {
	t.Parallel()
	var transcript []hermes.Message
	notes := func(plan bool, again ...hermes.Message) string {
		m := hermes.UserText("go")
		if len(again) > 0 {
			m = again[0]
		}
		turn.AddPlan(&m, plan, transcript)
		if m.Visible() != "go" {
			t.Errorf("the user sees %q", m.Visible())
		}
		transcript = append(transcript, m, hermes.Message{Role: hermes.RoleAssistant})
		var b strings.Builder
		for _, p := range m.Parts[1:] {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	begun, ended := "[Plan mode: only calls that change nothing", "[Plan mode has ended.]"
	for i, tt := range []struct {
		plan bool
		want string
	}{{false, ""}, {true, begun}, {true, begun}, {false, ended}, {false, ""}} {
		if got := notes(tt.plan); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("message %d: %q, want %q", i, got, tt.want)
		}
	}
	planned := transcript[2]
	transcript = nil
	if got := notes(false, planned); got != "" {
		t.Errorf("a message that is tried again outside of plan mode: %q", got)
	}
	transcript = nil
	if got := notes(true, planned); strings.Count(got, begun) != 1 {
		t.Errorf("a message that is tried again: %q", got)
	}
}

func TestRecallIsLimited(t *testing.T) {
	t.Parallel()
	m := hermes.UserText("hello")
	turn.AddRecalled(&m, hermes.Recalled{Text: strings.Repeat("ä", hermes.MaxRecall) + "ö"}, nil)
	if got := m.Parts[0].Text; strings.Count(got, "ä") != hermes.MaxRecall || strings.Contains(got, "ö") {
		t.Errorf("%d characters were added", strings.Count(got, "ä"))
	}
}

// TestAnAnswerRepeatsNoRecall, however it is cut into pieces, and loses nothing else.
func TestAnAnswerRepeatsNoRecall(t *testing.T) {
	t.Parallel()
	m := hermes.UserText("x")
	turn.AddRecalled(&m, hermes.Recalled{Text: "likes tea"}, nil)
	said := "Well:\n" + m.Parts[0].Text + "\nthen <"
	for _, size := range []int{1, 3, len(said)} {
		var step hermestest.Step
		for piece := range slices.Chunk([]byte(said), size) {
			step.Deltas = append(step.Deltas, hermes.Delta{Text: string(piece)})
		}
		script := hermestest.NewScript(step)
		got, err := hermes.Collect(turn.Scrubbed{Model: script}.Stream(t.Context(), &hermes.Request{}))
		if err != nil || strings.Contains(got.Text(), "likes tea") || !strings.HasPrefix(got.Text(), "Well:\n") || !strings.HasSuffix(got.Text(), "then <") {
			t.Errorf("in pieces of %d: %q, %v", size, got.Text(), err)
		}
	}
}

// TestStoredToolsAreSentAsTheyWere, byte for byte.
func TestStoredToolsAreSentAsTheyWere(t *testing.T) {
	t.Parallel()
	specs := []hermes.Spec{
		{Name: "b", Description: "a < b && c > d", Schema: []byte(`{"type":"object","properties":{"z":{},"a":{}}}`), Trusted: true},
		{Name: "a", Schema: []byte(`{}`)},
	}
	stored, err := turn.EncodeSpecs(specs)
	const want = `[{"name":"b","description":"a < b && c > d","schema":{"type":"object","properties":{"z":{},"a":{}}}},{"name":"a","description":"","schema":{}}]`
	if err != nil || string(stored) != want {
		t.Errorf("stored %s, %v", stored, err)
	}
	sent, err := turn.DecodeSpecs(stored)
	specs[0].Trusted = false // only what a request has
	if diff := cmp.Diff(specs, sent); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if none, err := turn.DecodeSpecs(nil); none != nil || err != nil {
		t.Errorf("no tools are %v, %v", none, err)
	}
	if _, err := turn.DecodeSpecs([]byte(`{`)); err == nil {
		t.Error("damaged tools are none")
	}
}
