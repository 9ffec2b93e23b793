package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/order"
)

const (
	minCalls   = 2     // calls that make a turn a task worth a replay
	maxEarlier = 3     // earlier messages of the user that are included
	maxSaid    = 1_500 // characters of one of them
	maxResult  = 8_000 // characters of a recorded result
	maxText    = 4_000 // characters of the task and of its answer
)

// Recording is a task from a transcript: what the user asked, the calls with
// their results, and the answer. A replay does not change it; it may be used
// concurrently.
type Recording struct {
	Session string
	Turn    int64
	Model   string // the reference of the conversation's model
	Task    string
	// Earlier are messages of the user before the task.
	Earlier []string
	End     string
	Specs   []hermes.Spec // of the tools that were used

	calls   []recorded
	touched []string // files that calls of the turn changed
	writers []string // the tools of these calls
}

// recorded is a call with its result.
type recorded struct {
	key     string
	text    string
	failed  bool
	changes bool
}

// Source is what a recording is made from.
type Source struct {
	Session    string
	Model      string
	Transcript []hermes.Message
	// Turn is used if it holds a task; otherwise the turn with most calls.
	Turn int64
	// Not is a turn to skip, such as the one that wrote the draft.
	Not int64
	// Specs are the tools of the session. A tool without a spec accepts any
	// arguments.
	Specs []hermes.Spec
	// Changes reports whether a call may change something; nil means that every
	// call may.
	Changes func(c hermes.ToolCall) bool
	// Omit lists tools that are not part of a task, such as those for skills.
	Omit []string
}

// Record finds the task in a transcript. It returns false if there is none: no
// turn with calls that ended with an answer.
func Record(s Source) (r Recording, ok bool) {
	if s.Changes == nil {
		s.Changes = func(hermes.ToolCall) bool { return true }
	}
	turn := s.choose()
	if turn == 0 {
		return Recording{}, false
	}
	r = Recording{Session: s.Session, Turn: turn, Model: s.Model}
	results := map[string]hermes.Message{}
	for _, m := range s.Transcript {
		if m.Role == hermes.RoleTool && m.Turn <= turn {
			results[m.CallID+"\x00"+m.ToolName] = m
		}
	}
	used := map[string]bool{}
	for _, m := range s.Transcript {
		if m.Turn > turn {
			break
		}
		r.addText(m)
		for _, c := range m.Calls {
			result, answered := results[c.ID+"\x00"+c.Name]
			ran := c.Forwarded()
			if !answered || slices.Contains(s.Omit, ran.Name) {
				continue
			}
			used[c.Name] = true
			r.addCall(s, m.Turn, ran, result)
		}
	}
	r.Specs = offered(used, s.Specs)
	return r, true
}

// addText adds what the user asked and how the turn ended.
func (r *Recording) addText(m hermes.Message) {
	text := strings.TrimSpace(m.Visible())
	switch {
	case text == "":
	case m.Role == hermes.RoleUser && !m.Synthetic && m.Turn == r.Turn:
		r.Task = strings.TrimSpace(r.Task + "\n\n" + cut(text, maxText))
	case m.Role == hermes.RoleUser && !m.Synthetic:
		r.Earlier = append(r.Earlier, cut(text, maxSaid))
		r.Earlier = r.Earlier[max(0, len(r.Earlier)-maxEarlier):]
	case m.Role == hermes.RoleAssistant && m.Turn == r.Turn:
		r.End = cut(text, maxText)
	}
}

func (r *Recording) addCall(s Source, turn int64, c hermes.ToolCall, m hermes.Message) {
	changes := s.Changes(c) && !m.Failed
	r.calls = append(r.calls, recorded{key: key(c), text: cut(m.Text(), maxResult), failed: m.Failed, changes: changes})
	if p := target(c); changes && p != "" && turn == r.Turn && !slices.Contains(r.touched, p) {
		r.touched, r.writers = append(r.touched, p), append(r.writers, c.Name)
	}
}

// choose returns the turn to replay, 0 if there is none.
func (s Source) choose() int64 {
	var best, most int64
	for turn, n := range s.tasks() {
		switch {
		case turn == s.Turn:
			return turn
		case n > most || n == most && turn > best:
			best, most = turn, n
		}
	}
	return best
}

// tasks returns the turns that hold a task, with the number of their calls.
func (s Source) tasks() map[int64]int64 {
	type turn struct {
		calls        int64
		asked, ended bool
	}
	turns := map[int64]*turn{}
	for _, m := range s.Transcript {
		t := turns[m.Turn]
		if t == nil {
			t = &turn{}
			turns[m.Turn] = t
		}
		words := strings.TrimSpace(m.Visible()) != "" && !m.Synthetic
		t.asked = t.asked || m.Role == hermes.RoleUser && words
		t.ended = m.Role == hermes.RoleAssistant && len(m.Calls) == 0 && words && !agent.Interrupted(m)
		for _, c := range m.Calls {
			if !slices.Contains(s.Omit, c.Forwarded().Name) {
				t.calls++
			}
		}
	}
	out := map[int64]int64{}
	for n, t := range turns {
		if t.asked && t.ended && t.calls >= minCalls && n != s.Not {
			out[n] = t.calls
		}
	}
	return out
}

// offered returns the specs of the used tools, sorted by name.
func offered(used map[string]bool, specs []hermes.Spec) []hermes.Spec {
	var out []hermes.Spec
	for name := range used {
		at := slices.IndexFunc(specs, func(s hermes.Spec) bool { return s.Name == name })
		spec := hermes.Spec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}
		if at >= 0 {
			spec.Description, spec.Schema = specs[at].Description, specs[at].Schema
		}
		out = append(out, spec)
	}
	order.By(out, func(a, b hermes.Spec) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// key identifies a call by its tool and canonical arguments: sorted by name,
// with trimmed texts and without empty values.
func key(c hermes.ToolCall) string {
	var v any
	d := json.NewDecoder(strings.NewReader(c.Arguments))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return c.Name + "\x00" + strings.TrimSpace(c.Arguments)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // sorts by name
	e.SetEscapeHTML(false)
	if e.Encode(plain(v)) != nil {
		return c.Name + "\x00" + strings.TrimSpace(c.Arguments)
	}
	return c.Name + "\x00" + b.String()
}

func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k, inner := range v {
			if v[k] = plain(inner); empty(v[k]) {
				delete(v, k)
			}
		}
	}
	return v
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// target returns the file that a call names, or "".
func target(c hermes.ToolCall) string {
	var in struct {
		Path string `json:"path"`
		File string `json:"file_path"`
	}
	if json.Unmarshal([]byte(c.Arguments), &in) != nil {
		return ""
	}
	if in.Path == "" {
		return strings.TrimSpace(in.File)
	}
	return strings.TrimSpace(in.Path)
}

func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n*3/4]) + "\n…\n" + string(runes[len(runes)-n/4:])
}
