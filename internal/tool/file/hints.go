package file

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hermes"
	"hermes/internal/policy"
)

const (
	// maxHint bounds the characters taken over from one hint file.
	maxHint = 8_000
	// maxHintFolders bounds the folders above a touched one that are looked at.
	maxHintFolders = 16
)

// addHints appends to a result the instructions that projects leave for agents
// in the folders the call has touched: those below the session's working folder,
// whose own instructions are in the prompt. Each folder, and each text, is shown
// once in a session.
func (t *Toolset) addHints(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	if r.Failed || c.Host == nil {
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
	for _, path := range touched(c) {
		p, err := t.place(ctx, c.Host, path)
		if err != nil || p.info == nil {
			continue
		}
		dir := p.path
		if !p.info.IsDir() {
			dir, _ = splitPath(p.path)
		}
		for _, folder := range foldersBelow(root, dir) {
			if !t.ledger.first(sessionOf(c), "folder "+folder) {
				continue
			}
			text, from := t.hint(ctx, c, folder)
			r.Text, r.Outside = r.Text+text, hermes.AddOutside(r.Outside, from)
		}
	}
}

// foldersBelow lists dir and the folders between it and root, root excluded,
// outermost first. It is empty when dir does not lie below root.
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

// hint gives what to append for one folder, "" if there is nothing new, and
// the file that it is from.
func (t *Toolset) hint(ctx context.Context, c *hermes.Call, folder string) (text, from string) {
	for _, name := range [...]string{"AGENTS.md", "CLAUDE.md", ".cursorrules"} {
		p, err := t.place(ctx, c.Host, joinPath(folder, name))
		if err != nil || p.info == nil || !p.info.Mode().IsRegular() || !p.readVerdict().Allowed() {
			continue
		}
		f, err := p.files.Open(ctx, p.real)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, 4*maxHint))
		f.Close()
		text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
		if err != nil || text == "" || !t.ledger.first(sessionOf(c), fmt.Sprintf("text %x", sha256.Sum256(data))) {
			return "", ""
		}
		if found := policy.Injection(text); found != "" {
			return fmt.Sprintf("\n\n[BLOCKED: %s looks like an attempt to steer the agent (%s) and is not shown]", p.path, found), ""
		}
		note := ""
		if short, cut := firstRunes(text, maxHint); cut || p.info.Size() > int64(len(data)) {
			text, note = short, fmt.Sprintf("\n[cut at %d characters: read the rest with read_file]", maxHint)
		}
		return fmt.Sprintf("\n\n[Instructions for work below %s, from %s]\n%s%s", folder, p.path, text, note),
			hermes.OutsideSource("project file", p.short())
	}
	return "", ""
}

// touched lists the paths a call names: its path, its working folder, the
// files of a patch, and where a command goes with cd or pushd.
func touched(c *hermes.Call) []string {
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
	var list []string
	for _, path := range append([]string{in.Path, in.Workdir}, changedFolders(in.Command)...) {
		if path != "" && !strings.Contains(path, "://") {
			list = append(list, path)
		}
	}
	return list
}

// changedFolders finds the plain targets of cd and pushd in a command line.
func changedFolders(command string) []string {
	const maxScanned = 4096
	var list []string
	words := strings.Fields(command[:min(len(command), maxScanned)])
	for i, w := range words[:max(len(words)-1, 0)] {
		atStart := i == 0 || strings.HasSuffix(words[i-1], ";") || words[i-1] == "&&" || words[i-1] == "||"
		if (w == "cd" || w == "pushd") && atStart {
			target := strings.Trim(strings.TrimRight(words[i+1], ";&|"), `"'`)
			if !strings.ContainsAny(target, "$`*?") && !strings.HasPrefix(target, "-") {
				list = append(list, target)
			}
		}
	}
	return list
}
