// Package todo is the toolset with the agent's task list: one list for each
// session, written and read by the tool todo.
//
// The list lives in memory, but each result of the tool holds it whole, so the
// transcript is its storage: Last finds it there, and Restore puts it back after
// a restart. When a context is compressed, Open gives the text that carries the
// unfinished items over. list.go has the rules of the list, this file the tool.
// The package knows no store and no session beyond its id.
package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"hermes"
)

const (
	name = "todo"
	// alias is the tool's newer name, which older transcripts may hold.
	alias = "todo_list"
	// maxSessions bounds the sessions whose lists are held; the one unused for
	// longest goes first and comes back by Restore.
	maxSessions = 1024
)

//go:embed todo.md
var doc string

type args struct {
	Todos items `json:"todos,omitempty"`
	Merge bool  `json:"merge,omitempty" doc:"Update by id instead of replacing" default:"false"`
}

// items also takes a JSON text that holds the list, as some models send it.
type items []Item

func (l *items) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	var list []Item
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if list == nil {
		list = []Item{}
	}
	*l = list
	return nil
}

// Toolset holds the lists of all sessions. It may be used concurrently.
type Toolset struct {
	mu    sync.Mutex
	lists map[string]*held
	clock int64
}

type held struct {
	list List
	used int64
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset, with no lists.
func New() *Toolset { return &Toolset{lists: map[string]*held{}} }

// Name is "todo".
func (t *Toolset) Name() string { return name }

// Available is always the empty text.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the one tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name:        name,
		Description: strings.TrimSpace(doc),
		Effect:      hermes.EffectIdempotent,
		Trusted:     true,
		ResultLimit: -1, // the transcript is where the list is stored
	}, t.run)}, nil
}

func (t *Toolset) run(_ context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.of(c.Host.Session().ID)
	var note string
	if in.Todos != nil {
		h.list, note = h.list.write(in.Todos, in.Merge)
	}
	return hermes.JSONResult(h.list.report(note))
}

// of gives the session's list, an empty one if needed. Hold mu.
func (t *Toolset) of(session string) *held {
	t.clock++
	h := t.lists[session]
	if h == nil {
		if len(t.lists) >= maxSessions {
			t.dropOldest()
		}
		h = &held{}
		t.lists[session] = h
	}
	h.used = t.clock
	return h
}

func (t *Toolset) dropOldest() {
	oldest, at := "", t.clock+1
	for id, h := range t.lists {
		if h.used < at {
			oldest, at = id, h.used
		}
	}
	delete(t.lists, oldest)
}

// Restore takes a session's list from its transcript, if it is not held and
// the transcript has one.
func (t *Toolset) Restore(session string, transcript []hermes.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lists[session] != nil {
		return
	}
	if list, ok := Last(transcript); ok {
		t.of(session).list = list
	}
}

// Carry gives a session the list of the one it continues, as after compaction.
func (t *Toolset) Carry(from, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.lists[from]; h != nil {
		t.of(to).list = h.list.clone()
	}
}

// Open gives the text that carries a session's unfinished items over a
// compression, or "" when there are none. See [List.Open].
func (t *Toolset) Open(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.lists[session]; h != nil {
		return h.list.Open()
	}
	return ""
}
