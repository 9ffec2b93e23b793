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

// copy judges the target of cp, mv, ln and similar; mv also removes the sources.
func (j *judge) copy(name string, rest []string) {
	dir, rest := targetFolder(withoutExcluded(withoutValues(rest, copyValues(name))))
	sources := plainWords(rest)
	if name == "install" && (certainShort(rest, "d", copyValues(name)) || hasLong(rest, "--directory")) {
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
		target = onThisMachine(target)
	}
	if target != "" {
		j.write(target)
		j.writeInto(target, sources, dir != "" || len(sources) > 1)
		j.writeContents(name, target, sources)
	}
	j.recordLinks(name, rest, target, sources)
	if name != "mv" && name != "gmv" && name != "move" || target == "" {
		return
	}
	for _, source := range sources {
		j.replace(source)
		if j.vital(source) {
			j.refuse("delete-root", "moves the root folder, a system folder or a home folder")
		}
	}
}

// onThisMachine returns the path of a target that is here, "" for another machine.
func onThisMachine(target string) string {
	host, file, remote := strings.Cut(target, ":")
	if !remote || strings.Contains(host, "/") || drive(target) {
		return target
	}
	switch host[strings.LastIndexByte(host, '@')+1:] {
	case "localhost", "127.0.0.1", "[":
		return strings.TrimPrefix(file, ":1]:")
	}
	return ""
}

// copyValues are the short options of cp and its like that take a value.
func copyValues(name string) string {
	switch name {
	case "install":
		return "mogS"
	case "rsync":
		return "eBMTf@"
	case "scp":
		return "cFiJloPSDX"
	}
	return "S"
}

// withoutValues drops the values of short options.
func withoutValues(rest []string, letters string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		out = append(out, w)
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexAny(w[1:], letters) == len(w)-2 {
			i++
		}
	}
	return out
}

// withoutExcluded drops options that say what to leave out, with their values.
func withoutExcluded(rest []string) []string {
	var out []string
	for i, w := range rest {
		if excludes(w) || i > 0 && excludes(rest[i-1]) && !strings.Contains(rest[i-1], "=") {
			continue
		}
		out = append(out, w)
	}
	return out
}

// targetFolder returns the folder that -t names, and the other arguments.
func targetFolder(rest []string) (dir string, others []string) {
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		switch {
		case (w == "--target-directory" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.HasSuffix(w, "t")) && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-"):
			dir, others = rest[i+1], append(others, strings.TrimSuffix(w, "t"))
			i++
		case strings.HasPrefix(w, "--target-directory="):
			_, dir, _ = strings.Cut(w, "=")
		case strings.HasPrefix(w, "-t") && len(w) > 2:
			dir = w[2:]
		default:
			others = append(others, w)
		}
	}
	return dir, others
}

// isSample reports whether a file is a sample of an environment file.
func isSample(file string) bool {
	name := strings.ToLower(path.Base(file))
	if dynamic(file) || !strings.Contains(name, "env") {
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
func (j *judge) writeInto(dir string, sources []string, folder bool) {
	p, ok := j.absolute(dir)
	if !ok || !folder && !strings.HasSuffix(dir, "/") && dir != "." && dir != ".." && !same(p, j.context.Home) && !same(p, j.context.Hermes) {
		return
	}
	for _, s := range sources {
		j.write(path.Join(p, path.Base(s)))
	}
}

// writeContents judges the copy of everything in a folder to the home folder, where
// it may replace any file.
func (j *judge) writeContents(name, target string, sources []string) {
	if p, ok := j.absolute(target); !ok || !same(p, j.context.Home) {
		return
	}
	for _, s := range sources {
		if strings.HasSuffix(s, "/.") || name == "rsync" && strings.HasSuffix(s, "/") {
			j.write(j.context.Home + "/.profile")
		}
	}
}

// recordLinks records the links that ln and cp make. A second name of a file is as good
// as the first to write it, so that a hard link counts as a write of its source.
func (j *judge) recordLinks(name string, rest []string, target string, sources []string) {
	soft := name == "ln" && (hasShort(rest, "s") || hasLong(rest, "--symbolic")) || name == "cp" && hasShort(rest, "s") || name == "cp" && hasLong(rest, "--symbolic-link")
	hard := name == "ln" && !soft || name == "cp" && (hasShort(rest, "l") || hasLong(rest, "--link"))
	if !soft && !hard {
		return
	}
	if target != "" && (hasShort(rest, "nT") || hasLong(rest, "--no-target-directory") || hasLong(rest, "--no-dereference")) {
		j.replace(target)
	}
	for _, s := range sources {
		to := s
		if p, ok := j.absolute(s); ok && (hard || name == "cp" || hasShort(rest, "r") || hasLong(rest, "--relative")) {
			to = p
		}
		if hard {
			j.write(s)
		}
		if target != "" {
			j.link(target, to)
		}
		j.link(path.Join(target, path.Base(s)), to)
	}
}

// download judges the files that curl and wget write.
func (j *judge) download(name string, rest []string) {
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
				j.write(value)
			}
		case len(w) > 1 && w[0] == '-':
			if at := strings.IndexAny(w[1:], short) + 1; at == len(w)-1 && i+1 < len(rest) && !(name == "curl" && w[at] == 'O') {
				j.write(rest[i+1])
			} else if at == 1 {
				j.write(w[2:])
			}
		case strings.Contains(w, "/") && (name == "wget" || hasShort(rest, "OJ")):
			j.write(path.Base(w))
		}
	}
}
