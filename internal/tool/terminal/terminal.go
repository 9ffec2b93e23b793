// Package terminal is the toolset with the tools terminal and process: shell
// commands in the foreground, and processes that go on in the background.
//
// One Toolset serves one session. It knows no shell: commands run in the
// session's [hermes.Environment], which also remembers folder and variables.
// What is dangerous is judged by internal/policy in review.go; who decides is
// not known here. All output passes output.go, which bounds memory whatever a
// command prints. Start reading at run.go, then registry.go.
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
	"hermes/internal/policy/shell"
)

// Figures that hold where a Config says nothing.
const (
	defaultTimeout = 180 * time.Second
	defaultOutput  = 50_000
	// longestWait bounds a foreground command and a wait for a process.
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
	// Home and Hermes are the person's and the agent's own folders, for
	// judging commands.
	Home, Hermes string
	// PID is the process id of Hermes; Gateway says that a gateway runs in it.
	PID     int
	Gateway bool
	// Timeout ends foreground commands that name none; 0 is 180 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of a command's output the model sees; 0 is
	// 50,000.
	MaxOutput int
	// SudoPassword tells the configured password, which may be empty, or
	// that there is none. Nil is none.
	SudoPassword func() (hermes.Secret, bool)
	// Wake tells the session about a background process, outside of any call.
	// It must not wait. Nil tells nobody.
	Wake func(text string)
	// Now is the clock for ages and rates; nil is time.Now.
	Now func() time.Time
}

// Toolset holds the background processes of one session. It may be used
// concurrently; whoever made it calls Close before closing the environment.
type Toolset struct {
	config Config
	sudo   sudo

	mu     sync.Mutex
	jobs   []*job   // the least recently used first
	said   []string // ids that News told as running, sorted
	lost   []string // what Restore found, until News tells of it
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

// Available is always the empty text: where there is an environment, there is
// a shell.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns terminal and process.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{
		riskAssessed{hermes.NewTool(hermes.Spec{
			Name:        "terminal",
			Description: strings.TrimSpace(terminalDoc),
			ReadsOnly:   readsOnly,
		}, t.run), t.assessCommand},
		riskAssessed{hermes.NewTool(hermes.Spec{
			Name:        "process",
			Description: strings.TrimSpace(processDoc),
		}, t.process), t.assessInput},
	}, nil
}

// readsOnly reports that a call of terminal runs a command in the foreground
// that only reads.
func readsOnly(arguments json.RawMessage) bool {
	var in struct {
		Command    string
		Background bool
		PTY        bool
	}
	return json.Unmarshal(arguments, &in) == nil && !in.Background && !in.PTY && shell.ReadsOnly(in.Command)
}

// StopAll ends all background processes. It returns when they are gone.
func (t *Toolset) StopAll() {
	var w sync.WaitGroup
	for _, j := range t.running() {
		w.Go(func() { j.kill() })
	}
	w.Wait()
}

// Close ends all background processes and forgets them, without a word to the
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
