package sessionsearch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/tool/sessionsearch"
)

// host is a session that only has a name.
type host struct {
	hermes.Host
	id string
}

func (h host) Session() hermes.SessionRef { return hermes.SessionRef{ID: h.id} }

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// newStore is a store with an old session, its branch, and the current one.
func newStore(t *testing.T) hermes.Store {
	t.Helper()
	s := hermestest.NewStore()
	add := func(id, parent, title string, texts ...string) hermes.Lease {
		if err := s.CreateSession(t.Context(), hermes.Session{ID: id, Parent: parent, Title: title, Platform: "cli", Started: day}); err != nil {
			t.Fatal(err)
		}
		l, err := s.Acquire(t.Context(), id, hermes.Owner{Name: "me"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			m := hermes.UserText(text)
			if i%2 == 1 {
				m.Role = hermes.RoleAssistant
			}
			m.Time = day.Add(time.Duration(i) * time.Minute)
			if _, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{m}}); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("message %d", i))
	}
	long[30] = "the flux capacitor needs 1.21 gigawatts"
	add("old", "", "time machine", long...)
	add("branch", "old", "time machine #2", "message 0", "the flux capacitor again")
	add("here", "", "", "hello", "hi, about the flux capacitor", "sure")
	return s
}

func call(t *testing.T, s hermes.Store, arguments string) (map[string]any, string, error) {
	t.Helper()
	set := sessionsearch.New(func(context.Context) (sessionsearch.Store, error) { return s, nil }, func() time.Time { return day })
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tools[0].Run(t.Context(), &hermes.Call{Name: "session_search", Arguments: json.RawMessage(arguments), Host: host{id: "here"}})
	var out map[string]any
	if err == nil && json.Unmarshal([]byte(r.Text), &out) != nil {
		t.Fatalf("not JSON: %s", r.Text)
	}
	return out, r.Text, err
}

func TestDiscoverShowsEachLineageOnce(t *testing.T) {
	t.Parallel()
	out, text, err := call(t, newStore(t), `{"query":"flux capacitor"}`)
	if err != nil {
		t.Fatal(err)
	}
	results := out["results"].([]any)
	if len(results) != 2 {
		t.Fatalf("%d results: %s", len(results), text)
	}
	for _, r := range results {
		f := r.(map[string]any)
		if here := f["session_id"] == "here"; here != (f["this_session"] == true) {
			t.Errorf("this_session of %v", f)
		}
	}
	first := results[0].(map[string]any)
	if first["messages"] == nil || first["match_message_id"] == nil || first["when"] == "" {
		t.Errorf("the best hit has no surroundings: %s", text)
	}
	if !strings.Contains(first["snippet"].(string), ">>>flux<<<") {
		t.Errorf("snippet %v", first["snippet"])
	}
}

func TestNothingFoundSaysWhatToTry(t *testing.T) {
	t.Parallel()
	_, text, err := call(t, newStore(t), `{"query":"zebra"}`)
	if err != nil || !strings.Contains(text, "other words") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestScrollReadsAroundAMessage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	all, err := s.Messages(t.Context(), "old", hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	out, text, err := call(t, s, fmt.Sprintf(`{"session_id":"old","around_message_id":%d,"window":2}`, all[30].ID))
	if err != nil || len(out["messages"].([]any)) != 5 || !strings.Contains(text, "message 28") || !strings.Contains(text, "message 32") || strings.Contains(text, "message 33") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestReadPagesThroughASession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	out, _, err := call(t, s, `{"session_id":"time machine"}`)
	if err != nil {
		t.Fatal(err)
	}
	if out["session_id"] != "branch" { // the newest of the name
		t.Errorf("session %v", out["session_id"])
	}
	out, text, err := call(t, s, `{"session_id":"old"}`)
	if err != nil || len(out["messages"].([]any)) != 40 || out["total_messages"] != 60.0 {
		t.Fatalf("%s, %v", text, err)
	}
	next := out["next_around_message_id"].(float64)
	_, text, err = call(t, s, fmt.Sprintf(`{"session_id":"old","around_message_id":%d,"window":20}`, int(next)))
	if err != nil || !strings.Contains(text, "message 59") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestBrowseListsOthers(t *testing.T) {
	t.Parallel()
	out, text, err := call(t, newStore(t), `{}`)
	if err != nil || len(out["sessions"].([]any)) != 2 || strings.Contains(text, `"here"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestUnknownSessionSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if _, _, err := call(t, newStore(t), `{"session_id":"nope"}`); err == nil || !strings.Contains(err.Error(), "without arguments") {
		t.Errorf("err = %v", err)
	}
	if _, _, err := call(t, newStore(t), `{"session_id":"here","around_message_id":999999}`); err == nil {
		t.Log("a message beyond the end shows the end") // reading past the end is not an error
	}
}

func TestHiddenMessagesAreFoundAndRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l, err := s.Acquire(t.Context(), "old", hermes.Owner{Name: "me"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Messages(t.Context(), "old", hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var hide []int64
	for _, m := range all[3:50] {
		hide = append(hide, m.ID)
	}
	if _, err := s.Compact(t.Context(), l, hermes.Compaction{Hide: hide, Insert: []hermes.Insertion{{At: hide[0], Message: hermes.UserText("summary")}}}); err != nil {
		t.Fatal(err)
	}
	_, text, err := call(t, s, `{"query":"gigawatts"}`)
	if err != nil || !strings.Contains(text, "1.21") {
		t.Fatalf("%s, %v", text, err)
	}
	_, text, err = call(t, s, fmt.Sprintf(`{"session_id":"old","around_message_id":%d,"window":1}`, all[30].ID))
	if err != nil || !strings.Contains(text, "1.21") || !strings.Contains(text, "message 31") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestSessionsWithUntrustedTextTaintTheResult(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l, err := s.Acquire(t.Context(), "old", hermes.Owner{Name: "me"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	page := hermes.Message{Role: hermes.RoleTool, CallID: "c", ToolName: "web", Provenance: "web x", Time: day.Add(time.Hour), Parts: []hermes.Part{{Text: "a page"}}}
	if _, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{page}}); err != nil {
		t.Fatal(err)
	}
	tools, err := sessionsearch.New(func(context.Context) (sessionsearch.Store, error) { return s, nil }, func() time.Time { return day }).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"session_id":"old"}`:                       "session old",
		`{"session_id":"old","around_message_id":5}`: "session old",
		`{"session_id":"branch"}`:                    "",
		`{"query":"1.21 gigawatts"}`:                 "session old",
		`{"query":"nowhere to be found"}`:            "",
		`{}`:                                         "session old",
	} {
		r, err := tools[0].Run(t.Context(), &hermes.Call{Name: "session_search", Arguments: json.RawMessage(arguments), Host: host{id: "here"}})
		if err != nil || r.Provenance != want {
			t.Errorf("%s: provenance %q, want %q; %v", arguments, r.Provenance, want, err)
		}
	}
}
