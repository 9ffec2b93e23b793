package track

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// SecretPath reports whether the content of a path must not leave this machine
// without a question.
func (l *Line) SecretPath(p string) bool {
	secret, known := l.links.secret[p]
	if known {
		return secret
	}
	secret = l.protected().Secret(p) || l.holds(p)
	if l.links.secret == nil {
		l.links.secret = map[string]bool{}
	}
	if len(l.links.secret) < maxReads {
		l.links.secret[p] = secret
	}
	return secret
}

// AskUpload asks because the line sends a secret.
func (l *Line) AskUpload() {
	l.Ask("secret-upload", "sends a secret file, credentials or the environment to another machine")
}

// maxHeld bounds how many paths of a line are asked about by content.
const maxHeld = 256

// holds reports whether a file holds a key or a login by its content.
func (l *Line) holds(p string) bool {
	if l.Context.Holds == nil || !path.IsAbs(p) || len(l.links.secret) >= maxHeld {
		return false
	}
	what := l.Context.Holds(p)
	if what != "" && l.Held == "" {
		l.Held = p + " seems to hold " + what
	}
	return what != ""
}

// SecretWord reports whether a word is secret text, or names a file with a secret.
func (l *Line) SecretWord(word string) bool {
	if strings.Contains(word, lex.FromSecret) {
		return true
	}
	if word == "" || len(word) > 4096 || strings.Contains(word, "://") && !strings.HasPrefix(word, "file:") {
		return false
	}
	if len(l.Files)+len(l.Copies) > 0 {
		if c, ok := l.Written(word); ok && c.Secret || l.Copies[l.FileKey(word)] || l.holdsCopy(l.FileKey(word)) {
			return true
		}
	}
	// Names of protected files have one of these, unless all of a folder is secret.
	if l.Context.Holds == nil && !strings.ContainsAny(word, "./~_*?[") && !strings.Contains(l.Dir, "/.") && !lex.Dynamic(word) {
		return false
	}
	if word[0] == '~' {
		word = l.Tilde(word) // a program may expand it
	}
	return slices.ContainsFunc(l.spellings(word), l.SecretPath)
}

// holdsCopy reports whether the line put a secret into a file below a folder, or into one that a pattern finds.
func (l *Line) holdsCopy(p string) bool {
	pattern := strings.ContainsAny(p, "*?[")
	in := func(file string) bool {
		if pattern {
			ok, err := path.Match(p, file)
			return ok || err != nil
		}
		return strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	}
	for file := range l.Copies {
		if in(file) {
			return true
		}
	}
	for file, c := range l.Files {
		if c.Secret && in(file) {
			return true
		}
	}
	return false
}

// SecretPart reports whether a word or a part of it names a secret: @file,
// name=@file;type=…, --option=file, -Tfile, FILE:file.
func (l *Line) SecretPart(word string) bool {
	if l.SecretWord(word) {
		return true
	}
	if strings.Contains(word, "://") && !strings.Contains(word, "file") {
		return false
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' && l.SecretWord(word[2:]) {
		return true
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("@=<;,: ", r) })
	return len(parts) < 64 && !slices.Equal(parts, []string{word}) && slices.ContainsFunc(parts, l.SecretWord)
}

// CallShowsSecret reports whether a command may print a secret: it reads a file
// with one, or is a program that prints credentials.
func (l *Line) CallShowsSecret(args []string) bool {
	for range lex.MaxDepth {
		if len(args) == 0 {
			return false
		}
		w, ok := program.WrapperOf(lex.Program(args[0]))
		if !ok {
			break
		}
		if args = w.Inner(args[1:]); len(args) == 0 { // env alone prints the environment
			return w.Assign
		}
	}
	name, rest := lex.Program(args[0]), args[1:]
	switch {
	case program.PrintsCredentials(name, rest):
		return true
	case name == "git" && len(rest) > 0 && lex.Within("show cat-file diff log blame grep archive", rest[0]):
	case program.ShowsNames(name):
		return slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, lex.FromSecret) })
	}
	for _, a := range program.WithoutKeys(name, rest) {
		if l.SecretPart(a) {
			return true
		}
	}
	_, runsCode := code.LanguageOf(name)
	return runsCode && slices.ContainsFunc(rest, l.QuotesSecret)
}

// QuotesSecret reports whether program code names a file with a secret, as a text in quotes.
func (l *Line) QuotesSecret(text string) bool {
	for _, q := range code.QuotedText().FindAllString(text, maxQuoted) {
		if q = q[1 : len(q)-1]; l.SecretWord(q) {
			return true
		}
	}
	return false
}

// maxQuoted bounds how many texts of program code are looked at.
const maxQuoted = 64

// MadeSecrets reports whether the line put a secret into a file.
func (l *Line) MadeSecrets() bool {
	for _, c := range l.Files {
		if c.Secret {
			return true
		}
	}
	return len(l.Copies) > 0
}
