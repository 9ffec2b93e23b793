package input

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/command"
	"hermes/internal/order"
)

// suggest updates the menu of commands for the text so far.
func (l *Line) suggest() {
	l.menu.close()
	if l.draft != nil || l.cur != len(l.text) {
		return
	}
	line := string(l.text)
	list := append(commands(line), l.calledSkills(line)...)
	if len(list) == 1 && list[0].insert == line && !list[0].more {
		return
	}
	l.menu.choices = list
}

// complete is Tab: it completes the word before the cursor as a path, as far
// as it is unambiguous, and offers the candidates.
func (l *Line) complete() Wish {
	word := l.Word()
	switch {
	case word == "":
	case l.away():
		return Names
	default:
		l.offer(word, paths(word, l.dir))
	}
	return Nothing
}

func (l *Line) away() bool { return l.Elsewhere != nil && l.Elsewhere() }

// Word is the word before the cursor, "" if there is none.
func (l *Line) Word() string {
	word := string(l.text[l.blankLeft():l.cur])
	if strings.ContainsAny(word, " \n\t") {
		return ""
	}
	return word
}

// Offer offers names that a word may become, of which folders end in a slash. It does nothing if
// the word before the cursor is another one by now.
func (l *Line) Offer(word string, names []string) {
	if word == "" || word != l.Word() {
		return
	}
	mark := ""
	if strings.HasPrefix(word, "@") {
		mark = "@"
	}
	var list []choice
	for _, name := range names[:min(len(names), maxChoices)] {
		more := strings.HasSuffix(name, "/")
		label := name[strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/')+1:]
		list = append(list, choice{insert: mark + name, label: label, more: more})
	}
	l.offer(word, list)
}

// offer completes a word, which is the one before the cursor.
func (l *Line) offer(word string, list []choice) {
	from := l.blankLeft()
	switch {
	case len(list) == 0:
		l.Hint = "No match"
		return
	case len(list) == 1:
		l.menu = menu{choices: list, from: from}
		l.accept(list[0])
		return
	}
	if prefix := common(list); len(prefix) > len(word) {
		l.cut(from, l.cur, false)
		l.Insert(prefix)
	}
	l.menu = menu{choices: list, from: from}
}

// accept replaces the word with a choice.
func (l *Line) accept(c choice) {
	from := l.menu.from
	l.menu.close()
	l.cut(from, l.cur, false)
	l.Insert(c.insert)
	switch {
	case !c.more:
		l.Insert(" ")
	case strings.HasPrefix(c.insert, "/") && from == 0 && !strings.HasSuffix(c.insert, "/"):
		l.Insert(" ")
	case l.away(): // Tab asks for what is in it
	default: // a folder: offer what is in it
		from = l.blankLeft()
		l.menu = menu{choices: paths(string(l.text[from:l.cur]), l.dir), from: from}
	}
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

// skillChoices are the skills that can be called by name. A skill with the name
// of a command is not among them: the command wins.
func skillChoices(s Skills) []choice {
	if s == nil {
		return nil
	}
	all, err := s.List(context.Background()) // reads only a few files
	if err != nil {
		return nil
	}
	var list []choice
	for _, k := range all {
		if strings.Contains(k.Name, ".") || slices.ContainsFunc(command.Table(), func(c command.Command) bool { return c.Name == k.Name }) {
			continue
		}
		list = append(list, choice{insert: "/" + k.Name, label: "/" + k.Name, help: k.Description, more: true})
	}
	return list
}

// calledSkills offers the skills whose names start with the text.
func (l *Line) calledSkills(text string) []choice {
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " \n") {
		return nil
	}
	var list []choice
	for _, c := range l.skills() {
		if strings.HasPrefix(c.insert, text) {
			list = append(list, c)
		}
	}
	return list
}
