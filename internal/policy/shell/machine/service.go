package machine

import (
	"slices"
	"strconv"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// Stops judges commands that shut down or restart the machine.
func Stops(l *track.Line, name string, rest []string) bool {
	const reason = "shuts down or restarts the machine"
	switch name {
	case "shutdown", "reboot", "halt", "poweroff", "stop-computer", "restart-computer":
		if !slices.ContainsFunc(rest, func(a string) bool {
			return a == "-c" || a == "-k" || a == "--help" || a == "--version" || a == "--show" || a == "-a" || a == "/a" || a == "/?"
		}) {
			l.Refuse("shutdown", reason)
		}
	case "init", "telinit":
		if len(rest) > 0 && (rest[0] == "0" || rest[0] == "6") {
			l.Refuse("shutdown", reason)
		}
	case "systemctl", "loginctl":
		for _, words := range getopt.PossibleCalls(rest) {
			if stopsMachine(words) {
				l.Refuse("shutdown", reason)
			}
		}
		return name == "loginctl" || !stopsAnyService(rest, 0)
	default:
		return false
	}
	return true
}

// stopsMachine reports whether a call of systemctl or loginctl shuts down or
// restarts the machine.
func stopsMachine(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency", "exit":
		return true
	case "isolate", "start":
		return slices.ContainsFunc(words[1:], func(unit string) bool {
			name, _, _ := strings.Cut(unit, ".target")
			return name != unit && lex.Within("reboot poweroff halt kexec rescue emergency runlevel0 runlevel6", name)
		})
	}
	return false
}

// stopsAnyService reports whether a call may stop or restart a service. The verb
// comes after some words.
func stopsAnyService(rest []string, before int) bool {
	return slices.ContainsFunc(getopt.PossibleCalls(rest), func(words []string) bool { return before < len(words) && stopsService(words[before]) })
}

func stopsService(verb string) bool {
	switch strings.ToLower(verb) {
	case "stop", "restart", "disable", "mask", "kill", "try-restart", "reload-or-restart", "condrestart", "unload", "bootout", "remove", "delete", "kickstart", "force-reload":
		return true
	}
	return false
}

// Services judges stopping and restarting of services.
func Services(l *track.Line, name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	found := false
	switch name {
	case "systemctl", "launchctl", "sc", "net", "supervisorctl", "pm2", "initctl":
		found = stopsAnyService(rest, 0)
	case "service", "rc-service", "invoke-rc.d":
		found = stopsAnyService(rest, 1)
	case "brew":
		if len(words) == 0 || words[0] != "services" {
			return false
		}
		found = stopsAnyService(rest, 1)
	case "stop-service", "restart-service":
		found = true
	default:
		return false
	}
	if !found {
		return true
	}
	l.Ask("service-stop", "stops or restarts a service")
	if strings.Contains(strings.ToLower(strings.Join(words, " ")), "hermes") {
		l.Ask("self-terminate", "stops or restarts Hermes itself")
		if l.Context.Gateway {
			l.Refuse("self-terminate", "stops the gateway that runs this session")
		}
	}
	return true
}

// Kill judges kill.
func Kill(l *track.Line, rest []string, s track.Situation) {
	if len(rest) == 0 || getopt.HasShort(rest[:1], "lL") && !strings.ContainsAny(rest[0], "123456789") && rest[0] != "-ALRM" && len(rest[0]) == 2 || getopt.HasLong(rest[:1], "--list") || getopt.HasLong(rest[:1], "--table") {
		return
	}
	force, targets := killTargets(rest)
	for _, t := range targets {
		switch {
		case t == "-1" || t == "1":
			l.Refuse("kill-all", "kills every process of the user or the machine")
		case strings.Contains(t, lex.FromSearch) || s.In.Pids:
			l.Ask("kill-by-search", "kills all processes that a search finds")
		case l.Context.PID > 0 && strings.TrimPrefix(t, "-") == strconv.Itoa(l.Context.PID):
			l.Ask("self-terminate", "stops Hermes itself")
		}
	}
	if force {
		l.Ask("force-kill", "kills processes without letting them clean up")
	}
}

// killTargets splits the arguments of kill into the signal and the rest. The
// first word with a dash is a signal, a later one a process group.
func killTargets(rest []string) (force bool, targets []string) {
	signal := false
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			return force, append(targets, rest[i+1:]...)
		case !signal && (a == "-s" || a == "-n" || a == "--signal") && i+1 < len(rest):
			signal, force = true, isForce(rest[i+1])
			i++
		case !signal && len(a) > 1 && a[0] == '-' && len(targets) == 0:
			signal, force = true, isForce(strings.TrimPrefix(strings.TrimPrefix(a, "--signal="), "-"))
		default:
			targets = append(targets, a)
		}
	}
	return force, targets
}

func isForce(signal string) bool {
	signal = strings.TrimPrefix(strings.ToUpper(signal), "SIG")
	return signal == "9" || signal == "KILL" || signal == "S9" || signal == "SKILL"
}

// KillByName judges programs that end processes by their names.
func KillByName(l *track.Line, name string, rest []string) {
	if name == "killall5" {
		l.Refuse("kill-all", "kills every process on the machine")
		return
	}
	if len(rest) == 0 || slices.ContainsFunc(rest, func(a string) bool {
		return a == "-l" || a == "-L" || a == "--list" || a == "-V" || a == "--version" || a == "--help"
	}) {
		return
	}
	words := getopt.PlainWords(rest)
	for _, w := range words {
		low := strings.ToLower(w)
		if w == "." || w == ".*" || w == "" || w == "*" || w == "^" {
			l.Refuse("kill-all", "kills every process that it can")
		}
		if strings.Contains(low, "hermes") || low == "gateway" {
			l.Ask("self-terminate", "stops Hermes itself")
		}
	}
	for i, a := range rest {
		if isForce(strings.TrimPrefix(a, "-")) && a[0] == '-' || (a == "-s" || a == "--signal") && i+1 < len(rest) && isForce(rest[i+1]) {
			l.Ask("force-kill", "kills processes without letting them clean up")
		}
		if name == "killall" && (a == "-r" || a == "--regexp") {
			l.Ask("kill-regex", "kills all processes whose names match a pattern")
		}
	}
	l.Ask("kill-by-name", "kills all processes with a name, not just the intended one")
}
