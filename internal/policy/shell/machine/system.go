// Package machine judges commands that change this machine: users, disks, services,
// processes, software, logs, and what runs later. Each file is one kind of danger.
package machine

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// System judges commands that change the kernel, mounts, volumes and what
// protects the machine.
func System(l *track.Line, name string, rest []string) {
	if deletesVolume(name, rest) {
		l.Ask("volume-delete", "deletes a volume, a file system or a snapshot")
	}
	if weakens(name, rest) {
		l.Ask("protection", "changes what protects this machine, such as its firewall")
	}
	words := getopt.PlainWords(rest)
	switch name {
	case "insmod", "modprobe", "rmmod", "kexec", "kmod", "kldload", "kldunload", "kextload", "kextunload":
		if len(words) > 0 {
			l.Ask("kernel", "changes the running kernel")
		}
	case "sysctl":
		if getopt.HasShort(rest, "wpf") || getopt.HasLong(rest, "--write") || getopt.HasLong(rest, "--load") || getopt.HasLong(rest, "--system") || slices.ContainsFunc(words, func(a string) bool { return strings.Contains(a, "=") }) {
			l.Ask("kernel", "changes the running kernel")
		}
	case "busctl", "dbus-send", "gdbus", "qdbus", "qdbus6":
		if len(words) > 1 && !lex.Within("list status tree introspect monitor capture get-property wait", words[0]) {
			l.Ask("dbus-call", "tells a service of this machine to do something")
		}
	case "swapoff":
		l.Ask("kernel", "changes the running kernel")
	case "mount", "mount.cifs", "mount.nfs", "pivot_root", "switch_root":
		if len(words) > 0 {
			l.Ask("mount", "changes which file systems are in use")
		}
	case "mknod":
		if len(words) > 1 && words[1] != "p" {
			l.Ask("mount", "makes a device file")
		}
	}
}

func deletesVolume(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
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
		return getopt.HasLong(rest, "--zero-superblock") || getopt.HasLong(rest, "--stop") || getopt.HasLong(rest, "--remove") || getopt.HasLong(rest, "--fail") || getopt.HasShort(rest, "S")
	case "debugfs":
		return getopt.HasShort(rest, "w")
	case "dmsetup":
		return verb(0, "remove", "remove_all", "wipe_table", "clear")
	case "tmutil":
		return verb(0, "delete", "deletelocalsnapshots", "disable")
	case "vssadmin":
		return verb(0, "delete", "resize")
	case "snapper", "timeshift":
		return verb(0, "delete", "rollback", "undochange") || getopt.HasLong(rest, "--delete") || getopt.HasLong(rest, "--restore")
	}
	return false
}

// weakens reports whether a command changes a firewall, an access control or an
// audit.
func weakens(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	verb := getopt.At(words, 0)
	switch name {
	case "iptables", "ip6tables", "ebtables", "arptables":
		return len(rest) > 0 && !getopt.CertainShort(rest, "LSChV", "ADIRPNXEtpsdjgiowmMc") && !getopt.HasLong(rest, "--list") && !getopt.HasLong(rest, "--list-rules") && !getopt.HasLong(rest, "--version")
	case "iptables-restore", "ip6tables-restore", "setenforce", "csrutil", "aa-disable", "aa-complain", "aa-teardown":
		return verb != "status"
	case "nft":
		return verb != "" && verb != "list"
	case "ufw":
		return verb != "" && verb != "status" && verb != "show" && verb != "version"
	case "firewall-cmd":
		return !getopt.HasLong(rest, "--state") && !strings.Contains(strings.Join(rest, " "), "--list") && !strings.Contains(strings.Join(rest, " "), "--get")
	case "pfctl":
		return !getopt.CertainShort(rest, "s", "aDFfIiKkopTtxL")
	case "auditctl":
		return getopt.HasShort(rest, "DeWd")
	case "apparmor_parser":
		return getopt.HasShort(rest, "R")
	case "spctl":
		return strings.Contains(strings.Join(rest, " "), "disable")
	case "xattr":
		return getopt.HasShort(rest, "c") || getopt.HasShort(rest, "d") && strings.Contains(strings.Join(rest, " "), "quarantine")
	case "security":
		return slices.Contains([]string{"add-trusted-cert", "remove-trusted-cert", "delete-keychain", "delete-certificate", "delete-generic-password", "delete-internet-password", "unlock-keychain", "authorizationdb", "set-keychain-settings"}, verb)
	case "fdesetup":
		return verb != "" && verb != "status" && verb != "list" && verb != "isactive" && verb != "help"
	case "tccutil":
		return true
	case "trust":
		return verb == "anchor"
	case "mokutil":
		return getopt.HasLong(rest, "--disable-validation") || getopt.HasLong(rest, "--import") || getopt.HasLong(rest, "--reset") || getopt.HasLong(rest, "--delete")
	case "netsh":
		return strings.Contains(strings.ToLower(strings.Join(rest, " ")), "firewall")
	case "set-mppreference", "set-netfirewallprofile", "set-executionpolicy":
		return true
	}
	return false
}

