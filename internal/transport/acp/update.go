package acp

import (
	"encoding/json"
	"strings"
	"unicode"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/transport/base"
)

// answer turns the program's updates into deltas.
type answer struct {
	yield   base.Yield
	program string
}

// update passes one update of the session on. Unknown kinds are ignored, as the
// protocol asks.
func (a *answer) update(params json.RawMessage, session string) error {
	var u struct {
		Session string `json:"sessionId"`
		Update  struct {
			Kind    string          `json:"sessionUpdate"`
			Content json.RawMessage `json:"content"` // a list in updates of tools
			Title   string          `json:"title"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &u) != nil || u.Session != session {
		return nil
	}
	var content block
	_ = json.Unmarshal(u.Update.Content, &content) // of other kinds there is nothing to show
	switch u.Update.Kind {
	case "agent_message_chunk":
		if content.Text != "" {
			return a.yield(hermes.Delta{Text: content.Text})
		}
	case "agent_thought_chunk":
		if content.Text != "" {
			return a.yield(hermes.Delta{Reasoning: content.Text})
		}
	case "tool_call":
		return a.notice("uses a tool of its own: " + oneLine(u.Update.Title))
	}
	return nil
}

func (a *answer) notice(text string) error {
	return a.yield(hermes.Delta{Notice: a.program + " " + text})
}

// usage is what a program says about tokens. Not all do.
type usage struct {
	Total      base.Count `json:"totalTokens"`
	Input      base.Count `json:"inputTokens"`
	Output     base.Count `json:"outputTokens"`
	Thinking   base.Count `json:"thoughtTokens"`
	CacheRead  base.Count `json:"cachedReadTokens"`
	CacheWrite base.Count `json:"cachedWriteTokens"`
}

// UnmarshalJSON reads what is readable: counts must not fail an answer that is
// there. The meter estimates what is missing.
func (u *usage) UnmarshalJSON(raw []byte) error {
	type plain usage
	_ = json.Unmarshal(raw, (*plain)(u))
	return nil
}

// tokens counts thinking as output. The total shows whether the program counts it
// apart.
func (u usage) tokens() hermes.Usage {
	if u.Thinking >= base.Absurd { // it must not spoil the output, which is billed
		u.Thinking = 0
	}
	if u.Total >= base.Absurd {
		u.Total = 0
	}
	if u.Thinking > u.Output || u.Thinking > 0 && u.Total >= u.Input+u.Output+u.CacheRead+u.CacheWrite+u.Thinking {
		u.Output += u.Thinking
	}
	return hermes.Usage{
		Input: int64(u.Input), Output: int64(u.Output), Reasoning: int64(u.Thinking), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Calls: 1,
	}
}

// finish ends the answer.
func (a *answer) finish(reason string, u *usage) error {
	if u != nil {
		tokens := u.tokens()
		if err := a.yield(hermes.Delta{Usage: &tokens}); err != nil {
			return err
		}
	}
	switch reason {
	case "end_turn":
		return a.yield(hermes.Delta{Finish: hermes.FinishStop})
	case "max_tokens":
		return a.yield(hermes.Delta{Finish: hermes.FinishLength})
	case "max_turn_requests":
		if err := a.notice("stopped at its own limit of steps"); err != nil {
			return err
		}
		return a.yield(hermes.Delta{Finish: hermes.FinishStop})
	case "refusal":
		return a.yield(hermes.Delta{Finish: hermes.FinishFilter})
	case "cancelled":
		return failure(0, "the program cancelled its answer")
	}
	return nil
}

// permission refuses what the program wants to do with its own tools: once, never
// for good, since the program would remember that.
func (c *conn) permission(r *jsonrpc.Request, cancelled bool) error {
	var p struct {
		Session string `json:"sessionId"`
		Call    struct {
			Title string `json:"title"`
		} `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	_ = json.Unmarshal(r.Params, &p) // without options it is cancelled
	outcome := map[string]any{"outcome": "cancelled"}
	for _, o := range p.Options {
		if o.Kind == "reject_once" && o.ID != "" && !cancelled {
			outcome = map[string]any{"outcome": "selected", "optionId": o.ID}
			break
		}
	}
	_ = r.Reply(map[string]any{"outcome": outcome}, nil) // the call sees the end
	if cancelled || c.answer == nil {
		return nil
	}
	return c.answer.notice("was refused a tool of its own: " + oneLine(p.Call.Title))
}

// maxWords bounds a text of the program in a notice or an error, in bytes.
const maxWords = 200

// oneLine puts a text on one line without control characters.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "…"
	}
	return text
}
