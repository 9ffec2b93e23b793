// Package terminal is the toolset with the tools terminal and process: shell
// commands in the foreground, and background processes.
//
// One Toolset serves one session. Commands run in the session's
// [hermes.Environment], which also remembers the folder and variables; the
// package knows no shell. risk.go asks internal/policy/shell which commands are
// dangerous; the package does not know who approves them. All output passes
// output.go, which bounds memory whatever a command prints. Start reading at
// run.go, then registry.go.
package terminal

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/policy/shell/inspect"
)

// Defaults for a Config.
const (
	defaultTimeout = 180 * time.Second
	defaultOutput  = 50_000
	// longestWait limits a foreground command and a wait for a process.
	longestWait = 600 * time.Second
)

var (
	//go:embed terminal.md
	terminalDoc string
	//go:embed process.md
	processDoc string
)

// Config is what the tools of a session need.
type Config struct {
	// Home is the user's home folder and Hermes the program's own folder, for
	// judging commands.
	Home, Hermes string
	// PID is the process id of Hermes; Gateway says that a gateway runs in it.
	PID     int
	Gateway bool
	// Timeout applies to foreground commands that set none; 0 means 180 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of a command's output the model sees; 0 means
	// 50,000.
	MaxOutput int
	// SudoPassword returns the configured password, which may be empty, and
	// whether there is one. Nil means none.
	SudoPassword func() (hermes.Secret, bool)
	// Wake notifies the session about a background process, outside of any call.
	// It must not block. Nil drops notices.
	Wake func(text string)
	// Now is the clock for ages and rates; nil is time.Now.
	Now func() time.Time
}

// Toolset holds the background processes of one session. It may be used
// concurrently. Its creator calls Close before closing the environment.
type Toolset struct {
	config Config
	sudo   sudo

	mu     sync.Mutex
	jobs   []*job   // the least recently used first
	said   []string // ids that News reported as running, sorted
	lost   []string // processes that Restore found, until News reports them
	closed bool
	active sync.WaitGroup
	notify limiter
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset of a session. It starts nothing.
func New(c Config) *Toolset {
	c.Timeout = min(cmp.Or(c.Timeout, defaultTimeout), longestWait)
	c.MaxOutput = cmp.Or(c.MaxOutput, defaultOutput)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wake == nil {
		c.Wake = func(string) {}
	}
	return &Toolset{config: c}
}

// Name is "terminal".
func (t *Toolset) Name() string { return "terminal" }

// Available always returns "": every environment has a shell.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns terminal and process.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{
		riskAssessed{hermes.NewTool(hermes.Spec{
			Name:        "terminal",
			Description: strings.TrimSpace(terminalDoc),
			ReadsOnly:   readsOnly,
		}, t.run), t.assessCommand, t.commandSubject},
		riskAssessed{hermes.NewTool(hermes.Spec{
			Name:        "process",
			Description: strings.TrimSpace(processDoc),
		}, t.process), t.assessInput, t.inputSubject},
	}, nil
}

// readsOnly reports whether a call of terminal runs a foreground command that
// only reads.
func readsOnly(arguments json.RawMessage) bool {
	var in struct {
		Command    string
		Background bool
		PTY        bool
	}
	return json.Unmarshal(arguments, &in) == nil && !in.Background && !in.PTY && inspect.ReadsOnly(in.Command)
}

// StopAll ends all background processes. It returns when they are gone.
func (t *Toolset) StopAll() {
	var w sync.WaitGroup
	for _, j := range t.running() {
		w.Go(func() { j.kill() })
	}
	w.Wait()
}

// Close ends all background processes and forgets them, without notifying the
// session.
func (t *Toolset) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.StopAll()
	t.active.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = nil
	return nil
}
