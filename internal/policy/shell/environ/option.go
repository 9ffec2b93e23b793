package environ

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// ProgramOptions are options of common programs whose value is another program,
// or a library, that they run.
var ProgramOptions = map[string]string{
	"tar":        "--checkpoint-action --to-command --rsh-command --rmt-command --info-script --new-volume-script -F",
	"cpio":       "--rsh-command",
	"zip":        "-TT --unzip-command",
	"sort":       "--compress-program",
	"split":      "--filter",
	"rg":         "--pre --hostname-bin",
	"ag":         "--pager",
	"ack":        "--pager",
	"fzf":        "--preview --bind",
	"sk":         "--preview --bind",
	"man":        "-P --pager -H --html",
	"make":       "--eval",
	"cc":         "-wrapper -fplugin -load",
	"go":         "-toolexec -exec -vettool -overlay --toolexec --exec --vettool --overlay",
	"npm":        "--script-shell --shell --node-options --git --init-module --userconfig --globalconfig",
	"pnpm":       "--script-shell --shell-emulator --node-options",
	"yarn":       "--script-shell --use-yarnrc",
	"npx":        "--script-shell --shell --node-options",
	"tcpdump":    "-z",
	"scp":        "-S",
	"sftp":       "-S -D",
	"ssh-keygen": "-D",
	"ssh-add":    "-s",
	"wget":       "--use-askpass",
	"curl":       "--engine -K --config",
	"openssl":    "-engine -provider-path -provider",
	"latex":      "-shell-escape --shell-escape -enable-write18 --enable-write18",
	"mysql":      "--pager",
	"mariadb":    "--pager",
	"bat":        "--pager",
	"nmap":       "--script",
	"ip":         "-batch",
	"rpm":        "--eval -E --define --pipe",
	"rpmbuild":   "--eval --define",
	"dpkg":       "--pre-invoke --post-invoke",
	"less":       "--lesskey-src --lesskey-content",
	"aria2c":     "--on-download-complete --on-download-start --on-download-error --on-download-stop --on-bt-download-complete",
	"journalctl": "--pager",
}

// Family names programs with the options of another one.
func Family(name string) string {
	switch name {
	case "gtar", "bsdtar":
		return "tar"
	case "gmake", "bmake":
		return "make"
	case "pdflatex", "xelatex", "lualatex", "pdftex", "tex", "xetex", "luatex", "latexmk":
		return "latex"
	case "gsort", "gsplit", "gman":
		return name[1:]
	case "batcat":
		return "bat"
	}
	if program.IsCompiler(name) && name != "make" && name != "ar" && name != "ld" {
		return "cc"
	}
	return name
}

// KnownProgram reports whether the value of an option is a usual one.
func KnownProgram(kind, value string) bool {
	switch kind {
	case "man", "bat", "ag", "ack", "mysql", "mariadb", "journalctl":
		return value == "" || value == "never" || HarmlessCommand(PagerCommand, value)
	case "nmap":
		return !strings.Contains(value, "/") && !lex.Dynamic(value)
	case "tar":
		return strings.HasPrefix(value, "dot") || strings.HasPrefix(value, "echo") || value == "bell"
	case "fzf", "sk":
		words := strings.Fields(value)
		return len(words) > 0 && slices.Contains(pagers, words[0]) && !strings.ContainsAny(value, ";|&`$<>")
	case "npm", "npx", "pnpm":
		return program.IsShell(lex.Program(value)) && program.StandardProgram(value)
	case "rpm", "rpmbuild":
		return !strings.Contains(value, "%(") && !strings.Contains(value, "lua:")
	case "curl":
		return strings.HasSuffix(value, ".curlrc") || value == "none"
	case "openssl":
		return value == "default" || value == "legacy" || value == "fips" || value == "base"
	}
	return false
}

// RunsByOption covers options whose value decides whether a program is run.
func RunsByOption(l *track.Line, kind string, rest []string, in track.Input) bool {
	switch kind {
	case "tar":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-I", "--use-compress-program"), func(v string) bool { return !compressor(v) })
	case "vim", "vi", "nvim", "gvim", "view", "vimdiff", "ex", "rvim", "mvim":
		return editorRuns(rest) || kind == "ex" && escapes(in.Text)
	case "ed", "red", "dc", "ftp", "tnftp", "lftp", "sftp", "mail", "mailx", "telnet", "gnuplot", "mutt", "gdb", "lldb", "less", "more", "cfdisk", "fdisk", "bpython":
		return escapes(in.Text) || slices.ContainsFunc(rest, escapeWord) || debuggerRuns(kind, rest)
	case "make":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-f", "--file"), func(f string) bool {
			return program.IsInput(f) || strings.HasPrefix(f, "/dev/fd/") || track.Temporary(f)
		})
	case "cargo":
		return slices.ContainsFunc(getopt.OptionValues(rest, "--config", "--config"), cargoRuns)
	case "java", "javac", "kotlin", "scala", "jshell", "groovy":
		return slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "-") && javaLoads(strings.TrimPrefix(a, "-J")) })
	case "node", "nodejs", "ts-node", "tsx", "bun", "mocha", "electron":
		return loadsFrom(l, getopt.OptionValues(rest, "-r", "--require"), getopt.OptionValues(rest, "--import", "--import"), getopt.OptionValues(rest, "--loader", "--experimental-loader"), getopt.OptionValues(rest, "--preload", "--preload"))
	case "ruby", "irb", "rspec":
		return loadsFrom(l, getopt.OptionValues(rest, "-r", "--require"), getopt.OptionValues(rest, "-I", "--include-path"))
	case "perl":
		return loadsFrom(l, getopt.OptionValues(rest, "-I", "--include-path")) || slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "-d:") || strings.HasPrefix(a, "-dt:") })
	case "php":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-d", "--define"), func(v string) bool {
			return strings.Contains(v, "prepend_file") || strings.Contains(v, "append_file") || strings.Contains(v, "extension=")
		})
	case "emacs", "emacsclient":
		return len(getopt.OptionValues(rest, "-eval", "--eval"))+len(getopt.OptionValues(rest, "-execute", "--execute"))+len(getopt.OptionValues(rest, "-e", "--eval")) > 0 || loadsFrom(l, getopt.OptionValues(rest, "-l", "--load"))
	case "rsync":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-e", "--rsh"), func(v string) bool { return !HarmlessCommand(SshCommand, v) }) ||
			slices.ContainsFunc(getopt.OptionValues(rest, "--rsync-path", "--rsync-path"), func(v string) bool {
				return lex.Program(strings.TrimPrefix(v, "sudo ")) != "rsync" || strings.ContainsAny(v, ";|&`$")
			})
	case "apt", "apt-get", "aptitude":
		return slices.ContainsFunc(rest, func(a string) bool {
			low := strings.ToLower(a)
			return strings.Contains(low, "invoke") || strings.Contains(low, "dir::bin") || strings.Contains(low, "pager")
		})
	case "wget":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-e", "--execute"), func(v string) bool { return !strings.HasPrefix(v, "robots") })
	case "strace", "ltrace":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-o", "--output"), func(v string) bool { return strings.HasPrefix(v, "|") || strings.HasPrefix(v, "!") })
	}
	return false
}

