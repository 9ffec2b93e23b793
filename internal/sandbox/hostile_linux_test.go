//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
		waiting: map[uint32]question{}, children: map[uint32]*child{}, inside: -1,
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

// unread returns a connection whose other end does not read, and which holds no more.
func unread(t *testing.T) (full, other *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = conn.Write(make([]byte, 1<<20))
	}
	return conn.(*net.TCPConn), accepted.(*net.TCPConn)
}

func TestHostileAnswers(t *testing.T) {
	t.Run("of questions and children that never were", func(t *testing.T) {
		f := newFakeKeeper(t)
		for range 100 {
			for _, k := range []kind{answer, started, failed, ready, exited, kind(0), kind(255), launch} {
				if err := f.other.send(&message{Kind: k, ID: 77, N: -1, Slots: []int64{1 << 40}}); err != nil {
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
	})
	t.Run("files that nobody asked for", func(t *testing.T) {
		before := openFiles(t)
		f := newFakeKeeper(t)
		if err := f.other.send(&message{Kind: answer, ID: 77}, os.Stdin, os.Stderr); err != nil {
			t.Fatal(err)
		}
		<-f.Gone()
		f.other.conn.Close()
		if after := openFiles(t); after > before {
			t.Errorf("%d files were open before, %d after", before, after)
		}
	})
	t.Run("a socket that takes its time to close", func(t *testing.T) {
		f := newFakeKeeper(t)
		slow, other := unread(t)
		defer other.Close()
		if err := slow.SetLinger(3000); err != nil {
			t.Fatal(err)
		}
		file, err := slow.File()
		if err != nil {
			t.Fatal(err)
		}
		m := (&message{Kind: answer, ID: 77}).encode()
		if _, _, err := f.other.conn.WriteMsgUnix(m[:4], unix.UnixRights(int(file.Fd())), nil); err != nil {
			t.Fatal(err)
		}
		file.Close()
		slow.Close() // the last copy is the owner's
		if _, err := f.other.conn.Write(m[4:]); err != nil {
			t.Fatal(err)
		}
		select {
		case <-f.Gone():
		case <-time.After(3 * time.Second):
			other.Close()
			t.Error("the owner waits for a socket")
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
	t.Run("nothing runs, although it has a child", func(t *testing.T) {
		for _, line := range []string{"sleep 1000 & exec sleep 1000", "exec sleep 1000"} {
			f := newFakeKeeper(t)
			process := exec.Command("/bin/sh", "-c", line)
			process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
				_ = process.Wait()
			})
			for text := []byte(nil); string(text) != "sleep\x001000\x00"; { // it has executed
				text, _ = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process.Process.Pid))
			}
			f.inner = process.Process
			go func() {
				m := f.question(t)
				_ = f.other.send(&message{Kind: started, ID: m.ID, N: 1})
				_ = f.other.send(&message{Kind: exited, ID: m.ID, Slots: []int64{1}})
			}()
			c, err := f.Launch(proc.Spec{Path: "/bin/true"})
			if err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if got, want := f.Empty(), line == "exec sleep 1000"; got != want {
				t.Errorf("%s: it is empty: %t", line, got)
			}
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
	t.Run("a socket that is made a blocking one", func(t *testing.T) {
		f := newFakeKeeper(t)
		slow, other := unread(t)
		defer other.Close()
		file, err := slow.File()
		if err != nil {
			t.Fatal(err)
		}
		copied, err := unix.Dup(int(file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(copied)
		go func() {
			m := f.question(t)
			_ = f.other.send(&message{Kind: answer, ID: m.ID}, file)
			file.Close()
		}()
		conn, err := f.Dial(80)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SetNonblock(copied, false); err != nil {
			t.Fatal(err)
		}
		written, closed := make(chan struct{}), make(chan struct{})
		go func() {
			_, _ = conn.Write(make([]byte, 1<<20))
			close(written)
		}()
		select {
		case <-written:
			t.Fatal("it is not blocked")
		case <-time.After(100 * time.Millisecond):
		}
		go func() {
			conn.Close()
			<-written
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(3 * time.Second):
			t.Error("the owner waits for a socket")
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
