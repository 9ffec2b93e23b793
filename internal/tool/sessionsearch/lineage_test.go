package sessionsearch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
)

// put stores a session with messages, a minute apart.
func put(t *testing.T, s hermes.Store, row hermes.Session, texts ...string) {
	t.Helper()
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	l, err := s.Acquire(t.Context(), row.ID, hermes.Owner{Name: "me"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		m := hermes.UserText(text)
		m.Time = row.Started.Add(time.Duration(i) * time.Minute)
		if _, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{m}}); err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns the sessions of a result, in order.
func shown(t *testing.T, s hermes.Store, arguments string) string {
	t.Helper()
	out, text, err := call(t, s, arguments)
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	list, ok := out["results"].([]any)
	if !ok {
		list = out["sessions"].([]any)
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, r.(map[string]any)["session_id"].(string))
	}
	if len(ids) == 0 && !strings.Contains(text, "longer period") && out["results"] != nil {
		t.Errorf("%s: no advice in %s", arguments, text)
	}
	return strings.Join(ids, " ")
}

// TestTheCallingSessionHidesNoOther: with very many hits it is one result, the last, in
// every order.
func TestTheCallingSessionHidesNoOther(t *testing.T) {
	t.Parallel()
	s := hermestest.NewStore()
	put(t, s, hermes.Session{ID: "first", Platform: "cli", Started: day}, "the flux capacitor, long ago")
	put(t, s, hermes.Session{ID: "second", Platform: "cli", Started: day.AddDate(0, 0, 1)}, "the flux capacitor, once more")
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("flux flux capacitor %d", i))
	}
	put(t, s, hermes.Session{ID: "before", Platform: "cli", Started: day.AddDate(0, 0, 2)}, many...)
	put(t, s, hermes.Session{ID: "here", Parent: "before", Platform: "cli", Started: day.AddDate(0, 0, 3)}, many...)
	put(t, s, hermes.Session{ID: "summed", Platform: "cli", Started: day}, "other words")
	if err := s.SaveSummary(t.Context(), hermes.Summary{Session: "summed", Text: "about the flux capacitor", At: day}); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"query":"flux capacitor"}`:                              "second first here",
		`{"query":"flux capacitor","sort":"relevance","limit":2}`: "second first",
		`{"query":"flux capacitor","sort":"newest"}`:              "second first here",
		`{"query":"flux capacitor","sort":"oldest"}`:              "first second before",
		`{"query":"flux capacitor","limit":20}`:                   "second first summed here",
		`{"query":"flux capacitor","sort":"oldest","limit":20}`:   "first second summed before",
		`{"query":"flux 299"}`:                                    "here",
	} {
		if got := shown(t, s, arguments); got != want {
			t.Errorf("%s shows %q, want %q", arguments, got, want)
		}
	}
}

// TestPeriodAndPlatformNarrow: they hold for words, for summaries and for the list.
func TestPeriodAndPlatformNarrow(t *testing.T) {
	t.Parallel()
	s := hermestest.NewStore()
	put(t, s, hermes.Session{ID: "old", Platform: "cli", Started: day.AddDate(0, -1, 0)}, "the zebra in autumn")
	put(t, s, hermes.Session{ID: "chat", Platform: "telegram", Started: day.AddDate(0, 0, -2)}, "the zebra again")
	put(t, s, hermes.Session{ID: "tool", Platform: "tool", Started: day.AddDate(0, 0, -1)}, "zebra of a tool")
	put(t, s, hermes.Session{ID: "sum", Platform: "telegram", Started: day.AddDate(0, 0, -20)}, "stripes")
	if err := s.SaveSummary(t.Context(), hermes.Summary{Session: "sum", Text: "a zebra was seen", At: day}); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"query":"zebra"}`:                                            "chat old sum",
		`{"query":"zebra","platform":"telegram"}`:                      "chat sum",
		`{"query":"zebra","platform":"tool"}`:                          "tool",
		`{"query":"zebra","after":"7d"}`:                               "chat",
		`{"query":"zebra","after":"7d ago"}`:                           "chat",
		`{"query":"zebra","before":"2026-11-01"}`:                      "old sum",
		`{"query":"zebra","after":"2026-10-25","before":"2026-11-10"}`: "sum",
		`{"query":"zebra","after":"1h","sort":"oldest"}`:               "",
		`{"platform":"telegram"}`:                                      "chat sum",
		`{"after":"7d"}`:                                               "chat",
		`{"before":"2026-11-10 08:00"}`:                                "sum old",
		`{"platform":"tool"}`:                                          "tool",
	} {
		if got := shown(t, s, arguments); got != want {
			t.Errorf("%s shows %q, want %q", arguments, got, want)
		}
	}
	for _, arguments := range []string{`{"query":"zebra","after":"soon"}`, `{"before":"2026-13-01"}`} {
		if _, _, err := call(t, s, arguments); err == nil || !strings.Contains(err.Error(), "2026-11-20") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}
