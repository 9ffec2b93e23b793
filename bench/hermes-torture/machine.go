package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/app"
)

// machine is a user with the program, an empty home and a folder to work in.
type machine struct {
	hermes string
	home   string // of Hermes
	work   string
	temp   string
	env    []string
	inside []string // a command that runs another one, such as nsenter; empty for none
	root   string   // where the folders are for this process, if they are elsewhere
}

// newMachine makes the folders below dir. config is the text of config.yaml.
func newMachine(hermes, dir, config string, env ...string) (*machine, error) {
	m := &machine{hermes: hermes, home: filepath.Join(dir, "home", ".hermes"), work: filepath.Join(dir, "work"), temp: filepath.Join(dir, "tmp")}
	for _, d := range []string{m.home, m.work, m.temp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	m.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"HOME=" + filepath.Dir(m.home), "USERPROFILE=" + filepath.Dir(m.home), "HERMES_HOME=" + m.home,
		"TMPDIR=" + m.temp, "TERM=dumb", "TORTURE_KEY=key-of-the-torture",
	}, env...)
	return m, m.configure(config)
}

func (m *machine) configure(config string) error {
	return os.WriteFile(filepath.Join(m.home, "config.yaml"), []byte(config), 0o600)
}

// ended is how a run of the program ended.
type ended struct {
	status  int // -1 if it was killed
	out     string
	errText string
	seconds float64
}

// complaint is the last line that the program wrote to its standard error.
func (e ended) complaint() string {
	lines := strings.Split(strings.TrimSpace(e.errText), "\n")
	return lines[len(lines)-1]
}

// patience is how long a run may take before it counts as hanging.
const patience = 4 * time.Minute

// process is a started run of the program.
type process struct {
	cmd          *exec.Cmd
	args         []string
	out, errText bytes.Buffer
	began        time.Time
	ctx          context.Context
	cancel       context.CancelFunc
}

func (m *machine) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{args: args, began: time.Now()}
	p.ctx, p.cancel = context.WithTimeout(ctx, patience)
	p.cmd = exec.CommandContext(p.ctx, m.hermes, args...)
	p.cmd.Env, p.cmd.Dir = m.env, m.work
	if len(m.inside) > 0 {
		p.cmd = exec.CommandContext(p.ctx, m.inside[0], slices.Concat(m.inside[1:], []string{m.hermes}, args)...)
		p.cmd.Env = m.env
	}
	p.cmd.WaitDelay = 5 * time.Second // a child that was left may hold the pipes
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errText
	if err := p.cmd.Start(); err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// wait waits for the end. An error says that the program hangs.
func (p *process) wait() (ended, error) {
	defer p.cancel()
	err := p.cmd.Wait()
	e := ended{status: p.cmd.ProcessState.ExitCode(), out: strings.TrimSpace(p.out.String()), errText: p.errText.String(), seconds: time.Since(p.began).Seconds()}
	if p.ctx.Err() != nil {
		return e, fmt.Errorf("hermes %s did not end within %s: %s", strings.Join(p.args, " "), patience, e.complaint())
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return e, err
	}
	return e, nil
}

// run runs the program to its end.
func (m *machine) run(ctx context.Context, args ...string) (ended, error) {
	p, err := m.start(ctx, args...)
	if err != nil {
		return ended{}, err
	}
	return p.wait()
}

// stored is what the database holds of one session.
type stored struct {
	id       string
	messages []hermes.Message
	open     []hermes.Step
	spent    hermes.Spending
}

// read reads the newest session from a copy of the database, so that what it finds there
// is what the next run finds. No program may run then.
func (m *machine) read(ctx context.Context) (stored, error) {
	copied, err := os.MkdirTemp(m.temp, "copy-")
	if err != nil {
		return stored{}, err
	}
	defer os.RemoveAll(copied)
	for _, name := range []string{"hermes.db", "hermes.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(m.root+m.home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), raw, 0o600)
		}
		if err != nil {
			return stored{}, err
		}
	}
	variables := map[string]string{"HERMES_HOME": copied, "HOME": copied}
	a := app.New(app.Options{Getenv: func(name string) string { return variables[name] }, Environ: func() []string { return nil }})
	defer func() { _ = a.Close() }() // only the copy is lost
	s, err := a.Database(ctx)
	if err != nil {
		return stored{}, err
	}
	list, err := s.ListSessions(ctx, hermes.SessionFilter{Limit: 1, NonEmpty: true})
	if err != nil || len(list) == 0 {
		return stored{}, fmt.Errorf("no session is stored: %w", err)
	}
	got := stored{id: list[0].ID}
	if got.messages, err = s.Messages(ctx, got.id, hermes.Range{}); err != nil {
		return got, err
	}
	if got.open, err = s.OpenSteps(ctx, got.id); err != nil {
		return got, err
	}
	groups, err := s.Spent(ctx, hermes.SpendQuery{Session: got.id})
	if err == nil && len(groups) > 0 {
		got.spent = groups[0]
	}
	return got, err
}

// litter matches files that a killed program leaves behind and a later one should remove.
var litter = regexp.MustCompile(`^hermes-shell-|^\..*\.tmp`)

// litter counts what is left in the folders of the machine.
func (m *machine) litter() int {
	n := 0
	for _, dir := range []string{m.temp, m.home, m.work} {
		_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
			if err == nil && litter.MatchString(d.Name()) {
				n++
			}
			return nil
		})
	}
	return n
}
