package permission

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	shellprogram "hermes/internal/policy/shell/program"
)

// match says whether a rule that denies or asks is about a call.
type match int

const (
	no    match = iota
	maybe       // it depends on what is only known at run time
	yes
)

// about reports whether a rule that denies or asks is about a call. Such a rule matches wider than
// one that allows: the words of a command may have others between and after them, * also matches
// slashes, case does not count, and what is unknown may match.
func (r Rule) about(c *Call) match {
	switch {
	case !r.tool.mayFit(c):
		return no
	case r.whole:
		return yes
	case r.tool.files():
		return r.aboutFiles(c)
	}
	found := no
	if c.Unclear {
		found = maybe
	}
	for _, l := range c.shellLines() {
		if found = max(found, r.aboutLine(l)); found == yes {
			return yes
		}
	}
	return found
}

// aboutLine matches a text, and each simple command in it as a shell would run it, with the
// program's whole path and with its name alone. A line with more commands than can be listed matches:
// nothing is known about the rest.
func (r Rule) aboutLine(l line) match {
	if l.whole == "" {
		return no
	}
	if fnmatch(r.glob, l.whole) || r.joined && fnmatch("*"+r.glob+"*", l.joined) {
		return yes
	}
	found := no
	if mayMatch(r.glob, l.whole) {
		found = maybe
	}
	for i := range l.commands {
		c := &l.commands[i]
		if fnmatch(r.glob, c.whole) || c.short != c.whole && fnmatch(r.glob, c.short) {
			return yes
		}
		if mayMatch(r.glob, c.whole) || mayMatch(r.glob, c.short) {
			found = maybe
		}
		found = max(found, inOrder(r.words, c))
	}
	if !l.complete {
		return yes
	}
	if found == no && slices.ContainsFunc(l.texts, r.mentioned) {
		return maybe
	}
	return found
}

// mentionedWithin is how many words after its program a command in a text is looked for.
const mentionedWithin = 32

// mentioned reports whether a text of another program has the words of the rule near each other. Whether that program runs
// them is not known.
func (r Rule) mentioned(words []string) bool {
	if len(r.words) == 0 {
		return false
	}
	for i, w := range words {
		if oneWord(r.words[0], path.Base(w)) != no && restFits(r.words[1:], words[i+1:min(len(words), i+mentionedWithin)], yes) {
			return true
		}
	}
	return false
}

