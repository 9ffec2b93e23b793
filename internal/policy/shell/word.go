package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks in the text of a word for parts that are only known at run time. They
// cannot occur in a shell word.
const (
	unknown      = "\x00"     // anything
	fromDownload = "\x00\x02" // the output of a download
	fromSearch   = "\x00\x03" // process ids from a search
	split        = "\x01"     // where an unquoted expansion is split
)

func dynamic(text string) bool { return strings.Contains(text, unknown) }

// words expands words as the shell would, as far as the result is known.
func (j *judge) words(list []*syntax.Word) []string {
	var all []string
	for _, w := range list {
		for _, w := range braces(w) {
			text := j.expand(w, false)
			if !strings.Contains(text, split) {
				all = append(all, text)
				continue
			}
			for part := range strings.SplitSeq(text, split) {
				if part != "" {
					all = append(all, part)
				}
			}
		}
	}
	return all
}

// word expands one word without splitting it.
func (j *judge) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return strings.ReplaceAll(j.expand(w, true), split, " ")
}

// braces expands {a,b}, up to a limit.
func braces(w *syntax.Word) []*syntax.Word {
	if lit := w.Lit(); lit != "" && !strings.Contains(lit, "{") {
		return []*syntax.Word{w}
	}
	w = &syntax.Word{Parts: slices.Clone(w.Parts)} // do not change the tree itself
	if !syntax.SplitBraces(w) {
		return []*syntax.Word{w}
	}
	const most = 256
	words := []*syntax.Word{{}}
	for _, part := range w.Parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok || b.Sequence {
			for _, w := range words {
				w.Parts = append(w.Parts, part)
			}
			continue
		}
		var next []*syntax.Word
		for _, elem := range b.Elems {
			for _, inner := range braces(elem) {
				for _, w := range words {
					parts := append(append([]syntax.WordPart{}, w.Parts...), inner.Parts...)
					next = append(next, &syntax.Word{Parts: parts})
				}
				if len(next) > most {
					return next
				}
			}
		}
		words = next
	}
	return words
}

func (j *judge) expand(w *syntax.Word, quoted bool) string {
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, `\~`) {
			return lit.Value
		}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && !quoted && strings.HasPrefix(lit.Value, "~") {
			b.WriteString(unescape(j.tilde(lit.Value), false))
			continue
		}
		j.part(&b, part, quoted)
	}
	return b.String()
}

func (j *judge) part(b *strings.Builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescape(p.Value, quoted))
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = ansiC(text)
		}
		b.WriteString(text)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			j.part(b, inner, true)
		}
	case *syntax.ParamExp:
		b.WriteString(cut(j.parameter(p), quoted))
	case *syntax.CmdSubst:
		b.WriteString(cut(j.substituted(p.Stmts), quoted))
	case *syntax.ProcSubst:
		b.WriteString(j.substituted(p.Stmts))
	case *syntax.ExtGlob:
		b.WriteString("*")
	default:
		b.WriteString(unknown)
	}
}

// cut marks where the shell splits an unquoted expansion.
func cut(text string, quoted bool) string {
	if quoted || !strings.ContainsAny(text, " \t\n") {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return rune(split[0])
		}
		return r
	}, text)
}

// literal returns the text of a word without expansions, with quotes and
// backslashes removed. Patterns stay as they are.
func literal(w *syntax.Word) (text string, ok bool) {
	clone := &syntax.Word{Parts: slices.Clone(w.Parts)} // do not change the tree itself
	syntax.SplitBraces(clone)
	var b strings.Builder
	for _, part := range clone.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, false))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				l, plain := inner.(*syntax.Lit)
				if !plain {
					return "", false
				}
				b.WriteString(unescape(l.Value, true))
			}
		default: // expansions, and {-o,file}, which is two words
			return "", false
		}
	}
	return b.String(), true
}
