package shell

import (
	"slices"
	"strings"
)

// accounts judges commands that change users, their rights, or who may log in.
func (j *judge) accounts(name string, rest []string) {
	words := plainWords(rest)
	lower := strings.ToLower(strings.Join(rest, " "))
	found := false
	switch name {
	case "useradd", "usermod", "userdel", "groupadd", "groupmod", "groupdel", "adduser", "addgroup", "deluser", "delgroup", "chpasswd", "chgpasswd", "newusers", "gpasswd", "visudo",
		"vipw", "vigr", "chsh", "chfn", "sysadminctl", "smbpasswd", "new-localuser", "add-localgroupmember", "set-localuser", "newgidmap", "newuidmap", "grpconv", "pwunconv", "realm":
		found = !asksHelp(rest)
	case "passwd":
		found = !hasShort(rest, "S") && !hasLong(rest, "--status") && !asksHelp(rest)
	case "pw":
		found = len(words) > 0 && (strings.HasPrefix(words[0], "user") || strings.HasPrefix(words[0], "group"))
	case "dscl", "dseditgroup":
		found = slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "-create") || strings.HasPrefix(a, "-append") || strings.HasPrefix(a, "-delete") || strings.HasPrefix(a, "-passwd") || a == "-o"
		})
	case "net", "net1":
		found = len(words) > 0 && (words[0] == "user" || words[0] == "localgroup" || words[0] == "group" || words[0] == "accounts") && strings.Contains(lower, "/")
	case "ssh-copy-id":
		j.ask("authorized-key", "lets a key log in on another machine")
	case "setcap":
		if !hasShort(rest, "v") {
			j.ask("setuid", "gives a program more rights than the user who runs it")
		}
	case "setfacl", "chattr":
		j.ask("file-rights", "changes who may use files")
	case "install":
		for _, mode := range optionValues(rest, "--mode", "--mode") {
			j.setuid(mode)
		}
		for option, mode := range shortOptions(rest, copyValues(name)) {
			if option == 'm' {
				j.setuid(mode)
			}
		}
	}
	if found {
		j.ask("user-account", "changes users, groups or passwords of this machine")
	}
}

// setuid judges a mode with which a file runs with the rights of its owner.
func (j *judge) setuid(mode string) {
	found := isOctal(mode) && len(mode) > 3 && (mode[len(mode)-4]-'0')&6 != 0
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		found = found || i >= 0 && strings.Contains(clause[i:], "s")
	}
	if found {
		j.ask("setuid", "gives a program more rights than the user who runs it")
	}
}
