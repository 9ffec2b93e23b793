package shell

import (
	"path"
	"strings"
)

func (j *judge) dd(rest []string) {
	for _, a := range rest {
		target, ok := strings.CutPrefix(a, "of=")
		if !ok || target == "/dev/null" || target == "/dev/stdout" {
			continue
		}
		j.write(target)
		j.ask("disk-copy", "writes raw data to a file or a disk")
	}
}

func (j *judge) writeAll(targets []string) {
	for _, t := range targets {
		j.write(t)
	}
}

// copy judges the target of cp, mv and similar; mv also removes the sources.
func (j *judge) copy(name string, rest []string) {
	words := plainWords(rest)
	for i, a := range rest {
		if a == "-t" && i+1 < len(rest) || a == "--target-directory" && i+1 < len(rest) {
			j.writeInto(rest[i+1], words)
		}
		if dir, ok := strings.CutPrefix(a, "--target-directory="); ok {
			j.writeInto(dir, words)
		}
	}
	if len(words) < 2 {
		return
	}
	target := words[len(words)-1]
	j.write(target)
	j.writeInto(target, words[:len(words)-1])
	if name != "mv" && name != "gmv" && name != "move" {
		return
	}
	for _, source := range words[:len(words)-1] {
		j.write(source)
		if j.vital(source) {
			j.refuse("delete-root", "moves the root folder, a system folder or a home folder")
		}
	}
}

// writeInto judges files that keep their names in a target that is certainly a
// folder.
func (j *judge) writeInto(dir string, sources []string) {
	j.write(dir)
	p, ok := j.absolute(dir)
	if !ok || !strings.HasSuffix(dir, "/") && !same(p, j.context.Home) && !same(p, j.context.Hermes) {
		return
	}
	for _, s := range sources {
		j.write(path.Join(p, path.Base(s)))
	}
}

func (j *judge) download(rest []string) {
	for i, a := range rest {
		switch {
		case (a == "-o" || a == "-O" || a == "--output" || a == "--output-document") && i+1 < len(rest):
			j.write(rest[i+1])
		case strings.HasPrefix(a, "--output="), strings.HasPrefix(a, "--output-document="):
			_, target, _ := strings.Cut(a, "=")
			j.write(target)
		}
	}
}
