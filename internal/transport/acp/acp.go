// Package acp lets a program answer as a model: an agent that speaks the Agent
// Client Protocol (agentclientprotocol.com, version 1), JSON-RPC over its standard
// input and output, such as GitHub Copilot's command line.
//
// Each call starts the program, opens one session in an empty folder, sends the
// whole conversation as one prompt and ends the program. Nothing of ours is lent to
// it: no tools, no files, no terminal, no MCP servers. It has tools of its own; what
// it asks permission for is refused, so that nothing passes by the user's approvals,
// and the user is shown what it does. It must not know providers or settings.
//
// Start reading at Model.Stream, then conn.go (messages), prompt.go (what is sent)
// and update.go (what comes back).
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/proc"
	"hermes/internal/transport/base"
)

// AnyModel is the name that leaves the choice of the model to the program.
const AnyModel = "default"

// Config says which program answers. Of the common part it uses ID, Provider, Model,
// Clocks, Window and Now.
type Config struct {
	base.Config
	// Command is the program and its arguments, Env its whole environment as
	// NAME=value, Dir the folder of its sessions, which is created if it is
	// missing and should be empty.
	Command []string
	Env     []string
	Dir     string
	// Files mark the program as started by an agent; see internal/lineage.
	Files []*os.File
	// Guard ends the program if this process is killed; nil means no guard.
	Guard *proc.Guard
	// Version is ours, which the program is told.
	Version string
}

// Model is a hermes.Model that is a program.
type Model struct{ cfg Config }

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	return &Model{cfg: cfg}
}

// ID returns the reference of the model.
func (m *Model) ID() string { return m.cfg.ID }

// Stream starts the program when the iteration begins, and has ended it when the
// iteration ends; see hermes.Model.
func (m *Model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return m.cfg.Stream(ctx, r, func(yield base.Yield) error { return m.ask(ctx, r, yield) })
}

// protocolVersion is the only one that this package speaks.
const protocolVersion = 1

func (m *Model) ask(ctx context.Context, r *hermes.Request, yield base.Yield) error {
	if whole := m.cfg.Clocks.Whole; whole > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, whole, &httpc.TimeoutError{Phase: "whole", After: whole})
		defer stop()
	}
	if err := os.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the program: %w", err)
	}
	c, err := m.start(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	hello, err := c.begin(ctx, m.cfg.Version)
	if err != nil {
		return err
	}
	id, err := m.open(ctx, c)
	if err != nil {
		return err
	}
	a := &answer{yield: yield, program: m.cfg.Command[0]}
	c.session, c.answer = id, a
	var end struct {
		StopReason string `json:"stopReason"`
		Usage      *usage `json:"usage"`
	}
	params := map[string]any{"sessionId": id, "prompt": prompt(r, hello.Capabilities.Prompt.Image)}
	if err := c.call(ctx, "session/prompt", params, &end); err != nil {
		return err
	}
	return a.finish(end.StopReason, end.Usage)
}

// hello is what a program says about itself.
type hello struct {
	Version      int `json:"protocolVersion"`
	Capabilities struct {
		Prompt struct {
			Image bool `json:"image"`
		} `json:"promptCapabilities"`
	} `json:"agentCapabilities"`
}

// begin introduces us. We offer neither files nor terminals.
func (c *conn) begin(ctx context.Context, version string) (hello, error) {
	var h hello
	err := c.call(ctx, "initialize", map[string]any{
		"protocolVersion":    protocolVersion,
		"clientInfo":         map[string]any{"name": "hermes", "title": "Hermes", "version": cmp.Or(version, "0")},
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
	}, &h)
	if err == nil && h.Version != protocolVersion {
		err = failure(400, fmt.Sprintf("the program speaks version %d of the Agent Client Protocol, not %d", h.Version, protocolVersion))
	}
	return h, err
}

// open makes a session and chooses its model.
func (m *Model) open(ctx context.Context, c *conn) (string, error) {
	var made opened
	if err := c.call(ctx, "session/new", map[string]any{"cwd": m.cfg.Dir, "mcpServers": []any{}}, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", fmt.Errorf("%w: the program opened no session", fault.ErrGarbage)
	}
	method, params, err := made.chosen(m.cfg.Model)
	if err != nil || method == "" {
		return made.ID, err
	}
	return made.ID, c.call(ctx, method, params, nil)
}

// failure makes an error that is classified like that of a service.
func failure(status int, text string) error {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"message": text}})
	if err != nil {
		return errors.New(text)
	}
	return &fault.Failure{Status: status, Body: body}
}

// silence is how long the program may say nothing.
func (m *Model) silence() time.Duration { return cmp.Or(m.cfg.Clocks.Stale, m.cfg.Clocks.FirstByte) }
