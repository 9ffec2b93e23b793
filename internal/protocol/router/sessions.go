package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// stateTime limits how long other processes are asked what their sessions do.
const stateTime = 300 * time.Millisecond

// Sessions lists stored sessions, last active first, and which of them run where. With Live it
// lists those that run, in any process. What the sessions of other processes do is known if
// these answer at once.
func (c *Client) Sessions(ctx context.Context, f protocol.Filter) ([]protocol.SessionInfo, error) {
	here := f
	if f.Live { // a page of all, not of those here
		here.Limit, here.Offset = -1, 0
	}
	list, err := c.cfg.Local.Sessions(ctx, here)
	if err != nil {
		return nil, err
	}
	if f.ID != "" && len(list) == 1 && list[0].Running != nil && list[0].Running.Here {
		return list, nil // the leases say nothing more
	}
	others, err := c.others(ctx)
	if err != nil || len(others) == 0 {
		return list, err
	}
	if f.Live {
		if list, err = c.addLive(ctx, list, others, f); err != nil {
			return nil, err
		}
	}
	byOwner := map[hermes.Owner][]*protocol.SessionInfo{}
	for i := range list {
		s := &list[i]
		if l, ok := others[s.ID]; ok && s.Running == nil {
			s.Running = &protocol.Running{Owner: l.Owner, Address: l.Address}
			if l.Address != "" {
				to := hermes.Owner{Name: l.Owner, Address: l.Address}
				byOwner[to] = append(byOwner[to], s)
			}
		}
	}
	c.addStates(ctx, byOwner)
	return list, nil
}

// addLive adds the sessions that other processes run.
func (c *Client) addLive(ctx context.Context, list []protocol.SessionInfo, others map[string]hermes.Lease, f protocol.Filter) ([]protocol.SessionInfo, error) {
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	for id := range others {
		row, err := store.FindSession(ctx, id)
		switch {
		case errors.Is(err, hermes.ErrNotFound):
			continue // just deleted
		case err != nil:
			return nil, err
		}
		list = append(list, protocol.InfoOf(row))
	}
	return f.Of(list), nil
}

// addStates asks other processes what their sessions do, all at once.
func (c *Client) addStates(ctx context.Context, byOwner map[hermes.Owner][]*protocol.SessionInfo) {
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	var asked sync.WaitGroup
	for to, sessions := range byOwner {
		asked.Go(func() {
			for _, live := range c.ask(ctx, to) {
				i := slices.IndexFunc(sessions, func(s *protocol.SessionInfo) bool { return s.ID == live.ID })
				if i < 0 || live.Running == nil {
					continue
				}
				s := sessions[i]
				*s = live
				s.Running = new(*live.Running)
				s.Running.Owner, s.Running.Address, s.Running.Here = to.Name, to.Address, false
			}
		})
	}
	asked.Wait()
}

// ask returns the sessions that an owner runs; none if it does not say so.
func (c *Client) ask(ctx context.Context, to hermes.Owner) []protocol.SessionInfo {
	r, err := c.connect(ctx, to, hermes.From{})
	if err != nil {
		return nil
	}
	list, err := r.Sessions(ctx, protocol.Filter{Live: true, Archived: true, Limit: -1})
	if err != nil {
		return nil
	}
	return list
}
