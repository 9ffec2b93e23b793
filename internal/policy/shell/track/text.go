package track

import (
	"regexp"
	"strings"
	"sync"

	"hermes/internal/policy/shell/lex"
)

// textPattern is an expression for text that cannot be parsed.
type textPattern struct {
	level  Level
	key    string
	reason string
	words  string // one of these is in any text that matches
	expr   *regexp.Regexp
}

// textPatterns are expressions for text that cannot be parsed as shell. They are
// deliberately coarse: such text needs approval anyway.
var textPatterns = sync.OnceValue(func() []textPattern {
	const start = `(?im)(?:^|[;&|({]|\$\(|` + "`" + `)\s*(?:(?:sudo|env|nohup|setsid|exec|command|time)\s+(?:-\S+\s+)*)*(?:\S*/)?`
	const vital = `(?:/|/\*|~/?\*?|\$\{?HOME\}?/?\*?|/(?:bin|boot|dev|etc|home|lib|lib64|opt|root|sbin|sys|usr|var)/?\*?)`
	return []textPattern{
		{Refuse, "delete-root", DeletesRoot, "rm", regexp.MustCompile(start + `rm\s+(?:-\S+\s+)*-\S*[rR]\S*\s+(?:-\S+\s+)*["']?` + vital + `["']?(?:\s|;|&|\||$)`)},
		{Refuse, "format", "wipes or formats a disk", "mkfs", regexp.MustCompile(start + `mkfs\S*\s[^;&|]*/dev/`)},
		{Refuse, "raw-device", "overwrites a disk", "/dev/", regexp.MustCompile(`(?i)(?:\bof=|>\s*)/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`)},
		{Refuse, "fork-bomb", "starts endless copies of itself (a fork bomb)", "()", regexp.MustCompile(`(\S+)\s*\(\)\s*\{\s*\S+\s*\|\s*\S+\s*&\s*\}\s*;`)},
		{Refuse, "kill-all", "kills every process", "kill", regexp.MustCompile(start + `kill\s+(?:-\S+\s+)+-1(?:\s|;|$)`)},
		{Refuse, "shutdown", "shuts down or restarts the machine", "shutdown reboot halt poweroff", regexp.MustCompile(start + `(?:shutdown|reboot|halt|poweroff)(?:\s|;|$)`)},
		{Ask, "recursive-delete", "deletes files recursively", "rm", regexp.MustCompile(`(?i)\brm\s+(?:-\S+\s+)*-\S*r`)},
		{Ask, "world-writable", "makes files writable by every user of this machine", "chmod", regexp.MustCompile(`(?i)\bchmod\s+(?:-\S+\s+)*(?:[0-7]*[2367]\b|[ugo]*[oa][ugo]*[+=]\S*w)`)},
		{Ask, "download-to-shell", "runs a download as shell commands", "curl wget", regexp.MustCompile(`(?i)\b(?:curl|wget)\b[^;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|k|da)?sh\b`)},
	}
})

// MatchText judges text that cannot be parsed as shell.
func (l *Line) MatchText(text string) {
	low := strings.ToLower(text)
	for _, p := range textPatterns() {
		if lex.Mentions(low, p.words) && p.expr.MatchString(text) {
			l.Find(Finding{Level: p.level, Key: p.key, Reason: p.reason})
		}
	}
}
