package program

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// OnlyReads reports whether a program only reads the files that it names, with
// these arguments. Programs whose writes have rules of their own count, too.
func OnlyReads(name string, rest []string) bool {
	if writing, known := justReads()[name]; known {
		return !getopt.HasOption(name, rest, strings.Fields(writing))
	}
	if IsDiskTool(name) {
		return true
	}
	switch name {
	case "uniq", "xxd":
		return len(getopt.PlainWords(rest)) < 2 && !getopt.HasShort(rest, "r")
	case "yq":
		return !getopt.HasShort(rest, "i") && !getopt.HasLong(rest, "--inplace")
	case "kubectl", "oc", "helm":
		return !slices.Contains(rest, "cp")
	case "gh", "glab":
		return !getopt.HasShort(rest, "OD") && !getopt.HasLong(rest, "--output") && !getopt.HasLong(rest, "--dir") && !slices.Contains(getopt.PlainWords(rest), "clone")
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

// ChangesNamed reports whether a program whose writes have rules of their own
// changes all files that it names.
func ChangesNamed(name string) bool {
	return lex.Within("tee sponge truncate rm grm srm unlink shred", name)
}

// SearchedFolders returns the folders in which a command looks for the files whose
// names it prints.
func SearchedFolders(args []string) []string {
	for range lex.MaxDepth {
		if w, ok := WrapperOf(lex.Program(args[0])); !ok {
			break
		} else if args = w.Inner(args[1:]); len(args) == 0 {
			return nil
		}
	}
	switch lex.Program(args[0]) {
	case "find", "gfind", "fd", "fdfind", "ls", "tree", "du", "rg", "grep", "egrep", "fgrep", "ag", "ack", "locate":
		return append(getopt.PlainWords(args[1:]), ".")
	}
	return nil
}

// WritesHere reports whether a program writes files into the current folder
// without naming them.
func WritesHere(name string, rest []string) bool {
	switch name {
	case "git":
		own, words := GitCall(rest)
		return len(own) == 0 && len(words) > 0 && gitWrites(words) && words[0] != "config"
	case "tar", "gtar", "bsdtar":
		return len(rest) > 0 && (strings.Contains(strings.TrimPrefix(rest[0], "-"), "x") && !strings.HasPrefix(rest[0], "--") || getopt.HasShort(rest, "x") || getopt.HasLong(rest, "--extract") || getopt.HasLong(rest, "--get")) &&
			!getopt.HasShort(rest, "C") && !getopt.HasLong(rest, "--directory")
	case "unzip":
		return !getopt.HasShort(rest, "dlpt")
	case "cpio":
		return getopt.HasShort(rest, "i") && !getopt.HasShort(rest, "Dt")
	case "7z", "7za", "7zr", "7zz", "unrar":
		return len(rest) > 0 && (rest[0] == "x" || rest[0] == "e") && !getopt.HasShort(rest, "o")
	case "curl":
		return getopt.HasShort(rest, "OJ") || getopt.HasLong(rest, "--remote-name")
	case "wget":
		return !getopt.HasShort(rest, "OP")
	case "patch", "make", "gmake", "npm", "pnpm", "yarn", "bun", "split", "csplit":
		return true
	}
	return false
}

// IsExtractor reports whether a program writes files whose names the command does
// not show.
func IsExtractor(name string) bool {
	return lex.Within("tar gtar bsdtar unzip cpio 7z 7za 7zr 7zz unrar", name)
}

// ReadsScript reports whether a program reads commands from its input that may
// name files.
func ReadsScript(name string) bool {
	return lex.Within("sqlite3 ed ex vi vim nvim patch gdb psql mysql ftp sftp m4 bc gnuplot", name) || code.IsInterpreter(name)
}

// NamesOutput reports whether an option says where to write.
func NamesOutput(w string) bool {
	return lex.Within("-o --output --out --outfile --out-file --output-file --output-dir --outdir --out-dir --dest --destination --target-dir -out -d -D --directory --to -t "+
		"--target", w)
}

// NamesInput reports whether an option, or one with its value, says what to read.
func NamesInput(w string) bool {
	option, _, _ := strings.Cut(w, "=")
	switch option {
	case "--env-file", "--envfile", "--kubeconfig", "--netrc-file", "--cacert", "--ca-cert", "--cert", "--private-key", "--key-file", "--identity-file", "--identity":
		return true
	}
	return false
}

// AfterScript returns the arguments of an interpreter without the script, which is
// only read.
func AfterScript(name string, rest []string) []string {
	for i, w := range rest {
		if w == "-" || w == "-s" && IsShell(name) { // the script is the input
			return rest[i+1:]
		}
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+") {
			continue
		}
		if i > 0 && strings.HasPrefix(rest[i-1], "-") && len(rest[i-1]) == 2 && strings.Contains("cemprEW", rest[i-1][1:]) && !IsShell(name) {
			return rest // the word is code, a module or a value
		}
		return slices.Concat(rest[:i], rest[i+1:])
	}
	return rest
}

// TarPaths returns the archive that tar makes, or the folder into which it
// extracts.
func TarPaths(rest []string) []string {
	mode := ""
	if len(rest) > 0 {
		mode = rest[0]
	}
	makes := strings.HasPrefix(mode, "--c") || !strings.HasPrefix(mode, "--") && strings.ContainsAny(mode, "cru") || getopt.HasShort(rest, "cru") || getopt.HasLong(rest, "--create") || getopt.HasLong(rest, "--append") || getopt.HasLong(rest, "--update")
	var out []string
	for i, w := range rest {
		option, value, joined := strings.Cut(w, "=")
		cluster := i == 0 || len(w) > 1 && w[0] == '-' && w[1] != '-'
		if !joined && i+1 < len(rest) {
			value = rest[i+1]
		}
		switch {
		case (option == "--file" || cluster && strings.HasSuffix(w, "f")) && makes,
			(option == "--directory" || option == "-C") && !makes,
			option == "--one-top-level":
			out = append(out, value)
		case !makes && len(w) > 2 && strings.HasPrefix(w, "-C"):
			out = append(out, w[2:])
		}
	}
	if !makes { // the members of an archive are below the folder
		for _, folder := range slices.Clone(out) {
			for _, member := range getopt.PlainWords(rest) {
				out = append(out, strings.TrimSuffix(folder, "/")+"/"+member)
			}
		}
	}
	return out
}

// ChmodPaths returns the files that a change of rights opens to others or makes
// executable.
func ChmodPaths(rest []string) []string {
	words := getopt.PlainWords(rest)
	if len(words) == 0 {
		return nil
	}
	mode := words[0]
	if len(mode) > 1 && IsOctal(mode) && strings.HasSuffix(mode, "00") && !getopt.HasShort(rest, "R") && !strings.ContainsAny(mode[:len(mode)-2], "1357") {
		return nil
	}
	if mode == "700" || strings.HasPrefix(mode, "go-") || strings.HasPrefix(mode, "o-") || strings.HasPrefix(mode, "g-") {
		return nil
	}
	return words[1:]
}

// IsOctal reports whether a word is a mode of chmod in digits.
func IsOctal(s string) bool {
	return len(s) >= 3 && len(s) <= 5 && strings.Trim(s, "01234567") == ""
}

// GitCall splits the arguments of git into the options before the subcommand and
// the rest.
func GitCall(rest []string) (own, words []string) {
	words = getopt.Wrapper{Values: "Cc", Long: " --git-dir --work-tree --namespace --exec-path --config-env --attr-source --shallow-file --super-prefix "}.Inner(rest)
	return rest[:len(rest)-len(words)], words
}

// GitPaths returns the paths outside of the repository's files that git writes.
func GitPaths(rest []string) []string {
	words := getopt.Wrapper{Values: "Cc", Long: " --git-dir --work-tree --namespace --exec-path --config-env "}.Inner(rest)
	own := rest[:len(rest)-len(words)]
	if len(words) == 0 || !gitWrites(words) {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(own), func(w string) bool { return w == ".git" || strings.HasSuffix(w, "=.git") })
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "config", "format-patch", "checkout-index", "apply", "diff", "log", "show":
		return append(out, words...)
	}
	return out
}

