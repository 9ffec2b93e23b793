package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/text"
)

// The methods of a model. delta is one of the plugin.
const (
	methodStream = "model/stream"
	requestDelta = "model/delta"
	maxPiece     = 1 << 20 // bytes of one delta
)

// streamCall are the params of model/stream, and streamDone its result.
type streamCall struct {
	Call        string         `json:"call"`
	Model       string         `json:"model"`
	System      string         `json:"system,omitempty"`
	Messages    []modelMessage `json:"messages"`
	Tools       []modelTool    `json:"tools,omitempty"`
	WordsOnly   bool           `json:"words_only,omitempty"` // no calls, please
	MaxTokens   int            `json:"max_tokens,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Effort      string         `json:"effort,omitempty"`
	Session     string         `json:"session,omitempty"` // a stable id, for a cache
}

type modelMessage struct {
	Role   string       `json:"role"`
	Text   string       `json:"text,omitempty"`
	Images []modelImage `json:"images,omitempty"`
	Calls  []fitTool    `json:"calls,omitempty"`
	CallID string       `json:"call_id,omitempty"`
	Name   string       `json:"name,omitempty"`
	Failed bool         `json:"failed,omitempty"`
}

type modelImage struct {
	URL       string `json:"url,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
}

type modelTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

type streamDone struct {
	Stop  string      `json:"stop"` // end, calls, length or filter
	Usage *modelUsage `json:"usage,omitempty"`
}

type modelUsage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Reasoning  int64 `json:"reasoning"`
}

// deltaCall are the params of model/delta. One of text, thinking and tool_call is set.
type deltaCall struct {
	Call     string     `json:"call"`
	Text     string     `json:"text"`
	Thinking string     `json:"thinking"`
	ToolCall *deltaTool `json:"tool_call"`
}

