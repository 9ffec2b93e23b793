package known

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Package is a package that a command downloads and runs.
type Package struct {
	Ecosystem string // as OSV spells it: npm or PyPI
	Name      string
	Version   string // an exact one; "" is any, such as the newest
}

const (
	npm  = "npm"
	pypi = "PyPI"
)

// runner is a program that downloads and runs packages, or a command of one.
type runner struct {
	ecosystem string
	// instead are the options whose values are packages, in place of the first word; also those whose
	// values are packages in addition to it.
	instead, also []string
	// values are the options that take a value which is no package, lines those whose value is a command line.
	// flags take no value, nor do those that begin with --no-.
	values, lines, flags []string
	// first says that the first word is a package, and not a command; anywhere, that options may follow it.
	first, anywhere bool
}

// runners returns what is known. An option that is missing here is no hole, but makes more words count
// as packages.
func runners() map[string]runner {
	node := runner{
		ecosystem: npm, first: true, instead: []string{"-p", "--package"},
		values: []string{"--cache", "--userconfig", "--registry", "--workspace", "-w", "--prefix", "-C", "--dir", "--loglevel", "--script-shell", "--node-options", "--filter", "-F", "--cwd"},
		lines:  []string{"-c", "--call"},
		flags: []string{
			"-y", "--yes", "-q", "--quiet", "-s", "--silent", "--verbose", "--prefer-offline", "--prefer-online", "--offline", "--ignore-existing",
			"--ignore-scripts", "--bun", "--workspaces", "-g", "--global",
		},
	}
	exec := node
	exec.anywhere = true
	shell := node // here -c is a flag: the words are a line of a shell
	shell.lines, shell.flags = nil, append(slices.Clone(node.flags), "-c", "--shell-mode")
	uv := runner{
		ecosystem: pypi, first: true, instead: []string{"--from"}, also: []string{"--with", "-w"},
		values: []string{
			"--python", "-p", "--index-url", "-i", "--extra-index-url", "--index", "--default-index", "--find-links", "-f", "--cache-dir", "--directory",
			"--project", "--config-file", "--env-file", "--resolution", "--prerelease", "--exclude-newer", "--index-strategy", "--keyring-provider",
			"--allow-insecure-host", "--link-mode", "--color", "--python-preference", "--upgrade-package", "-P", "--reinstall-package", "--refresh-package",
			"--no-build-package", "--no-binary-package", "--config-setting", "-C", "--with-requirements", "--with-editable", "--constraints", "-c", "--overrides",
			"--extra", "--group",
		},
		flags: []string{"-q", "--quiet", "-v", "--verbose", "--isolated", "-n", "--refresh", "--reinstall", "--upgrade", "-U", "--offline", "--native-tls", "--managed-python", "--frozen", "--locked"},
	}
	run := uv
	run.first, run.instead, run.also = false, nil, []string{"--with", "-w"}
	pipx := runner{
		ecosystem: pypi, first: true, instead: []string{"--spec"}, also: []string{"--with"},
		values: []string{"--python", "--pip-args", "--index-url", "-i", "--suffix", "--backend"}, flags: []string{"-q", "--quiet", "-v", "--verbose", "--pypackages", "--fetch-missing-python", "--system-site-packages"},
	}
	return map[string]runner{
		"npx": node, "bunx": node, "pnpx": shell, "npm exec": exec, "npm x": exec, "bun x": node, "pnpm dlx": shell, "yarn dlx": node, "yarn exec": node, "pnpm exec": shell,
		"uvx": uv, "uv tool run": uv, "uv run": run, "pipx run": pipx,
	}
}

// PackagesOf returns the packages that a command downloads and runs, of the runners that are known, also
// if another program starts them: a shell, env or a container. Where it is not sure, such as after an
// option that it does not know, each word that may be a package is one.
func PackagesOf(command string, args []string) []Package {
	var found []Package
	in(append([]string{command}, args...), runners(), 3, func(p Package) {
		if p.Name != "" && !slices.Contains(found, p) {
			found = append(found, p)
		}
	})
	return found
}

// in looks for runners among words, also in words that are lines of a shell, depth deep.
func in(words []string, known map[string]runner, depth int, add func(Package)) {
	for i, word := range words {
		if strings.ContainsAny(word, " \t\n;|&") && depth > 0 {
			for _, line := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("\n;|&()`", r) }) {
				in(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"'{}$", r) }), known, depth-1, add)
			}
		}
		if name, ok := strings.CutPrefix(word, "npm:"); ok { // as deno has them
			add(split(npm, name))
		}
		rest := words[i+1:]
		switch program := programOf(word); {
		case program == "python" || program == "py":
			module(rest, add)
		case program == "npx" || program == "bunx" || program == "pnpx" || program == "uvx":
			known[program].packages(rest, known, depth, add)
		case slices.Contains([]string{"npm", "pnpm", "yarn", "bun", "uv", "pipx"}, program):
			verb(program, rest, known, depth, add)
		}
	}
}

// verb looks for the command of a program that runs packages. Options, also with values, may be before it.
func verb(program string, args []string, known map[string]runner, depth int, add func(Package)) {
	for i, word := range args {
		name, rest := program+" "+word, args[i+1:]
		if program == "uv" && slices.Contains(args[:i], "tool") {
			name = "uv tool " + word
		}
		if r, ok := known[name]; ok { // what is before it may name packages, too
			before := r
			before.first = false
			before.packages(args[:i], known, depth, add)
			r.packages(rest, known, depth, add)
			return
		}
		if (word == "create" || word == "init") && program != "uv" && program != "pipx" {
			for _, name := range rest {
				if !strings.HasPrefix(name, "-") {
					add(split(npm, initializer(name)))
				}
			}
			return
		}
	}
}

