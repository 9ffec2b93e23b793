package storesuite

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// Run is the contract suite of [hermes.Store]. open returns an empty
// store; the suite closes it. No case waits for a clock.
func Run(t *testing.T, open func(t *testing.T) hermes.Store) {
	t.Helper()
	cases := append(sessionCases(), transcriptCases()...)
	cases = append(cases, waitingCases()...)
	cases = append(cases, questionCases()...)
	cases = append(cases, leaseCases()...)
	cases = append(cases, searchCases()...)
	cases = append(cases, compactCases()...)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(t, s)
		})
	}
}

type storeCase struct {
	name string
	run  func(*testing.T, hermes.Store)
}

// day is the start of the suite's sessions.
var day = time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.UTC)

// begin creates a session that started so many minutes into the day.
func begin(t *testing.T, s hermes.Store, row hermes.Session, minutes int) {
	t.Helper()
	row.Started = day.Add(time.Duration(minutes) * time.Minute)
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
}

// lease acquires a session for an hour.
func lease(t *testing.T, s hermes.Store, session, owner string) hermes.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), session, hermes.Owner{Name: owner}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// add appends messages and returns their ids.
func add(t *testing.T, s hermes.Store, l hermes.Lease, messages ...hermes.Message) []int64 {
	t.Helper()
	done, err := s.Commit(t.Context(), l, hermes.Change{Append: messages})
	if err != nil {
		t.Fatal(err)
	}
	if len(done.IDs) != len(messages) {
		t.Fatalf("%d messages got %d ids", len(messages), len(done.IDs))
	}
	return done.IDs
}

func find(t *testing.T, s hermes.Store, ref string) hermes.Session {
	t.Helper()
	row, err := s.FindSession(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func transcript(t *testing.T, s hermes.Store, session string, r hermes.Range) []hermes.Message {
	t.Helper()
	list, err := s.Messages(t.Context(), session, r)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("not as wanted (-want +got):\n%s", d)
	}
}

// listIDs returns the ids of a list of sessions.
func listIDs(t *testing.T, s hermes.Store, f hermes.SessionFilter) []string {
	t.Helper()
	rows, err := s.ListSessions(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// texts returns the texts of messages.
func texts(list []hermes.Message) []string {
	all := []string{}
	for _, m := range list {
		all = append(all, m.Text())
	}
	return all
}

func ptr[T any](v T) *T { return &v }

// call returns an assistant message with one tool call.
func call(id string) hermes.Message {
	return hermes.Message{Role: hermes.RoleAssistant, Finish: hermes.FinishCalls,
		Calls: []hermes.ToolCall{{ID: id, Name: "terminal", Arguments: `{"command":"ls"}`}}}
}

// answerTo returns the result of a call.
func answerTo(id, text string) hermes.Message {
	return hermes.Message{Role: hermes.RoleTool, CallID: id, ToolName: "terminal", Parts: []hermes.Part{{Text: text}}}
}
