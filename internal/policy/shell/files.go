package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// content is what is known about what a command prints, or about a file that the
// line wrote.
type content struct {
	text     string
	known    bool // text is all of it
	download bool // it comes from a download
	secret   bool // it may hold a secret
	sends    bool // what is written there is sent to another machine
}

func (in input) content() content { return content{in.text, in.known, in.download, in.secret, false} }

// wrote records that the line wrote a file.
func (j *judge) wrote(target string, c content) {
	switch target {
	case "", "-", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return
	}
	key := j.fileKey(target)
	if _, known := j.files[key]; !known && len(j.files) >= maxFiles {
		j.exhausted()
		return
	}
	if j.files == nil {
		j.files = map[string]content{}
	}
	if len(c.text) > maxText {
		c = content{download: c.download, secret: c.secret}
	}
	if c.download {
		c.text, c.known = "", false
	}
	j.files[key] = c
}

// written returns the content of a file that the line wrote.
func (j *judge) written(file string) (content, bool) {
	if len(j.files) == 0 || file == "" {
		return content{}, false
	}
	c, ok := j.files[j.fileKey(file)]
	return c, ok
}

// fileKey is the name under which a file is recorded.
func (j *judge) fileKey(file string) string {
	if p, ok := j.absolute(file); ok {
		return p
	}
	if dynamic(file) {
		fields := strings.FieldsFunc(file, func(r rune) bool { return strings.ContainsRune(marks, r) })
		return unknown + strings.Join(fields, unknown)
	}
	return path.Clean(file)
}

// process returns the path under which a process substitution can be read or
// written, and records what is known about its output.
func (j *judge) process(p *syntax.ProcSubst) string {
	name := "/dev/fd/" + strconv.Itoa(64+len(j.files))
	c := content{}
	if p.Op == syntax.CmdIn {
		c.text, c.known = j.output(p.Stmts)
		c.download, c.secret = j.downloads(p.Stmts), j.showsSecret(p.Stmts...)
	} else {
		c.sends = j.sends(p.Stmts)
	}
	j.wrote(name, c)
	return name
}

// sends reports whether a command of the statements sends its input away.
func (j *judge) sends(list []*syntax.Stmt) bool {
	for _, s := range list {
		if slices.ContainsFunc(j.commandNames(s), isSender) {
			return true
		}
	}
	return false
}

func (j *judge) downloads(list []*syntax.Stmt) bool {
	for _, s := range list {
		for _, name := range j.commandNames(s) {
			if isDownload(name) {
				return true
			}
		}
	}
	return false
}

// runsFile judges a file that is run: one that the same line wrote may hold
// anything. A shell reads the commands that the line put into it.
func (j *judge) runsFile(file string, asShell bool, params []string) {
	text, ok := j.fileText(file, asShell)
	if ok {
		j.inSubshell(func() { j.withParameters(params, func() { j.script(text) }) })
	}
}

// fileText returns the commands in a file that the line wrote, for a shell. It
// asks where they are not known.
func (j *judge) fileText(file string, asShell bool) (string, bool) {
	c, ok := j.written(file)
	if !ok {
		if strings.HasPrefix(file, "/dev/fd/") {
			j.ask("write-and-run", "runs commands that it reads from another process or file")
		}
		return "", false
	}
	shebang, _, _ := strings.Cut(c.text, "\n")
	switch {
	case c.download:
		j.ask("download-to-shell", "runs a download as a program")
		return "", false
	case !c.known || dynamic(c.text) || strings.Trim(file, marks) == "":
		j.ask("write-and-run", "runs a file that the same command wrote")
	case !asShell || strings.HasPrefix(shebang, "#!") && !strings.HasSuffix(strings.TrimSpace(shebang), "sh"):
		j.ask("write-and-run", "runs a file that the same command wrote")
		return "", false
	}
	return scriptText(c.text), true
}
