package files

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Uploads judges programs that send something to another machine: a file with a
// secret, or text that a secret was put into.
func Uploads(l *track.Line, name string, rest []string, s track.Situation) {
	copiesSecret(l, name, rest, s.In)
	kind := program.SenderOf(name, rest)
	if kind == program.NoSender {
		feedsSender(l, name, rest, s.In)
		for _, a := range rest { // the address itself tells
			if !strings.Contains(a, "://") || !lex.Dynamic(a) {
				continue
			}
			if l.Leaves = true; strings.Contains(a, lex.FromSecret) {
				l.AskUpload()
			}
		}
		if program.HabitOf(name) == program.NoHabit && !program.ShowsText(name) && !program.ShowsNames(name) && !program.IsShell(name) && len(l.Funcs[name]) == 0 && slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, lex.FromSecret) }) {
			l.Ask("secret-upload", "gives a secret to a program that may send it")
		}
		return
	}
	l.Leaves = true
	if s.In.Secret || slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, lex.FromSecret) }) || sendsSecret(l, kind, program.WithoutKeys(name, rest), s.In) {
		l.AskUpload()
	}
}

// sendsSecret reports whether a program is told to send a file with a secret.
func sendsSecret(l *track.Line, kind program.Sender, rest []string, in track.Input) bool {
	switch kind {
	case program.SendsOptions:
		return optionSendsSecret(l, rest) || in.Known && slices.ContainsFunc(strings.Fields(in.Text), l.SecretPart) && slices.ContainsFunc(rest, program.IsInput)
	case program.SendsWords:
		return slices.ContainsFunc(rest, l.SecretPart)
	case program.SendsToRemote:
		words := getopt.PlainWords(rest)
		if len(words) < 2 || !program.IsElsewhere(words[len(words)-1]) {
			return false
		}
		return slices.ContainsFunc(words[:len(words)-1], func(w string) bool { return !program.IsElsewhere(w) && l.SecretWord(w) })
	case program.SendsCommands:
		return slices.ContainsFunc(strings.Fields(in.Text+" "+strings.Join(rest, " ")), func(w string) bool { return l.SecretPart(strings.Trim(w, `;"'`)) })
	}
	return false
}

// optionSendsSecret judges options such as -d @file, -F name=@file and -T file.
func optionSendsSecret(l *track.Line, rest []string) bool {
	for i, a := range rest {
		next := ""
		if i+1 < len(rest) {
			next = rest[i+1]
		}
		name, value, joined := strings.Cut(a, "=")
		if !joined {
			value = next
		}
		switch {
		case name == "-T" || len(name) > 3 && (strings.HasPrefix("--upload-file", name) || strings.HasPrefix("--post-file", name) || strings.HasPrefix("--body-file", name)):
			if slices.ContainsFunc(strings.Split(strings.Trim(value, "{}"), ","), l.SecretWord) {
				return true
			}
		case strings.HasPrefix(a, "-T") && !strings.HasPrefix(a, "--") && l.SecretWord(a[2:]):
			return true
		case lex.Within("-d -F -H -b", name) || strings.HasPrefix(name, "--"):
			if attached(l, value) {
				return true
			}
		case len(a) > 2 && (strings.HasPrefix(a, "-d") || strings.HasPrefix(a, "-F") || strings.HasPrefix(a, "-b")):
			if attached(l, a[2:]) {
				return true
			}
		case len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[len(a)-1:], "dFT"): // a cluster such as -sd
			if attached(l, next) || a[len(a)-1] == 'T' && l.SecretWord(next) {
				return true
			}
		}
	}
	return false
}

// attached reports whether the value of an option reads a file with a secret:
// @file, name=@file, name@file or name=<file.
func attached(l *track.Line, value string) bool {
	at := strings.IndexAny(value, "@<")
	if at < 0 || strings.Contains(value[:at], "://") {
		return strings.Contains(value, lex.FromSecret)
	}
	file, _, _ := strings.Cut(value[at+1:], ";")
	return slices.ContainsFunc(strings.Split(file, ","), func(f string) bool { return l.SecretWord(strings.Trim(f, `"`)) })
}

// feedsSender judges >(…), to which a command gives its output.
func feedsSender(l *track.Line, name string, rest []string, in track.Input) {
	sends := slices.ContainsFunc(rest, func(a string) bool { c, ok := l.Written(a); return ok && c.Sends })
	l.Leaves = l.Leaves || sends
	if sends && (in.Secret || l.CallShowsSecret(append([]string{name}, rest...))) {
		l.AskUpload()
	}
}

// copiesSecret records that a command put a secret into other files: all that it
// names besides the secret itself.
func copiesSecret(l *track.Line, name string, rest []string, in track.Input) {
	if program.ShowsNames(name) && name != "cp" && name != "mv" || program.IsShell(name) || program.SenderOf(name, rest) == program.SendsOptions {
		return
	}
	secret := in.Secret
	var names []string // of the secrets, which they have in another folder, too
	for _, a := range program.WithoutKeys(name, rest) {
		if l.SecretPart(a) {
			secret, names = true, append(names, path.Base(a))
		}
	}
	if !secret {
		return
	}
	for _, a := range rest {
		_, value, ok := strings.Cut(a, "=")
		if !ok {
			value = a
		}
		if value == "" || value[0] == '-' {
			continue
		}
		if len(l.Copies) >= lex.MaxFiles {
			l.Exhausted()
			return
		}
		if l.Copies == nil {
			l.Copies = map[string]bool{}
		}
		l.Copies[l.FileKey(value)] = true
		for _, n := range names[:min(len(names), 8)] {
			l.Copies[l.FileKey(value+"/"+n)] = true
		}
		for _, end := range packed[name] {
			l.Copies[l.FileKey(value+end)] = true
		}
	}
}

// packed are programs that make files with other names than they are told, and what they add.
var packed = map[string][]string{"zip": {".zip"}, "7z": {".7z"}, "7za": {".7z"}, "rar": {".rar"}, "split": {"aa", "ab", "00", "01"}}
