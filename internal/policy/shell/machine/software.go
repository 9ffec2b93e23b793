package machine

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Packages judges the removal of installed software.
func Packages(l *track.Line, name string, rest []string) bool {
	found := false
	switch name {
	case "apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper", "snap", "flatpak", "port", "brew", "apk", "choco", "winget", "scoop", "gem", "cargo", "pip", "pip3", "pipx", "conda", "mamba", "pkg", "xbps-remove":
		found = slices.ContainsFunc(getopt.PossibleCalls(rest), func(words []string) bool {
			return len(words) > 0 && lex.Within("remove purge autoremove autopurge erase uninstall del rm delete", words[0])
		})
	case "npm", "pnpm", "yarn":
		words := getopt.PlainWords(rest)
		found = (getopt.HasShort(rest, "g") || getopt.HasLong(rest, "--global") || len(words) > 0 && words[0] == "global") && slices.ContainsFunc(words[:min(2, len(words))], isRemoval)
	case "dpkg":
		found = getopt.HasShort(rest, "rP") || getopt.HasLong(rest, "--remove") || getopt.HasLong(rest, "--purge")
	case "rpm":
		found = getopt.HasShort(rest, "e") || getopt.HasLong(rest, "--erase")
	case "pacman", "yay", "paru":
		found = getopt.HasShort(rest, "R") || getopt.HasLong(rest, "--remove")
	case "emerge":
		found = getopt.HasShort(rest, "cC") || getopt.HasLong(rest, "--unmerge")
	case "nix-env":
		found = getopt.HasShort(rest, "e") || getopt.HasLong(rest, "--uninstall")
	default:
		return false
	}
	if found {
		l.Ask("package-remove", "uninstalls software")
	}
	return true
}

func isRemoval(verb string) bool {
	return verb == "uninstall" || verb == "remove" || verb == "rm" || verb == "un" || verb == "r"
}

// PackageSources judges where software comes from: a new source for packages, or
// a package over a connection that anyone can change.
func PackageSources(l *track.Line, name string, rest []string) {
	if addsSource(name, rest) {
		l.Ask("package-source", "adds a source from which software is installed")
	}
	if installsPackages(name) && slices.ContainsFunc(rest, program.PlainAddress) {
		l.Ask("package-source", "installs software over a connection that is not protected")
	}
}

func addsSource(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	verb := getopt.At(words, 0)
	switch name {
	case "apt-key", "rpmkeys":
		return verb == "add" || verb == "adv" || getopt.HasLong(rest, "--import")
	case "rpm":
		return getopt.HasLong(rest, "--import")
	case "add-apt-repository", "apt-add-repository":
		return !getopt.CertainShort(rest, "rL", "PSCUcpsk") && !getopt.HasLong(rest, "--remove") && !getopt.HasLong(rest, "--list") && (len(words) > 0 || getopt.HasShort(rest, "PSCU"))
	case "dnf", "yum", "zypper":
		return verb == "config-manager" && (getopt.HasLong(rest, "--add-repo") || slices.Contains(words, "addrepo")) || verb == "ar" || verb == "addrepo"
	case "flatpak":
		return verb == "remote-add"
	case "brew":
		return verb == "tap" && len(words) > 2
	case "snap":
		return verb == "install" && (getopt.HasLong(rest, "--dangerous") || getopt.HasLong(rest, "--devmode") || getopt.HasLong(rest, "--classic") && strings.HasSuffix(words[len(words)-1], ".snap"))
	case "pacman-key":
		return getopt.HasShort(rest, "ar") || getopt.HasLong(rest, "--add") || getopt.HasLong(rest, "--recv-keys") || getopt.HasLong(rest, "--lsign-key")
	case "nix-channel":
		return getopt.HasLong(rest, "--add")
	case "apt", "apt-get":
		return getopt.HasLong(rest, "--allow-unauthenticated") || getopt.HasLong(rest, "--force-yes") || strings.Contains(strings.Join(rest, " "), "AllowUnauthenticated") || strings.Contains(strings.Join(rest, " "), "AllowInsecure")
	}
	return false
}

func installsPackages(name string) bool {
	return lex.Within("pip pipx uv npm pnpm yarn bun npx gem cargo dpkg rpm yum dnf zypper apt apt-get pacman apk brew conda mamba go easy_install luarocks cpan cpanm", strings.TrimRight(name, "0123456789."))
}
