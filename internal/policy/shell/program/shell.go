package program

import (
	"strings"

	"hermes/internal/policy/shell/lex"
)

// IsShell reports whether a program is a shell of any language.
func IsShell(name string) bool { return IsPlainShell(name) || IsOtherShell(name) }

// IsPlainShell reports whether a shell reads the language that the analysis
// knows.
func IsPlainShell(name string) bool {
	return lex.Within("sh bash zsh ksh ksh93 dash ash mksh rbash yash osh lksh pdksh hush rksh rzsh bash5", name)
}

// IsOtherShell reports whether a program is a shell whose language the analysis does not know.
func IsOtherShell(name string) bool {
	return lex.Within("fish csh tcsh pwsh powershell cmd nu elvish xonsh oil ion rc es ysh", name)
}

// ShellWords reads the options of a shell: whether it gets text or a file, and
// the words from there on.
func ShellWords(name string, rest []string) (text, file bool, after []string) {
	input := false
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		long := strings.HasPrefix(a, "--")
		switch {
		case a == "-" || a == "--":
			return text, !text && !input && i+1 < len(rest), rest[i+1:]
		case long && strings.Contains(a, "="):
			if option, value, _ := strings.Cut(a, "="); IsCommandOption(name, option) {
				return true, false, append([]string{value}, rest[i+1:]...)
			}
		case long:
			text = text || IsCommandOption(name, a)
			if a == "--rcfile" || a == "--init-file" {
				i++
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			text, input = text || IsCommandOption(name, a), input || a[0] == '-' && strings.Contains(a, "s")
			i += strings.Count(strings.ToLower(a), "o") // each takes a word
		default:
			return text, !text && !input, rest[i:]
		}
	}
	return false, false, nil
}

// Unclear reports whether a shell gets an option that may take the next word, so
// that any later word can be the script.
func Unclear(name string, rest []string) bool {
	for _, a := range rest {
		if a == "--" || a == "" || a[0] != '-' && a[0] != '+' {
			continue
		}
		switch a {
		case "--norc", "--noprofile", "--posix", "--login", "--verbose", "--restricted", "--noediting", "--command", "--rcfile", "--init-file", "-":
			continue
		}
		if strings.HasPrefix(a, "--") || strings.Trim(a[1:], "abcdefhiklmnopqrstuvxBCDEHPTO") != "" {
			return true
		}
	}
	return false
}

// IsCommandOption reports whether an option is -c, also in a cluster, or its
// equivalent in other shells.
func IsCommandOption(name, a string) bool {
	switch a {
	case "--command", "--init-command", "--execute", "--commands", "--eval":
		return true
	}
	if len(a) < 2 || a[0] != '-' && a[0] != '+' || a[1] == '-' { // bash +c is bash -c
		return false
	}
	return strings.Contains(a, "c") || name == "fish" && strings.Contains(a, "C") || name == "nu" && strings.Contains(a, "e")
}

// IsInput reports whether a file is the standard input.
func IsInput(file string) bool {
	return lex.Within("- /dev/stdin /dev/fd/0 /proc/self/fd/0 /proc/thread-self/fd/0", file)
}
