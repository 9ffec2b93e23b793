package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects judges the files that are written and returns the input.
func (j *judge) redirects(list []*syntax.Redirect, in input) input {
	for _, r := range list {
		if r.Word == nil {
			continue
		}
		j.substitutions(r.Word)
		if r.Hdoc != nil {
			j.substitutions(r.Hdoc)
		}
		if writes(r) {
			for _, target := range j.words([]*syntax.Word{r.Word}) {
				j.write(target)
			}
		}
	}
	return j.inputOf(list, in)
}

func writes(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
		return r.Word != nil
	}
	return false
}

// inputOf returns the input of a command with redirections.
func (j *judge) inputOf(list []*syntax.Redirect, in input) input {
	for _, r := range list {
		if r.Word == nil {
			continue
		}
		if r.N != nil && r.N.Value != "0" { // another file descriptor
			if !writes(r) {
				bare := *r
				bare.N = nil
				j.wrote("/dev/fd/"+r.N.Value, j.inputOf([]*syntax.Redirect{&bare}, input{}).content())
			}
			continue
		}
		switch r.Op {
		case syntax.DplIn:
			if fd := j.word(r.Word); fd != "-" && fd != "0" {
				c, _ := j.written("/dev/fd/" + fd)
				in = input{fed: true, text: c.text, known: c.known, download: c.download, secret: c.secret}
			}
		case syntax.Hdoc, syntax.DashHdoc:
			in = input{fed: true, known: true}
			if r.Hdoc != nil {
				in.text = j.document(r)
				in.secret = strings.Contains(in.text, fromSecret)
			}
		case syntax.WordHdoc:
			text := j.word(r.Word)
			in = input{fed: true, text: text, known: true, download: strings.Contains(text, fromDownload), secret: strings.Contains(text, fromSecret)}
		case syntax.RdrIn:
			file := j.word(r.Word)
			if file == "/dev/null" {
				in = input{known: true}
				continue
			}
			j.socket(file)
			c, ok := j.written(file)
			in = input{fed: ok || dynamic(file), text: c.text, known: c.known, download: c.download, secret: j.secretWord(file)}
		}
	}
	return in
}

// document returns the text of a here-document.
func (j *judge) document(r *syntax.Redirect) string {
	if !slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	}) {
		return j.unsplit(r.Hdoc, inQuotes)
	}
	var b strings.Builder // a quoted delimiter: the text is read as it is
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok && b.Len()+len(lit.Value) <= maxText && j.spend(len(lit.Value)) {
			b.WriteString(lit.Value)
			continue
		}
		return unknown
	}
	return b.String()
}

// recordOutput records the files that a statement writes by redirection.
func (j *judge) recordOutput(s *syntax.Stmt, in input) {
	for _, r := range s.Redirs {
		if !writes(r) || r.Op == syntax.DplOut {
			continue
		}
		c := content{}
		bare := &syntax.Stmt{Cmd: s.Cmd}
		if call, ok := s.Cmd.(*syntax.CallExpr); ok {
			c.text, c.known = j.printed(call, nil, j.inputOf(s.Redirs, in))
			if args := j.words(call.Args); len(args) > 0 && endlessOutput(program(args[0]), args[1:]) {
				j.fills(r)
			}
		} else if s.Cmd != nil {
			c.text, c.known = j.output([]*syntax.Stmt{bare})
		} else {
			c.known = true
		}
		if s.Cmd != nil {
			c.download = in.download || j.downloads([]*syntax.Stmt{bare})
			c.secret = j.inputOf(s.Redirs, in).secret || j.showsSecret(bare)
		}
		for _, target := range j.words([]*syntax.Word{r.Word}) {
			old, ok := j.written(target)
			if ok && old.sends && c.secret {
				j.ask("secret-upload", "sends a secret file, credentials or the environment to another machine")
			}
			if ok && (r.Op == syntax.AppOut || r.Op == syntax.AppAll) {
				c = content{old.text + c.text, old.known && c.known, old.download || c.download, old.secret || c.secret, old.sends}
			} else if !ok && (r.Op == syntax.AppOut || r.Op == syntax.AppAll) {
				c.known = false // what it held before
			}
			if r.Op != syntax.AppOut && r.Op != syntax.AppAll && r.Op != syntax.RdrInOut {
				j.replacesFile(target, c.known && c.text == "")
			}
			j.wrote(target, c)
		}
	}
}

