package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/sandbox/gitguard"
)

// chain is a tool chain that is installed in the user's home.
type chain struct {
	on       string   // the folder, below the home, that PATH entries are in
	roots    []string // what it needs, below the home
	variable string   // names the first root for the tool; the home is another one
}

// chains are the tool chains that programs are found in. What else they hold, such as
// credentials of cargo, is hidden by the table of protected paths.
var chains = []chain{
	{".cargo", []string{".cargo", ".rustup"}, ""},
	{".rustup", []string{".rustup"}, ""},
	{".pyenv", []string{".pyenv"}, "PYENV_ROOT"},
	{".rbenv", []string{".rbenv"}, "RBENV_ROOT"},
	{".nodenv", []string{".nodenv"}, "NODENV_ROOT"},
	{".goenv", []string{".goenv"}, "GOENV_ROOT"},
	{".jenv", []string{".jenv"}, ""},
	{".asdf", []string{".asdf"}, "ASDF_DATA_DIR"},
	{".nvm", []string{".nvm"}, "NVM_DIR"},
	{".volta", []string{".volta"}, "VOLTA_HOME"},
	{".sdkman", []string{".sdkman"}, "SDKMAN_DIR"},
	{".bun", []string{".bun"}, ""},
	{".deno", []string{".deno"}, ""},
	{".dotnet", []string{".dotnet"}, "DOTNET_ROOT"},
	{".ghcup", []string{".ghcup"}, ""},
	{".cabal", []string{".cabal/bin", ".cabal/lib"}, ""},
	{".opam", []string{".opam"}, "OPAMROOT"},
	{".juliaup", []string{".juliaup", ".julia/juliaup"}, ""},
	{".pixi", []string{".pixi"}, ""},
	{".rye", []string{".rye"}, ""},
	{".poetry", []string{".poetry"}, ""},
	{".elan", []string{".elan"}, "ELAN_HOME"},
	{".krew", []string{".krew/bin", ".krew/store"}, ""},
	{".npm-global", []string{".npm-global"}, ""},
	{".npm-packages", []string{".npm-packages"}, ""},
	{".yarn", []string{".yarn/bin", ".config/yarn/global"}, ""},
	{".config/yarn/global", []string{".config/yarn/global"}, ""},
	{".composer/vendor", []string{".composer/vendor"}, ""},
	{".config/composer/vendor", []string{".config/composer/vendor"}, ""},
	{".linuxbrew", []string{".linuxbrew"}, ""},
	{".foundry", []string{".foundry/bin"}, ""},
	{".local/share/pnpm", []string{".local/share/pnpm"}, ""},
	{".local/share/fnm", []string{".local/share/fnm"}, ""},
	{".local/share/mise", []string{".local/share/mise"}, "MISE_DATA_DIR"},
	{".local/share/uv", []string{".local/share/uv"}, ""},
	{".local/share/pipx", []string{".local/share/pipx"}, ""},
	{".local/pipx", []string{".local/pipx"}, ""},
	{".local/share/pypoetry", []string{".local/share/pypoetry"}, ""},
	{".local/bin", []string{".local/bin", ".local/lib"}, ""}, // pip install --user puts libraries there
	{"go", []string{"go/bin"}, ""},                           // sources in go/src are other projects
	{"miniconda3", []string{"miniconda3"}, ""},
	{"anaconda3", []string{"anaconda3"}, ""},
	{"miniforge3", []string{"miniforge3"}, ""},
	{"mambaforge", []string{"mambaforge"}, ""},
	{"google-cloud-sdk", []string{"google-cloud-sdk"}, ""},
}

// tools decides which entries of PATH remain, and allows reading the tool chains in
// them.
func (p *planner) tools() {
	writable := append([]string{}, p.Policy.Write...)
	if p.reads() && !p.wide() {
		writable = append(writable, p.Workspace) // also where this profile only reads: others write it
	}
	for _, entry := range p.Path {
		p.entry(filepath.Clean(entry), writable)
	}
	if p.Profile == Browser {
		return
	}
	for _, name := range []string{"GOROOT", "JAVA_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "DOTNET_ROOT", "GRADLE_HOME", "MAVEN_HOME"} {
		if at := p.variable(name); filepath.IsAbs(at) && looksInstalled(at) {
			p.tool(followed(at))
		}
	}
	for _, c := range chains {
		if at := p.variable(c.variable); c.variable != "" && filepath.IsAbs(at) {
			p.chosen(at)
		}
	}
}

// chosen allows a tool chain that a variable of its own names. It may be a clone of a
// repository, as that of pyenv is.
func (p *planner) chosen(at string) {
	real := followed(at)
	if isFolder(real) && !p.systemPath(real) && !exists(filepath.Join(real, ".env")) && !within(real, p.Workspace) &&
		!holds(real, append([]string{p.home, p.state, p.Cache, p.Workspace}, p.secrets...)) {
		p.read(at)
	}
}

