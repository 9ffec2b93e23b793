package chat

import (
	"encoding/json"
	"errors"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// close yields the end of the answer, and decides whether it is complete.
func (a *answer) close(err error) error {
	if a.finish != "" && !isFailure(err) {
		err = nil // the answer is complete; how the connection ended does not matter
	}
	if err == nil && !a.ended && a.finish == "" {
		err = fault.ErrCut
		if a.events == 0 {
			err = fault.ErrEmpty
		}
	}
	if err == nil {
		if stop := a.lastWords(); stop != nil {
			return stop
		}
		err = a.calls.check()
	}
	if err == nil && !a.yieldAll(a.endings()) {
		return base.ErrStopped
	}
	switch {
	case a.cached && (a.usage == nil || *a.usage.tokens() == (hermes.Usage{Calls: 1})):
		if !a.yield(hermes.Delta{Usage: &hermes.Usage{}}) {
			return base.ErrStopped
		}
	case a.usage != nil:
		cost := a.usage.cost()
		if !a.yield(hermes.Delta{Usage: a.usage.tokens()}) || cost != nil && !a.yield(hermes.Delta{Cost: cost}) {
			return base.ErrStopped
		}
	}
	if err != nil {
		return err
	}
	if !a.yield(hermes.Delta{Finish: a.why()}) {
		return base.ErrStopped
	}
	return nil
}

func isFailure(err error) bool {
	_, ok := errors.AsType[*fault.Failure](err)
	return ok
}

func (a *answer) endings() []hermes.Delta {
	ds := a.calls.endings()
	for _, b := range a.think.blocks(a.replay) {
		ds = append(ds, hermes.Delta{Block: &b})
	}
	return ds
}

func (a *answer) yieldAll(ds []hermes.Delta) bool {
	for _, d := range ds {
		if !a.yield(d) {
			return false
		}
	}
	return true
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
