package remote

import (
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Tools judges tools that change things elsewhere. A package manager or a language
// may start them: `npx prisma migrate reset` is judged as `prisma migrate reset`.
func Tools(l *track.Line, name string, rest []string, s track.Situation) {
	name = program.ToolName(name)
	cloud(l, name, rest)
	remoteRun(l, name, rest)
	cluster(l, name, rest)
	publishes(l, name, rest)
	Fetches(l, name, rest)
	databases(l, name, rest, s.In)
	if program.ConsoleCode(name, rest) {
		l.Ask("inline-code", "runs program code given in the command")
	}
	if inner := program.Started(name, rest); len(inner) > 0 && l.Depth < lex.MaxDepth {
		l.Depth++
		Tools(l, lex.Program(inner[0]), inner[1:], s)
		l.Depth--
	}
}
