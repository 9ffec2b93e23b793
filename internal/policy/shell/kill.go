package shell

import (
	"slices"
	"strconv"
	"strings"
)

func (j *judge) kill(rest []string, s situation) {
	if len(rest) == 0 || hasShort(rest[:1], "lL") && !strings.ContainsAny(rest[0], "123456789") && rest[0] != "-ALRM" && len(rest[0]) == 2 || hasLong(rest[:1], "--list") || hasLong(rest[:1], "--table") {
		return
	}
	force, targets := killTargets(rest)
	for _, t := range targets {
		switch {
		case t == "-1" || t == "1":
			j.refuse("kill-all", "kills every process of the user or the machine")
		case strings.Contains(t, fromSearch) || s.in.pids:
			j.ask("kill-by-search", "kills all processes that a search finds")
		case j.context.PID > 0 && strings.TrimPrefix(t, "-") == strconv.Itoa(j.context.PID):
			j.ask("self-terminate", "stops Hermes itself")
		}
	}
	if force {
		j.ask("force-kill", "kills processes without letting them clean up")
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

func (j *judge) killByName(name string, rest []string) {
	if name == "killall5" {
		j.refuse("kill-all", "kills every process on the machine")
		return
	}
	if len(rest) == 0 || slices.ContainsFunc(rest, func(a string) bool {
		return a == "-l" || a == "-L" || a == "--list" || a == "-V" || a == "--version" || a == "--help"
	}) {
		return
	}
	words := plainWords(rest)
	for _, w := range words {
		low := strings.ToLower(w)
		if w == "." || w == ".*" || w == "" || w == "*" || w == "^" {
			j.refuse("kill-all", "kills every process that it can")
		}
		if strings.Contains(low, "hermes") || low == "gateway" {
			j.ask("self-terminate", "stops Hermes itself")
		}
	}
	for i, a := range rest {
		if isForce(strings.TrimPrefix(a, "-")) && a[0] == '-' || (a == "-s" || a == "--signal") && i+1 < len(rest) && isForce(rest[i+1]) {
			j.ask("force-kill", "kills processes without letting them clean up")
		}
		if name == "killall" && (a == "-r" || a == "--regexp") {
			j.ask("kill-regex", "kills all processes whose names match a pattern")
		}
	}
	j.ask("kill-by-name", "kills all processes with a name, not just the intended one")
}
