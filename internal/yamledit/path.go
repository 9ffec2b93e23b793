package yamledit

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Split cuts a dotted key into its parts. A dot inside a part is written \. and a
// backslash \\.
func Split(key string) ([]string, error) {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] == '\\' && i+1 < len(key) && (key[i+1] == '.' || key[i+1] == '\\'):
			i++
			part.WriteByte(key[i])
		case key[i] == '.':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(key[i])
		}
	}
	parts = append(parts, part.String())
	for _, p := range parts {
		if strings.TrimSpace(p) == "" {
			return nil, fmt.Errorf("%q is not a valid key: a part is empty; write \\. for a dot that belongs to a name", key)
		}
	}
	return parts, nil
}

var quote = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// Join is the inverse of Split.
func Join(path []string) string {
	quoted := make([]string, len(path))
	for i, p := range path {
		quoted[i] = quote.Replace(p)
	}
	return strings.Join(quoted, ".")
}

// Resolve is Split, except that it prefers an existing key that contains dots
// itself, such as gpt-4.1. Parts of the path that do
// not exist yet stay as they are.
func (d *Document) Resolve(key string) ([]string, error) {
	parts, err := Split(key)
	if err != nil || d == nil {
		return parts, err
	}
	var path []string
	for n := d.root; len(parts) > 0; {
		n = target(n)
		taken := 1
		for k := len(parts); k > 1; k-- {
			if Child(n, strings.Join(parts[:k], ".")) != nil {
				taken = k
				break
			}
		}
		name := strings.Join(parts[:taken], ".")
		path = append(path, name)
		n = step(n, name)
		parts = parts[taken:]
	}
	return path, nil
}

// Find returns the value at a path, nil if there is none. Find follows aliases
// and merged mappings.
func (d *Document) Find(path ...string) *yaml.Node {
	if d == nil {
		return nil
	}
	return Find(d.root, path...)
}

// Find returns the value below n at a path, nil if there is none.
func Find(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if n = step(n, name); n == nil {
			return nil
		}
	}
	return target(n)
}

// maxMerge limits how many merged mappings one lookup visits, because they may
// merge each other many times.
const maxMerge = 1000

func step(n *yaml.Node, name string) *yaml.Node {
	left := maxMerge
	return stepMerged(n, name, &left)
}

func stepMerged(n *yaml.Node, name string, left *int) *yaml.Node {
	n = target(n)
	if *left--; n == nil || *left < 0 {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil
		}
		return n.Content[i]
	}
	if c := Child(n, name); c != nil || n.Kind != yaml.MappingNode {
		return c
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		from := target(n.Content[i+1])
		sources := []*yaml.Node{from}
		if from != nil && from.Kind == yaml.SequenceNode {
			sources = from.Content
		}
		for _, s := range sources {
			if c := stepMerged(s, name, left); c != nil {
				return c
			}
		}
	}
	return nil
}

func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Keys lists the keys of a mapping in file order, each once; keys of merged mappings
// come last.
func Keys(n *yaml.Node) []string {
	var keys []string
	seen := map[string]bool{}
	left := maxMerge
	collectKeys(target(n), &left, func(key string) {
		if !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	})
	return keys
}

func collectKeys(n *yaml.Node, left *int, yield func(string)) {
	if *left--; n == nil || n.Kind != yaml.MappingNode || *left < 0 {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			yield(keyText(n.Content[i]))
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		from := target(n.Content[i+1])
		if from == nil || from.Kind != yaml.SequenceNode {
			collectKeys(from, left, yield)
			continue
		}
		for _, one := range from.Content {
			collectKeys(target(one), left, yield)
		}
	}
}
