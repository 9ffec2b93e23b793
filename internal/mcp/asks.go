package mcp

//lint:file-ignore SA1019 servers that speak a version before 2026-07-28 ask for roots, models and logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/order"
	"hermes/internal/text"
)

// Sample is what a server wants to ask a model.
type Sample struct {
	Server  string
	Session hermes.SessionRef
	// Model is a reference that the settings name or allow; "" is the default of side tasks.
	Model     string
	System    string
	Messages  []hermes.Message
	MaxTokens int
}

// Sampled is the answer of the model.
type Sampled struct {
	Model, Text string
}

const (
	maxFields   = 20
	maxQuestion = 2000 // characters
	maxPreset   = 1000 // characters
	maxSample   = 256 << 10
)

// askError is why a question of a server was refused here. The connection is not at fault.
type askError struct{ error }

// options are what the SDK calls when the server says or asks something.
func (o *Server) options() *mcp.ClientOptions {
	c := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: true}},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			signal(o.refresh)
		},
		ProgressNotificationHandler: o.progress,
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			data, _ := json.Marshal(r.Params.Data) // a part is enough for a log
			o.cfg.Log.Debug("MCP server", "server", o.set.Name, "level", string(r.Params.Level), "message", text.OneLine(text.Plain(string(data)), 500))
		},
	}
	if o.set.Times.KeepAlive > 0 {
		c.KeepAlive, c.KeepAliveFailureThreshold = o.set.Times.KeepAlive, 2
	}
	if !o.set.Elicitation.Disabled {
		c.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return asked(o.elicit(ctx, r))
		}
		c.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	}
	if !o.set.Sampling.Disabled && o.cfg.Sample != nil {
		c.CreateMessageHandler = func(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return asked(o.sample(ctx, r))
		}
	}
	return c
}

// asked marks the error of a question.
func asked[T any](answer T, err error) (T, error) {
	if err != nil {
		err = &askError{err}
	}
	return answer, err
}

// rootOf names a folder as a server is told of it.
func rootOf(dir string) *mcp.Root {
	return &mcp.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String(), Name: filepath.Base(dir)}
}

