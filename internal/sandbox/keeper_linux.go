//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
)

// keeperName is the name under which a program that should be a keeper starts.
const keeperName = "hermes-keeper"

// controlFile is the descriptor of a keeper's control socket.
const controlFile = 3

// maxDials is how many connections are made at once.
const maxDials = 64

// insideArg is the argument of a keeper that has its walls.
const insideArg = "inside"

// Main turns the process into a keeper if it was started as one, and does not return
// then. Programs that use the package call it before anything else.
//
// A keeper starts twice, one without walls once. The first time it builds the walls around
// one of its threads, since a kernel builds them around threads, and then executes itself:
// all threads of the second time are inside.
func Main() {
	if len(os.Args) == 0 || os.Args[0] != keeperName {
		return
	}
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == insideArg:
		err = keep()
	case len(os.Args) > 1 && os.Args[1] == guardArg:
		err = startGuard(os.Args[2:])
	default:
		err = enter()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		unix.Exit(1)
	}
	unix.Exit(0) // at once: os.Exit waits a second in a program with the race detector
}

// keeper is the process inside the walls that starts commands. It is as trusted as they
// are: the walls are built around it before it starts the first.
type keeper struct {
	control *control
	layer   Layer
	null    *os.File
	dials   chan struct{} // as many at once as fit

	mu       sync.Mutex
	started  *sync.Cond            // a child was started
	children map[int]uint32        // ids by process id, until it was reaped
	groups   map[uint32]int        // process ids by id, until it is forgotten
	bounds   map[int]*proc.Bounded // by process id, until it was reaped
	most     int                   // how many processes may be inside; 0 if they are not counted
	fresh    bool                  // since it was read last, all inside ended, and a program was started

	onlyInside bool         // signals to all reach only what is inside
	ids        sync.Mutex   // held while children are collected, and while they are signalled by their ids: none is used again
	frozen     int          // how often
	halted     map[int]bool // stopped before freeze, as by a user
}

// keep runs a keeper that has its walls, until its owner has gone.
func keep() error {
	debug.SetGCPercent(400) // it is small and lives long
	m, h, err := taken(os.Args[2:])
	if err != nil {
		return err
	}
	o, err := orderOf(&m)
	if err != nil {
		return err
	}
	c, err := dialOwner()
	if err != nil {
		return err
	}
	return serve(c, o, h, m.Env)
}

// serve does what the owner asks for until it has gone, and ends everything then.
func serve(c *control, o order, h handed, lacks []string) (err error) {
	k := &keeper{control: c, layer: o.policy.Layer, children: map[int]uint32{}, groups: map[uint32]int{}, bounds: map[int]*proc.Bounded{}, halted: map[int]bool{}, onlyInside: onlyInside(o), dials: make(chan struct{}, maxDials)}
	k.started = sync.NewCond(&k.mu)
	if k.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	// What runs inside may not look into this process: it passes on the variables of
	// programs, and a keeper that is taken over can lie about how commands end.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err := c.send(&message{Kind: ready, List: lacks, Slots: h.slots()}, h.files()...); err != nil {
		return err
	}
	closeAll(h.files())
	if err := attackAll(k.layer, o.target); err != nil { // the owner judges connections by now
		_ = c.send(&message{Kind: failed, Text: err.Error(), Flag: passes(err)})
		return err
	}
	if err := c.send(&message{Kind: answer}); err != nil {
		return err
	}
	go k.reap() // ends with the process
	defer k.endAll()
	for {
		m, files, err := c.receive()
		if err != nil {
			return err
		}
		k.handle(&m, files)
	}
}

// dialOwner takes the control socket.
func dialOwner() (*control, error) {
	f := os.NewFile(controlFile, "control")
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("a keeper is started by its owner only: %w", err)
	}
	f.Close()
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("a keeper is started by its owner only")
	}
	return &control{conn: c, most: maxToKeeper}, nil
}

func (k *keeper) handle(m *message, files []*os.File) {
	defer closeAll(files)
	a := message{Kind: answer, ID: m.ID}
	var err error
	switch m.Kind {
	case launch:
		err = k.launch(m, files, &a)
	case end:
		k.signal(m.ID, m.Flag)
		return
	case left:
		a.Flag = k.groupLeft(uint32(m.N))
	case forget:
		k.mu.Lock()
		delete(k.groups, m.ID)
		k.mu.Unlock()
		return
	case freeze:
		err = k.freeze()
	case thaw:
		k.thaw()
	case dial:
		select {
		case k.dials <- struct{}{}:
			go func() { // ends within dialWait
				f, err := dialLoopback(int(m.N))
				<-k.dials
				k.answer(a, err, f)
			}()
			return
		default:
			err = syscall.EAGAIN
		}
	case ports:
		a.Slots, err = listening()
	default:
		err = errMessage
	}
	k.answer(a, err, nil)
}

// answer sends an answer with a file, which may be nil, or an error.
func (k *keeper) answer(a message, err error, f *os.File) {
	if err != nil {
		a = message{Kind: failed, ID: a.ID, Text: err.Error()}
		var number syscall.Errno
		if errors.As(err, &number) {
			a.N = int64(number)
		}
	}
	if f == nil {
		_ = k.control.send(&a)
		return
	}
	_ = k.control.send(&a, f)
	f.Close()
}

