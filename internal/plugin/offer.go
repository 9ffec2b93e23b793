package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/order"
	"hermes/internal/text"
)

const (
	maxTools       = 64
	maxHooks       = 32
	maxSections    = 8
	maxCommands    = 32
	maxSection     = 4_000 // characters
	maxAllSections = 8_000 // characters, of all plugins together
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
)

// Offer is what a plugin brings along, as its program says.
type Offer struct {
	Tools    []Tool    `json:"tools,omitempty"`
	Hooks    []Hook    `json:"hooks,omitempty"`
	Sections []Section `json:"sections,omitempty"`
	// Commands are slash commands.
	Commands []Command `json:"commands,omitempty"`
	// MemoryCommands are for the shell, as `hermes memory PLUGIN NAME`.
	MemoryCommands []Command `json:"memory_commands,omitempty"`
	// Models are those that it says something of; it may answer as others, too.
	Models []Model `json:"models,omitempty"`
}

// Tool is a tool of a plugin.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	// Effect is none if a call only reads, idempotent if it may be repeated, else empty.
	Effect string `json:"effect,omitempty"`
	// Parallel says that calls may run at the same time.
	Parallel bool `json:"parallel,omitempty"`
}

// Hook is an event at which a plugin is called.
type Hook struct {
	Event string `json:"event"`
	// Tools are the names of the tools whose calls matter, as a regular expression for the whole
	// name; "" is every tool.
	Tools string `json:"tools,omitempty"`
	// Guard makes a failure of the plugin a refusal, at events that can refuse.
	Guard bool `json:"guard,omitempty"`
	// Timeout is in seconds; 0 is 30, 600 at most.
	Timeout int `json:"timeout,omitempty"`
}

// Section is a part of the system prompt.
type Section struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Command is a command of a plugin that the user types.
type Command struct {
	Name string `json:"name"`
	// Args says what may follow the name, such as "[--all] WORD"; Help is one line.
	Args string `json:"args,omitempty"`
	Help string `json:"help"`
}

// The events.
const (
	EventBeforeTool   = "pre_tool_call"
	EventAfterTool    = "post_tool_call"
	EventToolResult   = "transform_tool_result"
	EventTurnStart    = "pre_llm_call"
	EventTurnEnd      = "post_llm_call"
	EventSessionStart = "on_session_start"
	EventSessionEnd   = "on_session_end"
	EventChildStart   = "subagent_start"
	EventChildEnd     = "subagent_stop"
)

// events says which events can refuse, and which are about a tool.
var events = map[string]struct{ refuses, tool bool }{
	EventBeforeTool: {true, true}, EventAfterTool: {false, true}, EventToolResult: {false, true},
	EventTurnStart: {true, false}, EventTurnEnd: {}, EventSessionStart: {true, false}, EventSessionEnd: {},
	EventChildStart: {true, false}, EventChildEnd: {},
}

var (
	toolPattern    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	commandPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	sectionPattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)
)

// reservedTools are the beginnings of names that other sources of tools have.
var reservedTools = [...]string{"mcp_", "hermes_"}

// ask asks a plugin that runs what it offers, and checks it.
func (c *conn) ask(ctx context.Context, m Manifest) (o Offer, err error) {
	for _, list := range []struct {
		kind, method string
		into         any
	}{
		{KindTools, methodTools, &struct {
			Tools *[]Tool `json:"tools"`
		}{&o.Tools}},
		{KindHooks, methodHooks, &struct {
			Hooks *[]Hook `json:"hooks"`
		}{&o.Hooks}},
		{KindPrompt, methodSections, &struct {
			Sections *[]Section `json:"sections"`
		}{&o.Sections}},
		{KindCommands, methodCommands, &struct {
			Commands *[]Command `json:"commands"`
		}{&o.Commands}},
	} {
		if !m.has(list.kind) {
			continue
		}
		if err := c.rpc.Call(ctx, list.method, struct{}{}, list.into); err != nil {
			return o, fmt.Errorf("%s: %w", list.method, err)
		}
	}
	if m.has(KindMemory) {
		if o.MemoryCommands, err = c.memoryCommands(ctx); err != nil {
			return o, err
		}
	}
	if m.has(KindModel) {
		if o.Models, err = c.models(ctx); err != nil {
			return o, err
		}
	}
	return o, o.check()
}

