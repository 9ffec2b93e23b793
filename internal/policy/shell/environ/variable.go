// Package environ judges how one program is made to run another: by a variable such as
// PATH or PAGER (variable.go, value.go), or by an option such as --pager (option.go).
package environ

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// effect says how a variable decides what later commands run.
type effect int

const (
	NoEffect        effect = iota
	daemonAddress          // which container daemon is used
	passwordProgram        // which program gives sudo a password
	programFolders         // where programs are searched
	libraryFolders         // where shared libraries are searched
	languageFolders        // where an interpreter searches modules; a project's own folders are usual
	settingsFolder         // where programs find their settings
	startupFile            // a file or library that is loaded before anything else
	startupWord            // startupFile, but also the usual name of a deployment stage
	promptText             // text that a shell expands
	PagerCommand           // a command that shows text
	EditorCommand          // a command that edits text
	SshCommand             // a command that connects to another machine
	CompilerCommand        // a command that compiles
	shellCommand           // a shell
	AnyCommand             // another command
	nodeOptions            // options for node
	javaOptions            // options for java
	rubyOptions            // options for ruby
	goOptions              // options for go
	makeOptions            // options for make
)

// EffectOf says what a variable decides. Names with a known ending count like the
// well-known ones.
func EffectOf(name string) effect {
	if upper := strings.ToUpper(name); strings.HasPrefix(upper, "NPM_CONFIG_") {
		name = upper // npm ignores the case of its variables
	}
	if e := effects[name]; e != NoEffect {
		return e
	}
	for _, u := range usages {
		if strings.HasPrefix(name, u.begin) && strings.HasSuffix(name, u.end) {
			return u.effect
		}
	}
	return NoEffect
}

// effects are the variables that decide what runs.
var effects = map[string]effect{
	"DOCKER_HOST": daemonAddress, "DOCKER_CONTEXT": daemonAddress, "CONTAINER_HOST": daemonAddress,
	"SUDO_ASKPASS": passwordProgram,

	"PATH": programFolders, "FPATH": programFolders,
	"LD_LIBRARY_PATH": libraryFolders, "GTK_PATH": libraryFolders, "QT_PLUGIN_PATH": libraryFolders, "GIO_EXTRA_MODULES": libraryFolders,
	"GCONV_PATH": libraryFolders, "OPENSSL_ENGINES": libraryFolders, "OPENSSL_MODULES": libraryFolders, "PKCS11_MODULE_PATH": libraryFolders,
	"PYTHONPATH": languageFolders, "PYTHONHOME": languageFolders, "PYTHONUSERBASE": languageFolders, "PERL5LIB": languageFolders, "PERLLIB": languageFolders,
	"RUBYLIB": languageFolders, "NODE_PATH": languageFolders, "CLASSPATH": languageFolders, "LUA_PATH": languageFolders, "LUA_CPATH": languageFolders,
	"LUA_INIT": startupFile, "GEM_PATH": languageFolders, "GEM_HOME": languageFolders, "R_LIBS": languageFolders, "JULIA_LOAD_PATH": languageFolders,
	"PHPRC": languageFolders, "PHP_INI_SCAN_DIR": languageFolders, "ANSIBLE_LIBRARY": languageFolders,
	"HOME": settingsFolder, "ZDOTDIR": settingsFolder, "XDG_CONFIG_HOME": settingsFolder, "XDG_CONFIG_DIRS": settingsFolder, "XDG_DATA_DIRS": settingsFolder,
	"CURL_HOME": settingsFolder, "DOCKER_CONFIG": settingsFolder, "CARGO_HOME": languageFolders, "RUSTUP_HOME": languageFolders,
	"GIT_DIR": languageFolders, "GIT_EXEC_PATH": programFolders, "GIT_TEMPLATE_DIR": startupFile,

	"LD_PRELOAD": startupFile, "LD_AUDIT": startupFile, "LD_PROFILE": startupFile, "BASH_ENV": startupFile, "ENV": startupWord,
	"PYTHONSTARTUP": startupFile, "PYTHONBREAKPOINT": startupFile, "PERL5OPT": startupFile, "PERL5DB": startupFile, "PERL5SHELL": startupFile,
	"VIMINIT": startupFile, "GVIMINIT": startupFile, "EXINIT": startupFile, "INPUTRC": startupFile, "LESSOPEN": startupFile, "LESSCLOSE": startupFile, "LESSKEY": startupFile,
	"GTK_MODULES": startupFile, "GTK3_MODULES": startupFile, "OPENSSL_CONF": startupFile, "RIPGREP_CONFIG_PATH": startupFile, "WGETRC": startupFile, "PSQLRC": startupFile,
	"AWS_CONFIG_FILE": startupFile, "TAR_OPTIONS": startupFile, "ZIPOPT": startupFile, "FZF_DEFAULT_COMMAND": startupFile, "FZF_DEFAULT_OPTS": startupFile,
	"SSLKEYLOGFILE": startupFile, "PROMPT_COMMAND": startupFile,
	"PS0": promptText, "PS1": promptText, "PS2": promptText, "PS3": promptText, "PS4": promptText, "PROMPT": promptText, "RPROMPT": promptText,

	"PAGER": PagerCommand, "EDITOR": EditorCommand, "VISUAL": EditorCommand, "FCEDIT": EditorCommand, "HGEDITOR": EditorCommand,
	"BROWSER": AnyCommand, "GIT_SSH": SshCommand, "GIT_SSH_COMMAND": SshCommand, "RSYNC_RSH": SshCommand, "CVS_RSH": SshCommand, "SVN_SSH": SshCommand, "BORG_RSH": SshCommand,
	"GIT_EXTERNAL_DIFF": AnyCommand, "GIT_PROXY_COMMAND": AnyCommand,
	"CC": CompilerCommand, "CXX": CompilerCommand, "CPP": CompilerCommand, "LD": CompilerCommand, "AR": CompilerCommand, "FC": CompilerCommand, "RUSTC": CompilerCommand,
	"RUSTDOC": CompilerCommand, "MAKE": CompilerCommand, "SHELL": shellCommand, "CONFIG_SHELL": shellCommand, "NPM_CONFIG_SCRIPT_SHELL": shellCommand,

	"NODE_OPTIONS": nodeOptions, "NPM_CONFIG_NODE_OPTIONS": nodeOptions, "BUN_OPTIONS": nodeOptions,
	"JAVA_TOOL_OPTIONS": javaOptions, "_JAVA_OPTIONS": javaOptions, "JDK_JAVA_OPTIONS": javaOptions, "RUBYOPT": rubyOptions,
	"GOFLAGS": goOptions, "MAKEFLAGS": makeOptions, "GNUMAKEFLAGS": makeOptions, "MFLAGS": makeOptions, "MAKEFILES": startupFile,
}

