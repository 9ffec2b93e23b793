// Package errsig recognises failures: what a failed tool call says is brought
// into a form in which the same failure looks the same again, whatever paths,
// numbers and addresses it names.
//
// Of takes the text of a result apart; Normal is the form of one message; Alike
// compares two of them. All is pure text work. The package knows no tool and
// keeps nothing.
package errsig

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Signature is a failure in its general form.
type Signature struct {
	// Class is the kind of failure, one of a few words.
	Class string
	// Pattern is the message in its normal form; "" means that nothing can be
	// learned from it.
	Pattern string
	// Message is the line of the result that tells most, as it stands there.
	Message string
}

// maxMessage bounds a message, and with it a pattern, in bytes.
const maxMessage = 240

// Of reads the result of a failed call. arguments are the call's JSON; a
// command's program becomes part of the pattern, since programs fail each in
// their own way.
func Of(arguments, result string) Signature {
	message := telling(result)
	if message == "" || refused(message) {
		return Signature{}
	}
	s := Signature{Class: classOf(message), Pattern: Normal(message), Message: message}
	if p := program(arguments); p != "" && s.Pattern != "" && !strings.HasPrefix(s.Pattern, p+":") {
		s.Pattern = p + ": " + s.Pattern
	}
	return s
}

// refused tells results that say no to a call instead of reporting a failure.
func refused(message string) bool {
	low := strings.ToLower(message)
	for _, start := range []string{"not run", "denied", "blocked", "interrupted", "the person", "refused"} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return false
}

// telling finds the line that says what went wrong: the error of a JSON
// result, else the last line of its output that speaks of one.
func telling(result string) string {
	var fields struct {
		Error  string `json:"error"`
		Output string `json:"output"`
		Stderr string `json:"stderr"`
	}
	d := json.NewDecoder(strings.NewReader(result))
	if d.Decode(&fields) != nil { // plain text, or something else than an object
		return pick(result)
	}
	for _, text := range []string{fields.Stderr, fields.Output, fields.Error} {
		if line := pick(text); line != "" {
			return line
		}
	}
	return ""
}

// words that mark a line which tells of a failure.
var telltale = []string{
	"error", "fatal", "not found", "no such", "denied", "cannot", "can't", "could not", "failed", "failure", "exception", "refused",
	"undefined", "invalid", "unknown", "missing", "timed out", "panic", "unable", "already exists", "not permitted", "no module",
}

func pick(text string) string {
	last, told := "", ""
	n := 0
	for line := range strings.Lines(tail(text)) {
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
				told = line
				break
			}
		}
	}
	if told == "" {
		told = last
	}
	return clip(told)
}

// tail bounds what is looked at.
func tail(text string) string {
	const most = 16 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-most:], "")
}

func clip(line string) string {
	if len(line) <= maxMessage {
		return line
	}
	n := maxMessage
	for n > 0 && !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n]
}

// program is the program of a shell command among the arguments, "" without.
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
