// Package liveness tells whether the process that made something still runs, without
// process ids: those are reused, survive as zombies, and mean something else in another
// container.
//
// A process holds a lock on a file for as long as it lives ([Hold]). The kernel frees the
// lock when the process ends, however it ends. Another process asks [Ended]. The file names
// the running kernel in its content, because only within one kernel a free lock proves
// anything: file systems of a network, or shared with a virtual machine, may not pass locks
// on. Wherever there is doubt, the answer is that the process may still run.
//
// The package does not know what the files are for.
package liveness

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// contentAt skips byte 0, which Windows locks against reading.
	contentAt = 1
	maxKernel = 200 // bytes
	// Hold waits for a process that looks at the file at the same moment.
	holdWait, holdPoll = 2 * time.Second, 5 * time.Millisecond
)

// Lock is what a living process holds.
type Lock struct {
	flock *flock.Flock
	path  string
}

// Hold makes the file, readable by its owner only, and locks it until Release or the end
// of the process. The file must not exist: its name should be random. An error means that
// no other process can see that this one lives, for example because the file system has no
// locks; then there is no file.
func Hold(path string) (*Lock, error) {
	kernel, err := kernelID()
	if err != nil {
		return nil, fmt.Errorf("find out which kernel runs: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Lock{flock: flock.New(path, flock.SetFlag(os.O_RDWR)), path: path}
	ctx, cancel := context.WithTimeout(context.Background(), holdWait)
	defer cancel()
	if _, err = l.flock.TryLockContext(ctx, holdPoll); err == nil {
		// The content comes last: without it the file proves nothing.
		_, err = f.WriteAt([]byte(kernel+"\n"+machineID()), contentAt)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = l.Release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

// Take locks a file that stays, and makes it if it is missing, until Free or the end of the
// process. If another process holds it, the error is an os.ErrExist.
func Take(path string) (*Lock, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock %s: it is no file", path)
	}
	l := &Lock{flock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600)), path: path}
	free, err := l.flock.TryLock()
	if err == nil && !free {
		err = os.ErrExist
	}
	if err != nil {
		_ = l.flock.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

// Release removes the file and the lock.
func (l *Lock) Release() error {
	// Where an open file cannot be removed, it is removed when it is closed.
	removed := os.Remove(l.path)
	err := l.flock.Close()
	if removed != nil {
		removed = os.Remove(l.path)
	}
	if os.IsNotExist(removed) {
		removed = nil
	}
	if err == nil {
		err = removed
	}
	return err
}

// Free frees the lock and keeps the file, which then shows that the process has ended.
func (l *Lock) Free() error { return l.flock.Close() }

// Ended reports whether the process that holds, or held, the lock of this file has
// certainly ended. It is false if the process lives, and whenever that is not certain:
// there is no such file, it cannot be read or locked, it is not complete, or another
// kernel runs here than where it was made. It changes nothing.
func Ended(path string) bool {
	kernel, err := kernelID()
	named, _ := left(path)
	return err == nil && named == kernel
}

// left is the content of a file whose lock is free.
func left(path string) (kernel, machine string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", ""
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := l.TryRLock() // shared, so that several may ask at once
	defer l.Close()
	if err != nil || !free {
		return "", ""
	}
	return content(path)
}

// longAgo is the least age of what an earlier kernel left, for Sweep: a copy of this machine may
// share its folders, and not its locks.
const longAgo = 24 * time.Hour

// endedBefore reports whether a file is of an earlier start of this machine.
func endedBefore(path string) bool {
	kernel, err := kernelID()
	named, machine := left(path)
	if err != nil || machine == "" || machine != machineID() || named == kernel {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > longAgo
}

// Held reports whether a process certainly holds the lock of this file. It is false whenever
// that is not certain.
func Held(path string) bool {
	kernel, err := kernelID()
	if err != nil {
		return false
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	if named, _ := content(path); named != kernel {
		return false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := l.TryRLock()
	defer l.Close()
	return err == nil && !free
}

// content is the kernel and the machine that a file names, "" if it names none.
func content(path string) (kernel, machine string) {
	f, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	text := make([]byte, maxKernel)
	n, _ := f.ReadAt(text, contentAt)
	kernel, machine, _ = strings.Cut(strings.TrimSpace(string(text[:n])), "\n")
	return kernel, machine
}
