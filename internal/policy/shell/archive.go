package shell

import "strings"

// archives judges programs that write many files at once, with names that the
// command does not show.
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
	for _, folder := range folders {
		j.write(folder)
		if j.vital(folder) {
			j.ask("write-system", "writes files over a system folder or a home folder")
		}
	}
}
