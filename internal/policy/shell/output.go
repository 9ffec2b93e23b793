package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/files"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// redirects judges the files that are written and returns the input.
func (j *judge) redirects(list []*syntax.Redirect, in track.Input) track.Input {
	for _, r := range list {
		if r.Word == nil {
			continue
		}
		j.substitutions(r.Word)
		if r.Hdoc != nil {
			j.substitutions(r.Hdoc)
		}
		if lex.Writes(r) {
			for _, target := range j.words([]*syntax.Word{r.Word}) {
				j.Write(target)
			}
		}
		if j.opened != nil && (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut) {
			j.opened(j.word(r.Word))
		}
	}
	return j.inputOf(list, in)
}

// inputOf returns the input of a command with redirections.
func (j *judge) inputOf(list []*syntax.Redirect, in track.Input) track.Input {
	for _, r := range list {
		if r.Word == nil {
			continue
		}
		if r.N != nil && r.N.Value != "0" { // another file descriptor
			if !lex.Writes(r) {
				bare := *r
				bare.N = nil
				j.Wrote("/dev/fd/"+r.N.Value, j.inputOf([]*syntax.Redirect{&bare}, track.Input{}).Content())
			}
			continue
		}
		switch r.Op {
		case syntax.DplIn:
			if fd := j.word(r.Word); fd != "-" && fd != "0" {
				c, _ := j.Written("/dev/fd/" + fd)
				in = c.Input()
			}
		case syntax.Hdoc, syntax.DashHdoc:
			in = track.Input{Fed: true, Known: true}
			if r.Hdoc != nil {
				in.Text = j.document(r)
				in.Secret = strings.Contains(in.Text, lex.FromSecret)
			}
		case syntax.WordHdoc:
			text := j.word(r.Word)
			in = track.Input{Fed: true, Text: text, Known: true, Download: strings.Contains(text, lex.FromDownload), Secret: strings.Contains(text, lex.FromSecret)}
		case syntax.RdrIn:
			file := j.word(r.Word)
			if file == "/dev/null" {
				in = track.Input{Known: true}
				continue
			}
			j.Socket(file)
			j.Read(file)
			in = j.inputFrom(file)
		}
	}
	return in
}

// inputFrom is the input of a command that reads a file.
func (j *judge) inputFrom(file string) track.Input {
	c, ok := j.Written(file)
	in := track.Input{Fed: ok || lex.Dynamic(file), Text: c.Text, Known: c.Known, Download: c.Download, Secret: j.SecretWord(file)}
	j.Shows = j.Shows || in.Secret
	return in
}

// document returns the text of a here-document.
func (j *judge) document(r *syntax.Redirect) string {
	if !slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	}) {
		return j.unsplit(r.Hdoc, track.InQuotes)
	}
	var b strings.Builder // a quoted delimiter: the text is read as it is
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok && b.Len()+len(lit.Value) <= lex.MaxText && j.Spend(len(lit.Value)) {
			b.WriteString(lit.Value)
			continue
		}
		return lex.Unknown
	}
	return b.String()
}

// descriptor is the name under which the line remembers where an open file leads.
func descriptor(number string) string { return "/dev/fd/" + number }

// recordOutput records the files that a statement writes by redirection.
func (j *judge) recordOutput(s *syntax.Stmt, in track.Input) {
	for _, r := range s.Redirs {
		if r.Op == syntax.DplOut {
			if to, ok := j.Written(descriptor(j.word(r.Word))); ok && to.Sends && s.Cmd != nil && (j.inputOf(s.Redirs, in).Secret || j.showsSecret(&syntax.Stmt{Cmd: s.Cmd})) {
				j.AskUpload()
			}
		}
		if !lex.Writes(r) || lex.Duplicates(r) {
			continue
		}
		c := track.Content{}
		bare := &syntax.Stmt{Cmd: s.Cmd}
		if call, ok := s.Cmd.(*syntax.CallExpr); ok {
			c.Text, c.Known = j.printed(call, nil, j.inputOf(s.Redirs, in))
			if args := j.words(call.Args); len(args) > 0 && program.EndlessOutput(lex.Program(args[0]), args[1:]) {
				j.fills(r)
			}
		} else if s.Cmd != nil {
			c.Text, c.Known = j.output([]*syntax.Stmt{bare})
		} else {
			c.Known = true
		}
		if s.Cmd != nil {
			c.Download = in.Download || j.Downloads([]*syntax.Stmt{bare})
			c.Secret = j.inputOf(s.Redirs, in).Secret || j.showsSecret(bare)
		}
		for _, target := range j.words([]*syntax.Word{r.Word}) {
			old, ok := j.Written(target)
			connects := strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/")
			j.Leaves = j.Leaves || connects
			if connects && r.N != nil { // exec 3<>/dev/tcp/…
				j.Wrote(descriptor(r.N.Value), track.Content{Sends: true})
			}
			if (connects || ok && old.Sends) && c.Secret {
				j.AskUpload()
			}
			if ok && (r.Op == syntax.AppOut || r.Op == syntax.AppAll) {
				c = track.Content{Text: old.Text + c.Text, Known: old.Known && c.Known, Download: old.Download || c.Download, Secret: old.Secret || c.Secret, Sends: old.Sends}
			} else if !ok && (r.Op == syntax.AppOut || r.Op == syntax.AppAll) {
				c.Known = false // what it held before
			}
			if r.Op != syntax.AppOut && r.Op != syntax.AppAll && r.Op != syntax.RdrInOut {
				files.ReplacesFile(j.Line, target, c.Known && c.Text == "")
			}
			j.Wrote(target, c)
		}
	}
}

// output returns what statements print, if that is known.
func (j *judge) output(list []*syntax.Stmt) (string, bool) {
	var b strings.Builder
	for _, s := range list {
		text, ok := j.printedBy(s)
		if !ok || b.Len()+len(text) > lex.MaxText {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

func (j *judge) printedBy(s *syntax.Stmt) (string, bool) {
	if j.Depth >= lex.MaxDepth || !j.Step() {
		return "", false
	}
	j.Depth++
	defer func() { j.Depth-- }()
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return j.printed(c, s.Redirs, track.Input{})
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
func (j *judge) printed(c *syntax.CallExpr, redirects []*syntax.Redirect, in track.Input) (string, bool) {
	if slices.ContainsFunc(redirects, lex.Writes) {
		return "", false
	}
	args := j.words(c.Args)
	if len(args) == 0 || len(j.Funcs[args[0]]) > 0 || lex.Dynamic(args[0]) {
		return "", false
	}
	text, ok := j.Prints(lex.Program(args[0]), args[1:], func() track.Input { return j.inputOf(redirects, in) })
	return text, ok && len(text) <= lex.MaxText
}

// fills judges a file that an endless output is written to.
func (j *judge) fills(r *syntax.Redirect) {
	if target := j.word(r.Word); !strings.HasPrefix(target, "/dev/") {
		j.Ask("fill-disk", "may fill the disk")
	}
}
