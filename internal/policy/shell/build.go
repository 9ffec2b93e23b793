package shell

import (
	"path"
	"strings"
)

// projectFiles are the files from which build tools take commands, by the tool.
// The names are in lower case, between spaces.
func projectFiles(name string) string {
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

// builds judges build tools: those that take their commands from a file that the
// same line wrote, or from their input.
func (j *judge) builds(name string, rest []string, s situation) {
	if words := plainWords(rest); name == "go" && s.in.fed && len(words) > 1 && words[0] == "run" && isInput(words[1]) {
		j.codeInput(s)
	}
	list := projectFiles(name)
	if list == "" {
		return
	}
	for file := range j.files {
		base := strings.ToLower(path.Base(file))
		if strings.Contains(list, " "+base+" ") || strings.HasSuffix(base, ".mk") && strings.HasSuffix(name, "make") {
			j.ask("write-and-run", "runs commands from a file that the same command wrote")
		}
	}
	if !strings.HasSuffix(name, "make") {
		return
	}
	for i, a := range rest {
		value, attached := strings.CutPrefix(a, "-f")
		if long, ok := strings.CutPrefix(a, "--file="); ok {
			value, attached = long, true
		}
		if long, ok := strings.CutPrefix(a, "--makefile="); ok {
			value, attached = long, true
		}
		if (a == "-f" || a == "--file" || a == "--makefile") && i+1 < len(rest) {
			value, attached = rest[i+1], true
		}
		if !attached {
			continue
		}
		if isInput(value) && s.in.fed {
			j.ask("pipe-to-shell", "runs commands from its input")
		}
		j.runsFile(value, false, nil)
	}
}
