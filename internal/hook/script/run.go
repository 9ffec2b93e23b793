package script

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
)

// errNoConsent is why a hook of the user did not run.
var errNoConsent = errors.New("you have not agreed to it, or it has changed since: start `hermes` in a terminal to be asked, or use --accept-hooks")

// runner runs the hooks of one set in one session.
type runner struct {
	set    Set
	config *Config
	sums   *sums
	file   *transcript

	mu     sync.Mutex
	place  Place
	read   []string // what the place was opened with
	closed bool
	runs   int  // commands
	cut    bool // one of them was ended before its time
}

// errClosed is the error of a hook after the end of its session.
var errClosed = errors.New("the session has ended")

// dir is where commands run.
func (r *runner) dir() string { return cmp.Or(r.set.Dir, r.config.Dir) }

// Ran is how one run of a hook went.
type Ran struct {
	Entry   Entry
	Input   []byte
	Verdict Verdict
	Took    time.Duration
	// Skipped says why it did not run at all; "" if it did.
	Skipped string
}

// run runs one hook.
func (r *runner) run(ctx context.Context, h Entry, o Occasion, view asked) Ran {
	ran := Ran{Entry: h}
	skip := func(err error) Ran {
		ran.Skipped, ran.Verdict = err.Error(), Verdict{Failed: err}
		return ran
	}
	if h.Fault != "" {
		return skip(errors.New(h.Fault))
	}
	r.mu.Lock()
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return skip(errClosed)
	}
	line, id, err := r.allowed(ctx, h)
	if err != nil {
		return skip(err)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, errLate)
	defer cancel()
	if h.event.claude && h.Prompt.Text == "" {
		if o.transcript, err = r.file.update(ctx, o.Session); err != nil {
			r.config.Log.Warn("write the conversation for a hook", "event", h.Event, "hook", h.short(), "err", err)
		}
	}
	if ran.Input, err = o.input(h.event, view, r.config.Profile); err != nil {
		return skip(err)
	}
	switch {
	case h.Prompt.Text != "":
		ran.Verdict = r.ask(ctx, h, o, ran.Input)
	case h.Command.Line == "":
		ran.Verdict = r.request(ctx, h, ran.Input)
	default:
		ran.Verdict = r.command(ctx, h, line, id, ran.Input)
	}
	if v := ran.Verdict; h.FailClosed && v.Unread && !v.Blocks && v.Failed == nil {
		ran.Verdict = Verdict{Failed: errors.New("its answer is not understood")}
	}
	if cause := context.Cause(ctx); ran.Verdict.Failed != nil && errors.Is(cause, errLate) {
		ran.Verdict = Verdict{Failed: fmt.Errorf("it took longer than %s", h.Timeout)}
	}
	ran.Took = time.Since(begun)
	return ran
}

// errLate ends a hook that takes too long.
var errLate = errors.New("it took too long")

// allowed returns the line of a hook that may run now.
func (r *runner) allowed(ctx context.Context, h Entry) (line string, id Identity, err error) {
	if id, err = h.identify(r.dir(), r.config.Home, r.sums, r.set.Copied); err != nil {
		return "", id, err
	}
	if r.set.Project == "" || len(id.Files) > 0 { // what a project brings is agreed to with its trust
		if err := r.agreed(ctx, id); err != nil {
			return "", id, err
		}
	}
	line, err = h.line(r.dir(), r.config.Home, r.set.Project != "", r.set.Copied)
	return line, id, err
}

// Runs returns why a hook would not run in a folder although the user has agreed to it, nil if it would.
func (h Entry) Runs(dir, home string, project bool, copied func(path string) (string, bool)) error {
	_, err := h.line(dir, home, project, copied)
	return err
}

// line returns the line that runs, "" for a request.
func (h Entry) line(dir, home string, project bool, copied func(string) (string, bool)) (string, error) {
	if h.Command.Line == "" {
		return "", nil
	}
	if err := h.linked(dir, home); err != nil {
		return "", err
	}
	p, err := known(h.Command, variables(dir, home))
	if err != nil {
		return "", err
	}
	if project && p.unclear != "" {
		return "", fmt.Errorf("what %s names is known only when it runs: %w", p.unclear, errInner)
	}
	return p.replaced(dir, copied)
}

// agreed returns an error if the user has not agreed.
func (r *runner) agreed(ctx context.Context, id Identity) error {
	if r.config.Consents == nil {
		return errNoConsent
	}
	ok, err := r.config.Consents.Has(id)
	switch {
	case err != nil:
		return err
	case ok:
		return nil
	case r.config.Accept && r.set.Project == "":
		return r.config.Consents.Agree(ctx, "hooks_auto_accept", id)
	}
	return errNoConsent
}