// output returns what statements print, if that is known.
func (j *judge) output(list []*syntax.Stmt) (string, bool) {
	var b strings.Builder
	for _, s := range list {
		text, ok := j.printedBy(s)
		if !ok || b.Len()+len(text) > maxText {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

func (j *judge) printedBy(s *syntax.Stmt) (string, bool) {
	if j.depth >= maxDepth || !j.step() {
		return "", false
	}
	j.depth++
	defer func() { j.depth-- }()
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return j.printed(c, s.Redirs, input{})
	case *syntax.Block:
		return j.output(c.Stmts)
	case *syntax.Subshell:
		return j.output(c.Stmts)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			return j.output([]*syntax.Stmt{c.X, c.Y})
		}
	}
	return "", false
}

// printed returns what a command prints, if the line shows it. The text may have
// marks.
func (j *judge) printed(c *syntax.CallExpr, redirects []*syntax.Redirect, in input) (string, bool) {
	if slices.ContainsFunc(redirects, writes) {
		return "", false
	}
	args := j.words(c.Args)
	if len(args) == 0 || len(j.funcs[args[0]]) > 0 || dynamic(args[0]) {
		return "", false
	}
	text, ok := j.prints(program(args[0]), args[1:], func() input { return j.inputOf(redirects, in) })
	return text, ok && len(text) <= maxText
}

func (j *judge) prints(name string, rest []string, in func() input) (string, bool) {
	last := ""
	if len(rest) > 0 {
		last = rest[len(rest)-1]
	}
	switch name {
	case "echo":
		return echoed(rest)
	case "printf":
		return formatted(rest)
	case "cat", "tee":
		return j.copied(name, rest, in())
	case "pwd":
		return j.dir, j.dir != ""
	case "which", "realpath":
		return last, last != "" && last[0] != '-'
	case "readlink":
		return last, len(rest) == 2 && (rest[0] == "-f" || rest[0] == "-e" || rest[0] == "-m")
	case "command":
		return last, len(rest) == 2 && rest[0] == "-v"
	case "mktemp":
		return "/tmp/tmp.XXXXXXXXXX", !slices.ContainsFunc(rest, func(a string) bool { return a != "-d" && a != "-q" })
	case "dirname":
		return path.Dir(last), len(rest) == 1 && !dynamic(last)
	case "basename":
		return path.Base(last), len(rest) == 1 && !dynamic(last)
	case "nproc":
		return "4", true
	case "true", ":":
		return "", true
	}
	return "", false
}

// copied is what cat and tee print: their files, if the line wrote them, or
// their input.
func (j *judge) copied(name string, rest []string, in input) (string, bool) {
	var b strings.Builder
	for _, file := range rest {
		c, ok := j.written(file)
		if name == "tee" || file == "-" || file == "/dev/null" {
			continue
		}
		if !ok || !c.known || b.Len()+len(c.text) > maxText || !j.spend(len(c.text)) {
			return "", false
		}
		b.WriteString(c.text)
	}
	if b.Len() > 0 || name == "cat" && len(rest) > 0 && rest[0] == "/dev/null" {
		return b.String(), true
	}
	return in.text, in.known
}

func echoed(rest []string) (string, bool) {
	escapes := false
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' && strings.Trim(rest[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(rest[0], "e")
		rest = rest[1:]
	}
	text := strings.Join(rest, " ")
	switch {
	case !strings.Contains(text, `\`):
		return text + "\n", true
	case escapes:
		printed, ended := ansiC(text)
		return printed + "\n", !ended && !strings.Contains(text, `\0`) // \0162 has a digit more here
	}
	// Some shells read the escapes, others do not.
	plain := strings.ReplaceAll(text, `\n`, "\n")
	return plain + "\n", !strings.Contains(plain, `\`)
}

// formatted is what printf prints. It knows %s alone.
func formatted(rest []string) (string, bool) {
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return "", false
	}
	format, ended := ansiC(rest[0])
	words, pieces := rest[1:], strings.Split(strings.ReplaceAll(format, "%%", split), "%s")
	if ended || strings.Contains(strings.Join(pieces, ""), "%") {
		return "", false
	}
	var b strings.Builder
	for first := true; first || len(words) > 0 && len(pieces) > 1; first = false {
		for i, piece := range pieces {
			if i > 0 && len(words) > 0 {
				b.WriteString(words[0])
				words = words[1:]
			}
			b.WriteString(piece)
		}
		if b.Len() > maxText {
			return "", false
		}
	}
	return strings.ReplaceAll(b.String(), split, "%"), true
}