// elicit asks the user each field of a form. Addresses to open are declined.
func (o *Server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	host, ok := o.asker(ctx)
	if !ok || r.Params.Mode == "url" || r.Params.URL != "" {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	if o.set.Elicitation.Timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, o.set.Elicitation.Timeout)
		defer cancel()
	}
	fields, err := fieldsOf(r.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	said := fmt.Sprintf("The MCP server %s asks: %s", o.set.Name, text.Short(text.Visible(text.Plain(r.Params.Message)), maxQuestion))
	if len(fields) == 0 {
		a, err := host.Ask(ctx, hermes.Question{Text: said, Choices: []string{"Yes", "No"}})
		if err != nil || a.TimedOut || a.Dismissed || len(a.Texts) == 0 {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		if a.Texts[0] != "Yes" {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for i, f := range fields {
		q := f.question(said)
		if len(fields) > 1 {
			q.Number, q.Of = i+1, len(fields)
		}
		value, ok, err := f.ask(ctx, host, q)
		if err != nil {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		if ok {
			content[f.name] = value
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// field is a field of a form.
type field struct {
	name, title, kind string
	choices           []string // what the user sees
	values            []any    // what the server gets, for each choice
	multiple          bool
	required          bool
	preset            string // what the server gets without an answer, as the user sees it; "" if nothing
}

// fieldsOf reads the fields of a form, the required ones first.
func fieldsOf(schema any) ([]field, error) {
	if err := flat(schema, maxDepth); err != nil {
		return nil, err
	}
	m, _ := schema.(map[string]any)
	properties, _ := m["properties"].(map[string]any)
	if len(properties) > maxFields {
		return nil, fmt.Errorf("a form of %d fields is too long; ask for %d at most", len(properties), maxFields)
	}
	required, _ := m["required"].([]any)
	var list []field
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, _ := properties[name].(map[string]any)
		f := field{name: name, required: slices.Contains(required, any(name))}
		f.kind, _ = p["type"].(string)
		title, _ := p["title"].(string)
		description, _ := p["description"].(string)
		f.title = text.Short(text.Visible(text.Plain(strings.TrimSpace(strings.Join([]string{orName(title, name), description}, " ")))), maxQuestion)
		if items, ok := p["items"].(map[string]any); ok && f.kind == "array" {
			f.multiple = true
			f.choicesOf(items)
		} else {
			f.choicesOf(p)
		}
		if f.kind == "boolean" {
			f.choices, f.values = []string{"Yes", "No"}, []any{true, false}
		}
		if v, ok := p["default"]; ok && !f.required {
			if f.preset = f.spelled(v); utf8.RuneCountInString(f.preset) > maxPreset {
				return nil, fmt.Errorf("the default of the field %s is too long: the user must see it, and it has more than %d characters", text.OneLine(text.Plain(name), 60), maxPreset)
			}
		}
		list = append(list, f)
	}
	order.By(list, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return list, nil
}

func orName(title, name string) string {
	if title != "" {
		return title
	}
	return name
}

// choicesOf reads the choices of a field: an enum, with or without names, or a list of
// constants with titles.
func (f *field) choicesOf(p map[string]any) {
	values, _ := p["enum"].([]any)
	names, _ := p["enumNames"].([]any)
	for i, v := range values {
		label := fmt.Sprint(v)
		if i < len(names) {
			label = fmt.Sprint(names[i])
		}
		f.choices, f.values = append(f.choices, text.OneLine(text.Plain(label), 200)), append(f.values, v)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := p[key].([]any)
		for _, x := range list {
			one, _ := x.(map[string]any)
			v, ok := one["const"]
			if !ok {
				continue
			}
			title, _ := one["title"].(string)
			f.choices, f.values = append(f.choices, text.OneLine(text.Plain(orName(title, fmt.Sprint(v))), 200)), append(f.values, v)
		}
	}
}

// spelled shows the whole of a value that the server gets: choices by their titles, and as JSON what is a
// list or does not look like what it is.
func (f field) spelled(v any) string {
	titled := func(v any) any {
		if i := slices.IndexFunc(f.values, func(x any) bool { return reflect.DeepEqual(x, v) }); i >= 0 {
			return f.choices[i]
		}
		return v
	}
	if list, ok := v.([]any); ok {
		titles := make([]any, len(list))
		for i, x := range list {
			titles[i] = titled(x)
		}
		v = titles
	} else if v = titled(v); v != any("") {
		if s, ok := v.(string); ok && s == strings.TrimSpace(s) && s == text.VisibleName(s) {
			return s
		}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // not of a value that was read from JSON
		return err.Error()
	}
	return text.Visible(strings.TrimSuffix(b.String(), "\n"))
}

func (f field) question(said string) hermes.Question {
	q := hermes.Question{Text: said + "\n" + f.title, Choices: f.choices, Multiple: f.multiple}
	switch {
	case f.preset != "":
		q.Text += " (without an answer: " + f.preset + ")"
	case !f.required:
		q.Text += " (optional)"
	}
	return q
}

var errDismissed = errors.New("the user gave no answer")

// ask asks the user for a field. It reports false for an optional one without an answer. A
// answer that is no number is asked for once more.
func (f field) ask(ctx context.Context, host hermes.Host, q hermes.Question) (any, bool, error) {
	for range 2 {
		a, err := host.Ask(ctx, q)
		if err != nil {
			return nil, false, err
		}
		if a.TimedOut || a.Dismissed {
			return nil, false, errDismissed
		}
		if len(a.Texts) == 0 || len(f.choices) == 0 && strings.TrimSpace(a.Texts[0]) == "" {
			if f.required {
				return nil, false, errDismissed
			}
			return nil, false, nil
		}
		if v, ok := f.value(a.Texts); ok {
			return v, true, nil
		}
		q.Text += "\nPlease answer with " + map[string]string{"integer": "a whole number.", "number": "a number."}[f.kind]
	}
	return nil, false, errDismissed
}

// value turns an answer into what the server gets.
func (f field) value(texts []string) (any, bool) {
	if len(f.choices) > 0 {
		var picked []any
		for _, t := range texts {
			i := slices.Index(f.choices, t)
			if i < 0 {
				return nil, false
			}
			picked = append(picked, f.values[i])
		}
		if f.multiple {
			return picked, true
		}
		return picked[0], true
	}
	t := strings.TrimSpace(texts[0])
	switch f.kind {
	case "integer":
		n, err := strconv.ParseInt(t, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(t, 64)
		return n, err == nil
	}
	return t, true
}

// sample asks a model for the server, once the user has allowed that.
func (o *Server) sample(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	host, ok := o.asker(ctx)
	if !ok {
		return nil, errors.New("a model may be asked only while one session calls a tool of this server")
	}
	s := Sample{Server: o.set.Name, Session: host.Session(), Model: o.set.Sampling.Model, System: text.Plain(r.Params.SystemPrompt), MaxTokens: o.set.Sampling.MaxTokens}
	if n := r.Params.MaxTokens; n > 0 && n < int64(s.MaxTokens) {
		s.MaxTokens = int(n)
	}
	if p := r.Params.ModelPreferences; p != nil && s.Model == "" {
		for _, h := range p.Hints {
			if h != nil && slices.Contains(o.set.Sampling.Allowed, h.Name) {
				s.Model = h.Name
				break
			}
		}
	}
	size := len(s.System)
	for _, m := range r.Params.Messages {
		if m == nil {
			continue
		}
		c := o.content([]mcp.Content{m.Content})
		size += len(c.Text)
		msg := hermes.UserText(text.Plain(c.Text))
		if m.Role == "assistant" {
			msg.Role = hermes.RoleAssistant
		}
		for i := range c.Images {
			msg.Parts = append(msg.Parts, hermes.Part{Image: &c.Images[i]})
			size += len(c.Images[i].Data) / 16
		}
		s.Messages = append(s.Messages, msg)
	}
	if size > maxSample || len(s.Messages) == 0 {
		return nil, fmt.Errorf("the request is empty or larger than %s", text.Size(maxSample))
	}
	if !o.perMinute() {
		return nil, fmt.Errorf("the server has asked models %d times in a minute; wait", o.set.Sampling.PerMinute)
	}
	a, err := host.Approve(ctx, hermes.ApprovalRequest{
		Tool: ToolsetName(o.set.Name), Subject: fmt.Sprintf("let the MCP server %s ask a model", o.set.Name), Detail: text.Visible(shown(s)),
		Risks: []hermes.Risk{{Key: "mcp-sampling:" + o.set.ID(), Reason: fmt.Sprintf("the MCP server %s sends its own text to a model, at your cost", o.set.Name)}},
	})
	if err != nil {
		return nil, err
	}
	if !a.Allowed() {
		return nil, errors.New("the user did not allow it")
	}
	ctx, cancel := context.WithTimeout(ctx, o.set.Sampling.Timeout)
	defer cancel()
	out, err := o.cfg.Sample(ctx, s)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{Model: out.Model, Role: "assistant", StopReason: "endTurn", Content: &mcp.TextContent{Text: out.Text}}, nil
}

// shown is what the user sees of a request.
func shown(s Sample) string {
	var b strings.Builder
	if s.System != "" {
		fmt.Fprintf(&b, "system: %s\n", s.System)
	}
	for _, m := range s.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text())
		for _, p := range m.Parts {
			if p.Image != nil {
				fmt.Fprintf(&b, "  with a picture of %s\n", text.Size(int64(len(p.Image.Data))))
			}
		}
	}
	fmt.Fprintf(&b, "model: %s, at most %d tokens\n", orName(s.Model, "that of side tasks"), s.MaxTokens)
	return b.String()
}

// perMinute counts a request to a model, and reports whether it may be made.
func (o *Server) perMinute() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.cfg.Now()
	o.sampled = slices.DeleteFunc(o.sampled, func(t time.Time) bool { return now.Sub(t) >= time.Minute || t.After(now) })
	if len(o.sampled) >= o.set.Sampling.PerMinute {
		return false
	}
	o.sampled = append(o.sampled, now)
	return true
}
