package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// WrapperOf describes the programs that run the rest of their arguments.
func WrapperOf(name string) (getopt.Wrapper, bool) {
	switch name {
	case "sudo":
		return getopt.Wrapper{Values: "ughpCrtTUDRa", Long: " --user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot ", Assign: true, Alone: "ABbEeHiKklNnPSsVv", Known: " --preserve-env --login --shell --non-interactive --stdin --askpass --background --set-home --reset-timestamp "}, true
	case "doas":
		return getopt.Wrapper{Values: "uCa", Alone: "Lns"}, true
	case "pkexec":
		return getopt.Wrapper{Long: " --user "}, true
	case "env":
		return getopt.Wrapper{Values: "uCPa", Long: " --unset --chdir --argv0 ", Assign: true, Alone: "i0v", Known: " --ignore-environment --null --debug "}, true
	case "nohup", "setsid", "command", "builtin", "unbuffer", "fakeroot", "caffeinate", "dbus-run-session", "proxychains", "proxychains4", "torsocks", "catchsegv", "noglob", "nocorrect", "rlwrap":
		return getopt.Wrapper{Alone: "pfvVwcg"}, true
	case "exec":
		return getopt.Wrapper{Values: "a", Alone: "cl"}, true
	case "nice":
		return getopt.Wrapper{Values: "n", Long: " --adjustment "}, true
	case "ionice":
		return getopt.Wrapper{Values: "cnpPu", Long: " --class --classdata "}, true
	case "chrt", "taskset":
		return getopt.Wrapper{Values: "p", Words: 1}, true
	case "prlimit":
		return getopt.Wrapper{Values: "p", Long: " --pid "}, true
	case "cpulimit":
		return getopt.Wrapper{Values: "lpe", Long: " --limit --pid --exe "}, true
	case "timeout", "gtimeout":
		return getopt.Wrapper{Values: "ks", Long: " --kill-after --signal ", Words: 1, Alone: "fpv", Known: " --foreground --preserve-status --verbose "}, true
	case "stdbuf":
		return getopt.Wrapper{Values: "ioe", Long: " --input --output --error "}, true
	case "time":
		return getopt.Wrapper{Values: "fo", Long: " --format --output ", Alone: "apvlh", Known: " --append --portability --verbose "}, true
	case "strace", "ltrace":
		return getopt.Wrapper{Values: "abeEIoOpPsSuX"}, true
	case "flock":
		return getopt.Wrapper{Values: "wEc", Long: " --wait --conflict-exit-code ", Words: 1}, true
	case "chroot":
		return getopt.Wrapper{Long: " --userspec --groups ", Words: 1}, true
	case "unshare", "nsenter":
		return getopt.Wrapper{Values: "tSGRw", Long: " --target --setuid --setgid --root --wd "}, true
	case "systemd-run", "systemd-inhibit":
		return getopt.Wrapper{Values: "pEutH", Long: " --unit --property --setenv --uid --gid --slice --description --who --why --what --mode --working-directory "}, true
	case "cgexec":
		return getopt.Wrapper{Values: "g"}, true
	case "busybox", "toybox", "shx", "coreutils", "winpty", "then", "do":
		return getopt.Wrapper{}, true
	case "xargs", "gxargs":
		return getopt.Wrapper{Values: "IiLlnPsdEa", Long: " --replace --max-lines --max-args --max-procs --max-chars --delimiter --eof --arg-file ", Alone: "0rtpxoe", Known: " --null --no-run-if-empty --verbose --interactive --exit --open-tty "}, true
	case "npx", "bunx", "pnpx", "uvx":
		return getopt.Wrapper{Values: "pcw", Long: " --package --call --workspace --from --with --python ", Alone: "yqg", Known: " --yes --no-install --quiet --bun --ignore-existing "}, true
	case "xvfb-run":
		return getopt.Wrapper{Values: "efnpsw", Long: " --error-file --auth-file --server-num --xauth-protocol --server-args --wait ", Alone: "adl", Known: " --auto-servernum --auto-display --listen-tcp "}, true
	case "runuser":
		return getopt.Wrapper{Values: "ugGs", Long: " --user --group "}, true
	case "direnv":
		return getopt.Wrapper{Words: 2}, true // exec and a folder
	case "mise", "uv", "poetry", "pipenv", "pdm", "hatch":
		return getopt.Wrapper{Words: 1}, true // the word is "exec" or "run"
	}
	return getopt.Wrapper{}, false
}

