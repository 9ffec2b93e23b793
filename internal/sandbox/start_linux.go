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
	process  *proc.BareProcess // the keeper itself, or its guard in other layers than A
	guard    *control          // ends everything inside when it is closed; nil in layer A
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

// question waits for its answer.
type question struct {
	answer chan reply // has room for one
	file   bool       // one comes with it
}

// reply is an answer with the files that came with it.
type reply struct {
	message
	files []*os.File
}

// Start starts a keeper and returns when its walls stand. The program must call Main
// first of all. ctx bounds the start only.
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
	if c.Policy.Layer != A {
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

// watch ends the keeper when its guard has ended: nothing runs unguarded.
func (k *Keeper) watch() {
	_, files, _ := k.guard.receive() // nothing comes
	closeAll(files)
	k.hangUp()
}

// socketPair makes the control socket.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the control socket of the sandbox: %w", err)
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
// In other layers its guard is started, which starts it.
func startProcess(c Config, files []*os.File, stderr *tail) (*proc.BareProcess, error) {
	l := c.Policy.Layer
	if l == A {
		path, err := Program()
		if err != nil {
			return nil, err
		}
		return proc.Bare(path, []string{keeperName}, files, stderr, attributes(l))
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

// Empty reports whether no process runs inside: none was left when the last command
// ended. What the keeper says counts only if the kernel says so, too. Of a keeper that has
// gone Empty says what it said last.
func (k *Keeper) Empty() bool {
	k.mu.Lock()
	empty, sure, lost, last := k.empty, k.sure, k.lost, k.next
	k.mu.Unlock()
	if !empty || lost {
		return empty && sure
	}
	sure = k.childless()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.next == last {
		k.sure = sure
	}
	return sure
}

// childless reports whether the keeper has no child, as the kernel says. All that runs
// inside descends from it, and what lost its parent is its child.
func (k *Keeper) childless() bool {
	if k.inner == nil {
		return false
	}
	if !proc.ListsChildren() {
		all, err := proc.AllDescendants(k.inner.Pid)
		return err == nil && len(all) == 0
	}
	all, err := proc.ChildrenOf(k.inner.Pid)
	return err == nil && len(all) == 0
}

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

// receive takes what the keeper sends until it ends.
func (k *Keeper) receive() {
	for {
		m, files, err := k.control.receive()
		if err != nil {
			break
		}
		if !k.dispatch(reply{m, files}) {
			k.cut() // closing what it sent may wait for its processes
			closeAll(files)
			break
		}
	}
	k.left = k.abandon()
	k.mu.Lock()
	k.lost = true // empty stays as it was: what ran until now may have done something
	for _, q := range k.waiting {
		close(q.answer)
	}
	for _, c := range k.children {
		c.finish(killed, false)
	}
	clear(k.waiting)
	clear(k.children)
	k.mu.Unlock()
	close(k.gone)
}

// killed is the exit code of what ended with its keeper.
const killed = 128 + int(syscall.SIGKILL)

// dispatch hands an answer to who waits for it. It refuses files that no one asked for.
func (k *Keeper) dispatch(r reply) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := k.waiting[r.ID]
	if len(r.files) > 0 && (len(r.files) > 1 || !q.file || r.Kind != answer) {
		return false
	}
	if r.Kind == exited {
		if c := k.children[r.ID]; c != nil {
			c.finish(int(r.N)&0xff, r.Flag)
			delete(k.children, r.ID)
			k.empty = len(k.children) == 0 && len(r.Slots) == 1 // the keeper has no child any more
		}
		return true
	}
	delete(k.waiting, r.ID)
	if q.answer != nil {
		q.answer <- r
	}
	return true
}

// ask sends a question and waits for the answer. A keeper that gives none is ended.
func (k *Keeper) ask(m *message, files ...*os.File) (reply, error) {
	late := time.AfterFunc(answerWait, k.cut) // a full socket blocks, too
	defer late.Stop()
	w, err := k.pose(m, files...)
	if err != nil {
		return reply{}, err
	}
	return answered(await(k, w))
}

// pose sends a question. Its answer comes, or the end of the keeper.
func (k *Keeper) pose(m *message, files ...*os.File) (<-chan reply, error) {
	w := make(chan reply, 1)
	k.mu.Lock()
	if k.lost {
		k.mu.Unlock()
		return nil, ErrGone
	}
	if m.ID == 0 {
		k.next++
		m.ID = k.next
	}
	k.waiting[m.ID] = question{w, m.Kind == dial}
	k.mu.Unlock()
	k.wake()
	if err := k.control.send(m, files...); err != nil {
		k.mu.Lock()
		delete(k.waiting, m.ID)
		k.mu.Unlock()
		return nil, ErrGone
	}
	return w, nil
}

// answered returns an answer, or the error that it is.
func answered(r reply, ok bool) (reply, error) {
	if !ok {
		return reply{}, ErrGone
	}
	if r.Kind == failed {
		if r.N > 0 && r.N < 4096 {
			return reply{}, syscall.Errno(r.N)
		}
		return reply{}, errors.New(r.Text)
	}
	return r, nil
}

// Freeze stops all processes of the keeper. The func that it returns lets them go on.
func (k *Keeper) Freeze() (func(), error) {
	if _, err := k.ask(&message{Kind: freeze}); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { _, _ = k.ask(&message{Kind: thaw}) }), nil
}

// Dial connects to a port on which a program of the keeper listens. Closing the connection
// wakes those who read from it or write to it, whatever the program does with its socket.
func (k *Keeper) Dial(port int) (net.Conn, error) {
	r, err := k.askForConnection(port)
	if err != nil {
		return nil, err
	}
	if len(r.files) != 1 {
		return nil, errMessage
	}
	defer closeAll(r.files)
	conn, err := net.FileConn(r.files[0])
	if err != nil {
		k.cut() // it sent something else
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		k.cut()
		conn.Close()
		return nil, errMessage
	}
	return &connection{tcp}, nil
}

// askForConnection waits for a connection. A program that accepts none is not the fault of
// the keeper, which goes on.
func (k *Keeper) askForConnection(port int) (reply, error) {
	late := time.AfterFunc(answerWait, k.cut)
	w, err := k.pose(&message{Kind: dial, N: int64(port)})
	late.Stop()
	if err != nil {
		return reply{}, err
	}
	select {
	case r, ok := <-w:
		return answered(r, ok)
	case <-time.After(answerWait):
		go func() { // ends with the keeper
			r := <-w
			closeAll(r.files)
		}()
		return reply{}, syscall.ETIMEDOUT
	}
}

// connection is one to a program inside, which has the same socket.
type connection struct{ *net.TCPConn }

// Close does not wait for the program.
func (c *connection) Close() error {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{})
			_ = unix.Shutdown(int(fd), unix.SHUT_RDWR) // it may have made the socket a blocking one
		})
	}
	return c.TCPConn.Close()
}

