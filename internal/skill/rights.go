package skill

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/internal/skill/guard"
)

// Rights are what a skill asks for and refers to. An update that widens them
// needs the user's approval.
type Rights struct {
	Env         []string `json:"env,omitempty"`         // variables to pass through
	Credentials []string `json:"credentials,omitempty"` // files to read
	Tools       []string `json:"tools,omitempty"`       // tools to allow
	Hosts       []string `json:"hosts,omitempty"`       // hosts named in its files
	Programs    []string `json:"programs,omitempty"`    // its scripts
}

// hostPattern finds links.
var hostPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`https?://[^\s"'<>)\]` + "`" + `]+`) })

// RightsOf finds the rights that the files of a skill ask for.
func RightsOf(files []guard.File) Rights {
	var r Rights
	for _, f := range files {
		if f.Path == mainFile {
			m, _, _ := Parse(f.Data) // a broken one asks for nothing
			for _, v := range m.Env {
				r.Env = append(r.Env, v.Name)
			}
			r.Credentials, r.Tools = m.Credentials, m.AllowedTools
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
	for _, list := range []*[]string{&r.Env, &r.Credentials, &r.Tools, &r.Hosts, &r.Programs} {
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
		{"the host", r.Hosts, given.Hosts}, {"the script", r.Programs, given.Programs},
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
