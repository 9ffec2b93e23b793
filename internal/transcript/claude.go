package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"hermes"
)

// claudeLine is a line of a Claude Code session file.
type claudeLine struct {
	Type      string    `json:"type"`
	Time      time.Time `json:"timestamp"`
	Dir       string    `json:"cwd"`
	Branch    string    `json:"gitBranch"`
	Session   string    `json:"sessionId"`
	Summary   string    `json:"summary"`
	Sidechain bool      `json:"isSidechain"`
	Meta      bool      `json:"isMeta"`
	Message   struct {
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	CallID  string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"is_error"`
}

func (b *builder) claude(raw []byte) bool {
	var l claudeLine
	if json.Unmarshal(raw, &l) != nil {
		return false
	}
	if l.Summary != "" && b.out.Session.Title == "" {
		b.out.Session.Title = l.Summary
	}
	if l.Type != "user" && l.Type != "assistant" || l.Sidechain || l.Meta {
		return true // other lines do not belong to the conversation
	}
	s := &b.out.Session
	if s.Dir == "" {
		s.Dir, s.Branch = l.Dir, l.Branch
	}
	if b.out.Origin == "" {
		b.out.Origin = l.Session
	}
	role := hermes.RoleUser
	if l.Type == "assistant" {
		role = hermes.RoleAssistant
	}
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		b.say(role, text, l.Time)
		return true
	}
	var blocks []claudeBlock
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return false
	}
	for _, k := range blocks {
		switch k.Type {
		case "text":
			b.say(role, k.Text, l.Time)
		case "tool_use":
			b.call(k.ID, k.Name, string(k.Input), l.Time)
		case "tool_result":
			b.result(k.CallID, plain(k.Content), k.Failed, l.Time)
		}
	}
	return true
}

// plain returns the text of a content that is a string or a list of blocks.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	var texts []string
	for _, k := range blocks {
		if k.Text != "" {
			texts = append(texts, k.Text)
		}
	}
	return strings.Join(texts, "\n")
}