// inOrder matches the words of a pattern with those of a command: the first with its program, and
// the others, in their order, with any of the rest. What the known words say counts first, so that an
// unknown word beside them hides nothing.
func inOrder(pattern []string, c *simple) match {
	if len(pattern) == 0 {
		return no
	}
	program := oneWord(pattern[0], c.words[0])
	if c.base != c.words[0] {
		program = max(program, oneWord(pattern[0], c.base))
	}
	if name := path.Base(pattern[0]); name != pattern[0] && c.base == c.words[0] { // it is found somewhere
		program = max(program, oneWord(name, c.base))
	}
	if strings.ContainsAny(c.words[0], "*?[") && c.words[0] != "[" && c.words[0] != "[[" {
		program = max(program, oneWord(pattern[0], expanded(c.words[0])), oneWord(pattern[0], expanded(c.base)))
	}
	if program == no {
		return no
	}
	words := c.words[1:]
	if pattern[0] == "git" && len(pattern) > 1 && !strings.HasPrefix(pattern[1], "-") { // git stash push is no git push
		if _, call := shellprogram.GitCall(words); len(call) > 0 {
			if words = call; oneWord(pattern[1], call[0]) == no {
				return no
			}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(pattern[1:]), func(p string) bool { return clustered(p, words) })
	for _, least := range [...]match{yes, maybe} {
		if program >= least && restFits(rest, words, least) {
			return least
		}
	}
	return no
}

// clustered reports whether a word of a pattern such as -rf* names options that a command has in another order or spelling,
// such as -fr, -r -f and --recursive --force.
func clustered(pattern string, words []string) bool {
	wanted := strings.TrimRight(pattern, "*")
	if !isCluster(wanted) {
		return false
	}
	var have strings.Builder
	for _, w := range words {
		switch long, _, _ := strings.Cut(w, "="); {
		case isCluster(w):
			have.WriteString(w[1:])
		case len(long) > 4 && strings.HasPrefix("--recursive", long):
			have.WriteByte('r')
		case len(long) > 4 && strings.HasPrefix("--force", long):
			have.WriteByte('f')
		}
	}
	return !strings.ContainsFunc(wanted[1:], func(c rune) bool { return !strings.ContainsRune(have.String(), c) })
}

// isCluster reports whether a word is of short options, such as -rf. A longer one is more likely a name, such as -delete.
func isCluster(word string) bool {
	return len(word) > 1 && len(word) <= 5 && word[0] == '-' && strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// restFits reports whether the words of a pattern are among others in this order, each by at least
// this much.
func restFits(pattern, words []string, least match) bool {
	for _, p := range pattern {
		i := slices.IndexFunc(words, func(w string) bool {
			return oneWord(p, w) >= least || strings.HasPrefix(w, "-") && oneWord(p, expanded(w)) >= least
		})
		if i < 0 {
			return false
		}
		words = words[i+1:]
	}
	return true
}

// expanded is a word that the shell may replace with the names of files: what follows its first * ? or [ is unknown then.
func expanded(word string) string {
	if i := strings.IndexAny(word, "*?["); i >= 0 {
		return word[:i] + "\x00"
	}
	return word
}

// oneWord matches a word. A zero byte in it is what is only known at run time.
func oneWord(pattern, word string) match {
	if fnmatch(pattern, word) {
		return yes
	}
	known, _, open := strings.Cut(word, "\x00")
	if !open {
		return no
	}
	fixed := pattern
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		fixed = pattern[:i]
	}
	if strings.HasPrefix(known, fixed) || strings.HasPrefix(fixed, known) {
		return maybe
	}
	return no
}

// aboutFiles matches the files of a call. A search in a folder above the files of the pattern may
// find them.
func (r Rule) aboutFiles(c *Call) match {
	if c.Lost {
		return yes
	}
	found, patterns := no, r.paths(c)
	for _, file := range c.Files {
		file = strings.ToLower(filepath.ToSlash(file))
		for _, p := range patterns {
			switch {
			case p.fits(file):
				return yes
			case !c.Writes && c.Tool != "read_file" && (p.folder == "" || above(file, p.folder)):
				found = maybe
			}
		}
	}
	return found
}

// filePattern is a pattern of files in lower case: a folder, which is no pattern, and what is below it. An empty folder is any;
// an empty pattern is the folder, or file, itself and all below it.
type filePattern struct{ folder, below string }

func (p filePattern) fits(file string) bool {
	if p.folder == "" {
		return fnmatch(p.below, file)
	}
	below, ok := strings.CutPrefix(file, strings.TrimSuffix(p.folder, "/"))
	if !ok || below != "" && below[0] != '/' {
		return false
	}
	if p.below == "" {
		return true
	}
	glob := "/" + p.below
	return fnmatch(glob, below) || strings.HasSuffix(glob, "/**") && below == strings.TrimSuffix(glob, "/**")
}

// paths lists the patterns of a rule: as it is written, and with the links of its folder followed. One that begins with *
// is about files of any folder.
func (r Rule) paths(c *Call) []filePattern {
	p, base := filepath.ToSlash(r.subject), filepath.ToSlash(cmp.Or(r.base, c.Workspace))
	if rest, ok := strings.CutPrefix(p, filepath.ToSlash(r.home)+"/"); ok && r.home != "" {
		p, base = strings.TrimLeft(rest, "/"), filepath.ToSlash(r.home)
	}
	if strings.HasPrefix(p, "*") {
		return []filePattern{{below: strings.ToLower(p)}}
	}
	folder, below := p, ""
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		i = strings.LastIndexByte(p[:i], '/') + 1
		folder, below = p[:i], p[i:]
	}
	if !filepath.IsAbs(folder) {
		folder = base + "/" + folder
	}
	folder = path.Clean(folder)
	list := []filePattern{{strings.ToLower(folder), strings.ToLower(below)}}
	if real := filepath.ToSlash(c.follow(filepath.FromSlash(folder))); real != folder {
		list = append(list, filePattern{strings.ToLower(real), strings.ToLower(below)})
	}
	return list
}

// above reports whether folder is inner or above it.
func above(folder, inner string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return inner == folder || strings.HasPrefix(inner, folder+"/")
}