// entry judges one entry of PATH. An entry that is not absolute depends on where a
// command runs, and one that can be written would let a command replace a program of
// the next.
func (p *planner) entry(entry string, writable []string) {
	if !filepath.IsAbs(entry) {
		p.note("%q is taken out of PATH: it is not an absolute path", entry)
		return
	}
	real, err := filepath.EvalSymlinks(entry)
	if err != nil {
		return // nothing is there, and nothing that could be made there is trusted
	}
	if withinAny(real, writable) || withinAny(entry, writable) {
		p.note("%s is taken out of PATH: commands can write to it", entry)
		return
	}
	if p.closed(real) {
		p.note("%s is taken out of PATH: it is in a folder that stays closed", entry)
		return
	}
	if slices.Contains(p.path, entry) {
		return
	}
	p.links(entry)
	if within(entry, p.home0) || within(entry, p.home) {
		entry = real // a command could replace a link in the private home
	}
	p.path = append(p.path, entry)
	if p.systemPath(real) || p.Profile == Browser {
		return
	}
	p.tool(real)
	p.linked(real)
}

func (p *planner) systemPath(at string) bool {
	return withinAny(at, strings.Fields(systemFolders)) && !within(at, p.home)
}

// tool allows what the tool in a folder needs.
func (p *planner) tool(dir string) {
	if p.systemPath(dir) || withinAny(dir, p.Policy.Read) {
		return
	}
	if rel, err := filepath.Rel(p.home, dir); err == nil && filepath.IsLocal(rel) {
		for _, c := range chains {
			if within("/"+rel, "/"+c.on) {
				p.chain(c)
				return
			}
		}
	}
	parent := filepath.Dir(dir)
	if base := filepath.Base(dir); (base == "bin" || base == "sbin" || base == "shims") && looksInstalled(parent) && p.safeRoot(parent) {
		p.read(parent)
		return
	}
	if p.safeRoot(dir) {
		p.read(dir)
	}
}

// chain allows a known tool chain.
func (p *planner) chain(c chain) {
	for _, root := range c.roots {
		p.read(filepath.Join(p.home, root))
	}
	if at := filepath.Join(p.home0, c.roots[0]); c.variable != "" && exists(at) {
		p.Set = append(p.Set, c.variable+"="+at)
	}
}

// safeRoot reports whether a folder may be opened as one of an unknown tool: it is not
// the home or above it, and holds no secret and no project.
func (p *planner) safeRoot(dir string) bool {
	if holds(dir, append([]string{p.home, p.state, p.Cache}, p.secrets...)) || exists(filepath.Join(dir, ".git")) || exists(filepath.Join(dir, ".env")) {
		return false
	}
	switch rel, _ := filepath.Rel(p.home, dir); rel {
	case ".local", ".config", ".local/share", ".local/state", ".cache", "Library", "Documents", "Desktop", "Downloads":
		return false
	}
	return dir != "/" && dir != "/home" && dir != "/tmp" && dir != "/var" && dir != "/root" && dir != "/etc"
}

// looksInstalled reports whether a folder has the form of an installed tool.
func looksInstalled(dir string) bool {
	for _, name := range []string{"lib", "lib64", "libexec", "share", "include", "pyvenv.cfg", "conda-meta", "pkg/tool", "platform-tools"} {
		if exists(filepath.Join(dir, name)) {
			return !exists(filepath.Join(dir, ".git"))
		}
	}
	return false
}

// maxLinks is how many entries of a folder on PATH are looked at.
const maxLinks = 1024

// linked allows the tools that links in a folder on PATH lead to, as those of uv and
// pipx in ~/.local/bin.
func (p *planner) linked(dir string) {
	f, err := gitguard.OpenFolder(dir)
	if err != nil {
		return
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxLinks)
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		at := filepath.Join(dir, e.Name())
		for range 8 { // each step of a chain of links
			to, err := os.Readlink(at)
			if err != nil {
				break
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = to
			p.target(e.Name(), filepath.Clean(at))
		}
	}
}

// target allows the tool that a link on PATH leads to.
func (p *planner) target(name, at string) {
	real, err := filepath.EvalSymlinks(filepath.Dir(at))
	if err != nil || p.closed(real) || !exists(at) {
		return
	}
	if within(real, p.Workspace) && !p.wide() {
		p.note("%s on PATH leads into the workspace, where commands can change it", name)
		return
	}
	if p.systemPath(real) || withinAny(real, p.Policy.Read) {
		return
	}
	rel, err := filepath.Rel(p.home, real)
	if err == nil && filepath.IsLocal(rel) {
		for _, c := range chains {
			if within("/"+rel, "/"+c.on) {
				p.chain(c)
				return
			}
		}
		parts := strings.Split(rel, "/")
		if len(parts) > 2 && parts[0] == ".local" && (parts[1] == "share" || parts[1] == "lib" || parts[1] == "opt") {
			if root := filepath.Join(append([]string{p.home}, parts[:3]...)...); p.safeRoot(root) {
				p.read(root)
				return
			}
		}
	}
	p.tool(real)
	if !withinAny(real, p.Policy.Read) { // its folder is not safe to open: the program alone
		p.read(at)
	}
}
