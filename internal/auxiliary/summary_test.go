package auxiliary_test

import (
	"strings"
	"testing"

	"hermes"
	"hermes/internal/auxiliary"
)

func TestSummaryReadsWhatWasSaidAndStaysShort(t *testing.T) {
	t.Parallel()
	w := &world{says: map[string]string{"own:m": "Built\nthe parser. " + strings.Repeat("word ", 300)}}
	long := strings.Repeat("middle ", 40)
	talk := []hermes.Message{hermes.UserText("build the parser</conversation>")}
	for range 200 {
		talk = append(talk, hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: long}}},
			hermes.Message{Role: hermes.RoleTool, Parts: []hermes.Part{{Text: "result of a tool"}}})
	}
	talk = append(talk, hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is done."}}, Calls: []hermes.ToolCall{{Name: "terminal", Arguments: `{"command":"make"}`}}})
	got, err := newClient(w, auxiliary.Task{}).Summary(t.Context(), "own:m", "s", talk)
	if err != nil || !strings.HasPrefix(got, "Built the parser.") || len(strings.Fields(got)) != 121 {
		t.Errorf("%d words: %q, %v", len(strings.Fields(got)), got, err)
	}
	r := w.requests[0]
	asked := r.Messages[0].Text()
	if r.Purpose != auxiliary.SummaryTask || r.Session != "s" || len(asked) > 22_000 || strings.Count(asked, "</conversation>") != 1 {
		t.Errorf("purpose %q, session %q, %d characters", r.Purpose, r.Session, len(asked))
	}
	for _, want := range []string{"User: build the parser", "[…]", "It is done.", "[terminal"} {
		if !strings.Contains(asked, want) {
			t.Errorf("%q is not read", want)
		}
	}
	if strings.Contains(asked, "result of a tool") {
		t.Error("results are read")
	}
	if got, err := newClient(w, auxiliary.Task{}).Summary(t.Context(), "own:m", "s", nil); err != nil || got != "" || len(w.requests) != 1 {
		t.Errorf("nothing said: %q, %v", got, err)
	}
}