func compressor(value string) bool {
	words := strings.Fields(value)
	return len(words) > 0 && program.StandardProgram(words[0]) && !strings.ContainsAny(value, ";|&`$<>") &&
		slices.Contains([]string{"gzip", "pigz", "bzip2", "pbzip2", "lbzip2", "xz", "pixz", "zstd", "zstdmt", "pzstd", "lz4", "lzma", "lzip", "plzip", "lzop", "brotli", "compress", "unzstd", "gunzip"}, lex.Program(words[0]))
}

// editorRuns reports whether a command for vim may start a program: what is not a
// position, a search or a setting may.
func editorRuns(rest []string) bool {
	commands := append(getopt.OptionValues(rest, "-c", "--cmd"), getopt.OptionValues(rest, "-S", "--script")...)
	for _, a := range rest {
		if strings.HasPrefix(a, "+") {
			commands = append(commands, a[1:])
		}
	}
	return len(getopt.OptionValues(rest, "-S", "--script")) > 0 || slices.ContainsFunc(commands, func(c string) bool {
		low := strings.ToLower(strings.TrimLeft(c, ": "))
		return strings.Contains(c, "!") || strings.Contains(low, "system(") || strings.Contains(low, "term") || strings.Contains(low, "jobstart") ||
			slices.ContainsFunc([]string{"py", "lua", "ruby", "perl", "tcl", "so ", "source", "call ", "exe", "norm", "make", "grep"}, func(p string) bool { return strings.HasPrefix(low, p) }) || lex.Dynamic(c)
	})
}

// escapes reports whether the input has a line with which interactive programs run
// a command.
func escapes(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimLeft(line, " ~:"); strings.HasPrefix(line, "!") || strings.HasPrefix(line, "shell ") || strings.HasPrefix(line, "system(") {
			return true
		}
	}
	return false
}

// escapeWord is escapes for an argument.
func escapeWord(a string) bool {
	a = strings.TrimLeft(strings.TrimPrefix(a, "+"), " :~")
	return strings.HasPrefix(a, "!") && len(a) > 1 && a != "!="
}

func debuggerRuns(kind string, rest []string) bool {
	return (kind == "gdb" || kind == "lldb" || kind == "gnuplot") && slices.ContainsFunc(rest, func(a string) bool {
		low := strings.ToLower(strings.TrimSpace(a))
		return strings.HasPrefix(low, "shell") || strings.HasPrefix(low, "platform shell") || strings.HasPrefix(low, "py") && strings.Contains(low, " ") || strings.HasPrefix(low, "pipe") ||
			strings.HasPrefix(low, "script ") || strings.Contains(low, "system(") || strings.Contains(low, "system (") || strings.HasPrefix(low, "make ")
	})
}

func cargoRuns(setting string) bool {
	for _, name := range []string{"wrapper", "runner", "linker", "rustc", "rustdoc", "alias", "credential", "registry", "replace-with"} {
		if strings.Contains(setting, name) {
			return true
		}
	}
	return strings.Contains(setting, "/") || lex.Dynamic(setting)
}

func javaLoads(option string) bool {
	for _, p := range []string{"-javaagent", "-agentlib", "-agentpath", "-Xrun", "-Xbootclasspath", "-XX:On", "-XX:Flags", "-XX:VMOptionsFile", "-Djava.system.class.loader", "-Djava.ext.dirs"} {
		if strings.HasPrefix(option, p) {
			return !strings.HasPrefix(option, "-agentlib:jdwp") || strings.Contains(option, "address=*") || strings.Contains(option, "address=0")
		}
	}
	return false
}

// loadsFrom reports whether code is loaded from outside the project and the places
// where packages are installed.
func loadsFrom(l *track.Line, lists ...[]string) bool {
	for _, list := range lists {
		for _, v := range list {
			v = strings.TrimPrefix(v, "file://")
			switch {
			case strings.HasPrefix(v, "data:"), strings.HasPrefix(v, "http"), lex.Dynamic(v):
				return true
			case strings.HasPrefix(v, "/") || strings.HasPrefix(v, ".."):
				if !l.ProjectFolder(v) && !l.TrustedFolder(path.Dir(v)) {
					return true
				}
			}
		}
	}
	return false
}