// Machine judges commands that change the network, the clock, the name or the
// records of this machine, or fill its disk.
func Machine(l *track.Line, name string, rest []string) {
	if setsMachine(name, rest) {
		l.Ask("machine-settings", "changes settings of this machine, such as its network or its clock")
	}
	if erasesLogs(name, rest) {
		l.Ask("log-delete", "deletes records of what happened on this machine")
	}
	if fillsDisk(name, rest) {
		l.Ask("fill-disk", "may fill the disk")
	}
}

// setsMachine reports whether a command changes the network, the clock or the name
// of the machine.
func setsMachine(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch name {
	case "ip":
		return slices.ContainsFunc(words, func(w string) bool {
			return lex.Within("add del delete set change replace flush append up down attach exec", w)
		})
	case "ifconfig", "iwconfig":
		return len(words) > 1
	case "route", "arp", "tc", "brctl", "iw", "bridge":
		return slices.ContainsFunc(words, func(w string) bool {
			return lex.Within("add del delete change replace set connect flush addbr delbr", w)
		}) || getopt.HasShort(rest, "ds") && name == "arp"
	case "ethtool":
		return getopt.HasShort(rest, "sKEAGC")
	case "nmcli":
		return slices.ContainsFunc(words, func(w string) bool {
			return lex.Within("up down add modify delete connect disconnect off on edit import", w)
		})
	case "resolvectl", "systemd-resolve":
		return lex.Within("dns domain revert default-route dnssec dnsovertls llmnr mdns", at(0)) && len(words) > 1
	case "netplan":
		return at(0) == "apply" || at(0) == "set" || at(0) == "try"
	case "networksetup", "scutil", "systemsetup", "pmset", "nvram", "netsh":
		return slices.ContainsFunc(rest, func(a string) bool {
			low := strings.ToLower(strings.TrimLeft(a, "-/"))
			return strings.HasPrefix(low, "set") || low == "create" || low == "remove" || low == "add" || low == "delete" || low == "c" || low == "d"
		})
	case "hostnamectl", "timedatectl", "localectl", "ntpctl", "chronyc":
		return strings.HasPrefix(at(0), "set-") || at(0) == "hostname" && len(words) > 1 || at(0) == "makestep" || at(0) == "settime"
	case "systemctl":
		return at(0) == "set-property"
	case "hostname":
		return len(words) > 0 && !strings.HasPrefix(words[0], "-")
	case "date":
		return getopt.HasShort(rest, "s") || getopt.HasLong(rest, "--set")
	case "hwclock":
		return getopt.HasShort(rest, "sw") || getopt.HasLong(rest, "--set") || getopt.HasLong(rest, "--systohc") || getopt.HasLong(rest, "--hctosys")
	case "ntpdate", "sntp":
		return !getopt.HasShort(rest, "q")
	case "rfkill":
		return at(0) == "block"
	case "dconf", "gsettings":
		return at(0) == "reset" || at(0) == "write" && strings.Contains(strings.Join(rest, " "), "command") || at(0) == "set" && strings.Contains(strings.Join(rest, " "), "command")
	}
	return false
}

// erasesLogs reports whether a command deletes records.
func erasesLogs(name string, rest []string) bool {
	switch name {
	case "journalctl":
		return strings.Contains(strings.Join(rest, " "), "--vacuum") || getopt.HasLong(rest, "--rotate") || getopt.HasLong(rest, "--flush")
	case "logrotate":
		return getopt.HasShort(rest, "f") || getopt.HasLong(rest, "--force")
	case "wevtutil":
		return len(rest) > 0 && (rest[0] == "cl" || rest[0] == "clear-log")
	case "clear-eventlog", "utmpdump", "lastlog":
		return name == "clear-eventlog" || getopt.HasShort(rest, "rC") || getopt.HasLong(rest, "--clear")
	case "dmesg":
		return getopt.HasShort(rest, "cC") || getopt.HasLong(rest, "--clear") || getopt.HasLong(rest, "--read-clear")
	case "last", "faillog":
		return getopt.HasShort(rest, "r") && name == "faillog"
	}
	return false
}

// fillsDisk reports whether a command copies a source without an end, or makes a
// file of terabytes.
func fillsDisk(name string, rest []string) bool {
	endless := func(a string) bool {
		return a == "/dev/zero" || a == "/dev/urandom" || a == "/dev/random" || a == "/dev/full"
	}
	switch name {
	case "cp", "install":
		return slices.ContainsFunc(rest, endless)
	case "dd":
		from := slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "if=") && endless(a[3:]) })
		return from && !slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "count=") }) && slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "of=") && a != "of=/dev/null" })
	case "fallocate", "truncate", "mkfile":
		sizes := append(getopt.OptionValues(rest, "-l", "--length"), getopt.OptionValues(rest, "-s", "--size")...)
		if name == "mkfile" {
			sizes = getopt.PlainWords(rest)
		}
		return slices.ContainsFunc(sizes, func(v string) bool {
			v = strings.ToUpper(v)
			return strings.ContainsAny(v, "TPE") && strings.Trim(v, "+-0123456789TPEIB") == "" || len(strings.Trim(v, "+-GMKIB")) > 3 && strings.Contains(v, "G")
		})
	}
	return false
}
