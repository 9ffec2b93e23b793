// Package codeexecution is the toolset with execute_code: scripts of the model that call
// other tools of the session, so that only what they print enters the conversation.
//
// A Python script runs in the session's environment (python.go, boot.py), where its walls
// hold, and calls tools over a channel (channel.go). JavaScript runs in an engine of this
// program, which gives it nothing but the tools (javascript.go), and so does Python where
// there is none (micropython.go). All share what calls may do (calls.go): every call takes the way of a call of the model. The package knows no
// tool besides its own. Start reading at execute_code.go.
package codeexecution

import (
	"cmp"
	"context"
	_ "embed"
	"strings"
	"time"

	"hermes"
)

// Defaults for a Config.
const (
	defaultTimeout = 300 * time.Second
	defaultCalls   = 50
	defaultIdle    = 30 * time.Minute
	defaultKernels = 4
)

//go:embed execute_code.md
var doc string

// Config is what the tool needs. A zero number means the default given beside it.
type Config struct {
	Timeout  time.Duration // 300 s: how long a script may run, besides waiting for the user
	MaxCalls int           // 50: tool calls of one script
	// Strict runs scripts in a folder of their own, without the packages of a project.
	Strict bool
	// Idle is how long a kernel waits for the next script (30 min), and Kernels how many
	// there may be at once (4).
	Idle    time.Duration
	Kernels int
	// Passthrough names variables that scripts keep although their names suggest a secret.
	Passthrough []string
	// Judge returns the risks of a shell command that a call would run. It is required.
	Judge func(c *hermes.Call, line string) []hermes.Risk
	// Save stores the whole output of a script that printed more than the model gets, and
	// returns where read_file finds it. Nil stores nothing.
	Save func(ctx context.Context, c *hermes.Call, text string) (path string, err error)
	// Mask removes secrets from what is saved; nil removes none.
	Mask func(string) string
	// Cache is a folder for compiled code of MicroPython; "" compiles it in each program.
	Cache string
	Now   func() time.Time // nil is time.Now
}

// Toolset is execute_code for all sessions of a program. It may be used concurrently.
type Toolset struct {
	config      Config
	pythons     sessionPythons
	kernels     kernels
	microPython microRuntime
}

var (
	_ hermes.Toolset = (*Toolset)(nil)
	_ hermes.Stopper = (*Toolset)(nil)
)

// New makes the toolset. It starts nothing.
func New(c Config) *Toolset {
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxCalls = cmp.Or(c.MaxCalls, defaultCalls)
	c.Idle, c.Kernels = cmp.Or(c.Idle, defaultIdle), cmp.Or(c.Kernels, defaultKernels)
	if c.Mask == nil {
		c.Mask = func(text string) string { return text }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Toolset{config: c, microPython: microRuntime{cache: c.Cache}, kernels: kernels{most: c.Kernels, idle: c.Idle}}
}

// Name is "code_execution".
func (t *Toolset) Name() string { return "code_execution" }

// Available always returns "": JavaScript runs everywhere.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns execute_code.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{executeCode{hermes.NewTool(hermes.Spec{
		Name: toolName, Description: strings.TrimSpace(doc),
	}, t.run), t}}, nil
}

// Stop ends the kernels of a session. It returns when they are gone.
func (t *Toolset) Stop(s hermes.SessionRef) { t.kernels.end(s.ID) }

// Hook ends the kernels of a session with it.
func (t *Toolset) Hook() hermes.Hook {
	return hermes.Hook{Name: "code execution", SessionEnd: func(_ context.Context, s hermes.SessionRef) {
		t.kernels.end(s.ID)
		t.pythons.forget(s.ID)
	}}
}

// Close ends all kernels and starts no others.
func (t *Toolset) Close() error {
	t.kernels.close()
	t.microPython.close()
	return nil
}
