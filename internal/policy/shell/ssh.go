package shell

import "strings"

// sshValues are the short options of ssh that take a value.
const sshValues = "BbcDEeFIiJLlmOopQRSWw"

// sshOptions judges options of ssh that run programs here, or let the other
// machine connect back. They may come after the host, too. It returns the command
// for the other machine.
func (j *judge) sshOptions(args []string, valued string) (command []string) {
	command = wrapper{values: valued, words: 1}.inner(args)
	for option, value := range shortOptions(args[:len(args)-len(command)], valued) {
		j.sshOption(option, value)
	}
	return command
}

func (j *judge) sshOption(option byte, value string) {
	switch option {
	case 'R', 'w':
		j.ask("remote-access", "opens this machine to other machines")
	case 'A':
		j.ask("agent-forwarding", "lets the other machine log in elsewhere with this user's keys")
	case 'E':
		j.write(value)
	case 'F':
		if value != "/dev/null" && value != "none" {
			j.ask("option-exec", "uses settings that may run a program")
		}
	case 'I':
		j.ask("option-exec", "loads a library into ssh")
	case 'o':
		j.sshSetting(value)
	}
}

func (j *judge) sshSetting(setting string) {
	name, value := setting, ""
	if i := strings.IndexAny(setting, "= "); i >= 0 {
		name, value = setting[:i], strings.TrimLeft(setting[i:], "= ")
	}
	switch name = strings.ToLower(name); {
	case name == "remoteforward" || name == "tunnel" && value != "no":
		j.ask("remote-access", "opens this machine to other machines")
	case name == "forwardagent" && value != "no":
		j.sshOption('A', "")
	case name == "proxycommand" && (value == "none" || strings.HasPrefix(value, "ssh -W ")):
	case name == "permitlocalcommand", name == "proxyjump", name == "localforward", name == "dynamicforward", name == "sendenv", name == "setenv", name == "forwardagent":
	case !harmlessSSHOption(name):
		j.ask("option-exec", "runs a program that an option names")
		j.inSubshell(func() { j.script(value) })
	}
}
