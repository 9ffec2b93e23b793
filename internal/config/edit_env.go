package config

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hermes/internal/atomicfile"
	"hermes/internal/dotenv"
	"hermes/internal/yamledit"
)

// envName reports whether a key is a variable name: capitals, digits and _ only.
func envName(key string) bool {
	for i := range len(key) {
		c := key[i]
		if c != '_' && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(key) > 1
}

// variableFor names the variable that holds the secret of a key.
func variableFor(path []string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, strings.Join(path, "_"))
	return "HERMES_" + name
}

// SetEnv writes one variable into .env, which only its owner may read. All other
// lines stay as they are.
func (c *Config) SetEnv(ctx context.Context, name, value string) (Change, error) {
	if strings.ContainsAny(value, "\x00") {
		return Change{}, errors.New("a variable cannot hold a zero byte; nothing was written")
	}
	if err := c.overruled(name); err != nil {
		return Change{}, err
	}
	change := Change{Key: name, File: c.home.Env()}
	if set, ok := c.options.LookupEnv(name); ok && set != "" && set != value {
		change.Notes = append(change.Notes, name+" is also set in this shell's environment, which takes precedence")
	}
	return change, c.editEnv(ctx, "hermes config set "+name, func(text string) (string, error) {
		return dotenv.Set(text, name, value)
	})
}

func (c *Config) unsetEnv(ctx context.Context, name string) (Change, error) {
	change := Change{Key: name, File: c.home.Env()}
	return change, c.editEnv(ctx, "hermes config unset", func(text string) (string, error) {
		out := dotenv.Unset(text, name)
		if out == text {
			return "", fmt.Errorf("%s %w in %s", name, ErrNotSet, change.File)
		}
		return out, nil
	})
}

// overruled refuses a variable that would have no effect because config.yaml has
// the setting.
func (c *Config) overruled(name string) error {
	var fault error
	d := decoder{c: c, left: maxUnfold}
	d.visit = func(l leaf) {
		if l.source == FromFile && slices.Contains(l.field.variables(), name) {
			key := yamledit.Join(l.path)
			fault = fmt.Errorf("%s would have no effect, because %s is set in config.yaml (line %d); use `hermes config set %s VALUE`",
				name, key, l.line, key)
		}
	}
	var all Settings
	d.value(d.at(nil), reflect.ValueOf(&all).Elem(), field{}, nil)
	return fault
}

// editEnv changes .env under its lock, as edit changes config.yaml, but keeps no
// copy, because the file holds secrets.
func (c *Config) editEnv(ctx context.Context, who string, change func(string) (string, error)) error {
	path := c.home.Env()
	src, free, err := c.take(ctx, path, who)
	if err != nil {
		return err
	}
	defer free()
	out, err := change(string(src))
	if err != nil || out == string(src) {
		return err
	}
	return atomicfile.Write(path, []byte(out), atomicfile.Options{Mode: 0o600, Force: true, Follow: true})
}
