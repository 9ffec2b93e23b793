package config

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

// expand replaces ${NAME} and ${env:NAME} in a text by the variable's current
// value. An unknown variable stays as written and is reported; other prefixes
// (file:, vault:), a bare $NAME and the command of a hook, which a shell reads, are not touched.
func (d *decoder) expand(p layeredNode, n *yaml.Node, path []string) string {
	if !strings.Contains(n.Value, "${") || p.layer.source == FromFlag || len(path) > 0 && path[0] == "hooks" && lastOf(path) == "command" {
		return n.Value
	}
	var b strings.Builder
	for s := n.Value; ; {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		reference, after, closed := strings.Cut(rest, "}")
		name := strings.TrimPrefix(reference, "env:")
		if !closed || !variableName(name) {
			b.WriteString("${")
			s = rest
			continue
		}
		s = after
		value, ok := d.c.LookupEnv(name)
		if !ok {
			value = "${" + reference + "}"
			d.add(Problem{Severity: Warning, File: p.layer.file, Line: n.Line, Key: yamledit.Join(path),
				Text: "uses the variable " + name + ", which is not set", Served: "the text is used as written",
				Do: "Set it with `hermes config set " + name + " VALUE`", unset: name})
		}
		b.WriteString(value)
	}
}

// variableName reports whether a name is an environment variable and not one of
// othersNames, such as ${userHome}.
func variableName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && !slices.Contains(othersNames, name)
}

// othersNames are filled in by the part that starts MCP servers.
var othersNames = []string{"userHome", "workspaceFolder", "workspaceFolderBasename", "pathSeparator"}

// free decodes a section without fixed keys.
func (d *decoder) free(at []layeredNode, v reflect.Value, path []string) {
	d.freeKeys(d.sections(at, "", path), v, path, nil)
}

func (d *decoder) freeKeys(at []layeredNode, v reflect.Value, path, except []string) {
	for _, key := range keysOf(at, except) {
		below := append(slices.Clip(path), key)
		for _, p := range d.children(at, key, "", below) {
			x := d.any(p, below)
			if x == nil {
				continue
			}
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(x))
			if d.visit != nil {
				d.visit(leaf{path: below, value: reflect.ValueOf(x), source: p.layer.source, file: p.layer.file, line: p.node.Line})
			}
			break
		}
	}
}

// any turns a node into plain Go values and expands variables in texts.
func (d *decoder) any(p layeredNode, path []string) any {
	if d.left--; d.left < 0 {
		return nil
	}
	n := yamledit.Find(p.node)
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			list = append(list, d.any(layeredNode{c, p.layer}, append(slices.Clip(path), itoa(i))))
		}
		return list
	case yaml.MappingNode:
		m := map[string]any{}
		for _, key := range keysOf([]layeredNode{{n, p.layer}}, nil) {
			m[key] = d.any(layeredNode{yamledit.Find(n, key), p.layer}, append(slices.Clip(path), key))
		}
		return m
	}
	read := yamledit.Scalar(n)
	if _, isText := read.(string); isText {
		return d.expand(layeredNode{n, p.layer}, n, path)
	}
	return read
}
