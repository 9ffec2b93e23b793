package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// records remembers the files that a command writes, other than by redirection.
func (j *judge) records(name string, rest []string, s situation) {
	words := plainWords(rest)
	switch name {
	case "tee", "sponge":
		for _, f := range words {
			j.wrote(f, s.in.content())
		}
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "link", "copy", "move":
		j.recordCopies(name, rest)
	case "curl", "wget", "aria2c", "xh", "http":
		j.recordDownloads(name, rest)
	case "dd":
		for _, a := range rest {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				j.wrote(f, content{download: s.in.download})
			}
		}
	case "sed", "gsed":
		if hasShort(rest, "i") || hasLong(rest, "--in-place") {
			j.recordAll(words)
		}
	case "gunzip", "unxz", "bunzip2", "unzstd", "uudecode", "gzip", "xz", "bzip2", "zstd":
		for _, f := range words {
			j.wrote(strings.TrimSuffix(f, path.Ext(f)), content{})
		}
	case "mkfifo":
		j.recordAll(words)
	case "xxd", "uniq", "patch", "truncate", "ed", "ex":
		j.recordAll(words[min(len(words), 1):])
	default:
		if !compiles(name) && !optionsDiffer(name) {
			j.recordOutputs(rest)
		}
	}
}

func (j *judge) recordAll(files []string) {
	for _, f := range files {
		j.wrote(f, content{})
	}
}

// recordCopies remembers the targets of cp and its relatives.
func (j *judge) recordCopies(name string, rest []string) {
	target, rest := targetFolder(withoutValues(rest, copyValues(name)))
	sources := plainWords(rest)
	folder := target != ""
	if !folder && len(sources) > 1 {
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	if target == "" {
		return
	}
	for _, source := range sources[:min(len(sources), maxIterations)] {
		c, _ := j.written(source)
		if (name == "scp" || name == "rsync") && isElsewhere(source) {
			source, c = source[strings.IndexByte(source, ':')+1:], content{download: true}
		}
		if !folder && !strings.HasSuffix(target, "/") {
			j.wrote(target, c)
		}
		j.wrote(target+"/"+path.Base(source), c) // the target may be a folder
	}
}

// recordDownloads remembers the files that a download is stored in.
func (j *judge) recordDownloads(name string, rest []string) {
	named := false
	for i, a := range rest {
		file := ""
		switch {
		case a == "--output" || a == "--output-document" || a == "--out":
			if i+1 < len(rest) {
				file = rest[i+1]
			}
		case strings.HasPrefix(a, "--output=") || strings.HasPrefix(a, "--output-document=") || strings.HasPrefix(a, "--out="):
			_, file, _ = strings.Cut(a, "=")
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			letter := "o"
			if name == "wget" {
				letter = "O"
			}
			at := strings.Index(a, letter)
			if at < 1 {
				continue
			}
			if file = a[at+1:]; file == "" && i+1 < len(rest) {
				file = rest[i+1]
			}
		}
		if file != "" {
			named = true
			j.replacesFile(file, false)
			j.wrote(file, content{download: true})
		}
	}
	if named || name == "curl" && !hasShort(rest, "OJ") && !hasLong(rest, "--remote-name") && !hasLong(rest, "--remote-name-all") {
		return
	}
	for _, a := range plainWords(rest) { // the name is the last part of the address
		if base := path.Base(strings.SplitN(a, "?", 2)[0]); strings.Contains(a, "/") && !dynamic(base) {
			j.wrote(base, content{download: true})
		}
	}
}

// recordOutputs remembers the files that options of any program name for output.
func (j *judge) recordOutputs(rest []string) {
	for i, a := range rest {
		option, file, attached := strings.Cut(a, "=")
		if !attached && i+1 < len(rest) {
			file = rest[i+1]
		}
		if (namesOutput(option) || option == "-O") && file != "" && file[0] != '-' {
			j.wrote(file, content{})
		}
	}
}

// compiles reports whether a program makes programs of sources: that they are run
// next is usual.
func compiles(name string) bool {
	switch strings.TrimRight(name, "0123456789.-") {
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "go", "rustc", "cargo", "ld", "tcc", "zig", "nim", "crystal", "ghc", "swiftc", "javac", "kotlinc", "dotnet", "gfortran", "nvcc",
		"tsc", "esbuild", "deno", "bun", "cmake", "ninja", "make":
		return true
	}
	return false
}

// optionsDiffer reports whether -o and its like mean something else than a file
// that is written.
func optionsDiffer(name string) bool {
	switch name {
	case "docker", "kubectl", "terraform", "pytest", "set", "ssh", "find", "grep", "mount", "ps", "ls", "test":
		return true
	}
	return isShell(name)
}

// runsWritten judges a program that is named by its path, or by a name that the
// line put where programs are searched, and files that the line wrote and that a
// program gets as a script.
func (j *judge) runsWritten(args []string) {
	if len(j.files) == 0 {
		return
	}
	if strings.Contains(args[0], "/") {
		j.runsFile(args[0], true, args[1:])
		return
	}
	_, pathSet := j.vars["PATH"]
	for _, file := range slices.Sorted(maps.Keys(j.files)) {
		c := j.files[file]
		folder := path.Base(path.Dir(file))
		if path.Base(file) == args[0] && (pathSet || folder == "bin" || folder == "sbin") {
			if c.known && !dynamic(c.text) {
				j.runsFile(file, true, args[1:])
				continue
			}
			j.ask("write-and-run", "runs a file that the same command wrote")
		}
	}
}

// scriptArguments judges files that the line wrote and that a program may run.
func (j *judge) scriptArguments(name string, rest []string) {
	if len(j.files) == 0 || isShell(name) || isInterpreter(name) || habitOf(name) == readsText && name != "sed" {
		return
	}
	marked := habitOf(name) == noHabit || name == "ansible-playbook"
	for _, a := range rest {
		switch a {
		case "run", "-run", "exec", "-S", "-s", "-f", "--file", "--script":
			marked = true
			continue
		}
		c, ok := j.written(a)
		if ok && marked && (name == "sed" || isScript(a) || strings.HasPrefix(c.text, "#!") || slices.Contains(j.made, a) || c.download && habitOf(name) == noHabit) {
			j.ask("write-and-run", "runs a file that the same command wrote")
		}
	}
}

// isScript reports whether the name of a file is that of a program's source.
func isScript(file string) bool {
	switch path.Ext(file) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".pyw", ".rb", ".pl", ".pm", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".go", ".java", ".c", ".rs", ".mk", ".vim", ".el", ".r", ".R", ".tcl", ".ps1", ".bat", ".cmd",
		".awk", ".sed", ".exp", ".jl", ".ex", ".exs", ".groovy", ".kts", ".swift", ".scala", ".clj", ".command", ".desktop", ".service", ".gdb", ".so", ".ko", ".nix":
		return true
	}
	return strings.HasSuffix(file, "playbook.yml") || strings.HasSuffix(file, "playbook.yaml")
}
