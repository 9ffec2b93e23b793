package environ

import (
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// Assigned judges a variable that changes what later commands run.
func Assigned(l *track.Line, name, value string) {
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
	}
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
