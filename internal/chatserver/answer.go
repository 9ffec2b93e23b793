package chatserver

// Answer is what the model says.
type Answer struct {
	// Reasoning is sent as reasoning_content, before the text.
	Reasoning string
	Text      string
	Calls     []Call
	// Finish is the finish reason; empty means tool_calls if there are calls, else stop.
	Finish string
}

func (a Answer) finish() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// usage is the count of tokens as the protocol writes it.
type usage struct {
	Prompt        int           `json:"prompt_tokens"`
	Completion    int           `json:"completion_tokens"`
	Total         int           `json:"total_tokens"`
	PromptDetails promptDetails `json:"prompt_tokens_details"`
	OutputDetails outputDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
}

type outputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

// Services that cache prompts do so from this length on, in blocks.
const (
	cacheFrom  = 1024
	cacheBlock = 128
)

// count estimates usage at four bytes per token. The part before the last assistant message was
// sent in the previous request, so it counts as cached. The server needs no memory for that.
func count(r *Request, a Answer) usage {
	prompt := tokens(len(r.Body))
	reasoning := tokens(len(a.Reasoning))
	completion := reasoning + tokens(len(a.Text))
	for _, c := range a.Calls {
		completion += tokens(len(c.Function.Name) + len(c.Function.Arguments))
	}
	return usage{
		Prompt:        prompt,
		Completion:    completion,
		Total:         prompt + completion,
		PromptDetails: promptDetails{Cached: cached(r, prompt)},
		OutputDetails: outputDetails{Reasoning: reasoning},
	}
}

func cached(r *Request, prompt int) int {
	fresh, asked := 0, false
	for i := len(r.Messages) - 1; i >= 0 && !asked; i-- {
		m := r.Messages[i]
		fresh += tokens(len(m.Content))
		for _, c := range m.Calls {
			fresh += tokens(len(c.Function.Name) + len(c.Function.Arguments))
		}
		asked = m.Role == "assistant"
	}
	old := prompt - fresh
	if !asked || old < cacheFrom {
		return 0
	}
	return old - old%cacheBlock
}

func tokens(bytes int) int { return (bytes + 3) / 4 }
