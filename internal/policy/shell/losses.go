package shell

import (
	"path"
	"slices"
	"strings"
)

const emptiesFiles = "empties files"

// loses judges commands other than rm -r that lose the content of files.
func (j *judge) loses(name string, rest []string, s situation) {
	words := plainWords(rest)
	switch name {
	case "rm", "grm", "srm", "unlink", "shred", "trash-rm":
		if recursive := hasShort(rest, "rR") || hasLong(rest, "--recursive"); recursive {
			return // asks anyway
		}
		for _, w := range words {
			if p, ok := j.absolute(w); !ok || !j.ofSystem(p) {
				j.losesOutside(w)
			}
		}
	case "mv", "gmv", "move":
		j.movesAway(rest)
	case "truncate":
		if size := optionValues(rest, "-s", "--size"); slices.Contains(size, "0") || slices.Contains(rest, "-s0") {
			j.emptiesAll(slices.DeleteFunc(plainWords(withoutValues(rest, "sr")), func(w string) bool { return w == "0" }))
		}
	case "sed", "gsed":
		if (hasShort(rest, "i") || hasLong(rest, "--in-place")) && slices.ContainsFunc(sedScripts(rest), blanks) {
			j.ask("empties-files", emptiesFiles)
		}
	case "vi", "vim", "nvim", "ex", "ed":
		if slices.ContainsFunc(editorCommands(rest, s.in), blanks) {
			j.ask("empties-files", emptiesFiles)
		}
	}
	if deletesSources(name, rest) {
		j.ask("delete-sources", "deletes the files that it reads")
	}
	j.copiesNothing(name, rest)
	if (name == "tee" || name == "sponge") && s.in.known && s.in.text == "" && !hasShort(rest, "a") {
		j.emptiesAll(words)
	}
}

// losesOutside judges the loss of a file that is not in the folder in which the
// line runs, and that neither is temporary nor was written by the line.
func (j *judge) losesOutside(file string) {
	if _, ok := j.written(file); ok || j.owns(file) {
		return
	}
	j.ask("delete-outside", "deletes or empties files outside of the current folder")
}

// owns reports whether a file is temporary, in the folder in which the line runs,
// or in a place that is only known at run time.
func (j *judge) owns(file string) bool {
	if at := strings.IndexAny(file, marks); at >= 0 { // the folder may still be known
		file = file[:strings.LastIndexByte(file[:at], '/')+1]
	}
	p, ok := j.absolute(file)
	return !ok || temporary(p) || inFolder(p, "/dev") || j.context.Dir != "" && inFolder(p, j.context.Dir)
}

// movesAway judges files that mv takes from one place outside of the current
// folder to another.
func (j *judge) movesAway(rest []string) {
	target, rest := targetFolder(withoutValues(rest, copyValues("mv")))
	sources := plainWords(rest)
	if target == "" && len(sources) > 1 {
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	if p, ok := j.absolute(target); !ok || !temporary(p) && j.owns(target) {
		return
	}
	for _, source := range sources {
		j.losesOutside(source)
	}
}

// emptiesFile judges a file that a command leaves without content. Which one it
// is has to be known, so that a pattern is not enough; logs and a file that the
// line wrote may lose theirs.
func (j *judge) emptiesFile(file string) {
	if dynamic(file) || strings.ContainsAny(file, "*?[") && !isLog(file) && !temporary(file) {
		j.ask("empties-files", "empties files that are only known at run time")
		return
	}
	j.losesOutside(file)
}

// emptiesAll judges files that a command names in order to empty them.
func (j *judge) emptiesAll(files []string) {
	for _, f := range files {
		j.emptiesFile(f)
		p, ok := j.absolute(f)
		if _, wrote := j.written(f); !ok || wrote || temporary(p) || inFolder(p, "/dev") || isLog(f) {
			continue
		}
		j.ask("empties-files", emptiesFiles)
	}
}

// isLog reports whether a file is a log by its name or by that of its folder.
func isLog(file string) bool {
	folder := path.Base(path.Dir(file))
	return path.Ext(file) == ".log" || folder == "log" || folder == "logs"
}

// copiesNothing judges programs that write what they read from /dev/null to a file.
func (j *judge) copiesNothing(name string, rest []string) {
	i := slices.Index(rest, "/dev/null")
	if i < 0 || i > 0 && namesOutput(rest[i-1]) || isCompiler(name) {
		return
	}
	switch words := plainWords(rest); name {
	case "cp", "gcp", "mv", "gmv", "install", "rsync", "uniq":
		if len(words) > 1 && words[0] == "/dev/null" {
			j.emptiesAll(words[1:])
		}
	case "curl", "wget":
	default:
		j.emptiesAll(optionValues(rest, "-o", "--output"))
	}
}

// deletesSources reports whether an archiver or a copier deletes the files that it
// has read.
func deletesSources(name string, rest []string) bool {
	switch name {
	case "tar", "gtar", "bsdtar":
		return hasLong(rest, "--remove-files")
	case "zip":
		return hasShort(rest, "m") || hasLong(rest, "--move")
	case "rar":
		words := plainWords(rest)
		return len(words) > 0 && words[0] == "m" || slices.Contains(rest, "-df")
	case "7z", "7za", "7zr", "7zz":
		return slices.Contains(rest, "-sdel")
	}
	return slices.ContainsFunc(rest, func(a string) bool {
		return strings.HasPrefix(a, "--remove-source") || strings.HasPrefix(a, "--delete-source") || a == "--remove-files"
	})
}

// editorCommands returns the commands that a line editor gets as options or as its
// input.
func editorCommands(rest []string, in input) []string {
	var all []string
	for i, a := range rest {
		switch {
		case strings.HasPrefix(a, "+"):
			all = append(all, a[1:])
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && a[len(a)-1] == 'c' && i+1 < len(rest):
			all = append(all, rest[i+1])
		}
	}
	if in.known {
		all = append(all, strings.Split(in.text, "\n")...)
	}
	for i, text := range all { // % is every line; what follows | is another command
		text, _, _ = strings.Cut(strings.TrimLeft(text, ": "), "|")
		all[i] = "#" // an address is needed: without one, only one line changes
		for _, every := range []string{"%", ",", "1,$", "0,$"} {
			if command, ok := strings.CutPrefix(text, every); ok {
				all[i] = command
			}
		}
	}
	return all
}

// blanks reports whether a script of sed deletes every line or its text.
func blanks(script string) bool {
	s := sedScript{text: script}
	s.read()
	return s.blanks
}
