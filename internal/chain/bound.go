package chain

import (
	"context"
	"iter"

	"hermes"
	"hermes/internal/transport/base"
)

// Bound returns the layer that keeps an answer within the window: it lowers a limit
// that does not fit, and sets one for the user's own servers (own) if the request has
// none. Such a server lets a small model repeat itself until the window is full, or for
// ever. Services have limits of their own. info is what is known of the model now.
func Bound(own bool, info func() hermes.ModelInfo) Layer {
	return func(next hermes.Model) hermes.Model { return &bounding{next, own, info} }
}

type bounding struct {
	hermes.Model
	own  bool
	info func() hermes.ModelInfo
}

func (m *bounding) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) { m.Model.Stream(ctx, m.bound(r))(yield) }
}

func (m *bounding) bound(r *hermes.Request) *hermes.Request {
	if !m.own && r.MaxTokens <= 0 {
		return r
	}
	most := answerRoom(r, m.info())
	if most == 0 || r.MaxTokens > 0 && r.MaxTokens <= most {
		return r
	}
	bounded := *r
	bounded.MaxTokens = most
	return &bounded
}

// answerRoom returns how long an answer may be, in tokens: at most half of the
// window, what the prompt leaves of it, and the model's own limit. It returns 0
// if the window is unknown, or so full that a limit could make the service
// refuse the request.
func answerRoom(r *hermes.Request, info hermes.ModelInfo) int {
	window := info.ContextLength
	if window <= 0 {
		return 0
	}
	const least = 512
	size := base.Estimate(r)
	room := min(window/2, window-size-size/2) // the estimate may be too low
	if room < least {
		return 0
	}
	if info.OutputLimit > 0 {
		room = min(room, info.OutputLimit)
	}
	return room
}
