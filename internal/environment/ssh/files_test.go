package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/environment/remote"
)

// noScripts are files over scripts that only record what is asked of them.
type noScripts struct {
	remote.ScriptFiles
	asked *[]string
}

func (n noScripts) Resolve(p string) (string, error) { return p, nil }

func (n noScripts) Write(_ context.Context, p string, _ []byte, mode fs.FileMode) error {
	*n.asked = append(*n.asked, "write "+filepath.Base(p)+" "+mode.String())
	return nil
}

func (n noScripts) Remove(_ context.Context, p string) error {
	*n.asked = append(*n.asked, "remove "+filepath.Base(p))
	return errors.New("why")
}

func TestFilesGoOverSftp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		r := mustNew(t, config(t, s, library))
		var asked []string
		f, ctx, dir := r.Files(noScripts{asked: &asked}), t.Context(), t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		all := []byte(strings.Repeat("0123456789abcdef\x00\n", 100_000))
		run(t, r, "cd "+dir+" && mkfifo pipe && mkdir full && echo x >full/x && echo secret >private && chmod 600 private && ln -s loop loop", "")

		if err := f.Write(ctx, at("a/b/file"), all, 0); err != nil {
			t.Fatal(err)
		}
		in, err := f.Open(ctx, at("a/b/file"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(in); err != nil || !bytes.Equal(b, all) {
			t.Errorf("%d bytes came back, %v", len(b), err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if len(asked) > 0 {
			t.Errorf("scripts were used: %q", asked)
		}
		// A file that not all may read is never open to them, not even while it is made.
		for name, mode := range map[string]fs.FileMode{"private": 0, "new": 0o600} {
			if err := f.Write(ctx, at(name), all, mode); err != nil {
				t.Error(err)
			}
		}
		if err := f.Remove(ctx, at("full")); err == nil || err.Error() != "why" {
			t.Errorf("a folder with something in it: %v", err)
		}
		if len(asked) != 3 {
			t.Errorf("scripts did %q", asked)
		}
		if _, err := f.Open(ctx, at("pipe")); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a pipe: %v", err)
		}
		if _, err := f.RealPath(ctx, at("loop")); err == nil || !strings.Contains(err.Error(), "loop") {
			t.Errorf("a loop: %v", err)
		}
		if _, err := f.List(ctx, at("none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing folder: %v", err)
		}
		if names, _ := filepath.Glob(at(".hermes-*")); len(names) > 0 {
			t.Errorf("left: %q", names)
		}
	})
}

// TestFilesStopWithTheContext while the network is silent, and nothing is written.
func TestFilesStopWithTheContext(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		n := s.NewNetwork(t)
		e := mustEnvironment(t, config(t, s, library))
		defer e.Close()
		if err := e.Files().Write(t.Context(), "file", []byte("old"), 0); err != nil {
			t.Fatal(err)
		}
		f := e.Files()
		path, err := f.Resolve("file")
		if err != nil {
			t.Fatal(err)
		}
		n.Freeze()
		cause := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.Write(ctx, path, []byte("new"), 0) }()
		cancel(cause)
		if err := <-done; !errors.Is(err, cause) {
			t.Errorf("error %v, want the cause", err)
		}
		n.Thaw()
		var out bytes.Buffer
		if _, err := e.Exec(t.Context(), hermes.Command{Line: "cat file; i=0; while [ $i -lt 100 ] && ls -A | grep -q hermes-; do sleep 0.1; i=$((i+1)); done; ls -A", Stdout: &out}); err != nil || out.String() != "oldfile\n" {
			t.Errorf("afterwards: %q, %v", out.String(), err)
		}
	})
}
