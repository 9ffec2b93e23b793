//go:build unix

package remote_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/environment/remote"
	"hermes/internal/liveness"
)

// files is a Carrier of files by their paths.
type files struct {
	mu      sync.Mutex
	has     map[string]string
	changed map[string]bool
}

func carrier(has map[string]string) *files { return &files{has: has, changed: map[string]bool{}} }

func (f *files) set(path, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has[path], f.changed[path] = text, true
}

func (f *files) Changed(all bool) (list []remote.CarriedFile, problems []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(f.has)) {
		if all || f.changed[p] {
			list = append(list, remote.CarriedFile{Path: p, Data: []byte(f.has[p])})
		}
	}
	clear(f.changed)
	return list, nil
}

// inHome writes a file of the home folder of a place, as its user does, and homeHas reads one.
func (h *host) inHome(t *testing.T, name, text string) {
	t.Helper()
	at := filepath.Join(h.dir, "home", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func (h *host) homeHas(name string) string {
	text, err := readAll(filepath.Join(h.dir, "home", name))
	if err != nil {
		return "none"
	}
	return text
}

// TestFilesOfThisMachineAreInThePlace before the first command, for their user only, again when they have changed, and
// no longer than the session. What is there already, or was changed there, is kept and told once.
func TestFilesOfThisMachineAreInThePlace(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, shell)
			t.Cleanup(func() { h.check(t) })
			h.umask = "000"
			binary := "a\x00'b\n\n"
			h.inHome(t, ".theirs", "of the place")
			h.inHome(t, ".same", "equal")
			c := carrier(map[string]string{".aws/credentials": "first", ".bin": binary, ".theirs": "of this machine", ".same": "equal", "a b/ü 'c": "odd"})
			e := remote.New(remote.Config{Runner: h, Shell: h.shell, Carry: c})
			if got := output(t, e, "cat ~/.aws/credentials ~/.theirs ~/a*/*"); got != "firstof the placeodd" || h.homeHas(".bin") != binary {
				t.Errorf("got %q, %q", got, h.homeHas(".bin"))
			}
			for name, want := range map[string]os.FileMode{".aws/credentials": 0o600, ".aws": 0o700, ".hermes/credential-files": 0o700} {
				if info, err := os.Stat(filepath.Join(h.dir, "home", name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
			want := []string{"Commands do not get this machine's ~/.theirs: there is another file of this name, or it was changed there; it was kept."}
			if d := cmp.Diff(want, e.Untold()); d != "" {
				t.Error(d)
			}
			before := h.count()
			output(t, e, "true")
			if n := h.count() - before; n != 1 {
				t.Errorf("a command without changes needs %d scripts", n)
			}
			c.set(".aws/credentials", "second")
			if got := output(t, e, "cat ~/.aws/credentials; printf mine >~/.bin"); got != "second" {
				t.Errorf("after a change: %q", got)
			}
			c.set(".bin", "newer")
			if got := output(t, e, "cat ~/.bin"); got != "mine" || len(e.Untold()) != 1 {
				t.Errorf("what was changed there is replaced: %q", got)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, name := range []string{".aws/credentials", ".bin", ".theirs", ".same", "a b/ü 'c", ".hermes"} {
				got[name] = h.homeHas(name)
			}
			if d := cmp.Diff(map[string]string{".aws/credentials": "none", ".bin": "mine", ".theirs": "of the place", ".same": "equal", "a b/ü 'c": "none", ".hermes": "none"}, got); d != "" {
				t.Errorf("after the session: %s", d)
			}
			if _, err := os.Stat(filepath.Join(h.dir, "home", ".hermes")); !errors.Is(err, os.ErrNotExist) {
				left, _ := filepath.Glob(filepath.Join(h.dir, "home", ".hermes", "*", "*"))
				t.Errorf("the records: %v, %v", left, err)
			}
		})
	}
}

// count is how many scripts ran.
func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// TestFilesStayForWhoUsesThem: the first of two sessions of a machine that ends removes nothing of the other, and the next
// one removes what a killed one has put there.
func TestFilesStayForWhoUsesThem(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, shell)
			t.Cleanup(func() { h.check(t) })
			notes := t.TempDir()
			open := func(c remote.Carrier) *remote.Environment {
				e := remote.New(remote.Config{Runner: lasting{h, "a"}, Shell: h.shell, Notes: notes, Carry: c})
				t.Cleanup(func() { _ = e.Close() }) // again, or of a killed program
				return e
			}
			one, two := open(carrier(map[string]string{".key": "secret"})), open(carrier(map[string]string{".key": "secret"}))
			output(t, one, "true")
			output(t, two, "true")
			if err := one.Close(); err != nil {
				t.Error(err)
			}
			if got := output(t, two, "cat ~/.key"); got != "secret" {
				t.Errorf("the second session has %q", got)
			}
			all, err := os.ReadDir(notes)
			if err != nil || len(all) != 1 {
				t.Fatalf("notes %v, %v", all, err)
			}
			endLock(t, filepath.Join(notes, all[0].Name(), liveness.LockName))
			next := open(nil)
			output(t, next, "true")
			if got := h.homeHas(".key"); got != "none" {
				t.Errorf("a killed program left %q", got)
			}
		})
	}
}

