package written

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// runners are programs that run files of a project which their line does not name.
var runners = strings.Fields(`make gmake bmake just task ninja meson cmake ctest bazel scons npm npx pnpm pnpx yarn node nodejs bun bunx deno tsx ts-node go cargo
	pytest tox nox python ipython pypy pip uv uvx pipx poetry pdm hatch pipenv ruby rake bundle rails rspec php composer perl lua julia rscript java gradle gradlew
	mvn mvnw ant sbt dotnet swift zig elixir mix erl docker podman nerdctl docker-compose git pre-commit jest vitest mocha gulp grunt vite webpack turbo nx lerna
	vim vi nvim emacs gdb lldb tmux screen direnv mise nix nix-build nix-shell ansible ansible-playbook vagrant
	terraform tofu packer eval`)

// projectFiles are what they obey in their folder, or in one above it.
var projectFiles = strings.Fields(`Makefile makefile GNUmakefile justfile Taskfile.yml build.ninja CMakeLists.txt package.json .npmrc go.mod Cargo.toml build.rs
	conftest.py pytest.ini pyproject.toml setup.py setup.cfg tox.ini noxfile.py Rakefile Gemfile composer.json build.gradle build.gradle.kts pom.xml Dockerfile
	docker-compose.yml compose.yaml .pre-commit-config.yaml .envrc .git/config`)

// quiet are programs that run none of the files they get, whatever their arguments are.
var quiet = strings.Fields(`ls cat echo printf pwd true false test [ [[ : mkdir rmdir touch rm chmod chown head tail wc cut tr nl tac rev grep egrep fgrep
	stat file du df which type id whoami uname hostname date sleep basename dirname realpath readlink diff cmp comm md5sum sha1sum sha256sum uniq column tee
	curl wget kill seq exit return break continue set shift unset umask`)

// copiers are programs after which a file may be at another path.
var copiers = strings.Fields("cp mv ln install rsync tar mount pax cpio dd")

// use is what a command does with its words.
type use struct {
	rank    rank     // of its arguments
	inside  bool     // it may run what is in the folders that it gets
	here    bool     // also in the folder in which it is
	open    bool     // it may run files that it does not name
	modules []string // files that it would run as modules
	project bool     // it obeys the files of a project
	needed  []string // paths without which it does not run
}

// useOf tells what a command does with its words.
func useOf(words []string) use {
	called, rest := lex.Program(words[0]), words[1:]
	unknown := slices.ContainsFunc(rest, atRunTime)
	switch {
	case atRunTime(words[0]):
		return use{rank: code, inside: true, open: true}
	case runs(called):
		return use{rank: code, inside: true, open: true, modules: modules(rest), project: true}
	case program.IsShell(called):
		text, file, after := program.ShellWords(called, rest)
		u := use{rank: code, inside: true, open: unknown || !text && !file}
		if file {
			u.needed = after[:min(len(after), 1)]
		}
		return u
	case called == "." || called == "source":
		return use{rank: code, inside: true, open: unknown, needed: rest[:min(len(rest), 1)]}
	case called == "cd" || called == "pushd":
		back := slices.ContainsFunc(rest, func(w string) bool { return w == "-" || strings.HasPrefix(w, "+") })
		return use{rank: code, open: unknown || back || len(rest) == 0, needed: getopt.PlainWords(rest)}
	case called == "popd":
		return use{rank: argument, open: true}
	case program.StandardProgram(words[0]) && slices.Contains(quiet, called):
		return use{rank: argument}
	}
	return use{rank: argument, inside: true, here: slices.Contains(copiers, called), open: unknown}
}

// pathOf is the path of a program that a command names by one, as a list.
func pathOf(word string) []string {
	if strings.Contains(word, "/") {
		return []string{word}
	}
	return nil
}

// runs reports whether a program is a runner, in any version.
func runs(called string) bool {
	plain := strings.TrimRight(called, "0123456789.-")
	return slices.Contains(runners, called) || slices.Contains(runners, plain)
}

// atRunTime reports whether a word is only known when the command runs: a part of it is
// not in the line, or it is replaced by what the command reads.
func atRunTime(word string) bool {
	return lex.Dynamic(word) || strings.HasPrefix(word, "/dev/fd/") || strings.HasPrefix(word, "/proc/") ||
		word == "/dev/stdin" || strings.Contains(word, "{") && strings.Contains(word, "}")
}

// modules lists the files that hold the modules which an interpreter gets with -m.
func modules(args []string) []string {
	var files []string
	for i, a := range args {
		module, ok := strings.CutPrefix(a, "-m")
		if ok && module == "" && i+1 < len(args) {
			module = args[i+1]
		}
		if !ok || module == "" {
			continue
		}
		at := ""
		for part := range strings.SplitSeq(module, ".") { // each package above it runs first
			at += part
			files = append(files, at+".py", at+"/__init__.py", at+"/__main__.py")
			at += "/"
		}
	}
	return files
}

// maxAbove is how many folders above theirs are looked at for the files of a project.
const maxAbove = 6

// upward lists files in a folder and in those above it.
func upward(files []string) []string {
	all := slices.Clone(files)
	for n := 1; n <= maxAbove; n++ {
		for _, f := range files {
			all = append(all, strings.Repeat("../", n)+f)
		}
	}
	return all
}
