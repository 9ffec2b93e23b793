package shell

import (
	"path"
	"strings"

	"hermes/internal/policy"
)

// protected judges paths by the table that file tools use, too.
func (j *judge) protected() policy.PathRules {
	return policy.PathRules{Home: j.context.Home, State: j.context.Hermes}
}

// rawDevice reports whether a path is a disk, or a partition of one.
func rawDevice(p string) bool {
	name, ok := strings.CutPrefix(path.Clean(p), "/dev/")
	if !ok {
		return strings.HasPrefix(p, `\\.\PhysicalDrive`)
	}
	for _, kind := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/", "sr", "nbd", "mem", "kmem", "port"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// write judges a path that a command writes to, replaces or deletes.
func (j *judge) write(target string) {
	j.writeBy(target, j.protected().CommandWrite)
}

// replace judges a path that a command moves or deletes with all that is below.
func (j *judge) replace(target string) {
	j.writeBy(target, j.protected().CommandReplaces)
}

func (j *judge) writeBy(target string, verdict func(...string) policy.PathVerdict) {
	j.socket(target)
	for _, p := range j.spellings(target) {
		switch {
		case rawDevice(p):
			j.refuse("raw-device", "overwrites a disk or memory")
			return
		case path.Clean(p) == "/proc/sysrq-trigger":
			j.refuse("shutdown", "shuts down or restarts the machine")
			return
		}
		if v := verdict(p); v.Ask {
			j.ask(v.Key, v.Reason)
		}
	}
}

// spellings lists the paths that a word may mean: as it is written, and with its
// links followed. It is empty if nothing is known.
func (j *judge) spellings(word string) []string {
	word = strings.TrimPrefix(strings.TrimPrefix(word, "file://localhost/"), "file://")
	if word == "" || word == "/dev/null" {
		return nil
	}
	if dynamic(word) {
		return j.partlyKnown(word)
	}
	p, ok := j.absolute(word)
	if !ok { // relative to an unknown folder, which may be the home
		return []string{word, j.context.Home + "/" + word}
	}
	return []string{p}
}

// partlyKnown lists the paths that a word may mean of which a part is only known at
// run time: any name may stand there, and $dir/.ssh/config may be the user's.
func (j *judge) partlyKnown(word string) []string {
	var all []string
	known := asPattern(word)
	if p, ok := j.absolute(known); ok && known[0] != '*' {
		all = append(all, p)
	}
	last := word[strings.LastIndexAny(word, marks)+1:]
	if strings.HasPrefix(last, "/") {
		last = j.context.Home + last
	}
	if last != "" {
		all = append(all, last)
	}
	return all
}
