package chat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/transport/chat"
)

// TestCallsSpelledOutAsText calls local servers, whose models write their
// calls as text.
func TestCallsSpelledOutAsText(t *testing.T) {
	t.Parallel()
	tools := []hermes.Spec{{Name: "read_file"}}
	tests := []struct {
		file    string
		watched bool
		r       hermes.Request
		text    string
		calls   int
	}{
		{"spelled-out", true, hermes.Request{Tools: tools}, "Let me look.\n", 1},
		{"spelled-json", true, hermes.Request{Tools: tools}, "", 1},
		{"spelled-json", true, hermes.Request{Tools: tools, WordsOnly: true}, `{"name"`, 0},
		{"spelled-json", true, hermes.Request{Tools: []hermes.Spec{{Name: "todo"}}}, `{"name"`, 0},
		{"spelled-json", true, hermes.Request{}, `{"name"`, 0},
		{"spelled-json", false, hermes.Request{Tools: tools}, `{"name"`, 0},
	}
	for _, tt := range tests {
		cfg := config(&recorded{t: t, file: tt.file})
		cfg.Quirks.TextCalls = tt.watched
		got, err := hermes.Collect(chat.New(cfg).Stream(t.Context(), &tt.r))
		if err != nil || !strings.HasPrefix(got.Text(), tt.text) || (tt.text == "") != (got.Text() == "") || len(got.Calls) != tt.calls {
			t.Errorf("%s: %+v, %v", tt.file, got, err)
			continue
		}
		if tt.calls == 0 {
			continue
		}
		if got.Calls[0].ID == "" || got.Finish != hermes.FinishCalls {
			t.Errorf("%s: %+v", tt.file, got)
		}
		got.Calls[0].ID = ""
		if diff := cmp.Diff(got.Calls[0], hermes.ToolCall{Name: "read_file", Arguments: `{"path": "a"}`}); diff != "" {
			t.Errorf("%s: %s", tt.file, diff)
		}
	}
}
