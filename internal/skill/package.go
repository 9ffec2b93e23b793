package skill

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"hermes/internal/lazy"
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

// Rights are what a skill asks for and refers to. An update that widens them
// needs the user's approval.
type Rights struct {
	Env         []string `json:"env,omitempty"`         // variables to pass through
	Credentials []string `json:"credentials,omitempty"` // files to read
	Tools       []string `json:"tools,omitempty"`       // tools to allow
	Hosts       []string `json:"hosts,omitempty"`       // hosts named in its files
	Programs    []string `json:"programs,omitempty"`    // its scripts
	Servers     []string `json:"servers,omitempty"`     // MCP servers
}

// hostPattern finds links.
var hostPattern = lazy.Regexp(`https?://[^\s"'<>)\]` + "`" + `]+`)

// RightsOf finds the rights that the files of a skill ask for.
func RightsOf(files []guard.File) Rights {
	var r Rights
	for _, f := range files {
		if f.Path == mainFile {
			m, _, _ := Parse(f.Data) // a broken one asks for nothing
			for _, v := range m.Env {
				r.Env = append(r.Env, v.Name)
			}
			r.Credentials, r.Tools, r.Servers = m.Credentials, m.AllowedTools, m.Servers
		}
		if strings.HasPrefix(f.Path, "scripts/") || strings.HasPrefix(string(f.Data[:min(len(f.Data), 2)]), "#!") {
			r.Programs = append(r.Programs, path.Clean(f.Path))
		}
		for _, link := range hostPattern().FindAllString(string(f.Data), 2000) {
			if u, err := url.Parse(link); err == nil && u.Hostname() != "" {
				r.Hosts = append(r.Hosts, strings.ToLower(u.Hostname()))
			}
		}
	}
	for _, list := range []*[]string{&r.Env, &r.Credentials, &r.Tools, &r.Hosts, &r.Programs, &r.Servers} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

// Wider lists, for the user, what r asks for in addition to given.
func (r Rights) Wider(given Rights) []string {
	var out []string
	for _, part := range []struct {
		what      string
		want, has []string
	}{
		{"the variable", r.Env, given.Env}, {"the file", r.Credentials, given.Credentials}, {"the tool", r.Tools, given.Tools},
		{"the host", r.Hosts, given.Hosts}, {"the script", r.Programs, given.Programs}, {"the MCP server", r.Servers, given.Servers},
	} {
		for _, w := range part.want {
			if !slices.Contains(part.has, w) {
				out = append(out, fmt.Sprintf("%s %s", part.what, w))
			}
		}
	}
	return out
}

// Lines lists all rights for the user.
func (r Rights) Lines() []string { return r.Wider(Rights{}) }
