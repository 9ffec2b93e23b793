package environ

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// harmlessValue reports whether a variable with this value runs nothing that did
// not run before.
func harmlessValue(l *track.Line, e effect, value string) bool {
	switch e {
	case programFolders:
		return harmlessPath(l, value)
	case libraryFolders:
		return value == "" || track.AllFolders(value, l.TrustedFolder)
	case languageFolders:
		return value == "" || track.AllFolders(value, func(f string) bool { return l.TrustedFolder(f) || l.ProjectFolder(f) })
	case settingsFolder:
		return value == "" || track.AllFolders(value, l.HomeFolder)
	case startupFile:
		return value == "" || value == "/dev/null"
	case startupWord:
		return !strings.ContainsAny(value, "/.$`~ "+lex.Unknown)
	case promptText:
		return !strings.Contains(value, "$(") && !strings.Contains(value, "`") && !lex.Dynamic(value)
	case nodeOptions, javaOptions, rubyOptions, goOptions, makeOptions:
		return HarmlessOptions(e, value)
	}
	return HarmlessCommand(e, value)
}

// harmlessPath reports whether programs are found where they were found before:
// only trusted folders come before those of the system. What follows can add
// programs, but not replace one.
func harmlessPath(l *track.Line, value string) bool {
	system := false
	for folder := range strings.SplitSeq(value, ":") {
		switch {
		case folder == "/usr/bin" || folder == "/bin":
			system = true
		case l.TrustedFolder(folder):
		case !system || !addable(folder):
			return false
		}
	}
	return value != ""
}

// addable reports whether a folder may follow those of the system: not the current
// one, and none that all users may write to.
func addable(folder string) bool {
	if lex.Dynamic(folder) {
		return strings.HasSuffix(folder, "/bin") || strings.HasSuffix(folder, "/sbin")
	}
	return strings.HasPrefix(folder, "/") && !track.Temporary(folder)
}

// HarmlessCommand reports whether a variable names a well-known program of its
// kind, with options that run nothing else.
func HarmlessCommand(e effect, value string) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return true
	}
	if lex.Dynamic(value) || strings.ContainsAny(value, ";&|<>`$(){}'\"\\\n") || !program.StandardProgram(words[0]) {
		return false
	}
	name, options := lex.Program(words[0]), words[1:]
	switch e {
	case PagerCommand:
		return slices.Contains(pagers, name) && !slices.ContainsFunc(options, func(a string) bool { return !harmlessPagerOption(a) })
	case EditorCommand:
		return slices.Contains(editors, name) && !slices.ContainsFunc(options, func(a string) bool { return !slices.Contains(waiting, a) })
	case SshCommand:
		return name == "ssh" && harmlessSSH(options)
	case CompilerCommand:
		return harmlessCompiler(name, options)
	case shellCommand:
		return program.IsShell(name) && len(options) == 0
	}
	return len(options) == 0 && (slices.Contains(browsers, name) || slices.Contains(idle, name))
}

// harmlessPagerOption reports whether an option of a pager only says how text is
// shown. Those with the letters k, o and O name files.
func harmlessPagerOption(a string) bool {
	if name, value, ok := strings.Cut(a, "="); ok {
		return lex.Within("--paging --color --style --wrap --theme --tabs", name) && !strings.ContainsAny(value, "/|!")
	}
	if strings.HasPrefix(a, "--") {
		return lex.Within("--plain --no-init --quit-if-one-screen --RAW-CONTROL-CHARS --raw-control-chars --chop-long-lines --quit-at-eof --dark --light --side-by-side --line-numbers", a)
	}
	return len(a) > 1 && a[0] == '-' && !strings.ContainsAny(a, "koOTt!+=/")
}

var (
	pagers   = []string{"cat", "less", "more", "most", "bat", "batcat", "delta", "moar", "moor", "head", "tail", "true", ":", "diff-so-fancy"}
	editors  = []string{"vim", "vi", "nvim", "nano", "emacs", "emacsclient", "code", "codium", "cursor", "zed", "subl", "micro", "helix", "hx", "kak", "pico", "joe", "mate", "gedit", "kate", "mcedit", "true", ":", "cat", "false"}
	browsers = []string{"firefox", "chromium", "google-chrome", "safari", "open", "xdg-open", "lynx", "w3m"}
	idle     = []string{"true", "false", "echo", ":", "none"}
	waiting  = []string{"-w", "--wait", "-nw", "-n", "-R", "-f", "--nofork", "-t", "-W", "-b", "-g", "--new-window"}
)