// launch starts a program.
func (k *keeper) launch(m *message, files []*os.File, a *message) error {
	path, err := lookUp(m.Text, m.Env)
	if err != nil {
		return err
	}
	fds, err := k.descriptors(m.Slots, files)
	if err != nil {
		return err
	}
	attr := &syscall.ProcAttr{Dir: m.Dir, Env: m.Env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: m.Flag}}
	if k.layer == None { // there is no guard that ends it if the keeper is killed
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fresh = k.fresh || childless()
	pid, err := syscall.ForkExec(path, append([]string{m.Text}, m.List...), attr)
	if err != nil {
		return err
	}
	k.children[pid], k.groups[m.ID] = m.ID, pid
	k.started.Signal()
	if err := proc.Confine(pid, limitsOf(m)); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return fmt.Errorf("limit the child process: %w", err)
	}
	if most := m.Limits[4]; most > 0 {
		var stderr *os.File
		if s := m.Slots[2]; s >= 0 && s < int64(len(files)) {
			stderr = files[s]
		}
		k.bound(pid, proc.NewBounded(most, stderr))
	}
	a.Kind, a.N = started, int64(pid)
	return nil
}

// bound bounds how many processes are inside, as long as any is: who starts them may have left its parents, and the
// program that they come from may have ended. The caller holds the lock.
func (k *keeper) bound(pid int, b *proc.Bounded) {
	k.bounds[pid] = b
	if k.most > 0 {
		k.most = min(k.most, b.Most())
		return
	}
	k.most = b.Most()
	go proc.WatchBelow(os.Getpid(), k.mayRun, k.endTooMany) // ends when nothing is inside
}

// mayRun says how many processes may be inside; 0 if none is, which ends the counting.
func (k *keeper) mayRun() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fresh = false
	if childless() { // no program is being started: that holds the lock
		k.most = 0
	}
	return k.most
}

// endTooMany kills everything inside, which is too much, and reports whether it has gone.
func (k *keeper) endTooMany(took time.Duration) (gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fresh || childless() {
		return true
	}
	if k.layer == None && took > bareTries { // else all that starts later would be ended, too
		os.Exit(exitTooMuch)
	}
	for _, b := range k.bounds {
		b.Exceeded(k.most)
	}
	k.kill()
	return false
}

// descriptors lists what the child gets as its descriptors from 0 on.
func (k *keeper) descriptors(slots []int64, files []*os.File) ([]uintptr, error) {
	if len(slots) > maxFiles || len(slots) < 3 {
		return nil, errMessage
	}
	fds := make([]uintptr, len(slots))
	for i, s := range slots {
		switch {
		case s >= 0 && s < int64(len(files)):
			fds[i] = files[s].Fd()
		case i < 3:
			fds[i] = k.null.Fd()
		default:
			fds[i] = ^uintptr(0)
		}
	}
	return fds, nil
}

// lookUp finds a program in the PATH of an environment.
func lookUp(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var path string
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil {
			return file, nil
		}
	}
	return "", syscall.ENOENT
}

// signal ends a child and what it started.
func (k *keeper) signal(id uint32, force bool) {
	k.mu.Lock()
	pid, ok := k.groups[id]
	k.mu.Unlock()
	switch {
	case !ok:
	case k.frozen > 0 && !force: // it acts on that when it goes on
		_ = syscall.Kill(-pid, syscall.SIGTERM)
	default:
		proc.SignalGroup(pid, force)
	}
}

func (k *keeper) groupLeft(id uint32) bool {
	k.mu.Lock()
	pid, ok := k.groups[id]
	_, running := k.children[pid]
	k.mu.Unlock()
	return ok && !running && proc.GroupLeft(pid)
}

// reap waits for all children, also adopted ones, and reports those that were asked for.
func (k *keeper) reap() {
	for {
		var status syscall.WaitStatus
		var pid int
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			k.ids.Lock()
			pid, err = syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			k.ids.Unlock()
		}
		if err == syscall.EINTR || err == nil && pid == 0 {
			continue
		}
		if err != nil { // there is none
			k.mu.Lock()
			for len(k.children) == 0 {
				k.started.Wait()
			}
			k.mu.Unlock()
			continue
		}
		k.mu.Lock()
		id, ok := k.children[pid]
		b := k.bounds[pid]
		delete(k.children, pid)
		delete(k.bounds, pid)
		k.mu.Unlock()
		b.Close()
		if !ok {
			continue
		}
		m := message{Kind: exited, ID: id, N: int64(codeOf(status)), Flag: proc.GroupLeft(pid)}
		if childless() {
			m.Slots = []int64{1}
		}
		_ = k.control.send(&m)
	}
}

// childless reports whether this process has no child: as it adopts all orphans, nothing
// runs below it.
func childless() bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
}

// codeOf returns the exit code as a shell does.
func codeOf(s syscall.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

func limitsOf(m *message) proc.Limits {
	return proc.Limits{OpenFiles: m.Limits[0], FileBytes: m.Limits[1], AddressBytes: m.Limits[2], CPUSeconds: m.Limits[3], Processes: m.Limits[4]}
}
