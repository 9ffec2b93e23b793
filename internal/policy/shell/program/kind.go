// Package program is what is known about programs: those that run others (wrapper.go),
// that only read (read.go), that are shells, send, print secrets or take names. Its tables
// hold facts and no judgement; add a program here first.
package program

import (
	"path"
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/lex"
)

// IsDownload reports whether a program prints what it fetches.
func IsDownload(name string) bool {
	return lex.Within("curl wget fetch aria2c http https xh lynx iwr irm invoke-webrequest invoke-restmethod", name)
}

// IsProcessSearch reports whether a program prints process ids.
func IsProcessSearch(name string) bool { return lex.Within("pgrep pidof ps lsof fuser", name) }

// PrintsSomething reports whether a program prints a line whenever it works.
func PrintsSomething(name string) bool {
	return lex.Within("basename dirname date uname hostname whoami id nproc pwd arch getconf uuidgen tty", name)
}

// EndlessOutput reports whether a program prints without an end.
func EndlessOutput(name string, rest []string) bool {
	return name == "yes" || name == "cat" && slices.ContainsFunc(rest, func(a string) bool { return a == "/dev/zero" || a == "/dev/urandom" || a == "/dev/random" })
}

// ShowsText reports whether a program only shows, searches or stores its
// arguments: to it they are data.
func ShowsText(name string) bool {
	return lex.Within("echo printf cat grep egrep fgrep rg ag git gh less head tail ls man which jq", name)
}

// ShowsNames reports whether a program prints nothing of what is in the files it
// is given, or its arguments are for another machine.
func ShowsNames(name string) bool {
	return lex.Within("echo printf test [ stat chmod chown wc du file basename dirname realpath readlink which ssh-keygen ssh-add ssh git touch mkdir md5sum sha1sum sha256sum "+
		"rm mv cp source . cd export docker true", name)
}

// IsNetcat reports whether a program is one of the forms of netcat.
func IsNetcat(name string) bool {
	return name == "nc" || name == "ncat" || name == "netcat" || strings.HasPrefix(name, "nc.")
}

// Compiles reports whether a program makes programs of sources: that they are run
// next is usual.
func Compiles(name string) bool {
	return lex.Within("gcc g++ cc c++ clang clang++ go rustc cargo ld tcc zig nim crystal ghc swiftc javac kotlinc dotnet gfortran nvcc tsc esbuild deno bun cmake ninja make", strings.TrimRight(name, "0123456789.-"))
}

// IsCompiler reports whether a program is a compiler or another tool that builds,
// such as gcc-12 or aarch64-linux-gnu-gcc.
func IsCompiler(name string) bool {
	base := strings.TrimRight(name, "0123456789.-")
	return slices.Contains(compilers, base[strings.LastIndexByte(base, '-')+1:])
}

var compilers = strings.Fields("gcc g++ cc c++ clang clang++ cpp tcc zig ar ld lld mold gfortran rustc rustdoc make gmake ccache sccache cachepot distcc icc icx icpx nvcc emcc em++ cl")

// OptionsDiffer reports whether -o and its like mean something else than a file
// that is written.
func OptionsDiffer(name string) bool {
	return lex.Within("docker kubectl terraform pytest set ssh find grep mount ps ls test", name) || IsShell(name)
}

// IsScript reports whether the name of a file is that of a program's source.
func IsScript(file string) bool {
	switch path.Ext(file) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".pyw", ".rb", ".pl", ".pm", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".go", ".java", ".c", ".rs", ".mk", ".vim", ".el", ".r", ".R", ".tcl", ".ps1", ".bat", ".cmd",
		".awk", ".sed", ".exp", ".jl", ".ex", ".exs", ".groovy", ".kts", ".swift", ".scala", ".clj", ".command", ".desktop", ".service", ".gdb", ".so", ".ko", ".nix":
		return true
	}
	return strings.HasSuffix(file, "playbook.yml") || strings.HasSuffix(file, "playbook.yaml")
}

// PassesOn reports whether a filter passes lines on as they are.
func PassesOn(name string) bool {
	return lex.Within("sort head tail cat tac tee uniq shuf rev pv less tr sponge sudo", name)
}

// ChangesFiles reports whether a command deletes the files that it gets.
func ChangesFiles(command []string) bool {
	switch lex.Program(Innermost(command)) {
	case "rm", "unlink", "shred", "srm", "rimraf":
		return true
	}
	return false
}

