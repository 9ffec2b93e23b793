package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"hermes/internal/sandbox/mount"
)

// attributes says how the keeper's process is made.
func attributes(l Layer) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	if l == A {
		attr = mount.Attr()
	}
	attr.Setsid = true // signals of the user's terminal are not for it
	return attr
}

func startProcess(c *exec.Cmd) error { return c.Start() }

// take keeps what the keeper handed over.
func (k *Keeper) take(c Config, slots []int64, files []*os.File) error {
	defer closeAll(files)
	proxy, err := handedFile(slots[0], files)
	if err != nil {
		return err
	}
	switch {
	case proxy != nil:
		if k.proxy, err = net.FileListener(proxy); err != nil {
			return fmt.Errorf("take the proxy's socket: %w", err)
		}
	case c.Policy.Network == Proxied && c.Policy.Layer == A:
		return errMessage
	}
	return nil
}

// handedFile returns one of the files that came with the answer, or nil.
func handedFile(slot int64, files []*os.File) (*os.File, error) {
	switch {
	case slot < 0:
		return nil, nil
	case slot >= int64(len(files)):
		return nil, errMessage
	}
	return files[slot], nil
}

func restrict(Policy, int) ([]string, error) { return nil, nil }
func filter(Policy) (*os.File, error)        { return nil, nil }
