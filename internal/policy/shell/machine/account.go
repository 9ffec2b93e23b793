package machine

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Accounts judges commands that change users, their rights, or who may log in.
func Accounts(l *track.Line, name string, rest []string) {
	words := getopt.PlainWords(rest)
	lower := strings.ToLower(strings.Join(rest, " "))
	found := false
	switch name {
	case "useradd", "usermod", "userdel", "groupadd", "groupmod", "groupdel", "adduser", "addgroup", "deluser", "delgroup", "chpasswd", "chgpasswd", "newusers", "gpasswd", "visudo",
		"vipw", "vigr", "chsh", "chfn", "sysadminctl", "smbpasswd", "new-localuser", "add-localgroupmember", "set-localuser", "newgidmap", "newuidmap", "grpconv", "pwunconv", "realm":
		found = !getopt.AsksHelp(rest)
	case "passwd":
		found = !getopt.HasShort(rest, "S") && !getopt.HasLong(rest, "--status") && !getopt.AsksHelp(rest)
	case "pw":
		found = len(words) > 0 && (strings.HasPrefix(words[0], "user") || strings.HasPrefix(words[0], "group"))
	case "dscl", "dseditgroup":
		found = slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "-create") || strings.HasPrefix(a, "-append") || strings.HasPrefix(a, "-delete") || strings.HasPrefix(a, "-passwd") || a == "-o"
		})
	case "net", "net1":
		found = len(words) > 0 && (words[0] == "user" || words[0] == "localgroup" || words[0] == "group" || words[0] == "accounts") && strings.Contains(lower, "/")
	case "ssh-copy-id":
		l.Ask("authorized-key", "lets a key log in on another machine")
	case "setcap":
		if !getopt.HasShort(rest, "v") {
			l.Ask("setuid", "gives a program more rights than the user who runs it")
		}
	case "setfacl", "chattr":
		l.Ask("file-rights", "changes who may use files")
	case "install":
		for _, mode := range getopt.OptionValues(rest, "--mode", "--mode") {
			Setuid(l, mode)
		}
		for option, mode := range getopt.ShortOptions(rest, getopt.CopyValues(name)) {
			if option == 'm' {
				Setuid(l, mode)
			}
		}
	}
	if found {
		l.Ask("user-account", "changes users, groups or passwords of this machine")
	}
}

// Setuid judges a mode with which a file runs with the rights of its owner.
func Setuid(l *track.Line, mode string) {
	found := program.IsOctal(mode) && len(mode) > 3 && (mode[len(mode)-4]-'0')&6 != 0
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		found = found || i >= 0 && strings.Contains(clause[i:], "s")
	}
	if found {
		l.Ask("setuid", "gives a program more rights than the user who runs it")
	}
}

// Sudo judges sudo's own options.
func Sudo(l *track.Line, own []string) {
	if getopt.HasShort(own, "SA") || getopt.HasLong(own, "--stdin") || getopt.HasLong(own, "--askpass") {
		l.Ask("sudo-password", "passes a password to sudo")
	}
}
