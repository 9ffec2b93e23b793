package checkpoint

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/patch"
	"hermes/internal/policy/shell"
	"hermes/internal/text"
)

// A target is a folder in which a call may change files.
type target struct {
	store *checkpoint.Store
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

// A change is what a call may change: files, or whatever is in the folder in which it runs.
type change struct {
	paths []string // none: any
	dir   string   // of a command
	about string   // of a command, for the reason of the snapshot
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

// changeOf says what a call may change; ok is false if that is nothing.
func changeOf(c *hermes.Call) (is change, ok bool) {
	var in arguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return change{}, false
	}
	switch c.Name {
	case "write_file":
		return change{paths: []string{in.Path}}, in.Path != ""
	case "patch":
		if in.Path != "" {
			return change{paths: []string{in.Path}}, true
		}
		p, err := patch.Parse(in.Patch)
		if err != nil || len(p.Paths()) == 0 {
			return change{}, false // the tool says what is wrong
		}
		return change{paths: p.Paths()}, true
	case "terminal":
		return change{dir: in.Workdir, about: ": " + text.OneLine(in.Command, 60)}, mayChange(in.Command)
	case "execute_code":
		return change{}, true
	}
	return change{}, false
}

// targetsOf returns where a call may change files.
func (h *hook) targetsOf(ctx context.Context, c *hermes.Call) ([]target, error) {
	is, ok := changeOf(c)
	if !ok {
		return nil, nil
	}
	env, work := c.Host.Environment(), c.Host.Session().Dir
	files := env.Files()
	if here, ok := files.(hermes.HostFiles); !ok || !here.OnHost() {
		return h.elsewhere(ctx, c.Host.Session(), env, is)
	}
	if len(is.paths) > 0 {
		return h.byFolder(files, work, is.paths), nil
	}
	at, err := files.Resolve(orDot(is.dir))
	if err != nil {
		return nil, err
	}
	return []target{{store: h.Store, root: h.rootOf(resolved(at), work), about: is.about}}, nil
}

// elsewhere is targetsOf for a session that does not work on this machine.
func (h *hook) elsewhere(ctx context.Context, s hermes.SessionRef, env hermes.Environment, is change) ([]target, error) {
	store := h.storeOf(s.ID, env)
	if store == nil {
		return nil, nil
	}
	files := env.Files()
	work, err := files.Resolve(orDot(s.Dir))
	if err != nil {
		return nil, err
	}
	paths := is.paths
	if len(paths) == 0 {
		paths = []string{orDot(is.dir)}
	}
	var out []target
	for _, p := range paths {
		at, err := files.Resolve(p)
		if err != nil {
			continue // the tool says what is wrong
		}
		root, rel, err := store.Root(ctx, work, at)
		if err != nil {
			return nil, err
		}
		if len(is.paths) == 0 {
			return []target{{store: store, root: root, about: is.about}}, nil
		}
		out = add(out, store, root, rel)
	}
	return out, nil
}

// storeOf returns the store of a session elsewhere, nil if its place keeps no snapshots.
func (h *hook) storeOf(session string, env hermes.Environment) *checkpoint.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.stores.Get(session); ok {
		return s
	}
	if h.Elsewhere == nil {
		return nil
	}
	s := h.Elsewhere(session, env)
	h.stores.Put(session, s)
	return s
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
		out = add(out, h.Store, root, filepath.ToSlash(rel))
	}
	return out
}

// add adds a path to the target of its folder.
func add(list []target, store *checkpoint.Store, root, rel string) []target {
	i := slices.IndexFunc(list, func(t target) bool { return t.root == root })
	if i < 0 {
		list = append(list, target{store: store, root: root, about: " " + rel})
		i = len(list) - 1
	}
	list[i].paths = append(list[i].paths, rel)
	return list
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
