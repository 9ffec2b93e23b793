package errsig

import (
	"regexp"
	"strings"

	"hermes/internal/lazy"
)

var (
	// spoken is what a shell puts before a message: its name, and often a line.
	spoken = lazy.Regexp(`^-?(?:\S*[/\\])?(?:bash|sh|dash|ash|ksh|mksh|zsh|fish|busybox|\(eval\))(?:\.exe)?:\s*(?:(?:line\s+)?\d+:\s*)?`)
	// script is the same for a script without such a name.
	script = lazy.Regexp(`^\S+: line \d+: `)
	// afterScript are the messages of shells; other programs name a line, too.
	afterScript = lazy.Regexp(`(?i)command not found|: no such file or directory|: permission denied|unbound variable|syntax error near|: is a directory|cannot execute`)
	// helpers run a command and name themselves if there is none.
	helpers = lazy.Regexp(`^(?:sudo|doas|nohup|xargs|timeout|nice|time): `)

	noCommand = []func() *regexp.Regexp{
		lazy.Regexp(`(?i)^(\S+): command not found$`),
		lazy.Regexp(`(?i)^command not found: (\S+)$`),                                           // zsh
		lazy.Regexp(`(?i)^unknown command:? ['"]?(\S+?)['"]?$`),                                 // fish
		lazy.Regexp(`(?i)^'(\S+)' is not recognized as an internal or external command`),        // cmd.exe
		lazy.Regexp(`(?i)^(\S+) ?: the term '\S+' is not recognized as `),                       // PowerShell
		lazy.Regexp(`(?i)^exec: "(\S+)": executable file not found in (?:\$PATH|%PATH%|PATH)$`), // Go
	}
	shortForm = lazy.Regexp(`(?i)^(\S+): not found$`) // dash and ash, after their name
)

// unspoken returns a message without what the shell that printed it puts before
// it, and whether there was any. A missing command reads the same from every
// shell: "NAME: command not found".
func unspoken(message string) (text string, byShell bool) {
	text = message
	if rest := spoken().ReplaceAllString(text, ""); rest != text && rest != "" {
		text, byShell = rest, true
	} else if rest := script().ReplaceAllString(text, ""); rest != text && afterScript().MatchString(rest) {
		text, byShell = rest, true
	}
	missing := helpers().ReplaceAllString(text, "")
	for _, form := range noCommand {
		if m := form().FindStringSubmatch(missing); m != nil && (byShell || !strings.HasPrefix(strings.ToLower(missing), "unknown command")) {
			return m[1] + ": command not found", true
		}
	}
	if m := shortForm().FindStringSubmatch(text); m != nil && byShell {
		return m[1] + ": command not found", true
	}
	return text, byShell
}
