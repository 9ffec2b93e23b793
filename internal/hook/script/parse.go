package script

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Bounds of the configuration.
const (
	defaultTimeout = 60 * time.Second
	endTimeout     = 5 * time.Second
	maxTimeout     = 300 * time.Second
	maxEntries     = 200
)

// outboundKey is the key of the webhooks below hooks.
const outboundKey = "outbound"

// Parse reads a section hooks. source names its file to the user. What is wrong is a problem and never
// runs; a hook that must be able to refuse is kept and refuses.
func Parse(section map[string]any, source string) ([]Entry, []Webhook, []Problem) {
	p := &parser{source: source}
	for _, name := range slices.Sorted(maps.Keys(section)) {
		if name == outboundKey {
			p.outbound(section[name])
			continue
		}
		p.event(name, section[name])
	}
	return p.entries, p.webhooks, p.problems
}

// parser collects what it reads.
type parser struct {
	source   string
	entries  []Entry
	webhooks []Webhook
	problems []Problem
}

func (p *parser) add(key, format string, args ...any) {
	p.problems = append(p.problems, Problem{Key: key, Text: fmt.Sprintf(format, args...), Served: "the hook does not run"})
}

func (p *parser) ignored(key, format string, args ...any) {
	p.problems = append(p.problems, Problem{Key: key, Text: fmt.Sprintf(format, args...), Served: "it has no effect"})
}

// event reads the hooks of an event, in either form.
func (p *parser) event(name string, value any) {
	key := "hooks." + name
	e, known := eventOf(name)
	if !known {
		names := make([]string, len(events))
		for i, e := range events {
			names[i] = e.name
		}
		near := ""
		if n := nearest(name, names); n != "" {
			near = "; did you mean " + n + "?"
		}
		p.add(key, "is not a known event%s", near)
		p.refuse(name, key, "is not a known event"+near, value)
		return
	}
	if e.waits != "" {
		p.problems = append(p.problems, Problem{Key: key, Text: "waits for " + e.waits, Served: "the hooks below it do not run yet", Waits: true})
	}
	list, ok := value.([]any)
	if !ok {
		p.add(key, "is not a list of hooks")
		p.refuse(name, key, "is not a list of hooks", value)
		return
	}
	for i, v := range list {
		p.row(e, fmt.Sprintf("%s.%d", key, i), v)
	}
}

// guards reports whether a part of the configuration has a hook that must be able to refuse.
func guards(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, guards)
	case map[string]any:
		if on := v["fail_closed"]; on != nil && on != false && on != "false" {
			return true
		}
		return guards(v["hooks"])
	}
	return false
}

// refuse adds a guard that refuses every call if a part of the configuration that cannot be read has one: it
// is not known what it was to refuse.
func (p *parser) refuse(event, key, why string, value any) {
	if !guards(value) {
		return
	}
	before, _ := eventOf("pre_tool_call")
	p.entries = append(p.entries, Entry{Key: key, Source: p.source, Event: event, Timeout: defaultTimeout, FailClosed: true, Fault: key + " " + why, event: before})
}

// row reads one row of an event: a hook, or in the form of Claude Code a matcher with its hooks.
func (p *parser) row(e event, key string, value any) {
	row, ok := value.(map[string]any)
	if !ok {
		p.add(key, "is not a hook: write matcher and command")
		return
	}
	inner, nested := row["hooks"]
	if !nested {
		p.hook(e, key, row, row["matcher"], false)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if name != "hooks" && name != "matcher" && name != "fail_closed" && name != "if" {
			p.ignored(key+"."+name, "is not a known key")
		}
	}
	list, ok := inner.([]any)
	if !ok {
		p.add(key+".hooks", "is not a list of hooks")
		p.refuse(e.name, key, "has no list of hooks", value)
		return
	}
	for i, v := range list {
		at := fmt.Sprintf("%s.hooks.%d", key, i)
		if m, ok := v.(map[string]any); ok {
			if on, set := row["fail_closed"]; set && m["fail_closed"] == nil { // it holds for all below
				m = maps.Clone(m)
				m["fail_closed"] = on
			}
			if only, set := row["if"]; set && m["if"] == nil {
				m = maps.Clone(m)
				m["if"] = only
			} else if set {
				p.ignored(key+".if", "does not hold for a hook with a rule of its own")
			}
			p.hook(e, at, m, row["matcher"], true)
		} else {
			p.add(at, "is not a hook: write type and command")
		}
	}
}

