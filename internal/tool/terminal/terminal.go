// Package terminal is the toolset with the tools terminal and process: shell
// commands in the foreground, and background processes.
//
// One Toolset serves all sessions, each with a shell of its own. Commands run in the session's
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
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/policy"
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

// Config is what the tools need.
type Config struct {
	// Home is the user's home folder and Hermes the program's own folder, for
	// judging commands.
	Home, Hermes string
	// Links are the protected files of this machine that are links; nil knows none.
	Links *policy.Links
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
	// Declared reports whether a secret is declared for a host and port; nil is none. Each
	// command that needs such a host is asked about.
	Declared func(host, port string) bool
	// Wrote lists the files that a command line would run in a folder, directly or through
	// a shell, and that the session wrote, each with what identifies its content. Nil lists none.
	Wrote func(session, line, dir string) []string
	// Wake notifies a session about a background process, outside of any call.
	// It must not block. Nil drops notices.
	Wake func(session, text string)
	// Mask makes the func that takes the secrets out of the output of one command while
	// it runs, of which the user sees lines. It gets the output piece by piece and returns
	// what may be shown by then. Nil shows it as it is.
	Mask func() func(piece string) string
	// Now is the clock for ages and rates; nil is time.Now.
	Now func() time.Time
}

// Toolset is the shells of all sessions of a program. It may be used concurrently. A
// session sees its own processes only; they end with it, at the latest when the program
// closes the toolset.
type Toolset struct {
	config Config

	mu     sync.Mutex
	shells map[string]*shellOf // by session
	closed bool
}

var (
	_ hermes.Toolset  = (*Toolset)(nil)
	_ hermes.Restorer = (*Toolset)(nil)
	_ hermes.Stopper  = (*Toolset)(nil)
)

// New makes the toolset. It starts nothing.
func New(c Config) *Toolset {
	c.Timeout = min(cmp.Or(c.Timeout, defaultTimeout), longestWait)
	c.MaxOutput = cmp.Or(c.MaxOutput, defaultOutput)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wake == nil {
		c.Wake = func(string, string) {}
	}
	return &Toolset{config: c, shells: map[string]*shellOf{}}
}

// of returns the shell of a session, made on first use.
func (t *Toolset) of(session string) *shellOf {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.shells[session]
	if s == nil {
		s = &shellOf{config: t.config, closed: t.closed, wake: func(text string) { t.config.Wake(session, text) }}
		t.shells[session] = s
	}
	return s
}

// by returns the shell of the session that a call belongs to.
func (t *Toolset) by(c *hermes.Call) *shellOf {
	if c.Host == nil {
		return t.of("")
	}
	return t.of(c.Host.Session().ID)
}

// shellOf is the shell of one session: its background processes, and what it remembers of
// sudo.
type shellOf struct {
	config Config
	wake   func(text string)
	sudo   sudo

	mu     sync.Mutex
	jobs   []*job   // the least recently used first
	said   []string // ids that News reported as running, sorted
	lost   []string // processes that Restore found, until News reports them
	closed bool
	active sync.WaitGroup
	notify limiter
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
		}, func(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
			return t.by(c).run(ctx, c, in)
		}),
			func(c *hermes.Call) []hermes.Risk { return t.by(c).assessCommand(c) },
			func(c *hermes.Call) hermes.Subject { return t.by(c).commandSubject(c) }},
		riskAssessed{hermes.NewTool(hermes.Spec{
			Name:        "process",
			Description: strings.TrimSpace(processDoc),
		}, func(ctx context.Context, c *hermes.Call, in processArguments) (hermes.Result, error) {
			return t.by(c).process(ctx, c, in)
		}),
			func(c *hermes.Call) []hermes.Risk { return t.by(c).assessInput(c) },
			func(c *hermes.Call) hermes.Subject { return t.by(c).inputSubject(c) }},
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

// Restore finds background processes in a transcript that the model believes are
// running although they ended with an earlier run of the program, so that News
// reports them once.
func (t *Toolset) Restore(s hermes.SessionRef, transcript []hermes.Message) {
	t.of(s.ID).restore(transcript)
}

// News reports what changed among the background processes of a session since the last
// call: which ones run now, which ended without notice to the model, and which ended
// with an earlier run of the program. It is "" if nothing changed, and always
// short.
func (t *Toolset) News(session string) string { return t.of(session).news() }

// Stop ends all background processes of a session. It returns when they are gone.
func (t *Toolset) Stop(s hermes.SessionRef) { t.of(s.ID).stop() }

// Hook ends the processes of a session with it, without notifying it.
func (t *Toolset) Hook() hermes.Hook {
	return hermes.Hook{Name: "terminal", SessionEnd: func(_ context.Context, s hermes.SessionRef) {
		t.mu.Lock()
		of := t.shells[s.ID]
		t.mu.Unlock()
		if of == nil {
			return
		}
		of.close() // a call that comes too late starts nothing
		t.mu.Lock()
		delete(t.shells, s.ID)
		t.mu.Unlock()
	}}
}

// Close ends all background processes and starts no others.
func (t *Toolset) Close() error {
	t.mu.Lock()
	t.closed = true
	shells := slices.Collect(maps.Values(t.shells))
	clear(t.shells)
	t.mu.Unlock()
	for _, s := range shells {
		s.close()
	}
	return nil
}

// stop ends all background processes. It returns when they are gone.
func (t *shellOf) stop() {
	var w sync.WaitGroup
	for _, j := range t.running() {
		w.Go(func() { j.kill() })
	}
	w.Wait()
}

// close ends all background processes and forgets them, without notifying the
// session.
func (t *shellOf) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.active.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = nil
}
