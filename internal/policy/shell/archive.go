package shell

import (
	"slices"
	"strings"
)

// archives judges programs that write many files at once, with names that the
// command does not show, or that remove what they packed.
func (j *judge) archives(name string, rest []string) {
	var folders []string
	switch name {
	case "tar", "gtar", "bsdtar":
		folders = optionValues(rest, "-C", "--directory")
	case "unzip":
		folders = optionValues(rest, "-d", "-d")
	case "cpio":
		folders = optionValues(rest, "-D", "--directory")
	case "7z", "7za", "7zz", "unrar":
		for _, a := range rest {
			if folder, ok := strings.CutPrefix(a, "-o"); ok {
				folders = append(folders, folder)
			}
		}
	case "split", "csplit", "gsplit":
		if words := (wrapper{values: "abCnlt", long: " --bytes --lines --number --suffix-length --separator "}).rest(rest); len(words) > 1 {
			j.write(words[len(words)-1])
		}
	}
	if removesSources(name, rest) {
		j.ask("removes-sources", "deletes the files that it copies or packs")
	}
	for _, folder := range folders {
		j.write(folder)
		if j.vital(folder) {
			j.ask("write-system", "writes files over a system folder or a home folder")
		}
	}
}

// removesSources reports whether a program deletes its sources when it is done.
func removesSources(name string, rest []string) bool {
	switch name {
	case "tar", "gtar", "bsdtar":
		return hasLong(rest, "--remove-files")
	case "zip":
		return hasLong(rest, "--move") || len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' && rest[0][1] != '-' && strings.Contains(rest[0], "m") || slices.Contains(rest, "-m")
	case "7z", "7za", "7zz":
		return slices.Contains(rest, "-sdel")
	case "rar":
		return len(rest) > 0 && rest[0] == "m" || slices.Contains(rest, "-df")
	case "rsync":
		return hasLong(rest, "--remove-source-files") || hasLong(rest, "--remove-sent-files")
	}
	return false
}
