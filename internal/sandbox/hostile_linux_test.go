//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
)

// fakeKeeper is a keeper that a command took over: the test speaks for it.
type fakeKeeper struct {
	*Keeper
	other *control
}

func newFakeKeeper(t *testing.T) fakeKeeper {
	t.Helper()
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command("/bin/sleep", "1000")
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	k := &Keeper{
		policy: Policy{Layer: B}, control: &control{conn: ours, most: maxFromKeeper}, process: &proc.BareProcess{Cmd: process}, stderr: &tail{}, gone: make(chan struct{}), empty: true,
		waiting: map[uint32]chan reply{}, children: map[uint32]*child{}, inside: -1,
	}
	conn, err := net.FileConn(theirs)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	go k.receive()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		k.Close()
	})
	return fakeKeeper{k, &control{conn: conn.(*net.UnixConn), most: maxToKeeper}}
}

// question receives what the owner asks.
func (f fakeKeeper) question(t *testing.T) message {
	t.Helper()
	m, files, err := f.other.receive()
	if err != nil {
		t.Error(err)
	}
	closeAll(files)
	return m
}

func TestHostileAnswers(t *testing.T) {
	t.Run("of questions and children that never were", func(t *testing.T) {
		f := newFakeKeeper(t)
		before := openFiles(t)
		for range 100 {
			for _, k := range []kind{answer, started, failed, ready, exited, kind(0), kind(255), launch} {
				if err := f.other.send(&message{Kind: k, ID: 77, N: -1, Slots: []int64{1 << 40}}, os.Stdin, os.Stderr); err != nil {
					t.Fatal(err)
				}
			}
		}
		go func() { // in order, so the others were read by then
			m := f.question(t)
			_ = f.other.send(&message{Kind: answer, ID: m.ID, Slots: []int64{80, -1, 1 << 20, 70000}})
		}()
		ports, err := f.Ports()
		if err != nil || len(ports) != 1 || ports[0] != 80 {
			t.Errorf("got the ports %v, %v", ports, err)
		}
		if after := openFiles(t); after > before {
			t.Errorf("%d files were open before, %d after", before, after)
		}
	})
	t.Run("an end before the start is answered", func(t *testing.T) {
		f := newFakeKeeper(t)
		go func() {
			m := f.question(t)
			_ = f.other.send(&message{Kind: exited, ID: m.ID, N: 1 << 40})
			_ = f.other.send(&message{Kind: exited, ID: m.ID, N: 3})
			_ = f.other.send(&message{Kind: started, ID: m.ID, N: 1})
		}()
		c, err := f.Launch(proc.Spec{Path: "/bin/true"})
		if err != nil {
			t.Fatal(err)
		}
		if code := c.Wait(); code != 0 {
			t.Errorf("the code is %d", code)
		}
	})
	t.Run("errors that are none", func(t *testing.T) {
		f := newFakeKeeper(t)
		for _, n := range []int64{-1, 0, 1 << 40} {
			go func() {
				m := f.question(t)
				_ = f.other.send(&message{Kind: failed, ID: m.ID, N: n, Text: "text"})
			}()
			if _, err := f.Freeze(); err == nil || err.Error() != "text" {
				t.Errorf("error %d: got %v", n, err)
			}
		}
	})
	for name, bytes := range map[string][]byte{
		"garbage":            {9, 0, 0, 0, 'g', 'a', 'r', 'b', 'a', 'g', 'e', '!', '!'},
		"a very long answer": binary.LittleEndian.AppendUint32(nil, maxFromKeeper+1),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeKeeper(t)
			if _, err := f.other.conn.Write(bytes); err != nil {
				t.Fatal(err)
			}
			_ = f.process.Process.Kill()
			<-f.Gone()
			if _, err := f.Ports(); !errors.Is(err, ErrGone) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("too many files", func(t *testing.T) {
		f := newFakeKeeper(t)
		before := openFiles(t)
		fds := make([]int, 200)
		if _, _, err := f.other.conn.WriteMsgUnix([]byte{1}, unix.UnixRights(fds...), nil); err != nil {
			t.Fatal(err)
		}
		_ = f.process.Process.Kill()
		<-f.Gone()
		if after := openFiles(t); after > before {
			t.Errorf("%d files were open before, %d after", before, after)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		if testing.Short() {
			t.Skip("waits for it")
		}
		f := newFakeKeeper(t)
		if _, err := f.Freeze(); !errors.Is(err, ErrGone) {
			t.Errorf("got %v", err)
		}
		select {
		case <-f.Gone():
		case <-time.After(2 * closeWait):
			t.Error("the keeper is not ended")
		}
	})
}

// TestAStartThatTakesTooLongIsGivenUp: nothing is left of it.
func TestAStartThatTakesTooLongIsGivenUp(t *testing.T) {
	for _, l := range []Layer{A, B} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		k, err := Start(ctx, Config{Policy: Policy{Layer: l, Read: []string{"/usr"}, Temp: t.TempDir()}})
		cancel()
		if err == nil {
			k.Close()
			t.Errorf("layer %s: it started within a millisecond", l)
			continue
		}
		children.mu.Lock()
		n := len(children.living)
		children.mu.Unlock()
		if n > 0 {
			t.Errorf("layer %s: %d keepers live after %v", l, n, err)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
