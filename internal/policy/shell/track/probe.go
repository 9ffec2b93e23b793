package track

import (
	"hermes/internal/policy/shell/lex"
)

// Probe judges something that may be a command. Of what it finds, that a program
// is unknown or a text unreadable does not count, nor does SQL, which is judged in
// the whole argument. Nothing is refused: whether it runs is not known.
func (l *Line) Probe(f func()) {
	if l.Depth >= lex.MaxDepth {
		l.Exhausted()
		return
	}
	outer := l.Findings
	probing := l.Probing
	l.Findings, l.Probing = nil, true
	l.Depth++
	l.InSubshell(f)
	l.Depth--
	l.Probing = probing
	found := l.Findings
	l.Findings = outer
	for _, f := range found {
		switch {
		case f.Key == "dynamic-command" || f.Key == "unreadable" || f.Key == "destructive-sql":
		case f.Level == Refuse:
			l.Ask("hidden-command", "may run a command that "+f.Reason)
		default:
			l.Find(f)
		}
	}
}

// Never judges something of which only what is never allowed counts.
func (l *Line) Never(f func()) {
	if l.Depth >= lex.MaxDepth {
		return
	}
	found := l.Findings
	l.Findings = nil
	l.Depth++
	l.InSubshell(f)
	l.Depth--
	inner := l.Findings
	l.Findings = found
	for _, f := range inner {
		if f.Level == Refuse || f.Key == "too-deep" {
			l.Find(f)
		}
	}
}
