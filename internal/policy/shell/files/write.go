// Package files judges what commands do to files: which they write, replace, empty or
// delete, with everything below a folder, and which secrets they send. Paths are judged by
// [track.Line]; this package knows which words of which program are paths.
package files

import (
	"path"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Dd judges the file that dd writes.
func Dd(l *track.Line, rest []string) {
	for _, a := range rest {
		target, ok := strings.CutPrefix(a, "of=")
		if !ok || target == "/dev/null" || target == "/dev/stdout" {
			continue
		}
		l.Write(target)
		l.Ask("disk-copy", "writes raw data to a file or a disk")
	}
}

// Copy judges the target of cp, mv, ln and similar; mv also removes the sources.
func Copy(l *track.Line, name string, rest []string) {
	dir, rest := getopt.TargetFolder(getopt.WithoutExcluded(getopt.WithoutValues(rest, getopt.CopyValues(name))))
	sources := getopt.PlainWords(rest)
	if name == "install" && (getopt.CertainShort(rest, "d", getopt.CopyValues(name)) || getopt.HasLong(rest, "--directory")) {
		return // makes empty folders
	}
	target := dir
	if dir == "" && len(sources) > 1 {
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	if (name == "cp" || name == "install") && len(sources) == 1 && isSample(sources[0]) && strings.HasPrefix(path.Base(target), ".env") {
		return // a sample holds no secrets, and a project is set up by copying it
	}
	if name == "scp" || name == "rsync" {
		target = program.OnThisMachine(target)
	}
	if target != "" {
		l.Write(target)
		writeInto(l, target, sources, dir != "" || len(sources) > 1)
		writeContents(l, name, target, sources)
	}
	recordLinks(l, name, rest, target, sources)
	if name != "mv" && name != "gmv" && name != "move" || target == "" {
		return
	}
	for _, source := range sources {
		l.Replace(source)
		if l.Vital(source) {
			l.Refuse("delete-root", "moves the root folder, a system folder or a home folder")
		}
	}
}

// isSample reports whether a file is a sample of an environment file.
func isSample(file string) bool {
	name := strings.ToLower(path.Base(file))
	if lex.Dynamic(file) || !strings.Contains(name, "env") {
		return false
	}
	for _, kind := range []string{"example", "sample", "template", "dist", "default"} {
		if strings.Contains(name, kind) {
			return true
		}
	}
	return false
}

// writeInto judges files that keep their names in a target, if that is certainly a
// folder.
func writeInto(l *track.Line, dir string, sources []string, folder bool) {
	p, ok := l.Absolute(dir)
	if !ok || !folder && !strings.HasSuffix(dir, "/") && dir != "." && dir != ".." && !track.Same(p, l.Context.Home) && !track.Same(p, l.Context.Hermes) {
		return
	}
	for _, s := range sources {
		l.Write(path.Join(p, path.Base(s)))
	}
}

// writeContents judges the copy of everything in a folder to the home folder, where
// it may replace any file.
func writeContents(l *track.Line, name, target string, sources []string) {
	if p, ok := l.Absolute(target); !ok || !track.Same(p, l.Context.Home) {
		return
	}
	for _, s := range sources {
		if strings.HasSuffix(s, "/.") || name == "rsync" && strings.HasSuffix(s, "/") {
			l.Write(l.Context.Home + "/.profile")
		}
	}
}

// recordLinks records the links that ln and cp make. A second name of a file is as good
// as the first to write it, so that a hard link counts as a write of its source.
func recordLinks(l *track.Line, name string, rest []string, target string, sources []string) {
	soft := name == "ln" && (getopt.HasShort(rest, "s") || getopt.HasLong(rest, "--symbolic")) || name == "cp" && getopt.HasShort(rest, "s") || name == "cp" && getopt.HasLong(rest, "--symbolic-link")
	hard := name == "ln" && !soft || name == "cp" && (getopt.HasShort(rest, "l") || getopt.HasLong(rest, "--link"))
	if !soft && !hard {
		return
	}
	if target != "" && (getopt.HasShort(rest, "nT") || getopt.HasLong(rest, "--no-target-directory") || getopt.HasLong(rest, "--no-dereference")) {
		l.Replace(target)
	}
	for _, s := range sources {
		to := s
		if p, ok := l.Absolute(s); ok && (hard || name == "cp" || getopt.HasShort(rest, "r") || getopt.HasLong(rest, "--relative")) {
			to = p
		}
		if hard {
			l.Write(s)
		}
		if target != "" {
			l.Link(target, to)
		}
		l.Link(path.Join(target, path.Base(s)), to)
	}
}

// Download judges the files that curl and wget write.
func Download(l *track.Line, name string, rest []string) {
	short, long := "ocD", " --output --cookie-jar --dump-header --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl --output-dir "
	if name == "wget" {
		short, long = "OoaP", " --output-document --output-file --append-output --directory-prefix --save-cookies --warc-file --rejected-log "
	}
	for i, w := range rest {
		option, value, joined := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--"):
			if !joined && i+1 < len(rest) {
				value = rest[i+1]
			}
			if strings.Contains(long, " "+option+" ") {
				l.Write(value)
			}
		case len(w) > 1 && w[0] == '-':
			if at := strings.IndexAny(w[1:], short) + 1; at == len(w)-1 && i+1 < len(rest) && !(name == "curl" && w[at] == 'O') {
				l.Write(rest[i+1])
			} else if at == 1 {
				l.Write(w[2:])
			}
		case strings.Contains(w, "/") && (name == "wget" || getopt.HasShort(rest, "OJ")):
			l.Write(path.Base(w))
		}
	}
}

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
