package skill

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/skill/guard"
	"hermes/internal/yamledit"
)

// Package is a skill as fetched from a registry.
type Package struct {
	Source, Identifier string
	Version            string
	Trust              guard.Trust
	Files              []guard.File
}

// main returns the index of SKILL.md among the files, or -1.
func (p Package) main() int {
	return slices.IndexFunc(p.Files, func(f guard.File) bool { return f.Path == mainFile })
}

// Named returns the package under another name; "" keeps its own.
func (p Package) Named(name string) (Package, error) {
	at := p.main()
	if at < 0 {
		return p, fmt.Errorf("%s is not a skill: it has no SKILL.md", p.Identifier)
	}
	if name == "" {
		return p, nil
	}
	if m, _, err := Parse(p.Files[at].Data); err == nil && m.Name == name {
		return p, nil
	}
	if err := CheckName(name); err != nil {
		return p, err
	}
	renamed, err := rename(p.Files[at].Data, name)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.Identifier, err)
	}
	p.Files = slices.Clone(p.Files)
	p.Files[at].Data = renamed
	return p, nil
}

// rename gives a SKILL.md another name.
func rename(text []byte, name string) ([]byte, error) {
	head, body, err := split(text)
	if err != nil {
		return nil, err
	}
	head, err = yamledit.Set(head, []string{"name"}, name)
	if err != nil {
		return nil, err
	}
	return []byte("---\n" + strings.TrimRight(string(head), "\n") + "\n---\n" + body), nil
}

// Hash returns the hash of all files, as the record of an installation has it.
func (p Package) Hash() string {
	sum, _ := hashFiles(p.Files)
	return sum
}

// hashFiles returns the hash of all kept files together, and of each.
func hashFiles(files []guard.File) (string, map[string]string) {
	each := map[string]string{}
	for _, f := range files {
		if f.Target == "" && safePath(f.Path) {
			each[f.Path] = hash(f.Data)
		}
	}
	return joinHashes(each), each
}

func joinHashes(each map[string]string) string {
	names := make([]string, 0, len(each))
	for name := range each {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name + "\x00" + each[name] + "\n")
	}
	return hash([]byte(b.String()))
}
