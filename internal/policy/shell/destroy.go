package shell

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

const deletesRoot = "deletes the root folder, a system folder or a home folder"

// destroysVital reports whether a recursive change of a path hits the root, a
// system folder or a home folder. A part that is unknown may be empty, so
// "$X"/* is everything in the root.
func (j *judge) destroysVital(p string) bool {
	if !dynamic(p) {
		return j.vital(p) || j.vitalByLink(p)
	}
	if strings.Contains(p, deferred) {
		return false
	}
	empty := withoutUnknown(p)
	return empty != "" && empty[0] == '/' && j.vital(empty)
}

// vitalByLink reports whether a path goes through a link to a vital folder. The
// link itself is only a file.
func (j *judge) vitalByLink(p string) bool {
	full, ok := j.absolute(p)
	if !ok {
		return false
	}
	folder, rest := full, ""
	if at := strings.IndexAny(full, "*?["); at >= 0 {
		at = strings.LastIndexByte(full[:at], '/')
		folder, rest = full[:at], full[at:]
	} else if !strings.HasSuffix(p, "/") && !strings.HasSuffix(p, "/.") {
		return false
	}
	led := j.follow(folder)
	return led != "" && led != folder && j.vital(led+rest)
}

// recursive judges programs other than rm that change everything below a folder.
func (j *judge) recursive(name string, rest []string) {
	words := plainWords(rest)
	switch name {
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "chcon", "chflags":
		if hasShort(rest, "R") || hasLong(rest, "--recursive") {
			j.changesTree(name, words)
		} else if name == "chmod" && removesAccess(rest) {
			j.closes(words)
		}
	case "rsync":
		last := ""
		if len(words) > 0 {
			last = words[len(words)-1]
		}
		if certainShort(rest, "n", copyValues(name)) || hasLong(rest, "--dry-run") {
			return
		}
		if hasDeletion(rest) {
			j.ask("mirror-delete", "deletes every file in a folder that another folder does not have")
			j.destroysTree(remotePath(last))
		}
		if hasLong(rest, "--remove-source-files") {
			for _, source := range words[:max(len(words)-1, 0)] {
				j.destroysTree(remotePath(source))
			}
		}
	case "mv", "gmv", "move":
		if len(words) > 1 && words[len(words)-1] == "/dev/null" {
			j.ask("move-away", "moves files to where they are lost")
		}
		for _, source := range words[:max(len(words)-1, 0)] {
			j.destroysTree(source)
		}
	case "tar", "gtar", "bsdtar", "zip":
		if hasLong(rest, "--remove-files") || name == "zip" && hasShort(rest, "m") {
			for _, w := range words {
				j.destroysTree(w)
			}
		}
	case "rclone":
		if len(words) > 1 && strings.Contains(" purge delete rmdirs sync move ", " "+words[0]+" ") {
			for _, w := range words[1:] {
				j.destroysTree(w)
			}
		}
	case "robocopy":
		for _, w := range words[:min(len(words), 2)] {
			if strings.Contains(strings.ToLower(strings.Join(rest, " ")), "/mir") {
				j.destroysTree(w)
			}
		}
	}
}

func (j *judge) destroysTree(p string) {
	if p != "" && j.destroysVital(p) {
		j.refuse("delete-root", deletesRoot)
	}
}

// changesTree judges a change of rights of folders with everything in them.
func (j *judge) changesTree(name string, targets []string) {
	for _, t := range targets {
		switch {
		case !j.destroysVital(t):
		case j.isHome(t):
			j.ask("recursive-rights", "changes the rights of everything in a home folder")
		default:
			j.refuse("system-rights", "changes the rights of everything in the root folder or a system folder")
		}
	}
}

// removesAccess reports whether a mode takes rights from others.
func removesAccess(rest []string) bool {
	for _, a := range rest {
		if isOctal(a) {
			return strings.HasSuffix(a, "0")
		}
		if at := strings.IndexByte(a, '-'); at >= 0 && strings.Trim(a[:at], "ugoa") == "" && len(a) > at+1 && strings.Trim(a[at+1:], "rwxXst,ugoa+=-") == "" {
			return true
		}
	}
	return false
}