// gitWrites reports whether a subcommand of git changes files, other than those
// git keeps for itself.
func gitWrites(words []string) bool {
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "format-patch", "checkout-index", "apply", "am", "pull", "merge", "rebase",
		"checkout", "switch", "restore", "reset", "cherry-pick", "revert", "stash", "clean", "read-tree", "filter-branch", "sparse-checkout":
		return !getopt.HasLong(words, "--cached")
	case "config":
		return getopt.HasShort(words, "f") || getopt.HasLong(words, "--file")
	case "diff", "log", "show":
		return getopt.HasLong(words, "--output")
	}
	return false
}

// ReadsTree reports whether a program shows or copies the content of all files below the folders
// that it names.
func ReadsTree(name string, rest []string) bool {
	switch name {
	case "rg", "ag", "ack", "rgrep", "7z", "7za":
		return true
	case "grep", "egrep", "fgrep", "zgrep", "zegrep", "ggrep":
		return getopt.HasShort(rest, "rR") || getopt.HasLong(rest, "--recursive") || getopt.HasLong(rest, "--dereference-recursive") || getopt.HasLong(rest, "--directories")
	case "cp", "gcp", "rsync", "scp", "diff", "zip":
		return getopt.HasShort(rest, "arR") || getopt.HasLong(rest, "--recursive") || getopt.HasLong(rest, "--archive")
	case "find", "gfind", "fd", "fdfind":
		return slices.ContainsFunc(rest, func(w string) bool {
			return w == "-x" || w == "-X" || strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") || strings.HasPrefix(w, "--exec")
		})
	case "tar", "gtar", "bsdtar":
		return len(rest) > 0 && (!strings.HasPrefix(rest[0], "-") && strings.ContainsAny(rest[0], "cru")) || getopt.HasShort(rest, "cru") || getopt.HasLong(rest, "--create") || getopt.HasLong(rest, "--append") || getopt.HasLong(rest, "--update")
	}
	return false
}
