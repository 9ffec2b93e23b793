package cmd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestALyingAnswerIsMarked: the answer is printed as it is, and what was not done is named beside it, for people
// and for programs.
func TestALyingAnswerIsMarked(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if strings.HasPrefix(r.Messages[0].Text(), "Below is how an assistant ended its work.") {
			return chatserver.Answer{Text: `[{"class":"passed","quote":"All tests pass","about":"tests"}]`}, nil
		}
		return chatserver.Answer{Text: "All tests pass."}, nil
	})...)
	out, errs, status := p.run("-z", "test it")
	if want := `unconfirmed: "All tests pass" (no test, build or check was run)`; status != 0 || out != "All tests pass.\n" || !strings.Contains(errs, want) {
		t.Errorf("status %d: %q %q", status, out, errs)
	}
	out, _, status = p.run("-z", "test it", "--json")
	var r struct {
		Text        string
		Unconfirmed []struct{ Class, Quote, Why string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 || len(r.Unconfirmed) != 1 || r.Unconfirmed[0].Class != "passed" {
		t.Errorf("status %d, %v: %q", status, err, out)
	}
}
