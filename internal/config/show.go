package config

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

// Entry is one setting with the value that is used.
type Entry struct {
	Key    string
	Value  any // bool, int64, float64, string, []any, map[string]any; nil for "not set"
	Source Source
	File   string // the file that sets it, if one does
	Line   int
	Env    string // the variable that sets it, if one does
	Secret bool   // Value must be masked before it is shown
	// NoEffect says what a planned setting waits for, as in "no effect before the
	// gateway"; "" if it has an effect.
	NoEffect string
}

// Entries lists every setting in the order of Settings. Keys with fixed names are
// always listed, others if they are set. Values are not masked.
func (c *Config) Entries() []Entry { return c.EntriesBelow() }

// EntriesBelow lists the settings at a path and below it.
func (c *Config) EntriesBelow(path ...string) []Entry {
	t, f, known := lookup(path)
	if !known {
		return c.unknownEntry(path)
	}
	path = bothNames(path, f)[0]
	var entries []Entry
	d := decoder{c: c, left: maxUnfold}
	d.visit = func(l leaf) {
		value := plainValue(l.value)
		entries = append(entries, Entry{Key: yamledit.Join(l.path), Value: value, Source: l.source,
			File: l.file, Line: l.line, Env: l.env, Secret: secretLeaf(l, value), NoEffect: NoEffect(l.path...)})
	}
	if t.Kind() == reflect.Interface {
		return c.unknownEntry(path)
	}
	d.value(d.nodes(path), reflect.New(t).Elem(), f, path)
	return entries
}

func lastOf(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// unknownEntry looks for a key without a field.
func (c *Config) unknownEntry(path []string) []Entry {
	d := decoder{c: c, left: maxUnfold}
	for _, p := range d.at(path) {
		value := d.any(p, path)
		return []Entry{{Key: yamledit.Join(path), Value: value, Source: p.layer.source, File: p.layer.file,
			Line: p.node.Line, Secret: redact.SecretName(lastOf(path))}}
	}
	return nil
}

func secretLeaf(l leaf, value any) bool {
	if value == nil || value == "" {
		return false
	}
	return isSecret(l)
}

// plainValue turns a decoded setting into the types of Entry.
func plainValue(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Duration:
		if x%time.Second == 0 {
			return int64(x / time.Second)
		}
		return x.Seconds()
	case hermes.Secret:
		return x.Reveal()
	case []string:
		list := make([]any, len(x))
		for i, s := range x {
			list[i] = s
		}
		return list
	}
	switch v.Kind() {
	case reflect.Int:
		return v.Int()
	case reflect.String:
		return v.String()
	}
	return v.Interface()
}

// Masked returns Value as it may be shown: everything below a secret name is
// hidden.
func (e Entry) Masked() any { return masked(e.Value, e.Secret) }

func masked(v any, secret bool) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = masked(x, secret || redact.SecretName(k))
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = masked(x, secret)
		}
		return list
	case string:
		if secret && !strings.HasPrefix(v, "${") {
			return redact.Mask(v)
		}
		return v
	case nil, bool:
		return v
	}
	if secret {
		return "***"
	}
	return v
}

// SecretName reports whether a name suggests a secret; see redact.SecretName.
func SecretName(name string) bool { return redact.SecretName(name) }

// Resolve splits a dotted key. It recognizes names with dots that the file contains.
func (c *Config) Resolve(key string) ([]string, error) { return c.userDocument().Resolve(key) }

// Known reports whether there is a setting or a section at a path.
func (c *Config) Known(path ...string) bool {
	_, _, known := lookup(path)
	return known
}

// Nearest returns the known key that is most similar to a key, "" if there is none.
func Nearest(key string) string {
	for _, r := range renames {
		if yamledit.Join(r.from) == key {
			return yamledit.Join(r.to)
		}
	}
	if name := nearest(key, Keys()); name != "" {
		return name
	}
	path, err := yamledit.Split(key)
	if err != nil {
		return ""
	}
	return elsewhere(lastOf(path))
}

// IsVariable reports whether a key is the name of a variable (capitals, digits
// and _), which belongs in .env.
func IsVariable(key string) bool { return envName(key) }

// FileProblems lists the files that could not be used. It is cheap to call.
func (c *Config) FileProblems() []Problem { return slices.Clone(c.problems) }
