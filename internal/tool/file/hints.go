package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/policy"
	"hermes/internal/policy/shell/inspect"
)

const (
	// maxHint bounds the characters shown of one instruction file.
	maxHint = 8_000
	// maxHints bounds the bytes of instruction files after which one result gets
	// no more.
	maxHints = 16_000
	// maxHintFolders bounds the folders checked above a touched one.
	maxHintFolders = 16
)

// addHints appends to a result the agent instructions (AGENTS.md and the like)
// of the folders that the call touched below the session's working folder. The
// working folder's own instructions are in the prompt. Each folder and each
// text is shown once a session.
func (t *Toolset) addHints(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	if r.Failed && !ran(r) || c.Host.Session().IgnoreRules {
		return
	}
	files := c.Host.Environment().Files()
	root, err := files.Resolve(c.Host.Session().Dir)
	if c.Host.Session().Dir == "" {
		root, err = files.Resolve(".")
	}
	if err != nil {
		return
	}
	paths := slices.DeleteFunc(touched(c, root), func(path string) bool {
		p, err := files.Resolve(path)
		return err != nil || p == root || t.told(c, root, p)
	})
	if len(paths) == 0 {
		return // as for most commands
	}
	realRoot, err := realPath(ctx, files, root)
	if err != nil {
		return
	}
	full := len(r.Text) + maxHints
	for _, path := range paths {
		p, err := t.locate(ctx, c.Host, path)
		if err != nil || p.info == nil {
			continue
		}
		dir := p.path
		if !p.info.IsDir() {
			dir, _ = splitPath(p.path)
		}
		for _, folder := range foldersBelow(root, dir) {
			if len(r.Text) > full {
				return // the others come with a later call
			}
			if !t.ledger.first(sessionOf(c), "folder "+folder) || dependency(root, folder) {
				continue
			}
			t.knowRoot(ctx, c, realRoot) // only now: in a place elsewhere each look takes time
			text, from := t.hint(ctx, c, realRoot, folder)
			r.Text, r.Provenance = r.Text+text, hermes.AddProvenance(r.Provenance, from)
		}
	}
}

// told reports whether the folders of a path are known to have nothing to show. It looks at nothing, since
// in a place elsewhere that takes time.
func (t *Toolset) told(c *hermes.Call, root, path string) bool {
	switch c.Name {
	case nameRead, nameWrite, namePatch: // it is a file
		path, _ = splitPath(path)
	}
	return !slices.ContainsFunc(foldersBelow(root, path), func(folder string) bool {
		return !t.ledger.shown(sessionOf(c), "folder "+folder) && !dependency(root, folder)
	})
}

// foldersBelow lists dir and the folders between it and root, root excluded,
// outermost first. It is empty if dir is not below root.
func foldersBelow(root, dir string) []string {
	var list []string
	for dir != root && len(list) < maxHintFolders {
		list = append([]string{dir}, list...)
		up, _ := splitPath(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
	if dir != root {
		return nil
	}
	return list
}

// knowRoot records the working folder's instructions as shown, since they are
// in the prompt. They are not there if the folder has a .hermes.md or
// HERMES.md, which the prompt shows instead.
func (t *Toolset) knowRoot(ctx context.Context, c *hermes.Call, root string) {
	if !t.ledger.first(sessionOf(c), "root") {
		return
	}
	for _, name := range present(ctx, c, root, ".hermes.md", "HERMES.md") {
		if p, err := t.locate(ctx, c.Host, joinPath(root, name)); err == nil && p.info != nil {
			return
		}
	}
	if _, data, ok := t.notes(ctx, c, root, root); ok {
		t.ledger.first(sessionOf(c), textKey(data))
	}
}

// textKey is the ledger's key for a text.
func textKey(data []byte) string { return fmt.Sprintf("text %x", sha256.Sum256(data)) }

// dependency reports whether a folder below root belongs to somebody else's code,
// whose instructions are not those of the project.
func dependency(root, folder string) bool {
	for name := range strings.SplitSeq(filepath.ToSlash(strings.TrimPrefix(folder, root)), "/") {
		switch name {
		case "node_modules", "bower_components", "jspm_packages", "vendor", "third_party", "third-party", "site-packages", "dist-packages",
			".venv", "venv", ".tox", ".nox", ".eggs", "Pods", "Carthage", "deps", "_deps", ".cargo", ".gradle", ".m2", ".yarn", ".pnpm-store", ".git":
			return true
		}
	}
	return false
}

// notes reads the first instruction file of a folder that is not blank, up to
// a bound. A file that is a link out of the folder root, or that holds secrets,
// does not count.
func (t *Toolset) notes(ctx context.Context, c *hermes.Call, root, folder string) (p location, data []byte, ok bool) {
	for _, name := range present(ctx, c, folder, "AGENTS.md", "CLAUDE.md", ".cursorrules") {
		p, err := t.locate(ctx, c.Host, joinPath(folder, name))
		if err != nil || p.info == nil || !p.info.Mode().IsRegular() {
			continue
		}
		if len(foldersBelow(root, p.real)) == 0 || dependency(root, p.real) || p.rules.Secret(p.path, p.real) {
			continue
		}
		f, err := p.files.Open(ctx, p.real)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, 4*maxHint))
		f.Close()
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			return p, data, true
		}
	}
	return location{}, nil, false
}