// Ports lists the ports that programs of the keeper listen on, at most 1,024.
func (k *Keeper) Ports() ([]int, error) {
	const most = 1024
	if k.supervisor != nil {
		var list []int
		for _, a := range k.supervisor.Listening() {
			list = append(list, int(a.Port()))
		}
		return list, nil
	}
	if list, err := k.askKernel(most); err == nil {
		return list, nil
	}
	r, err := k.ask(&message{Kind: ports})
	if err != nil {
		return nil, err
	}
	var list []int
	for _, p := range r.Slots[:min(len(r.Slots), most)] {
		if p > 0 && p < 1<<16 {
			list = append(list, int(p))
		}
	}
	return list, nil
}

// askKernel lists the ports of layer A without the keeper, whose text files about all
// connections take the kernel 10 ms to write.
func (k *Keeper) askKernel(most int) ([]int, error) {
	k.diagMu.Lock()
	defer k.diagMu.Unlock()
	if k.diag == nil {
		return nil, errors.ErrUnsupported
	}
	all, err := seccomp.ListeningOn(int(k.diag.Fd()))
	if err != nil {
		return nil, err
	}
	var list []int
	for _, a := range all {
		if port := int(a.Port()); len(list) < most && !slices.Contains(list, port) {
			list = append(list, port)
		}
	}
	return list, nil
}

