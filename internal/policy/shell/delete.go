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
		if strings.Contains(target, fromInput[1:]) || strings.Contains(target, several[1:]) {
			j.ask("xargs-delete", "deletes files that are only known at run time")
		}
		if recursive && j.destroysVital(target) || strings.Contains(target, fromVital[1:]) {
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
		if j.destroysVital(target) {
			j.refuse("delete-root", deletesRoot)
		}
	}
}
