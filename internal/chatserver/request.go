package chatserver

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxBody bounds a request; the largest context windows stay far below it.
const maxBody = 64 << 20

// Request is the part of a Chat Completions request that an answer can depend on.
type Request struct {
	Model         string          `json:"model"`
	Messages      []Message       `json:"messages"`
	Tools         []Tool          `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	// Body is the request as it arrived.
	Body []byte `json:"-"`
}

// Message is one message of a request.
type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Calls      []Call          `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

// Tool is one offered tool.
type Tool struct {
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"function"`
}

// Call is a tool call, in a request as in an answer.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function names a tool and holds its arguments as JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Text is the message's text: the content itself, or its text parts joined.
func (m Message) Text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

// Offers reports whether the request lets the model call this tool.
func (r *Request) Offers(tool string) bool {
	if string(r.ToolChoice) == `"none"` {
		return false
	}
	for _, t := range r.Tools {
		if t.Function.Name == tool {
			return true
		}
	}
	return false
}

// read decodes and checks a request.
func read(body io.Reader) (*Request, error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("the request body could not be read: %w", err)
	}
	if len(raw) > maxBody {
		return nil, fmt.Errorf("the request body is larger than %d MB", maxBody>>20)
	}
	r := &Request{Body: raw}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("the request body is not a valid JSON request: %w", err)
	}
	return r, r.check()
}

// check refuses what the public services refuse.
func (r *Request) check() error {
	if r.Model == "" {
		return fmt.Errorf("you must provide a model")
	}
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages must not be empty")
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: every tool call of the assistant message before must be answered first (%d open)", i, len(open))
		}
		switch m.Role {
		case "system", "developer", "user":
		case "assistant":
			for _, c := range m.Calls {
				if err := c.check(); err != nil {
					return fmt.Errorf("messages[%d]: %w", i, err)
				}
				open[c.ID] = true
			}
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Errorf("messages[%d]: the tool message answers %q, which no earlier assistant message called", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last assistant message has %d tool calls without an answer", len(open))
	}
	return nil
}

func (c Call) check() error {
	if c.ID == "" || c.Function.Name == "" {
		return fmt.Errorf("a tool call needs an id and a function name")
	}
	if !json.Valid([]byte(c.Function.Arguments)) {
		return fmt.Errorf("the arguments of tool call %q are not valid JSON", c.ID)
	}
	return nil
}
