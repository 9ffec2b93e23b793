package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

// destination is a setting that is about to be written.
type destination struct {
	path  []string
	kind  reflect.Type // nil if Hermes does not know the key
	field field
	notes []string
}

// target finds the setting that a key names and checks that it may be written.
func (c *Config) target(key string) (*destination, error) {
	doc := c.userDocument()
	path, err := doc.Resolve(strings.TrimSpace(key))
	if err != nil {
		return nil, err
	}
	t := &destination{path: path}
	for _, r := range renames {
		if slices.Equal(r.from, path) && r.from[0] != "fallback_model" && r.from[0] != "custom_providers" {
			t.notes = append(t.notes, yamledit.Join(path)+" is now called "+yamledit.Join(r.to))
			t.path = slices.Clone(r.to)
		}
	}
	kind, f, known := lookup(t.path)
	if known {
		t.kind, t.field = kind, f
	}
	if known && kind.Kind() == reflect.Struct && f.scalar != "" {
		t.path = append(t.path, f.scalar)
		t.kind, t.field, _ = lookup(t.path)
	}
	if known {
		t.path = namedIn(doc, t.path, t.field)
	} else {
		t.notes = append(t.notes, t.guess())
	}
	for _, p := range bothNames(t.path, t.field) {
		if err := c.pinned(p); err != nil {
			return nil, err
		}
	}
	return t, shadowed(doc, t.path)
}

// namedIn returns the path of a setting under the name that the file uses, if it has
// two.
func namedIn(doc *yamledit.Document, path []string, f field) []string {
	names := bothNames(path, f)
	if i := slices.IndexFunc(names, func(p []string) bool { return doc.Find(p...) != nil }); i >= 0 {
		return names[i]
	}
	return names[0]
}

// bothNames returns the paths of a setting under each of its names, the usual one
// first.
func bothNames(path []string, f field) [][]string {
	if f.also == "" {
		return [][]string{path}
	}
	section := slices.Clip(path[:len(path)-1])
	return [][]string{append(section, f.key), append(section, f.also)}
}

// userDocument returns config.yaml as it is now, empty if it cannot be read. A
// broken file is refused only before it is written.
func (c *Config) userDocument() *yamledit.Document {
	src, err := os.ReadFile(c.home.Config())
	if err != nil {
		return &yamledit.Document{}
	}
	d, err := yamledit.Parse(src)
	if err != nil {
		return &yamledit.Document{}
	}
	return d
}

// Written returns the value at a path as config.yaml has it now, nil if there is
// none: without variables, defaults or other sources.
func (c *Config) Written(path ...string) any {
	node := c.userDocument().Find(path...)
	if node == nil {
		return nil
	}
	v, err := yamledit.Value(node)
	if err != nil {
		return nil // edit reports the broken file before it writes
	}
	return v
}

// allNotes returns what the user should know about a key that was written.
func (t *destination) allNotes() []string {
	if effect := NoEffect(t.path...); effect != "" {
		return append(slices.Clip(t.notes), "saved; has "+effect)
	}
	return t.notes
}

// guess returns the note about an unknown key.
func (t *destination) guess() string {
	key := yamledit.Join(t.path)
	if reason := goneReason(t.path); reason != "" {
		return key + " was removed: " + reason + "; it is saved but has no effect"
	}
	note := key + " is not a known setting; it is saved but has no effect"
	if name := Nearest(key); name != "" {
		note += ". Did you mean " + name + "?"
	}
	return note
}

// pinned refuses a setting that the administrator's file has.
func (c *Config) pinned(path []string) error {
	for _, l := range c.layers {
		if l.source != FromManaged {
			continue
		}
		if n := yamledit.Find(l.root, path...); n != nil {
			return fmt.Errorf("%s is set by the administrator in %s (line %d) and cannot be changed; nothing was written",
				yamledit.Join(path), l.file, n.Line)
		}
	}
	return nil
}

