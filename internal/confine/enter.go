package confine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/isolation"
	"hermes/internal/policy/shell"
	"hermes/internal/sandbox/gitguard"
	"hermes/internal/sandbox/plan"
)

var _ isolation.Walls = (*Walls)(nil)

// Enter readies the walls for a command; see [isolation.Walls].
func (w *Walls) Enter(ctx context.Context, c hermes.Command, dir string) (isolation.Inside, error) {
	if c.Outside {
		return w.outside(ctx)
	}
	needs := slices.Concat(w.granted(), c.Need)
	if w.config.Profile == plan.Command && !c.Background && changesGit(c.Line) { // all else would wait for what may never end
		return w.enterAlone(ctx, c, dir, needs)
	}
	passed, err := w.gate.pass(ctx)
	if err != nil {
		return isolation.Inside{}, err
	}
	v, err := w.visit(ctx, keyOf(w.config.Profile, needs), c, dir, needs)
	if v == nil {
		passed()
		return isolation.Inside{}, err
	}
	return isolation.Inside{Launcher: v.place.keeper, Env: v.environ, Output: &v.output, Started: passed, Done: v.done}, nil
}

// changesGit reports whether a line has a git command that writes the configuration of a
// repository.
func changesGit(line string) bool {
	if !strings.Contains(line, "git") {
		return false
	}
	found := false
	shell.Commands(line, func(words []string) bool {
		found = gitguard.NeedsConfig(words) && !gitguard.MakesRepository(words)
		return !found
	})
	return found
}

// enterAlone runs a command that may write the configuration of git: everything else
// inside is stopped meanwhile, and nothing of the command remains.
func (w *Walls) enterAlone(ctx context.Context, c hermes.Command, dir string, needs []hermes.Need) (isolation.Inside, error) {
	over, err := w.stop(ctx)
	if err != nil {
		return isolation.Inside{}, err
	}
	v, err := w.visit(ctx, keyOf(plan.GitConfig, needs), c, dir, needs)
	if v == nil {
		over()
		return isolation.Inside{}, err
	}
	done := func(ctx context.Context, exit hermes.Exit, ended bool) []hermes.Refusal {
		defer over()
		w.mu.Lock()
		v.place.end()
		w.mu.Unlock()
		v.place.keeper.Close() // and with it what the command left running
		return v.done(ctx, exit, ended)
	}
	return isolation.Inside{Launcher: v.place.keeper, Env: v.environ, Output: &v.output, Done: done}, nil
}

// outside lets a command run without walls. What is inside is stopped until it is over, and
// nothing starts there: a file could be exchanged between the user's answer and the moment
// at which the command, or what it starts, reads it.
func (w *Walls) outside(ctx context.Context) (isolation.Inside, error) {
	over, err := w.stop(ctx)
	if err != nil {
		return isolation.Inside{}, err
	}
	return isolation.Inside{Done: func(context.Context, hermes.Exit, bool) []hermes.Refusal {
		over()
		return nil
	}}, nil
}

// stop stops everything inside, and lets nothing start there, until the returned func is
// called: also in other sessions of this program whose workspace is, holds, or is in this
// one.
func (w *Walls) stop(ctx context.Context) (over func(), err error) {
	var undo []func()
	over = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	for _, one := range w.program.around(w) {
		open, err := one.gate.close(ctx)
		if err != nil {
			over()
			return nil, err
		}
		undo = append(undo, open)
		thaw, err := one.freeze()
		if err != nil {
			over()
			return nil, err
		}
		undo = append(undo, thaw)
	}
	return over, nil
}

// freeze stops everything inside.
func (w *Walls) freeze() (thaw func(), err error) {
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.places))
	w.mu.Unlock()
	var thaws []func()
	thaw = func() {
		for _, t := range thaws {
			t()
		}
	}
	for _, at := range all {
		t, err := at.keeper.Freeze() // the keeper counts who wants it stopped
		select {
		case <-at.keeper.Gone(): // nothing is left to be frozen
			continue
		default:
		}
		if err != nil {
			thaw()
			return nil, err
		}
		thaws = append(thaws, t)
	}
	return thaw, nil
}

