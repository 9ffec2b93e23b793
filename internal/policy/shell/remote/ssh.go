package remote

import (
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/track"
)

// sshValues are the short options of ssh that take a value.
const sshValues = "BbcDEeFIiJLlmOopQRSWw"

// SSHOptions judges options of ssh that run programs here, or let the other
// machine connect back. They may come after the host, too. more are short options
// with a value that ssh itself does not have. It returns the command for the other
// machine.
func SSHOptions(l *track.Line, run track.Runner, args []string, more string) (command []string) {
	valued := sshValues + more
	command = getopt.Wrapper{Values: valued, Words: 1}.Inner(args)
	for option, value := range getopt.ShortOptions(args[:len(args)-len(command)], valued) {
		sshOption(l, run, option, value)
	}
	return command
}

func sshOption(l *track.Line, run track.Runner, option byte, value string) {
	switch option {
	case 'R', 'w':
		l.Ask("remote-access", "opens this machine to other machines")
	case 'A':
		l.Ask("agent-forwarding", "lets the other machine log in elsewhere with this user's keys")
	case 'E':
		l.Write(value)
	case 'F':
		if value != "/dev/null" && value != "none" {
			l.Ask("option-exec", "uses settings that may run a program")
		}
	case 'I':
		l.Ask("option-exec", "loads a library into ssh")
	case 'o':
		SSHSetting(l, run, value)
	}
}

// SSHSetting judges the value of -o, which may run a program or let others in.
func SSHSetting(l *track.Line, run track.Runner, setting string) {
	name, value := setting, ""
	if i := strings.IndexAny(setting, "= "); i >= 0 {
		name, value = setting[:i], strings.TrimLeft(setting[i:], "= ")
	}
	switch name = strings.ToLower(name); {
	case name == "remoteforward" || name == "tunnel" && value != "no":
		l.Ask("remote-access", "opens this machine to other machines")
	case name == "forwardagent" && value != "no":
		sshOption(l, run, 'A', "")
	case name == "proxycommand" && (value == "none" || strings.HasPrefix(value, "ssh -W ")):
	case name == "permitlocalcommand", name == "proxyjump", name == "localforward", name == "dynamicforward", name == "sendenv", name == "setenv", name == "forwardagent":
	case !environ.HarmlessSSHOption(name):
		l.Ask("option-exec", "runs a program that an option names")
		l.InSubshell(func() { run.Script(value) })
	}
}
