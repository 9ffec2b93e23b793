//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// mounts are the mounts of a keeper of layer A by their ids, which the kernel does not give
// again while one of them is there.
type mounts map[string]mounted

type mounted struct {
	at       string
	readOnly bool
}

// mountTable reads the mounts of a process. A table that is as it was is not parsed again:
// it is read for each command, and has hundreds of lines.
type mountTable struct {
	mu   sync.Mutex
	text []byte
	all  mounts // never changed
}

// read returns what is mounted now; the caller must not change it.
func (t *mountTable) read(pid int) (mounts, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || !bytes.Equal(text, t.text) {
		t.text, t.all = text, parseMounts(text)
	}
	return t.all, nil
}

// parseMounts parses a file mountinfo of proc(5).
func parseMounts(text []byte) mounts {
	all := mounts{}
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 5 {
			options := strings.Split(string(f[5]), ",")
			all[string(f[0])] = mounted{filepath.Clean(unescaped.Replace(string(f[4]))), slices.Contains(options, "ro")}
		}
	}
	return all
}

// unescaped reads the paths of proc(5).
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// Lost lists what is protected or hidden in layer A and is not any more: the kernel takes
// a mount away when somebody outside replaces or removes what it covers. Sorted.
func (k *Keeper) Lost() []string {
	if k.policy.Layer != A {
		return nil
	}
	now, err := k.table.read(k.process.Process.Pid)
	if err != nil { // it ends
		return nil
	}
	var lost []string
	for id, m := range k.mounts {
		if now[id] != m {
			lost = append(lost, m.at)
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

// ReadOnly lists where something is mounted in layer A, and whether nothing inside can
// change what is below it, up to the next one. It is nil if nothing is known to be so.
func (k *Keeper) ReadOnly() map[string]bool {
	if k.policy.Layer != A {
		return nil
	}
	now, err := k.table.read(k.process.Process.Pid)
	if err != nil { // it ends
		return nil
	}
	all := map[string]bool{}
	for id, m := range k.mounts {
		if now[id] != m {
			continue
		}
		under, ok := all[m.at]
		all[m.at] = m.readOnly && (under || !ok) // which one is on top is not known
	}
	return all
}