// initializer is the package that `npm init NAME` runs.
func initializer(name string) string {
	version := ""
	if i := strings.LastIndex(name, "@"); i > 0 {
		name, version = name[:i], name[i:]
	}
	scope, rest, scoped := strings.Cut(name, "/")
	switch {
	case !strings.HasPrefix(name, "@"):
		return "create-" + name + version
	case !scoped:
		return name + "/create" + version
	}
	return scope + "/create-" + rest + version
}

// module finds the module that Python runs, which is of a package of about the same name. Other runners
// are found by their names.
func module(args []string, add func(Package)) {
	for i := 0; i < len(args); i++ {
		m := pythonOption.FindStringSubmatch(args[i])
		switch {
		case m == nil:
			return
		case m[1] == "W" || m[1] == "X":
			if m[2] == "" {
				i++
			}
		case m[1] == "m":
			name := m[2]
			if name == "" && i+1 < len(args) {
				name = args[i+1]
			}
			name, _, _ = strings.Cut(name, ".")
			if name != "uv" && name != "pipx" {
				add(split(pypi, strings.ReplaceAll(name, "_", "-")))
			}
			return
		}
	}
}

// packages adds the packages among the words after a runner.
func (r runner) packages(args []string, known map[string]runner, depth int, add func(Package)) {
	first, unsure, words := r.first, false, false // words: no more options
	take := func(list string) {
		for one := range strings.SplitSeq(list, ",") {
			add(split(r.ecosystem, strings.TrimSpace(one)))
		}
	}
	for i := 0; i < len(args); i++ {
		word := args[i]
		name, value, joined := strings.Cut(word, "=")
		if len(word) > 2 && word[0] == '-' && word[1] != '-' && !joined && slices.Contains(slices.Concat(r.instead, r.also), word[:2]) { // -pNAME
			name, value, joined = word[:2], word[2:], true
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		was := unsure
		unsure = false
		switch {
		case word == "--" && !words:
			words = true
		case words:
			if first {
				take(word)
			}
			return
		case slices.Contains(r.instead, name), slices.Contains(r.also, name):
			take(value)
			first = first && !slices.Contains(r.instead, name)
			if !joined {
				i++
			}
		case slices.Contains(r.lines, name):
			if depth > 0 {
				in([]string{value + " "}, known, depth-1, add)
			}
			if !joined {
				i++
			}
		case slices.Contains(r.values, name):
			if !joined {
				i++
			}
		case slices.Contains(r.flags, name), strings.HasPrefix(word, "--no-"), word == "--no":
		case strings.HasPrefix(word, "-") && joined:
			take(value)
		case strings.HasPrefix(word, "-"): // the next word is its value, or a package
			unsure = true
		case was:
			take(word)
		default:
			if first {
				take(word)
			}
			if first = false; !r.anywhere {
				return
			}
		}
	}
}

// programOf is the name of a program without its folder and ending; python3 and python3.12 are python.
func programOf(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1", ".sh"} {
		name = strings.TrimSuffix(name, end)
	}
	if rest, ok := strings.CutPrefix(name, "python"); ok && strings.Trim(rest, "0123456789.w") == "" {
		return "python"
	}
	name, _, _ = strings.Cut(name, "@") // npx npm@10 exec …
	return name
}

var (
	npmName  = regexp.MustCompile(`^(@[a-zA-Z0-9._~-]+/)?[a-zA-Z0-9._~-]+$`)
	npmExact = regexp.MustCompile(`^[=v]*(\d+\.\d+\.\d+[0-9A-Za-z.+-]*)$`)
	pypiSpec = regexp.MustCompile(`^([a-zA-Z0-9][a-zA-Z0-9._-]*)(?:\[[^\]]*\])?\s*(.*)$`)
	// pythonOption has an option in m[1], with what is joined to it in m[2].
	pythonOption = regexp.MustCompile(`^-(?:[bBdEhiIOPqsSuvVx?]*([mWX])(.*)|[bBdEhiIOPqsSuvVx?]+)$`)
	exactly      = regexp.MustCompile(`^(?:={2,3}|@)\s*(\d[0-9A-Za-z.!+_-]*)$`)
)

// split parts a name from its version. What is no package of a registry, such as a path or an
// address, has no name.
func split(ecosystem, spec string) Package {
	if ecosystem == pypi {
		m := pypiSpec.FindStringSubmatch(spec)
		if m == nil || m[2] != "" && !strings.ContainsAny(m[2][:1], "=<>!~@;") {
			return Package{}
		}
		p := Package{Ecosystem: pypi, Name: m[1]}
		if v := exactly.FindStringSubmatch(m[2]); v != nil {
			p.Version = v[1]
		}
		return p
	}
	if i := strings.LastIndex(spec, "npm:"); i >= 0 { // NAME@npm:OTHER runs OTHER
		spec = spec[i+len("npm:"):]
	}
	p := Package{Ecosystem: npm, Name: spec}
	if i := strings.LastIndex(spec, "@"); i > 0 { // the first one begins a scope
		p.Name = spec[:i]
		if v := npmExact.FindStringSubmatch(spec[i+1:]); v != nil {
			p.Version = v[1]
		}
	}
	if !npmName.MatchString(p.Name) || strings.HasPrefix(p.Name, ".") || strings.HasPrefix(p.Name, "-") {
		return Package{}
	}
	return p
}
