// Package checkpoint is the hook that makes a snapshot of the workspace before a call changes
// files, once a turn, and keeps account of what the agent wrote, so that a restore can tell it
// from what the user wrote.
//
// It never refuses a call: a snapshot that cannot be made is logged. Only files of this
// machine are covered. internal/checkpoint keeps the snapshots. Start at New; target.go says
// which files a call may change.
package checkpoint

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/lru"
)

const (
	// timeout bounds the work before and after a call. The first snapshot of a big folder takes
	// seconds.
	timeout = 2 * time.Minute
	// maxRefused bounds the folders that are remembered as refused.
	maxRefused = 256
)

// Config configures the hook.
type Config struct {
	Store *checkpoint.Store
	Home  string       // the user's own folder; "" is unknown
	Log   *slog.Logger // nil discards
}

// New makes the hook. One serves all sessions.
func New(c Config) hermes.Hook {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &hook{Config: c, begun: map[string][]*checkpoint.Writing{}, refused: lru.New[string, bool](maxRefused)}
	return hermes.Hook{Name: "checkpoint", Timeout: timeout, BeforeRun: h.before, AfterTool: h.after}
}

type hook struct {
	Config

	mu      sync.Mutex
	begun   map[string][]*checkpoint.Writing // by call
	refused *lru.Map[string, bool]           // folders, by turn
}

// before makes a snapshot of each folder in which a call may change files.
func (h *hook) before(ctx context.Context, c *hermes.Call) error {
	s := c.Host.Session()
	for _, t := range h.targetsOf(c) {
		key := s.ID + " " + strconv.FormatInt(s.Turn, 10) + " " + t.root
		if h.isRefused(key) {
			continue
		}
		w, err := h.begin(ctx, c.Name, s, t)
		if err != nil {
			h.Log.Warn("make a checkpoint", "folder", t.root, "error", err)
			if errors.Is(err, checkpoint.ErrRefused) {
				h.refuse(key)
			}
			continue
		}
		h.mu.Lock()
		h.begun[s.ID+" "+c.ID] = append(h.begun[s.ID+" "+c.ID], w)
		h.mu.Unlock()
	}
	return nil
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

func (h *hook) begin(ctx context.Context, tool string, s hermes.SessionRef, t target) (*checkpoint.Writing, error) {
	meta := checkpoint.Meta{Session: s.ID, Turn: strconv.FormatInt(s.Turn, 10), Reason: "before " + tool + t.about}
	if _, _, err := h.Store.Snapshot(ctx, t.root, meta, checkpoint.SnapshotOptions{Include: t.paths}); err != nil {
		return nil, err
	}
	return h.Store.Begin(ctx, t.root, tool, t.paths)
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
		}
	}
}
