package checkpoint

import (
	"context"
	"encoding/json"
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
func (s *Stores) targetsOf(ctx context.Context, c *hermes.Call) ([]target, error) {
	is, ok := changeOf(c)
	if !ok {
		return nil, nil
	}
	env, work := c.Host.Environment(), c.Host.Session().Dir
	files := env.Files()
	if !onHost(files) {
		return s.targetsAway(ctx, c.Host.Session(), env, is)
	}
	if len(is.paths) > 0 {
		return s.byFolder(files, work, is.paths), nil
	}
	at, err := files.Resolve(orDot(is.dir))
	if err != nil {
		return nil, err
	}
	return []target{{store: s.Here, root: s.rootOf(resolved(at), work), about: is.about}}, nil
}

// targetsAway is targetsOf for a session that does not work on this machine.
func (s *Stores) targetsAway(ctx context.Context, in hermes.SessionRef, env hermes.Environment, is change) ([]target, error) {
	store := s.away(in.ID, env)
	if store == nil {
		return nil, nil
	}
	files := env.Files()
	work, err := files.Resolve(orDot(in.Dir))
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

// byFolder sorts files by the folder that a snapshot of them is made of.
func (s *Stores) byFolder(files hermes.Files, work string, paths []string) []target {
	var out []target
	for _, p := range paths {
		at, err := files.Resolve(p)
		if err != nil || p == "" {
			continue
		}
		at = resolved(at)
		root := s.rootOf(filepath.Dir(at), work)
		rel, err := filepath.Rel(root, at)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		out = add(out, s.Here, root, filepath.ToSlash(rel))
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