// Close ends the keeper and all its processes, and waits for that. The error says that
// some could not be ended.
func (k *Keeper) Close() error {
	k.wake()
	k.hangUp()
	<-k.gone
	return k.left
}

// hangUp tells the keeper, and its guard, to end everything.
func (k *Keeper) hangUp() {
	k.control.conn.Close()
	if k.guard != nil {
		k.guard.conn.Close()
	}
}

// cut ends a keeper that does not do what it is told. Its guard ends the rest.
func (k *Keeper) cut() {
	k.control.conn.Close()
	if k.inner != nil {
		_ = k.inner.Kill()
		return
	}
	_ = k.process.Process.Kill()
}

// wakeEvery is how often a keeper is woken while something is expected of it.
const wakeEvery = 500 * time.Millisecond

// await receives from a channel, and wakes the keeper while it waits.
func await[T any](k *Keeper, from <-chan T) (T, bool) {
	again := time.NewTicker(wakeEvery)
	defer again.Stop()
	for {
		select {
		case got, ok := <-from:
			return got, ok
		case <-again.C:
			k.wake()
		}
	}
}

// wake lets a keeper go on that was stopped from inside, which layer B allows, and its
// guard, which it allows below Landlock ABI 6.
func (k *Keeper) wake() {
	if k.guard == nil {
		return
	}
	_ = k.process.Process.Signal(syscall.SIGCONT) // none if it has ended
	if k.inner != nil {
		_ = k.inner.Signal(syscall.SIGCONT)
	}
}

// abandon ends the keeper when it is of no use any more.
func (k *Keeper) abandon() error {
	k.hangUp()
	k.wake()
	ended := make(chan struct{})
	go func() {
		_ = k.process.Wait() // its exit code says nothing
		close(ended)
	}()
	left := awaitEnd(k, ended)
	if left == nil {
		left = children.ended(k.process.Process.Pid, k.runs)
	}
	if k.stopping != nil {
		k.stopping()
	}
	if k.proxy != nil {
		k.proxy.Close()
	}
	k.diagMu.Lock()
	if k.diag != nil {
		k.diag.Close()
		k.diag = nil
	}
	k.diagMu.Unlock()
	k.serving.Wait()
	if k.inside >= 0 {
		unix.Close(k.inside)
	}
	return left
}

var errLeft = errors.New("processes of the sandbox could not be ended; they are still behind its walls")

// awaitEnd waits until the process that the owner started has ended. After closeWait it is
// killed: then the kernel ends all in layer A, and its guard's children become the owner's.
func awaitEnd(k *Keeper, ended <-chan struct{}) error {
	limit, again := time.NewTimer(closeWait), time.NewTicker(wakeEvery)
	defer limit.Stop()
	defer again.Stop()
	for killed := false; ; {
		select {
		case <-ended:
			return nil
		case <-again.C:
			k.wake()
		case <-limit.C:
			if killed {
				return errLeft
			}
			_ = k.process.Process.Kill()
			killed = true
			limit.Reset(closeWait)
		}
	}
}

// runs reports whether a process is left behind the filter of layer B, as the kernel says.
// In layer A none is when the keeper has ended, and without walls none when the guard has.
func (k *Keeper) runs() bool {
	if k.inside < 0 {
		return false
	}
	look := []unix.PollFd{{Fd: int32(k.inside)}}
	_, err := unix.Poll(look, 0)
	return err != nil || look[0].Revents&unix.POLLHUP == 0
}

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
