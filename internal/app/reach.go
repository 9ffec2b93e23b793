package app

import (
	"context"
	"sync"

	"hermes"
	"hermes/internal/peer"
	"hermes/internal/tool/messaging"
	"hermes/internal/tool/sessions"
)

// UseMessenger makes send_message send with m. It is called before the first session is opened, which
// has the tool if m has a target by then.
func (a *App) UseMessenger(m hermes.Messenger) { a.messenger.Store(&m) }

// newMessaging makes the tool that sends messages to others.
func (a *App) newMessaging() *messaging.Toolset {
	return messaging.New(func() hermes.Messenger {
		if m := a.messenger.Load(); m != nil {
			return *m
		}
		return nil
	})
}

// newSessionTools makes the tools with which sessions ask each other.
func (a *App) newSessionTools() *sessions.Toolset {
	var once sync.Mutex
	var peers *peer.Peers
	return sessions.New(func(ctx context.Context) (sessions.Peers, error) {
		once.Lock()
		defer once.Unlock()
		if peers != nil {
			return peers, nil
		}
		store, err := a.Database(ctx)
		if err != nil {
			return nil, err
		}
		peers = peer.New(peer.Config{Client: a.Client(nil), Store: store, Log: a.log()})
		a.closing(peers.Close)
		return peers, nil
	}, a.opts.Now)
}
