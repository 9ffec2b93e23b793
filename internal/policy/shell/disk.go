package shell

import (
	"slices"
	"strings"
)

// formats judges programs that create file systems or wipe disks.
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
	j.ask("format", "creates a file system or changes a disk")
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
	case "format": // also the name of code formatters
		return !slices.ContainsFunc(rest, func(a string) bool { return drive(a) })
	}
	return false
}
