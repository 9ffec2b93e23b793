// Package delegation is the toolset with delegate_task, which gives work to child sessions.
//
// The tool turns its arguments into tasks, runs them at once, and puts their reports together. What a child
// may do, how it is run, and what becomes of it after a crash is up to Host.Spawn. The package knows
// no session and no store. Start at delegate_task.go; prompt.go has what the prompt of a child says.
package delegation

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
)

const name = "delegate_task"

var (
	//go:embed delegate_task.md
	doc string
	//go:embed schema.json
	schema string
)

// Limits are the configured limits, which the description of the tool names.
type Limits struct {
	AtOnce int // how many children a session may have at once
	Depth  int // how deep they may be nested; a child of a conversation has depth 1
	// LeavesOnly lets no child start children itself.
	LeavesOnly bool
}

// Nests reports whether a child of a conversation may start children itself.
func (l Limits) Nests() bool { return l.Depth > 1 && !l.LeavesOnly }

// Toolset is the tool delegate_task.
type Toolset struct{ limits Limits }

// New makes the toolset.
func New(l Limits) Toolset { return Toolset{l} }

// Name is "delegation".
func (Toolset) Name() string { return "delegation" }

// Available always returns "".
func (Toolset) Available(context.Context) string { return "" }

// Tools returns the one tool.
func (t Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	about := fmt.Sprintf(strings.TrimSpace(doc), t.limits.AtOnce)
	if t.limits.Nests() {
		about += fmt.Sprintf(" An orchestrator may delegate too, down to depth %d.", t.limits.Depth)
	}
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: name, Description: about, Schema: t.schema(), Mode: hermes.ModeParallel, Effect: hermes.EffectResumes,
		PlansOnly: true, // a child has the mode of its parent
		Trusted:   true, // a report names its own sources
	}, t.run)}, nil
}

// schema returns the schema of the arguments; that of the role only where it changes something.
func (t Toolset) schema() json.RawMessage {
	text := strings.TrimSpace(schema)
	if !t.limits.Nests() {
		text = strings.Replace(text, `"role":{"type":"string","enum":["leaf","orchestrator"],"description":"orchestrators delegate too"},`, "", 1)
	}
	return json.RawMessage(text)
}
