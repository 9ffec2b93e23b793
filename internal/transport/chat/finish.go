package chat

import (
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// Close yields the end of the answer, and decides whether it is complete.
func (a *answer) Close(err error) error {
	err = base.Close(err, a.finish != "" || a.ended && err == nil, a.events > 0)
	if err == nil {
		if stop := a.lastWords(); stop != nil {
			return stop
		}
		err = a.calls.check()
	}
	if err == nil {
		for _, d := range a.endings() {
			if stop := a.yield(d); stop != nil {
				return stop
			}
		}
	}
	if stop := a.spent(); stop != nil {
		return stop
	}
	if err != nil {
		return err
	}
	return a.yield(hermes.Delta{Finish: a.why()})
}

// spent yields what the answer used. One from the cache of a router may use nothing,
// not even a call.
func (a *answer) spent() error {
	switch {
	case a.cached && (a.usage == nil || *a.usage.tokens() == (hermes.Usage{Calls: 1})):
		return a.yield.Spent(&hermes.Usage{}, nil)
	case a.usage != nil:
		return a.yield.Spent(a.usage.tokens(), a.usage.cost())
	}
	return nil
}

func (a *answer) endings() []hermes.Delta {
	ds := a.calls.endings()
	for _, b := range a.think.blocks(a.replay) {
		ds = append(ds, hermes.Delta{Block: &b})
	}
	return ds
}

func (a *answer) why() hermes.Finish {
	switch {
	case a.finish == hermes.FinishLength || a.finish == hermes.FinishFilter:
		return a.finish
	case a.calls.any():
		return hermes.FinishCalls
	case a.refusal:
		return hermes.FinishFilter
	}
	return hermes.FinishStop
}

// finishOf reads a finish reason. Some of them are failures.
func finishOf(c *choice) (hermes.Finish, error) {
	switch strings.ToLower(c.FinishReason) {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return hermes.FinishLength, nil
	case "content_filter", "safety", "refusal", "sensitive":
		return hermes.FinishFilter, nil
	case "tool_calls", "function_call", "tool_use":
		return hermes.FinishCalls, nil
	case "error", "network_error", "insufficient_system_resource", "abort":
		body := c.Error
		if len(body) == 0 {
			body = json.RawMessage(`{"error":{"type":"server_error","message":"the service stopped the answer: ` + strings.ToLower(c.FinishReason) + `"}}`)
		}
		return "", &fault.Failure{Status: 200, Body: body}
	}
	return hermes.FinishStop, nil
}