// DestroysFiles reports whether a command makes the files that it gets useless.
func DestroysFiles(command []string) bool {
	switch lex.Program(Innermost(command)) {
	case "rm", "unlink", "shred", "srm", "rimraf", "mv", "truncate", "chmod", "chown", "chgrp", "setfacl", "chattr":
		return true
	}
	return false
}

// IsDiskTool reports whether a program creates file systems, or changes disks and
// their volumes.
func IsDiskTool(name string) bool {
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return true
	}
	switch name {
	case "mke2fs", "mkdosfs", "mkntfs", "mkswap", "mkudffs", "format", "format.com", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "cfdisk", "gdisk", "cgdisk",
		"parted", "partprobe", "hdparm", "cryptsetup", "diskpart", "format-volume", "clear-disk", "diskutil", "badblocks", "nvme", "sg_format", "sg_sanitize", "sg_write_same", "scrub", "nwipe",
		"pvcreate", "pvremove", "vgremove", "vgreduce", "lvremove", "lvreduce", "mdadm", "zpool", "zfs", "dmsetup", "flashrom", "efibootmgr", "tune2fs", "resize2fs", "debugfs", "ntfsfix", "sdparm":
		return true
	}
	return false
}

// EverydayPrograms are programs that every system has and that users and scripts
// run all the time.
var EverydayPrograms = strings.Fields(`ls cat cp mv rm mkdir rmdir ln chmod chown touch head tail less more grep egrep sed awk sort uniq cut tr wc find xargs tee
	echo printf env test true false date sleep kill ps top df du mount umount tar gzip zip unzip sudo su doas passwd login id whoami uname hostname
	sh bash zsh dash fish ssh scp sftp rsync curl wget git make cc gcc ld as vi vim nano man which file stat diff patch crontab systemctl apt apt-get dnf yum pacman`)

// StandardProgram reports whether a program is named without a folder, or in one
// of the system.
func StandardProgram(name string) bool {
	folder, _ := path.Split(name)
	switch folder {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/":
		return true
	}
	return false
}

