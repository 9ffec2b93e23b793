package track

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// Situation is how a command is run.
type Situation struct {
	In         Input
	Background bool
	Shadowed   bool // a function has the name of the program
	Xargs      bool // more arguments come from the input
}

// Input is what is known about the standard input of a command.
type Input struct {
	Fed      bool     // a pipe or a here-document, rather than a file or nothing
	Text     string   // its content, as far as the line shows it
	Known    bool     // text is all of it
	Download bool     // it comes from a download
	Pids     bool     // it comes from a search for processes
	Shell    bool     // it is what a shell prints
	Secret   bool     // it may hold a secret
	Names    bool     // it may name a file with a secret
	Roots    []string // it lists what is in these folders
	Below    []string // it lists some of what is in these folders
}

// Content is what is known about what a command prints, or about a file that the
// line wrote.
type Content struct {
	Text     string
	Known    bool // text is all of it
	Download bool // it comes from a download
	Secret   bool // it may hold a secret
	Sends    bool // what is written there is sent to another machine
}

// Content returns what a file holds that is written with this input.
func (in Input) Content() Content { return Content{in.Text, in.Known, in.Download, in.Secret, false} }

// Input is the input of a command that reads the file.
func (c Content) Input() Input {
	return Input{Fed: true, Text: c.Text, Known: c.Known, Download: c.Download, Secret: c.Secret}
}

// Wrote records that the line wrote a file.
func (l *Line) Wrote(target string, c Content) {
	switch target {
	case "", "-", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return
	}
	key := l.FileKey(target)
	if _, known := l.Files[key]; !known && len(l.Files) >= lex.MaxFiles {
		l.Exhausted()
		return
	}
	if l.Files == nil {
		l.Files = map[string]Content{}
	}
	if len(c.Text) > lex.MaxText {
		c = Content{Download: c.Download, Secret: c.Secret}
	}
	if c.Download {
		c.Text, c.Known = "", false
	}
	l.Files[key] = c
}

// Written returns the content of a file that the line wrote.
func (l *Line) Written(file string) (Content, bool) {
	if len(l.Files) == 0 || file == "" {
		return Content{}, false
	}
	c, ok := l.Files[l.FileKey(file)]
	return c, ok
}

// FileKey is the name under which a file is recorded.
func (l *Line) FileKey(file string) string {
	if p, ok := l.Absolute(file); ok {
		return p
	}
	if lex.Dynamic(file) {
		fields := strings.FieldsFunc(file, func(r rune) bool { return strings.ContainsRune(lex.Marks, r) })
		return lex.Unknown + strings.Join(fields, lex.Unknown)
	}
	return path.Clean(file)
}

// FileText returns the commands in a file that the line wrote, for a shell. It
// asks where they are not known.
func (l *Line) FileText(file string, asShell bool) (string, bool) {
	c, ok := l.Written(file)
	if !ok {
		if strings.HasPrefix(file, "/dev/fd/") {
			l.Ask("write-and-run", "runs commands that it reads from another process or file")
		}
		return "", false
	}
	shebang, _, _ := strings.Cut(c.Text, "\n")
	switch {
	case c.Download:
		l.Ask("download-to-shell", "runs a download as a program")
		return "", false
	case !c.Known || lex.Dynamic(c.Text) || strings.Trim(file, lex.Marks) == "":
		l.Ask("write-and-run", "runs a file that the same command wrote")
	case !asShell || strings.HasPrefix(shebang, "#!") && !strings.HasSuffix(strings.TrimSpace(shebang), "sh"):
		l.Ask("write-and-run", "runs a file that the same command wrote")
		return "", false
	}
	return lex.ScriptText(c.Text), true
}

// CommandNames lists the names at the command positions of a statement.
func (l *Line) CommandNames(n syntax.Node) []string {
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for _, w := range c.Args {
				text, _ := lex.Literal(w)
				name := lex.Program(text)
				names = append(names, name)
				if !program.IsWrapper(name) {
					break
				}
			}
		}
		return l.Work <= lex.MaxWork
	})
	l.Spend(len(names))
	return names
}

// Sends reports whether a command of the statements sends its input away.
func (l *Line) Sends(list []*syntax.Stmt) bool {
	for _, s := range list {
		if slices.ContainsFunc(l.CommandNames(s), program.IsSender) {
			return true
		}
	}
	return false
}

// Downloads reports whether one of the statements downloads something.
func (l *Line) Downloads(list []*syntax.Stmt) bool {
	for _, s := range list {
		for _, name := range l.CommandNames(s) {
			if program.IsDownload(name) {
				return true
			}
		}
	}
	return false
}

// RecordAll records that the line wrote files with unknown content.
func (l *Line) RecordAll(files []string) {
	for _, f := range files {
		l.Wrote(f, Content{})
	}
}
