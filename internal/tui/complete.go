package tui

import (
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/command"
	"hermes/internal/order"
)

const (
	maxChoices = 200 // most entries of a folder that are offered
	menuRows   = 8   // most entries that are shown at once
)

// choice is an entry of the completion menu.
type choice struct {
	insert string // what replaces the word
	label  string
	help   string
	more   bool // the word goes on after it: a folder, or a command with arguments
}

// menu is the list of completions below the input.
type menu struct {
	choices []choice
	at      int
	from    int  // index in the text where the word begins
	chosen  bool // the user has moved in the menu
}

func (m *menu) open() bool { return len(m.choices) > 0 }

func (m *menu) close() { *m = menu{} }

func (m *menu) step(by int) {
	m.at = (m.at + by + len(m.choices)) % len(m.choices)
	m.chosen = true
}

// commands offers the slash commands that start with the line.
func commands(line string) []choice {
	prefix, ok := strings.CutPrefix(line, "/")
	if !ok || strings.ContainsAny(prefix, " \n/") {
		return nil
	}
	var list []choice
	for _, c := range command.Complete(prefix, command.Terminal) {
		list = append(list, choice{insert: "/" + c.Name, label: strings.TrimSpace("/" + c.Name + " " + c.Args), help: c.Help, more: c.Args != ""})
	}
	return list
}

// paths offers the entries of a folder that start with the word.
func paths(word, dir string) []choice {
	mark := ""
	if rest, ok := strings.CutPrefix(word, "@"); ok {
		mark, word = "@", rest
	}
	folder, prefix := filepath.Split(word)
	at := folder
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		at = home + rest
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	f, err := os.Open(at)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(5000) // after an error the entries read so far are offered
	var list []choice
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && !strings.HasPrefix(prefix, ".") {
			continue
		}
		more := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			if target, err := os.Stat(filepath.Join(at, name)); err == nil {
				more = target.IsDir()
			}
		}
		if more {
			name += string(filepath.Separator)
		}
		list = append(list, choice{insert: mark + folder + name, label: name, more: more})
	}
	order.By(list, func(a, b choice) int { return strings.Compare(a.label, b.label) })
	return list[:min(len(list), maxChoices)]
}

// common is the longest prefix that all choices share.
func common(list []choice) string {
	prefix := list[0].insert
	for _, c := range list[1:] {
		for !strings.HasPrefix(c.insert, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.ToValidUTF8(prefix, "")
}
