package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/environment/remote"
)

// thePlace is the folder that only commands of the place see the files in. On this machine it is another one.
const thePlace = "/mnt"

// place is another machine, made of a mount namespace: thePlace has its files, and it has another home, other
// temporary files, other variables and another system.
type place struct {
	root string

	mu      sync.Mutex
	scripts []string
	open    map[string]int // sessions, by how often their place was opened
	closed  int
	down    error
	is      hermes.Isolation
}

// mustPlace makes a place with a home, or skips the test where this host has no mount namespaces.
func mustPlace(t *testing.T) *place {
	t.Helper()
	p := &place{root: t.TempDir(), open: map[string]int{}}
	p.put("home/.keep", "")
	p.put("tmp/.keep", "")
	p.put("os-release", "PRETTY_NAME=\"Placeix 7\"\nNAME=Placeix\nID=placeix\nVERSION_ID=7\n")
	if _, err := (placeRunner{p}).Exec(t.Context(), remote.Script{Text: "test -d " + thePlace + "/home"}); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return p
}

func (p *place) put(name, text string) {
	full := filepath.Join(p.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
		panic(err) // of a temporary folder
	}
}

func (p *place) has(name string) string {
	text, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// runner is the place of a session.
func (p *place) runner(_, session string) (remote.Runner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[session]++
	return placeRunner{p}, nil
}

func (p *place) set(down error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

type placeRunner struct{ *place }

const enterPlace = `mount --bind "$1" /mnt && mount --bind /mnt/os-release /etc/os-release && mount --bind /mnt/tmp "$3" || exit 99; cd /mnt/home; exec env -i PATH="$PATH" HOME=/mnt/home IN_THE_PLACE=yes sh -c "$2"`

func (r placeRunner) Exec(ctx context.Context, s remote.Script) (int, error) {
	r.mu.Lock()
	r.scripts = append(r.scripts, s.Text)
	down := r.down
	r.mu.Unlock()
	if down != nil {
		return 0, fmt.Errorf("%w: %w", remote.ErrNotRun, down)
	}
	c := exec.CommandContext(ctx, "unshare", "-Urm", "sh", "-c", enterPlace, "sh", r.root, s.Text, os.TempDir())
	c.Stdin, c.Stdout, c.Stderr = s.Stdin, s.Stdout, s.Stderr
	err := c.Run()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 99:
		return 0, errors.New("no mount namespace")
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal()), nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (r placeRunner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
	return nil
}

func (r placeRunner) Describe() hermes.Description { return hermes.Description{Isolation: r.is} }

// newPlaceScene is a scene whose sessions work in a place. The variables of this machine have canaries.
func newPlaceScene(t *testing.T, answer hermes.Decision) (*scene, *place) {
	t.Helper()
	p := mustPlace(t)
	s := newScene(t, answer)
	s.config = "terminal: {backend: docker, env_passthrough: [NAMED]}\nsecurity: {trusted_folders: ['/mnt', '" + s.dir + "']}\n"
	s.options = func(o *app.Options) {
		o.Runner = p.runner
		o.Environ = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=/root", "PLAIN=host-canary", "MY_TOKEN=host-canary-2", "NAMED=by-the-user", "OPENAI_API_KEY=sk-host-canary-3"}
		}
	}
	return s, p
}
