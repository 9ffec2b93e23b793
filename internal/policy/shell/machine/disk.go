package machine

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

const (
	wipesDisk   = "wipes or formats a disk"
	changesDisk = "creates a file system or changes a disk"
)

// Formats judges programs that create file systems or wipe disks.
func Formats(l *track.Line, name string, rest []string) bool {
	if !program.IsDiskTool(name) {
		return false
	}
	if name == "diskutil" {
		for _, a := range rest {
			low := strings.ToLower(a)
			switch {
			case strings.HasPrefix(low, "erase"), strings.HasPrefix(low, "zero"), lex.Within("secureerase randomdisk partitiondisk reformat delete deletecontainer deletevolume deletevolumegroup", low):
				l.Refuse("format", wipesDisk)
			case strings.HasPrefix(low, "delete"), strings.HasPrefix(low, "resize"), lex.Within("splitpartition mergepartitions create createcontainer convert", low):
				l.Ask("format", changesDisk)
			}
		}
		return true
	}
	if reads(name, rest) {
		return true
	}
	if name == "format-volume" || name == "clear-disk" || slices.ContainsFunc(rest, namesDisk) {
		l.Refuse("format", wipesDisk)
		return true
	}
	l.Ask("format", changesDisk)
	return true
}

// namesDisk reports whether an argument is a disk, by its file, its drive or its
// label.
func namesDisk(a string) bool {
	if track.RawDevice(a) || program.Drive(a) && len(a) <= 3 {
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
	if len(rest) == 0 || getopt.AsksHelp(rest) {
		return true
	}
	words := getopt.PlainWords(rest)
	switch name {
	case "parted":
		return getopt.CertainShort(rest, "l", "a") || getopt.HasLong(rest, "--list") || len(words) > 1 && !slices.ContainsFunc(words[1:], func(w string) bool { return !lex.Within(partedShows, w) })
	case "gdisk", "tune2fs":
		return onlyOptions(rest, "-l")
	case "sgdisk":
		return onlyOptions(rest, "-p", "--print", "-i", "--info")
	case "hdparm", "sdparm":
		return !slices.ContainsFunc(rest, hdparmDestroys)
	case "cryptsetup":
		return !lex.Within("luksformat erase lukserase reencrypt lukskillslot luksremovekey luksheaderrestore format tcryptconvert", strings.ToLower(getopt.At(words, 0)))
	case "format": // also the name of code formatters
		return !slices.ContainsFunc(rest, program.Drive)
	}
	return shows().Has(name, rest)
}

var shows = sync.OnceValue(func() getopt.Table {
	return getopt.NewTable(`
		fdisk sfdisk: -ld/bcCHLNoOStuwWXY --list --dump
		partprobe: -d --dry-run
		wipefs: !-ao&!--all&!--offset
		nvme: !0=format,sanitize,delete-ns,detach-ns,create-ns,write,write-zeroes,write-uncor,dsm,fw-download,fw-commit,security-send,copy,admin-passthru,io-passthru
		badblocks debugfs: !-w
		mdadm: !--zero-superblock&!--create&!--remove&!--stop&!--fail&!--grow&!-CrfSG
		zpool: !0=create,destroy,labelclear,remove,detach,split,replace,export,offline,add,attach,reguid,upgrade
		zfs: !0=destroy,rollback,receive,recv,rename,promote,unload-key,change-key
		dmsetup: !0=remove,remove_all,wipe_table,clear,load,create,suspend
		efibootmgr: !-BbcoOnN&!--delete-bootnum&!--create
		flashrom: !-wE&!--write&!--erase`)
})

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
