package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

// addressKey is the setting that says where the keys of its section are sent.
const addressKey = "base_url"

// keyedSections have entries with a key and an address. An entry whose address is
// written in an unknown way is not used, because its key would be sent to the address
// that the service has otherwise.
var keyedSections = [...]string{"model", "providers", "fallback_providers", "model_aliases", "auxiliary", "delegation"}

// AddressFaults returns the entries whose address is unclear: an unknown field that
// looks like one, an invalid value, two different ones, or something else in place of
// the entry. The keys are the dotted paths of the entries, such as "providers.openai"
// and "fallback_providers.0", or "providers" if that is no section; the errors say
// what to change. No request may be made with such an entry.
func (c *Config) AddressFaults() map[string]error {
	faults := map[string]error{}
	add := func(p Problem) {
		path, err := yamledit.Split(p.Key)
		if err != nil || p.unset != "" || !p.address {
			return
		}
		if !p.whole {
			path = path[:len(path)-1]
		}
		if path[0] == "providers" && len(path) > 2 {
			path = path[:2] // a field of one of its models
		}
		entry := yamledit.Join(path)
		if faults[entry] == nil {
			where := "the administrator's file"
			if p.File != "" && p.File != c.options.Managed {
				where = filepath.Base(p.File)
			}
			faults[entry] = fmt.Errorf("%s (line %d of %s) %s; nothing was sent. %s", p.Key, p.Line, where, p.Text, p.Do)
		}
	}
	for _, section := range keyedSections {
		d := decoder{c: c, left: maxUnfold, fault: add}
		d.unknown = func(in layer, key, value *yaml.Node, path, known []string) {
			if p, ok := unknownKey(in, key, value, path, known); ok {
				add(p)
			}
		}
		path := []string{section}
		t, f, _ := lookup(path)
		d.value(d.nodes(path), reflect.New(t).Elem(), f, path)
	}
	return faults
}

// wholeEntry reports whether something that is no section is at the place of an entry
// or of all entries. It may hold an address that would be ignored.
func wholeEntry(path []string, value *yaml.Node) bool {
	empty := value.Kind != yaml.ScalarNode && len(value.Content) == 0
	if len(path) == 0 || !slices.Contains(keyedSections[:], path[0]) || empty || !hasText(value) {
		return false
	}
	return len(path) == 1 || len(path) == 2 && path[0] != "model"
}

// strayAddress reports whether an unknown field of an entry seems to be its address.
func strayAddress(name string, value *yaml.Node, path, known []string) bool {
	ofModel := path[0] == "providers" && len(path) > 4 && path[2] == "models"
	if !slices.Contains(keyedSections[:], path[0]) || !slices.Contains(known, addressKey) && !ofModel {
		return false
	}
	left := maxFields
	return nearest(name, known) == addressKey && hasText(value) || holdsAddress(name, value, &left)
}

// maxFields bounds what is read of an unknown field. One that holds more may hold an
// address.
const maxFields = 1000

// holdsAddress reports whether a field is an address, by its name or its text, or holds
// one: other programs write options: {baseURL: …}.
func holdsAddress(name string, value *yaml.Node, left *int) bool {
	value = yamledit.Find(value)
	if *left--; *left < 0 {
		return true
	}
	if !hasText(value) {
		return false
	}
	if value.Kind == yaml.ScalarNode && strings.Contains(value.Value, "://") || addressName(name) {
		return true
	}
	for i, item := range value.Content {
		switch {
		case value.Kind == yaml.SequenceNode:
			if holdsAddress(name, item, left) {
				return true
			}
		case i%2 == 1 && holdsAddress(value.Content[i-1].Value, item, left):
			return true
		}
	}
	return false
}

// hasText reports whether a value is a text, a list or a section.
func hasText(value *yaml.Node) bool {
	value = yamledit.Find(value)
	if value == nil || value.Kind != yaml.ScalarNode {
		return value != nil
	}
	text, isText := yamledit.Scalar(value).(string)
	return isText && strings.TrimSpace(text) != ""
}

// addressName reports whether a field may be an address by its name.
func addressName(name string) bool {
	parts := wordsOf(name)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(parts, n) })
	}
	if has("key", "keys", "token", "secret", "mode", "version", "type", "format", "style", "model", "models", "name", "timeout") {
		return false
	}
	joined := strings.Join(parts, "")
	return has("api", "base", "uri", "ip", "domain", "gateway", "proxy", "port") || strings.Contains(joined, "url") || strings.Contains(joined, "host") ||
		strings.Contains(joined, "endpoint") || strings.Contains(joined, "addr") || strings.Contains(joined, "server")
}

// wordsOf splits a name such as api_base, base-url or apiBase into its words, in small
// letters.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false // the letter before is a small one
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// twoNames reports a setting that has both of its names in one section, with different
// values.
func (d *decoder) twoNames(p layeredNode, key, also string, path []string) {
	if d.fault == nil || also == "" {
		return
	}
	a, b := yamledit.Find(p.node, key), yamledit.Find(p.node, also)
	if a == nil || b == nil || isNull(a) || isNull(b) || a.Value == b.Value {
		return
	}
	d.add(Problem{Severity: Warning, File: p.layer.file, Line: b.Line, Key: yamledit.Join(path), address: key == addressKey,
		Text: fmt.Sprintf("has two values, because %s is another name of %s", also, key), Served: "the entry is not used",
		Do: "Remove one of them with `hermes config edit`"})
}
