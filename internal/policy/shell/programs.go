package shell

import (
	"slices"
	"strings"
	"sync"
)

// onlyReads reports whether a program only reads the files that it names, with
// these arguments. Programs whose writes have rules of their own count, too.
func onlyReads(name string, rest []string) bool {
	if writing, known := justReads()[name]; known {
		return !hasOption(name, rest, strings.Fields(writing))
	}
	if isDiskTool(name) {
		return true
	}
	switch name {
	case "uniq", "xxd":
		return len(plainWords(rest)) < 2 && !hasShort(rest, "r")
	case "yq":
		return !hasShort(rest, "i") && !hasLong(rest, "--inplace")
	case "kubectl", "oc", "helm":
		return !slices.Contains(rest, "cp")
	case "gh", "glab":
		return !hasShort(rest, "OD") && !hasLong(rest, "--output") && !hasLong(rest, "--dir") && !slices.Contains(plainWords(rest), "clone")
	case "openssl":
		return !slices.ContainsFunc(rest, func(w string) bool { return strings.Contains(w, "out") })
	}
	return false
}

// justReads maps programs that only read the files they name, or that name none,
// to the options with which they write. Programs with rules of their own about
// what they write are here, too.
var justReads = sync.OnceValue(func() map[string]string {
	all := map[string]string{
		"sort": "-o --output", "tree": "-o", "file": "-C --compile", "sdiff": "-o --output", "xmllint": "-o --output", "shfmt": "-w", "jq": "",
		"tee": "", "sponge": "", "truncate": "", "dd": "", "rm": "", "grm": "", "srm": "", "unlink": "", "shred": "", "curl": "", "wget": "",
		"bat": "", "less": "-o -O", "rg": "", "objdump": "", "strings": "",
	}
	for name := range strings.FieldsSeq(`cat more most batcat head tail tac nl wc grep egrep fgrep zgrep zegrep ag ack ls dir vdir exa eza lsd stat du df
		md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum diff colordiff cmp comm cut tr paste join column fold fmt pr expand unexpand
		rev look od hexdump hd nm readelf ldd size zcat bzcat xzcat zless find gfind fd fdfind locate
		echo printf true false test [ [[ : type which whereis hash pwd basename dirname realpath readlink date id whoami uname hostname printenv
		cd pushd popd dirs source . alias unalias unset export declare local readonly typeset set shopt ulimit umask wait jobs fg bg disown read exit return
		break continue shift sleep seq yes man info help tldr history xdg-open open ps pgrep top htop lsof fuser kill pkill killall
		lsblk blkid smartctl umount eject mkdir rmdir ssh ssh-add ssh-copy-id ssh-keyscan ping journalctl dmesg view shellcheck hermes`) {
		all[name] = ""
	}
	return all
})

// changesNamed reports whether a program whose writes have rules of their own
// changes all files that it names.
func changesNamed(name string) bool {
	switch name {
	case "tee", "sponge", "truncate", "rm", "grm", "srm", "unlink", "shred":
		return true
	}
	return false
}

// searchedFolders returns the folders in which a command looks for the files whose
// names it prints.
func searchedFolders(args []string) []string {
	for range maxDepth {
		if w, ok := wrapperOf(program(args[0])); !ok {
			break
		} else if args = w.inner(args[1:]); len(args) == 0 {
			return nil
		}
	}
	switch program(args[0]) {
	case "find", "gfind", "fd", "fdfind", "ls", "tree", "du", "rg", "grep", "egrep", "fgrep", "ag", "ack", "locate":
		return append(plainWords(args[1:]), ".")
	}
	return nil
}

// writesHere reports whether a program writes files into the current folder
// without naming them.
func writesHere(name string, rest []string) bool {
	switch name {
	case "git":
		own, words := gitCall(rest)
		return len(own) == 0 && len(words) > 0 && gitWrites(words) && words[0] != "config"
	case "tar", "gtar", "bsdtar":
		return len(rest) > 0 && (strings.Contains(strings.TrimPrefix(rest[0], "-"), "x") && !strings.HasPrefix(rest[0], "--") || hasShort(rest, "x") || hasLong(rest, "--extract") || hasLong(rest, "--get")) &&
			!hasShort(rest, "C") && !hasLong(rest, "--directory")
	case "unzip":
		return !hasShort(rest, "dlpt")
	case "cpio":
		return hasShort(rest, "i") && !hasShort(rest, "Dt")
	case "7z", "7za", "7zr", "7zz", "unrar":
		return len(rest) > 0 && (rest[0] == "x" || rest[0] == "e") && !hasShort(rest, "o")
	case "curl":
		return hasShort(rest, "OJ") || hasLong(rest, "--remote-name")
	case "wget":
		return !hasShort(rest, "OP")
	case "patch", "make", "gmake", "npm", "pnpm", "yarn", "bun", "split", "csplit":
		return true
	}
	return false
}

