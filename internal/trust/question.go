package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"hermes"
	"hermes/internal/patch"
	"hermes/internal/text"
	"hermes/internal/yamledit"
)

const (
	maxShown = 4 << 10 // bytes of a program that are shown whole
	maxDiff  = 60      // lines of the changes of one file
)

// Question describes the settings of a project to the user who is to trust them: the
// folder, each file, what it would allow or start, and what has changed since the version
// that was trusted last. Hidden characters are spelled out.
func Question(p Project, d Decision) hermes.Subject {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if d.Before != nil && p.Hash != d.Before.Hash {
		line("These files have changed since you trusted the folder on %s.", d.Before.At.Local().Format("2006-01-02"))
	}
	for _, f := range p.Files {
		line("%s (%s)", text.VisibleName(f.Path), text.Size(int64(len(f.Content))))
		for _, row := range does(f) {
			line("  %s", strings.ReplaceAll(text.Visible(row), "\n", "\n    "))
		}
	}
	if changes := changes(p, d.Before); changes != "" {
		line("Changes:\n%s", strings.TrimSuffix(text.Visible(changes), "\n"))
	}
	line("Hash: %s", p.Hash)
	return hermes.Subject{Text: "trust the project settings of " + p.Dir, Detail: b.String(), Dir: p.Root}
}

// does says what a file would allow or start. What is not understood is shown whole.
func does(f File) []string {
	switch {
	case f.Name == Permissions:
		return allows(f.Content)
	case f.Name == MCP || f.Name == CursorMCP:
		return append(servers(f.Content), "Once trusted, these servers are started when Hermes works in this folder.")
	case f.Name == Config:
		return append(whole(f.Content), "The hooks in it run in sessions of this folder. Everything else in it is not read.")
	case f.Program:
		return append([]string{"a program that hooks may run:"}, whole(f.Content)...)
	}
	return append([]string{"a file that hooks may use:"}, whole(f.Content)...)
}

// whole is the content of a file, or what it is if it is long or no text.
func whole(content []byte) []string {
	if len(content) <= maxShown && utf8.Valid(content) {
		return []string{strings.TrimSuffix(string(content), "\n")}
	}
	sum := sha256.Sum256(content)
	return []string{fmt.Sprintf("too long or no text: look at it in an editor (SHA-256 %s)", hex.EncodeToString(sum[:]))}
}

// allows lists everything in a file of permissions that says allow.
func allows(content []byte) []string {
	d, err := yamledit.Parse(content)
	if err != nil {
		return append([]string{"not understood (" + err.Error() + "):"}, whole(content)...)
	}
	var found []string
	var walk func(n *yaml.Node, path []string, deep int)
	walk = func(n *yaml.Node, path []string, deep int) {
		if n == nil || deep > 50 {
			return
		}
		switch n.Kind {
		case yaml.AliasNode:
			walk(n.Alias, path, deep+1)
		case yaml.SequenceNode:
			for _, v := range n.Content {
				walk(v, path, deep+1)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if strings.EqualFold(strings.TrimSpace(n.Content[i].Value), "allow") {
					found = append(found, "allows: "+spell(n))
					return
				}
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], append(slices.Clip(path), n.Content[i].Value), deep+1)
			}
		case yaml.ScalarNode:
			if strings.EqualFold(strings.TrimSpace(n.Value), "allow") {
				found = append(found, "allows: "+strings.Join(path, " "))
			}
		}
	}
	walk(d.Root(), nil, 0)
	if len(found) == 0 {
		return []string{"It allows nothing; it may deny and ask."}
	}
	if len(found) > 1000 {
		return append([]string{"more than 1,000 rules that allow:"}, whole(content)...)
	}
	return found
}

// spell writes a value of YAML in one line.
func spell(n *yaml.Node) string {
	v, err := yamledit.Value(n)
	if err != nil {
		return "a rule that is not understood on line " + fmt.Sprint(n.Line)
	}
	return yamledit.Flow(v)
}

// servers lists the servers of a file of MCP servers.
func servers(content []byte) []string {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(content, &file); err != nil {
		return append([]string{"not understood (" + err.Error() + "):"}, whole(content)...)
	}
	var rows []string
	for key, raw := range file {
		var named map[string]json.RawMessage
		if json.Unmarshal(raw, &named) != nil {
			rows = append(rows, key+": "+compact(raw))
			continue
		}
		for name, server := range named {
			rows = append(rows, key+" "+name+": "+compact(server))
		}
	}
	slices.Sort(rows)
	return rows
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}

// changes compares the files with a version that was trusted.
func changes(p Project, before *Version) string {
	if before == nil || before.Hash == p.Hash {
		return ""
	}
	var b strings.Builder
	old := map[string]Kept{}
	for _, k := range before.Files {
		old[k.Path] = k
	}
	for _, f := range p.Files {
		k, had := old[f.Path]
		delete(old, f.Path)
		sum := sha256.Sum256(f.Content)
		switch {
		case !had:
			fmt.Fprintf(&b, "%s is new\n", text.VisibleName(f.Path))
		case k.Hash == hex.EncodeToString(sum[:]):
		case k.Text == "" || !utf8.Valid(f.Content) || len(f.Content) > maxText:
			fmt.Fprintf(&b, "%s has changed\n", text.VisibleName(f.Path))
		default:
			name := text.VisibleName(f.Path)
			lines := strings.SplitAfter(patch.Unified(name, name, k.Text, string(f.Content)), "\n")
			b.WriteString(strings.Join(lines[:min(len(lines), maxDiff)], ""))
			if more := len(lines) - maxDiff; more > 0 {
				fmt.Fprintf(&b, "… and %s\n", text.Plural(more, "more line", "more lines"))
			}
		}
	}
	for _, k := range before.Files {
		if _, gone := old[k.Path]; gone {
			fmt.Fprintf(&b, "%s is gone\n", text.VisibleName(k.Path))
		}
	}
	return b.String()
}
