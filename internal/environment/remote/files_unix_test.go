//go:build unix

package remote_test

import (
	"fmt"
	"hermes"
	"hermes/internal/environment/remote"
	"io"
	"io/fs"
	"strings"
	"testing"
)

func TestNamesWithLineEndsAreListed(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		e, _ := place(t, shell)
		output(t, e, `touch -- "two
lines" '-n' 'b  c'`)
		entries, err := e.Files().List(t.Context(), ".")
		if err != nil || len(entries) != 3 || entries[0].Name() != "-n" || entries[2].Name() != "two\nlines" {
			t.Errorf("%s: listed %v, error %v", shell, entries, err)
		}
	}
}

func TestOpenFileMayBeClosedEarly(t *testing.T) {
	t.Parallel()
	e, _ := place(t, "bash")
	r, err := e.Files().Open(t.Context(), "/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestNewFilesObeyAnyUmask uses an unusual one, for which the usual 022 cannot be mistaken.
func TestNewFilesObeyAnyUmask(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		e, h := place(t, shell)
		h.umask = "007"
		files := e.Files()
		if err := files.Write(t.Context(), "new/a", nil, 0); err != nil {
			t.Fatal(err)
		}
		if err := files.Rename(t.Context(), "new/a", "new/sub/b"); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{"new": 0o770, "new/sub": 0o770, "new/sub/b": 0o660} {
			if info, err := files.Stat(t.Context(), path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %s: mode %v, %v, want %v", shell, path, info, err, want)
			}
		}
	}
}

// TestHalfAWriteChangesNothing: a connection that is cut looks like the end of the data.
func TestHalfAWriteChangesNothing(t *testing.T) {
	t.Parallel()
	e, h := place(t, "dash")
	output(t, e, "printf old >file")
	h.input = func(r io.Reader) io.Reader { return io.LimitReader(r, 3) }
	err := e.Files().Write(t.Context(), "file", []byte("newer"), 0)
	h.input = nil
	if err == nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("error %v", err)
	}
	if got := output(t, e, "cat file; ls -A"); got != "oldfile" {
		t.Errorf("got %q", got)
	}
}

// TestManyPathsAreLocatedInParts: the text of a script must not become too long, and each answer is that of
// its path.
func TestManyPathsAreLocatedInParts(t *testing.T) {
	t.Parallel()
	h := newHost(t, "sh")
	e := remote.New(remote.Config{Runner: h, Shell: h.shell})
	t.Cleanup(func() { _ = e.Close() })
	output(t, e, "true")
	before := h.count()
	var paths []string
	for i := range 450 {
		paths = append(paths, fmt.Sprintf("/tmp/none-%d/%s", i, strings.Repeat("x", 100)))
	}
	found, err := e.Files().(hermes.LocatingFiles).Locate(t.Context(), paths...)
	if err != nil || len(found) != len(paths) {
		t.Fatalf("%d answers, %v", len(found), err)
	}
	for i, f := range found {
		if f.Real != paths[i] || f.Info != nil {
			t.Errorf("%s: got %+v", paths[i], f)
		}
	}
	if n := h.count() - before; n != 3 {
		t.Errorf("it took %d scripts, want 3", n)
	}
}
