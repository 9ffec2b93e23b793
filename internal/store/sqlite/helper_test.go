package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

// childVar makes the test binary run as another process on the same file: its value
// is a role and the path.
const childVar = "HERMES_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	if role, path, ok := strings.Cut(os.Getenv(childVar), " "); ok {
		if err := child(role, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// patience is how long a process waits for another one on a slow machine.
const patience = 2 * time.Minute

func child(role, path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path, Busy: patience})
	if err != nil {
		return err
	}
	defer s.Close()
	switch role {
	case "write":
		return writeFor(ctx, s, "child", 200, nil)
	case "write-for-ever":
		return writeFor(ctx, s, "child", 1<<30, os.Stdout)
	case "hold":
		if _, err := s.Acquire(ctx, "shared", hermes.Owner{Name: "the child"}, time.Hour); err != nil {
			return err
		}
		fmt.Println("held")
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		return err
	}
	return fmt.Errorf("no role %q", role)
}

// writeFor appends numbered messages to a session, with a call begun before
// each, and prints each id once it is stored.
func writeFor(ctx context.Context, s *sqlite.Store, session string, n int, out *os.File) error {
	l, err := s.Acquire(ctx, session, hermes.Owner{Name: session}, time.Hour)
	if err != nil {
		return err
	}
	for i := range n {
		if err := s.BeginCall(ctx, l, hermes.ToolCall{ID: "open", Name: "terminal", Arguments: "{}"}); err != nil {
			return err
		}
		done, err := s.Commit(ctx, l, hermes.Change{Append: []hermes.Message{hermes.UserText(fmt.Sprintf("message number%d of %s", i, session))}})
		if err != nil {
			return err
		}
		if out != nil {
			fmt.Fprintln(out, done.IDs[0])
		}
	}
	return nil
}

// startChild starts the test binary in a role; its output can be read.
func startChild(t *testing.T, role, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childVar+"="+role+" "+path)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil { // held open until the child ends
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, bufio.NewScanner(out)
}

func tempPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "hermes.db")
}

func mustCreate(t testing.TB, s *sqlite.Store, id string) {
	t.Helper()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: id, Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, s *sqlite.Store, session string, messages ...hermes.Message) []int64 {
	t.Helper()
	done, err := s.Commit(t.Context(), hermes.Lease{Session: session}, hermes.Change{Append: messages})
	if err != nil {
		t.Fatal(err)
	}
	return done.IDs
}

func mustMessages(t testing.TB, s *sqlite.Store, session string) []hermes.Message {
	t.Helper()
	list, err := s.Messages(t.Context(), session, hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
