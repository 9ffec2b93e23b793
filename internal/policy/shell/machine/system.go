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
var System = track.Rules(
	track.Rule{Key: "volume-delete", Reason: "deletes a volume, a file system or a snapshot", Calls: `
		zpool: 0=destroy,labelclear,create,remove,offline,detach
		zfs: 0=destroy,rollback,receive,recv
		btrfs: 1=delete,remove 0=restore
		lvremove vgremove pvremove lvreduce vgreduce lvresize: always
		lvm: 0=*remove,*reduce
		mdadm: --zero-superblock --stop --remove --fail -S
		debugfs: -w
		dmsetup: 0=remove,remove_all,wipe_table,clear
		tmutil: 0=delete,deletelocalsnapshots,disable
		vssadmin: 0=delete,resize
		snapper timeshift: 0=delete,rollback,undochange --delete --restore`},
	track.Rule{Key: "protection", Reason: "changes what protects this machine, such as its firewall", Calls: `
		iptables ip6tables ebtables arptables: args&!-LSChV/ADIRPNXEtpsdjgiowmMc&!--list&!--list-rules&!--version
		iptables-restore ip6tables-restore setenforce csrutil aa-disable aa-complain aa-teardown: !0=status
		nft: 0&!0=list,
		ufw: 0&!0=status,show,version,
		firewall-cmd: !--state&!has=--list&!has=--get
		pfctl: !-s/aDFfIiKkopTtxL
		auditctl: -DeWd
		apparmor_parser: -R
		spctl: has=disable
		xattr: -c -d&has=quarantine
		security: 0=add-trusted-cert,remove-trusted-cert,delete-keychain,delete-certificate,delete-generic-password,delete-internet-password,unlock-keychain,authorizationdb,set-keychain-settings
		fdesetup: 0&!0=status,list,isactive,help,
		tccutil set-mppreference set-netfirewallprofile set-executionpolicy: always
		trust: 0=anchor
		mokutil: --disable-validation --import --reset --delete
		netsh: text=firewall`},
	track.Rule{Key: "kernel", Reason: "changes the running kernel", Calls: `
		insmod modprobe rmmod kexec kmod kldload kldunload kextload kextunload: 0
		sysctl: -wpf --write --load --system any=*=*
		swapoff: always`},
	track.Rule{Key: "dbus-call", Reason: "tells a service of this machine to do something", Calls: `
		busctl dbus-send gdbus qdbus qdbus6: 1&!0=list,status,tree,introspect,monitor,capture,get-property,wait`},
	track.Rule{Key: "mount", Reason: "changes which file systems are in use", Calls: `
		mount mount.cifs mount.nfs pivot_root switch_root: 0`},
	track.Rule{Key: "mount", Reason: "makes a device file", Calls: `
		mknod: 1&!1=p`},
)

// Machine judges commands that change the network, the clock, the name or the
// records of this machine, or fill its disk.
func Machine(l *track.Line, name string, rest []string) {
	if changes(l, name, rest); setsPreference(name, rest) {
		l.Ask("machine-settings", setsMachine)
	}
	erases(l, name, rest)
	if fillsDisk(name, rest) {
		l.Ask("fill-disk", "may fill the disk")
	}
}

const setsMachine = "changes settings of this machine, such as its network or its clock"

var changes = track.Rules(track.Rule{Key: "machine-settings", Reason: setsMachine, Calls: `
	ip: any=add,del,delete,set,change,replace,flush,append,up,down,attach,exec
	ifconfig iwconfig: 1
	route tc brctl iw bridge: any=add,del,delete,change,replace,set,connect,flush,addbr,delbr
	arp: any=add,del,delete,change,replace,set,connect,flush,addbr,delbr -ds
	ethtool: -sKEAGC
	nmcli: any=up,down,add,modify,delete,connect,disconnect,off,on,edit,import
	resolvectl systemd-resolve: 1&0=dns,domain,revert,default-route,dnssec,dnsovertls,llmnr,mdns
	netplan: 0=apply,set,try
	hostnamectl timedatectl localectl ntpctl chronyc: 0=set-*,makestep,settime 1&0=hostname
	systemctl: 0=set-property
	hostname: 0&!0=-*
	date: -s --set
	hwclock: -sw --set --systohc --hctosys
	ntpdate sntp: !-q
	rfkill: 0=block
	dconf gsettings: 0=reset 0=write,set&has=command`})

// setsPreference reports whether a program that has many verbs changes a setting.
func setsPreference(name string, rest []string) bool {
	return lex.Within("networksetup scutil systemsetup pmset nvram netsh", name) && slices.ContainsFunc(rest, func(a string) bool {
		low := strings.ToLower(strings.TrimLeft(a, "-/"))
		return strings.HasPrefix(low, "set") || lex.Within("create remove add delete c d", low)
	})
}

var erases = track.Rules(track.Rule{Key: "log-delete", Reason: "deletes records of what happened on this machine", Calls: `
	journalctl: has=--vacuum --rotate --flush
	logrotate: -f --force
	wevtutil: arg0=cl,clear-log
	clear-eventlog: always
	utmpdump lastlog: -rC --clear
	dmesg: -cC --clear --read-clear
	faillog: -r`})

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