// present returns those of the names that a folder may have. Where each look takes time, the
// folder is listed once.
func present(ctx context.Context, c *hermes.Call, folder string, names ...string) []string {
	files := linkless(c.Host.Environment().Files())
	if _, slow := files.(hermes.LocatingFiles); !slow {
		return names
	}
	entries, err := files.List(ctx, folder)
	if err != nil {
		return names // whatever is wrong shows with each of them
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), name) })
	})
}

// hint returns the text to append for one folder, "" if there is nothing new,
// and the file it is from.
func (t *Toolset) hint(ctx context.Context, c *hermes.Call, root, folder string) (text, from string) {
	p, data, ok := t.notes(ctx, c, root, folder)
	if !ok || !t.ledger.first(sessionOf(c), textKey(data)) {
		return "", ""
	}
	text = strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
	if found := policy.Injection(text); found != "" {
		return fmt.Sprintf("\n\n[BLOCKED: %s looks like an attempt to steer the agent (%s) and is not shown]", p.path, found), ""
	}
	note := ""
	if short, cut := firstRunes(text, maxHint); cut || p.info.Size() > int64(len(data)) {
		text, note = short, fmt.Sprintf("\n[cut at %d characters: read the rest with read_file]", maxHint)
	}
	return fmt.Sprintf("\n\n[Instructions for work below %s, from %s]\n%s%s", folder, p.path, text, note),
		hermes.ProjectFileSource(p.short())
}

// ran reports whether a call that failed ran a command. The command has touched
// its files, whatever its status.
func ran(r *hermes.Result) bool {
	var out struct {
		Code *int `json:"exit_code"`
	}
	return json.Unmarshal([]byte(r.Text), &out) == nil && out.Code != nil
}

// touched lists the paths that a call may name: its path, its working folder, the
// files of a patch, and the words of a command. The command has run, so the
// current folder also says where it went.
func touched(c *hermes.Call, root string) []string {
	if c.Name == namePatch {
		return patchPaths(c.Arguments)
	}
	var in struct {
		Path    string `json:"path"`
		Workdir string `json:"workdir"`
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Arguments, &in) != nil {
		return nil
	}
	list := []string{in.Path, in.Workdir}
	from := []string{in.Workdir}
	if in.Command != "" && in.Workdir == "" {
		from = []string{"", root}
		list = append(list, ".")
	}
	most := maxNamedRemote
	if here, ok := c.Host.Environment().Files().(hermes.HostFiles); ok && here.OnHost() {
		most = maxNamedHere
	}
	for i, named := range inspect.Paths(in.Command[:min(len(in.Command), maxScanned)]) {
		if i == most {
			break
		}
		for _, base := range from {
			if path := under(base, named); !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return slices.DeleteFunc(list, func(path string) bool { return path == "" || strings.Contains(path, "://") })
}

// under joins a relative folder with its base. Other folders are returned as they are.
func under(base, folder string) string {
	if base == "" || filepath.IsAbs(folder) || strings.HasPrefix(folder, "/") || strings.HasPrefix(folder, "~") {
		return folder
	}
	return joinPath(base, folder)
}

const (
	// maxScanned bounds the bytes of a command that are searched for paths.
	maxScanned = 4096
	// maxNamedHere and maxNamedRemote bound the paths of a command that are looked
	// up, on this machine and where each takes a command.
	maxNamedHere   = 64
	maxNamedRemote = 8
)
