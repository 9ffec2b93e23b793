package shell

import (
	"slices"
	"strings"
)

const (
	wipesDisk   = "wipes or formats a disk"
	changesDisk = "creates a file system or changes a disk"
)

// formats judges programs that create file systems or wipe disks.
func (j *judge) formats(name string, rest []string) bool {
	if !isDiskTool(name) {
		return false
	}
	if name == "diskutil" {
		for _, a := range rest {
			low := strings.ToLower(a)
			switch {
			case strings.HasPrefix(low, "erase"), strings.HasPrefix(low, "zero"), within("secureerase randomdisk partitiondisk reformat delete deletecontainer deletevolume deletevolumegroup", low):
				j.refuse("format", wipesDisk)
			case strings.HasPrefix(low, "delete"), strings.HasPrefix(low, "resize"), within("splitpartition mergepartitions create createcontainer convert", low):
				j.ask("format", changesDisk)
			}
		}
		return true
	}
	if reads(name, rest) {
		return true
	}
	if name == "format-volume" || name == "clear-disk" || slices.ContainsFunc(rest, namesDisk) {
		j.refuse("format", wipesDisk)
		return true
	}
	j.ask("format", changesDisk)
	return true
}

// isDiskTool reports whether a program creates file systems, or changes disks and
// their volumes.
func isDiskTool(name string) bool {
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return true
	}
	switch name {
	case "mke2fs", "mkdosfs", "mkntfs", "mkswap", "mkudffs", "format", "format.com", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "cfdisk", "gdisk", "cgdisk",
		"parted", "partprobe", "hdparm", "cryptsetup", "diskpart", "format-volume", "clear-disk", "diskutil", "badblocks", "nvme", "sg_format", "sg_sanitize", "sg_write_same", "scrub", "nwipe",
		"pvcreate", "pvremove", "vgremove", "vgreduce", "lvremove", "lvreduce", "mdadm", "zpool", "zfs", "dmsetup", "flashrom", "efibootmgr", "tune2fs", "resize2fs", "debugfs", "ntfsfix", "sdparm":
		return true
	}
	return false
}

// namesDisk reports whether an argument is a disk, by its file, its drive or its
// label.
func namesDisk(a string) bool {
	if rawDevice(a) || drive(a) && len(a) <= 3 {
		return true
	}
	for _, kind := range []string{"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="} {
		if strings.HasPrefix(a, kind) {
			return true
		}
	}
	return strings.HasPrefix(a, "/dev/") && !strings.HasPrefix(a, "/dev/shm/") && a != "/dev/null" && a != "/dev/zero" && a != "/dev/random" && a != "/dev/urandom"
}

// reads reports whether a disk tool only shows something, or changes nothing that
// is stored.
func reads(name string, rest []string) bool {
	if len(rest) == 0 || asksHelp(rest) {
		return true
	}
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "fdisk", "sfdisk":
		return certainShort(rest, "ld", "bcCHLNoOStuwWXY") || hasLong(rest, "--list") || hasLong(rest, "--dump")
	case "parted":
		return certainShort(rest, "l", "a") || hasLong(rest, "--list") || len(words) > 1 && !slices.ContainsFunc(words[1:], func(w string) bool { return !within(partedShows, w) })
	case "partprobe":
		return hasShort(rest, "d") || hasLong(rest, "--dry-run")
	case "gdisk":
		return onlyOptions(rest, "-l")
	case "sgdisk":
		return onlyOptions(rest, "-p", "--print", "-i", "--info")
	case "wipefs":
		return !hasShort(rest, "ao") && !hasLong(rest, "--all") && !hasLong(rest, "--offset")
	case "hdparm", "sdparm":
		return !slices.ContainsFunc(rest, hdparmDestroys)
	case "cryptsetup":
		return !slices.Contains([]string{"luksformat", "erase", "lukserase", "reencrypt", "lukskillslot", "luksremovekey", "luksheaderrestore", "format", "tcryptconvert"}, strings.ToLower(verb))
	case "nvme":
		return !slices.Contains([]string{"format", "sanitize", "delete-ns", "detach-ns", "create-ns", "write", "write-zeroes", "write-uncor", "dsm", "fw-download", "fw-commit", "security-send", "copy", "admin-passthru", "io-passthru"}, verb)
	case "format": // also the name of code formatters
		return !slices.ContainsFunc(rest, func(a string) bool { return drive(a) })
	case "badblocks":
		return !hasShort(rest, "w")
	case "mdadm":
		return !hasLong(rest, "--zero-superblock") && !hasLong(rest, "--create") && !hasLong(rest, "--remove") && !hasLong(rest, "--stop") && !hasLong(rest, "--fail") && !hasLong(rest, "--grow") && !hasShort(rest, "CrfSG")
	case "zpool":
		return !slices.Contains([]string{"create", "destroy", "labelclear", "remove", "detach", "split", "replace", "export", "offline", "add", "attach", "reguid", "upgrade"}, verb)
	case "zfs":
		return !slices.Contains([]string{"destroy", "rollback", "receive", "recv", "rename", "promote", "unload-key", "change-key"}, verb)
	case "dmsetup":
		return !slices.Contains([]string{"remove", "remove_all", "wipe_table", "clear", "load", "create", "suspend"}, verb)
	case "efibootmgr":
		return !hasShort(rest, "BbcoOnN") && !hasLong(rest, "--delete-bootnum") && !hasLong(rest, "--create")
	case "flashrom":
		return !hasShort(rest, "wE") && !hasLong(rest, "--write") && !hasLong(rest, "--erase")
	case "tune2fs":
		return onlyOptions(rest, "-l")
	case "debugfs":
		return !hasShort(rest, "w")
	}
	return false
}

// partedShows are the commands of parted that change nothing, with their arguments.
const partedShows = "print free unit s B kB MB GB TB KiB MiB GiB TiB % compact chs cyl help quit"

// onlyOptions reports whether there are options, and all are some of those, with
// or without a number.
func onlyOptions(rest []string, known ...string) bool {
	found := false
	for _, a := range rest {
		if strings.HasPrefix(a, "-") {
			if found = slices.Contains(known, strings.TrimRight(a, "=0123456789")); !found {
				return false
			}
		}
	}
	return found
}

// hdparmDestroys reports whether an option of hdparm destroys data or locks the
// disk.
func hdparmDestroys(a string) bool {
	for _, word := range []string{"erase", "security-set", "security-disable", "trim-sector", "write-sector", "make-bad", "repair-sector", "dco-", "fwdownload", "sanitize", "please-destroy"} {
		if strings.HasPrefix(a, "--") && strings.Contains(a, word) {
			return true
		}
	}
	return false
}
