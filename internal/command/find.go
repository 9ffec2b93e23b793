package command

import (
	"context"
	"fmt"
	"hermes/internal/text"
	"slices"
	"strings"
	"unicode"
)

// Split reads a line as a command: its name without the slash, in lower case,
// without the name of a bot (/status@bot), and its arguments. A path such as
// /etc/hosts is not a command, nor is a lone slash.
func Split(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, unicode.IsSpace) // phones and pasted text have other blanks, too
	name = rest
	if end >= 0 {
		name, args = rest[:end], strings.TrimSpace(rest[end:])
	}
	if name == "" || strings.ContainsAny(name, "/.") {
		return "", "", false
	}
	return strings.ToLower(withoutBot(name)), args, true
}

// withoutBot removes the name of the bot that messengers add to a command in a
// group: /status@hermes_bot.
func withoutBot(name string) string {
	before, bot, ok := strings.Cut(name, "@")
	odd := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if !ok || before == "" || bot == "" || strings.ContainsFunc(bot, odd) {
		return name
	}
	return before
}

// Find returns the command with a name or alias, else the first one in the table
// whose name starts with it.
func Find(name string, where Where) (Command, bool) {
	name = strings.ToLower(name)
	for _, c := range Table() {
		if c.Where&where != 0 && (c.Name == name || slices.Contains(c.Aliases, name)) {
			return c, true
		}
	}
	for _, c := range Complete(name, where) {
		return c, true
	}
	return Command{}, false
}

// called reports whether a name is the command's name or alias.
func (c Command) called(name string) bool { return c.Name == name || slices.Contains(c.Aliases, name) }

// Complete returns the commands whose names start with a prefix, in the order
// of the table.
func Complete(prefix string, where Where) []Command {
	prefix = strings.ToLower(prefix)
	var fit []Command
	for _, c := range Table() {
		if c.Where&where != 0 && strings.HasPrefix(c.Name, prefix) {
			fit = append(fit, c)
		}
	}
	return fit
}

// Run runs the command of a line and sets call.Args from it. Errors are meant to
// be shown to the user.
func Run(ctx context.Context, line string, call Call) (Result, error) {
	name, args, ok := Split(line)
	if !ok {
		return Result{}, fmt.Errorf("%q is not a command", line)
	}
	c, ok := Find(name, call.Where)
	if !ok || !c.called(name) { // a skill wins over a prefix of a command
		if r, is, err := called(ctx, line, &call); is || err != nil {
			return r, err
		}
		if r, is, err := plugged(ctx, line, name, args, &call); is {
			return r, err
		}
	}
	if !ok {
		return Result{}, unknown(name, call.Where)
	}
	call.Args = args
	return c.run(ctx, &call)
}

func unknown(name string, where Where) error {
	best, distance := "", 3
	for _, c := range Table() {
		if c.Where&where == 0 {
			continue
		}
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if d := text.Edits(name, n); d < distance {
				best, distance = n, d
			}
		}
	}
	if best != "" {
		return fmt.Errorf("unknown command /%s; did you mean /%s?", name, best)
	}
	return fmt.Errorf("unknown command /%s; use /help to list commands", name)
}

// Agreed is the word at the end of a line that says that the user was asked and agrees.
const Agreed = "--yes"

// agreed removes the words that mean "do not ask" from the arguments and reports
// whether the command may go ahead without asking.
func (c *Call) agreed() bool {
	fields := strings.Fields(c.Args)
	kept := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "now" || f == Agreed || f == "-y" })
	if len(kept) < len(fields) {
		c.Args = strings.Join(kept, " ")
		return true
	}
	return c.Confirmed
}
