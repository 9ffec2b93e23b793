package lineage

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxEnviron limits how much of the environment of another process is read, in bytes.
const maxEnviron = 4 << 20

// seen returns the marks among the open files of another process, as far as the system shows
// them. A mark that the process made itself does not count: it is closed when a program starts.
func seen(pid int) []mark {
	entries, err := os.ReadDir(proc(pid) + "/fd")
	if err != nil {
		return nil
	}
	var found []mark
	for _, e := range entries {
		path := proc(pid) + "/fd/" + e.Name()
		target, err := os.Readlink(path)
		if err != nil || !strings.HasPrefix(target, "/memfd:"+markName+" ") || !inheritable(proc(pid)+"/fdinfo/"+e.Name()) {
			continue
		}
		raw, err := os.ReadFile(path)
		if m, ok := parseMark(raw); err == nil && ok {
			found = append(found, m)
		}
	}
	return found
}

// inheritable reads from the description of a descriptor whether programs inherit it.
func inheritable(path string) bool {
	raw, err := os.ReadFile(path)
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(text), 8, 64)
			return err != nil || flags&unix.O_CLOEXEC == 0
		}
	}
	return true
}

// variableOf returns a variable of the environment that a process was started with, "" if it
// has none or the system does not show it.
func variableOf(pid int, name string) string {
	f, err := os.Open(proc(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return ""
	}
	for v := range strings.SplitSeq(string(raw), "\x00") {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
