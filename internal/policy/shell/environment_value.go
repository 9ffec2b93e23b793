package shell

import (
	"path"
	"slices"
	"strings"
)

// systemPath is what PATH usually contains.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// withUsualValue runs f while a variable that decides what runs has a usual
// value, if its own is not known: to add to it, or to use it, changes nothing.
func (j *judge) withUsualValue(name string, f func()) {
	if _, set := j.vars[name]; !set {
		if old, ok := usualValue(effectOf(name)); ok {
			j.set(name, exactly(old))
			defer j.unset(name)
		}
	}
	f()
}

func usualValue(e effect) (string, bool) {
	switch e {
	case programFolders:
		return systemPath, true
	case libraryFolders, languageFolders:
		return "/usr/lib", true
	case nodeOptions, javaOptions, rubyOptions, goOptions, makeOptions:
		return "", true
	case compilerCommand:
		return "cc", true
	}
	return "", false
}

// harmlessValue reports whether a variable with this value runs nothing that did
// not run before.
func (j *judge) harmlessValue(e effect, value string) bool {
	switch e {
	case programFolders:
		return j.harmlessPath(value)
	case libraryFolders:
		return value == "" || j.allFolders(value, j.trustedFolder)
	case languageFolders:
		return value == "" || j.allFolders(value, func(f string) bool { return j.trustedFolder(f) || j.projectFolder(f) })
	case settingsFolder:
		return value == "" || j.allFolders(value, j.homeFolder)
	case startupFile:
		return value == "" || value == "/dev/null"
	case startupWord:
		return !strings.ContainsAny(value, "/.$`~ "+unknown)
	case promptText:
		return !strings.Contains(value, "$(") && !strings.Contains(value, "`") && !dynamic(value)
	case nodeOptions, javaOptions, rubyOptions, goOptions, makeOptions:
		return harmlessOptions(e, value)
	}
	return harmlessCommand(e, value)
}

func (j *judge) allFolders(list string, good func(string) bool) bool {
	for folder := range strings.SplitSeq(list, ":") {
		if !good(folder) {
			return false
		}
	}
	return true
}

// harmlessPath reports whether programs are found where they were found before:
// only trusted folders come before those of the system. What follows can add
// programs, but not replace one.
func (j *judge) harmlessPath(value string) bool {
	system := false
	for folder := range strings.SplitSeq(value, ":") {
		switch {
		case folder == "/usr/bin" || folder == "/bin":
			system = true
		case j.trustedFolder(folder):
		case !system || !addable(folder):
			return false
		}
	}
	return value != ""
}

// addable reports whether a folder may follow those of the system: not the current
// one, and none that all users may write to.
func addable(folder string) bool {
	if dynamic(folder) {
		return strings.HasSuffix(folder, "/bin") || strings.HasSuffix(folder, "/sbin")
	}
	return strings.HasPrefix(folder, "/") && !temporary(folder)
}

func temporary(p string) bool {
	return inFolder(p, "/tmp") || inFolder(p, "/var/tmp") || inFolder(p, "/dev/shm") || inFolder(p, "/private/tmp")
}

// trustedFolder reports whether a folder belongs to the system or is one that
// tools make below the user's home.
func (j *judge) trustedFolder(folder string) bool {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		folder = j.context.Home + "/" + rest
	}
	if dynamic(folder) || !strings.HasPrefix(folder, "/") {
		return false
	}
	folder = path.Clean(folder)
	for _, system := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/snap", "/nix", "/run/current-system", "/home/linuxbrew", "/System", "/Library", "/Applications"} {
		if inFolder(folder, system) {
			return true
		}
	}
	home := strings.TrimSuffix(j.context.Home, "/")
	rest, below := strings.CutPrefix(folder, home+"/")
	top, _, _ := strings.Cut(rest, "/")
	return home != "" && below && slices.Contains(toolFolders, top)
}

// toolFolders are folders in a home folder in which package managers and
// installers put programs.
var toolFolders = []string{
	".local", ".cargo", "go", "bin", ".npm-global", ".bun", ".deno", ".pyenv", ".rbenv", ".nvm", ".volta", ".asdf", ".sdkman", ".dotnet", ".poetry", ".yarn",
	".pnpm", ".krew", ".rvm", ".gem", ".composer", ".jenv", ".nodenv", ".goenv", ".linuxbrew", ".nix-profile", ".ghcup", ".cabal", ".opam", ".mix", ".pub-cache",
	"flutter", ".fzf", ".emacs.d", "miniconda3", "anaconda3", "mambaforge", "miniforge3", "Library", ".rustup", ".foundry", ".mise", ".fnm", ".pixi", ".juliaup",
}

