package shell

import (
	"regexp"
	"sync"
)

// caught is a pattern of the second net.
type caught struct {
	level  Level
	key    string
	reason string
	expr   *regexp.Regexp
}

// secondNet holds expressions for text that cannot be read as shell. They are
// coarse on purpose: such text is asked about anyway.
var secondNet = sync.OnceValue(func() []caught {
	const start = `(?im)(?:^|[;&|({]|\$\(|` + "`" + `)\s*(?:(?:sudo|env|nohup|setsid|exec|command|time)\s+(?:-\S+\s+)*)*(?:\S*/)?`
	const vital = `(?:/|/\*|~/?\*?|\$\{?HOME\}?/?\*?|/(?:bin|boot|dev|etc|home|lib|lib64|opt|root|sbin|sys|usr|var)/?\*?)`
	return []caught{
		{Refuse, "delete-root", "deletes the root, a system folder or a home as a whole", regexp.MustCompile(start + `rm\s+(?:-\S+\s+)*-\S*[rR]\S*\s+(?:-\S+\s+)*["']?` + vital + `["']?(?:\s|;|&|\||$)`)},
		{Refuse, "format", "wipes or formats a disk", regexp.MustCompile(start + `mkfs\S*\s[^;&|]*/dev/`)},
		{Refuse, "raw-device", "overwrites a disk", regexp.MustCompile(`(?i)(?:\bof=|>\s*)/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`)},
		{Refuse, "fork-bomb", "it starts copies of itself without end", regexp.MustCompile(`(\S+)\s*\(\)\s*\{\s*\S+\s*\|\s*\S+\s*&\s*\}\s*;`)},
		{Refuse, "kill-all", "ends every process", regexp.MustCompile(start + `kill\s+(?:-\S+\s+)+-1(?:\s|;|$)`)},
		{Refuse, "shutdown", "stops or restarts the machine", regexp.MustCompile(start + `(?:shutdown|reboot|halt|poweroff)(?:\s|;|$)`)},
		{Ask, "recursive-delete", "deletes folders with everything in them", regexp.MustCompile(`(?i)\brm\s+(?:-\S+\s+)*-\S*r`)},
		{Ask, "world-writable", "lets everybody on this machine write", regexp.MustCompile(`(?i)\bchmod\s+(?:-\S+\s+)*(?:[0-7]*[2367]\b|[ugo]*[oa][ugo]*[+=]\S*w)`)},
		{Ask, "download-to-shell", "runs what a download gives as shell commands", regexp.MustCompile(`(?i)\b(?:curl|wget)\b[^;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|k|da)?sh\b`)},
	}
})

// net judges text that no shell could read.
func (j *judge) net(text string) {
	for _, c := range secondNet() {
		if c.expr.MatchString(text) {
			j.find(Finding{c.level, c.key, c.reason})
		}
	}
}