// closes judges files of the system that a command makes unusable.
func (j *judge) closes(files []string) {
	for _, f := range files {
		p, ok := j.absolute(f)
		switch {
		case !ok:
		case j.vital(p) && !j.isHome(p):
			j.refuse("system-rights", "takes the rights to the root folder or a system folder")
		case neededToStart(p), strings.Contains(p, "/bin/"), strings.Contains(p, "/sbin/"), strings.HasPrefix(p, "/lib"), strings.HasPrefix(p, "/usr/lib"):
			if j.ofSystem(p) {
				j.ask("system-rights", "takes the rights to a file of the system")
			}
		}
	}
}

// isHome reports whether a path is a home folder or everything in one.
func (j *judge) isHome(p string) bool {
	p, ok := j.absolute(p)
	if !ok {
		return false
	}
	p = strings.TrimSuffix(strings.TrimRight(p, "*"), "/")
	return j.context.Home != "" && same(p, j.context.Home) || path.Dir(p) == "/home" || path.Dir(p) == "/Users"
}

func hasDeletion(rest []string) bool {
	for _, a := range rest {
		if strings.HasPrefix(a, "--del") {
			return true
		}
	}
	return false
}

// remotePath is a path without the machine that it is on.
func remotePath(p string) string {
	if host, rest, ok := strings.Cut(p, ":"); ok && !strings.Contains(host, "/") && len(host) > 1 {
		return rest
	}
	return p
}

// withoutUnknown returns a text in which every part that may be empty is. A part
// that is not empty is written as a name that matches no folder.
func withoutUnknown(p string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(p, filled, "\x7f"))
}

// destroyers are functions of programming languages that delete what a path
// names and everything in it.
var destroyers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:rmtree|removeall|rm_rf|rm_r|remove_entry\w*|rmsync|rmdirsync|rimraf\w*|remove_dir\w*|removesync|deno\.remove|unlink|remove_tree|remove_all|deltree|delete_recursive\w*|\bfs(?:\.promises)?\.rm\w*|\brm|deletedirectory|delete_dir\w*|remove-item)\s*[(\s]([^;\n]{0,400})`)
})

// homes are expressions for a home folder.
var homes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:[\w.:]+\()?\s*(?:expanduser\(\s*["']~/?["']\s*\)|os\.path\.expanduser\(\s*["']~/?["']\s*\)|(?:pathlib\.)?path\.home\(\)|os\.homedir\(\)|(?:require\(["']os["']\)\.)?homedir\(\)|dir\.home|\$?env\[?[({."']*home["']?[\])}]?|os\.environ\[["']home["']\]|os\.getenv\(["']home["']\)|process\.env\.home|env\[["']home["']\])\s*[,)]`)
})

var quotedText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`")
})

// destructiveCode looks in program code for what is never allowed: deleting a
// vital folder, by a function of the language or by a command in a text.
func (j *judge) destructiveCode(text string) {
	text = text[:min(len(text), maxText)]
	if strings.Contains(strings.Join(strings.Fields(text), " "), "fork while fork") {
		j.refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
	}
	for _, m := range destroyers().FindAllStringSubmatch(text, maxIterations) {
		if homes().MatchString(m[1]) {
			j.refuse("delete-root", deletesRoot)
		}
		for _, path := range quotedText().FindAllString(m[1], maxAlternatives) {
			if j.vital(strings.Trim(path, "\"'`")) {
				j.refuse("delete-root", deletesRoot)
			}
		}
	}
	j.commandsInCode(text)
}

// commandsInCode judges the texts in program code as commands, alone and as the
// words of one. Only what is never allowed counts: the code itself asks.
func (j *judge) commandsInCode(text string) {
	var words []string
	end := 0
	judge := func() {
		if len(words) > 1 {
			j.never(func() { j.argv(words, situation{}) })
		}
		words = nil
	}
	for _, at := range quotedText().FindAllStringIndex(text, maxFiles) {
		if between := text[end:at[0]]; strings.Trim(between, " ,\t\n[(") != "" {
			judge()
		}
		word := text[at[0]+1 : at[1]-1]
		words, end = append(words, word), at[1]
		if strings.ContainsAny(word, " \t") {
			j.never(func() { j.script(word) })
		}
	}
	judge()
}

// never judges something of which only what is never allowed counts.
func (j *judge) never(f func()) {
	if j.depth >= maxDepth {
		return
	}
	found := j.findings
	j.findings = nil
	j.depth++
	j.inSubshell(f)
	j.depth--
	inner := j.findings
	j.findings = found
	for _, f := range inner {
		if f.Level == Refuse || f.Key == "too-deep" {
			j.find(f)
		}
	}
}