// check brings an offer into its one form, or says why it cannot be used.
func (o *Offer) check() error {
	switch {
	case len(o.Tools) > maxTools:
		return fmt.Errorf("it has %d tools, %d at most", len(o.Tools), maxTools)
	case len(o.Hooks) > maxHooks:
		return fmt.Errorf("it has %d hooks, %d at most", len(o.Hooks), maxHooks)
	case len(o.Sections) > maxSections:
		return fmt.Errorf("it has %d sections of the prompt, %d at most", len(o.Sections), maxSections)
	}
	seen := map[string]bool{}
	for i := range o.Tools {
		if err := o.Tools[i].check(); err != nil {
			return err
		}
		if seen[o.Tools[i].Name] {
			return fmt.Errorf("it has two tools %s", o.Tools[i].Name)
		}
		seen[o.Tools[i].Name] = true
	}
	order.By(o.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	for _, h := range o.Hooks {
		if err := h.check(); err != nil {
			return err
		}
	}
	for i := range o.Sections {
		s := &o.Sections[i]
		s.Text = strings.TrimSpace(text.Plain(s.Text))
		if !sectionPattern.MatchString(s.Name) {
			return fmt.Errorf("%q is not the name of a section", text.VisibleName(s.Name))
		}
		if n := utf8.RuneCountInString(s.Text); n > maxSection || n == 0 {
			return fmt.Errorf("the section %s has %d characters; it has 1 to %d", s.Name, n, maxSection)
		}
	}
	if err := checkCommands(o.Commands); err != nil {
		return err
	}
	if err := checkModels(o.Models); err != nil {
		return err
	}
	return checkCommands(o.MemoryCommands)
}

func (t *Tool) check() error {
	if !toolPattern.MatchString(t.Name) {
		return fmt.Errorf("%q is not the name of a tool; take lower-case letters, digits and _, 64 at most", text.VisibleName(t.Name))
	}
	for _, r := range reservedTools {
		if strings.HasPrefix(t.Name, r) {
			return fmt.Errorf("the tool %s begins with %s, which other tools have; it needs another name", t.Name, r)
		}
	}
	if !slices.Contains([]string{"", "none", "idempotent"}, t.Effect) {
		return fmt.Errorf("the effect %q of the tool %s is not none, idempotent or empty", text.VisibleName(t.Effect), t.Name)
	}
	if t.Description = strings.TrimSpace(text.Plain(t.Description)); t.Description == "" || len(t.Description) > maxDescription {
		return fmt.Errorf("the description of the tool %s is empty or larger than %s", t.Name, text.Size(maxDescription))
	}
	if len(t.Schema) > maxSchema {
		return fmt.Errorf("the schema of the tool %s is larger than %s", t.Name, text.Size(maxSchema))
	}
	var schema map[string]any
	if err := json.Unmarshal(t.Schema, &schema); err != nil || schema["type"] != "object" {
		return fmt.Errorf("the schema of the tool %s is not that of an object", t.Name)
	}
	sorted, err := json.Marshal(schema) // a map is written in the order of its keys
	if err != nil {
		return err
	}
	t.Schema = json.RawMessage(text.Plain(string(sorted)))
	return nil
}

func (h Hook) check() error {
	e, ok := events[h.Event]
	switch {
	case !ok:
		return fmt.Errorf("the event %q is not known; there are %s", text.VisibleName(h.Event), strings.Join(slices.Sorted(maps.Keys(events)), ", "))
	case h.Guard && !e.refuses:
		return fmt.Errorf("a hook at %s cannot be a guard, since nothing can be refused there", h.Event)
	case h.Tools != "" && !e.tool:
		return fmt.Errorf("a hook at %s has no tools", h.Event)
	case h.Timeout < 0 || h.Timeout > 600:
		return fmt.Errorf("the timeout of a hook at %s is not between 0 and 600 seconds", h.Event)
	}
	if _, err := h.matcher(); err != nil {
		return fmt.Errorf("the tools of a hook at %s: %w", h.Event, err)
	}
	return nil
}

// checkCommands brings commands into their one form, sorted by name.
func checkCommands(list []Command) error {
	if len(list) > maxCommands {
		return fmt.Errorf("it has %d commands, %d at most", len(list), maxCommands)
	}
	for i := range list {
		c := &list[i]
		c.Args, c.Help = text.OneLine(text.Plain(c.Args), 80), text.OneLine(text.Plain(c.Help), 120)
		if !commandPattern.MatchString(c.Name) {
			return fmt.Errorf("%q is not the name of a command; take lower-case letters, digits and -, 32 at most", text.VisibleName(c.Name))
		}
		if c.Help == "" {
			return fmt.Errorf("the command %s says nothing of what it does; it needs a help", c.Name)
		}
	}
	order.By(list, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list {
		if i > 0 && list[i].Name == list[i-1].Name {
			return fmt.Errorf("it has two commands %s", list[i].Name)
		}
	}
	return nil
}

func (h Hook) matcher() (*regexp.Regexp, error) {
	if len(h.Tools) > 500 {
		return nil, errors.New("the expression is longer than 500 characters")
	}
	if text.VisibleName(h.Tools) != h.Tools {
		return nil, errors.New("the expression has blanks, line breaks or characters that cannot be seen")
	}
	return regexp.Compile(`^(?:` + cmp.Or(h.Tools, ".*") + `)$`)
}

// Same reports whether two offers are the same.
func (o Offer) Same(other Offer) bool {
	a, errA := json.Marshal(o)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}

// Shadows returns why a tool of the offer cannot have its name, "" if all can.
func (o Offer) Shadows(taken func(tool string) bool) string {
	for _, t := range o.Tools {
		if taken != nil && taken(t.Name) {
			return fmt.Sprintf("there is another tool %s already; the plugin has to name its own differently", t.Name)
		}
	}
	return ""
}