// usages are beginnings and endings of names that are used alike.
var usages = []struct {
	begin, end string
	effect     effect
}{
	{"", "_EDITOR", EditorCommand}, {"", "PAGER", PagerCommand}, {"", "_ASKPASS", AnyCommand}, {"", "_SSH_COMMAND", SshCommand},
	{"", "_PROXY_COMMAND", AnyCommand}, {"", "_BROWSER", AnyCommand}, {"", "_RUNNER", AnyCommand}, {"", "_WRAPPER", CompilerCommand},
	{"", "_LINKER", CompilerCommand}, {"", "_PRELOAD", startupFile}, {"", "JAVA_OPTS", javaOptions}, {"", "JVM_OPTS", javaOptions},
	{"", "MAVEN_OPTS", javaOptions}, {"", "GRADLE_OPTS", javaOptions}, {"", "SBT_OPTS", javaOptions}, {"", "CATALINA_OPTS", javaOptions},
	{"", "_JVM_ARGS", javaOptions}, {"DYLD_", "", startupFile}, {"GIT_CONFIG_", "", startupFile}, {"BASH_FUNC_", "", startupFile},
	{"NPM_CONFIG_USERCONFIG", "", startupFile}, {"NPM_CONFIG_GLOBALCONFIG", "", startupFile},
}

// Assigned judges a variable that changes what later commands run. It reports whether the value may name what runs.
func Assigned(l *track.Line, name, value string) (runs bool) {
	sourceVariable(l, name, value)
	historyVariable(l, name, value)
	switch e := EffectOf(name); {
	case e == NoEffect:
	case e == daemonAddress:
		l.Ask("docker-daemon", "switches to another container daemon")
	case e == passwordProgram:
		l.Ask("sudo-password", "passes a password to sudo")
	case !harmlessValue(l, e, value):
		l.Ask("environment", "sets "+name+", which decides what other commands run")
		return true
	}
	return false
}

