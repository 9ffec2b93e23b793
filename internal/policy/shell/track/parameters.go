package track

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
)

// SetParameters judges set: what follows its options are the new parameters.
func (l *Line) SetParameters(rest []string) {
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			l.parameters(rest[i+1:])
			return
		case a == "-o" || a == "+o":
			i++
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			if strings.HasSuffix(a, "o") {
				i++
			}
		default:
			l.parameters(rest[i:])
			return
		}
	}
}

func (l *Line) parameters(list []string) {
	l.Params, l.Open = slices.Clone(list), ""
	if len(list) > lex.MaxWords || len(strings.Join(list, "")) > lex.MaxText || slices.ContainsFunc(list, func(a string) bool { return strings.Contains(a, lex.Several[1:]) }) {
		l.Params, l.Open = nil, lex.Unknown
	}
	l.Changes++
}

// ShiftParameters judges shift.
func (l *Line) ShiftParameters(rest []string) {
	n := 1
	if len(rest) > 0 {
		var err error
		if n, err = strconv.Atoi(rest[0]); err != nil {
			n = -1
		}
	}
	if n < 0 || n > len(l.Params) {
		if l.Open == "" && n > len(l.Params) {
			return // the shell refuses it
		}
		l.Params, l.Open = nil, lex.Unknown
		l.Changes++
		return
	}
	l.Params = l.Params[n:]
	l.Changes++
}

// Arithmetic makes the variables that an arithmetic expression changes unknown.
func (l *Line) Arithmetic(n syntax.Node) {
	forget := func(x syntax.ArithmExpr) {
		if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
			l.Set(w.Lit(), Exactly(lex.Filled))
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if n.Op == syntax.Assgn || n.Op >= syntax.AddAssgn && n.Op <= syntax.ShrAssgn {
				forget(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				forget(n.X)
			}
		}
		return true
	})
}
