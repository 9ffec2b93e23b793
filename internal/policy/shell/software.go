package shell

import "slices"

// packages judges the removal of installed software.
func (j *judge) packages(name string, rest []string) bool {
	found := false
	switch name {
	case "apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper", "snap", "flatpak", "port", "brew", "apk", "choco", "winget", "scoop", "gem", "cargo", "pip", "pip3", "pipx", "conda", "mamba", "pkg", "xbps-remove":
		found = slices.ContainsFunc(possibleCalls(rest), func(words []string) bool {
			return len(words) > 0 && within("remove purge autoremove autopurge erase uninstall del rm delete", words[0])
		})
	case "npm", "pnpm", "yarn":
		words := plainWords(rest)
		found = (hasShort(rest, "g") || hasLong(rest, "--global") || len(words) > 0 && words[0] == "global") && slices.ContainsFunc(words[:min(2, len(words))], isRemoval)
	case "dpkg":
		found = hasShort(rest, "rP") || hasLong(rest, "--remove") || hasLong(rest, "--purge")
	case "rpm":
		found = hasShort(rest, "e") || hasLong(rest, "--erase")
	case "pacman", "yay", "paru":
		found = hasShort(rest, "R") || hasLong(rest, "--remove")
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
