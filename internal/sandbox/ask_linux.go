//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
	"hermes/internal/sandbox/seccomp"
)

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
	return k.answered(await(k, w))
}

// pose sends a question. Its answer comes, or the end of the keeper.
func (k *Keeper) pose(m *message, files ...*os.File) (<-chan reply, error) {
	w := make(chan reply, 1)
	k.mu.Lock()
	if k.lost {
		k.mu.Unlock()
		return nil, k.policy.Layer.gone()
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
		if errors.Is(err, errClosedFile) {
			return nil, err
		}
		k.cut() // it may have a part of it, and who waits for the end after ErrGone must see one
		return nil, k.policy.Layer.gone()
	}
	return w, nil
}

// gone is ErrGone in the words of a layer.
func (l Layer) gone() error {
	if l == None {
		return goneBare{}
	}
	return ErrGone
}

// goneBare is ErrGone where there is no sandbox.
type goneBare struct{}

func (goneBare) Error() string {
	return "the process that starts programs here has ended, and they with it; the next program starts a new one"
}
func (goneBare) Is(target error) bool { return target == ErrGone }

// answered returns an answer, or the error that it is.
func (k *Keeper) answered(r reply, ok bool) (reply, error) {
	if !ok {
		return reply{}, k.policy.Layer.gone()
	}
	if r.Kind == failed {
		if r.N > 0 && r.N < 4096 {
			return reply{}, syscall.Errno(r.N)
		}
		return reply{}, errors.New(r.Text)
	}
	return r, nil
}

// Freeze stops all processes of the keeper. The func that it returns lets them go on. If it
// returns [ErrGone], Gone is closed.
func (k *Keeper) Freeze() (func(), error) {
	if _, err := k.ask(&message{Kind: freeze}); err != nil {
		if errors.Is(err, ErrGone) {
			<-k.gone // nothing is left that runs
		}
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
		return k.answered(r, ok)
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
