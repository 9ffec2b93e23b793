package shell

import (
	"slices"
	"strings"
)

// packageSources judges where software comes from: a new source for packages, or
// a package over a connection that anyone can change.
func (j *judge) packageSources(name string, rest []string) {
	if addsSource(name, rest) {
		j.ask("package-source", "adds a source from which software is installed")
	}
	if installsPackages(name) && slices.ContainsFunc(rest, plainAddress) {
		j.ask("package-source", "installs software over a connection that is not protected")
	}
}

func addsSource(name string, rest []string) bool {
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "apt-key", "rpmkeys":
		return verb == "add" || verb == "adv" || hasLong(rest, "--import")
	case "rpm":
		return hasLong(rest, "--import")
	case "add-apt-repository", "apt-add-repository":
		return !certainShort(rest, "rL", "PSCUcpsk") && !hasLong(rest, "--remove") && !hasLong(rest, "--list") && (len(words) > 0 || hasShort(rest, "PSCU"))
	case "dnf", "yum", "zypper":
		return verb == "config-manager" && (hasLong(rest, "--add-repo") || slices.Contains(words, "addrepo")) || verb == "ar" || verb == "addrepo"
	case "flatpak":
		return verb == "remote-add"
	case "brew":
		return verb == "tap" && len(words) > 2
	case "snap":
		return verb == "install" && (hasLong(rest, "--dangerous") || hasLong(rest, "--devmode") || hasLong(rest, "--classic") && strings.HasSuffix(words[len(words)-1], ".snap"))
	case "pacman-key":
		return hasShort(rest, "ar") || hasLong(rest, "--add") || hasLong(rest, "--recv-keys") || hasLong(rest, "--lsign-key")
	case "nix-channel":
		return hasLong(rest, "--add")
	case "apt", "apt-get":
		return hasLong(rest, "--allow-unauthenticated") || hasLong(rest, "--force-yes") || strings.Contains(strings.Join(rest, " "), "AllowUnauthenticated") || strings.Contains(strings.Join(rest, " "), "AllowInsecure")
	}
	return false
}

func installsPackages(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "pip", "pipx", "uv", "npm", "pnpm", "yarn", "bun", "npx", "gem", "cargo", "dpkg", "rpm", "yum", "dnf", "zypper", "apt", "apt-get", "pacman", "apk", "brew", "conda", "mamba", "go", "easy_install", "luarocks", "cpan", "cpanm":
		return true
	}
	return false
}

// plainAddress reports whether an argument is an http address of another machine.
func plainAddress(a string) bool {
	_, rest, ok := strings.Cut(a, "http://")
	return ok && !thisMachine(rest)
}
