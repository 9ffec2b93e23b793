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

// shown is what a server reports about a model.
type shown struct {
	limit     int // the model's own context limit; 0 is unknown
	set       int // num_ctx of the model's file; 0 is not set
	abilities []string
}

// can reports whether the model has an ability. Old servers report none; then
// nothing is known.
func (s *shown) can(ability string) bool { return s != nil && slices.Contains(s.abilities, ability) }

// mostContext bounds the context that is requested by default: it costs memory,
// and some models claim millions of tokens.
const mostContext = 262_144

// context returns the num_ctx to send: the user's setting, else the one of the
// model's file, else the model's limit. 0 leaves it to the server.
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

// show asks the server about the model, once. After a failure this request goes
// without the answer, and the next one tries again.
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
		return nil // the request itself will show what is wrong
	}
	defer x.Close()
	const most = 32 << 20 // some servers send the model's whole vocabulary
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
			s.set, _ = strconv.Atoi(words[1]) // anything but a number counts as not set
		}
	}
	return s
}
