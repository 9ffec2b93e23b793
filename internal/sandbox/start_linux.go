//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
	"hermes/internal/sandbox/landlock"
	"hermes/internal/sandbox/seccomp"
)

// Times of a keeper.
const (
	startWait = 10 * time.Second // for its walls
	closeWait = 5 * time.Second  // for its processes to end
	// answerWait is for an answer. What runs in layer B can stop its keeper: one that does
	// not answer is ended, with all that it started.
	answerWait = 5 * time.Second
)

// Keeper is the process that starts commands behind walls, as its owner sees it. What
// it says is not trusted. Its methods may be called concurrently; the owner must call
// Close.
type Keeper struct {
	policy   Policy
	lacks    []string
	control  *control
	process  *proc.BareProcess // the keeper itself, or its guard in layer B
	guard    *control          // ends everything inside when it is closed; of layer B only
	inner    *os.Process       // the keeper itself; nil until it is known
	stderr   *tail
	proxy    net.Listener
	serving  sync.WaitGroup
	stopping context.CancelFunc
	table    mountTable
	mounts   mounts // of layer A, when the walls stood
	// supervisor makes the connections of layer B; nil in others.
	supervisor *seccomp.Supervisor
	// inside tells by its end that no process is behind the filter of layer B; -1 if there is none.
	inside int
	gone   chan struct{} // closed when the keeper has ended
	left   error         // what was not ended; set before gone is closed
	diagMu sync.Mutex
	diag   *os.File // tells who listens in layer A; nil: the keeper is asked

	mu       sync.Mutex
	next     uint32
	waiting  map[uint32]question
	children map[uint32]*child
	empty    bool // nothing runs inside, the keeper says
	sure     bool // and the kernel
	lost     bool // the keeper has ended: nothing is answered any more
}

// Start starts a keeper and returns when its walls stand. The program must call Main
// first of all. ctx bounds the start only. Without walls the caller says in errors what was to start.
func Start(ctx context.Context, c Config) (*Keeper, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	k := &Keeper{
		policy: c.Policy, control: &control{conn: ours, most: maxFromKeeper}, stderr: &tail{}, gone: make(chan struct{}), empty: true, sure: true,
		waiting: map[uint32]question{}, children: map[uint32]*child{}, inside: -1,
	}
	files := []*os.File{theirs}
	if c.Policy.Layer == B {
		ours, theirs, err := socketPair()
		if err != nil {
			closeAll(files)
			k.control.conn.Close()
			return nil, err
		}
		files = append(files, theirs)
		k.guard = &control{conn: ours, most: maxFromKeeper}
	}
	k.process, err = children.start(c.Policy.Layer, func() (*proc.BareProcess, error) { return startProcess(c, files, k.stderr) })
	closeAll(files)
	if err != nil {
		k.hangUp()
		if forbids(err) {
			err = &unavailable{err}
		}
		if c.Policy.Layer == None {
			return nil, err
		}
		return nil, fmt.Errorf("start the keeper of the sandbox: %w", err)
	}
	limit, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	stop := context.AfterFunc(limit, func() {
		_ = ours.SetDeadline(time.Unix(1, 0))
		if k.guard != nil {
			_ = k.guard.conn.SetDeadline(time.Unix(1, 0))
		}
	})
	err = k.begin(c)
	if !stop() && err == nil {
		err = context.Cause(limit)
	}
	if err != nil {
		err = errors.Join(err, k.abandon())
		if text := k.stderr.String(); text != "" {
			err = fmt.Errorf("%w (%s)", err, text)
		}
		if c.Policy.Layer == None {
			return nil, err
		}
		return nil, fmt.Errorf("build the sandbox: %w", err)
	}
	go k.receive() // ends with the keeper; Close waits
	if k.guard != nil {
		go k.watch() // ends with the guard, or hangUp
	}
	return k, nil
}

// forbids reports whether an error means that this host does not allow the namespaces of a
// keeper. The other errors, such as EAGAIN and ENOMEM, pass.
func forbids(err error) bool {
	if errors.Is(err, syscall.ENOSPC) { // so many namespaces may not be, or none
		return slices.ContainsFunc([]string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}, func(kind string) bool {
			return setting("/proc/sys/user/max_"+kind+"_namespaces") == "0"
		})
	}
	for _, e := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSYS, syscall.EUSERS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// passes reports whether an error inside means that something is short for now, which says