// historyVariable judges variables with which a shell stops to record its lines.
func historyVariable(l *track.Line, name, value string) {
	switch name {
	case "HISTFILE":
		if value == "" || value == "/dev/null" {
			l.Ask("log-delete", HidesWhatRan)
		}
	case "HISTSIZE", "HISTFILESIZE", "SAVEHIST":
		if value == "0" || value == "" {
			l.Ask("log-delete", HidesWhatRan)
		}
	}
}

// HidesWhatRan is why a command that hides what ran asks.
const HidesWhatRan = "deletes or stops the record of the lines that ran"

// sourceVariable judges variables that say where packages come from.
func sourceVariable(l *track.Line, name, value string) {
	switch strings.ToUpper(name) {
	case "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY",
		"GOPROXY", "GOSUMDB", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT", "HOMEBREW_BOTTLE_DOMAIN", "GEM_SOURCE":
	default:
		return
	}
	for source := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(", |", r) }) {
		if source != "direct" && !KnownSource(source) && (source != "off" || name == "GOSUMDB") {
			l.Ask("package-source", "installs packages from another source than the usual one")
		}
	}
}

// UnknownVariable records a variable whose new value is only known at run time.
func UnknownVariable(l *track.Line, name, value string) {
	if strings.HasPrefix(name, "-") {
		return
	}
	l.Set(name, track.Exactly(value))
	Assigned(l, name, value)
}

// SetsVariable judges programs that set variables of a login session.
func SetsVariable(l *track.Line, name string, rest []string) {
	words := getopt.PlainWords(rest)
	switch {
	case len(words) == 0:
	case name == "dbus-update-activation-environment":
		Assignments(l, words)
	case words[0] == "set-environment" || words[0] == "import-environment":
		Assignments(l, words[1:])
		if name == "tmux" && len(words) > 2 {
			Assigned(l, words[1], words[2])
		}
	case (words[0] == "setenv" || name == "setx") && len(words) > 2:
		Assigned(l, words[len(words)-2], words[len(words)-1])
	case name == "setx" && len(words) == 2:
		Assigned(l, words[0], words[1])
	}
}

// Assignments judges words of the form NAME=value.
func Assignments(l *track.Line, words []string) {
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && lex.IsAssignment(w) {
			Assigned(l, name, value)
		}
	}
}

// WithUsualValue runs f while a variable that decides what runs has a usual
// value, if its own is not known: to add to it, or to use it, changes nothing.
func WithUsualValue(l *track.Line, name string, f func()) {
	if _, set := l.Vars[name]; !set {
		if old, ok := usualValue(EffectOf(name)); ok {
			l.Set(name, track.Exactly(old))
			defer l.Unset(name)
		}
	}
	f()
}

func usualValue(e effect) (string, bool) {
	switch e {
	case programFolders:
		return track.SystemPath, true
	case libraryFolders, languageFolders:
		return "/usr/lib", true
	case nodeOptions, javaOptions, rubyOptions, goOptions, makeOptions:
		return "", true
	case CompilerCommand:
		return "cc", true
	}
	return "", false
}

// packageHosts are the usual sources of packages.
var packageHosts = []string{
	"pypi.org", "test.pypi.org", "files.pythonhosted.org", "pypi.python.org", "pypi.anaconda.org", "conda.anaconda.org", "download.pytorch.org", "pypi.nvidia.com", "registry.npmjs.org", "registry.yarnpkg.com",
	"npm.pkg.github.com", "npm.jsr.io", "rubygems.org", "proxy.golang.org", "sum.golang.org", "index.crates.io", "github.com", "cache.nixos.org", "storage.googleapis.com",
}

// KnownSource reports whether an address is a usual source of packages.
func KnownSource(address string) bool {
	return !lex.Dynamic(address) && (slices.Contains(packageHosts, program.Host(address)) || program.ThisMachine(program.Host(address)))
}

// ExportsFunction judges export -f: the shells that later commands start run the
// function in place of the program with its name.
func ExportsFunction(l *track.Line, c *syntax.DeclClause) {
	exports := false
	for _, a := range c.Args {
		switch {
		case a.Naked && a.Value != nil:
			exports = exports || strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "f") && c.Variant.Value == "export"
		case exports && a.Name != nil && slices.Contains(program.EverydayPrograms, a.Name.Value):
			l.Ask("environment", "lets a function run in place of "+a.Name.Value)
		}
	}
}
