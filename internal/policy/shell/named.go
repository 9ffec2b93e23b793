package shell

import (
	"slices"
	"strings"
)

// JudgeText judges text for a program that is not a shell, such as a line for a
// running interpreter. Every protected path in it counts as written.
func JudgeText(text string, on Context) Verdict {
	j := newJudge(on)
	j.nameAll(text)
	return Verdict{Findings: j.findings}
}

// named judges the paths that a command names. A program that is not known to only
// read them counts as one that writes them.
func (j *judge) named(name string, rest []string, s situation) {
	words := j.mayWrite(name, rest)
	seen := map[string]bool{}
	for i, w := range words {
		if i > 0 && excludes(words[i-1]) || excludes(w) || seen[w] {
			continue
		}
		seen[w] = i == 0 || !strings.HasPrefix(words[i-1], "-") // after an option it may mean something else
		if i > 0 && namesOutput(words[i-1]) {
			j.write(w)
		}
		readsIt := i > 0 && namesInput(words[i-1])
		for _, p := range j.pathsIn(w) {
			if j.rights > 0 && strings.HasPrefix(p, "/etc/") {
				j.write(p) // only the system's rights can change these
			}
			j.nameUnless(p, readsIt || namesInput(w))
		}
		if option, value, ok := strings.Cut(w, "="); ok && namesOutput(option) {
			j.write(value)
		}
	}
	if s.in.known && readsScript(name) {
		j.nameAll(s.in.text)
	}
	if writesHere(name, rest) && j.dir != "" {
		j.name(j.dir)
		if isExtractor(name) && j.vital(j.dir) {
			j.ask("write-system", "writes files over a system folder or a home folder")
		}
	}
}

// nameUnless judges a path that a program names, or that one of its options says
// it reads: a file of keys or variables, as every program takes it.
func (j *judge) nameUnless(p string, read bool) {
	if !read {
		j.name(p)
		return
	}
	before := len(j.findings)
	j.name(p)
	added := j.findings[before:]
	j.findings = append(j.findings[:before:before], slices.DeleteFunc(slices.Clone(added), func(f Finding) bool {
		return f.Key == "write-env-file" || f.Key == "write-credentials" || f.Key == "write-ssh"
	})...)
}

// nameAll judges every path in a text.
func (j *judge) nameAll(text string) {
	for _, p := range j.pathsInText(text) {
		j.name(p)
	}
}

// mayWrite returns the words of a command that may be paths it writes.
func (j *judge) mayWrite(name string, rest []string) []string {
	if onlyReads(name, rest) {
		return nil
	}
	switch name {
	case "git":
		paths := gitPaths(rest)
		if slices.ContainsFunc(paths, func(w string) bool {
			return w == "clone" || w == "init" || w == "worktree" || w == "archive" || w == "bundle"
		}) {
			j.writeAll(plainWords(paths))
		}
		return paths
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		for _, p := range containerPaths(rest) {
			j.replace(p) // a container may change everything below
		}
		return nil
	case "tar", "gtar", "bsdtar":
		j.writeAll(tarPaths(rest))
		return nil
	case "vi", "vim", "nvim", "nano", "pico", "emacs", "micro", "joe", "kak", "hx", "ed", "ex", "visudo", "crudini", "augtool":
		j.writeAll(plainWords(rest))
	case "zip":
		if words := plainWords(rest); len(words) > 0 && !hasShort(rest, "m") {
			return words[:1]
		}
	case "chmod":
		return chmodPaths(rest)
	case "dotenv", "dotenvx", "env-cmd":
		return nil // reads variables for another program
	case "touch":
		return slices.DeleteFunc(slices.Clone(rest), func(w string) bool { return strings.Contains(w, ".env") })
	case "sed", "gsed", "awk", "gawk", "mawk", "nawk":
		return j.scriptPaths(name, rest)
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "copy", "move":
		return optionsOnly(rest)
	}
	switch {
	case isShell(name) || isInterpreter(name):
		return afterScript(name, rest)
	case strings.HasPrefix(name, "ssh-keygen") && hasShort(rest, "lyFHeB"):
		return nil
	}
	return rest
}

// afterScript returns the arguments of an interpreter without the script, which is
// only read.
func afterScript(name string, rest []string) []string {
	for i, w := range rest {
		if w == "-" || w == "-s" && isShell(name) { // the script is the input
			return rest[i+1:]
		}
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+") {
			continue
		}
		if i > 0 && strings.HasPrefix(rest[i-1], "-") && len(rest[i-1]) == 2 && strings.Contains("cemprEW", rest[i-1][1:]) && !isShell(name) {
			return rest // the word is code, a module or a value
		}
		return slices.Concat(rest[:i], rest[i+1:])
	}
	return rest
}

