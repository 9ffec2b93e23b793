package shell

import (
	"slices"
	"strings"
)

// situation is how a command is run.
type situation struct {
	in         input
	background bool
	shadowed   bool // a function has the name of the program
	xargs      bool // more arguments come from the input
}

// argv judges the words of one command: wrappers first, then the rules.
func (j *judge) argv(args []string, s situation) {
	if len(args) == 0 || args[0] == "" {
		return
	}
	if j.depth >= maxDepth {
		j.ask("too-deep", "commands are nested too deeply to check")
		return
	}
	if !j.step() {
		return
	}
	if j.seen != nil {
		j.seen(args)
	}
	j.depth++
	defer func() { j.depth-- }()
	name := program(args[0])
	if strings.HasPrefix(args[0], deferred) { // judged when the function is called
		j.hiddenWords(args[1:], s)
		return
	}
	if dynamic(name) || strings.ContainsAny(name, "*?") || name != "[" && name != "[[" && strings.Contains(name, "[") {
		j.ask("dynamic-command", "the program that it runs is only known at run time")
	}
	for _, a := range args {
		j.metadata(name, a)
	}
	if w, ok := wrapperOf(name); ok {
		j.wrapped(name, w, args[1:], s)
		return
	}
	j.user(name, args[1:])
	if j.launches(name, args[1:], s) || j.changesShell(name, args[1:]) {
		return
	}
	switch name {
	case "cd", "chdir", "pushd", "popd":
		j.chdir(name, args[1:])
	case "read", "mapfile", "readarray", "getopts":
		j.readsInto(args, s.in)
	default:
		j.rules(name, args, s)
	}
}

// wrapped judges the command that a wrapper runs, and the wrapper itself.
func (j *judge) wrapped(name string, w wrapper, args []string, s situation) {
	inner := w.inner(args)
	own := args[:len(args)-len(inner)]
	if dir, ok := chosenFolder(name, own); ok {
		j.inSubshell(func() {
			j.changeTo(dir)
			j.argv(inner, s)
		})
	}
	if name == "sudo" || name == "doas" || name == "pkexec" || name == "runuser" {
		j.rights++
		defer func() { j.rights-- }()
	}
	j.outputs(own)
	j.optionPrograms(name, own, s.in)
	switch name {
	case "sudo":
		j.sudo(own)
	case "env":
		if text, rest, ok := splitText(own, inner); ok {
			j.script("env " + scriptText(text) + quoted(rest))
			return
		}
	case "runuser":
		if !hasShort(own, "u") && !hasLong(own, "--user") { // as su
			j.launches("su", args, s)
			return
		}
	case "flock":
		if j.optionScript(own) {
			return
		}
	case "direnv", "mise":
		j.persists(name, args)
	case "npx", "bunx", "pnpx", "uvx":
		j.fetches(name, args)
	case "uv", "poetry", "pipenv", "pdm", "hatch":
		j.tools(name, args, s)
	case "systemd-run":
		j.persists(name, own)
		s.background = true
	case "nohup", "setsid":
		s.background = true
	case "xargs", "gxargs":
		if len(inner) == 0 { // prints its input
			return
		}
		s = j.fedByXargs(inner, s)
		if len(inner) > 0 && !onlyReads(program(innermost(inner)), nil) || changesNamed(program(innermost(inner))) {
			for _, folder := range s.in.below[:min(len(s.in.below), maxAlternatives)] {
				j.name(folder + "/" + unknown)
			}
		}
		inner = xargs(own, inner, s.in)
		s.in = input{}
	}
	j.hiddenTexts(name, own)
	if w.unclear(own) {
		j.hiddenWords(args, s)
		j.hiddenTexts(name, inner[:min(1, len(inner))]) // which may be the option's value
	}
	for _, a := range own {
		if name, value, ok := strings.Cut(a, "="); ok && isAssignment(a) {
			j.assigned(name, value)
		}
	}
	if len(inner) == 0 && opensShell(name, own) {
		j.shellInput(s)
	}
	j.argv(inner, s)
}

// splitText returns the text that env -S splits into words, and the words after it.
func splitText(own, inner []string) (text string, rest []string, ok bool) {
	for i, a := range own {
		option, value, attached := strings.Cut(a, "=")
		if at := strings.IndexByte(a, 'S'); at > 0 && a[0] == '-' && strings.Trim(a[1:at], "i0v") == "" {
			value, attached, ok = a[at+1:], at+1 < len(a), true
		} else {
			ok = len(option) > len("--") && strings.HasPrefix("--split-string", option)
		}
		switch rest = slices.Concat(own[i+1:], inner); {
		case ok && !attached && len(rest) > 0:
			return rest[0], rest[1:], true
		case ok:
			return value, rest, true
		}
	}
	return "", nil, false
}

// opensShell reports whether a wrapper without a command runs a shell.
func opensShell(name string, own []string) bool {
	switch name {
	case "sudo":
		return hasShort(own, "si") || hasLong(own, "--shell") || hasLong(own, "--login")
	case "chroot", "unshare", "nsenter":
		return true
	}
	return false
}

// fedByXargs judges what the input of xargs may be to the command: the text of a
// shell.
func (j *judge) fedByXargs(inner []string, s situation) situation {
	s.xargs = true
	j.fromInput(inner, s.in)
	if isShell(program(innermost(inner))) && s.in.known {
		j.probe(func() { j.script(scriptText(s.in.text)) })
	}
	return s
}

// innermost is the program behind all wrappers.
func innermost(args []string) string {
	for range maxDepth {
		if len(args) == 0 {
			return ""
		}
		w, ok := wrapperOf(program(args[0]))
		if !ok {
			return args[0]
		}
		args = w.inner(args[1:])
	}
	return ""
}

// fromInput judges commands whose arguments come from unseen input.
func (j *judge) fromInput(command []string, in input) {
	if j.changesFiles(command) {
		j.ask("xargs-delete", "deletes the files named by its input")
	}
	j.deletesListed(command, in.roots)
}

// optionScript judges the shell text that su and its relatives get with -c, of
// which they run the last one. It reports false if there is none.
func (j *judge) optionScript(args []string) (found bool) {
	for i, a := range args {
		text := ""
		switch option, value, attached := strings.Cut(a, "="); {
		case strings.HasPrefix(a, "--"):
			if len(option) < 5 || !strings.HasPrefix("--command", option) && option != "--session-command" {
				continue
			}
			text = value
			if !attached && i+1 < len(args) {
				text = args[i+1]
			}
		case len(a) > 1 && a[0] == '-' && strings.Contains(a, "c"):
			text = a[strings.IndexByte(a, 'c')+1:]
			if text == "" && i+1 < len(args) {
				text = args[i+1]
			}
		default:
			continue
		}
		j.shellText(text, nil, situation{})
		found = true
	}
	return found
}