// harmlessKeys are known to Claude Code and change nothing here.
var harmlessKeys = []string{"statusMessage", "async", "once", "shell", "allowedEnvVars", "model", "prompt"}

// hook reads one hook.
func (p *parser) hook(e event, key string, m map[string]any, matcher any, nested bool) {
	if len(p.entries) >= maxEntries {
		p.add(key, "is one of more than %d hooks", maxEntries)
		p.refuse(e.name, key, "is one of too many hooks", m)
		return
	}
	r := &reader{p: p, key: key, m: m, seen: []string{"matcher"}}
	h := Entry{Key: key, Source: p.source, Event: e.name, event: e}
	h.FailClosed = r.bool("fail_closed") || guards(m) // also if its value is wrong
	if h.FailClosed && e.at != beforeTool && e.at != beforeAsk {
		p.ignored(key+".fail_closed", "is for pre_tool_call, PreToolUse and PermissionRequest only")
		h.FailClosed = false
	}
	h.Untrusted = r.bool("untrusted")
	usual := defaultTimeout
	if e.at == sessionEnd { // the user waits for the program to end
		usual = endTimeout
	}
	if r.m["type"] == "prompt" {
		usual = promptTimeout
	}
	h.Timeout = r.seconds("timeout", usual, time.Millisecond, maxTimeout)
	h.matcher(r, matcher)
	h.condition(r)
	switch kind := cmp.Or(r.text("type"), "command"); kind {
	case "command":
		h.Command = Command{Line: strings.TrimSpace(r.text("command")), Words: !e.claude && !nested, Read: r.texts("read"), Write: []string{"."}}
		if _, set := m["write"]; set {
			h.Command.Write = r.texts("write")
		}
		r.command(&h)
	case "http":
		h.Request = r.request()
	case "prompt":
		r.prompt(&h)
	case "agent":
		r.fault("type", `"agent" waits for children that hooks can start: use prompt or command`)
	default:
		r.fault("type", "%q is not a kind of hook that is supported: use command, http or prompt", kind)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch {
		case slices.Contains(r.seen, name):
		case slices.Contains(harmlessKeys, name):
			p.ignored(key+"."+name, "has no meaning here")
		default:
			p.ignored(key+"."+name, "is not a known key")
		}
	}
	h.Fault = r.broken
	if e.waits == "" && (h.Fault == "" || h.FailClosed) {
		p.entries = append(p.entries, h)
	}
}

// matcher reads what a hook is about. A wrong one of a hook that must be able to refuse is about
// everything.
func (h *Entry) matcher(r *reader, value any) {
	if value == nil {
		return
	}
	text, ok := value.(string)
	switch text = strings.TrimSpace(text); {
	case !ok:
		r.fault("matcher", "is not a text")
		return
	case text == "" || text == "*":
		return
	case h.event.about == "":
		r.p.ignored(r.key+".matcher", "means nothing for %s, which is about no tool", h.Event)
		return
	}
	h.Matcher = text
	match, err := regexp.Compile("^(?:" + text + ")$")
	if err != nil {
		r.fault("matcher", "is not a pattern that is understood (%v)", err)
		return
	}
	h.match = match
}

// condition reads which calls a hook is about. Without it, the hook would run for others than meant.
func (h *Entry) condition(r *reader) {
	if r.value("if") == nil {
		return
	}
	h.If = strings.TrimSpace(r.text("if"))
	switch {
	case h.If == "":
		r.fault("if", "is not a rule of Claude Code, such as Bash(git push *)")
		return
	case !h.event.claude || h.event.about != "tool":
		r.fault("if", "is for PreToolUse and other events of Claude Code about a call; use matcher")
		return
	}
	only, err := parseCondition(h.If)
	if err != nil {
		r.fault("if", "is not understood: %v", err)
		return
	}
	h.only = only
}