// command runs a line.
func (r *runner) command(ctx context.Context, h Entry, line string, id Identity, input []byte) Verdict {
	place, err := r.open(ctx, id)
	if err != nil {
		return Verdict{Failed: fmt.Errorf("its commands cannot run: %w", err)}
	}
	defer r.settle(ctx, place)
	if err := r.sums.unchanged(id); err != nil { // to make the place took its time
		return Verdict{Failed: err}
	}
	var out, errs limited
	dir := r.dir()
	exit, err := place.Exec(ctx, hermes.Command{
		Line: line, Dir: dir, Stdin: bytes.NewReader(append(input, '\n')), Stdout: &out, Stderr: &errs, Grace: time.Second,
		Env: []string{
			"CLAUDE_PROJECT_DIR=" + dir, "HERMES_PROJECT_DIR=" + dir, "HERMES_HOOK_EVENT=" + h.Event,
		},
	})
	switch {
	case err != nil:
		return Verdict{Failed: err}
	case out.over:
		return Verdict{Failed: errors.New("its answer is longer than 1 MB")}
	}
	v := verdict(h.event, exit.Code, out.b.Bytes(), errs.b.Bytes())
	if err := r.sums.unchanged(id); err != nil && !v.Blocks { // a script finds its neighbours by its path, so it is no copy that runs
		return Verdict{Failed: fmt.Errorf("%w: what it said counts for nothing", err)}
	}
	if v.Failed != nil && len(exit.Refused) > 0 {
		var refused []string
		for _, f := range exit.Refused {
			refused = append(refused, string(f.Kind)+" "+f.Name)
		}
		v.Failed = fmt.Errorf("%w; the sandbox refused: %s (see the keys read and write of the hook)", v.Failed, strings.Join(refused[:min(len(refused), 5)], ", "))
	}
	return v
}

// open returns the place of the commands, for one that settle is called after. It is made again if a hook names files that it does not show.
func (r *runner) open(ctx context.Context, id Identity) (Place, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	if r.place != nil && !slices.ContainsFunc(id.Files, func(f File) bool { return !slices.Contains(r.read, f.Path) }) {
		r.runs++
		return r.place, nil
	}
	need := r.needs()
	for _, f := range id.Files {
		need.Read = append(need.Read, f.Path)
	}
	slices.Sort(need.Read)
	need.Read = slices.Compact(need.Read)
	if r.place != nil {
		if err := r.place.Close(); err != nil {
			r.config.Log.Warn("close the place of hooks", "err", err)
		}
		r.place = nil
	}
	if r.file.wanted() && slices.ContainsFunc(r.set.Entries, func(h Entry) bool { return h.event.claude }) {
		dir, err := r.file.make()
		if err != nil {
			return nil, err
		}
		need.Read = append(need.Read, dir)
	}
	place, err := r.set.Open(ctx, need)
	if err != nil {
		return nil, err
	}
	r.place, r.read = place, need.Read
	r.runs++
	return place, nil
}

// settle counts a command that has ended. If one was cut off, what it may have left is ended as soon as no other
// one runs.
func (r *runner) settle(ctx context.Context, place Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs--
	r.cut = r.cut || ctx.Err() != nil
	if e, ok := place.(Ender); ok && r.cut && r.runs == 0 {
		r.cut = false
		if err := e.EndInside(); err != nil {
			r.config.Log.Warn("end what a hook left", "err", err)
		}
	}
}

// needs are what all hooks of the set need beyond reading the working folder.
func (r *runner) needs() Needs {
	var n Needs
	dir := r.dir()
	for _, h := range r.set.Entries {
		if h.Command.Line == "" || h.Fault != "" {
			continue
		}
		for _, path := range h.Command.Read {
			n.Read = append(n.Read, declared(path, dir, r.config.Home))
		}
		for _, path := range h.Command.Write {
			n.Write = append(n.Write, declared(path, dir, r.config.Home))
		}
		p, err := known(h.Command, variables(dir, r.config.Home))
		if err != nil {
			continue
		}
		for _, file := range p.files(dir) {
			n.Read = append(n.Read, file)
			if dir := filepath.Dir(file); filepath.Base(dir) == "hooks" { // scripts there use what is beside them
				n.Read = append(n.Read, dir)
			}
		}
	}
	slices.Sort(n.Write)
	n.Write = slices.Compact(n.Write)
	return n
}

// declared is the absolute path of one that a hook in a folder declares.
func declared(path, dir, home string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	base := dir
	if rest, ok := strings.CutPrefix(path+"/", "~/"); ok && home != "" {
		base, path = home, rest
	}
	if real, err := filepath.EvalSymlinks(base); err == nil { // neither is chosen by who writes below it
		base = real
	}
	return filepath.Join(base, path)
}

// linked returns an error if a path that a hook may change goes through a link: it may have come after the
// consent, and lead anywhere.
func (h Entry) linked(dir, home string) error {
	for _, path := range h.Command.Write {
		full := declared(path, dir, home)
		for at := full; at != filepath.Dir(at); at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return fmt.Errorf("its key write names %s, and %s is a link: name the folder to which it leads", path, at)
			}
		}
	}
	return nil
}

// close ends what runs.
func (r *runner) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.place == nil {
		return nil
	}
	defer func() { r.place = nil }()
	return r.place.Close()
}

// limited keeps what a script prints, up to a bound.
type limited struct {
	b    bytes.Buffer
	over bool
}

// Write keeps nothing beyond the bound, and takes all of it.
func (l *limited) Write(p []byte) (int, error) {
	if room := maxAnswer - l.b.Len(); len(p) > room {
		l.over = true
		l.b.Write(p[:max(0, room)])
		return len(p), nil
	}
	return l.b.Write(p)
}

var _ io.Writer = (*limited)(nil)
