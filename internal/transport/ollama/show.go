package ollama

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// shown is what a server says of a model.
type shown struct {
	limit     int // of the context, by the model's making; 0 is not said
	set       int // num_ctx of the model's file; 0 is not set
	abilities []string
}

// can reports whether the model has an ability. Old servers name none: then
// nothing is known.
func (s *shown) can(ability string) bool { return s != nil && slices.Contains(s.abilities, ability) }

// mostContext bounds what is asked for unasked: the memory a context takes
// grows with it, and some models claim millions.
const mostContext = 262_144

// context is the num_ctx to send: what the person set, else what the model's
// file sets, else the model's limit. 0 leaves it to the server.
func (s *shown) context(window int) int {
	limit := 0
	if s != nil {
		limit = s.limit
	}
	switch {
	case window > 0 && limit > 0:
		return min(window, limit)
	case window > 0:
		return window
	case s == nil:
		return 0
	case s.set > 0:
		return s.set
	}
	return min(limit, mostContext)
}

// showTime is what the server may take to describe a model.
const showTime = 5 * time.Second

// show asks the server about the model, once: a failed attempt is repeated with
// the next request, and this one goes without.
func (m *Model) show(ctx context.Context) *shown {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown == nil {
		m.shown = m.askShow(ctx)
		if n := m.shown.context(m.cfg.Window); m.shown != nil && m.cfg.Learn != nil && n > 0 {
			m.cfg.Learn(n)
		}
	}
	return m.shown
}

func (m *Model) askShow(ctx context.Context) *shown {
	body, err := json.Marshal(map[string]string{"model": m.cfg.Model})
	if err != nil {
		return nil
	}
	req, err := m.post(ctx, "/api/show", body)
	if err != nil {
		return nil
	}
	quick := m.cfg.Config
	quick.Clocks = httpc.Clocks{Whole: showTime}
	x, err := quick.Send(req)
	if err != nil {
		return nil // the request itself will tell what is wrong
	}
	defer x.Close()
	const most = 32 << 20 // some servers send all the words a model knows
	raw, err := io.ReadAll(io.LimitReader(x.Response.Body, most))
	if err != nil {
		return nil
	}
	return readShown(raw)
}

func readShown(raw []byte) *shown {
	var answer struct {
		Parameters string                     `json:"parameters"`
		Info       map[string]json.RawMessage `json:"model_info"`
		Abilities  []string                   `json:"capabilities"`
	}
	if base.Decode(raw, true, &answer) != nil || answer.Info == nil && answer.Abilities == nil {
		return nil
	}
	s := &shown{abilities: answer.Abilities}
	for key, value := range answer.Info {
		if n, err := strconv.Atoi(string(value)); err == nil && n > 0 && strings.HasSuffix(key, ".context_length") {
			s.limit = max(s.limit, n)
		}
	}
	for line := range strings.Lines(answer.Parameters) {
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == "num_ctx" {
			s.set, _ = strconv.Atoi(words[1]) // what is no number is not set
		}
	}
	return s
}
