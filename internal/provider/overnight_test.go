package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest/faultserver"
	"hermes/internal/agent"
	"hermes/internal/contextengine"
	"hermes/internal/credential"
	"hermes/internal/provider"
	"hermes/internal/race"
)

// looking is one tool that always sees the same.
type looking struct{}

func (looking) Spec(name string) (hermes.Spec, bool) {
	return hermes.Spec{Name: "look", Description: "Looks."}, name == "look"
}
func (looking) Preview(hermes.ToolCall) string     { return "" }
func (looking) Canonical(c hermes.ToolCall) string { return c.Arguments }
func (looking) Specs() []hermes.Spec               { return nil }
func (looking) Run(context.Context, *hermes.Call) hermes.Result {
	return hermes.Result{Text: "nothing new"}
}

// decideOvernight calls a tool first in every third turn, then answers.
func decideOvernight(body []byte) faultserver.Answer {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	a := faultserver.Answer{Text: "all is quiet", Input: int64(len(body) / 4), Output: 5}
	if json.Unmarshal(body, &r) != nil || len(r.Messages) == 0 {
		return a
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "user" && bytes.Contains(last.Content, []byte("look round")) && !bytes.Contains(last.Content, []byte("tool_result")) {
		return faultserver.Answer{Calls: []faultserver.Call{{ID: fmt.Sprintf("call_%d", len(body)), Name: "look", Arguments: `{"at":"the door"}`}}, Input: a.Input, Output: 9}
	}
	return a
}

// night is a user who says something every minute, and a clock that jumps.
type night struct {
	model      hermes.Model
	engine     hermes.ContextEngine
	transcript []hermes.Message
	usage      hermes.Usage
	notices    int // notices
}

// turn says something and returns how the turn ended.
func (n *night) turn(t *testing.T, number int64) hermes.TurnDone {
	t.Helper()
	said := hermes.UserText(fmt.Sprintf("Round %d: is all well?", number))
	if number%3 == 0 {
		said = hermes.UserText(fmt.Sprintf("Round %d: look round.", number))
	}
	said.Turn = number
	n.transcript = append(n.transcript, said)
	var done hermes.TurnDone
	for e := range agent.Run(t.Context(), agent.Turn{
		Model: n.model, Tools: looking{}, Number: number, Transcript: n.transcript, Context: n.engine, Window: func() int { return 20_000 },
		Request: hermes.Request{System: "You keep watch.", Session: "night", Tools: []hermes.Spec{{Name: "look", Description: "Looks."}}},
	}) {
		switch e := e.(type) {
		case hermes.Appended:
			n.transcript = append(n.transcript, e.Message)
		case hermes.Compacted:
			n.transcript = slices.Clone(e.CompactResult.Messages)
		case hermes.Notice:
			n.notices++
		case hermes.TurnDone:
			done = e
		}
	}
	n.usage = n.usage.Add(done.Usage)
	return done
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what had a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestOvernight runs an agent unattended for 2,000 turns with services that fail
// at random in every way. It must return 2,000 answers, without having
// grown, and with the same counts as the server.
func TestOvernight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	turns := int64(race.Rounds(2000, 400))
	server := faultserver.New(decideOvernight)
	defer server.Close()
	var among, slow []faultserver.Fault
	for _, f := range faultserver.All() {
		often := 4
		if f.Large {
			often = 1
		}
		switch {
		case f.Final: // nothing helps by its nature
		case f.Slow:
			slow = append(slow, f) // each of them once, since they take their time
		default:
			among = append(among, slices.Repeat([]faultserver.Fault{f}, often)...)
		}
	}
	now := time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	store := credential.Open(credential.Config{Path: filepath.Join(t.TempDir(), "auth.json"), Now: clock})
	defer func() { _ = store.Close(context.Background()) }()
	for i := range 3 {
		if _, err := store.Pool("custom:box", nil).Add(t.Context(), credential.New{Secret: hermes.Secret(fmt.Sprintf("key-%d-of-the-night", i))}); err != nil {
			t.Fatal(err)
		}
	}
	cfg := provider.Config{
		Selection:   provider.Selection{Model: "box:claude-sonnet-4-6"},
		Custom:      map[string]provider.Custom{"box": {BaseURL: server.URL + "/anthropic"}},
		Credentials: provider.Credentials{Keys: func(pool string, given []hermes.Key) hermes.Keys { return store.Pool(pool, given) }},
		System:      provider.System{Client: server.Client(), Now: clock, Rand: func() float64 { return 0.5 }, Sleep: func(ctx context.Context, d time.Duration) error { now = now.Add(d); return context.Cause(ctx) }},
		Patience:    provider.Patience{Timeouts: provider.Timeouts{Stale: 3 * time.Second}, LongestWait: 6 * time.Hour},
	}
	for i := range 4 {
		cfg.Fallback = append(cfg.Fallback, provider.Selection{Provider: fmt.Sprint("other", i), Model: "n", BaseURL: server.URL + "/v1"})
	}
	model, err := mustNew(t, cfg).Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	n := &night{model: model, engine: contextengine.New(contextengine.Options{Now: clock})}
	server.Randomly(20260501, 0.25, among)

	var early uint64
	for i := int64(1); i <= turns; i++ {
		now = now.Add(time.Minute)
		switch i {
		case 500:
			now = now.Add(-26 * time.Hour)
		case 1000:
			now = now.Add(40 * 24 * time.Hour)
		}
		if i%130 == 0 && len(slow) > 0 {
			server.Plan(slow[0])
			slow = slow[1:]
		}
		done := n.turn(t, i)
		if done.Outcome != hermes.OutcomeDone || done.Text != "all is quiet" {
			t.Fatalf("turn %d ended as %s with %q: %v", i, done.Outcome, done.Text, done.Err())
		}
		if i == 200 {
			early = heap()
		}
	}
	late, count := heap(), server.Count()
	if late > early+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
	if n.usage.Input != count.Input || n.usage.Output != count.Output {
		t.Errorf("our count is %d in and %d out, the server's %d and %d", n.usage.Input, n.usage.Output, count.Input, count.Output)
	}
	for _, f := range among {
		if count.Faults[f.Name] == 0 && !race.Enabled {
			t.Errorf("the fault %q was not met", f.Name)
		}
	}
	t.Logf("%d requests, %d answered, %d notices, heap %d KB at turn 200 and %d KB at %d", count.Requests, count.Answered, n.notices, early>>10, late>>10, turns)
}
