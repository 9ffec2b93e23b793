package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes/internal/dotenv"
	"hermes/internal/yamledit"
)

// layer is one source of settings.
type layer struct {
	source Source
	file   string // for messages; "" for flags
	root   *yaml.Node
}

// Source says where a value comes from.
type Source string

// The sources, highest precedence first.
const (
	FromManaged Source = "managed"
	FromFlag    Source = "command line"
	FromFile    Source = "config.yaml"
	FromEnv     Source = "environment" // the process's or .env
	FromDefault Source = "default"
)

// ManagedFile is where an administrator sets what users cannot change.
func ManagedFile() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(os.Getenv("ProgramData"), "hermes", "config.yaml")
	}
	return "/etc/hermes/config.yaml"
}

func (c *Config) loadManaged() {
	if c.options.Managed == "-" {
		return
	}
	src, err := os.ReadFile(c.options.Managed)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	root, err := usable(src, err)
	if err != nil {
		c.broken = true
		p := fileProblem(c.options.Managed, err, "none of its settings are used", "Ask your administrator to fix it")
		c.problems = append(c.problems, p)
		c.noteLostSpend(p, src, "")
		return
	}
	c.layers = append(c.layers, layer{FromManaged, c.options.Managed, root})
}

// loadFlags makes a layer of the command line.
func (c *Config) loadFlags() {
	if len(c.options.Flags) == 0 {
		return
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for key, text := range c.options.Flags {
		path, err := yamledit.Split(key)
		if err != nil {
			continue // cannot happen: the program names the keys
		}
		at := root
		for _, name := range path[:len(path)-1] {
			next := yamledit.Child(at, name)
			if next == nil {
				next = &yaml.Node{Kind: yaml.MappingNode}
				at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, next)
			}
			at = next
		}
		at.Content = append(at.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Value: path[len(path)-1]},
			&yaml.Node{Kind: yaml.ScalarNode, Value: text})
	}
	c.layers = append(c.layers, layer{FromFlag, "", root})
}

func (c *Config) loadUser() {
	path := c.home.Config()
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	unread := err != nil
	root, err := usable(src, err)
	if err == nil {
		if root != nil {
			c.layers = append(c.layers, layer{FromFile, path, root})
			c.keepGood(src)
		}
		return
	}
	c.broken = true
	name, root, made := c.newestGood()
	p := fileProblem(path, err, "the built-in defaults are used, because there is no good copy",
		"Fix it with `hermes config edit`; Hermes does not change it")
	if root != nil {
		c.layers = append(c.layers, layer{FromFile, name, root})
		p = fileProblem(path, err,
			fmt.Sprintf("the copy of %s is used (%s)", made.Local().Format("2 January 2006, 15:04:05"), name),
			"Fix it with `hermes config edit`; the file was not changed")
	}
	c.problems = append(c.problems, p)
	c.noteLostSpend(p, src, name)
	if unread && root == nil { // somebody may have closed it, so that what it forbids is allowed
		c.unread = errors.New(strings.TrimSuffix(p.String(), "."))
	}
}

// usable parses a settings file; it returns nil if the file has no settings.
func usable(src []byte, err error) (*yaml.Node, error) {
	if err != nil {
		return nil, err
	}
	d, err := yamledit.Parse(src)
	if err != nil {
		return nil, err
	}
	root := d.Root()
	if root == nil || root.Kind == yaml.ScalarNode && yamledit.Scalar(root) == nil {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &yamledit.SyntaxError{Line: root.Line, Text: "expected settings written as `name: value`"}
	}
	return root, nil
}

func fileProblem(path string, err error, served, do string) Problem {
	p := Problem{Severity: Severe, File: path, Served: served, Do: do}
	var syntax *yamledit.SyntaxError
	var access *fs.PathError
	switch {
	case errors.As(err, &syntax):
		p.Line, p.Text = syntax.Line, syntax.Text
	case errors.As(err, &access):
		p.Text = "cannot be read: " + access.Err.Error()
		p.Do = "Check its owner and mode with `ls -l " + path + "`"
	default:
		p.Text = err.Error()
	}
	return p
}

// envFile is the content of .env.
type envFile struct {
	values   map[string]string
	problems []Problem
}

const maxEnvSize = 1 << 20

func (c *Config) readEnv() envFile {
	path := c.home.Env()
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return envFile{}
	}
	if err == nil && len(src) > maxEnvSize {
		err = errors.New("the file is larger than 1 MB")
	}
	if err != nil {
		return envFile{problems: []Problem{fileProblem(path, err, "none of its variables are set", "Make it smaller")}}
	}
	parsed := dotenv.Parse(string(src), c.options.LookupEnv)
	f := envFile{values: parsed.Values}
	for _, bad := range parsed.Bad {
		f.problems = append(f.problems, Problem{Severity: Warning, File: path, Line: bad.Number, Text: bad.Reason,
			Served: "the other lines are used", Do: "Write NAME=value, or start the line with #"})
	}
	return f
}

// Changed reports whether the size or date of config.yaml or .env differs from an
// earlier call of Stamp.
func (c *Config) Changed(since Stamp) bool { return c.Stamp() != since }

// Stamp identifies a state of the two files.
type Stamp struct {
	config, env fileStamp
}

type fileStamp struct {
	size    int64
	changed time.Time
}

// Stamp reads the sizes and dates of the files. A service calls it before Load and
// calls Changed from time to time.
func (c *Config) Stamp() Stamp {
	of := func(path string) fileStamp {
		info, err := os.Stat(path)
		if err != nil {
			return fileStamp{size: -1}
		}
		return fileStamp{info.Size(), info.ModTime()}
	}
	return Stamp{of(c.home.Config()), of(c.home.Env())}
}
