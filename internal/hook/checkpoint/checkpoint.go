// Package checkpoint is the hook that makes a snapshot of the workspace before a call changes
// files, once a turn, and keeps account of what the agent wrote, so that a restore can tell it
// from what the user wrote.
//
// It never refuses a call: a snapshot that cannot be made is logged. The user is told, once for a
// session and folder, which folder has no snapshots and which changed files are in none. Snapshots of
// a session that works elsewhere are kept there. internal/checkpoint keeps the snapshots. Start at
// New; target.go says which files a call may change, stores.go where its snapshots are kept.
package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/lru"
	"hermes/internal/text"
)

const (
	// timeout bounds the work before and after a call. The first snapshot of a big folder takes
	// seconds.
	timeout = 2 * time.Minute
	// maxRefused bounds the folders that are remembered as refused, and what users were told.
	maxRefused = 256
	// maxNamed bounds the files that a notice names.
	maxNamed = 5
)

// Config configures the hook.
type Config struct {
	Stores *Stores
	// Prune removes old snapshots of such a place when that is due. Those of this machine are
	// pruned without the hook.
	Prune bool
	Log   *slog.Logger // nil discards
}

// New makes the hook. One serves all sessions.
func New(c Config) hermes.Hook {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &hook{
		Config: c, begun: map[string][]*checkpoint.Writing{}, refused: lru.New[string, bool](maxRefused), told: lru.New[string, bool](maxRefused),
	}
	return hermes.Hook{Name: "checkpoint", Timeout: timeout, BeforeRun: h.before, AfterTool: h.after}
}

type hook struct {
	Config

	mu      sync.Mutex
	begun   map[string][]*checkpoint.Writing // by call
	refused *lru.Map[string, bool]           // folders, by turn
	told    *lru.Map[string, bool]           // what was told, by session and folder
}

// before makes a snapshot of each folder in which a call may change files.
func (h *hook) before(ctx context.Context, c *hermes.Call) error {
	s := c.Host.Session()
	targets, err := h.Stores.targetsOf(ctx, c)
	if err != nil {
		h.Log.Warn("make a checkpoint", "tool", c.Name, "error", err)
		h.tellOf(c, "", err)
		return nil
	}
	for _, t := range targets {
		key := s.ID + " " + strconv.FormatInt(s.Turn, 10) + " " + t.root
		if h.isRefused(key) {
			continue
		}
		w, err := h.begin(ctx, c, s, t)
		if err != nil {
			h.Log.Warn("make a checkpoint", "folder", t.root, "error", err)
			if errors.Is(err, checkpoint.ErrRefused) {
				h.refuse(key)
			}
			h.tellOf(c, t.root, err)
			continue
		}
		h.mu.Lock()
		h.begun[s.ID+" "+c.ID] = append(h.begun[s.ID+" "+c.ID], w)
		h.mu.Unlock()
	}
	return nil
}

// tellOf tells why a folder has no snapshots, or no folder of a place.
func (h *hook) tellOf(c *hermes.Call, root string, err error) {
	id := c.Host.Session().ID
	switch {
	case errors.Is(err, checkpoint.ErrUnable):
		h.tell(c, id+" unable", fmt.Sprintf("What this session changes cannot be rolled back: %v. Calls run as usual.", err))
	case root != "":
		h.tell(c, id+" none "+root, fmt.Sprintf("Changes in %s cannot be rolled back: %v.", text.VisibleName(root), err))
	}
}

func (h *hook) isRefused(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	refused, _ := h.refused.Get(key)
	return refused
}

// refuse remembers a folder that is too much, so that it is not read before each call.
func (h *hook) refuse(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused.Put(key, true)
}

func (h *hook) begin(ctx context.Context, c *hermes.Call, s hermes.SessionRef, t target) (*checkpoint.Writing, error) {
	meta := checkpoint.Meta{Session: s.ID, Turn: strconv.FormatInt(s.Turn, 10), Reason: "before " + c.Name + t.about}
	if is, ok := c.Host.(hermes.TurnHost); ok && is.Answers() != 0 {
		meta.Turn += "." + strconv.FormatInt(is.Answers(), 10) // after an undo, the number of the turn comes again
		at, err := json.Marshal(checkpoint.Position{Message: is.Answers()})
		if err != nil {
			return nil, err
		}
		meta.At = at
	}
	if h.Prune && t.store != h.Stores.Here { // before, since it removes contents that no change needs yet
		if _, err := t.store.PruneIfDue(ctx); err != nil {
			h.Log.Warn("prune checkpoints", "error", err)
		}
	}
	return t.store.Prepare(ctx, t.root, meta, c.Name, t.paths)
}

// after notes what a call made of the files. It does so too when the call was interrupted.
func (h *hook) after(ctx context.Context, c *hermes.Call, _ *hermes.Result) {
	key := c.Host.Session().ID + " " + c.ID
	h.mu.Lock()
	begun := h.begun[key]
	delete(h.begun, key)
	h.mu.Unlock()
	for _, w := range begun {
		if err := w.Done(context.WithoutCancel(ctx)); err != nil {
			h.Log.Warn("note what the agent wrote", "tool", c.Name, "error", err)
			continue
		}
		if missed := w.Missed(); len(missed) > 0 {
			h.tell(c, c.Host.Session().ID+" missed "+w.Folder(), missedNotice(w.Folder(), missed))
		}
	}
}

// missedNotice says which files were changed and are in no snapshot.
func missedNotice(folder string, missed []checkpoint.Kept) string {
	var names []string
	for _, k := range missed[:min(len(missed), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", text.VisibleName(k.Path), k.Why))
	}
	if more := len(missed) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("Changed in %s, but in no checkpoint, so that they cannot be rolled back: %s.", text.VisibleName(folder), strings.Join(names, ", "))
}

// tell shows the user a notice, once for each key.
func (h *hook) tell(c *hermes.Call, key, notice string) {
	h.mu.Lock()
	_, told := h.told.Get(key)
	h.told.Put(key, true)
	h.mu.Unlock()
	if n, ok := c.Host.(hermes.Notifier); ok && !told {
		n.Notify(hermes.Notice{Level: hermes.NoticeWarning, Text: notice})
	}
}