// isExtractor reports whether a program writes files whose names the command does
// not show.
func isExtractor(name string) bool {
	switch name {
	case "tar", "gtar", "bsdtar", "unzip", "cpio", "7z", "7za", "7zr", "7zz", "unrar":
		return true
	}
	return false
}

// readsScript reports whether a program reads commands from its input that may
// name files.
func readsScript(name string) bool {
	switch name {
	case "sqlite3", "ed", "ex", "vi", "vim", "nvim", "patch", "gdb", "psql", "mysql", "ftp", "sftp", "m4", "bc", "gnuplot":
		return true
	}
	return isInterpreter(name)
}

// excludes reports whether an option says what to leave out.
func excludes(w string) bool {
	if !strings.HasPrefix(w, "-") {
		return false
	}
	return strings.Contains(w, "exclude") || strings.Contains(w, "ignore") || strings.Contains(w, "skip") || strings.Contains(w, "omit") || strings.Contains(w, "filter")
}

// namesOutput reports whether an option says where to write.
func namesOutput(w string) bool {
	switch w {
	case "-o", "--output", "--out", "--outfile", "--out-file", "--output-file", "--output-dir", "--outdir", "--out-dir", "--dest", "--destination", "--target-dir",
		"-out", "-d", "-D", "--directory", "--to", "-t", "--target":
		return true
	}
	return false
}

// namesInput reports whether an option, or one with its value, says what to read.
func namesInput(w string) bool {
	option, _, _ := strings.Cut(w, "=")
	switch option {
	case "--env-file", "--envfile", "--kubeconfig", "--netrc-file", "--cacert", "--ca-cert", "--cert", "--private-key", "--key-file", "--identity-file", "--identity":
		return true
	}
	return false
}

// pathsIn lists what may be paths in one word of a command.
func (j *judge) pathsIn(w string) []string {
	if strings.ContainsAny(w, " \t\n'\"()") {
		return append(j.pathsInText(w), w)
	}
	all := []string{w}
	switch {
	case !strings.HasPrefix(w, "-"):
	case len(w) > 2 && w[1] != '-':
		all = []string{w[2:]} // -oPATH
	default:
		all = nil
	}
	if scheme, rest, ok := strings.Cut(w, "://"); ok {
		if name := scheme[strings.LastIndexAny(scheme, "=,:")+1:]; name != "file" && !strings.Contains(name, "sqlite") {
			return nil // an address
		}
		rest, _, _ = strings.Cut(rest, "?")
		return []string{"/" + strings.TrimLeft(rest, "/")}
	}
	if before, _, ok := strings.Cut(w, ":"); ok && strings.Contains(before, "@") {
		return nil // a path of another machine
	}
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("=:,@?&", r) }) {
		if part != w {
			all = append(all, part)
		}
	}
	return all
}

// pathsInText lists what may be paths in program code or in another text. There
// the home folder has many names, so that a name with a dot may be in it.
func (j *judge) pathsInText(text string) []string {
	var all []string
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>=,;|&!?*#:", r)
	}) {
		_, rest, _ := strings.Cut(token, "/")
		switch {
		case strings.HasPrefix(token, "//"):
		case strings.HasPrefix(token, "~/"), strings.HasPrefix(token, "$HOME/"):
			all = append(all, j.context.Home+"/"+rest)
		case strings.HasPrefix(token, "/."):
			all = append(all, token, j.context.Home+token)
		case len(token) > 1 && token[0] == '.':
			all = append(all, token, j.context.Home+"/"+token)
		case strings.Contains(token, "/"):
			all = append(all, token)
		}
	}
	return all
}
