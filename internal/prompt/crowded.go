package prompt

import (
	"fmt"

	"hermes"
	"hermes/internal/tokens"
)

// Crowded returns a warning if the prompt and its tools leave too little of a small window,
// in tokens, for the conversation, else "". 0 is an unknown window.
func (p Prompt) Crowded(specs []hermes.Spec, window int) string {
	system, tools := tokens.Text(p.Text()), 0
	for _, s := range specs {
		tools += tokens.Texts(s.Name, s.Description, string(s.Schema)) + 15 // the JSON around it
	}
	if window <= 0 || system+tools <= window/2 {
		return ""
	}
	return fmt.Sprintf("the prompt (about %d tokens) and the %d tools (about %d) fill more than half of the model's window of %d; use fewer tools with --toolsets or agent.disabled_toolsets",
		system, len(specs), tools, window)
}
