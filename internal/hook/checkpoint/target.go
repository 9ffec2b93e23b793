package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/patch"
	"hermes/internal/policy/shell"
	"hermes/internal/text"
)

// A target is a folder in which a call may change files.
type target struct {
	root  string
	paths []string // in the folder, with slashes; none: any
	about string   // for the reason of the snapshot, such as " a.go"
}

// arguments are those of the tools that change files.
type arguments struct {
	Path    string `json:"path"`
	Patch   string `json:"patch"`
	Command string `json:"command"`
	Workdir string `json:"workdir"`
}

// targetsOf returns where a call may change files of this machine.
func (h *hook) targetsOf(c *hermes.Call) []target {
	files := c.Host.Environment().Files()
	if here, ok := files.(hermes.HostFiles); !ok || !here.OnHost() {
		return nil
	}
	var in arguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return nil
	}
	work := c.Host.Session().Dir
	switch c.Name {
	case "write_file":
		return h.byFolder(files, work, []string{in.Path})
	case "patch":
		if in.Path != "" {
			return h.byFolder(files, work, []string{in.Path})
		}
		p, err := patch.Parse(in.Patch)
		if err != nil {
			return nil // the tool says what is wrong
		}
		return h.byFolder(files, work, p.Paths())
	case "terminal":
		if !mayChange(in.Command) {
			return nil
		}
		return h.whole(files, work, in.Workdir, ": "+text.OneLine(in.Command, 60))
	case "execute_code":
		return h.whole(files, work, "", "")
	}
	return nil
}

// Folder returns the folder that snapshots of a session's files are made of, and false if they
// are not on this machine. home is the user's own folder; "" is unknown.
func Folder(h hermes.Host, home string) (string, bool) {
	files := h.Environment().Files()
	if here, ok := files.(hermes.HostFiles); !ok || !here.OnHost() {
		return "", false
	}
	dir := h.Session().Dir
	if dir == "" {
		var err error
		if dir, err = files.Resolve("."); err != nil {
			return "", false
		}
	}
	return (&hook{Config: Config{Home: home}}).rootOf(resolved(dir), dir), true
}

// whole is the folder in which a command runs.
func (h *hook) whole(files hermes.Files, work, dir, about string) []target {
	at, err := files.Resolve(orDot(dir))
	if err != nil {
		return nil
	}
	return []target{{root: h.rootOf(resolved(at), work), about: about}}
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// byFolder sorts files by the folder that a snapshot of them is made of.
func (h *hook) byFolder(files hermes.Files, work string, paths []string) []target {
	var out []target
	for _, p := range paths {
		at, err := files.Resolve(p)
		if err != nil || p == "" {
			continue
		}
		at = resolved(at)
		root := h.rootOf(filepath.Dir(at), work)
		rel, err := filepath.Rel(root, at)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		i := slices.IndexFunc(out, func(t target) bool { return t.root == root })
		if i < 0 {
			out = append(out, target{root: root, about: " " + filepath.ToSlash(rel)})
			i = len(out) - 1
		}
		out[i].paths = append(out[i].paths, filepath.ToSlash(rel))
	}
	return out
}

// resolved follows the links of a path as far as it exists.
func resolved(at string) string {
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	dir := filepath.Dir(at)
	if dir == at {
		return at
	}
	return filepath.Join(resolved(dir), filepath.Base(at))
}

// rootOf returns the folder that a snapshot is made of for changes in dir: that of the session
// if dir is in it, else the nearest one above with a repository, else dir, or what of it
// exists. The home folder is never the root of a file below: a session that began there works
// in many projects.
func (h *hook) rootOf(dir, work string) string {
	home := ""
	if h.Home != "" {
		home = resolved(h.Home)
	}
	if work != "" {
		if work = resolved(work); work != home && inside(work, dir) {
			return work
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil && at != home {
			return at
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
	}
}

func inside(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && filepath.IsLocal(rel)
}

// harmless are redirections that write no file.
var harmless = regexp.MustCompile(`(?:\d|&)?>>?\s*(?:/dev/null\b|&\d)`)

// mayChange reports whether a command line may change files. What is not known to only read
// may.
func mayChange(line string) bool {
	if strings.Contains(harmless.ReplaceAllString(line, " "), ">") {
		return true
	}
	changes := false
	complete := shell.Commands(line, func(words []string) bool {
		changes = len(words) > 0 && !onlyReads(filepath.Base(words[0]), words[1:])
		return !changes
	})
	return changes || !complete
}

// readers are programs that write no file, with the beginnings of the options with which they
// do, or run others that may.
var readers = map[string]string{
	"sort": "-o --o", "find": "-delete -exec -ok -fprint -fls", "rg": "--pre", "date": "-s --set", "file": "-C --compile",
	"cat": "", "ls": "", "head": "", "tail": "", "wc": "", "grep": "", "egrep": "", "fgrep": "", "cut": "", "tr": "", "diff": "", "cmp": "",
	"stat": "", "du": "", "df": "", "which": "", "type": "", "pwd": "", "basename": "", "dirname": "", "realpath": "", "readlink": "",
	"id": "", "whoami": "", "uname": "", "printenv": "", "echo": "", "printf": "", "true": "", "false": "", "test": "", "[": "", "cd": "",
	"ps": "", "sha256sum": "", "md5sum": "", "od": "", "jq": "", "nl": "", "sleep": "", "seq": "",
}

// gitReads are the subcommands of git that change no file of the workspace.
var gitReads = []string{"status", "log", "diff", "show", "blame", "ls-files", "ls-tree", "rev-parse", "describe", "cat-file", "shortlog", "rev-list"}

func onlyReads(name string, rest []string) bool {
	if name == "git" {
		return len(rest) > 0 && slices.Contains(gitReads, rest[0]) && !anyBegins(rest, "-o --output --ext-diff")
	}
	writing, ok := readers[name]
	return ok && !anyBegins(rest, writing)
}

// anyBegins reports whether a word begins with one of options.
func anyBegins(words []string, options string) bool {
	for _, o := range strings.Fields(options) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, o) }) {
			return true
		}
	}
	return false
}
