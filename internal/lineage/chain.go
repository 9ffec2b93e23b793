package lineage

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// node is a process on the way up.
type node struct {
	pid, parent int
	name        string
	agent       bool // it runs an agent
}

func (n node) String() string { return n.name + " (" + strconv.Itoa(n.pid) + ")" }

// errUnsupported means that this system has no way to find parents.
var errUnsupported = errors.New("parents cannot be found on this system")

// mostParents ends a way up that has no end because processes change meanwhile.
const mostParents = 1 << 16

// attempts is how often a way up is begun again because a parent ended meanwhile.
const attempts = 5

// climb returns the agents among the parents of a process, up to init or the
// process top. An error means that not even the process itself could be read: a
// parent may be hidden because it belongs to another user, and ends the way.
func climb(pid, top int, look func(pid int) (node, error)) ([]node, error) {
	var agents []node
	for range attempts {
		var err error
		var first bool
		if agents, first, err = ascend(pid, top, look); err == nil || errors.Is(err, errUnsupported) {
			return agents, nil
		} else if first {
			return nil, fmt.Errorf("look at the parents: %w", err)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return agents, nil
		}
	}
	return agents, nil
}

// ascend goes up once. first says that the process itself could not be read.
func ascend(pid, top int, look func(pid int) (node, error)) (agents []node, first bool, err error) {
	self := pid
	for range mostParents {
		n, err := look(pid)
		if err != nil {
			return agents, pid == self, err
		}
		if n.agent && pid != self {
			agents = append(agents, n)
		}
		if pid = n.parent; pid <= 0 || pid == top {
			break
		}
	}
	return agents, false, nil
}