// IsWrapper reports whether a program runs the rest of its arguments.
func IsWrapper(name string) bool {
	_, ok := WrapperOf(name)
	return ok
}

// Innermost is the program behind all wrappers.
func Innermost(args []string) string {
	for range lex.MaxDepth {
		if len(args) == 0 {
			return ""
		}
		w, ok := WrapperOf(lex.Program(args[0]))
		if !ok {
			return args[0]
		}
		args = w.Inner(args[1:])
	}
	return ""
}

// SplitText returns the text that env -S splits into words, and the words after it.
func SplitText(own, inner []string) (text string, rest []string, ok bool) {
	for i, a := range own {
		option, value, attached := strings.Cut(a, "=")
		if at := strings.IndexByte(a, 'S'); at > 0 && a[0] == '-' && strings.Trim(a[1:at], "i0v") == "" {
			value, attached, ok = a[at+1:], at+1 < len(a), true
		} else {
			ok = len(option) > len("--") && strings.HasPrefix("--split-string", option)
		}
		switch rest = slices.Concat(own[i+1:], inner); {
		case ok && !attached && len(rest) > 0:
			return rest[0], rest[1:], true
		case ok:
			return value, rest, true
		}
	}
	return "", nil, false
}

// OpensShell reports whether a wrapper without a command runs a shell.
func OpensShell(name string, own []string) bool {
	switch name {
	case "sudo":
		return getopt.HasShort(own, "si") || getopt.HasLong(own, "--shell") || getopt.HasLong(own, "--login")
	case "chroot", "unshare", "nsenter":
		return true
	}
	return false
}

// ReplaceMark is the text that xargs replaces by its input: the last one given.
func ReplaceMark(own []string) string {
	for i, a := range slices.Backward(own) {
		switch {
		case a == "-I" && i+1 < len(own):
			return own[i+1]
		case strings.HasPrefix(a, "-I"):
			return a[2:]
		case strings.HasPrefix(a, "--replace="):
			return strings.TrimPrefix(a, "--replace=")
		case strings.HasPrefix(a, "-i") && len(a) > 2:
			return a[2:]
		}
	}
	return "{}"
}

// Replacements replaces the marks of parallel by one input.
func Replacements(in string) *strings.Replacer {
	return strings.NewReplacer("{}", in, "{.}", in, "{/}", in, "{//}", in, "{/.}", in, "{1}", in, "{2}", lex.Unknown, "{3}", lex.Unknown)
}

// ChosenFolder returns the folder in which a wrapper runs its command, if one of
// its options says so. The last one counts.
func ChosenFolder(name string, own []string) (string, bool) {
	short := ""
	switch name {
	case "env":
		short = "-C"
	case "sudo":
		short = "-D"
	}
	for i, w := range slices.Backward(own) {
		if (w == short && short != "" || w == "--chdir" || w == "--working-directory" || w == "--wd") && i+1 < len(own) {
			return own[i+1], true
		}
		if dir, ok := strings.CutPrefix(w, "--chdir="); ok {
			return dir, true
		}
		if dir, ok := strings.CutPrefix(w, "--working-directory="); ok {
			return dir, true
		}
		if dir, ok := strings.CutPrefix(w, short); ok && short != "" && dir != "" {
			return dir, true
		}
	}
	return "", false
}

// CommandOfCmake returns the command that cmake -E runs under another name.
func CommandOfCmake(args []string) []string {
	if len(args) < 2 || args[0] != "-E" {
		return nil
	}
	rest := args[2:]
	as := func(words ...string) []string { return append(words, rest...) }
	switch args[1] {
	case "remove_directory":
		return as("rm", "-r")
	case "remove":
		return as("rm")
	case "rename":
		return as("mv")
	case "copy", "copy_if_different", "copy_directory", "copy_directory_if_different":
		return as("cp")
	case "create_symlink":
		return as("ln", "-s")
	case "create_hardlink":
		return as("ln")
	case "chdir":
		return as("env", "-C")
	case "make_directory":
		return as("mkdir")
	}
	return args[1:] // rm, env, time, touch, tar, cat, echo
}
