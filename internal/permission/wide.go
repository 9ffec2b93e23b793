package permission

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
	if fits(r.glob, l.whole) || r.joined && fnmatch("*"+r.glob+"*", l.whole) {
		return yes
	}
	found := no
	for i := range l.commands {
		c := &l.commands[i]
		if fits(r.glob, c.whole) || c.short != c.whole && fits(r.glob, c.short) {
			return yes
		}
		found = max(found, inOrder(r.words, c))
	}
	if !l.complete {
		return yes
	}
	return found
}

func fits(glob, text string) bool { return fnmatch(glob, text) || mayMatch(glob, text) }

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
	for _, least := range [...]match{yes, maybe} {
		if program >= least && restFits(pattern[1:], c.words[1:], least) {
			return least
		}
	}
	return no
}

// restFits reports whether the words of a pattern are among others in this order, each by at least
// this much.
func restFits(pattern, words []string, least match) bool {
	for _, p := range pattern {
		i := slices.IndexFunc(words, func(w string) bool { return oneWord(p, w) >= least })
		if i < 0 {
			return false
		}
		words = words[i+1:]
	}
	return true
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
	found := no
	for _, file := range c.Files {
		file = strings.ToLower(filepath.ToSlash(file))
		for _, p := range r.paths(c) {
			p = strings.ToLower(p)
			switch {
			case fnmatch(p, file), fnmatch(strings.ReplaceAll(p, "/**/", "/"), file), strings.HasSuffix(p, "/**") && file == strings.TrimSuffix(p, "/**"):
				return yes
			case !c.Writes && c.Tool != "read_file" && (strings.HasPrefix(p, "*") || above(file, fixedFolder(p))):
				found = maybe
			}
		}
	}
	return found
}

// paths lists the absolute patterns of a rule: as it is written, and with the links of its fixed
// part followed. One that begins with * is about files of any folder.
func (r Rule) paths(c *Call) []string {
	p := filepath.ToSlash(r.subject)
	switch {
	case strings.HasPrefix(p, "*"):
		return []string{p}
	case !filepath.IsAbs(p):
		p = path.Join(filepath.ToSlash(cmp.Or(r.base, c.Workspace)), p)
	}
	fixed := p
	if strings.ContainsAny(p, "*?[") {
		fixed = fixedFolder(p)
	}
	real := filepath.ToSlash(c.follow(filepath.FromSlash(fixed)))
	if real == fixed {
		return []string{p}
	}
	return []string{p, strings.TrimSuffix(real, "/") + strings.TrimPrefix(p, strings.TrimSuffix(fixed, "/"))}
}

// fixedFolder is the folder of a pattern without wildcards.
func fixedFolder(p string) string {
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		p = p[:i]
	}
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// above reports whether folder is inner or above it.
func above(folder, inner string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return inner == folder || strings.HasPrefix(inner, folder+"/")
}