// replaceable is a place that can be replaced by an empty one.
type replaceable struct {
	*host
	mu   sync.Mutex
	name string
}

func (r *replaceable) Instance() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.name
}

func (r *replaceable) is(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = name
}

// TestAnotherPlaceGetsTheFilesAgain, and a file that commands remove stays away otherwise.
func TestAnotherPlaceGetsTheFilesAgain(t *testing.T) {
	t.Parallel()
	h := newHost(t, "dash")
	t.Cleanup(func() { h.check(t) })
	r := &replaceable{host: h, name: "one"}
	e := remote.New(remote.Config{Runner: r, Shell: h.shell, Carry: carrier(map[string]string{".key": "secret"})})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"one", "two", ""} {
		r.is(name)
		if got := output(t, e, "cat ~/.key; rm -r ~/.key ~/.hermes"); got != "secret" {
			t.Errorf("%q has %q", name, got)
		}
	}
	r.is("three")
	output(t, e, "true")
	if got := output(t, e, "rm ~/.key; ls -A ~"); got != ".hermes" {
		t.Errorf("the home has %q", got)
	}
	var out strings.Builder
	if exit, err := e.Exec(t.Context(), hermes.Command{Line: "cat ~/.key", Stdout: &out}); err != nil || exit.Code == 0 {
		t.Errorf("a file that was removed there came back: %q, %v", out.String(), err)
	}
}

// TestLinksOfThePlaceLeadNoFileOut of the home folder there, such as into a folder of this machine that is mounted; and
// links in the home folder are followed.
func TestLinksOfThePlaceLeadNoFileOut(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		for link, want := range map[string]string{".aws": "a/key", ".hermes": "", "a": ".aws/key"} {
			t.Run(shell+" "+link, func(t *testing.T) {
				t.Parallel()
				h := newHost(t, shell)
				t.Cleanup(func() { h.check(t) })
				h.inHome(t, "dotfiles/x", "")
				outside := filepath.Join(h.dir, "work", "outside")
				if err := errors.Join(os.Mkdir(outside, 0o700), os.Symlink(outside, filepath.Join(h.dir, "home", link)), os.Symlink("dotfiles", filepath.Join(h.dir, "home", "in"))); err != nil {
					t.Fatal(err)
				}
				e := remote.New(remote.Config{Runner: h, Shell: h.shell, Carry: carrier(map[string]string{".aws/key": "secret", "a/key": "secret", "in/sub/key": "secret"})})
				output(t, e, "true")
				left, err := os.ReadDir(outside)
				if err != nil || len(left) > 0 {
					t.Errorf("outside of the home has %v, %v", left, err)
				}
				told := strings.Join(e.Untold(), "\n")
				if !strings.Contains(told, "out of the home folder") {
					t.Errorf("told %q", told)
				}
				if want != "" && (h.homeHas(want) != "secret" || h.homeHas("dotfiles/sub/key") != "secret") {
					t.Errorf("%s has %q, that in the home %q", want, h.homeHas(want), h.homeHas("dotfiles/sub/key"))
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if got := h.homeHas("dotfiles/sub/key"); got != "none" {
					t.Errorf("after the session: %q", got)
				}
			})
		}
	}
}

// TestWithoutAHomeNothingIsPut into the folder in which scripts begin, which may be the workspace.
func TestWithoutAHomeNothingIsPut(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"HOME=relative", "HOME=."} {
		h := newHost(t, "dash")
		t.Cleanup(func() { h.check(t) })
		h.env = append(slices.DeleteFunc(slices.Clone(h.env), func(v string) bool { return strings.HasPrefix(v, "HOME=") }), home)
		if err := os.Mkdir(filepath.Join(h.dir, "work", "relative"), 0o700); err != nil {
			t.Fatal(err)
		}
		e := remote.New(remote.Config{Runner: h, Shell: h.shell, Carry: carrier(map[string]string{".key": "secret"})})
		if got := output(t, e, "find . -name .key -o -name .hermes"); got != "" {
			t.Errorf("%s: it was put into %q", home, got)
		}
		if told := strings.Join(e.Untold(), "\n"); !strings.Contains(told, "no home folder") {
			t.Errorf("%s: told %q", home, told)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStoppedCommandIsNoFailureOfFiles: nothing is told, and the next command gets them.
func TestAStoppedCommandIsNoFailureOfFiles(t *testing.T) {
	t.Parallel()
	h := newHost(t, "dash")
	t.Cleanup(func() { h.check(t) })
	ctx, stop := context.WithCancel(t.Context())
	h.before = func(of context.Context, s remote.Script) error {
		if s.Stdin == nil || ctx.Err() != nil {
			return nil
		}
		stop()
		<-of.Done()
		return context.Cause(of)
	}
	e := remote.New(remote.Config{Runner: h, Shell: h.shell, Carry: carrier(map[string]string{".key": "secret"})})
	if _, err := e.Exec(ctx, hermes.Command{Line: "true"}); err == nil {
		t.Error("a command that was stopped ran")
	}
	if told := e.Untold(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
	if got := output(t, e, "cat ~/.key"); got != "secret" || len(e.Untold()) > 0 {
		t.Errorf("the next command has %q", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
