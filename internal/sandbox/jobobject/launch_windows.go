package jobobject

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"hermes/internal/proc"
)

// Launcher starts programs, each in a job of its own, with a token of few rights. It may
// be used concurrently.
type Launcher struct {
	limits Limits
	token  windows.Token
}

var _ proc.Launcher = (*Launcher)(nil)

// New makes a launcher. The limits are those of each program.
func New(l Limits) (*Launcher, error) {
	token, err := restricted()
	if err != nil {
		return nil, err
	}
	return &Launcher{l, token}, nil
}

// Close frees the token. It must be called once, after the last Launch.
func (l *Launcher) Close() { l.token.Close() }

// Launch starts a program. It runs its first instruction in the job. Only the three
// standard files are supported, and neither limits of one program nor terminals.
func (l *Launcher) Launch(s proc.Spec) (proc.Child, error) {
	if s.Limits != (proc.Limits{}) || s.Terminal || len(s.Files) > 3 {
		return nil, errors.New("limits, terminals and further files of a child are not supported in a job")
	}
	path, err := find(s)
	if err != nil {
		return nil, err
	}
	own, err := newJob(l.limits)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{path}, s.Args...), Env: s.Env, Dir: s.Dir,
		SysProcAttr: &syscall.SysProcAttr{
			HideWindow: true, Token: syscall.Token(l.token),
			CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
		},
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be our own
	}
	attach(cmd, s.Files)
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(own)
		return nil, err
	}
	c := &child{cmd: cmd, job: own}
	if err := enter(c); err != nil {
		_ = cmd.Process.Kill() // it has not run yet
		_ = cmd.Wait()
		c.Close()
		return nil, err
	}
	return c, nil
}

// attach sets the standard files. A nil *os.File must not become an interface.
func attach(cmd *exec.Cmd, files []*os.File) {
	for i, f := range files {
		if f == nil {
			continue
		}
		switch i {
		case 0:
			cmd.Stdin = f
		case 1:
			cmd.Stdout = f
		case 2:
			cmd.Stderr = f
		}
	}
}

// enter puts a suspended program into its job and lets it run.
func enter(c *child) error {
	pid := uint32(c.PID())
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("open a child: %w", err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(c.job, h); err != nil {
		return fmt.Errorf("put a child into its job: %w", err)
	}
	return resume(pid)
}

// resume lets the threads of a suspended process run: it has one. The process was
// started by this one, so that its id is not another's.
func resume(pid uint32) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list the threads of a child: %w", err)
	}
	defer windows.CloseHandle(list)
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(list, &entry); err == nil; err = windows.Thread32Next(list, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open a thread of a child: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("let a child run: %w", err)
		}
		resumed = true
	}
	if !resumed {
		return errors.New("a child has no thread to run")
	}
	return nil
}

// find looks a bare name up in the PATH of the child, and not in the current folder.
func find(s proc.Spec) (string, error) {
	if filepath.IsAbs(s.Path) {
		return s.Path, nil
	}
	if strings.ContainsAny(s.Path, `\/:`) {
		return filepath.Join(s.Dir, s.Path), nil
	}
	for _, variable := range s.Env {
		name, list, _ := strings.Cut(variable, "=")
		if !strings.EqualFold(name, "PATH") {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			for _, ext := range []string{"", ".com", ".exe", ".bat", ".cmd"} {
				path := filepath.Join(dir, s.Path+ext)
				if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && filepath.Ext(path) != "" {
					return path, nil
				}
			}
		}
	}
	return "", &exec.Error{Name: s.Path, Err: exec.ErrNotFound}
}

// child is a program with a job of its own.
type child struct {
	cmd *exec.Cmd
	job windows.Handle
}

func (c *child) PID() int { return c.cmd.Process.Pid }

func (c *child) Wait() int {
	_ = c.cmd.Wait() // how it ended is in its state
	if c.cmd.ProcessState == nil {
		return -1
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) Signal(force bool) {
	if !force {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.PID()))
		return
	}
	_ = windows.TerminateJobObject(c.job, 1)
}

func (c *child) Left() bool { return active(c.job) > 0 }

// Close ends what the program left running.
func (c *child) Close() { windows.CloseHandle(c.job) }
