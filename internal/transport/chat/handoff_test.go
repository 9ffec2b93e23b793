package chat_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"hermes/hermestest/modelsuite"
)

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "chat", refuse)
}

// refuse says what the strictest services would not take.
func refuse(body []byte) error {
	var b struct {
		Messages []struct {
			Role      string
			Content   any
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, m := range b.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %v", i, open)
		}
		if (m.Content == nil || m.Content == "") && len(m.ToolCalls) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || open[c.ID] || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d: call %+v", i, c)
			}
			open[c.ID] = true
		}
		if m.Role != "tool" {
			continue
		}
		if !open[m.CallID] {
			return fmt.Errorf("message %d answers no call: %q", i, m.CallID)
		}
		delete(open, m.CallID)
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for %v", open)
	}
	return nil
}
