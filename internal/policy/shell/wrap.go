package shell

import "strings"

// wrapper describes the arguments of a program that runs another one: which
// options take a value, and how many plain words come before the command.
type wrapper struct {
	values string // short options with a value
	long   string // long options with a value, between spaces
	words  int    // plain words before the command
	assign bool   // NAME=value before the command
	alone  string // short options without a value
	known  string // long options without a value, between spaces
}

// wrapperOf describes the programs that run the rest of their arguments.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "sudo":
		return wrapper{values: "ughpCrtTUDRa", long: " --user --group --host --prompt --close-from --role --type --command-timeout --other-user --chdir --chroot ", assign: true, alone: "ABbEeHiKklNnPSsVv", known: " --preserve-env --login --shell --non-interactive --stdin --askpass --background --set-home --reset-timestamp "}, true
	case "doas":
		return wrapper{values: "uCa", alone: "Lns"}, true
	case "pkexec":
		return wrapper{long: " --user "}, true
	case "env":
		return wrapper{values: "uCPa", long: " --unset --chdir --argv0 ", assign: true, alone: "i0v", known: " --ignore-environment --null --debug "}, true
	case "nohup", "setsid", "command", "builtin", "unbuffer", "fakeroot", "caffeinate", "dbus-run-session", "proxychains", "proxychains4", "torsocks", "catchsegv", "noglob", "nocorrect", "rlwrap":
		return wrapper{alone: "pfvVwcg"}, true
	case "exec":
		return wrapper{values: "a", alone: "cl"}, true
	case "nice":
		return wrapper{values: "n", long: " --adjustment "}, true
	case "ionice":
		return wrapper{values: "cnpPu", long: " --class --classdata "}, true
	case "chrt", "taskset", "prlimit", "cpulimit":
		return wrapper{values: "p", words: 1}, true
	case "timeout", "gtimeout":
		return wrapper{values: "ks", long: " --kill-after --signal ", words: 1, alone: "fpv", known: " --foreground --preserve-status --verbose "}, true
	case "stdbuf":
		return wrapper{values: "ioe", long: " --input --output --error "}, true
	case "time":
		return wrapper{values: "fo", long: " --format --output ", alone: "apvlh", known: " --append --portability --verbose "}, true
	case "strace", "ltrace":
		return wrapper{values: "abeEIoOpPsSuX"}, true
	case "flock":
		return wrapper{values: "wEc", long: " --wait --conflict-exit-code ", words: 1}, true
	case "chroot":
		return wrapper{long: " --userspec --groups ", words: 1}, true
	case "unshare", "nsenter":
		return wrapper{values: "tSGRw", long: " --target --setuid --setgid --root --wd "}, true
	case "systemd-run", "systemd-inhibit":
		return wrapper{values: "pEutH", long: " --unit --property --setenv --uid --gid --slice --description --who --why --what --mode --working-directory "}, true
	case "cgexec":
		return wrapper{values: "g"}, true
	case "busybox", "toybox", "shx", "coreutils", "winpty", "then", "do":
		return wrapper{}, true
	case "xargs", "gxargs":
		return wrapper{values: "IiLlnPsdEa", long: " --replace --max-lines --max-args --max-procs --max-chars --delimiter --eof --arg-file ", alone: "0rtpxoe", known: " --null --no-run-if-empty --verbose --interactive --exit --open-tty "}, true
	case "npx", "bunx", "pnpx", "uvx":
		return wrapper{values: "pcw", long: " --package --call --workspace --from --with --python ", alone: "yqg", known: " --yes --no-install --quiet --bun --ignore-existing "}, true
	case "xvfb-run":
		return wrapper{values: "efnpsw", long: " --error-file --auth-file --server-num --xauth-protocol --server-args --wait ", alone: "adl", known: " --auto-servernum --auto-display --listen-tcp "}, true
	case "runuser":
		return wrapper{values: "ugGs", long: " --user --group "}, true
	case "direnv":
		return wrapper{words: 2}, true // exec and a folder
	case "mise", "uv", "poetry", "pipenv", "pdm", "hatch":
		return wrapper{words: 1}, true // the word is "exec" or "run"
	}
	return wrapper{}, false
}

func isWrapper(name string) bool {
	_, ok := wrapperOf(name)
	return ok
}

// inner returns the command that the wrapper runs, without the wrapper's own
// arguments.
func (w wrapper) inner(args []string) []string {
	words := w.words
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return args[min(i+1+words, len(args)):]
		case strings.HasPrefix(a, "--"):
			if strings.Contains(w.long, " "+a+" ") {
				i++
			}
		case len(a) > 1 && a[0] == '-':
			// The last option of a cluster may take the next word.
			if at := strings.IndexAny(a[1:], w.values); w.values != "" && at >= 0 && at == len(a)-2 {
				i++
			}
		case w.assign && isAssignment(a):
		case words > 0:
			words--
		default:
			return args[i:]
		}
	}
	return nil
}

// unclear reports whether the wrapper's own arguments have an option that is not
// known, which may take the next word.
func (w wrapper) unclear(own []string) bool {
	for _, a := range own {
		long, _, attached := strings.Cut(a, "=")
		switch {
		case a == "--" || len(a) < 2 || a[0] != '-':
		case strings.HasPrefix(a, "--"):
			if !attached && !strings.Contains(w.long+w.known, " "+long+" ") {
				return true
			}
		case !strings.ContainsAny(a[1:], w.values) && strings.Trim(a[1:], w.alone+"0123456789") != "":
			return true
		}
	}
	return false
}