// scriptPaths returns the paths in the script of sed or awk, if it may write, and
// the other arguments if they are changed in place.
func (j *judge) scriptPaths(name string, rest []string) []string {
	if strings.HasSuffix(name, "awk") && slices.ContainsFunc(rest, func(w string) bool { return strings.HasSuffix(w, "inplace") }) {
		return rest
	}
	if inPlace := hasLong(rest, "--in-place") || hasShort(rest, "i"); inPlace {
		return nil // judged as a write
	}
	words := plainWords(rest)
	if len(words) == 0 {
		return nil
	}
	script := words[0]
	for i, w := range rest {
		if (w == "-e" || w == "--expression") && i+1 < len(rest) {
			script += "\n" + rest[i+1]
		}
	}
	if strings.HasSuffix(name, "awk") {
		if strings.ContainsAny(script, ">|") {
			return j.pathsInText(script)
		}
		return nil
	}
	var out []string
	for _, part := range strings.Split(script, "w ")[1:] {
		out = append(out, strings.Fields(part + " .")[0])
	}
	return out
}

// optionsOnly returns the options with their values.
func optionsOnly(rest []string) []string {
	var out []string
	for _, w := range rest {
		if strings.HasPrefix(w, "--") && strings.Contains(w, "=") && !strings.HasPrefix(w, "--rsh=") {
			out = append(out, w)
		}
	}
	return out
}

// chmodPaths returns the files that a change of rights opens to others or makes
// executable.
func chmodPaths(rest []string) []string {
	words := plainWords(rest)
	if len(words) == 0 {
		return nil
	}
	mode := words[0]
	if len(mode) > 1 && isOctal(mode) && strings.HasSuffix(mode, "00") && !hasShort(rest, "R") && !strings.ContainsAny(mode[:len(mode)-2], "1357") {
		return nil
	}
	if mode == "700" || strings.HasPrefix(mode, "go-") || strings.HasPrefix(mode, "o-") || strings.HasPrefix(mode, "g-") {
		return nil
	}
	return words[1:]
}

// gitPaths returns the paths outside of the repository's files that git writes.
func gitPaths(rest []string) []string {
	words := wrapper{values: "Cc", long: " --git-dir --work-tree --namespace --exec-path --config-env "}.inner(rest)
	own := rest[:len(rest)-len(words)]
	if len(words) == 0 || !gitWrites(words) {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(own), func(w string) bool { return w == ".git" || strings.HasSuffix(w, "=.git") })
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "config", "format-patch", "checkout-index", "apply", "diff", "log", "show":
		return append(out, words...)
	}
	return out
}

// gitWrites reports whether a subcommand of git changes files, other than those
// git keeps for itself.
func gitWrites(words []string) bool {
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "format-patch", "checkout-index", "apply", "am", "pull", "merge", "rebase",
		"checkout", "switch", "restore", "reset", "cherry-pick", "revert", "stash", "clean", "read-tree", "filter-branch", "sparse-checkout":
		return !hasLong(words, "--cached")
	case "config":
		return hasShort(words, "f") || hasLong(words, "--file")
	case "diff", "log", "show":
		return hasLong(words, "--output")
	}
	return false
}

// containerPaths returns the paths of this machine that a container may write, and
// those to which its files are copied.
func containerPaths(rest []string) []string {
	var out []string
	for i, w := range rest {
		option, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(rest) {
			value = rest[i+1]
		}
		switch option {
		case "-v", "--volume":
			if from, to, ok := strings.Cut(value, ":"); ok && !strings.HasSuffix(to, ":ro") {
				out = append(out, from)
			}
		case "--mount":
			for part := range strings.SplitSeq(value, ",") {
				key, from, _ := strings.Cut(part, "=")
				if (key == "source" || key == "src") && !strings.Contains(value, "readonly") && !strings.Contains(value, ",ro") {
					out = append(out, from)
				}
			}
		case "-o", "--output", "--iidfile", "--cidfile", "--metadata-file":
			out = append(out, value)
		}
	}
	if words := plainWords(rest); len(words) > 2 && slices.Contains(words[:2], "cp") {
		out = append(out, words[len(words)-1])
	}
	return out
}

// tarPaths returns the archive that tar makes, or the folder into which it
// extracts.
func tarPaths(rest []string) []string {
	mode := ""
	if len(rest) > 0 {
		mode = rest[0]
	}
	makes := strings.HasPrefix(mode, "--c") || !strings.HasPrefix(mode, "--") && strings.ContainsAny(mode, "cru") || hasShort(rest, "cru") || hasLong(rest, "--create") || hasLong(rest, "--append") || hasLong(rest, "--update")
	var out []string
	for i, w := range rest {
		option, value, joined := strings.Cut(w, "=")
		cluster := i == 0 || len(w) > 1 && w[0] == '-' && w[1] != '-'
		if !joined && i+1 < len(rest) {
			value = rest[i+1]
		}
		switch {
		case (option == "--file" || cluster && strings.HasSuffix(w, "f")) && makes,
			(option == "--directory" || option == "-C") && !makes,
			option == "--one-top-level":
			out = append(out, value)
		case !makes && len(w) > 2 && strings.HasPrefix(w, "-C"):
			out = append(out, w[2:])
		}
	}
	if !makes { // the members of an archive are below the folder
		for _, folder := range slices.Clone(out) {
			for _, member := range plainWords(rest) {
				out = append(out, strings.TrimSuffix(folder, "/")+"/"+member)
			}
		}
	}
	return out
}
