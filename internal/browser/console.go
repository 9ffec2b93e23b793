package browser

import (
	"cmp"
	"encoding/json"
	"strings"
	"sync"

	"hermes/internal/cdp"
)

// Bounds of what a page says.
const (
	maxMessages = 200
	maxMessage  = 1000 // runes
)

// Message is what a page wrote to its console, or an error of its scripts.
type Message struct {
	Level string // log, info, warning, error, debug; exception for one that was not caught
	Text  string
	URL   string // of the script
	Line  int    // from 1; 0: unknown
}

// console keeps the last messages of a page.
type console struct {
	mu      sync.Mutex
	kept    []Message
	dropped int
}

func (c *console) add(e cdp.Event) {
	m, ok := readMessage(e)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxMessages {
		c.kept = append(c.kept[:0], c.kept[1:]...)
		c.dropped++
	}
	c.kept = append(c.kept, m)
}

func readMessage(e cdp.Event) (Message, bool) {
	switch e.Method {
	case "Runtime.consoleAPICalled":
		var v struct {
			Type string
			Args []struct {
				Type, Description, UnserializableValue string
				Value                                  json.RawMessage
			}
			StackTrace struct {
				CallFrames []struct {
					URL        string
					LineNumber int
				}
			}
		}
		if json.Unmarshal(e.Params, &v) != nil {
			return Message{}, false
		}
		var parts []string
		for _, a := range v.Args {
			var s string
			switch {
			case json.Unmarshal(a.Value, &s) == nil && a.Type == "string":
			case len(a.Value) > 0:
				s = string(a.Value)
			default:
				s = cmp.Or(a.Description, a.UnserializableValue, a.Type)
			}
			parts = append(parts, s)
		}
		m := Message{Level: v.Type, Text: clean(strings.Join(parts, " "), maxMessage)}
		if f := v.StackTrace.CallFrames; len(f) > 0 {
			m.URL, m.Line = clean(f[0].URL, maxURL), f[0].LineNumber+1
		}
		return m, true
	case "Runtime.exceptionThrown":
		var v struct {
			Details exception `json:"exceptionDetails"`
		}
		if json.Unmarshal(e.Params, &v) != nil {
			return Message{}, false
		}
		return Message{"exception", v.Details.text(), clean(v.Details.URL, maxURL), v.Details.Line + 1}, true
	default: // Log.entryAdded
		var v struct {
			Entry struct {
				Level, Text, URL string
				LineNumber       int
			}
		}
		if json.Unmarshal(e.Params, &v) != nil {
			return Message{}, false
		}
		return Message{v.Entry.Level, clean(v.Entry.Text, maxMessage), clean(v.Entry.URL, maxURL), v.Entry.LineNumber}, true
	}
}

// Console returns the last messages of the page, and how many older ones were dropped. With
// forget, they are not returned again.
func (p *Page) Console(forget bool) (messages []Message, dropped int) {
	c := &p.console
	c.mu.Lock()
	defer c.mu.Unlock()
	messages, dropped = append([]Message(nil), c.kept...), c.dropped
	if forget {
		c.kept, c.dropped = nil, 0
	}
	return messages, dropped
}
