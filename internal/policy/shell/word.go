package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// words expands words as the shell would, as far as the result is known.
func (j *judge) words(list []*syntax.Word) []string {
	all := make([]string, 0, len(list))
	for _, w := range list {
		if len(all) > lex.MaxWords {
			j.Exhausted()
			break
		}
		if !lex.MayHaveBraces(w) {
			all = j.fields(all, w)
			continue
		}
		alternatives, ok := j.Braces(w)
		if !ok {
			all = append(all, lex.Several)
		}
		for _, parts := range alternatives {
			all = j.fields(all, &syntax.Word{Parts: parts})
		}
	}
	return all
}

// fields adds the words that one word becomes.
func (j *judge) fields(to []string, w *syntax.Word) []string {
	text := j.expand(w, track.Bare)
	if text == "" && lex.Vanishes(w) {
		return to
	}
	if !strings.Contains(text, lex.Split) {
		return append(to, text)
	}
	for part := range strings.SplitSeq(text, lex.Split) {
		if part != "" {
			to = append(to, part)
		}
	}
	return to
}

// word expands one word without splitting it.
func (j *judge) word(w *syntax.Word) string { return j.unsplit(w, track.Whole) }

func (j *judge) unsplit(w *syntax.Word, q track.Quoting) string {
	if w == nil {
		return ""
	}
	return strings.ReplaceAll(j.expand(w, q), lex.Split, " ")
}

// expand returns the text of a word. Text that is too long is unknown.
func (j *judge) expand(w *syntax.Word, q track.Quoting) string {
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && len(lit.Value) < lex.MaxText && !strings.ContainsAny(lit.Value, `\~`) {
			if !j.Spend(len(lit.Value)) {
				return lex.Several
			}
			return lit.Value
		}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		before := b.Len()
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && q != track.InQuotes && strings.HasPrefix(lit.Value, "~") {
			b.WriteString(lex.Unescape(j.Tilde(lit.Value), false))
		} else {
			j.part(&b, part, q)
		}
		if !j.Spend(b.Len()-before) || b.Len() > lex.MaxText {
			return lex.Several
		}
	}
	return b.String()
}

func (j *judge) part(b *strings.Builder, part syntax.WordPart, q track.Quoting) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(lex.Unescape(p.Value, q == track.InQuotes))
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text, _ = lex.AnsiC(text)
		}
		b.WriteString(text)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if j.part(b, inner, track.InQuotes); b.Len() > lex.MaxText {
				return
			}
		}
	case *syntax.ParamExp:
		b.WriteString(j.Cut(j.parameter(p, q), q))
	case *syntax.CmdSubst:
		b.WriteString(j.Cut(j.substituted(p.Stmts), q))
	case *syntax.ProcSubst:
		b.WriteString(j.process(p))
	case *syntax.ExtGlob:
		b.WriteString("*")
	case *syntax.BraceExp, *syntax.ArithmExp:
		b.WriteString(lex.Filled)
	default:
		b.WriteString(lex.Unknown)
	}
}

// parameter returns the value of $name, also of the forms with a default. Words
// of a list are separated by split.
func (j *judge) parameter(p *syntax.ParamExp, q track.Quoting) string {
	if p.Param == nil || p.Names != 0 || p.NestedParam != nil {
		return lex.Unknown
	}
	name := p.Param.Value
	if p.Excl {
		pointed, known := j.Value(name)
		if !known || p.Index != nil || p.Exp != nil || !lex.IsAssignment(pointed+"=") {
			return lex.Unknown
		}
		name = pointed
	}
	if p.Length || p.Width || p.IsSet {
		return lex.Filled
	}
	altered := p.Slice != nil || p.Repl != nil || p.Exp != nil
	if list, ok := j.List(name, p.Index); ok {
		if altered && slices.ContainsFunc(list, func(v string) bool { return strings.Contains(v, lex.FromSecret) }) {
			return lex.FromSecret // or a part of it
		}
		return j.Listed(list, name, p, q)
	}
	value, known := j.Element(name, p.Index)
	if altered && strings.Contains(value, lex.FromSecret) {
		return lex.FromSecret
	}
	if p.Slice != nil || p.Repl != nil {
		return lex.Unknown
	}
	if p.Exp == nil {
		return value
	}
	return j.defaulted(p, name, value, known, max(q, track.Whole))
}

