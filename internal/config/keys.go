package config

import (
	"maps"
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
	out := slices.Concat(c.keys().secrets, c.keys().children)
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
	out := slices.Clone(c.keys().secrets)
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

// keys is what the settings say about secrets.
type keys struct {
	secrets  []string          // values
	children []string          // values that are meant for child processes
	of       map[string]string // variables that hold secrets, with the setting that says so
}

// readKeys looks at every setting, once.
func (c *Config) readKeys() keys {
	out := keys{of: map[string]string{}}
	d := decoder{c: c, unset: true, left: maxUnfold} // no default is a secret
	d.visit = func(l leaf) {
		found := secretsIn(l.value.Interface(), isSecret(l))
		found = slices.DeleteFunc(found, func(s string) bool { return s == "" || strings.HasPrefix(s, "${") })
		if forChildren(l.path) {
			out.children = append(out.children, found...)
			return
		}
		out.secrets = append(out.secrets, found...)
		var names []string
		switch {
		case lastOf(l.path) == "key_env":
			name, _ := l.value.Interface().(string)
			names = append(names, name)
		case isSecret(l):
			names = append(c.references(l.path), l.env)
		}
		for _, name := range names {
			if name != "" {
				out.of[name] = yamledit.Join(l.path)
			}
		}
	}
	d.value(d.nodes(nil), reflect.ValueOf(&Settings{}).Elem(), field{}, nil)
	return out
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
func (c *Config) KeyVariables() map[string]string { return maps.Clone(c.keys().of) }

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
