package mcpserver

import (
	"context"
	"fmt"
	"time"
)

func (s *Server) addEvents() {
	add(s, tool{name: "events_poll", title: "Poll events", about: "Return what happened in all conversations after a cursor, without waiting: messages, approvals that are asked, and what became of them."}, s.poll)
	add(s, tool{name: "events_wait", title: "Wait for events", about: "Like events_poll, but wait until something happens or the time is over."}, s.wait)
}

type pollArgs struct {
	After int64 `json:"after_cursor,omitempty" jsonschema:"next_cursor of the last call; without it, all events since the server started"`
	Limit int   `json:"limit,omitempty" jsonschema:"at most this many; 50 by default, 200 at most"`
}

func (s *Server) poll(ctx context.Context, _ caller, in pollArgs) (batch, error) {
	return s.feed.after(ctx, in.After, within(in.Limit, 50, maxResults))
}

type waitArgs struct {
	After   int64 `json:"after_cursor,omitempty" jsonschema:"next_cursor of the last call; without it, all events since the server started"`
	Timeout int   `json:"timeout_ms,omitempty" jsonschema:"how long to wait; 25000 by default, 55000 at most"`
	Limit   int   `json:"limit,omitempty" jsonschema:"at most this many; 50 by default, 200 at most"`
}

// How long a client waits, in milliseconds. Many clients give a call a minute.
const (
	usualWait = 25_000
	maxWait   = 55_000
)

func (s *Server) wait(ctx context.Context, c caller, in waitArgs) (batch, error) {
	select {
	case s.waits <- struct{}{}:
		defer func() { <-s.waits }()
	default:
		return batch{}, fmt.Errorf("%d calls wait already; use events_poll, or try again later", maxWaits)
	}
	late := time.NewTimer(time.Duration(within(in.Timeout, usualWait, maxWait)) * time.Millisecond)
	defer late.Stop()
	pause := time.NewTicker(s.cfg.Poll)
	defer pause.Stop()
	for {
		b, err := s.poll(ctx, c, pollArgs{in.After, in.Limit})
		if err != nil || len(b.Events) > 0 || b.Restarted {
			return b, err
		}
		select {
		case <-pause.C:
		case <-late.C:
			return b, nil
		case <-s.ctx.Done():
			return b, nil
		case <-ctx.Done():
			return b, context.Cause(ctx)
		}
	}
}
