package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/memory/scan"
	"hermes/internal/text"
)

// The methods of a memory.
const (
	methodBlock          = "memory/block"
	methodRecall         = "memory/recall"
	methodObserve        = "memory/observe"
	methodMemoryCommands = "memory/commands"
	methodMemoryCommand  = "memory/command"
)

const (
	blockTime    = 5 * time.Second
	recallTime   = 10 * time.Second
	observeTime  = 25 * time.Second
	maxBlock     = 4_000  // characters
	maxObserved  = 32_000 // characters, of each side of a turn
	maxWords     = 256    // of a command
	maxWordBytes = 64 << 10
)

// memoryCall are the params of memory/block, memory/recall and memory/observe. Which members there
// are depends on the method.
type memoryCall struct {
	Call    string       `json:"call"`
	Session *wireSession `json:"session,omitempty"`
	Query   string       `json:"query,omitempty"`
	Limit   int          `json:"limit,omitempty"` // characters
	Said    string       `json:"said,omitempty"`
	Answer  string       `json:"answer,omitempty"`
	At      string       `json:"at,omitempty"`
}

// memoryText is the result of memory/block and memory/recall.
type memoryText struct {
	Text string `json:"text"`
}

// memoryCommand are the params of memory/command, and commandDone its result.
type memoryCommand struct {
	Call string   `json:"call"`
	Name string   `json:"name"`
	Args []string `json:"args"`
}

type commandDone struct {
	Text string `json:"text"`
	Code int    `json:"exit_code"`
}

// MemoryUse says how the memory of a plugin is used.
type MemoryUse struct {
	// Chosen is the memory that the user chose. Tools of a plugin with another memory are not
	// offered.
	Chosen string
	// Allowed reports whether a session may use the memory, which knows the owner only; nil allows
	// all.
	Allowed func(s hermes.SessionRef) bool
}

// Memory is a plugin that remembers. Its methods may be called concurrently.
type Memory struct{ plugin *Plugin }

var _ hermes.MemoryProvider = (*Memory)(nil)

// Memories returns the plugins of the kind memory, sorted by name. The user chooses one.
func (s *Plugins) Memories() []*Memory {
	var list []*Memory
	for _, p := range s.list {
		if p.manifest.has(KindMemory) {
			list = append(list, &Memory{p})
		}
	}
	return list
}

// Name is the name of the plugin.
func (m *Memory) Name() string { return m.plugin.Name() }

// Description is that of the manifest.
func (m *Memory) Description() string { return m.plugin.manifest.Description }

// Missing returns why the memory cannot be used, "" if nothing is known against it.
func (m *Memory) Missing() string { return m.plugin.State() }

// Tools returns the tools of the plugin. Sessions get them as the toolset plugin-NAME, if the memory
// is chosen.
func (m *Memory) Tools() []hermes.Tool { return slices.Clone(newToolset(m.plugin).tools) }

// SystemBlock asks the program for its part of the prompt, in 5 seconds at most. It has at most 4,000
// characters, and no lines that look like orders.
func (m *Memory) SystemBlock(ctx context.Context) (string, error) {
	var r memoryText
	err := m.plugin.call(ctx, methodBlock, nil, blockTime, func(id string) any { return memoryCall{Call: id} }, &r)
	if err != nil {
		return "", err
	}
	return harmless(r.Text, maxBlock), nil
}

// Recall asks the program. What it says is untrusted, has at most [hermes.MaxRecall] characters, and
// no lines that look like orders.
func (m *Memory) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	var r memoryText
	err := m.plugin.call(ctx, methodRecall, nil, recallTime, func(id string) any {
		s := session(q.Session)
		return memoryCall{Call: id, Session: &s, Query: text.Cut(q.Text, maxObserved), Limit: hermes.MaxRecall}
	}, &r)
	if err != nil {
		return hermes.Recalled{}, err
	}
	said := harmless(r.Text, hermes.MaxRecall)
	if said == "" {
		return hermes.Recalled{}, nil
	}
	return hermes.Recalled{Text: said, Provenance: hermes.ProvenanceSource("plugin", m.Name())}, nil
}

// Observe hands a turn on.
func (m *Memory) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	return m.plugin.call(ctx, methodObserve, nil, observeTime, func(id string) any {
		s := session(t.Session)
		return memoryCall{
			Call: id, Session: &s, Said: text.Cut(t.Said, maxObserved), Answer: text.Cut(t.Answer, maxObserved), At: t.At.UTC().Format(time.RFC3339Nano),
		}
	}, nil)
}

// Commands returns the commands for the shell that the user enabled, sorted by name. It does not start
// the program.
func (m *Memory) Commands() []Command { return slices.Clone(m.plugin.pin.Offer.MemoryCommands) }

// Run runs one of the commands for the user. The text may have any characters that people see; code
// is an exit status. An error means that the command did not run, or not to its end.
func (m *Memory) Run(ctx context.Context, name string, args []string) (said string, code int, err error) {
	if !slices.ContainsFunc(m.Commands(), func(c Command) bool { return c.Name == name }) {
		return "", 0, fmt.Errorf("the memory %s has no command %q; `hermes memory --help` lists them", m.Name(), text.VisibleName(name))
	}
	size := 0
	for _, a := range args {
		size += len(a)
	}
	if len(args) > maxWords || size > maxWordBytes {
		return "", 0, fmt.Errorf("a command of a memory takes %d words and %s at most", maxWords, text.Size(maxWordBytes))
	}
	var r commandDone
	if args == nil {
		args = []string{}
	}
	err = m.plugin.call(ctx, methodMemoryCommand, nil, m.plugin.manifest.callTime(), func(id string) any { return memoryCommand{id, name, args} }, &r)
	if err != nil {
		return "", 0, err
	}
	if r.Code < 0 || r.Code > 125 { // the others mean signals and missing programs
		r.Code = 1
	}
	return text.Cut(text.Plain(r.Text), maxText), r.Code, nil
}

// remembersFor refuses the tools of a memory to sessions that have none: those of sub-agents, and those
// of other users.
func (p *Plugin) remembersFor(s hermes.SessionRef) error {
	switch use := p.cfg.Memory; {
	case !p.manifest.has(KindMemory):
		return nil
	case s.Depth > 0:
		return errors.New("a subagent has no memory")
	case use.Allowed != nil && !use.Allowed(s):
		return errors.New("this memory belongs to the owner; say what you need to know, or use the memory tool")
	}
	return nil
}

// memoryCommands asks for the commands of a memory. A program that does not know the method has none.
func (c *conn) memoryCommands(ctx context.Context) ([]Command, error) {
	var r struct {
		Commands []Command `json:"commands"`
	}
	err := c.rpc.Call(ctx, methodMemoryCommands, struct{}{}, &r)
	if noMethod(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", methodMemoryCommands, err)
	}
	return r.Commands, nil
}

// harmless bounds text of a memory, and drops lines that look like orders: whoever wrote to the memory
// may not have been the user.
func harmless(s string, most int) string {
	var b strings.Builder
	for line := range strings.Lines(text.Plain(s)) {
		if scan.Orders(line) == "" {
			b.WriteString(line)
		}
	}
	kept := strings.TrimSpace(b.String())
	if scan.Orders(kept) != "" { // over several lines
		return ""
	}
	return text.Cut(kept, most-len(" … [cut]"))
}
