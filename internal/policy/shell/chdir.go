package shell

import (
	"slices"
	"strings"
)

// Names under which folders are remembered besides the variables of the shell.
const (
	previousFolder = "OLDPWD"
	folderStack    = "\x00folders"
)

// chdir judges cd, pushd and popd.
func (j *judge) chdir(name string, args []string) {
	words, before := plainWords(args), j.dir
	stack := j.vars[folderStack].list
	switch {
	case name == "popd" && len(words) == 0 && len(stack) > 0:
		j.set(folderStack, elements(stack[:len(stack)-1]))
		j.enter(stack[len(stack)-1])
	case name == "popd":
		j.enter("")
	case len(words) > 0 && words[0] == "-":
		dir, known := j.value(previousFolder)
		if !known {
			dir = ""
		}
		j.enter(dir)
	case name == "pushd" && (len(words) == 0 || strings.HasPrefix(words[0], "+")):
		j.enter("") // changes the order of the folders
	case len(words) == 0:
		home, _ := j.value("HOME")
		j.enter(home)
	default:
		j.changeTo(words[0])
	}
	if name == "pushd" {
		j.set(folderStack, elements(append(stack[:len(stack):len(stack)], before)))
	}
	j.set(previousFolder, exactly(folderOrUnknown(before)))
}

func folderOrUnknown(dir string) string {
	if dir == "" {
		return unknown
	}
	return dir
}

// changeTo enters the folder that a word names.
func (j *judge) changeTo(word string) {
	dir, known := j.absolute(word)
	switch {
	case !known || slices.Contains(j.visited, dir):
	case len(j.visited) >= maxFiles:
		j.exhausted()
	default:
		j.visited = append(j.visited, dir)
	}
	j.enter(dir)
}

// chosenFolder returns the folder in which a wrapper runs its command, if one of
// its options says so. The last one counts.
func chosenFolder(name string, own []string) (string, bool) {
	short := ""
	switch name {
	case "env":
		short = "-C"
	case "sudo":
		short = "-D"
	}
	for i, w := range slices.Backward(own) {
		if (w == short && short != "" || w == "--chdir" || w == "--working-directory" || w == "--wd") && i+1 < len(own) {
			return own[i+1], true
		}
		if dir, ok := strings.CutPrefix(w, "--chdir="); ok {
			return dir, true
		}
		if dir, ok := strings.CutPrefix(w, "--working-directory="); ok {
			return dir, true
		}
		if dir, ok := strings.CutPrefix(w, short); ok && short != "" && dir != "" {
			return dir, true
		}
	}
	return "", false
}

// outputs judges the files that options of a wrapper, such as time -o, write.
func (j *judge) outputs(own []string) {
	for i, w := range own {
		if (w == "-o" || w == "--output") && i+1 < len(own) {
			j.write(own[i+1])
		}
		if file, ok := strings.CutPrefix(w, "--output="); ok {
			j.write(file)
		}
	}
}
