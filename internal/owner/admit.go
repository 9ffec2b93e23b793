package owner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/localsocket"
	"hermes/internal/protocol/remote"
)

// platforms are what a peer may say that it is, and how others are told.
var platforms = map[string]string{"cli": "terminal", "oneshot": "oneshot", "web": "web page", "acp": "editor", "mcp": "MCP client", "session": "another session"}

// refusal returns why a peer may not reach the sessions, whatever key it shows: an agent started
// it, or that cannot be ruled out.
func (o *Owner) refusal(peer localsocket.Peer, unknown error) error {
	if unknown != nil {
		return fmt.Errorf("cannot tell which process this is (%w), and an agent must not reach the sessions of its user. "+
			"Run it in a terminal on the same system as the session", unknown)
	}
	above := o.cfg.Above(peer.PID)
	switch {
	case above.Agent():
		return fmt.Errorf("refused: only the user may reach running sessions, and this was started by an agent's command (found by %s).\n"+
			"Run it in a terminal that you opened yourself", strings.Join(above.Signs, ", "))
	case above.Err != nil:
		return fmt.Errorf("cannot tell whether an agent started this (%w), and an agent must not reach the sessions of its user. "+
			"Run it in a terminal that you opened yourself", above.Err)
	case !peer.Same():
		return errors.New("the process that connected has ended")
	}
	return nil
}

// admit decides whether a peer may reach the sessions, and what it is taken for.
func (o *Owner) admit(peer localsocket.Peer, refused error) func(context.Context, remote.Hello) (hermes.From, error) {
	return func(ctx context.Context, h remote.Hello) (hermes.From, error) {
		from, err := o.from(ctx, peer, h, refused)
		if err != nil {
			o.cfg.Log.Warn("refused a frontend", "pid", peer.PID, "reason", err)
			return hermes.From{}, err
		}
		o.cfg.Log.Info("a frontend connected", "pid", peer.PID, "name", from.Name)
		return from, nil
	}
}

func (o *Owner) from(ctx context.Context, peer localsocket.Peer, h remote.Hello, refused error) (hermes.From, error) {
	if refused != nil {
		return hermes.From{}, refused
	}
	key, err := localsocket.Key(ctx, o.cfg.Folder)
	if err != nil {
		return hermes.From{}, err
	}
	if !localsocket.SameKey(key, h.Key) {
		return hermes.From{}, fmt.Errorf("%w: it is not that of the home of this session. Attach with `hermes attach`, in the same profile", remote.ErrKey)
	}
	label, known := platforms[h.Platform]
	if !known {
		return hermes.From{}, fmt.Errorf("unknown platform %.40q: a frontend on this machine is one of cli, oneshot, web, acp, mcp and session", h.Platform)
	}
	name := fmt.Sprintf("%s %d", label, peer.PID)
	return hermes.From{Client: name + ", " + h.Own(), Platform: h.Platform, Name: name}, nil
}
