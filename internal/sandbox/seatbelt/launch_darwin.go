package seatbelt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// program is the system's own launcher. No other one of the same name is used.
const program = "/usr/bin/sandbox-exec"

// Launcher starts programs under one profile. It may be used concurrently.
type Launcher struct{ profile string }

var _ proc.Launcher = (*Launcher)(nil)

// New makes a launcher for a policy.
func New(p sandbox.Policy, o Options) (*Launcher, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, err
	}
	profile, err := Profile(p, o)
	if err != nil {
		return nil, err
	}
	return &Launcher{profile}, nil
}

// Launch starts a program in a session of its own. It sets no limits, and refuses a
// program that asks for some.
func (l *Launcher) Launch(s proc.Spec) (proc.Child, error) {
	if s.Limits != (proc.Limits{}) {
		return nil, errors.New("limits for child processes are supported on Linux only")
	}
	path, err := find(s)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := make([]*os.File, max(len(s.Files), 3))
	copy(files, s.Files)
	for i := range 3 {
		if files[i] == nil {
			files[i] = null
		}
	}
	cmd := &exec.Cmd{
		Path: program, Args: append([]string{program, "-p", l.profile, path}, s.Args...), Env: s.Env, Dir: s.Dir,
		Stdin: files[0], Stdout: files[1], Stderr: files[2], ExtraFiles: files[3:],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: s.Terminal},
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be our own
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{cmd}, nil
}

// find looks a bare name up in the PATH of the child. sandbox-exec would use ours.
func find(s proc.Spec) (string, error) {
	if strings.Contains(s.Path, "/") {
		if filepath.IsAbs(s.Path) {
			return s.Path, nil
		}
		return filepath.Join(s.Dir, s.Path), nil
	}
	for _, variable := range s.Env {
		list, ok := strings.CutPrefix(variable, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, s.Path)
			info, err := os.Stat(path)
			if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: s.Path, Err: exec.ErrNotFound}
}

// child is a program and the session that it leads. What leaves its process group is
// not found.
type child struct{ cmd *exec.Cmd }

func (c *child) PID() int { return c.cmd.Process.Pid }

func (c *child) Wait() int {
	_ = c.cmd.Wait() // how it ended is in its state
	state := c.cmd.ProcessState
	if state == nil {
		return -1
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return state.ExitCode()
}

func (c *child) Signal(force bool) {
	if force {
		_ = syscall.Kill(-c.PID(), syscall.SIGKILL)
		return
	}
	_ = syscall.Kill(-c.PID(), syscall.SIGTERM)
	_ = syscall.Kill(-c.PID(), syscall.SIGCONT)
}

func (c *child) Left() bool {
	err := syscall.Kill(-c.PID(), 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func (*child) Close() {}
