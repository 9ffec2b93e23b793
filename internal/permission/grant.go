package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes"
	"hermes/internal/yamledit"
)

// Stored is a grant of the file.
type Stored struct {
	// ID names the grant in commands. It depends on what the grant covers only.
	ID string
	hermes.Grant
	at int // its index in the list
}

// covered is the grant with only what says which calls it covers.
func (s Stored) covered() hermes.Grant {
	return hermes.Grant{Tool: s.Tool, Key: s.Key, Subject: s.Subject, Dir: s.Dir, Platform: s.Platform}
}

// entry is a grant as it is written.
type entry struct {
	_ [0]func() // it is never compared, which saves the code for it

	Tool       string `yaml:"tool"`
	Key        string `yaml:"key"`
	Subject    string `yaml:"subject"`
	Dir        string `yaml:"dir"`
	Platform   string `yaml:"platform"`
	Unattended bool   `yaml:"unattended"`
	By         string `yaml:"by"`
	Created    string `yaml:"created"`
	Expires    string `yaml:"expires"`
}

// known are the fields of an entry.
var known = [...]string{"tool", "key", "subject", "dir", "platform", "unattended", "by", "created", "expires"}

// parse reads the grants of a file.
func (f *File) parse(src []byte) (grants []Stored, problems []string, err error) {
	d, err := yamledit.Parse(src)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read, so it allows nothing: %w", f.path, err)
	}
	list := d.Find(section)
	if list == nil || list.Tag == "!!null" {
		return nil, nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, nil, fmt.Errorf("%s:%d: %s is not a list, so it allows nothing", f.path, list.Line, section)
	}
	for i, node := range list.Content {
		g, err := read(node)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: this entry allows nothing: %v", f.path, node.Line, err))
			continue
		}
		grants = append(grants, Stored{ID: idOf(g), Grant: g, at: i})
	}
	return grants, problems, nil
}

// read converts one entry. An entry with an unknown field may be narrower than
// this version understands, so it is refused.
func read(node *yaml.Node) (hermes.Grant, error) {
	if node.Kind != yaml.MappingNode {
		return hermes.Grant{}, fmt.Errorf("it is not a section with tool and key")
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		if name.Kind != yaml.ScalarNode || !isKnown(name.Value) {
			return hermes.Grant{}, fmt.Errorf("the field %q is unknown", name.Value)
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind == yaml.ScalarNode && (value.Value == "" || value.ShortTag() == "!!null") {
			return hermes.Grant{}, fmt.Errorf("the field %q has no value; remove it to set no limit", name.Value)
		}
	}
	var e entry
	if err := node.Decode(&e); err != nil {
		return hermes.Grant{}, err
	}
	if e.Tool == "" || e.Key == "" {
		return hermes.Grant{}, fmt.Errorf("it needs both tool and key")
	}
	g := hermes.Grant{Tool: e.Tool, Key: e.Key, Subject: e.Subject, Dir: e.Dir, Platform: e.Platform, Unattended: e.Unattended, By: e.By}
	var err error
	if g.Created, err = moment(e.Created); err != nil {
		return hermes.Grant{}, fmt.Errorf("created: %w", err)
	}
	if g.Expires, err = moment(e.Expires); err != nil {
		return hermes.Grant{}, fmt.Errorf("expires: %w", err)
	}
	return g, nil
}

func isKnown(name string) bool { return slices.Contains(known[:], name) }

// moment reads a time or a date; a date is its first moment in UTC.
func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-11-22T15:04:05Z", text)
}

// fields is the entry of a grant without what is empty.
func fields(g hermes.Grant) map[string]any {
	m := map[string]any{"tool": g.Tool, "key": g.Key}
	for name, text := range map[string]string{"subject": g.Subject, "dir": g.Dir, "platform": g.Platform, "by": g.By} {
		if text != "" {
			m[name] = text
		}
	}
	if g.Unattended {
		m["unattended"] = true
	}
	for name, t := range map[string]time.Time{"created": g.Created, "expires": g.Expires} {
		if !t.IsZero() {
			m[name] = t.UTC().Format(time.RFC3339)
		}
	}
	return m
}

// idOf names a grant by what it covers.
func idOf(g hermes.Grant) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{g.Tool, g.Key, g.Subject, g.Dir, g.Platform}, "\x00")))
	return hex.EncodeToString(sum[:4])
}
