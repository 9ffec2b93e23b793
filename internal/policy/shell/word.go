package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks in the text of a word for parts that are only known at run time. They
// cannot occur in a shell word: control characters of a line are replaced before
// it is judged. A mark is a zero byte and what more is known about the part.
const (
	unknown      = "\x00"     // anything, or nothing
	fromDownload = "\x00\x02" // the output of a download
	fromSearch   = "\x00\x03" // process ids from a search
	filled       = "\x00\x04" // anything, but not nothing
	several      = "\x00\x05" // any number of words: an expansion without quotes
	deferred     = "\x00\x06" // a parameter of a function that is only defined here
	fromSecret   = "\x00\x07" // the content of a secret file, or credentials
	fromInput    = "\x00\x08" // a line of the input of a loop
	fromVital    = "\x00\x0e" // a path below the root, a system folder or a home
	split        = "\x01"     // where an unquoted expansion is split

	marks = "\x00\x02\x03\x04\x05\x06\x07\x08\x0e"
)

func dynamic(text string) bool { return strings.Contains(text, unknown) }

// asPattern returns a text as a pattern in which any name may stand for a part
// that is unknown.
func asPattern(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch {
		case strings.IndexByte(marks, text[i]) < 0:
			b.WriteByte(text[i])
		case text[i] == unknown[0]:
			b.WriteByte('*')
		}
	}
	return b.String()
}

// words expands words as the shell would, as far as the result is known.
func (j *judge) words(list []*syntax.Word) []string {
	all := make([]string, 0, len(list))
	for _, w := range list {
		if len(all) > maxWords {
			j.exhausted()
			break
		}
		if !mayHaveBraces(w) {
			all = j.fields(all, w)
			continue
		}
		alternatives, ok := j.braces(w)
		if !ok {
			all = append(all, several)
		}
		for _, parts := range alternatives {
			all = j.fields(all, &syntax.Word{Parts: parts})
		}
	}
	return all
}

// fields adds the words that one word becomes.
func (j *judge) fields(to []string, w *syntax.Word) []string {
	text := j.expand(w, bare)
	if text == "" && vanishes(w) {
		return to
	}
	if !strings.Contains(text, split) {
		return append(to, text)
	}
	for part := range strings.SplitSeq(text, split) {
		if part != "" {
			to = append(to, part)
		}
	}
	return to
}

// vanishes reports whether a word that expands to nothing is no word at all.
func vanishes(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			return true
		case *syntax.DblQuoted:
			if len(p.Parts) == 1 {
				e, ok := p.Parts[0].(*syntax.ParamExp)
				return !ok || e.Param == nil || e.Param.Value != "@" && indexText(e.Index) != "@"
			}
			return true
		}
		return false
	})
}

// quoting is where in a line a word is.
type quoting int

const (
	bare     quoting = iota // the shell splits what its expansions become
	whole                   // it splits nothing: a value, the file of a redirection
	inQuotes                // double quotes or a here-document: most backslashes stay
)

// word expands one word without splitting it.
func (j *judge) word(w *syntax.Word) string { return j.unsplit(w, whole) }

func (j *judge) unsplit(w *syntax.Word, q quoting) string {
	if w == nil {
		return ""
	}
	return strings.ReplaceAll(j.expand(w, q), split, " ")
}

// expand returns the text of a word. Text that is too long is unknown.
func (j *judge) expand(w *syntax.Word, q quoting) string {
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && len(lit.Value) < maxText && !strings.ContainsAny(lit.Value, `\~`) {
			if !j.spend(len(lit.Value)) {
				return several
			}
			return lit.Value
		}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		before := b.Len()
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && q != inQuotes && strings.HasPrefix(lit.Value, "~") {
			b.WriteString(unescape(j.tilde(lit.Value), false))
		} else {
			j.part(&b, part, q)
		}
		if !j.spend(b.Len()-before) || b.Len() > maxText {
			return several
		}
	}
	return b.String()
}

func (j *judge) part(b *strings.Builder, part syntax.WordPart, q quoting) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescape(p.Value, q == inQuotes))
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text, _ = ansiC(text)
		}
		b.WriteString(text)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if j.part(b, inner, inQuotes); b.Len() > maxText {
				return
			}
		}
	case *syntax.ParamExp:
		b.WriteString(j.cut(j.parameter(p, q), q))
	case *syntax.CmdSubst:
		b.WriteString(j.cut(j.substituted(p.Stmts), q))
	case *syntax.ProcSubst:
		b.WriteString(j.process(p))
	case *syntax.ExtGlob:
		b.WriteString("*")
	case *syntax.BraceExp, *syntax.ArithmExp:
		b.WriteString(filled)
	default:
		b.WriteString(unknown)
	}
}

// cut marks where the shell splits an expansion.
func (j *judge) cut(text string, q quoting) string {
	if q != bare || text == "" {
		return text
	}
	separators, known := j.value("IFS")
	if !known {
		return several
	}
	if strings.ContainsAny(text, separators) {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(separators, r) {
				return rune(split[0])
			}
			return r
		}, text)
	}
	if strings.IndexByte(marks, text[len(text)-1]) >= 0 {
		return text + several[1:]
	}
	return text
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
