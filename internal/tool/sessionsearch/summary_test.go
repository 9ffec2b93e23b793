package sessionsearch_test

import (
	"strings"
	"testing"

	"hermes"
)

func TestSummariesAreShownAndFound(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for id, text := range map[string]string{
		"old": "Planned the trip of the Delorean; the battery is still missing.", "here": "What this is about.",
	} {
		if err := s.(hermes.Summaries).SaveSummary(t.Context(), hermes.Summary{Session: id, Text: text, At: day}); err != nil {
			t.Fatal(err)
		}
	}
	out, text, err := call(t, s, `{"query":"\"delorean\" AND batter*"}`) // words that only the summary has
	if err != nil || len(out["results"].([]any)) != 1 || !strings.Contains(text, `"session_id":"old"`) || !strings.Contains(text, "still missing") {
		t.Errorf("%s, %v", text, err)
	}
	out, text, err = call(t, s, `{"query":"gigawatts"}`)
	if err != nil || len(out["results"].([]any)) != 1 || !strings.Contains(text, "still missing") || !strings.Contains(text, "match_message_id") {
		t.Errorf("%s, %v", text, err)
	}
	_, text, err = call(t, s, `{}`)
	if err != nil || !strings.Contains(text, "still missing") || strings.Contains(text, "What this is about") {
		t.Errorf("%s, %v", text, err)
	}
}
