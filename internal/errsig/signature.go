// Package errsig recognizes failures of tool calls: it turns the text of a
// failed result into an error signature, which is the same each time that the same
// thing fails. What a message names (a program, a path, a number, a name) is part
// of what failed, unless it is known to vary, as times and line numbers do.
//
// Of reads the text of a result, Normal normalizes one message, Signature.Match
// compares a failure with a stored pattern, and Resembles two patterns. The package
// works on text only: it does not know the tools and stores nothing. Start at Of.
package errsig

import (
	"encoding/json"
	"strings"

	"hermes/internal/text"
)

// Signature identifies a kind of failure.
type Signature struct {
	// Class is the kind of failure, one of a few words.
	Class string
	// Pattern is the normalized message, with the program that failed before it;
	// "" means that there is nothing to learn from it.
	Pattern string
	// Bare is the pattern without the program.
	Bare string
	// General is what versions before stored as the pattern, with placeholders for
	// all paths and numbers.
	General string
	// Message is the line of the result that says most, unchanged.
	Message string
}

// maxMessage limits a message, and so a pattern, in bytes.
const maxMessage = 240

// Of returns the signature of a failed call, or the zero value for a refused
// one. arguments are the call's JSON: the program of a shell command becomes
// part of the pattern, because each program fails in its own way.
func Of(arguments, result string) Signature {
	message := failureOf(result)
	if message == "" || refused(message) {
		return Signature{}
	}
	said, byShell := unspoken(message)
	s := Signature{Class: classOf(said), Bare: Normal(said), General: generalForm(message), Message: message}
	s.Pattern = s.Bare
	p := program(arguments)
	if p != "" && s.Pattern != "" && !byShell { // a shell names what it speaks of
		s.Pattern = prefixed(p, s.Bare)
	}
	if p != "" && s.General != "" {
		s.General = prefixed(p, s.General)
	}
	return s
}

// prefixed puts the program before a message that does not begin with it.
func prefixed(program, message string) string {
	if strings.HasPrefix(message, program+":") {
		return message
	}
	return program + ": " + message
}

// refused reports whether a result refuses a call instead of reporting a
// failure. Older transcripts say "the person" where new ones say "the user".
func refused(message string) bool {
	low := strings.ToLower(message)
	for _, start := range []string{"not run", "denied", "blocked", "interrupted", "the person", "the user", "refused"} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return false
}

// failureOf returns the line that says what went wrong: from the output of a
// JSON result, else from its error.
func failureOf(result string) string {
	var fields struct {
		Error  string `json:"error"`
		Output string `json:"output"`
		Stderr string `json:"stderr"`
	}
	d := json.NewDecoder(strings.NewReader(result))
	if d.Decode(&fields) != nil { // plain text, or something else than an object
		return failureLine(result)
	}
	for _, text := range []string{fields.Stderr, fields.Output, fields.Error} {
		if line := failureLine(text); line != "" {
			return line
		}
	}
	return ""
}

// telltale are words that mark a line about a failure.
var telltale = []string{
	"error", "fatal", "not found", "no such", "denied", "cannot", "can't", "could not", "failed", "failure", "exception", "refused",
	"undefined", "invalid", "unknown", "missing", "timed out", "panic", "unable", "already exists", "not permitted", "no module",
}

// failureLine returns the last line with a telltale word, else the last line.
func failureLine(output string) string {
	last, found := "", ""
	n := 0
	for line := range strings.Lines(tail(output)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if n++; n > 400 {
			break
		}
		last = line
		low := strings.ToLower(line)
		for _, w := range telltale {
			if strings.Contains(low, w) {
				found = line
				break
			}
		}
	}
	if found == "" {
		found = last
	}
	return text.Prefix(found, maxMessage)
}

// tail returns the end of a text, so that long outputs stay cheap.
func tail(text string) string {
	const most = 16 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-most:], "")
}

// program returns the program of a shell command in the arguments, or "".
func program(arguments string) string {
	var a struct {
		Command string `json:"command"`
	}
	if json.Unmarshal([]byte(arguments), &a) != nil {
		return ""
	}
	for _, w := range strings.Fields(a.Command) {
		if strings.Contains(w, "=") || w == "sudo" || w == "env" || w == "time" || w == "cd" {
			if w == "cd" {
				return ""
			}
			continue
		}
		w = strings.ToLower(w[strings.LastIndexByte(w, '/')+1:])
		if strings.ContainsFunc(w, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == '+')
		}) {
			return ""
		}
		return w
	}
	return ""
}
