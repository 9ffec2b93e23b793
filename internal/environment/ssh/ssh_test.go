package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
	"hermes/internal/environment/sshdtest"
)

// newServer starts a real sshd, or skips the test where it is not installed.
func newServer(t testing.TB, options ...string) *sshdtest.Server {
	t.Helper()
	return sshdtest.New(t, os.Getenv("CI") == "true", options...)
}

// config is how a client of its own reaches a server.
func config(t testing.TB, s *sshdtest.Server, library bool) ssh.Config {
	t.Helper()
	return ssh.Config{Host: "box", File: s.Config, Home: t.TempDir(), Run: filepath.Join(s.Dir, "run"), Env: sshdtest.Env, Library: library, Alive: time.Second}
}

// mustNew returns a runner that is closed with the test.
func mustNew(t testing.TB, c ssh.Config) *ssh.Runner {
	t.Helper()
	r, err := ssh.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

// both runs a test over each way.
func both(t *testing.T, test func(t *testing.T, library bool)) {
	t.Helper()
	for name, library := range map[string]bool{"program": false, "library": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, library)
		})
	}
}

// run runs a script and returns its streams and its exit code.
func run(t testing.TB, r *ssh.Runner, text, stdin string) (string, string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := remote.Script{Text: text, Stdout: &out, Stderr: &errs}
	if stdin != "" {
		s.Stdin = strings.NewReader(stdin)
	}
	code, err := r.Exec(t.Context(), s)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return out.String(), errs.String(), code
}

func TestAScriptEndsAsOneOfTheShell(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t)
		r := mustNew(t, config(t, s, library))
		for _, c := range []struct {
			text, stdin, out, errs string
			code                   int
		}{
			{"echo a; echo b >&2", "", "a\nb\n"[:2], "b\n", 0},
			{"exit 255", "", "", "", 255},
			{"exit 7; echo never", "", "", "", 7},
			{"printf 'no newline'; exit 254", "", "no newline", "", 254},
			{"exec sh -c 'kill -KILL $$'", "", "", "", 137},
			{"exec sh -c 'kill -TERM $$'", "", "", "", 143},
			{"cat", "its own input\n", "its own input\n", "", 0},
			{"read a; echo \"<$a>\"; cat", "one\ntwo", "<one>\ntwo", "", 0},
			{"true", "unread " + strings.Repeat("x", 1<<20), "", "", 0},
			{"echo \"$# ${n-}${s-}${c-}${l-}\"", "", "0 \n", "", 0},
			{"echo \"${LC_ALL-unset}\"", "", "unset\n", "", 0},
			{"printf '%s' 'é ü \u2028 \\ \" ! $x `'", "", "é ü \u2028 \\ \" ! $x `", "", 0},
			{"cat <<'E'\n'quoted' !\\\nE\necho end", "", "'quoted' !\\\nend\n", "", 0},
			{"exec printf x", "", "x", "", 0},
			{"", "", "", "", 0},
		} {
			out, errs, code := run(t, r, c.text, c.stdin)
			if out != c.out || errs != c.errs || code != c.code {
				t.Errorf("%q: %q, %q, %d, want %q, %q, %d", c.text, out, errs, code, c.out, c.errs, c.code)
			}
		}
		if _, errs, code := run(t, r, "if", ""); code != 2 || errs == "" {
			t.Errorf("a fault in the script: %q, %d", errs, code)
		}
		if _, err := r.Exec(t.Context(), remote.Script{Text: "a\x00b"}); !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("a zero byte: %v", err)
		}
		var joined bytes.Buffer
		if _, err := r.Exec(t.Context(), remote.Script{Text: "for i in 1 2 3 4; do echo o$i; echo e$i >&2; done", Stdout: &joined, Stderr: &joined}); err != nil || joined.String() != "o1\ne1\no2\ne2\no3\ne3\no4\ne4\n" {
			t.Errorf("one writer for both: %q, %v", joined.String(), err)
		}
		if n := s.Accepted(); n != 1 {
			t.Errorf("%d connections, want one that is shared", n)
		}
	})
}

func TestALongScriptHasItsOwnInput(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		r := mustNew(t, config(t, newServer(t), library))
		var text strings.Builder
		for text.Len() < 300_000 {
			text.WriteString("x='zwölf Boxkämpfer'; : \"$x\"\n")
		}
		text.WriteString("\n\ncat | cksum\n\n")
		input := strings.Repeat("bytes\x00\xff\n", 200_000)
		out, errs, code := run(t, r, text.String(), input)
		want, _, _ := run(t, r, "cksum", input)
		if out != want || out == "" || errs != "" || code != 0 {
			t.Errorf("%q, %q, %d, want %q", out, errs, code, want)
		}
	})
}

func TestLoginShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/usr/bin/fish", "/bin/csh", "/bin/tcsh", "/bin/zsh", "/bin/ksh"} {
		if _, err := os.Stat(shell); err != nil {
			continue
		}
		t.Run(filepath.Base(shell), func(t *testing.T) {
			t.Parallel()
			// What a login shell is for sshd: it runs <shell> -c <line>.
			s := newServer(t, "ForceCommand exec "+shell+` -c "$SSH_ORIGINAL_COMMAND"`)
			r := mustNew(t, config(t, s, false))
			out, errs, code := run(t, r, "printf '%s\\n' \"it's\" '!x' \"$0\"; cat; exit 3", "in é")
			if out != "it's\n!x\nsh\nin é" || errs != "" || code != 3 {
				t.Errorf("%q, %q, %d", out, errs, code)
			}
		})
	}
}

