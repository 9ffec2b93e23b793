package provider

import (
	"context"
	"iter"
	"time"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/transport/base"
)

// How long the list of models of the user's own server may take.
const (
	listTime   = 2 * time.Second  // before a call, which waits for it
	besideTime = 10 * time.Second // beside a call
	listLinger = time.Second      // after the end of the first answer
)

// askWindow is the layer that asks a server of the user's own for its list of models,
// once per run, to learn the window. What an earlier run learned is asked again: the
// server may have been started with another window since.
//
// The list is fetched beside the first answer, after its first words. Only Messages,
// which names a limit in each request that overrides the server's own, must know the
// window before.
func (c *Catalogue) askWindow(ch choice, key hermes.Key) chain.Layer {
	switch {
	case !c.ownModel(ch), len(ch.argv) > 0, c.window(ch) > 0:
		return nil
	case key.BaseURL != "" && !sameServer(key.BaseURL, ch.BaseURL):
		return nil // that is the only server that may get this key
	case ch.Protocol == ProtocolAnthropic && base.ClaudeOf(ch.model).Claude:
		return nil
	case ch.Protocol != ProtocolChat && ch.Protocol != ProtocolResponses && ch.Protocol != ProtocolAnthropic:
		return nil
	}
	e := ch.endpoint
	e.key, e.keys = key, nil // the key of this call: the list takes no turn in a pool
	return func(next hermes.Model) hermes.Model {
		return &windowAsker{Model: next, c: c, ch: ch, server: e}
	}
}

type windowAsker struct {
	hermes.Model
	c      *Catalogue
	ch     choice
	server endpoint // with the key of this call
}

// Stream ends at most listLinger later than the answer below, and only once.
func (m *windowAsker) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		m.before(ctx)
		var list *listing
		begun := false
		for d, err := range m.Model.Stream(ctx, r) {
			if err == nil && !begun && chain.HasContent(d) {
				begun, list = true, m.beside(ctx)
			}
			if !yield(d, err) {
				list.end(false)
				return
			}
		}
		list.end(true)
	}
}

// before fetches the list if the protocol needs the window in the first request, and
// nothing is known about it. Errors are ignored: the call itself shows what is wrong.
func (m *windowAsker) before(ctx context.Context) {
	if m.ch.Protocol != ProtocolAnthropic {
		return
	}
	if window, _ := m.c.lengths(m.ch); window > 0 {
		return
	}
	if ok, _ := m.c.learned.MayList(m.ch.BaseURL); !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	_, _ = m.c.list(ctx, m.server)
}

// beside begins to fetch the list; it returns nil if that was done before in this run.
func (m *windowAsker) beside(ctx context.Context) *listing {
	if !m.c.cfg.AskWindows {
		return nil
	}
	ok, again := m.c.learned.MayList(m.ch.BaseURL)
	if !ok {
		return nil
	}
	l := &listing{done: make(chan struct{}), cut: func() { m.c.learned.AskAgain(m.ch.BaseURL) }}
	if !again {
		l.linger = listLinger
	}
	l.ctx, l.cancel = context.WithTimeout(ctx, besideTime)
	go func() {
		defer close(l.done)
		_, _ = m.c.list(l.ctx, m.server) // without a list the window stays as it is known
	}()
	return l
}

// listing is a list of models that is fetched beside an answer. Nil is none.
type listing struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	linger time.Duration
	cut    func() // called if it was ended before the server had answered
}

// end ends the request, after a moment if it may linger. A later answer makes one
// again that was cut; that one no longer lingers.
func (l *listing) end(linger bool) {
	if l == nil {
		return
	}
	if linger && l.linger > 0 {
		timer := time.NewTimer(l.linger)
		defer timer.Stop()
		select {
		case <-l.done:
		case <-timer.C:
		}
	}
	select {
	case <-l.done:
		if l.ctx.Err() == context.Canceled { // the turn was interrupted
			l.cut()
		}
	default:
		l.cut()
	}
	l.cancel()
	<-l.done
}
