// Package todo is the toolset with the agent's task list: one list per session,
// written and read by the tool todo.
//
// The list is kept in memory, but each result of the tool contains the whole
// list, so the transcript is its storage: [Last] finds it there, and Restore
// loads it after a restart. When a context is compressed, Open returns the text
// that carries the unfinished items over. The package knows no store, and of a
// session only its id. Start reading at list.go, which has the rules of the
// list; this file has the tool.
package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/lru"
)

const (
	name = "todo"
	// alias is another name of the tool, which transcripts may contain.
	alias = "todo_list"
	// maxSessions limits the sessions whose lists are in memory. The one unused
	// for longest is dropped first; Restore loads it again.
	maxSessions = 1024
)

//go:embed todo.md
var doc string

type args struct {
	Todos items `json:"todos,omitempty"`
	Merge bool  `json:"merge,omitempty"`
}

// items also accepts the list as a JSON string, as some models send it.
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
	lists *lru.Map[string, *entry]
}

type entry struct {
	list List
	// Calls of other tools since the list was read or written, and since it was
	// written.
	unseen, sinceUpdate int
}

var _ hermes.Toolset = (*Toolset)(nil)

// New returns the toolset without lists.
func New() *Toolset { return &Toolset{lists: lru.New[string, *entry](maxSessions)} }

// Name is "todo".
func (t *Toolset) Name() string { return name }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the one tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name:        name,
		Description: strings.TrimSpace(doc),
		Effect:      hermes.EffectIdempotent,
		PlansOnly:   true,
		Trusted:     true,
		ResultLimit: -1, // the transcript stores the list
	}, t.run)}, nil
}

func (t *Toolset) run(_ context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.of(c.Host.Session().ID)
	var note string
	passed := h.sinceUpdate
	if in.Todos != nil {
		h.list, note = h.list.write(in.Todos, in.Merge)
		h.sinceUpdate = 0
	}
	r := h.list.report(note)
	r.Passed = passed
	return hermes.JSONResult(r)
}

// of returns the session's list, an empty one if needed. Call it with mu held.
func (t *Toolset) of(session string) *entry {
	return t.lists.Make(session, func() *entry { return &entry{} })
}

// Restore loads a session's list from its transcript, if it is not in memory and
// the transcript has one.
func (t *Toolset) Restore(s hermes.SessionRef, transcript []hermes.Message) {
	session := s.ID
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.lists.Get(session); known {
		return
	}
	if list, ok := Last(transcript); ok {
		h := t.of(session)
		h.list = list
		h.unseen, h.sinceUpdate = passedSince(transcript, list.Revision)
	}
}

// Carry copies the list of a session to the one that continues it, as after
// compaction.
func (t *Toolset) Carry(from, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.lists.Get(from); ok {
		t.of(to).list = h.list.clone()
	}
}

// Open returns the text that carries a session's unfinished items over a
// compression, or "" if there are none. See [List.Open].
func (t *Toolset) Open(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.lists.Get(session); ok {
		return h.list.Open()
	}
	return ""
}
