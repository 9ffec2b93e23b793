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
			for _, value := range []string{c.Getenv(name), c.Stored(name)} {
				if !c.PlaceholderOf(name, value) {
					out = append(out, value)
				}
			}
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
			for _, value := range []string{c.Getenv(name), c.Stored(name)} {
				if !c.PlaceholderOf(name, value) {
					out = append(out, value)
				}
			}
		}
	}
	return out
}

// keys is what the settings say about secrets.
type keys struct {
	secrets  []string          // values
	children []string          // values that are meant for child processes
	of       map[string]string // variables that hold secrets, with the setting that says so

	entries      map[string]*entry // of model services, by path
	elsewhere    []string          // secrets that belong to no entry
	placeholders map[string]bool   // values that are no secrets
	idle         map[string]bool   // variables for keys, true if only local services get them
}

// readKeys looks at every setting, once.
func (c *Config) readKeys() keys {
	out := keys{of: map[string]string{}, entries: map[string]*entry{}, placeholders: map[string]bool{}, idle: map[string]bool{}}
	d := decoder{c: c, unset: true, left: maxUnfold} // no default is a secret
	d.visit = func(l leaf) {
		found := secretsIn(l.value.Interface(), isSecret(l))
		found = slices.DeleteFunc(found, func(s string) bool { return s == "" || strings.HasPrefix(s, "${") })
		if forChildren(l.path) {
			out.children = append(out.children, found...)
			return
		}
		out.secrets = append(out.secrets, found...)
		e := out.at(l.path)
		switch last := lastOf(l.path); {
		case e == nil || last != "api_key" && isSecret(l):
			out.elsewhere = append(out.elsewhere, found...)
		case last == "api_key":
			e.keys = append(e.keys, found...)
		case last == addressKey:
			e.address, _ = l.value.Interface().(string)
		case last == "provider":
			e.provider, _ = l.value.Interface().(string)
		default:
			out.elsewhere = append(out.elsewhere, found...)
		}
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
				if last := lastOf(l.path); e != nil && (last == "api_key" || last == "key_env") {
					e.variables = append(e.variables, name)
				} else {
					out.idle[name] = false
				}
			}
		}
	}
	d.value(d.nodes(nil), reflect.ValueOf(&Settings{}).Elem(), field{}, nil)
	for name, variable := range localServices {
		if variable == "" {
			continue
		}
		e := out.entries[yamledit.Join([]string{"providers", name})]
		if e == nil {
			e = &entry{provider: name}
		}
		was, known := out.idle[variable]
		out.idle[variable] = out.local(e) && c.Getenv(addressOf(variable)) == "" && (was || !known)
	}
	out.sortOut()
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
