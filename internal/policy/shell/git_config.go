package shell

import (
	"slices"
	"strings"
)

// gitConfig judges git config: a setting may run a program whenever git is used.
func (j *judge) gitConfig(args []string) {
	for _, file := range optionValues(args, "-f", "--file") {
		j.write(file)
	}
	for _, reading := range []string{"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--unset", "--unset-all", "--remove-section", "--rename-section", "--edit", "-e"} {
		if slices.Contains(args, reading) {
			return
		}
	}
	words := wrapper{values: "ft", long: " --file --type --blob --default --comment --value --url "}.rest(args)
	if len(words) > 0 {
		switch words[0] {
		case "get", "list", "unset", "edit", "remove-section", "rename-section":
			return
		case "set":
			words = words[1:]
		}
	}
	if len(words) > 1 {
		j.gitSetting("git-config", words[0], words[1], nil)
	}
}

// gitSetting judges one setting. words is the command that it is given to; an
// alias in it is followed.
func (j *judge) gitSetting(key, name, value string, words []string) {
	name = strings.ToLower(name)
	section, _, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if section == "alias" && !dynamic(value) {
		j.gitAlias(value, words)
		return
	}
	if section == "remote" && (last == "url" || last == "pushurl") || last == "pushremote" && isAddress(value) {
		j.ask("git-remote", sendsElsewhere)
	}
	if dynamic(section) || dynamic(last) || settingRuns(name, section, last, value) {
		j.ask(key, "changes a git setting that decides what runs")
	}
}

// gitAlias judges what an alias is short for: another git command, or shell text.
func (j *judge) gitAlias(value string, words []string) {
	if text, ok := strings.CutPrefix(value, "!"); ok {
		j.ask("git-exec", gitRunsProgram)
		j.inSubshell(func() { j.script(text) })
		return
	}
	j.inSubshell(func() {
		j.script("git " + value)
		if len(words) > 1 {
			j.git(append(strings.Fields(value), words[1:]...))
		}
	})
}

// settingRuns reports whether a git setting makes git run a program that it would
// not run without it.
func settingRuns(name, section, last, value string) bool {
	switch {
	case section == "alias":
		return true
	case strings.Contains(value, "ext::") || strings.Contains(value, "fd::"):
		return true
	case value == "" || value == "/dev/null":
		return false
	case section == "pager" || last == "pager":
		return value != "true" && value != "false" && !harmlessCommand(pagerCommand, value)
	case last == "editor":
		return !harmlessCommand(editorCommand, value)
	case last == "sshcommand":
		return !harmlessCommand(sshCommand, value)
	case last == "fsmonitor":
		return value != "true" && value != "false"
	case section == "credential" && last == "helper":
		return !slices.Contains([]string{"cache", "store", "osxkeychain", "manager", "manager-core", "wincred", "libsecret"}, strings.Fields(value)[0])
	case last == "insteadof" || last == "pushinsteadof":
		return host(strings.TrimSuffix(strings.TrimPrefix(name, "url."), "."+last)) != host(value)
	case section == "protocol":
		return name == "protocol.allow" || strings.HasPrefix(name, "protocol.ext") || strings.HasPrefix(name, "protocol.fd")
	case section == "submodule" && last == "update":
		return strings.HasPrefix(value, "!") || dynamic(value)
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

// host returns the host of an address such as https://user@host/path or
// git@host:path.
func host(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.IndexAny(address, "/:"); i >= 0 {
		if at := strings.IndexByte(address, '@'); at > i {
			i = at + strings.IndexAny(address[at:]+"/", "/:")
		}
		address = address[:i]
	}
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}
