package shell

import (
	"slices"
	"strings"
)

// formats judges programs that make file systems or wipe disks.
func (j *judge) formats(name string, rest []string) bool {
	maker := strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs")
	switch name {
	case "mke2fs", "mkdosfs", "mkntfs", "mkswap", "format", "format.com", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "gdisk", "parted", "hdparm", "cryptsetup", "diskpart", "format-volume", "clear-disk", "badblocks", "nvme":
		maker = true
	case "diskutil":
		for _, a := range rest {
			low := strings.ToLower(a)
			if strings.HasPrefix(low, "erase") || strings.HasPrefix(low, "zero") || strings.HasPrefix(low, "secureerase") || low == "partitiondisk" || low == "reformat" {
				j.refuse("format", "wipes or formats a disk")
			}
		}
		return true
	}
	if !maker {
		return false
	}
	if reads(name, rest) {
		return true
	}
	for _, a := range plainWords(rest) {
		if rawDevice(a) || drive(a) && len(a) <= 3 {
			j.refuse("format", "wipes or formats a disk")
			return true
		}
	}
	if name == "format-volume" || name == "clear-disk" {
		j.refuse("format", "wipes or formats a disk")
		return true
	}
	j.ask("format", "makes a file system or changes a disk")
	return true
}

// reads reports whether a disk tool only shows something.
func reads(name string, rest []string) bool {
	if len(rest) == 0 || hasLong(rest, "--help") || hasLong(rest, "--version") {
		return true
	}
	switch name {
	case "fdisk", "sfdisk", "parted":
		return hasShort(rest, "l") || hasLong(rest, "--list") || rest[len(rest)-1] == "print"
	case "sgdisk", "gdisk":
		return hasShort(rest, "p") || hasLong(rest, "--print")
	case "wipefs":
		return !hasShort(rest, "ao") && !hasLong(rest, "--all") && !hasLong(rest, "--offset")
	case "hdparm":
		return !strings.Contains(strings.Join(rest, " "), "secure-erase")
	case "cryptsetup":
		return !slices.Contains(rest, "luksFormat") && !slices.Contains(rest, "erase") && !slices.Contains(rest, "luksErase")
	case "nvme":
		return rest[0] != "format" && rest[0] != "sanitize"
	case "format": // the formatter of many a project
		return !slices.ContainsFunc(rest, func(a string) bool { return drive(a) })
	}
	return false
}

// stops judges what turns the machine off.
func (j *judge) stops(name string, rest []string) bool {
	const reason = "stops or restarts the machine"
	switch name {
	case "shutdown", "reboot", "halt", "poweroff", "stop-computer", "restart-computer":
		if !slices.ContainsFunc(rest, func(a string) bool {
			return a == "-c" || a == "-k" || a == "--help" || a == "--version" || a == "--show" || a == "-a" || a == "/a" || a == "/?"
		}) {
			j.refuse("shutdown", reason)
		}
	case "init", "telinit":
		if len(rest) > 0 && (rest[0] == "0" || rest[0] == "6") {
			j.refuse("shutdown", reason)
		}
	case "systemctl", "loginctl":
		words := plainWords(rest)
		if len(words) == 0 {
			return true
		}
		switch words[0] {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency", "exit":
			j.refuse("shutdown", reason)
		case "isolate", "start":
			for _, unit := range words[1:] {
				if strings.HasPrefix(unit, "reboot.target") || strings.HasPrefix(unit, "poweroff.target") || strings.HasPrefix(unit, "halt.target") || strings.HasPrefix(unit, "kexec.target") {
					j.refuse("shutdown", reason)
				}
			}
		}
		return name == "loginctl" || !stopsService(words[0])
	default:
		return false
	}
	return true
}

func stopsService(verb string) bool {
	switch strings.ToLower(verb) {
	case "stop", "restart", "disable", "mask", "kill", "try-restart", "reload-or-restart", "condrestart", "unload", "bootout", "remove", "delete", "kickstart", "force-reload":
		return true
	}
	return false
}