// InSystemFolder reports whether a path is that of a program of the system.
func InSystemFolder(p string) bool {
	folder, name := path.Split(p)
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-[") == "" &&
		lex.Within("/bin/ /sbin/ /usr/bin/ /usr/sbin/ /usr/local/bin/ /usr/local/sbin/ /opt/homebrew/bin/", folder)
}

// ProjectFiles are the files from which build tools take commands, by the tool.
// The names are in lower case, between spaces.
func ProjectFiles(name string) string {
	switch name {
	case "make", "gmake", "bmake":
		return " makefile gnumakefile bsdmakefile "
	case "npm", "pnpm", "yarn", "bun", "npx", "lerna", "turbo", "nx":
		return " package.json .npmrc .yarnrc .yarnrc.yml lerna.json turbo.json nx.json "
	case "docker", "podman", "nerdctl", "docker-compose":
		return " docker-compose.yml docker-compose.yaml compose.yml compose.yaml "
	case "just":
		return " justfile .justfile "
	case "task":
		return " taskfile.yml taskfile.yaml "
	case "rake", "bundle":
		return " rakefile gemfile "
	case "cargo":
		return " build.rs config.toml "
	case "cmake", "ctest":
		return " cmakelists.txt cmakepresets.json "
	case "pip", "pip3", "python", "python3", "poetry", "uv", "tox", "nox", "pytest", "pipx", "hatch", "pdm":
		return " setup.py setup.cfg pyproject.toml conftest.py tox.ini noxfile.py sitecustomize.py usercustomize.py pytest.ini "
	case "gradle", "gradlew":
		return " build.gradle build.gradle.kts settings.gradle settings.gradle.kts init.gradle "
	case "mvn", "mvnw", "ant":
		return " pom.xml build.xml "
	case "terraform", "tofu", "ansible-playbook", "ansible", "vagrant", "packer":
		return " vagrantfile ansible.cfg playbook.yml main.tf "
	case "gdb", "lldb":
		return " .gdbinit .lldbinit "
	case "vim", "vi", "nvim":
		return " .vimrc .exrc "
	case "direnv":
		return " .envrc "
	case "pre-commit":
		return " .pre-commit-config.yaml "
	case "tmux", "screen":
		return " .tmux.conf .screenrc "
	case "nix-build", "nix-shell", "nix":
		return " default.nix shell.nix flake.nix "
	}
	return ""
}

// A habit is what a well-known program does with its arguments. It makes the
// analysis ask less, never more: the arguments of every other program are judged
// as commands.
type habit int

const (
	NoHabit    habit = iota
	TakesNames       // its words are names of files, packages or targets; texts may be commands
	ReadsText        // its arguments are text that it shows, searches, sends or stores
)

// HabitOf returns the habit of a program.
func HabitOf(name string) habit {
	if h, ok := habits()[name]; ok {
		return h
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pip") {
		if strings.Trim(name, "pythoni0123456789.") == "" {
			return TakesNames
		}
	}
	return NoHabit
}

var habits = sync.OnceValue(func() map[string]habit {
	table := map[string]habit{}
	for h, names := range habitNames {
		for name := range strings.FieldsSeq(names) {
			table[name] = h
		}
	}
	return table
})

var habitNames = map[habit]string{
	ReadsText: `echo printf grep egrep fgrep zgrep rg ag ack git gh glab hub curl wget http https xh logger notify-send say espeak wall write mail expr
		man type apropos whatis whereis which help tr cut sed gsed awk gawk mawk jq yq xq dasel gron cowsay figlet toilet banner ast-grep semgrep comby
		read return exit set shift history tput seq date xmlstarlet xmllint pup htmlq llm ollama hermes jira linear slack az`,
	TakesNames: `cp mv ln rm install link rsync scp chmod chown chgrp chattr setfacl find fd tee sponge dd truncate shred unlink shellcheck shfmt bats sudo
		psql mysql mariadb sqlite3 mongosh cqlsh clickhouse-client duckdb bq claude codex gemini aider
		ls dir vdir cat tac head tail wc sort uniq comm diff cmp sdiff colordiff patch stat file du df touch mkdir rmdir basename dirname realpath readlink
		md5sum sha1sum sha256sum sha512sum shasum cksum b2sum nl rev paste join expand unexpand fold fmt column od hexdump xxd strings base64 base32 split csplit
		less more most bat tree exa eza lsd vim vi nvim nano emacs code subl micro helix hx ed open xdg-open test [ [[ true false : sleep pwd id whoami uname hostname
		tar gzip gunzip zcat bzip2 bunzip2 xz unxz zstd unzstd lz4 zip unzip 7z rar unrar gpg gpg2 openssl age minisign cosign
		make gmake bmake ninja cmake meson bazel bazelisk buck just task mage rake cargo rustup rustc go gofmt golangci-lint gcc g++ cc c++ clang clang++ ld ar
		npm pnpm yarn bun deno tsc eslint prettier jest vitest mocha webpack vite turbo nx lerna pip pip3 pipx uv poetry pdm hatch pipenv conda mamba micromamba tox nox pytest
		ruff black mypy isort flake8 pylint bundle gem composer php-cs-fixer phpunit mvn mvnw gradle gradlew sbt lein mix rebar3 stack cabal dotnet nuget swift xcodebuild pod fastlane
		apt apt-get aptitude apt-cache dpkg rpm yum dnf zypper pacman yay paru emerge apk brew port snap flatpak choco winget scoop nix nix-env pkg pkg_add xbps-install opkg
		add-apt-repository apt-key update-alternatives dpkg-reconfigure
		docker podman nerdctl docker-compose kubectl oc helm kustomize kind minikube k3d terraform tofu packer vagrant multipass virsh ansible ansible-playbook
		aws gcloud gsutil doctl heroku flyctl fly vercel netlify firebase supabase wrangler railway
		systemctl service journalctl launchctl loginctl pm2 supervisorctl crontab ps top htop kill pkill killall pgrep lsof ss netstat ip ifconfig ping dig nslookup host traceroute
		mount umount lsblk blkid free uptime vmstat iostat arch lscpu lspci lsusb dmesg sysctl adb fastboot
		ssh-keygen ssh-add ssh-copy-id ssh-keyscan asdf nvm fnm rbenv pyenv volta sdk mise export local declare typeset readonly unset alias unalias hash
		ffmpeg ffprobe convert magick pandoc pdflatex latexmk graphviz dot protoc buf sqlc goreleaser svn hg jj fossil pre-commit act getent`,
}
