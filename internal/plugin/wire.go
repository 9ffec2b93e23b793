package plugin

import "encoding/json"

// Protocol is the version of the protocol that this program speaks.
const Protocol = 1

// The methods that plugins answer, and the notifications that they get.
const (
	methodInitialize = "initialize"
	methodTools      = "tools/list"
	methodCall       = "tools/call"
	methodHooks      = "hooks/list"
	methodHook       = "hooks/call"
	methodSections   = "prompt/sections"
	methodShutdown   = "shutdown"
	noticeCancel     = "$/cancel"
)

// The methods of the program, and the notifications of plugins.
const (
	methodInvoke   = "host/invoke"
	methodAsk      = "host/ask"
	methodComplete = "host/complete"
	noticeProgress = "$/progress"
)

// initialize is the first request.
type initialize struct {
	Protocol int        `json:"protocol"`
	Hermes   program    `json:"hermes"`
	Host     []string   `json:"host"` // the methods that the plugin may call
	Limits   wireLimits `json:"limits"`
}

type program struct {
	Version string `json:"version"`
}

type wireLimits struct {
	Message  int `json:"message_bytes"`
	Requests int `json:"requests"`
}

type initialized struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version"`
}

// wireSession says for which session something is done.
type wireSession struct {
	ID       string `json:"id"`
	Platform string `json:"platform,omitempty"`
	Dir      string `json:"dir,omitempty"`
	Depth    int    `json:"depth,omitempty"`
	Attended bool   `json:"attended,omitempty"`
}

// toolCall are the params of tools/call.
type toolCall struct {
	Call      string          `json:"call"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Session   wireSession     `json:"session"`
}

type toolResult struct {
	Text   string      `json:"text"`
	Failed bool        `json:"failed,omitempty"`
	Shown  string      `json:"shown,omitempty"`
	Images []wireImage `json:"images,omitempty"`
}

type wireImage struct {
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// hookCall are the params of hooks/call. Which members there are depends on the event.
type hookCall struct {
	Call    string      `json:"call"`
	Event   string      `json:"event"`
	Session wireSession `json:"session"`
	Tool    *hookTool   `json:"tool,omitempty"`
	Result  *hookResult `json:"result,omitempty"`
	Text    string      `json:"text,omitempty"` // of a message, a task or a report
}

type hookTool struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type hookResult struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// verdict is the result of hooks/call.
type verdict struct {
	// Action is block, approve, modify, or "" to go on.
	Action    string          `json:"action,omitempty"`
	Message   string          `json:"message,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Context   string          `json:"context,omitempty"`
}

// invoke are the params of host/invoke.
type invoke struct {
	Call      string          `json:"call"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ask are the params of host/ask.
type ask struct {
	Call     string   `json:"call"`
	Text     string   `json:"text"`
	Choices  []string `json:"choices"`
	Multiple bool     `json:"multiple"`
}

type asked struct {
	Texts     []string `json:"texts"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Dismissed bool     `json:"dismissed,omitempty"`
}

// complete are the params of host/complete.
type complete struct {
	Call      string `json:"call"`
	System    string `json:"system"`
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"`
}

type completed struct {
	Model string `json:"model"`
	Text  string `json:"text"`
}

// progress are the params of $/progress.
type progress struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// cancel are the params of $/cancel.
type cancel struct {
	Call string `json:"call"`
}