// services judges stopping and restarting of services.
func (j *judge) services(name string, rest []string) bool {
	words := plainWords(rest)
	verb := func(at int) bool { return at < len(words) && stopsService(words[at]) }
	found := false
	switch name {
	case "systemctl", "launchctl", "sc", "net", "supervisorctl", "pm2", "initctl":
		found = verb(0)
	case "service", "rc-service", "invoke-rc.d":
		found = verb(1)
	case "brew":
		if len(words) == 0 || words[0] != "services" {
			return false
		}
		found = verb(1)
	case "stop-service", "restart-service":
		found = true
	default:
		return false
	}
	if !found {
		return true
	}
	j.ask("service-stop", "stops or restarts a service")
	if strings.Contains(strings.ToLower(strings.Join(words, " ")), "hermes") {
		j.ask("self-terminate", "stops or restarts Hermes itself")
		if j.ground.Gateway {
			j.refuse("self-terminate", "stops the gateway that runs this very session")
		}
	}
	return true
}

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
		j.ask("package-remove", "removes installed software")
	}
	return true
}

func isRemoval(verb string) bool {
	return verb == "uninstall" || verb == "remove" || verb == "rm" || verb == "un" || verb == "r"
}

// containers judges docker and its kin: another daemon, stopping and removing,
// and commands inside.
func (j *judge) containers(name string, rest []string, s situation) bool {
	switch name {
	case "docker-compose", "podman-compose":
		rest = append([]string{"compose"}, rest...)
	case "kubectl", "oc":
		if i := slices.Index(rest, "--"); slices.Contains(rest, "exec") && i >= 0 {
			j.inside(rest[i+1:], s)
		}
		return true
	case "docker", "podman", "nerdctl":
	default:
		return false
	}
	words := wrapper{values: "Hclfp", long: " --host --context --config --log-level --url --connection --identity --root --tlscacert --tlscert --tlskey --file --project-name --project-directory --profile --env-file "}.inner(rest)
	own := rest[:len(rest)-len(words)]
	if hasShort(own, "H") || hasLong(own, "--host") || hasLong(own, "--context") || hasLong(own, "--url") || hasLong(own, "--connection") || hasShort(own, "c") && name == "docker" {
		j.ask("docker-daemon", "speaks to another container daemon")
	}
	if len(words) == 0 {
		return true
	}
	switch words[0] {
	case "context":
		if len(words) > 1 && (words[1] == "use" || words[1] == "rm" || words[1] == "update") {
			j.ask("docker-daemon", "switches to another container daemon")
		}
	case "exec":
		in := wrapper{values: "euw", long: " --env --env-file --user --workdir --detach-keys ", words: 1}.inner(words[1:])
		j.inside(in, s)
	case "compose":
		inner := wrapper{values: "fp", long: " --file --project-name --project-directory --profile --env-file "}.inner(words[1:])
		if len(inner) > 0 && stopsContainer(inner[0]) {
			j.ask("docker-lifecycle", "stops, restarts or removes containers")
		}
	default:
		if stopsContainer(words[0]) || len(words) > 1 && stopsContainer(words[1]) && isContainerNoun(words[0]) {
			j.ask("docker-lifecycle", "stops, restarts or removes containers")
		}
	}
	return true
}

// inside judges a command that runs in a container: its folders are others.
func (j *judge) inside(args []string, s situation) {
	j.apart(func() {
		j.dir = ""
		j.argv(args, s)
	})
}

func stopsContainer(verb string) bool {
	switch verb {
	case "stop", "kill", "rm", "rmi", "restart", "prune", "down", "remove":
		return true
	}
	return false
}

func isContainerNoun(word string) bool {
	switch word {
	case "container", "image", "volume", "network", "system", "builder", "pod", "machine", "stack", "service", "buildx":
		return true
	}
	return false
}
