package files

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// Overwrites judges commands that empty, replace or delete files that the system
// needs to start, or users to log in.
func Overwrites(l *track.Line, name string, rest []string, s track.Situation) {
	words := getopt.PlainWords(rest)
	switch name {
	case "tee", "sponge":
		if !getopt.HasShort(rest, "a") && !getopt.HasLong(rest, "--append") {
			for _, f := range words {
				ReplacesFile(l, f, s.In.Known && s.In.Text == "")
			}
		}
	case "truncate":
		for _, f := range words {
			ReplacesFile(l, f, true)
		}
	case "cp", "mv", "install", "ln", "gcp", "gmv":
		overwritesByCopy(l, name, rest)
	case "dd":
		for _, a := range rest {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				ReplacesFile(l, f, slices.Contains(rest, "if=/dev/null"))
			}
		}
	case "rm", "grm", "srm", "unlink", "shred", "trash-rm":
		for _, f := range words {
			ReplacesFile(l, f, false)
		}
	}
}

func overwritesByCopy(l *track.Line, name string, rest []string) {
	target, rest := getopt.TargetFolder(getopt.WithoutValues(rest, getopt.CopyValues(name)))
	sources := getopt.PlainWords(rest)
	if target == "" && len(sources) > 1 {
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	for _, source := range sources {
		ReplacesFile(l, target, source == "/dev/null")
		ReplacesFile(l, target+"/"+path.Base(source), source == "/dev/null")
		if name == "mv" || name == "gmv" {
			ReplacesFile(l, source, false)
		}
	}
}

// ReplacesFile judges a file whose content a command replaces, by nothing or by
// something else, or that it deletes.
func ReplacesFile(l *track.Line, file string, empty bool) {
	if strings.Contains(file, lex.FromVital[1:]) {
		l.Refuse("delete-root", DeletesRoot)
	}
	if empty {
		emptiesFile(l, file)
	}
	p, ok := l.Absolute(file)
	if !ok {
		return
	}
	switch {
	case neededToStart(p):
		l.Refuse("system-file", "replaces or deletes a file that the system needs to start or users to log in")
	case empty && (track.InFolder(p, "/etc") || track.InFolder(p, "/private/etc")):
		l.Refuse("system-file", "empties a file in /etc")
	}
}

// neededToStart reports whether the system does not start, or users cannot log in,
// without a file.
func neededToStart(p string) bool {
	p = strings.TrimPrefix(strings.ToLower(p), "/private")
	if track.InFolder(p, "/boot") && p != "/boot" || track.InFolder(p, "/etc/pam.d") && p != "/etc/pam.d" {
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