// TestWhatAScriptLeavesRunningHoldsNothingUp also keeps it running.
func TestWhatAScriptLeavesRunningHoldsNothingUp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		r := mustNew(t, config(t, newServer(t), library))
		begin := time.Now()
		out, _, _ := run(t, r, "sh -c 'echo $$; i=0; while [ $i -lt 3000 ]; do echo noise || exit 1; sleep 0.1; i=$((i+1)); done' & sleep 0.2; echo end", "")
		if took := time.Since(begin); took > 20*time.Second || !strings.Contains(out, "end\n") {
			t.Errorf("it took %v: %q", took, out)
		}
		pid, _, _ := strings.Cut(out, "\n")
		if out, _, code := run(t, r, "sleep 0.5; kill "+pid, ""); code != 0 {
			t.Errorf("what it left does not run any more: %q", out)
		}
	})
}

func TestTheEndOfTheContextCutsTheScript(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		r := mustNew(t, config(t, newServer(t), library))
		cause := errors.New("the user said stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		out := &said{first: make(chan struct{})}
		done := make(chan error)
		go func() {
			_, err := r.Exec(ctx, remote.Script{Text: "echo begun; exec sleep 30", Stdout: out})
			done <- err
		}()
		<-out.first
		cancel(cause)
		if err := <-done; !errors.Is(err, cause) {
			t.Errorf("error %v, want the cause", err)
		}
		if out, _, _ := run(t, r, "echo goes on", ""); out != "goes on\n" {
			t.Errorf("afterwards: %q", out)
		}
	})
}

// said closes first at the first write.
type said struct {
	first chan struct{}
	bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	if s.Len() == 0 {
		close(s.first)
	}
	return s.Buffer.Write(p)
}

func TestMoreScriptsThanOneConnectionAllows(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		s := newServer(t, "MaxSessions 3")
		r := mustNew(t, config(t, s, library))
		run(t, r, "true", "")
		const many = 8
		started, release := make(chan *said, many), make(chan struct{})
		done := make(chan error, many)
		for range many {
			go func() {
				out := &said{first: make(chan struct{})}
				in := readerFunc(func([]byte) (int, error) { <-release; return 0, errors.New("end") })
				go func() { started <- out }()
				code, err := r.Exec(t.Context(), remote.Script{Text: "echo begun; cat; echo end", Stdin: in, Stdout: out})
				if err == nil && (code != 0 || out.String() != "begun\nend\n") {
					err = errors.New(out.String())
				}
				done <- err
			}()
		}
		for range many {
			<-(<-started).first
		}
		close(release)
		for range many {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestARefusedSessionLeavesNoConnection: what the server refuses on a connection of its own ends
// that connection.
func TestARefusedSessionLeavesNoConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t, "MaxSessions 2", "PermitTTY no", "# no Subsystem")
	r := mustNew(t, config(t, s, true))
	release := make(chan struct{})
	const many = 4 // more than the shared connection takes
	done := make(chan error, many)
	for range many {
		held := &said{first: make(chan struct{})}
		go func() {
			in := readerFunc(func([]byte) (int, error) { <-release; return 0, io.EOF })
			_, err := r.Exec(t.Context(), remote.Script{Text: "echo begun; cat", Stdin: in, Stdout: held})
			done <- err
		}()
		select {
		case <-held.first:
		case err := <-done:
			t.Fatal(err)
		}
	}
	open, accepted := s.Connections(), s.Accepted()
	if _, err := r.Terminal(t.Context(), remote.Script{Text: "true"}, 80, 24); !errors.Is(err, remote.ErrNotRun) {
		t.Errorf("a terminal: %v, want ErrNotRun", err)
	}
	if _, err := r.Files(scriptStat{}).Stat(t.Context(), "/"); !errors.Is(err, errByScript) {
		t.Errorf("files: %v, want that of a script", err)
	}
	if n := s.Accepted() - accepted; n < 2 {
		t.Errorf("%d more connections, want one of its own for each", n)
	}
	s.Await(t, open, 10*time.Second)
	close(release)
	for range many {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

var errByScript = errors.New("a script was asked")

// scriptStat are files that scripts are asked about.
type scriptStat struct{ nowhere }

func (scriptStat) Stat(context.Context, string) (fs.FileInfo, error) { return nil, errByScript }

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

func TestATerminal(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, library bool) {
		r := mustNew(t, config(t, newServer(t), library))
		out := &said{first: make(chan struct{})}
		var typed io.Reader = strings.NewReader("typed\nmore\n")
		in := readerFunc(func(p []byte) (int, error) { <-out.first; return typed.Read(p) }) // when it is not echoed any more
		code, err := r.Terminal(t.Context(), remote.Script{
			Text: "stty -echo; stty size; test -t 0 && test -t 1 && test -t 2 && echo all; echo \"$TERM\"; read a; echo \"<$a>\" >&2; cat; exit 6", Stdin: in, Stdout: out,
		}, 91, 33)
		got := strings.ReplaceAll(out.String(), "\r\n", "\n")
		if want := "33 91\nall\nxterm-256color\n<typed>\nmore\n"; got != want || code != 6 || err != nil {
			t.Errorf("%q, %d, %v, want %q", got, code, err, want)
		}
	})
}
