package permission

import (
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/policy/shell"
)

// Call is a call as rules see it. Paths are absolute, with links followed. A Call is made for one
// judgement and must not be changed in it; it is not for concurrent use.
type Call struct {
	Tool    string
	Toolset string // the group of the tool; "" if it has no group
	Writes  bool   // it has an effect
	// ChangesFiles says that it changes Files although its tool is not in the group file.
	ChangesFiles bool
	Command      string // of terminal
	Dir          string // where the command runs
	// Harmless reports whether another command would run in its place without approval; nil
	// knows of none.
	Harmless func(command string) bool
	Files    []string // of file tools: every name by which each file is reached
	// Lost says that it cannot be known which files the call touches.
	Lost bool
	// Texts are what rules that deny or ask look at in a call: its command or subject, or every
	// text among its arguments.
	Texts []string
	// Unclear says that what runs may be something else than Texts, which only running it shows.
	Unclear bool
	// LeavesOut says that the call shows nothing of files that a rule denies to read, if it finds them
	// below its folders.
	LeavesOut bool
	// Workspace is the folder of the session. Commands are allowed only in it and below it, and
	// relative patterns of paths begin there.
	Workspace string
	Who       Who
	// Follow returns a path with its links followed, or the path itself; nil follows none.
	Follow func(path string) string

	lines []line // of Texts, found when first needed
}

// line is a text as a shell would run it, in lower case.
type line struct {
	whole    string // with single blanks
	joined   string // whole, with one separator between commands
	commands []simple
	complete bool       // commands has all of them
	texts    [][]string // the words of texts that programs of the line may take commands from, in lower case
}

// simple is a simple command, in lower case.
type simple struct {
	words []string
	whole string
	base  string // the name of its program, without a folder
	short string // whole with base instead of the program
}

func simpleOf(words []string) simple {
	low := make([]string, len(words))
	for i, w := range words {
		low[i] = strings.ToLower(w)
	}
	s := simple{words: low, whole: strings.Join(low, " "), base: path.Base(low[0])}
	s.short = s.whole
	if s.base != low[0] {
		s.short = s.base + s.whole[len(low[0]):]
	}
	return s
}

// spelled returns the usual spelling of a command whose program has another name for it, nil if it has none: git-push for
// git push, git.exe for git.
func spelled(words []string) []string {
	name := path.Base(words[0])
	plain := name
	if len(plain) > 4 && strings.EqualFold(plain[len(plain)-4:], ".exe") {
		plain = plain[:len(plain)-4]
	}
	if verb, ok := strings.CutPrefix(strings.ToLower(plain), "git-"); ok && verb != "" {
		return append([]string{"git", verb}, words[1:]...)
	}
	if plain == name {
		return nil
	}
	return append([]string{plain}, words[1:]...)
}

func (c *Call) shellLines() []line {
	if c.lines != nil {
		return c.lines
	}
	c.lines = make([]line, 0, len(c.Texts))
	for _, text := range c.Texts {
		l := line{whole: plain(text), joined: oneSeparator(strings.ToLower(text))}
		l.complete = shell.CommandsAndTexts(text, func(words []string) bool {
			if len(words) > 0 {
				l.commands = append(l.commands, simpleOf(words))
				if other := spelled(words); other != nil {
					l.commands = append(l.commands, simpleOf(other))
				}
				if other := c.linked(words); other != nil {
					l.commands = append(l.commands, simpleOf(other))
				}
			}
			return true
		}, func(text string) {
			l.texts = append(l.texts, wordsOf(text))
		})
		c.lines = append(c.lines, l)
	}
	return c.lines
}

// wordsOf cuts a text that is no shell command into what may be words of one, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{};|&=!,:<>~%\\", r) })
}

// linked returns a command whose program is a link to one with another name, by that one; nil for others.
func (c *Call) linked(words []string) []string {
	program := words[0]
	if c.Follow == nil || !strings.Contains(program, "/") || strings.Contains(program, "\x00") {
		return nil
	}
	if !path.IsAbs(program) {
		program = path.Join(filepath.ToSlash(c.Dir), program)
	}
	if real := filepath.ToSlash(c.Follow(filepath.FromSlash(program))); path.Base(real) != path.Base(program) {
		return append([]string{real}, words[1:]...)
	}
	return nil
}

func (c *Call) follow(path string) string {
	if c.Follow == nil {
		return path
	}
	return c.Follow(path)
}