// visit is one command inside.
type visit struct {
	walls   *Walls
	place   *place
	line    string
	dir     string
	allowed []string // what the user allowed it of the protected paths
	once    bool     // something that its place opens is for this command only
	begin   time.Time
	ports   []int
	revoke  []func()
	output  tail
}

// visit prepares a command inside. It returns nil if there are no walls, and need not be.
func (w *Walls) visit(ctx context.Context, k key, c hermes.Command, dir string, needs []hermes.Need) (*visit, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, err := k.limited(c.Limits)
	if err != nil {
		return nil, err
	}
	granted := needs[:len(needs)-len(c.Need)]
	w.usual = keyOf(w.config.Profile, granted)
	at, err := w.at(ctx, k)
	if at == nil {
		return nil, err
	}
	if err := w.guard(&w.workspace); err != nil {
		return nil, err
	}
	if w.outdated(at) {
		if at.stale = true; at.running == 0 && at.keeper.Empty() {
			if at, err = w.at(ctx, k); at == nil {
				return nil, err
			}
		}
	}
	for _, dir := range at.folders {
		if err := w.guard(w.projects[dir]); err != nil {
			return nil, err
		}
	}
	w.forget()
	if err := w.forward(at, granted, c.Need); err != nil {
		return nil, err
	}
	w.running++
	at.running++
	v := &visit{walls: w, place: at, line: c.Line, dir: dir, once: keyOf(k.profile, needs) != keyOf(k.profile, granted), allowed: at.allowed, begin: time.Now()}
	v.ports, _ = at.keeper.Ports() // those of a keeper that has gone are told when it is used
	v.revoke = append(w.open(granted, c.Need), w.writes.begin(c))
	return v, nil
}

// environ changes the variables of a command. What the session itself has changed stays,
// but for the way out.
func (v *visit) environ(env []string) []string {
	at := v.place
	set := slices.Concat(at.plan.Set, v.walls.sshCommand(at), v.walls.authorities)
	if s := v.walls.swap; s != nil {
		set = append(set, s.Placeholders()...)
	}
	var proxy []string
	if at.port > 0 {
		proxy = v.walls.session.Environ(at.port)
	}
	original := values(v.walls.config.Environ)
	now := values(env)
	drop := map[string]bool{}
	for _, name := range at.plan.Unset {
		drop[name] = now[name] == original[name]
	}
	var add []string
	for _, s := range set {
		name, _, _ := strings.Cut(s, "=")
		if now[name] == original[name] {
			drop[name] = true
			add = append(add, s)
		}
	}
	for _, p := range proxy {
		name, _, _ := strings.Cut(p, "=")
		drop[name] = true
		add = append(add, p)
	}
	out := slices.DeleteFunc(slices.Clone(env), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return drop[name]
	})
	return append(out, add...)
}

// values maps the names of variables to their last values.
func values(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, s := range env {
		name, value, _ := strings.Cut(s, "=")
		m[name] = value
	}
	return m
}

// done collects what the walls refused.
func (v *visit) done(_ context.Context, exit hermes.Exit, _ bool) []hermes.Refusal {
	for _, revoke := range v.revoke {
		revoke()
	}
	w := v.walls
	refused := w.swaps.since(w.keysRefused(w.hosts(v.begin), v.begin), v.begin)
	refused = append(refused, v.paths(exit.Code != 0)...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	v.place.running--
	ports := v.opened()
	if v.once && v.place.running == 0 {
		w.end(v.place)
		ports = nil // what the command left running is gone
	}
	first, rest := v.changes().sorted()
	refused = slices.Concat(first, refused, rest)
	w.leaveProjects()
	w.forget()
	if w.busy() { // what runs on may change files and end before the next command
		w.doubt()
	}
	return append(refused, ports...)
}

// opened reports the ports that the command, or another at the same time, opened.
func (v *visit) opened() []hermes.Refusal {
	ports, err := v.place.keeper.Ports()
	if err != nil {
		return nil
	}
	var out []hermes.Refusal
	for _, p := range ports {
		if p == v.place.port || slices.Contains(v.ports, p) || v.walls.forwards[p] != nil {
			continue
		}
		out = append(out, openedPort(v.place.keeper.Layer(), p))
	}
	return out
}
