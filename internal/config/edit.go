package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/dotenv"
	"hermes/internal/yamledit"
)

// Change says what was written.
type Change struct {
	Key   string // dotted, or the name of a variable
	File  string
	Notes []string // what else the user should know
}

// lockWait is how long a command waits for another one that is changing the file.
const lockWait = 5 * time.Second

// Set writes one setting as the user typed it. A name such as OPENROUTER_API_KEY
// goes to .env. So does the value of a secret key; config.yaml then refers to the
// variable. Everything else goes to config.yaml, where only that key changes.
// Set writes nothing if the value is invalid, the file is broken, or the
// administrator or a variable decides the key. c itself stays as it was loaded.
func (c *Config) Set(ctx context.Context, key, text string) (Change, error) {
	if envName(key) {
		return c.SetEnv(ctx, key, text)
	}
	t, err := c.target(key)
	if err != nil {
		return Change{}, err
	}
	value, err := t.parse(text)
	if err != nil {
		return Change{}, err
	}
	change := Change{Notes: t.allNotes()}
	if t.secret() && text != "" && !strings.Contains(text, "${") {
		name := variableFor(t.path)
		moved, err := c.SetEnv(ctx, name, text)
		if err != nil {
			return Change{}, err
		}
		value = "${" + name + "}"
		change.Notes = append(change.Notes, "the secret was saved in "+moved.File+" as "+name+"; config.yaml refers to the variable")
		change.Notes = append(change.Notes, moved.Notes...)
	}
	change.Key, change.File = yamledit.Join(t.path), c.home.Config()
	return change, c.edit(ctx, "hermes config set "+change.Key, func(src []byte) ([]byte, error) { return c.writeChecked(t, src, value) })
}

// Put writes one setting with a value of a type that yamledit.Set takes. It refuses
// what Set refuses, but does not check the value.
func (c *Config) Put(ctx context.Context, key string, value any) (Change, error) {
	t, err := c.target(key)
	if err != nil {
		return Change{}, err
	}
	change := Change{Key: yamledit.Join(t.path), File: c.home.Config(), Notes: t.allNotes()}
	return change, c.edit(ctx, "hermes", func(src []byte) ([]byte, error) { return c.writeChecked(t, src, value) })
}

// writeChecked returns the text with a new value. It refuses a mistake in a careful section.
func (c *Config) writeChecked(t *destination, src []byte, value any) ([]byte, error) {
	out, err := t.write(src, value)
	if err != nil {
		return nil, err
	}
	return out, c.refused(out, t.path)
}

// ErrNotSet means that there is nothing to unset.
var ErrNotSet = errors.New("is not set")

// Unset removes one setting from config.yaml, or a variable from .env.
func (c *Config) Unset(ctx context.Context, key string) (Change, error) {
	if envName(key) {
		return c.unsetEnv(ctx, key)
	}
	t, err := c.target(key)
	if err != nil {
		return Change{}, err
	}
	change := Change{Key: yamledit.Join(t.path), File: c.home.Config()}
	return change, c.edit(ctx, "hermes config unset "+change.Key, func(src []byte) ([]byte, error) {
		out, err := yamledit.Unset(src, t.path)
		if err == nil && string(out) == string(src) {
			return nil, fmt.Errorf("%s %w in %s", change.Key, ErrNotSet, change.File)
		}
		return out, err
	})
}

// Migrate renames old keys in config.yaml and returns what it did, nil if there was
// nothing to do. It keeps a copy first.
func (c *Config) Migrate(ctx context.Context) (done []string, err error) {
	err = c.edit(ctx, "hermes config migrate", func(src []byte) (out []byte, err error) {
		out, done, err = migrate(src)
		return out, err
	})
	return done, err
}

// edit changes config.yaml under its lock. The file is read again, so that a
// change made since Load is kept.
func (c *Config) edit(ctx context.Context, who string, change func([]byte) ([]byte, error)) error {
	path := c.home.Config()
	src, free, err := c.take(ctx, path, who)
	if err != nil {
		return err
	}
	defer free()
	if _, err := usable(src, nil); err != nil {
		return errors.New(fileProblem(path, err, "nothing was written",
			"Fix it first with `hermes config edit`").String())
	}
	out, err := change(src)
	if err != nil || string(out) == string(src) {
		return err
	}
	if len(src) > 0 {
		reason := reasonEdit
		if strings.HasSuffix(who, reasonMigrate) {
			reason = reasonMigrate
		}
		if _, err := keepCopy(c.home, reason, src, c.options.Now()); err != nil {
			return fmt.Errorf("keep a copy before the change: %w", err)
		}
	}
	write := func() error { return atomicfile.Write(path, out, atomicfile.Options{Follow: true}) }
	if c.options.Journal == nil {
		return write()
	}
	return c.options.Journal(ctx, who, path, write)
}

// take locks a file of the home folder against other processes and reads it; a
// missing one is empty. free releases the lock.
func (c *Config) take(ctx context.Context, path, who string) (src []byte, free func() error, err error) {
	if err := c.home.Make(c.home.Path()); err != nil {
		return nil, nil, err
	}
	lock, err := atomicfile.Acquire(ctx, path, who, lockWait)
	if err != nil {
		return nil, nil, err
	}
	src, err = os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		lock.Release()
		return nil, nil, errors.New(fileProblem(path, err, "nothing was written", "").String())
	}
	return src, lock.Release, nil
}

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
