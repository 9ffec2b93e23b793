package shell

import (
	"path"
	"slices"
	"strings"
)

// remove judges rm. Options may come after the names.
func (j *judge) remove(rest []string) {
	recursive := hasShort(rest, "rR") || hasLong(rest, "--recursive")
	if slices.Contains(rest, "--no-preserve-root") {
		j.refuse("delete-root", "disables the protection of the root folder")
	}
	for _, target := range plainWords(rest) {
		if recursive && j.destroysVital(target) {
			j.refuse("delete-root", deletesRoot)
		}
		if p, ok := j.absolute(target); ok && j.ofSystem(p) {
			j.ask("delete-system-file", "deletes a system file")
		}
		j.replace(target)
	}
	if recursive {
		j.ask("recursive-delete", "deletes files recursively")
	}
}

// ofSystem reports whether a path is in a system folder, or directly in the root.
func (j *judge) ofSystem(p string) bool {
	for _, folder := range []string{"/etc", "/bin", "/boot", "/lib", "/lib64", "/sbin", "/usr", "/sys", "/proc", "/dev"} {
		if inFolder(p, folder) && !inFolder(p, "/usr/local") && !strings.HasPrefix(p, "/dev/shm/") {
			return true
		}
	}
	return path.Dir(p) == "/"
}

func (j *judge) shred(name string, rest []string) {
	for _, target := range plainWords(rest) {
		j.write(target)
	}
	if name == "shred" {
		j.ask("shred", "overwrites files so that they cannot be recovered")
	}
}

// removeWindows judges the delete verbs of cmd and PowerShell.
func (j *judge) removeWindows(name string, rest []string) {
	recursive := false
	for _, a := range rest {
		low := strings.ToLower(a)
		recursive = recursive || low == "/s" || low == "/q" || low == "/f" ||
			strings.HasPrefix(low, "-r") && strings.HasPrefix("-recurse", low) || name != "rmdir" && low == "-force"
	}
	if !recursive {
		return
	}
	j.ask("recursive-delete", "deletes files recursively")
	for _, target := range plainWords(rest) {
		if j.vital(target) {
			j.refuse("delete-root", deletesRoot)
		}
	}
}

// search judges find: -delete, and the commands that it runs.
func (j *judge) search(rest []string, s situation) {
	var roots []string
	i := 0
	for ; i < len(rest) && !strings.HasPrefix(rest[i], "-") && rest[i] != "(" && rest[i] != "!"; i++ {
		roots = append(roots, rest[i])
	}
	narrowed, deletes := false, false
	for ; i < len(rest); i++ {
		switch a := rest[i]; a {
		case "-delete":
			deletes = true
			j.ask("find-delete", "deletes every file that the search finds")
			for _, root := range roots {
				j.name(root)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(rest) && rest[end] != ";" && rest[end] != "+" {
				end++
			}
			inner := replaced(rest[i+1:end], "{}", j.foundBy(rest[:i]))
			switch program(innermost(inner)) {
			case "rm", "unlink", "shred", "srm":
				deletes = true
				j.ask("find-exec-delete", "deletes every file that the search finds")
			}
			j.argv(inner, situation{background: s.background})
			for _, root := range roots[:min(len(roots), 8)] { // what it finds is below these
				j.argv(replaced(rest[i+1:end], "{}", root+"/"+unknown), situation{background: s.background})
			}
			i = end
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(rest) {
				j.write(rest[i+1])
			}
		case "-type", "-maxdepth", "-mindepth":
			i++
		case "-xdev", "-mount", "-depth", "-d", "-print", "-print0", "-follow", "-true":
		default:
			narrowed = true
		}
	}
	for _, root := range roots {
		if deletes && !narrowed && j.vital(root) {
			j.refuse("delete-root", deletesRoot)
		}
	}
}

// foundBy returns a mark for the files that a search finds.
func (j *judge) foundBy(search []string) string {
	if slices.ContainsFunc(search, j.secretWord) {
		return fromSecret
	}
	return unknown
}

func replaced(args []string, old, with string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		out[i] = strings.ReplaceAll(a, old, with)
	}
	return out
}

func (j *judge) searchWithFd(rest []string, s situation) {
	for i, a := range rest {
		if a == "-x" || a == "-X" || a == "--exec" || a == "--exec-batch" {
			found := j.foundBy(rest[:i])
			inner := append(replaced(rest[i+1:], "{}", found), found)
			switch program(innermost(inner)) {
			case "rm", "unlink", "shred", "srm":
				j.ask("find-exec-delete", "deletes every file that the search finds")
			}
			j.argv(inner, situation{background: s.background})
			return
		}
	}
}