// nothing about the host: processes, memory, files, or mounts.
func passes(err error) bool {
	for _, e := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// socketPair makes the control socket.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a control socket: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "control")
	theirs = os.NewFile(uintptr(fds[1]), "control")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// startProcess starts this program as a keeper, and no other that was put in its place:
// it may be in a folder that commands can write. In layer A it is started by its path:
// through /proc/self/exe it would be on a mount of this process, and what runs inside
// could change its mode through /proc/1/exe.
// In layer B its guard is started, which starts it. Without walls the keeper is its own guard.
func startProcess(c Config, files []*os.File, stderr *tail) (*proc.BareProcess, error) {
	l := c.Policy.Layer
	if l == A {
		path, err := Program()
		if err != nil {
			return nil, err
		}
		return proc.Bare(path, []string{keeperName}, files, stderr, attributes(l))
	}
	if l == None {
		return proc.Bare("/proc/self/exe", []string{keeperName}, files, stderr, attributes(l))
	}
	args := []string{keeperName, guardArg}
	if abi, _ := usedABI(c.ABI); l == B && landlock.ScopesSignals(abi) {
		args = append(args, scopedArg)
	}
	return proc.Bare("/proc/self/exe", args, files, stderr, attributes(l))
}

// Program returns the path of this program, if the program is still there. Where commands
// can write, the caller protects it.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	if is, err := os.Stat(path); err != nil || !os.SameFile(is, self) {
		return "", errors.New("this program was replaced or removed while it ran; end it and start it again")
	}
	return path, nil
}

// begin hands over the policy and takes what the keeper made.
func (k *Keeper) begin(c Config) error {
	c.Target.Owner = os.Getpid()
	if err := k.control.send(order{c.Policy, c.Target, c.Name, c.ABI}.encode()); err != nil {
		return err
	}
	if err := k.meet(); err != nil {
		return err
	}
	m, files, err := k.expect(k.control, ready)
	if err != nil {
		return err
	}
	if len(m.Slots) != 3 {
		closeAll(files)
		return errMessage
	}
	k.lacks = m.List
	if err := k.take(c, m.Slots, files); err != nil {
		return err
	}
	_, files, err = k.expect(k.control, answer) // after it has attacked its walls
	closeAll(files)
	if err == nil && k.policy.Layer == A {
		k.mounts, err = k.table.read(k.process.Process.Pid)
	}
	return err
}

// meet learns which process the keeper is.
func (k *Keeper) meet() error {
	if k.guard == nil {
		k.inner = k.process.Process
		return nil
	}
	m, files, err := k.expect(k.guard, started)
	closeAll(files)
	if err != nil {
		return err
	}
	k.inner, err = os.FindProcess(int(m.N))
	return err
}

// expect receives a message of a kind.
func (k *Keeper) expect(from *control, want kind) (message, []*os.File, error) {
	m, files, err := from.receive()
	if err == nil && m.Kind == want {
		return m, files, nil
	}
	closeAll(files)
	switch {
	case err != nil:
		return message{}, nil, err
	case m.Kind == failed && m.Flag:
		return message{}, nil, errors.New(m.Text)
	case m.Kind == failed && m.Text != "":
		return message{}, nil, &unavailable{errors.New(m.Text)}
	}
	return message{}, nil, errMessage
}

// Layer is the layer in force.
func (k *Keeper) Layer() Layer { return k.policy.Layer }

// Lacks says what this host does not let the layer promise.
func (k *Keeper) Lacks() []string { return k.lacks }

// Listener accepts the connections that programs make to the proxy. It is closed by
// Close. It is nil if the policy is offline.
func (k *Keeper) Listener() net.Listener { return k.proxy }

// Holds reports whether a process, by its id outside, runs inside.
func (k *Keeper) Holds(pid int) bool {
	select {
	case <-k.gone:
		return false
	default:
		return slices.Contains(proc.Descendants(k.process.Process.Pid), pid)
	}
}

// Gone is closed when the keeper has ended.
func (k *Keeper) Gone() <-chan struct{} { return k.gone }

// tail keeps the last bytes that a keeper wrote about itself.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 4 << 10

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if n := len(t.b) - maxTail; n > 0 {
		t.b = t.b[n:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
