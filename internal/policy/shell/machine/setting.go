package machine

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

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
