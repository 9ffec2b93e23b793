//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/landlock"
)

// guardArg is the argument of a process that guards a keeper of layer B.
const guardArg = "guard"

// guardFile is the descriptor of a guard's socket to its owner.
const guardFile = 4

// guard is the parent of a keeper of layer B, and of everything that has lost its parent
// inside. It ends all of it when its owner or the keeper has gone. In layer A the kernel
// does that.
//
// From Landlock ABI 6 on, nothing inside can signal the guard, and the guard can signal
// nothing but what is inside, so that one signal to all reaches each of them, also a
// process that is being started at that moment, and no other process of the user.
type guard struct {
	alone  bool // signals of the guard's thread reach only what is inside
	keeper int

	mu sync.Mutex // held while children are signalled or collected: no id is used again
}

// startGuard makes this process a guard, until nothing is left inside.
func startGuard(args []string) error {
	runtime.LockOSThread() // the domain is one of this thread
	if err := unix.CloseRange(guardFile+1, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil && err != unix.ENOSYS {
		return fmt.Errorf("close inherited files: %w", err)
	}
	unix.CloseOnExec(guardFile)
	f := os.NewFile(guardFile, "owner")
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("a guard is started by its owner only: %w", err)
	}
	owner := &control{conn: conn.(*net.UnixConn), most: maxToKeeper}
	g := &guard{}
	if err := g.start(len(args) > 0 && args[0] == scopedArg); err != nil {
		_ = owner.send(&message{Kind: failed, Text: err.Error(), Flag: passes(err)})
		return err
	}
	if err := owner.send(&message{Kind: started, N: int64(g.keeper)}); err != nil {
		g.end(g.collect(func() {}))
		return err
	}
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	go func() { // ends with the process
		_, files, _ := owner.receive() // nothing comes
		closeAll(files)
		end()
	}()
	none := g.collect(end)
	<-over
	g.end(none)
	return nil
}

// scopedArg is the argument of a guard whose kernel keeps signals inside.
const scopedArg = "scoped"

// start starts the keeper.
func (g *guard) start(scoped bool) error {
	// What ends commands of this user by name asks for the owner's end: the owner sees to this.
	// Ignoring these instead would go on to all commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	if scoped {
		if err := g.scope(); err != nil {
			return err
		}
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{keeperName}, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: []uintptr{0, 1, 2, controlFile}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start the keeper: %w", err)
	}
	g.keeper = pid
	_ = unix.Close(controlFile) // so that the owner notices the keeper's end
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return nil
}

var errNotAlone = errors.New("signals of this kernel do not stay inside, although it says so")

// scope lets this thread signal only what is inside, and proves it with the owner, which is
// of the same user and must be out of reach from now on: the guard kills all it can reach.
func (g *guard) scope() error {
	owner := os.Getppid()
	if err := syscall.Kill(owner, 0); err != nil {
		return fmt.Errorf("%w: the owner cannot be signalled before: %w", errNotAlone, err)
	}
	if err := landlock.ScopeSignals(); err != nil {
		return err
	}
	if err := syscall.Kill(owner, 0); !errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("%w (%w)", errNotAlone, err)
	}
	g.alone = true
	return nil
}

// collect collects what ends. It calls back when the keeper has ended, and closes the
// channel when the kernel says that there is no child: as the guard adopts all orphans,
// nothing is left inside then.
func (g *guard) collect(keeperEnded func()) <-chan struct{} {
	none := make(chan struct{})
	go func() { // ends with the last child
		defer close(none)
		for {
			if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil); err == unix.EINTR {
				continue
			} else if err != nil {
				return
			}
			g.mu.Lock()
			pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			g.mu.Unlock()
			if pid == g.keeper {
				keeperEnded()
			}
		}
	}()
	return none
}

// end kills everything inside until nothing is left. What the kernel cannot end, such as a
// read from a dead disk, it waits for.
func (g *guard) end(none <-chan struct{}) {
	pause := endPause / 40 // shorter than it takes to start a process
	for begin := time.Now(); ; {
		if g.alone {
			_ = syscall.Kill(-1, syscall.SIGKILL) // not this process
		} else {
			g.mu.Lock()
			killChildren()
			g.mu.Unlock()
		}
		select {
		case <-none:
			return
		case <-time.After(pause):
		}
		if time.Since(begin) > endTries {
			pause = 10 * endPause
		}
	}
}

// killChildren kills the children of this process, with their groups: a group is
// signalled at one moment, with what it is starting. The caller keeps their ids from being
// used again. What has left its parent's group and is not a child dies later, when it has
// become one.
func killChildren() {
	signalWithGroups(childrenOf(os.Getpid()), syscall.SIGKILL)
}

// signalWithGroups signals processes below this one, and their groups. No one outside is
// in one: what runs inside is in another session than what is outside.
func signalWithGroups(pids []int, s syscall.Signal) {
	own, groups := syscall.Getpgrp(), map[int]bool{}
	for _, pid := range pids {
		if group, err := syscall.Getpgid(pid); err == nil && group > 1 && group != own && !groups[group] {
			groups[group] = true
			_ = syscall.Kill(-group, s)
		}
		_ = syscall.Kill(pid, s)
	}
}
