package files

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

const emptiesFiles = "empties files"

// Loses judges commands other than rm -r that lose the content of files.
func Loses(l *track.Line, name string, rest []string, s track.Situation) {
	words := getopt.PlainWords(rest)
	switch name {
	case "rm", "grm", "srm", "unlink", "shred", "trash-rm":
		if recursive := getopt.HasShort(rest, "rR") || getopt.HasLong(rest, "--recursive"); recursive {
			return // asks anyway
		}
		for _, w := range words {
			if p, ok := l.Absolute(w); !ok || !track.OfSystem(p) {
				losesOutside(l, w)
			}
		}
	case "mv", "gmv", "move":
		movesAway(l, rest)
	case "truncate":
		if size := getopt.OptionValues(rest, "-s", "--size"); slices.Contains(size, "0") || slices.Contains(rest, "-s0") {
			emptiesAll(l, slices.DeleteFunc(getopt.PlainWords(getopt.WithoutValues(rest, "sr")), func(w string) bool { return w == "0" }))
		}
	case "sed", "gsed":
		if (getopt.HasShort(rest, "i") || getopt.HasLong(rest, "--in-place")) && slices.ContainsFunc(code.SedScripts(rest), code.Blanks) {
			l.Ask("empties-files", emptiesFiles)
		}
	case "vi", "vim", "nvim", "ex", "ed":
		if slices.ContainsFunc(editorCommands(rest, s.In), code.Blanks) {
			l.Ask("empties-files", emptiesFiles)
		}
	}
	if deletesSources(name, rest) {
		l.Ask("delete-sources", "deletes the files that it reads")
	}
	copiesNothing(l, name, rest)
	if (name == "tee" || name == "sponge") && s.In.Known && s.In.Text == "" && !getopt.HasShort(rest, "a") {
		emptiesAll(l, words)
	}
}

// losesOutside judges the loss of a file that is not in the folder in which the
// line runs, and that neither is temporary nor was written by the line.
func losesOutside(l *track.Line, file string) {
	if _, ok := l.Written(file); ok || l.Owns(file) {
		return
	}
	l.Ask("delete-outside", "deletes or empties files outside of the current folder")
}

// movesAway judges files that mv takes from one place outside of the current
// folder to another.
func movesAway(l *track.Line, rest []string) {
	target, sources, _ := getopt.Copied(rest, getopt.CopyValues("mv"))
	if p, ok := l.Absolute(target); !ok || !track.Temporary(p) && l.Owns(target) {
		return
	}
	for _, source := range sources {
		losesOutside(l, source)
	}
}

// emptiesFile judges a file that a command leaves without content. Which one it
// is has to be known, so that a pattern is not enough; logs and a file that the
// line wrote may lose theirs.
func emptiesFile(l *track.Line, file string) {
	if lex.Dynamic(file) || strings.ContainsAny(file, "*?[") && !track.IsLog(file) && !track.Temporary(file) {
		l.Ask("empties-files", "empties files that are only known at run time")
		return
	}
	losesOutside(l, file)
}

// emptiesAll judges files that a command names in order to empty them.
func emptiesAll(l *track.Line, files []string) {
	for _, f := range files {
		emptiesFile(l, f)
		p, ok := l.Absolute(f)
		if _, wrote := l.Written(f); !ok || wrote || track.Temporary(p) || track.InFolder(p, "/dev") || track.IsLog(f) {
			continue
		}
		l.Ask("empties-files", emptiesFiles)
	}
}

// copiesNothing judges programs that write what they read from /dev/null to a file.
func copiesNothing(l *track.Line, name string, rest []string) {
	i := slices.Index(rest, "/dev/null")
	if i < 0 || i > 0 && program.NamesOutput(rest[i-1]) || program.IsCompiler(name) {
		return
	}
	switch words := getopt.PlainWords(rest); name {
	case "cp", "gcp", "mv", "gmv", "install", "rsync", "uniq":
		if len(words) > 1 && words[0] == "/dev/null" {
			emptiesAll(l, words[1:])
		}
	case "curl", "wget":
	default:
		emptiesAll(l, getopt.OptionValues(rest, "-o", "--output"))
	}
}

// deletesSources reports whether an archiver or a copier deletes the files that it
// has read.
func deletesSources(name string, rest []string) bool {
	switch name {
	case "tar", "gtar", "bsdtar":
		return getopt.HasLong(rest, "--remove-files")
	case "zip":
		return getopt.HasShort(rest, "m") || getopt.HasLong(rest, "--move")
	case "rar":
		words := getopt.PlainWords(rest)
		return len(words) > 0 && words[0] == "m" || slices.Contains(rest, "-df")
	case "7z", "7za", "7zr", "7zz":
		return slices.Contains(rest, "-sdel")
	}
	return slices.ContainsFunc(rest, func(a string) bool {
		return strings.HasPrefix(a, "--remove-source") || strings.HasPrefix(a, "--delete-source") || a == "--remove-files"
	})
}

// editorCommands returns the commands that a line editor gets as options or as its
// input.
func editorCommands(rest []string, in track.Input) []string {
	var all []string
	for i, a := range rest {
		switch {
		case strings.HasPrefix(a, "+"):
			all = append(all, a[1:])
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && a[len(a)-1] == 'c' && i+1 < len(rest):
			all = append(all, rest[i+1])
		}
	}
	if in.Known {
		all = append(all, strings.Split(in.Text, "\n")...)
	}
	for i, text := range all { // % is every line; what follows | is another command
		text, _, _ = strings.Cut(strings.TrimLeft(text, ": "), "|")
		all[i] = "#" // an address is needed: without one, only one line changes
		for _, every := range []string{"%", ",", "1,$", "0,$"} {
			if command, ok := strings.CutPrefix(text, every); ok {
				all[i] = command
			}
		}
	}
	return all
}

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
	target, sources, _ := getopt.Copied(rest, getopt.CopyValues(name))
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
		l.Refuse("delete-root", track.DeletesRoot)
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
