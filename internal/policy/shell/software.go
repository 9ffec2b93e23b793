package shell

import "strings"

// packages judges the removal of installed software.
func (j *judge) packages(name string, rest []string) bool {
	words := plainWords(rest)
	verb, second := "", ""
	if len(words) > 0 {
		verb = words[0]
	}
	if len(words) > 1 {
		second = words[1]
	}
	found := false
	switch name {
	case "apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper", "snap", "flatpak", "port", "brew", "apk", "choco", "winget", "scoop", "gem", "cargo", "pip", "pip3", "pipx", "conda", "mamba", "pkg", "xbps-remove":
		switch verb {
		case "remove", "purge", "autoremove", "autopurge", "erase", "uninstall", "del", "rm", "delete":
			found = true
		}
	case "npm", "pnpm", "yarn":
		found = (hasShort(rest, "g") || hasLong(rest, "--global") || verb == "global") && (isRemoval(verb) || isRemoval(second))
	case "dpkg":
		found = hasShort(rest, "rP") || hasLong(rest, "--remove") || hasLong(rest, "--purge")
	case "rpm":
		found = hasShort(rest, "e") || hasLong(rest, "--erase")
	case "pacman", "yay", "paru":
		found = len(rest) > 0 && strings.HasPrefix(rest[0], "-R") || hasLong(rest, "--remove")
	case "emerge":
		found = hasShort(rest, "cC") || hasLong(rest, "--unmerge")
	case "nix-env":
		found = hasShort(rest, "e") || hasLong(rest, "--uninstall")
	default:
		return false
	}
	if found {
		j.ask("package-remove", "uninstalls software")
	}
	return true
}

func isRemoval(verb string) bool {
	return verb == "uninstall" || verb == "remove" || verb == "rm" || verb == "un" || verb == "r"
}
