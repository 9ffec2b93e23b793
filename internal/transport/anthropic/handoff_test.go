package anthropic_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hermes/hermestest/modelsuite"
)

var callID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "anthropic", refuse)
}

// refuse says what the service would not take.
func refuse(body []byte) error {
	var b struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, Text, ID, Name, Signature, Data string
				Input                                 map[string]any
				ToolUseID                             string `json:"tool_use_id"`
			}
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	var open []string
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return fmt.Errorf("turn %d is of %q, with %d blocks", i, m.Role, len(m.Content))
		}
		var calls, results []string
		for j, c := range m.Content {
			switch c.Type {
			case "text":
				if strings.TrimSpace(c.Text) == "" {
					return fmt.Errorf("turn %d: empty text", i)
				}
			case "thinking", "redacted_thinking":
				if c.Signature+c.Data == "" {
					return fmt.Errorf("turn %d: unsigned thinking", i)
				}
			case "tool_use":
				if !callID.MatchString(c.ID) || c.Name == "" || c.Input == nil {
					return fmt.Errorf("turn %d: call %+v", i, c)
				}
				calls = append(calls, c.ID)
			case "tool_result":
				if len(results) != j {
					return fmt.Errorf("turn %d: a result comes late", i)
				}
				results = append(results, c.ToolUseID)
			}
		}
		if strings.Join(open, ",") != strings.Join(results, ",") {
			return fmt.Errorf("turn %d: the calls %q got the results %q", i, open, results)
		}
		open = calls
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for %q", open)
	}
	return nil
}
