package proc_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/proc"
)

// TestAProgramWithTooManyProcessesIsEnded with all of them, and it is said why; one with fewer goes on.
func TestAProgramWithTooManyProcessesIsEnded(t *testing.T) {
	t.Parallel()
	mark := strconv.Itoa(os.Getpid())
	for _, row := range []struct {
		line string
		want string
		code int
	}{
		{"i=0; while [ $i -lt 60 ]; do sleep 600." + mark + " & i=$((i+1)); done; wait", "more than 40 processes at once", 137},
		{"while :; do setsid sleep 600." + mark + " & done", "more than 40 processes at once", 137},
		{"i=0; while [ $i -lt 20 ]; do sleep 0.600" + mark + " & i=$((i+1)); done; wait; echo done >&2", "done", 0},
	} {
		var stderr bytes.Buffer
		p, err := proc.Start(t.Context(), proc.Command{Path: "/bin/sh", Args: []string{"-c", row.line}, Env: []string{"PATH=/usr/bin:/bin"}, Stderr: &stderr, Limits: proc.Limits{Processes: 40}})
		if err != nil {
			t.Fatal(err)
		}
		status, err := p.Wait(t.Context())
		p.Close()
		if err != nil || status.Code != row.code || !strings.Contains(stderr.String(), row.want) {
			t.Errorf("%s: %+v, %v, %q", row.line, status, err, stderr.String())
		}
		if row.code == 0 && bytes.Contains(stderr.Bytes(), []byte("at once")) {
			t.Errorf("%s: it was ended: %q", row.line, stderr.String())
		}
		for end := time.Now().Add(20 * time.Second); sleepers(t) > 0; time.Sleep(10 * time.Millisecond) { // the kernel removes them
			if time.Now().After(end) {
				t.Fatalf("%s: %d processes are left", row.line, sleepers(t))
			}
		}
	}
}

// TestWhatIsTooMuchIsEndedUntilItIsGone, however long the kernel cannot end it.
func TestWhatIsTooMuchIsEndedUntilItIsGone(t *testing.T) {
	t.Parallel()
	for range 2 {
		c := exec.Command("cat")
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); _ = c.Wait() })
	}
	synctest.Test(t, func(t *testing.T) {
		begin, last, tries := time.Now(), time.Time{}, 0
		running := func() bool { return time.Since(begin) < time.Minute }
		proc.NewBounded(1, nil).Watch(os.Getpid(), running, func() { last, tries = time.Now(), tries+1 })
		if took := last.Sub(begin); took < 58*time.Second || tries > 6_000 {
			t.Errorf("the last of %d tries was after %s", tries, took)
		}
	})
}

// sleepers counts the processes that sleep for this test.
func sleepers(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		line, err := os.ReadFile(path)
		if mark := strconv.Itoa(os.Getpid()) + "\x00"; err == nil && (bytes.HasSuffix(line, []byte("\x00600."+mark)) || bytes.HasSuffix(line, []byte("\x000.600"+mark))) {
			n++
		}
	}
	return n
}
