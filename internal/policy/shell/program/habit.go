package program

import (
	"strings"
	"sync"
)

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
