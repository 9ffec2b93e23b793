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
		words := plainWords(rest)
		if len(words) == 0 {
			return true
		}
		switch words[0] {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency", "exit":
			j.refuse("shutdown", reason)
		case "isolate", "start":
			for _, unit := range words[1:] {
				if strings.HasPrefix(unit, "reboot.target") || strings.HasPrefix(unit, "poweroff.target") || strings.HasPrefix(unit, "halt.target") || strings.HasPrefix(unit, "kexec.target") || strings.HasPrefix(unit, "rescue.target") || strings.HasPrefix(unit, "emergency.target") || unit == "runlevel0.target" || unit == "runlevel6.target" {
					j.refuse("shutdown", reason)
				}
			}
		}
		return name == "loginctl" || !stopsService(words[0])
	default:
		return false
	}
	return true
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
	verb := func(at int) bool { return at < len(words) && stopsService(words[at]) }
	found := false
	switch name {
	case "systemctl", "launchctl", "sc", "net", "supervisorctl", "pm2", "initctl":
		found = verb(0)
	case "service", "rc-service", "invoke-rc.d":
		found = verb(1)
	case "brew":
		if len(words) == 0 || words[0] != "services" {
			return false
		}
		found = verb(1)
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
