package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"hermes"
	"hermes/internal/ansi"
	"hermes/internal/text"
	"hermes/internal/window"
)

// The exit codes of commands that were stopped early.
const (
	codeTimeout     = 124
	codeInterrupted = 130
)

var errTimeout = errors.New("the command ran out of time")

type arguments struct {
	Command    string   `json:"command"`
	Workdir    string   `json:"workdir,omitempty" doc:"Folder for this call only"`
	Timeout    int      `json:"timeout,omitempty" min:"1" doc:"Seconds; default 180, max 600"`
	PTY        bool     `json:"pty,omitempty"`
	Background bool     `json:"background,omitempty" doc:"Return at once; see process"`
	Notify     bool     `json:"notify_on_complete,omitempty" doc:"Background: notify on exit"`
	Need       []string `json:"need,omitempty" doc:"Items of blocked"`
	Escalate   string   `json:"escalate,omitempty" doc:"Why to leave the sandbox"`
	Patterns   []string `json:"watch_patterns,omitempty" doc:"Background: notify if a line contains one"`
}

// outcome is the result of a foreground command for the model.
type outcome struct {
	// First, because the end of a large result is cut off.
	Blocked []string `json:"blocked,omitempty"` // by the sandbox, in the form of need
	Advice  string   `json:"blocked_advice,omitempty"`

	Output     string `json:"output"`
	ExitCode   int    `json:"exit_code"`
	Meaning    string `json:"exit_code_meaning,omitempty"`
	Error      string `json:"error,omitempty"`
	Dir        string `json:"cwd,omitempty"`
	SudoFailed bool   `json:"sudo_auth_failed,omitempty"`
}

// run is the tool terminal.
func (t *shellOf) run(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	if err := in.check(); err != nil {
		return hermes.Result{}, err
	}
	e := c.Host.Environment()
	if e == nil {
		return hermes.Result{}, errors.New("this session has no environment to run commands in")
	}
	walls := e.Describe(ctx).Isolation.Walls() != "" && !elsewhere(e)
	if !walls && (in.escalates() || len(in.Need) > 0) {
		return hermes.Result{}, errors.New("there is no sandbox in this session; call it without need and escalate")
	}
	needs, err := in.needs(ctx, e)
	if err != nil {
		return hermes.Result{}, err
	}
	line, fed, err := t.sudo.prepare(ctx, t.config, c, in, walls)
	if err != nil {
		return hermes.Result{}, err
	}
	if in.Background {
		return t.start(ctx, c, e, in, needs, line, fed)
	}
	return t.foreground(ctx, c, e, in, needs, line, fed)
}

func (in arguments) check() error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return errors.New("command is empty; give the shell command to run")
	case in.Timeout < 0:
		return errors.New("timeout must be at least 1 second")
	case !in.Background && in.Timeout > int(longestWait.Seconds()):
		return fmt.Errorf("timeout %d is over the maximum of %d seconds for a foreground command; use background=true with notify_on_complete=true for longer work",
			in.Timeout, int(longestWait.Seconds()))
	case in.Notify && len(in.Patterns) > 0:
		return errors.New("notify_on_complete and watch_patterns cannot be combined; choose one")
	case !in.Background && (in.Notify || len(in.Patterns) > 0):
		return errors.New("notify_on_complete and watch_patterns need background=true")
	}
	if i := strings.IndexFunc(in.Workdir, isMeta); i >= 0 {
		return fmt.Errorf("workdir contains %q, which is not allowed there; give a plain path, or use cd in the command", in.Workdir[i:i+1])
	}
	return in.checkNeeds()
}

// isMeta reports whether a character is special to a shell.
func isMeta(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(";&|$`<>*?!'\"{}[]()#", r)
}

