//go:build unix

package proc

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// BareProcess is a program that Bare started.
type BareProcess struct{ *exec.Cmd }

// Bare starts a program whose start the caller knows better than this package: with
// attributes of its own, in no group and under no guard. The caller waits for it, and makes
// sure that it ends with this process. args begin with the program's name for itself.
func Bare(path string, args []string, files []*os.File, errs io.Writer, attr *syscall.SysProcAttr) (*BareProcess, error) {
	c := exec.Command(path)
	c.Args, c.Env, c.Dir, c.ExtraFiles, c.Stderr, c.SysProcAttr = args, []string{}, "/", files, errs, attr
	c.WaitDelay = time.Second // what it started may have its errors open
	return &BareProcess{c}, own.start(c, c.Start)
}

// Wait waits until the program has ended; see [exec.Cmd.Wait].
func (b *BareProcess) Wait() error {
	defer own.drop(b.Process.Pid)
	return b.Cmd.Wait()
}
