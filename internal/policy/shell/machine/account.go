package machine

import (
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Accounts judges commands that change users, their rights, or who may log in.
func Accounts(l *track.Line, name string, rest []string) {
	changesAccounts(l, name, rest)
	if name != "install" {
		return
	}
	for _, mode := range getopt.OptionValues(rest, "--mode", "--mode") {
		Setuid(l, mode)
	}
	for option, mode := range getopt.ShortOptions(rest, getopt.CopyValues(name)) {
		if option == 'm' {
			Setuid(l, mode)
		}
	}
}

const givesRights = "gives a program more rights than the user who runs it"

var changesAccounts = track.Rules(
	track.Rule{Key: "user-account", Reason: "changes users, groups or passwords of this machine", Calls: `
		useradd usermod userdel groupadd groupmod groupdel adduser addgroup deluser delgroup chpasswd chgpasswd newusers gpasswd visudo vipw vigr chsh chfn sysadminctl smbpasswd: !help
		new-localuser add-localgroupmember set-localuser newgidmap newuidmap grpconv pwunconv realm: !help
		passwd: !-S&!--status&!help
		pw: 0=user*,group*
		dscl dseditgroup: arg=-create*,-append*,-delete*,-passwd*,-o
		net net1: 0=user,localgroup,group,accounts&has=/`},
	track.Rule{Key: "authorized-key", Reason: "lets a key log in on another machine", Calls: `
		ssh-copy-id: always`},
	track.Rule{Key: "setuid", Reason: givesRights, Calls: `
		setcap: !-v`},
	track.Rule{Key: "file-rights", Reason: "changes who may use files", Calls: `
		setfacl chattr: always`},
)

// Setuid judges a mode with which a file runs with the rights of its owner.
func Setuid(l *track.Line, mode string) {
	found := program.IsOctal(mode) && len(mode) > 3 && (mode[len(mode)-4]-'0')&6 != 0
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		found = found || i >= 0 && strings.Contains(clause[i:], "s")
	}
	if found {
		l.Ask("setuid", givesRights)
	}
}

// Sudo judges sudo's own options.
func Sudo(l *track.Line, own []string) {
	if getopt.HasShort(own, "SA") || getopt.HasLong(own, "--stdin") || getopt.HasLong(own, "--askpass") {
		l.Ask("sudo-password", "passes a password to sudo")
	}
}
