package lineage

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// look reads a process. An agent is known by its name, which only the process
// itself can change: another program or a copy of this one makes no difference.
func look(pid int) (node, error) {
	raw, err := os.ReadFile(proc(pid) + "/stat")
	if err != nil {
		return node{}, err
	}
	n, ok := parseStat(raw)
	if !ok {
		return node{}, fmt.Errorf("%s/stat has an unknown form", proc(pid))
	}
	n.pid, n.agent = pid, n.name == ProcessName
	return n, nil
}

// parseStat reads the name and the parent of a process.
func parseStat(raw []byte) (n node, ok bool) {
	// The name is in brackets and may contain brackets.
	begin, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if begin < 0 || end < begin {
		return node{}, false
	}
	fields := bytes.Fields(raw[end+1:]) // the state, the parent, …
	if len(fields) < 2 {
		return node{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return node{parent: parent, name: string(raw[begin+1 : end])}, err == nil
}

func proc(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// homes reads the marks that an agent has open. There are none if the system does
// not let this process look.
func (n node) homes() []string {
	folder := proc(n.pid) + "/fd/"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var homes []string
	for _, e := range entries {
		target, err := os.Readlink(folder + e.Name())
		if err != nil || !strings.HasPrefix(target, "/memfd:"+markName+" ") {
			continue
		}
		raw, err := os.ReadFile(folder + e.Name())
		if m, ok := parseMark(raw); err == nil && ok && !slices.Contains(homes, m.home) {
			homes = append(homes, m.home)
		}
	}
	return homes
}