// harmlessSSH reports whether options for ssh only choose keys and checks.
func harmlessSSH(options []string) bool {
	for i := 0; i < len(options); i++ {
		switch a := options[i]; a {
		case "-i", "-p", "-l":
			i++
		case "-o":
			i++
			if i < len(options) && !HarmlessSSHOption(options[i]) {
				return false
			}
		case "-4", "-6", "-v", "-q", "-T", "-a", "-x", "-n", "-C":
		default:
			rest, ok := strings.CutPrefix(a, "-o")
			if !ok || !HarmlessSSHOption(rest) {
				return false
			}
		}
	}
	return true
}

// HarmlessSSHOption reports whether a setting of ssh runs nothing and opens nothing.
func HarmlessSSHOption(o string) bool {
	name, _, _ := strings.Cut(strings.ToLower(o), "=")
	switch name {
	case "batchmode", "connecttimeout", "identitiesonly", "identityfile", "port", "user", "stricthostkeychecking", "userknownhostsfile", "loglevel", "serveraliveinterval",
		"serveralivecountmax", "compression", "addressfamily", "passwordauthentication", "preferredauthentications", "controlmaster", "controlpersist", "controlpath",
		"kbdinteractiveauthentication", "pubkeyauthentication", "hostname", "requesttty", "globalknownhostsfile", "connectionattempts", "tcpkeepalive":
		return true
	}
	return false
}

func harmlessCompiler(name string, options []string) bool {
	for _, a := range options {
		if strings.HasPrefix(a, "-wrapper") || strings.HasPrefix(a, "-fplugin") || strings.HasPrefix(a, "-B") || strings.HasPrefix(a, "-specs") || strings.HasPrefix(a, "@") {
			return false
		}
	}
	return program.IsCompiler(name)
}

// HarmlessOptions reports whether options for a language load no other code.
func HarmlessOptions(e effect, value string) bool {
	if lex.Dynamic(value) {
		return false
	}
	for _, a := range strings.Fields(value) {
		if !harmlessOption(e, a) {
			return false
		}
	}
	return true
}

func harmlessOption(e effect, a string) bool {
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(a, p) })
	}
	switch e {
	case nodeOptions:
		return begins("--max", "--no-", "--enable-source-maps", "--trace", "--unhandled-rejections", "--openssl", "--stack", "--preserve-symlinks", "--dns-result-order",
			"--throw-deprecation", "--pending-deprecation", "--experimental-vm-modules", "--experimental-fetch", "--experimental-strip-types", "--experimental-json-modules",
			"--experimental-specifier-resolution", "--expose-gc", "--expose_gc", "--report", "--use-openssl-ca", "--use-system-ca", "--use-bundled-ca", "--tls", "--title",
			"--disable-warning", "--heapsnapshot", "--localstorage-file", "--network-family", "--inspect=127.0.0.1", "--inspect=localhost") || a == "--inspect" || a == "--inspect-brk"
	case javaOptions:
		return begins("-X", "-D", "-ea", "-da", "-server", "-client", "--add-opens", "--add-exports", "--add-modules", "--enable-preview", "--enable-native-access", "-verbose") &&
			!begins("-XX:On", "-XX:Flags", "-XX:VMOptionsFile", "-Xbootclasspath", "-Xrun", "-Djava.system.class.loader", "-Djava.security.manager", "-Djava.security.policy", "-Djava.ext.dirs", "-Djava.library.path")
	case rubyOptions:
		return begins("-W", "--yjit", "--jit", "--enable", "--disable", "-w", "-E", "-U", "--encoding")
	case goOptions:
		return !begins("-toolexec", "--toolexec", "-exec", "--exec", "-vettool", "--vettool", "-overlay", "--overlay", "-gccgoflags") && !strings.Contains(a, "extld")
	}
	return strings.HasPrefix(a, "-") && !begins("--eval", "-E", "-f", "--file", "--makefile", "-I", "--include") || strings.Trim(a, "abcdehijklmnopqrstuvwxyzBCLRSW") == ""
}