// shadowed refuses a new name with dots if the same path already leads through
// sections: one of the two would hide the other.
func shadowed(doc *yamledit.Document, path []string) error {
	for i, name := range path {
		if !strings.Contains(name, ".") || doc.Find(path[:i+1]...) != nil {
			continue
		}
		nested := append(slices.Clone(path[:i]), strings.Split(name, ".")...)
		if n := doc.Find(nested...); n != nil {
			return fmt.Errorf("%s would hide %s (line %d); write the key without the backslash, or unset the other first",
				yamledit.Join(path), strings.Join(nested, "."), n.Line)
		}
	}
	return nil
}

// secret reports whether the value belongs in .env.
func (t *destination) secret() bool {
	if t.kind == nil {
		return redact.SecretName(lastOf(t.path))
	}
	return t.kind == reflect.TypeFor[hermes.Secret]() || t.field.key == "" && t.kind.Kind() != reflect.Struct && redact.SecretName(lastOf(t.path))
}

// write puts the value into the text. A section that was written as a single
// value (model: name) becomes a section first.
func (t *destination) write(src []byte, value any) ([]byte, error) {
	for i := 1; i < len(t.path); i++ {
		d, err := yamledit.Parse(src)
		if err != nil {
			return nil, err
		}
		_, f, _ := lookup(t.path[:i])
		at := d.Find(t.path[:i]...)
		if f.scalar == "" || at == nil || at.Kind != yaml.ScalarNode || isNull(at) {
			continue
		}
		if src, err = yamledit.Set(src, t.path[:i], map[string]any{f.scalar: at.Value}); err != nil {
			return nil, err
		}
	}
	return yamledit.Set(src, t.path, value)
}

// parse turns what the user typed into the value to write.
func (t *destination) parse(text string) (any, error) {
	key := yamledit.Join(t.path)
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		value, err := collectionOf(trimmed)
		if err == nil && t.takes(value) {
			return value, nil
		}
		switch {
		case t.kind != nil && t.kind.Kind() == reflect.String: // text may begin with a bracket
		case err != nil:
			return nil, fmt.Errorf("%s: %w", key, err)
		default:
			return nil, fmt.Errorf("%s must be %s; nothing was written", key, wanted(t.kind, t.field))
		}
	}
	switch {
	case t.kind == nil || t.kind.Kind() == reflect.Interface:
		return yamledit.Plain(text), nil
	case t.kind.Kind() == reflect.Struct || t.kind.Kind() == reflect.Map || t.kind.Kind() == reflect.Slice && t.kind.Elem().Kind() != reflect.String:
		return nil, fmt.Errorf("%s is a section; %s", key, t.below())
	case strings.Contains(text, "${"):
		return text, nil // the variables are expanded when it is read
	}
	return t.check(text)
}

func (t *destination) check(text string) (any, error) {
	v := reflect.New(t.kind).Elem()
	if fault := put(scalarOf(text), text, v, t.field); fault != "" {
		return nil, fmt.Errorf("%s %s; nothing was written", yamledit.Join(t.path), fault)
	}
	switch {
	case t.kind.Kind() == reflect.String:
		return v.String(), nil
	case t.kind.Kind() == reflect.Slice:
		return v.Interface(), nil
	}
	return yamledit.Plain(strings.TrimSpace(text)), nil
}

func collectionOf(text string) (any, error) {
	d, err := yamledit.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return yamledit.Value(d.Root())
}

// takes reports whether a list or section has the shape of the setting.
func (t *destination) takes(value any) bool {
	_, isList := value.([]any)
	switch {
	case t.kind == nil || t.kind.Kind() == reflect.Interface:
		return true
	case isList:
		return t.kind.Kind() == reflect.Slice
	}
	return t.kind.Kind() == reflect.Struct || t.kind.Kind() == reflect.Map
}

// below says what may be set in a section.
func (t *destination) below() string {
	prefix := yamledit.Join(t.path) + "."
	var names []string
	for _, key := range Keys() {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			names = append(names, rest)
		}
	}
	if len(names) == 0 {
		return "set a key below it, such as " + prefix + "NAME, or the whole section as {name: value}"
	}
	return "set one of its keys: " + strings.Join(names, ", ")
}
