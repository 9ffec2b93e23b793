package config

import (
	"reflect"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

// Secrets returns every value that must never be shown: of settings that hold a
// secret or have a name that suggests one, and of such variables of .env.
func (c *Config) Secrets() []string {
	out := c.secrets(func([]string) bool { return true })
	for _, name := range c.EnvNames() {
		if redact.SecretName(name) {
			out = append(out, c.Getenv(name), c.Stored(name))
		}
	}
	return out
}

// ServiceKeys returns the keys of services that the settings and .env hold: those of the
// variables that never reach commands. See KeyVariables for what is not among them.
func (c *Config) ServiceKeys() []string {
	out := c.secrets(func(path []string) bool { return !forChildren(path) })
	if c.options.KeyOf == nil {
		return out
	}
	whose := c.options.KeyOf(c)
	for _, name := range c.EnvNames() {
		if whose(name) != "" {
			out = append(out, c.Getenv(name), c.Stored(name))
		}
	}
	return out
}

func (c *Config) secrets(wanted func(path []string) bool) []string {
	var out []string
	d := decoder{c: c, left: maxUnfold}
	d.visit = func(l leaf) {
		if wanted(l.path) {
			out = append(out, secretsIn(l.value.Interface(), isSecret(l))...)
		}
	}
	d.value(d.nodes(nil), reflect.ValueOf(&Settings{}).Elem(), field{}, nil)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" || strings.HasPrefix(s, "${") })
}

// isSecret reports whether a setting has a secret: by its type, or by its name in
// a section without fixed keys.
func isSecret(l leaf) bool {
	return l.value.Type() == reflect.TypeFor[hermes.Secret]() || l.field.key == "" && redact.SecretName(lastOf(l.path))
}

// secretsIn returns the secret texts of a value; in a section without fixed keys
// the names within decide.
func secretsIn(v any, secret bool) []string {
	var out []string
	switch v := v.(type) {
	case hermes.Secret:
		out = append(out, v.Reveal())
	case string:
		if !secret {
			break
		}
		out = append(out, v)
		if _, credential, ok := strings.Cut(v, " "); ok { // after the scheme of an Authorization
			out = append(out, credential)
		}
	case map[string]any:
		for k, x := range v {
			out = append(out, secretsIn(x, secret || redact.SecretName(k))...)
		}
	case []any:
		for _, x := range v {
			out = append(out, secretsIn(x, secret)...)
		}
	}
	return out
}

// KeyVariables returns the variables that hold keys of services according to the
// settings, each with the setting that says so: those that a key_env names, and
// those that a secret setting takes its value from. Keys of MCP servers and skills
// are not among them: those are meant for child processes.
func (c *Config) KeyVariables() map[string]string {
	out := map[string]string{}
	d := decoder{c: c, left: maxUnfold}
	d.visit = func(l leaf) {
		key := yamledit.Join(l.path)
		switch {
		case forChildren(l.path):
		case lastOf(l.path) == "key_env":
			if name, ok := l.value.Interface().(string); ok && name != "" {
				out[name] = key
			}
		case isSecret(l):
			if l.env != "" {
				out[l.env] = key
			}
			for _, name := range c.references(l.path) {
				out[name] = key
			}
		}
	}
	d.value(d.nodes(nil), reflect.ValueOf(&Settings{}).Elem(), field{}, nil)
	return out
}

// forChildren reports whether a setting's secrets are meant for child processes.
func forChildren(path []string) bool {
	return len(path) > 0 && (path[0] == "mcp_servers" || path[0] == "skills" || path[0] == "hooks" || path[0] == "terminal")
}

// references lists the variables that a setting refers to with ${NAME}.
func (c *Config) references(path []string) []string {
	var out []string
	d := decoder{c: c}
	for _, at := range d.at(path) {
		_, rest, found := strings.Cut(at.node.Value, "${")
		for found {
			var name string
			name, rest, _ = strings.Cut(rest, "}")
			if name = strings.TrimPrefix(name, "env:"); variableName(name) {
				out = append(out, name)
			}
			_, rest, found = strings.Cut(rest, "${")
		}
	}
	return out
}