// projectFolder reports whether a folder is in the one in which the command runs.
func (j *judge) projectFolder(folder string) bool {
	if folder == "" || dynamic(folder) || temporary(folder) {
		return false
	}
	if !strings.HasPrefix(folder, "/") && j.dir == "" {
		return !strings.HasPrefix(path.Clean(folder), "..")
	}
	p, ok := j.absolute(folder)
	return ok && j.dir != "" && inFolder(p, j.dir)
}

// homeFolder reports whether a folder is the user's home or one of the folders in
// which programs expect their settings.
func (j *judge) homeFolder(folder string) bool {
	p, ok := j.absolute(folder)
	if !ok || j.context.Home == "" {
		return false
	}
	rest, below := strings.CutPrefix(p, strings.TrimSuffix(j.context.Home, "/")+"/")
	return same(p, j.context.Home) || below && strings.HasPrefix(rest, ".") || j.trustedFolder(p)
}

// harmlessCommand reports whether a variable names a well-known program of its
// kind, with options that run nothing else.
func harmlessCommand(e effect, value string) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return true
	}
	if dynamic(value) || strings.ContainsAny(value, ";&|<>`$(){}'\"\\\n") || !standardProgram(words[0]) {
		return false
	}
	name, options := program(words[0]), words[1:]
	switch e {
	case pagerCommand:
		return slices.Contains(pagers, name) && !slices.ContainsFunc(options, func(a string) bool { return !harmlessPagerOption(a) })
	case editorCommand:
		return slices.Contains(editors, name) && !slices.ContainsFunc(options, func(a string) bool { return !slices.Contains(waiting, a) })
	case sshCommand:
		return name == "ssh" && harmlessSSH(options)
	case compilerCommand:
		return harmlessCompiler(name, options)
	case shellCommand:
		return isShell(name) && len(options) == 0
	}
	return len(options) == 0 && (slices.Contains(browsers, name) || slices.Contains(idle, name))
}

// harmlessPagerOption reports whether an option of a pager only says how text is
// shown. Those with the letters k, o and O name files.
func harmlessPagerOption(a string) bool {
	if name, value, ok := strings.Cut(a, "="); ok {
		return within("--paging --color --style --wrap --theme --tabs", name) && !strings.ContainsAny(value, "/|!")
	}
	if strings.HasPrefix(a, "--") {
		return within("--plain --no-init --quit-if-one-screen --RAW-CONTROL-CHARS --raw-control-chars --chop-long-lines --quit-at-eof --dark --light --side-by-side --line-numbers", a)
	}
	return len(a) > 1 && a[0] == '-' && !strings.ContainsAny(a, "koOTt!+=/")
}

// standardProgram reports whether a program is named without a folder, or in one
// of the system.
func standardProgram(name string) bool {
	folder, _ := path.Split(name)
	switch folder {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/":
		return true
	}
	return false
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
			if i < len(options) && !harmlessSSHOption(options[i]) {
				return false
			}
		case "-4", "-6", "-v", "-q", "-T", "-a", "-x", "-n", "-C":
		default:
			rest, ok := strings.CutPrefix(a, "-o")
			if !ok || !harmlessSSHOption(rest) {
				return false
			}
		}
	}
	return true
}

func harmlessSSHOption(o string) bool {
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
	return isCompiler(name)
}

// isCompiler reports whether a program is a compiler or another tool that builds,
// such as gcc-12 or aarch64-linux-gnu-gcc.
func isCompiler(name string) bool {
	base := strings.TrimRight(name, "0123456789.-")
	return slices.Contains(compilers, base[strings.LastIndexByte(base, '-')+1:])
}

var compilers = strings.Fields("gcc g++ cc c++ clang clang++ cpp tcc zig ar ld lld mold gfortran rustc rustdoc make gmake ccache sccache cachepot distcc icc icx icpx nvcc emcc em++ cl")

// harmlessOptions reports whether options for a language load no other code.
func harmlessOptions(e effect, value string) bool {
	if dynamic(value) {
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
