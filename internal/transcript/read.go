package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hermes"
)

// Format names the program that wrote a file.
type Format string

// The formats that can be read.
const (
	Claude Format = "claude"
	Codex  Format = "codex"
)

// Bounds of a file.
const (
	maxLine     = 64 << 20
	maxMessages = 200_000
)

// Read is the content of a file.
type Read struct {
	Session  hermes.Session // without an id: the caller assigns one
	Origin   string         // the id in the other program
	Messages []hermes.Message
	Skipped  int // lines that could not be read
}

// ErrEmpty means that a file has no conversation.
var ErrEmpty = errors.New("the file has no conversation in this format")

// File reads a file. An empty format is detected from the first lines.
func File(r io.Reader, f Format) (Read, error) {
	b := builder{format: f}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		b.line(lines.Bytes())
		if len(b.out.Messages) > maxMessages {
			return Read{}, fmt.Errorf("the file has more than %d messages", maxMessages)
		}
	}
	if err := lines.Err(); err != nil {
		return Read{}, fmt.Errorf("read the file: %w", err)
	}
	if len(b.out.Messages) == 0 {
		return Read{}, ErrEmpty
	}
	b.finish()
	return b.out, nil
}

// builder builds the messages line by line.
type builder struct {
	format Format
	out    Read
	turn   int64
	calls  map[string]string // names of open calls by id
}

func (b *builder) line(raw []byte) {
	if len(strings.TrimSpace(string(raw))) == 0 {
		return
	}
	var head struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(raw, &head) != nil {
		b.out.Skipped++
		return
	}
	if b.format == "" {
		switch {
		case len(head.Payload) > 0:
			b.format = Codex
		case len(head.Message) > 0 || head.Type == "summary":
			b.format = Claude
		}
	}
	ok := false
	switch b.format {
	case Claude:
		ok = b.claude(raw)
	case Codex:
		ok = b.codex(raw)
	}
	if !ok {
		b.out.Skipped++
	}
}

// say appends a message. Consecutive texts of one role are joined, so that roles
// alternate.
func (b *builder) say(role hermes.Role, text string, at time.Time) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if role == hermes.RoleUser {
		b.turn++
	}
	if n := len(b.out.Messages); n > 0 {
		last := &b.out.Messages[n-1]
		if last.Role == role && len(last.Calls) == 0 && len(last.Parts) > 0 {
			last.Parts[0].Text += "\n\n" + text
			return
		}
	}
	b.add(hermes.Message{Role: role, Parts: []hermes.Part{{Text: text}}, Time: at})
}

// call adds a call to the last assistant message, or starts a new one.
func (b *builder) call(id, name, arguments string, at time.Time) {
	if id == "" || name == "" {
		return
	}
	if !json.Valid([]byte(arguments)) || !strings.HasPrefix(strings.TrimSpace(arguments), "{") {
		wrapped, _ := json.Marshal(map[string]string{"input": arguments}) // a string can always be marshalled
		arguments = string(wrapped)
	}
	if b.calls == nil {
		b.calls = map[string]string{}
	}
	b.calls[id] = name
	c := hermes.ToolCall{ID: id, Name: name, Arguments: arguments}
	if n := len(b.out.Messages); n > 0 && b.out.Messages[n-1].Role == hermes.RoleAssistant {
		b.out.Messages[n-1].Calls = append(b.out.Messages[n-1].Calls, c)
		return
	}
	b.add(hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{c}, Time: at})
}

// result adds the result of an open call and drops others.
func (b *builder) result(id, text string, failed bool, at time.Time) {
	name, ok := b.calls[id]
	if !ok {
		return
	}
	delete(b.calls, id)
	b.add(hermes.Message{Role: hermes.RoleTool, CallID: id, ToolName: name, Failed: failed, Parts: []hermes.Part{{Text: text}}, Time: at})
}

func (b *builder) add(m hermes.Message) {
	m.Turn = max(b.turn, 1)
	b.out.Messages = append(b.out.Messages, m)
	if b.out.Session.Started.IsZero() {
		b.out.Session.Started = m.Time
	}
}

// finish adds results to calls that have none, after the message of each, so
// that the conversation can be continued.
func (b *builder) finish() {
	var out, open []hermes.Message
	for i, m := range b.out.Messages {
		out = append(out, m)
		if len(m.Calls) > 0 {
			open = unanswered(m, b.out.Messages[i+1:])
		}
		if i+1 == len(b.out.Messages) || b.out.Messages[i+1].Role != hermes.RoleTool {
			out = append(out, open...)
			open = nil
		}
	}
	b.out.Messages = dropStray(out)
}

// unanswered returns results for the calls of m that have none right after it.
func unanswered(m hermes.Message, after []hermes.Message) []hermes.Message {
	answered := map[string]bool{}
	for _, later := range after {
		if later.Role != hermes.RoleTool {
			break
		}
		answered[later.CallID] = true
	}
	var out []hermes.Message
	for _, c := range m.Calls {
		if !answered[c.ID] {
			out = append(out, hermes.Message{
				Role: hermes.RoleTool, CallID: c.ID, ToolName: c.Name, Turn: m.Turn, Time: m.Time, Failed: true,
				Parts: []hermes.Part{{Text: "the file has no result of this call"}},
			})
		}
	}
	return out
}

// dropStray drops results that do not follow their call.
func dropStray(list []hermes.Message) []hermes.Message {
	open, seen := map[string]bool{}, map[string]bool{}
	var out []hermes.Message
	for _, m := range list {
		if m.Role == hermes.RoleTool {
			if !open[m.CallID] || seen[m.CallID] {
				continue
			}
			seen[m.CallID] = true
		} else {
			open = map[string]bool{}
			for _, c := range m.Calls {
				open[c.ID] = true
			}
		}
		out = append(out, m)
	}
	return out
}
