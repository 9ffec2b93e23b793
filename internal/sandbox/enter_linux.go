//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enter builds the walls that the owner asks for around one thread, and then executes
// the program again, behind them. It returns only if that fails.
func enter() error {
	runtime.LockOSThread()
	// What this process inherited, such as a pipe of the user's shell, is not for those inside.
	if err := unix.CloseRange(controlFile+1, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil && err != unix.ENOSYS {
		return fmt.Errorf("close inherited files: %w", err)
	}
	// Opened now: the path does not lead to the program any more behind the walls.
	self, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open this program: %w", err)
	}
	c, m, err := firstMessage()
	if err != nil {
		return err
	}
	fail := func(err error) error {
		_ = c.send(&message{Kind: failed, Text: err.Error(), Flag: passes(err)})
		return err
	}
	o, err := orderOf(&m)
	if err != nil {
		return fail(err)
	}
	if o.policy.Layer == None {
		return keepBare(c, o, fail)
	}
	if o.policy.Layer != A { // in layer A this is process 1 of its namespace
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fail(fmt.Errorf("adopt orphans: %w", err))
		}
	}
	h, lacks, err := raise(o, self)
	if err != nil {
		return fail(err)
	}
	m.Env = lacks
	defer runtime.KeepAlive(c) // and with it the socket that the next one finds
	return fail(fmt.Errorf("execute the keeper behind its walls: %w", again(self, &m, h)))
}

// firstMessage reads the order. It leaves the control socket open for the keeper behind
// the walls.
func firstMessage() (*control, message, error) {
	socket := os.NewFile(controlFile, "control")
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, message{}, fmt.Errorf("a keeper is started by its owner only: %w", err)
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, message{}, errors.New("a keeper is started by its owner only")
	}
	c := &control{conn: uc, most: maxToKeeper, socket: socket}
	m, files, err := c.receive()
	closeAll(files)
	return c, m, err
}

// again executes the program, and returns only if that fails. It hands the order over in memory, and the open files by
// their numbers.
func again(self int, m *message, h handed) error {
	fd, err := unix.MemfdCreate("hermes-keeper", 0)
	if err != nil {
		return err
	}
	order := os.NewFile(uintptr(fd), "order")
	if _, err := order.Write(m.encode()); err != nil {
		return err
	}
	defer runtime.KeepAlive(order) // the collector closes files that nothing names any more
	defer runtime.KeepAlive(h.list())
	args := []string{keeperName, insideArg, strconv.Itoa(fd)}
	for _, f := range h.list() {
		n := -1
		if f != nil {
			n = int(f.Fd())
			if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, 0); err != nil {
				return err
			}
		}
		args = append(args, strconv.Itoa(n))
	}
	if _, err := unix.FcntlInt(controlFile, unix.F_SETFD, 0); err != nil {
		return err
	}
	return execAt(self, args)
}

// taken takes what again handed over.
func taken(args []string) (m message, h handed, err error) {
	if len(args) != 4 {
		return m, h, errMessage
	}
	var files [4]*os.File
	for i, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return m, h, errMessage
		}
		if n > controlFile {
			unix.CloseOnExec(n)
			files[i] = os.NewFile(uintptr(n), "handed")
		}
	}
	unix.CloseOnExec(controlFile)
	if files[0] == nil {
		return m, h, errMessage
	}
	defer files[0].Close()
	h = handed{proxy: files[1], notify: files[2], diag: files[3]}
	m, err = readMessage(io.NewSectionReader(files[0], 0, maxToKeeper), maxToKeeper)
	return m, h, err
}

// execAt executes the program that is open at fd, with an empty environment. It returns
// only if that fails.
func execAt(fd int, args []string) error {
	argv := make([]*byte, len(args)+1)
	for i, a := range args {
		p, err := unix.BytePtrFromString(a)
		if err != nil {
			return err
		}
		argv[i] = p
	}
	env := []*byte{nil}
	empty := []byte{0}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	runtime.KeepAlive(argv)
	runtime.KeepAlive(env)
	return errno
}
