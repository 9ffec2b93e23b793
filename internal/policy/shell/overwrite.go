package shell

import (
	"path"
	"slices"
	"strings"
)

// overwrites judges commands that empty, replace or delete files that the system
// needs to start, or users to log in.
func (j *judge) overwrites(name string, rest []string, s situation) {
	words := plainWords(rest)
	switch name {
	case "tee", "sponge":
		if !hasShort(rest, "a") && !hasLong(rest, "--append") {
			for _, f := range words {
				j.replacesFile(f, s.in.known && s.in.text == "")
			}
		}
	case "truncate":
		for _, f := range words {
			j.replacesFile(f, true)
		}
	case "cp", "mv", "install", "ln", "gcp", "gmv":
		j.overwritesByCopy(name, rest)
	case "dd":
		for _, a := range rest {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				j.replacesFile(f, slices.Contains(rest, "if=/dev/null"))
			}
		}
	case "rm", "grm", "srm", "unlink", "shred", "trash-rm":
		for _, f := range words {
			j.replacesFile(f, false)
		}
	}
}

func (j *judge) overwritesByCopy(name string, rest []string) {
	target, rest := targetFolder(withoutValues(rest, copyValues(name)))
	sources := plainWords(rest)
	if target == "" && len(sources) > 1 {
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	for _, source := range sources {
		j.replacesFile(target, source == "/dev/null")
		j.replacesFile(target+"/"+path.Base(source), source == "/dev/null")
		if name == "mv" || name == "gmv" {
			j.replacesFile(source, false)
		}
	}
}

// replacesFile judges a file whose content a command replaces, by nothing or by
// something else, or that it deletes.
func (j *judge) replacesFile(file string, empty bool) {
	if strings.Contains(file, fromVital[1:]) {
		j.refuse("delete-root", deletesRoot)
	}
	if empty {
		j.emptiesFile(file)
	}
	p, ok := j.absolute(file)
	if !ok {
		return
	}
	switch {
	case neededToStart(p):
		j.refuse("system-file", "replaces or deletes a file that the system needs to start or users to log in")
	case empty && (inFolder(p, "/etc") || inFolder(p, "/private/etc")):
		j.refuse("system-file", "empties a file in /etc")
	}
}

// neededToStart reports whether the system does not start, or users cannot log in,
// without a file.
func neededToStart(p string) bool {
	p = strings.TrimPrefix(strings.ToLower(p), "/private")
	if inFolder(p, "/boot") && p != "/boot" || inFolder(p, "/etc/pam.d") && p != "/etc/pam.d" {
		return true
	}
	name, ok := strings.CutPrefix(p, "/etc/")
	if !ok {
		return false
	}
	switch name {
	case "passwd", "shadow", "group", "gshadow", "master.passwd", "sudoers", "fstab", "crypttab", "inittab", "nsswitch.conf", "login.defs", "securetty", "shells", "pam.conf",
		"ld.so.conf", "ld.so.cache", "default/grub", "grub.conf", "lilo.conf", "mkinitcpio.conf", "dracut.conf", "rc.conf", "rc.local", "profile", "security/limits.conf", "ssh/sshd_config", "machine-id", "vfstab":
		return true
	}
	return false
}
