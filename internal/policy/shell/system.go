package shell

import (
	"slices"
	"strings"
)

// system judges commands that change the kernel, mounts, volumes and what
// protects the machine.
func (j *judge) system(name string, rest []string) {
	if deletesVolume(name, rest) {
		j.ask("volume-delete", "deletes a volume, a file system or a snapshot")
	}
	if weakens(name, rest) {
		j.ask("protection", "changes what protects this machine, such as its firewall")
	}
	words := plainWords(rest)
	switch name {
	case "insmod", "modprobe", "rmmod", "kexec", "kmod", "kldload", "kldunload", "kextload", "kextunload":
		if len(words) > 0 {
			j.ask("kernel", "changes the running kernel")
		}
	case "sysctl":
		if hasShort(rest, "wpf") || hasLong(rest, "--write") || hasLong(rest, "--load") || hasLong(rest, "--system") || slices.ContainsFunc(words, func(a string) bool { return strings.Contains(a, "=") }) {
			j.ask("kernel", "changes the running kernel")
		}
	case "busctl", "dbus-send", "gdbus", "qdbus", "qdbus6":
		if len(words) > 1 && !within("list status tree introspect monitor capture get-property wait", words[0]) {
			j.ask("dbus-call", "tells a service of this machine to do something")
		}
	case "swapoff":
		j.ask("kernel", "changes the running kernel")
	case "mount", "mount.cifs", "mount.nfs", "pivot_root", "switch_root":
		if len(words) > 0 {
			j.ask("mount", "changes which file systems are in use")
		}
	case "mknod":
		if len(words) > 1 && words[1] != "p" {
			j.ask("mount", "makes a device file")
		}
	}
}

func deletesVolume(name string, rest []string) bool {
	words := plainWords(rest)
	verb := func(at int, verbs ...string) bool { return at < len(words) && slices.Contains(verbs, words[at]) }
	switch name {
	case "zpool":
		return verb(0, "destroy", "labelclear", "create", "remove", "offline", "detach")
	case "zfs":
		return verb(0, "destroy", "rollback", "receive", "recv")
	case "btrfs":
		return verb(1, "delete", "remove") || verb(0, "restore")
	case "lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce", "lvresize":
		return true
	case "lvm":
		return len(words) > 0 && (strings.HasSuffix(words[0], "remove") || strings.HasSuffix(words[0], "reduce"))
	case "mdadm":
		return hasLong(rest, "--zero-superblock") || hasLong(rest, "--stop") || hasLong(rest, "--remove") || hasLong(rest, "--fail") || hasShort(rest, "S")
	case "debugfs":
		return hasShort(rest, "w")
	case "dmsetup":
		return verb(0, "remove", "remove_all", "wipe_table", "clear")
	case "tmutil":
		return verb(0, "delete", "deletelocalsnapshots", "disable")
	case "vssadmin":
		return verb(0, "delete", "resize")
	case "snapper", "timeshift":
		return verb(0, "delete", "rollback", "undochange") || hasLong(rest, "--delete") || hasLong(rest, "--restore")
	}
	return false
}

// weakens reports whether a command changes a firewall, an access control or an
// audit.
func weakens(name string, rest []string) bool {
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "iptables", "ip6tables", "ebtables", "arptables":
		return len(rest) > 0 && !certainShort(rest, "LSChV", "ADIRPNXEtpsdjgiowmMc") && !hasLong(rest, "--list") && !hasLong(rest, "--list-rules") && !hasLong(rest, "--version")
	case "iptables-restore", "ip6tables-restore", "setenforce", "csrutil", "aa-disable", "aa-complain", "aa-teardown":
		return verb != "status"
	case "nft":
		return verb != "" && verb != "list"
	case "ufw":
		return verb != "" && verb != "status" && verb != "show" && verb != "version"
	case "firewall-cmd":
		return !hasLong(rest, "--state") && !strings.Contains(strings.Join(rest, " "), "--list") && !strings.Contains(strings.Join(rest, " "), "--get")
	case "pfctl":
		return !certainShort(rest, "s", "aDFfIiKkopTtxL")
	case "auditctl":
		return hasShort(rest, "DeWd")
	case "apparmor_parser":
		return hasShort(rest, "R")
	case "spctl":
		return strings.Contains(strings.Join(rest, " "), "disable")
	case "xattr":
		return hasShort(rest, "c") || hasShort(rest, "d") && strings.Contains(strings.Join(rest, " "), "quarantine")
	case "security":
		return slices.Contains([]string{"add-trusted-cert", "remove-trusted-cert", "delete-keychain", "delete-certificate", "delete-generic-password", "delete-internet-password", "unlock-keychain", "authorizationdb", "set-keychain-settings"}, verb)
	case "fdesetup":
		return verb != "" && verb != "status" && verb != "list" && verb != "isactive" && verb != "help"
	case "tccutil":
		return true
	case "trust":
		return verb == "anchor"
	case "mokutil":
		return hasLong(rest, "--disable-validation") || hasLong(rest, "--import") || hasLong(rest, "--reset") || hasLong(rest, "--delete")
	case "netsh":
		return strings.Contains(strings.ToLower(strings.Join(rest, " ")), "firewall")
	case "set-mppreference", "set-netfirewallprofile", "set-executionpolicy":
		return true
	}
	return false
}
