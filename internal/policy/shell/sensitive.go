package shell

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy"
)

// protected judges paths by the table that file tools use, too.
func (j *judge) protected() policy.PathRules {
	r := policy.PathRules{Home: j.context.Home, State: j.context.Hermes}
	if j.context.Resolve != nil {
		r.RealHome, r.RealState = j.realFolder(r.Home), j.realFolder(r.State)
	}
	return r
}

// realFolder returns where a folder leads on disk, once for each line.
func (j *judge) realFolder(folder string) string {
	real, known := j.links.folders[folder]
	if known || folder == "" {
		return real
	}
	if j.links.folders == nil {
		j.links.folders = map[string]string{}
	}
	if real = j.context.Resolve(folder); real == folder {
		real = ""
	}
	j.links.folders[folder] = real
	return real
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

// write judges a path that a command writes to or replaces.
func (j *judge) write(target string) {
	if p, ok := j.absolute(target); ok {
		j.shadows(p)
	}
	j.judgePath(target, policy.PathRules.CommandWrite)
}

// replace judges a path that a command moves or deletes with all that is below.
func (j *judge) replace(target string) { j.judgePath(target, policy.PathRules.CommandReplaces) }

// name judges a path that a command names that may write it.
func (j *judge) name(word string) {
	for _, p := range j.spellings(word) {
		if rawDevice(p) || rawDevice(word) {
			j.ask("raw-device", "may overwrite a disk or memory")
			return
		}
	}
	j.judgePath(word, policy.PathRules.CommandNames)
}

func (j *judge) judgePath(word string, verdict func(policy.PathRules, ...string) policy.PathVerdict) {
	rules := j.protected()
	j.socket(word)
	for _, p := range j.spellings(word) {
		switch {
		case rawDevice(p) || rawDevice(word):
			j.refuse("raw-device", "overwrites a disk or memory")
			return
		case path.Clean(p) == "/proc/sysrq-trigger":
			j.refuse("shutdown", "shuts down or restarts the machine")
			return
		}
		if v := verdict(rules, p); v.Ask {
			j.ask(v.Key, v.Reason)
		}
	}
}

// spellings lists the paths that a word may mean: as it is written, and with its
// links followed. It is empty if nothing is known.
func (j *judge) spellings(word string) []string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok && j.context.Home != "" {
		word = j.context.Home + "/" + rest // quoted, but the program may expand it
	}
	switch {
	case word == "" || word == "/dev/null" || j.links.count > maxFollowed && !strings.HasPrefix(word, "/"):
		return nil // the line asks since it names too many
	case dynamic(word):
		return j.partlyKnown(word)
	case strings.ContainsAny(word, "*?["): // only names can be compared
		if p, ok := j.absolute(word); ok {
			return []string{p}
		}
		return []string{word}
	}
	if p, ok := j.absolute(word); ok {
		if strings.HasPrefix(word, "/") || drive(word) {
			return j.withLinks(p, word)
		}
		return j.withLinks(p, j.dir+"/"+word)
	}
	// The folder is unknown. It may be one that the line has named.
	all := []string{word}
	for _, dir := range j.visited {
		all = append(all, j.withLinks(path.Join(dir, word), dir+"/"+word)...)
	}
	return all
}

// withLinks returns a path and where its links lead. The joined form has its dot
// segments: they count after the links before them.
func (j *judge) withLinks(p, joined string) []string {
	all := []string{p}
	for _, way := range []string{joined, j.throughProcess(joined)} {
		real := j.follow(way)
		if real == "" {
			j.ask("unknown-path", "names a path whose links cannot be followed")
		} else if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// partlyKnown lists the paths that a word may mean of which a part is only known at
// run time: any name may be there, and $dir/.ssh/config may be the user's.
func (j *judge) partlyKnown(word string) []string {
	var all []string
	known := asPattern(word)
	if p, ok := j.absolute(j.throughProcess(known)); ok && !strings.HasPrefix(known, "*") && known != "" {
		all = append(all, p)
	}
	if j.dir != "" && strings.HasPrefix(known, "*") {
		all = append(all, j.dir+"/"+known)
	}
	last := strings.TrimLeft(word[strings.LastIndexAny(word, marks)+1:], "/")
	if last != "" {
		all = append(all, last)
	}
	return all
}
