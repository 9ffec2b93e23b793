package vcs

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// SettingRuns reports whether a git setting makes git run a program that it would
// not run without it.
func SettingRuns(name, section, last, value string) bool {
	switch {
	case section == "alias":
		return true
	case strings.Contains(value, "ext::") || strings.Contains(value, "fd::"):
		return true
	case value == "" || value == "/dev/null":
		return false
	case section == "pager" || last == "pager":
		return value != "true" && value != "false" && !environ.HarmlessCommand(environ.PagerCommand, value)
	case last == "editor":
		return !environ.HarmlessCommand(environ.EditorCommand, value)
	case last == "sshcommand":
		return !environ.HarmlessCommand(environ.SshCommand, value)
	case last == "fsmonitor":
		return value != "true" && value != "false"
	case section == "credential" && last == "helper":
		return !slices.Contains([]string{"cache", "store", "osxkeychain", "manager", "manager-core", "wincred", "libsecret"}, strings.Fields(value)[0])
	case last == "insteadof" || last == "pushinsteadof":
		return program.Host(strings.TrimSuffix(strings.TrimPrefix(name, "url."), "."+last)) != program.Host(value)
	case section == "protocol":
		return name == "protocol.allow" || strings.HasPrefix(name, "protocol.ext") || strings.HasPrefix(name, "protocol.fd")
	case section == "submodule" && last == "update":
		return strings.HasPrefix(value, "!") || lex.Dynamic(value)
	case last == "program":
		return !slices.Contains([]string{"gpg", "gpg2", "gpgsm", "ssh-keygen", "op-ssh-sign"}, value)
	}
	return slices.Contains(runningSections, section) || slices.Contains(runningSettings, last)
}

// runningSections are sections of git's settings that name programs or other
// files with settings.
var runningSections = []string{"include", "includeif", "filter", "hook", "guitool", "browser", "man", "instaweb", "web"}

// runningSettings are last parts of settings whose value is a program, or a
// folder with programs.
var runningSettings = []string{
	"hookspath", "askpass", "gitproxy", "alternaterefscommand", "external", "textconv", "command", "cmd", "driver", "difffilter", "templatedir", "uploadpack", "receivepack",
	"vcs", "tunnel", "packobjectshook", "smtpserver", "sendmailcmd", "tocmd", "cccmd", "headercmd", "defaultkeycommand", "helper", "execpath", "httpd",
}
