package track

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// TrustedFolder reports whether a folder belongs to the system or is one that
// tools make below the user's home.
func (l *Line) TrustedFolder(folder string) bool {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		folder = l.Context.Home + "/" + rest
	}
	if lex.Dynamic(folder) || !strings.HasPrefix(folder, "/") {
		return false
	}
	folder = path.Clean(folder)
	for _, system := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/snap", "/nix", "/run/current-system", "/home/linuxbrew", "/System", "/Library", "/Applications"} {
		if InFolder(folder, system) {
			return true
		}
	}
	home := strings.TrimSuffix(l.Context.Home, "/")
	rest, below := strings.CutPrefix(folder, home+"/")
	top, _, _ := strings.Cut(rest, "/")
	return home != "" && below && slices.Contains(toolFolders, top)
}

// toolFolders are folders in a home folder in which package managers and
// installers put programs.
var toolFolders = []string{
	".local", ".cargo", "go", "bin", ".npm-global", ".bun", ".deno", ".pyenv", ".rbenv", ".nvm", ".volta", ".asdf", ".sdkman", ".dotnet", ".poetry", ".yarn",
	".pnpm", ".krew", ".rvm", ".gem", ".composer", ".jenv", ".nodenv", ".goenv", ".linuxbrew", ".nix-profile", ".ghcup", ".cabal", ".opam", ".mix", ".pub-cache",
	"flutter", ".fzf", ".emacs.d", "miniconda3", "anaconda3", "mambaforge", "miniforge3", "Library", ".rustup", ".foundry", ".mise", ".fnm", ".pixi", ".juliaup",
}

// ProjectFolder reports whether a folder is in the one in which the command runs.
func (l *Line) ProjectFolder(folder string) bool {
	if folder == "" || lex.Dynamic(folder) || Temporary(folder) {
		return false
	}
	if !strings.HasPrefix(folder, "/") && l.Dir == "" {
		return !strings.HasPrefix(path.Clean(folder), "..")
	}
	p, ok := l.Absolute(folder)
	return ok && l.Dir != "" && InFolder(p, l.Dir)
}

// HomeFolder reports whether a folder is the user's home or one of the folders in
// which programs expect their settings.
func (l *Line) HomeFolder(folder string) bool {
	p, ok := l.Absolute(folder)
	if !ok || l.Context.Home == "" {
		return false
	}
	rest, below := strings.CutPrefix(p, strings.TrimSuffix(l.Context.Home, "/")+"/")
	return Same(p, l.Context.Home) || below && strings.HasPrefix(rest, ".") || l.TrustedFolder(p)
}

// AllFolders reports whether all folders of a list such as PATH are good.
func AllFolders(list string, good func(string) bool) bool {
	for folder := range strings.SplitSeq(list, ":") {
		if !good(folder) {
			return false
		}
	}
	return true
}

// ChangeTo enters the folder that a word names.
func (l *Line) ChangeTo(word string) {
	dir, known := l.Absolute(word)
	switch {
	case !known || slices.Contains(l.visited, dir):
	case len(l.visited) >= lex.MaxFiles:
		l.Exhausted()
	default:
		l.visited = append(l.visited, dir)
	}
	l.Enter(dir)
}

// Chdir judges cd, pushd and popd.
func (l *Line) Chdir(name string, args []string) {
	words, before := getopt.PlainWords(args), l.Dir
	stack := l.Vars[folderStack].List
	switch {
	case name == "popd" && len(words) == 0 && len(stack) > 0:
		l.Set(folderStack, Elements(stack[:len(stack)-1]))
		l.Enter(stack[len(stack)-1])
	case name == "popd":
		l.Enter("")
	case len(words) > 0 && words[0] == "-":
		dir, known := l.Value(previousFolder)
		if !known {
			dir = ""
		}
		l.Enter(dir)
	case name == "pushd" && (len(words) == 0 || strings.HasPrefix(words[0], "+")):
		l.Enter("") // changes the order of the folders
	case len(words) == 0:
		home, _ := l.Value("HOME")
		l.Enter(home)
	default:
		l.ChangeTo(words[0])
	}
	if name == "pushd" {
		l.Set(folderStack, Elements(append(stack[:len(stack):len(stack)], before)))
	}
	l.Set(previousFolder, Exactly(folderOrUnknown(before)))
}

// Names under which folders are remembered besides the variables of the shell.
const (
	previousFolder = "OLDPWD"
	folderStack    = "\x00folders"
)

func folderOrUnknown(dir string) string {
	if dir == "" {
		return lex.Unknown
	}
	return dir
}
