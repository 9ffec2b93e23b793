package files

import (
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/track"
)

// Archives judges programs that write many files at once, with names that the
// command does not show.
func Archives(l *track.Line, name string, rest []string) {
	var folders []string
	switch name {
	case "tar", "gtar", "bsdtar":
		folders = getopt.OptionValues(rest, "-C", "--directory")
	case "unzip":
		folders = getopt.OptionValues(rest, "-d", "-d")
	case "cpio":
		folders = getopt.OptionValues(rest, "-D", "--directory")
	case "7z", "7za", "7zz", "unrar":
		for _, a := range rest {
			if folder, ok := strings.CutPrefix(a, "-o"); ok {
				folders = append(folders, folder)
			}
		}
	case "split", "csplit", "gsplit":
		if words := (getopt.Wrapper{Values: "abCnlt", Long: " --bytes --lines --number --suffix-length --separator "}).Rest(rest); len(words) > 1 {
			l.Write(words[len(words)-1])
		}
	}
	for _, folder := range folders {
		l.Write(folder)
		if l.Vital(folder) {
			l.Ask("write-system", "writes files over a system folder or a home folder")
		}
	}
}

// Sed judges sed scripts: they can run programs (e, and the flag e of s) and write
// files (w, and the flag w of s).
func Sed(l *track.Line, rest []string) {
	for _, text := range code.SedScripts(rest) {
		s := code.SedScript{Text: text}
		s.Read()
		if s.Runs {
			l.Ask("option-exec", "runs a program from a sed script")
		}
		l.WriteAll(s.Files)
	}
}

// Outputs judges the files that options of a wrapper, such as time -o, write.
func Outputs(l *track.Line, own []string) {
	for i, w := range own {
		if (w == "-o" || w == "--output") && i+1 < len(own) {
			l.Write(own[i+1])
		}
		if file, ok := strings.CutPrefix(w, "--output="); ok {
			l.Write(file)
		}
	}
}
