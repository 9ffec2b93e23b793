package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/patch"
	"hermes/internal/plugin/source"
	"hermes/internal/text"
)

// Changes returns what another version of a manifest changes, a line each: + is new, - is gone.
func (m Manifest) Changes(next Manifest) []string {
	return append(differences(m.facts(), next.facts()), differences(m.Capabilities.facts(), next.Capabilities.facts())...)
}

// Wider returns what another version of a manifest declares beyond this one, a line each.
func (m Manifest) Wider(next Manifest) []string {
	old, now := append(m.kinds(), m.Capabilities.facts()...), append(next.kinds(), next.Capabilities.facts()...)
	return slices.DeleteFunc(differences(old, now), func(line string) bool { return !strings.HasPrefix(line, "+") })
}

// facts are what a manifest says beside the capabilities.
func (m Manifest) facts() []string {
	facts := []string{
		"version " + m.Version, "program " + strings.Join(m.Program, " "), fmt.Sprintf("time to start %d s", m.Timeouts.Start), fmt.Sprintf("time of a call %d s", m.Timeouts.Call),
	}
	return append(facts, m.kinds()...)
}

func (m Manifest) kinds() (facts []string) {
	for _, k := range m.Kinds {
		facts = append(facts, "kind "+k)
	}
	return facts
}

func (c Capabilities) facts() (facts []string) {
	for _, list := range []struct {
		what string
		of   []string
	}{{"reaches", c.Hosts}, {"reads", c.Read}, {"writes", c.Write}, {"programs", c.Programs}, {"calls", c.Tools}} {
		for _, e := range list.of {
			facts = append(facts, list.what+" "+e)
		}
	}
	for _, s := range c.Secrets {
		for _, h := range s.Hosts {
			facts = append(facts, "secret "+s.Name+" for "+h)
		}
	}
	if c.Approvals {
		facts = append(facts, "asks you, also whether a call may run")
	}
	if c.Complete != nil {
		facts = append(facts, fmt.Sprintf("asks a model, %d times a minute and %d tokens at most", c.Complete.PerMinute, c.Complete.MaxTokens))
	}
	return facts
}

// Changes returns what another version of an offer changes, a line each: + is new, - is gone, ~ is
// different.
func (o Offer) Changes(next Offer) []string {
	old, now := o.facts(), next.facts()
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if value, ok := now[key]; !ok {
			lines = append(lines, "- "+key)
		} else if value != old[key] {
			lines = append(lines, "~ "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, ok := old[key]; !ok {
			lines = append(lines, "+ "+key)
		}
	}
	return lines
}

// New returns what another version of an offer has that this one has not, or has otherwise.
func (o Offer) New(next Offer) Offer {
	return Offer{
		Tools: beyond(o.Tools, next.Tools), Hooks: beyond(o.Hooks, next.Hooks), Sections: beyond(o.Sections, next.Sections),
		Commands: beyond(o.Commands, next.Commands), MemoryCommands: beyond(o.MemoryCommands, next.MemoryCommands), Models: beyond(o.Models, next.Models),
	}
}

// beyond are those of now that are not in old.
func beyond[T any](old, now []T) (more []T) {
	text := func(one T) string {
		data, _ := json.Marshal(one) // plain values
		return string(data)
	}
	left := map[string]int{}
	for _, one := range old {
		left[text(one)]++
	}
	for _, one := range now {
		if left[text(one)]--; left[text(one)] < 0 {
			more = append(more, one)
		}
	}
	return more
}

// Wider returns what another version of an offer does beyond this one, a line each: all that is new or
// different, and guards that are gone.
func (o Offer) Wider(next Offer) (lines []string) {
	added := o.New(next).facts()
	for _, line := range o.Changes(next) {
		if _, ok := added[line[2:]]; ok {
			lines = append(lines, line)
		}
	}
	for _, h := range next.New(o).Hooks {
		if _, told := added[h.called()]; h.Guard && !told {
			lines = append(lines, "- "+h.called())
		}
	}
	return lines
}

// called is what people call a hook.
func (h Hook) called() string { return strings.TrimSpace("hook " + h.Event + " " + h.Tools) }

// facts are what is offered: by what people call it, everything that is said of it.
func (o Offer) facts() map[string]string {
	facts := map[string]string{}
	add := func(key string, value any) {
		data, _ := json.Marshal(value) // plain values
		facts[key] += string(data)
	}
	for _, t := range o.Tools {
		add("tool "+t.Name, t)
	}
	for _, h := range o.Hooks {
		add(h.called(), h)
	}
	for _, s := range o.Sections {
		add("prompt "+s.Name, s)
	}
	for _, c := range o.Commands {
		add("command /"+c.Name, c)
	}
	for _, c := range o.MemoryCommands {
		add("memory command "+c.Name, c)
	}
	for _, m := range o.Models {
		add("model "+m.Name, m)
	}
	return facts
}

// differences are the lines of one list that the other has not.
func differences(old, now []string) (lines []string) {
	for _, l := range old {
		if !slices.Contains(now, l) {
			lines = append(lines, "- "+l)
		}
	}
	for _, l := range now {
		if !slices.Contains(old, l) {
			lines = append(lines, "+ "+l)
		}
	}
	return lines
}

// mostCompared bounds the file whose lines are compared, and the diff of all, in bytes.
const mostCompared = 256 << 10

// FileChanges returns which files of a plugin another version changes, a line each, and the
// differences of texts as a unified diff, the first 256 KiB or so. The record of the source does not count.
func FileChanges(old, next string) (files []string, diff string, err error) {
	before, err := fileList(old)
	if err != nil {
		return nil, "", err
	}
	after, err := fileList(next)
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(joined(before, after))) {
		a, was := before[name]
		z, is := after[name]
		if was && is && bytes.Equal(a, z) {
			continue
		}
		mark := "~ "
		switch {
		case !was:
			mark = "+ "
		case !is:
			mark = "- "
		}
		files = append(files, mark+name)
		if b.Len() < mostCompared && readable(a) && readable(z) {
			b.WriteString(patch.Unified(sideOf("a/", name, was), sideOf("b/", name, is), string(a), string(z)))
		}
	}
	return files, b.String(), nil
}

func joined(a, b map[string][]byte) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func sideOf(prefix, name string, there bool) string {
	if !there {
		return "/dev/null"
	}
	return prefix + text.VisibleName(name)
}

func readable(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

// fileList reads the files of a plugin by their paths. Of large ones it returns the hash.
func fileList(dir string) (map[string][]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := map[string][]byte{}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == source.RecordName {
			return err
		}
		local := filepath.FromSlash(path)
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := root.Readlink(local)
			list[path] = []byte("a link to " + to)
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := content(root, local, info.Size())
		if info.Mode()&0o111 != 0 {
			data = append(data, "\n(a program)"...)
		}
		list[path] = data
		return err
	})
	return list, err
}

func content(root *os.Root, name string, size int64) ([]byte, error) {
	if size <= mostCompared {
		return root.ReadFile(name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return append([]byte{0}, sum.Sum(nil)...), err
}