func (t *shellOf) foreground(ctx context.Context, c *hermes.Call, e hermes.Environment, in arguments, needs []hermes.Need, line string, fed *feeding) (hermes.Result, error) {
	timeout := t.config.Timeout
	if in.Timeout > 0 {
		timeout = time.Duration(in.Timeout) * time.Second
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	out := window.New(t.config.MaxOutput)
	w := &progress{to: out, host: c.Host, now: t.config.Now}
	if t.config.Mask != nil {
		w.mask = t.config.Mask()
	}
	before := currentDir(e)
	cmd := hermes.Command{Line: line, Dir: in.Workdir, Stdout: w, Stderr: w, Keep: in.Workdir == "", Outside: in.escalates(), Need: needs}
	if c.Approved != nil {
		cmd.Ready = func() error { return t.unchanged(c) }
	}
	if fed != nil {
		cmd.Stdin = fed.input()
	}
	exit, err := execute(limited, e, cmd, in.PTY)
	r := outcome{Output: fed.mask(out.Text(leftOut)), ExitCode: exit.Code}
	r.Blocked, r.Advice = blocked(exit.Refused)
	switch {
	case err == nil:
	case errors.Is(err, errTimeout):
		r.ExitCode = codeTimeout
		r.Error = fmt.Sprintf("The command exceeded its timeout of %d seconds and was stopped, with everything it had started. Give a longer timeout (at most %d), or run it with background=true.",
			int(timeout.Seconds()), int(longestWait.Seconds()))
	case ctx.Err() != nil:
		r.ExitCode = codeInterrupted
		r.Output = strings.TrimLeft(r.Output+"\n[Command interrupted]", "\n")
	default:
		if r.Output != "" { // a connection was lost, so it ran
			return hermes.Result{}, fmt.Errorf("run the command: %w; until then it wrote:\n%s", err, r.Output)
		}
		return hermes.Result{}, fmt.Errorf("run the command: %w", err) // the cause knows whether it ran
	}
	benign := false
	if err == nil {
		r.Meaning, benign = meaning(in.Command, r.ExitCode)
		r.SudoFailed = t.sudo.failed(fed, r.Output, r.ExitCode)
	}
	if after := currentDir(e); after != before {
		r.Dir = after
	}
	result, err := hermes.JSONResult(r)
	result.Failed = r.ExitCode != 0 && !benign
	return result, err
}

// execute runs a command until it ends, on a terminal if pty is set.
func execute(ctx context.Context, e hermes.Environment, c hermes.Command, pty bool) (hermes.Exit, error) {
	if !pty {
		return e.Exec(ctx, c)
	}
	s, ok := e.(hermes.Starter)
	if !ok {
		return hermes.Exit{}, errors.New("this environment has no pseudo-terminals; run it without pty")
	}
	p, err := s.Start(ctx, c, true)
	if err != nil {
		return hermes.Exit{}, err
	}
	exit, err := p.Wait(ctx)
	if err == nil {
		return exit, nil
	}
	cause := err
	if err := p.Kill(); err != nil {
		return hermes.Exit{}, err
	}
	exit, err = p.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return exit, err
	}
	return exit, cause
}

func currentDir(e hermes.Environment) string {
	dir, err := e.Files().Resolve(".")
	if err != nil {
		return ""
	}
	return dir
}

// progressEvery is the least time between two lines for the user.
const progressEvery = 500 * time.Millisecond

// progress shows the user the last line of a command that takes long.
type progress struct {
	to   io.Writer
	host hermes.Host
	now  func() time.Time
	last time.Time
	mask func(piece string) string // gets everything, since a secret may be cut; nil shows all
}

func (p *progress) Write(b []byte) (int, error) {
	now, shown := p.now(), b
	if p.mask != nil {
		shown = []byte(p.mask(string(b)))
	}
	if p.last.IsZero() {
		p.last = now
	}
	if now.Sub(p.last) >= progressEvery {
		if line := lastLine(shown); line != "" {
			p.last = now
			p.host.Progress(line)
		}
	}
	return p.to.Write(b)
}

// lastLine is the last line of a chunk that is not blank, shortened.
func lastLine(b []byte) string {
	const most = 200
	if len(b) > 4*most {
		b = b[len(b)-4*most:]
	}
	rest := ansi.Plain(b)
	for rest != "" {
		line := rest
		i := strings.LastIndexByte(strings.TrimRight(rest, "\n"), '\n')
		if i >= 0 {
			line, rest = rest[i+1:], rest[:i]
		} else {
			rest = ""
		}
		if line = strings.TrimSpace(line); line != "" {
			return text.Line(line, most)
		}
	}
	return ""
}