type deltaTool struct {
	Index     int    `json:"index"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ModelFailure is an error that a plugin answers with. Code is that of its answer; one from 400 to
// 599 means what it means as a status of HTTP.
type ModelFailure struct {
	Plugin string
	Code   int
	Text   string
}

// StatusCode is the code of the plugin's answer.
func (e *ModelFailure) StatusCode() int { return e.Code }

func (e *ModelFailure) Error() string { return fmt.Sprintf("the plugin %s says: %s", e.Plugin, e.Text) }

// deltas is an answer of a model that arrives.
type deltas struct {
	pieces      chan arrived
	outstanding int // pieces without an answer
}

type arrived struct {
	deltaCall
	request *jsonrpc.Request
}

// HasModels returns why a plugin does not answer as a model, nil if it does.
func (s *Plugins) HasModels(plugin string) error {
	_, err := s.answering(plugin)
	return err
}

func (s *Plugins) answering(plugin string) (*Plugin, error) {
	for _, p := range s.list {
		if p.Name() == plugin && p.manifest.has(KindModel) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no plugin %q that is a model is enabled; `hermes plugins list` shows them", text.VisibleName(plugin))
}

// Answer asks a model of a plugin and yields its answer until it ends. If yield fails or ctx ends,
// the plugin is told, and Answer returns that error. A plugin that says nothing for as long as its
// manifest lets a call take is an error, too. It does not change the request.
func (s *Plugins) Answer(ctx context.Context, plugin, model string, r *hermes.Request, yield func(hermes.Delta) error) error {
	p, err := s.answering(plugin)
	if err != nil {
		return err
	}
	c, err := p.connection(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id, over := p.calls.begin(ctx, nil)
	pieces := p.calls.expect(id)
	defer func() {
		over()
		for len(pieces) > 0 { // no more come
			one := <-pieces
			go func() { _ = one.request.Reply(nil, refused("the call is over")) }() // ends with the connection
		}
	}()
	var done streamDone
	ended := make(chan error, 1)
	go func() { ended <- c.rpc.Call(ctx, methodStream, streamOf(id, model, r), &done) }() // ends with ctx
	silence := time.NewTimer(p.manifest.callTime())
	defer silence.Stop()
	for {
		select {
		case one := <-pieces:
			if err := p.pass(one, yield); err != nil {
				stop(err)
				<-ended
				p.cancel(c, id)
				return err
			}
			silence.Reset(p.manifest.callTime())
		case err := <-ended:
			for err == nil && len(pieces) > 0 { // what came before the end was received before it
				err = p.pass(<-pieces, yield)
			}
			if err != nil {
				return p.failure(ctx, c, id, err)
			}
			return finish(done, yield)
		case <-silence.C:
			stop(errLate)
		}
	}
}

// failure words why an answer did not come to its end.
func (p *Plugin) failure(ctx context.Context, c *conn, id string, err error) error {
	switch refused, said := errors.AsType[*jsonrpc.Error](err); {
	case said:
		p.answered(c, false)
		return &ModelFailure{p.Name(), refused.Code, text.Cut(text.Plain(refused.Message), 4000)}
	case ctx.Err() != nil:
		p.cancel(c, id)
		if errors.Is(context.Cause(ctx), errLate) {
			p.answered(c, true)
			return fmt.Errorf("the plugin %s said nothing for %v: %w", p.Name(), p.manifest.callTime(), errLate)
		}
		return context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrEnded):
		return fmt.Errorf("the plugin %s: %w (%s)", p.Name(), errLost, text.OneLine(text.Plain(c.rpc.Err().Error()), 300))
	}
	return err
}

// finish yields how an answer ended.
func finish(done streamDone, yield func(hermes.Delta) error) error {
	reasons := map[string]hermes.Finish{"end": hermes.FinishStop, "calls": hermes.FinishCalls, "length": hermes.FinishLength, "filter": hermes.FinishFilter}
	reason, known := reasons[done.Stop]
	if !known {
		return fmt.Errorf("the answer ended with stop %q, which is not end, calls, length or filter", text.OneLine(text.Plain(done.Stop), 40))
	}
	if u := done.Usage; u != nil {
		usage := &hermes.Usage{Input: max(u.Input, 0), Output: max(u.Output, 0), CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0), Reasoning: max(u.Reasoning, 0), Calls: 1}
		if err := yield(hermes.Delta{Usage: usage}); err != nil {
			return err
		}
	}
	return yield(hermes.Delta{Finish: reason})
}

// pass yields a piece, and answers it: the plugin then sends the next.
func (p *Plugin) pass(one arrived, yield func(hermes.Delta) error) error {
	var err error
	if one.Thinking != "" {
		err = yield(hermes.Delta{Reasoning: one.Thinking})
	}
	if err == nil && one.Text != "" {
		err = yield(hermes.Delta{Text: one.Text})
	}
	if t := one.ToolCall; err == nil && t != nil {
		err = yield(hermes.Delta{Call: &hermes.CallDelta{Index: t.Index, ID: t.ID, Name: t.Name, Arguments: t.Arguments}})
	}
	p.calls.mu.Lock()
	if running := p.calls.running[one.Call]; running != nil && running.deltas != nil {
		running.deltas.outstanding--
	}
	p.calls.mu.Unlock()
	go func() { _ = one.request.Reply(struct{}{}, nil) }() // ends with the connection: the plugin may not read
	return err
}

// expect takes the deltas of a call until it is over.
func (c *calls) expect(id string) <-chan arrived {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &deltas{pieces: make(chan arrived, mostOutstanding)}
	c.running[id].deltas = d
	return d.pieces
}

// delta takes a piece of an answer. It reports false if the request is none of those that are paced
// by their answers.
func (p *Plugin) delta(r *jsonrpc.Request) (taken bool) {
	var in deltaCall
	if err := json.Unmarshal(r.Params, &in); err != nil || len(r.Params) > maxPiece || in.ToolCall != nil && (in.ToolCall.Index < 0 || in.ToolCall.Index > 1000) {
		_ = r.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("a delta is a text, a thinking or a tool_call, %s at most", text.Size(maxPiece))})
		return false
	}
	p.calls.mu.Lock()
	one := p.calls.running[in.Call]
	why := ""
	switch {
	case one == nil || one.deltas == nil || one.over:
		why = "no model answers under this call"
	case one.deltas.outstanding >= mostOutstanding:
		why = "wait for the answer before the next delta"
	default:
		one.deltas.outstanding++
		one.deltas.pieces <- arrived{in, r} // it has room for all that are outstanding
	}
	p.calls.mu.Unlock()
	if why != "" {
		_ = r.Reply(nil, refused("%s", why))
	}
	return why == ""
}

// streamOf is a request as a plugin gets it.
func streamOf(id, model string, r *hermes.Request) streamCall {
	out := streamCall{
		Call: id, Model: model, System: r.System, Messages: make([]modelMessage, len(r.Messages)), WordsOnly: r.WordsOnly,
		MaxTokens: r.MaxTokens, Temperature: r.Temperature, Effort: string(r.Effort), Session: r.Session,
	}
	for i, m := range r.Messages {
		to := modelMessage{Role: string(m.Role), Text: m.Text(), CallID: m.CallID, Name: m.ToolName, Failed: m.Failed}
		for _, p := range m.Parts {
			if p.Image != nil {
				to.Images = append(to.Images, modelImage{p.Image.URL, p.Image.MediaType, p.Image.Data})
			}
		}
		for _, c := range m.Calls {
			to.Calls = append(to.Calls, fitTool{c.ID, c.Name, c.Arguments})
		}
		out.Messages[i] = to
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, modelTool{t.Name, t.Description, t.Schema})
	}
	return out
}
