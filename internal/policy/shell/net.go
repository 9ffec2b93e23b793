package shell

import (
	"regexp"
	"sync"
)

// textPattern is an expression for text that cannot be parsed.
type textPattern struct {
	level  Level
	key    string
	reason string
	expr   *regexp.Regexp
}

// textPatterns are expressions for text that cannot be parsed as shell. They are
// deliberately coarse: such text needs approval anyway.
var textPatterns = sync.OnceValue(func() []textPattern {
	const start = `(?im)(?:^|[;&|({]|\$\(|` + "`" + `)\s*(?:(?:sudo|env|nohup|setsid|exec|command|time)\s+(?:-\S+\s+)*)*(?:\S*/)?`
	const vital = `(?:/|/\*|~/?\*?|\$\{?HOME\}?/?\*?|/(?:bin|boot|dev|etc|home|lib|lib64|opt|root|sbin|sys|usr|var)/?\*?)`
	return []textPattern{
		{Refuse, "delete-root", "deletes the root folder, a system folder or a home folder", regexp.MustCompile(start + `rm\s+(?:-\S+\s+)*-\S*[rR]\S*\s+(?:-\S+\s+)*["']?` + vital + `["']?(?:\s|;|&|\||$)`)},
		{Refuse, "format", "wipes or formats a disk", regexp.MustCompile(start + `mkfs\S*\s[^;&|]*/dev/`)},
		{Refuse, "raw-device", "overwrites a disk", regexp.MustCompile(`(?i)(?:\bof=|>\s*)/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`)},
		{Refuse, "fork-bomb", "starts endless copies of itself (a fork bomb)", regexp.MustCompile(`(\S+)\s*\(\)\s*\{\s*\S+\s*\|\s*\S+\s*&\s*\}\s*;`)},
		{Refuse, "kill-all", "kills every process", regexp.MustCompile(start + `kill\s+(?:-\S+\s+)+-1(?:\s|;|$)`)},
		{Refuse, "shutdown", "shuts down or restarts the machine", regexp.MustCompile(start + `(?:shutdown|reboot|halt|poweroff)(?:\s|;|$)`)},
		{Ask, "recursive-delete", "deletes files recursively", regexp.MustCompile(`(?i)\brm\s+(?:-\S+\s+)*-\S*r`)},
		{Ask, "world-writable", "makes files writable by every user of this machine", regexp.MustCompile(`(?i)\bchmod\s+(?:-\S+\s+)*(?:[0-7]*[2367]\b|[ugo]*[oa][ugo]*[+=]\S*w)`)},
		{Ask, "download-to-shell", "runs a download as shell commands", regexp.MustCompile(`(?i)\b(?:curl|wget)\b[^;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|k|da)?sh\b`)},
	}
})

// matchText judges text that cannot be parsed as shell.
func (j *judge) matchText(text string) {
	for _, p := range textPatterns() {
		if p.expr.MatchString(text) {
			j.find(Finding{p.level, p.key, p.reason})
		}
	}
}
