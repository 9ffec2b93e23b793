package machine

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Packages judges the removal of installed software. It reports false for programs that
// install none.
func Packages(l *track.Line, name string, rest []string) bool {
	found, known := false, true
	switch t := removals(); {
	case lex.Within("apt apt-get aptitude yum dnf microdnf zypper snap flatpak port brew apk choco winget scoop gem cargo pip pip3 pipx conda mamba pkg xbps-remove", name):
		found = slices.ContainsFunc(getopt.PossibleCalls(rest), func(words []string) bool {
			return lex.Within("remove purge autoremove autopurge erase uninstall del rm delete", getopt.At(words, 0))
		})
	default:
		_, known = t[name]
		found = t.Has(name, rest)
	}
	if found {
		l.Ask("package-remove", "uninstalls software")
	}
	return known
}

var removals = sync.OnceValue(func() getopt.Table {
	const verbs = "=uninstall,remove,rm,un,r"
	return getopt.NewTable(`
		npm pnpm yarn: -g&0` + verbs + ` -g&1` + verbs + ` --global&0` + verbs + ` --global&1` + verbs + ` 0=global&1` + verbs + `
		dpkg: -rP --remove --purge
		rpm: -e --erase
		pacman yay paru: -R --remove
		emerge: -cC --unmerge
		nix-env: -e --uninstall`)
})

// PackageSources judges where software comes from: a new source for packages, or
// a package over a connection that anyone can change.
func PackageSources(l *track.Line, name string, rest []string) {
	addsSource(l, name, rest)
	if installsPackages(name) && slices.ContainsFunc(rest, program.PlainAddress) {
		l.Ask("package-source", "installs software over a connection that is not protected")
	}
}

var addsSource = track.Rules(track.Rule{Key: "package-source", Reason: "adds a source from which software is installed", Calls: `
	apt-key rpmkeys: 0=add,adv --import
	rpm: --import
	add-apt-repository apt-add-repository: !-rL/PSCUcpsk&!--remove&!--list&0 !-rL/PSCUcpsk&!--remove&!--list&-PSCU
	dnf yum zypper: 0=config-manager&--add-repo 0=config-manager&any=addrepo 0=ar,addrepo
	flatpak: 0=remote-add
	brew: 0=tap&2
	snap: 0=install&--dangerous 0=install&--devmode 0=install&--classic&last=*.snap
	pacman-key: -ar --add --recv-keys --lsign-key
	nix-channel: --add
	apt apt-get: --allow-unauthenticated --force-yes has=AllowUnauthenticated has=AllowInsecure`})

func installsPackages(name string) bool {
	return lex.Within("pip pipx uv npm pnpm yarn bun npx gem cargo dpkg rpm yum dnf zypper apt apt-get pacman apk brew conda mamba go easy_install luarocks cpan cpanm", strings.TrimRight(name, "0123456789."))
}