// Matches reports whether a hook is about something with this name.
func (h Entry) Matches(name string) bool { return h.match == nil || h.match.MatchString(name) }

// Line is what runs, for the user.
func (h Entry) Line() string {
	switch {
	case h.Prompt.Text != "":
		return h.Prompt.line()
	case h.Command.Line == "" && h.Request.URL == "":
		return h.Key
	}
	return cmp.Or(h.Command.Line, "POST "+h.Request.URL)
}

// short is that in one line of a message.
func (h Entry) short() string { return text.OneLine(h.Line(), 200) }

// reader reads the keys of one hook.
type reader struct {
	p      *parser
	key    string
	m      map[string]any
	seen   []string
	broken string
}

func (r *reader) fault(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.p.add(r.key+"."+name, "%s", text)
	r.broken = cmp.Or(r.broken, name+" "+text)
}

// value returns the value of a key, nil if there is none.
func (r *reader) value(name string) any {
	r.seen = append(r.seen, name)
	return r.m[name]
}

func (r *reader) text(name string) string {
	switch v := r.value(name).(type) {
	case nil:
	case string:
		return v
	default:
		r.fault(name, "is not a text")
	}
	return ""
}

func (r *reader) bool(name string) bool {
	switch v := r.value(name).(type) {
	case nil:
	case bool:
		return v
	default:
		r.fault(name, "is neither true nor false")
	}
	return false
}

func (r *reader) texts(name string) []string {
	switch v := r.value(name).(type) {
	case nil:
	case string:
		return []string{v}
	case []any:
		list := make([]string, 0, len(v))
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				r.fault(name, "is not a list of texts")
				return nil
			}
			list = append(list, text)
		}
		return list
	default:
		r.fault(name, "is not a list of texts")
	}
	return nil
}

// seconds reads a time. One out of its bounds becomes the nearest.
func (r *reader) seconds(name string, usual, least, most time.Duration) time.Duration {
	var s float64
	switch v := r.value(name).(type) {
	case nil:
		return usual
	case int:
		s = float64(v)
	case int64:
		s = float64(v)
	case float64:
		s = v
	default:
		r.p.ignored(r.key+"."+name, "is not a number of seconds")
		return usual
	}
	d := time.Duration(s * float64(time.Second))
	if s <= 0 {
		r.p.ignored(r.key+"."+name, "is not a number of seconds above 0")
		return usual
	}
	if d > most || s > most.Seconds() {
		r.p.problems = append(r.p.problems, Problem{Key: r.key + "." + name, Text: "is longer than a hook may take", Served: text.Plural(int(most.Seconds()), "second is", "seconds are") + " used"})
		return most
	}
	return max(d, least)
}

// command checks the line of a hook.
func (r *reader) command(h *Entry) {
	line := h.Command.Line
	if line == "" {
		if r.broken == "" {
			r.fault("command", "is missing")
		}
		return
	}
	if _, err := read(h.Command); err != nil {
		r.fault("command", "cannot be read as a command line (%v)", err)
	}
}

// request reads an HTTP hook.
func (r *reader) request() Request {
	q := Request{URL: r.text("url"), SecretEnv: r.text("secret_env"), Secret: hermes.Secret(r.text("secret"))}
	if err := webAddress(q.URL); err != nil {
		r.fault("url", "%v", err)
	}
	switch headers := r.value("headers").(type) {
	case nil:
	case map[string]any:
		q.Headers = map[string]string{}
		for name, v := range headers {
			text, ok := v.(string)
			if !ok || strings.ContainsAny(name+text, "\r\n") {
				r.fault("headers", "are not names with texts")
				continue
			}
			q.Headers[name] = text
		}
	default:
		r.fault("headers", "are not names with texts")
	}
	return q
}

// nearest returns the name that is most similar to a word, "" if none is close.
func nearest(word string, names []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, n := range names {
		if d := text.Edits(strings.ToLower(word), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}