// defaulted returns the value of ${name:-word} and its relatives.
func (j *judge) defaulted(p *syntax.ParamExp, name, value string, known bool, q track.Quoting) string {
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if !known || value == "" {
			return j.unsplit(p.Exp.Word, q)
		}
		return value
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !known || value == "" {
			value = j.unsplit(p.Exp.Word, q)
			j.Set(name, track.Exactly(value))
		}
		return value
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if text := j.unsplit(p.Exp.Word, q); known && value != "" || text == "" {
			return text
		}
		return lex.Unknown
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if value == lex.Unknown {
			return lex.Filled
		}
		return value
	case syntax.OtherParamOps:
		if p.Exp.Word != nil && p.Exp.Word.Lit() == "P" { // expanded like a prompt, which runs $(…)
			if lex.Dynamic(value) {
				j.Ask("eval", "runs a command that is built at run time")
			}
			j.hiddenTexts("", []string{value})
		}
	}
	return lex.Unknown
}

// substituted returns the output of $(…), or a mark for its kind.
func (j *judge) substituted(list []*syntax.Stmt) string {
	if j.Depth >= lex.MaxDepth || !j.Step() {
		return lex.Unknown
	}
	j.Depth++
	defer func() { j.Depth-- }()
	if len(list) == 1 {
		if c, ok := list[0].Cmd.(*syntax.CallExpr); ok && !list[0].Background {
			if text, ok := j.printed(c, list[0].Redirs, track.Input{}); ok {
				return strings.TrimRight(text, "\n")
			}
		}
	}
	if j.showsSecret(list...) {
		return lex.FromSecret
	}
	mark := lex.Unknown
	for _, s := range list {
		for _, name := range j.CommandNames(s) {
			switch {
			case program.IsDownload(name):
				return lex.FromDownload
			case program.IsProcessSearch(name) && name != "fuser":
				return lex.FromSearch
			case len(list) == 1 && program.PrintsSomething(name):
				mark = lex.Filled
			}
		}
	}
	return mark
}

// process returns the path under which a process substitution can be read or
// written, and records what is known about its output.
func (j *judge) process(p *syntax.ProcSubst) string {
	name := "/dev/fd/" + strconv.Itoa(64+len(j.Files))
	c := track.Content{}
	if p.Op == syntax.CmdIn {
		c.Text, c.Known = j.output(p.Stmts)
		c.Download, c.Secret = j.Downloads(p.Stmts), j.showsSecret(p.Stmts...)
	} else {
		c.Sends = j.Sends(p.Stmts)
	}
	j.Wrote(name, c)
	return name
}

// showsSecret reports whether what a statement prints may hold a secret: a command of it, or of a function that it calls.
func (j *judge) showsSecret(list ...*syntax.Stmt) bool {
	found := false
	j.commands(list, func(args []string) { found = found || j.CallShowsSecret(args) }, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause: // export -p
			found = found || len(n.Args) == 0 || slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Value != nil && a.Value.Lit() == "-p" })
			return false
		case *syntax.Redirect:
			if n.Op == syntax.RdrIn || n.Op == syntax.WordHdoc {
				found = found || j.SecretWord(j.word(n.Word))
			}
			if n.Op == syntax.DplIn {
				c, _ := j.Written(descriptor(j.word(n.Word)))
				found = found || c.Secret
			}
			return n.Hdoc != nil
		}
		return !found
	})
	return found
}

// namesSecret reports whether what a statement prints may name a file with a secret, and whether it runs commands with
// names that it reads.
func (j *judge) namesSecret(s *syntax.Stmt) (names, xargs bool) {
	j.commands([]*syntax.Stmt{s}, func(args []string) {
		if len(args) > 0 {
			names = names || slices.ContainsFunc(args[1:], j.SecretPart) || program.ListsHere(args) && j.SecretWord(".")
			xargs = xargs || lex.Within("xargs gxargs parallel", lex.Program(args[0]))
		}
	}, func(syntax.Node) bool { return true })
	return names, xargs
}

// commands hands over the words of the commands in statements and in the functions that these call, and the other nodes to
// another func, which returns whether to look into them.
func (j *judge) commands(list []*syntax.Stmt, do func(args []string), other func(syntax.Node) bool) {
	var called []string
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return other(n) && j.Work <= lex.MaxWork
		}
		args := j.words(call.Args)
		do(args)
		if len(args) > 0 && len(called) < lex.MaxDepth && !slices.Contains(called, args[0]) {
			called = append(called, args[0])
			for _, body := range j.Funcs[args[0]] {
				syntax.Walk(body, visit)
			}
		}
		return false
	}
	for _, s := range list {
		syntax.Walk(s, visit)
	}
}
