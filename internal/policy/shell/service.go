package shell

import (
	"slices"
	"strings"
)

// stops judges commands that shut down or restart the machine.
func (j *judge) stops(name string, rest []string) bool {
	const reason = "shuts down or restarts the machine"
	switch name {
	case "shutdown", "reboot", "halt", "poweroff", "stop-computer", "restart-computer":
		if !slices.ContainsFunc(rest, func(a string) bool {
			return a == "-c" || a == "-k" || a == "--help" || a == "--version" || a == "--show" || a == "-a" || a == "/a" || a == "/?"
		}) {
			j.refuse("shutdown", reason)
		}
	case "init", "telinit":
		if len(rest) > 0 && (rest[0] == "0" || rest[0] == "6") {
			j.refuse("shutdown", reason)
		}
	case "systemctl", "loginctl":
		for _, words := range possibleCalls(rest) {
			if stopsMachine(words) {
				j.refuse("shutdown", reason)
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
			return name != unit && within("reboot poweroff halt kexec rescue emergency runlevel0 runlevel6", name)
		})
	}
	return false
}

// stopsAnyService reports whether a call may stop or restart a service. The verb
// comes after some words.
func stopsAnyService(rest []string, before int) bool {
	return slices.ContainsFunc(possibleCalls(rest), func(words []string) bool { return before < len(words) && stopsService(words[before]) })
}

func stopsService(verb string) bool {
	switch strings.ToLower(verb) {
	case "stop", "restart", "disable", "mask", "kill", "try-restart", "reload-or-restart", "condrestart", "unload", "bootout", "remove", "delete", "kickstart", "force-reload":
		return true
	}
	return false
}

// services judges stopping and restarting of services.
func (j *judge) services(name string, rest []string) bool {
	words := plainWords(rest)
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
	j.ask("service-stop", "stops or restarts a service")
	if strings.Contains(strings.ToLower(strings.Join(words, " ")), "hermes") {
		j.ask("self-terminate", "stops or restarts Hermes itself")
		if j.context.Gateway {
			j.refuse("self-terminate", "stops the gateway that runs this session")
		}
	}
	return true
}
