// Package upstream turns a plugin that was written for the Python Hermes, a folder with an
// __init__.py that defines register(ctx), into one of the protocol of docs/plugin-protocol.md: it moves
// the files below plugin, and adds a manifest and hermes_shim.py, which serves them.
//
// Such a plugin declares no capabilities. It gets what the user grants, and Convert says what it seems
// to want beyond that. The package reads the files as text and runs nothing. Start at Convert.
package upstream

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/internal/text"
)

//go:embed hermes_shim.py
var shim []byte

const (
	manifestName = "plugin.yaml"
	shimName     = "hermes_shim.py"
	settingsName = "hermes_shim.json"
	folderName   = "plugin"
	maxManifest  = 64 << 10
	maxScanned   = 4 << 20 // bytes of Python in which words are looked for
)

// Grants are what the user allows a plugin, since it declares nothing itself.
type Grants struct {
	// Hosts are names with or without ":port". Read and Write are absolute paths.
	Hosts []string `json:"hosts,omitempty"`
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Secrets are names, each with the hosts that its value may go to.
	Secrets map[string][]string `json:"secrets,omitempty"`
	// Variables are plain values of the environment, by their names.
	Variables map[string]string `json:"variables,omitempty"`
	// Tools are those of the session that it may call.
	Tools []string `json:"tools,omitempty"`
	// Complete lets it ask a model.
	Complete bool `json:"complete,omitempty"`
}

// Empty reports whether nothing is granted.
func (g Grants) Empty() bool {
	return len(g.Hosts)+len(g.Read)+len(g.Write)+len(g.Secrets)+len(g.Variables)+len(g.Tools) == 0 && !g.Complete
}

// theirs is the manifest of a plugin of the Python Hermes.
type theirs struct {
	Name        string    `yaml:"name"`
	Version     string    `yaml:"version"`
	Description string    `yaml:"description"`
	Author      string    `yaml:"author"`
	Kind        string    `yaml:"kind"`
	RequiresEnv []wantEnv `yaml:"requires_env"`
	Program     any       `yaml:"program"`
}

// wantEnv is a variable that a plugin wants: a name, or an object with one.
type wantEnv struct{ Name string }

// UnmarshalYAML reads both forms.
func (w *wantEnv) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		w.Name = n.Value
		return nil
	}
	var object struct {
		Name string `yaml:"name"`
	}
	err := n.Decode(&object)
	w.Name = object.Name
	return err
}

var register = regexp.MustCompile(`\bregister\b`)

// Is reports whether a folder has a plugin of the Python Hermes.
func Is(dir string) bool {
	code, err := os.ReadFile(filepath.Join(dir, "__init__.py"))
	if err != nil || !register.Match(code) {
		return false
	}
	m, err := readTheirs(dir)
	return err == nil && m.Program == nil
}

// readTheirs reads the manifest, which may be missing.
func readTheirs(dir string) (m theirs, err error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return m, err
	case len(data) > maxManifest:
		return m, fmt.Errorf("%s is larger than %s", manifestName, text.Size(maxManifest))
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", manifestName, err)
	}
	return m, nil
}

// Convert turns the plugin in a folder into one of ours. name is what it is called if it does not say
// so. It returns what the plugin seems to want and does not get, a sentence each, for the user.
func Convert(dir, name string, g Grants) (lacks []string, err error) {
	m, err := readTheirs(dir)
	if err != nil {
		return nil, err
	}
	code, err := words(dir)
	if err != nil {
		return nil, err
	}
	wants := []string{}
	for _, w := range m.RequiresEnv {
		if w.Name != "" {
			wants = append(wants, w.Name)
		}
	}
	m.Name = PlainName(cmp.Or(m.Name, name))
	if err := below(dir); err != nil {
		return nil, err
	}
	if g.Variables == nil {
		g.Variables = map[string]string{}
	}
	manifest, err := yaml.Marshal(ours(m, code, g))
	if err != nil {
		return nil, err
	}
	settings, err := json.MarshalIndent(map[string]any{
		"name": m.Name, "version": m.Version, "requires_env": wants, "variables": g.Variables, "injects": strings.Contains(code, "inject_message"),
	}, "", " ")
	if err != nil {
		return nil, err
	}
	for file, data := range map[string][]byte{manifestName: append([]byte("# Made from a plugin of the Python Hermes; install it again to change what it may do.\n"), manifest...), shimName: shim, settingsName: append(settings, '\n')} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			return nil, err
		}
	}
	return lacking(wants, code, g), nil
}

// below moves everything in a folder to a new folder in it.
func below(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	to, err := os.MkdirTemp(dir, ".move-")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Chmod(to, 0o755); err != nil {
		return err
	}
	return os.Rename(to, filepath.Join(dir, folderName))
}

// words returns the text of the Python files.
func words(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".py" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.Write(data[:min(len(data), maxScanned-b.Len())])
		b.WriteByte('\n')
		if b.Len() >= maxScanned {
			return fs.SkipAll
		}
		return nil
	})
	return b.String(), err
}

// PlainName makes a name one that a plugin may have.
func PlainName(name string) string {
	name = notInName.ReplaceAllString(strings.ToLower(name), "-")
	name = strings.Trim(name, "-")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "plugin-" + name
	}
	return strings.Trim(name[:min(len(name), 40)], "-")
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// capabilities are in the order in which people read them.
type capabilities struct {
	Hosts     []string `yaml:"hosts,omitempty,flow"`
	Read      []string `yaml:"read,omitempty,flow"`
	Write     []string `yaml:"write,omitempty,flow"`
	Secrets   []secret `yaml:"secrets,omitempty"`
	Tools     []string `yaml:"tools,omitempty,flow"`
	Approvals bool     `yaml:"approvals,omitempty"`
	Complete  *empty   `yaml:"complete,omitempty"`
}

type secret struct {
	Name  string   `yaml:"name"`
	Hosts []string `yaml:"hosts,flow"`
}

type empty struct{}

type manifest struct {
	Name         string       `yaml:"name"`
	Version      string       `yaml:"version"`
	Description  string       `yaml:"description"`
	Program      []string     `yaml:"program,flow"`
	Kinds        []string     `yaml:"kinds,flow"`
	Capabilities capabilities `yaml:"capabilities"`
}

func ours(m theirs, code string, g Grants) manifest {
	c := capabilities{Hosts: slices.Clone(g.Hosts), Read: g.Read, Write: g.Write, Tools: g.Tools}
	for _, name := range slices.Sorted(maps.Keys(g.Secrets)) {
		c.Secrets = append(c.Secrets, secret{name, g.Secrets[name]})
		for _, h := range g.Secrets[name] {
			if !slices.Contains(c.Hosts, h) {
				c.Hosts = append(c.Hosts, h)
			}
		}
	}
	if g.Complete {
		c.Complete = &empty{}
	}
	// A hook that wants the user to be asked gets that: it takes nothing from the user.
	c.Approvals = strings.Contains(code, "pre_tool_call") && strings.Contains(code, "approve")
	kinds := []string{"tools", "hooks", "prompt"}
	if strings.Contains(code, "register_command") {
		kinds = append(kinds, "commands")
	}
	return manifest{
		Name: m.Name, Version: cmp.Or(m.Version, "0"), Description: cmp.Or(m.Description, "A plugin of the Python Hermes."),
		Program: []string{"python3", "./" + shimName}, Kinds: kinds, Capabilities: c,
	}
}

var (
	network    = regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:requests|httpx|aiohttp|urllib|urllib3|http\.client|socket|websockets?|websocket)\b`)
	dispatched = regexp.MustCompile(`dispatch_tool\(\s*["'](\w+)["']`)
	model      = regexp.MustCompile(`\.llm\b`)
)

// lacking says what a plugin seems to want and does not get.
func lacking(wants []string, code string, g Grants) (lacks []string) {
	for _, name := range wants {
		if _, plain := g.Variables[name]; !plain && len(g.Secrets[name]) == 0 {
			shown := text.VisibleName(text.OneLine(name, 64))
			lacks = append(lacks, fmt.Sprintf("It needs the variable %s: give it with --secret %s=HOST, or --set %s=VALUE if it is no secret.", shown, shown, shown))
		}
	}
	if network.MatchString(code) && len(g.Hosts)+len(g.Secrets) == 0 {
		lacks = append(lacks, "It seems to use the network, and reaches no host: name those that it may reach with --host.")
	}
	var tools []string
	for _, m := range dispatched.FindAllStringSubmatch(code, -1) {
		if !slices.Contains(g.Tools, m[1]) && !slices.Contains(tools, m[1]) {
			tools = append(tools, m[1])
		}
	}
	for _, t := range tools[:min(len(tools), 20)] {
		lacks = append(lacks, fmt.Sprintf("It calls the tool %s, and may not: allow it with --tool %s.", t, t))
	}
	if len(tools) == 0 && strings.Contains(code, "dispatch_tool") && len(g.Tools) == 0 {
		lacks = append(lacks, "It calls tools of the session, and may call none: allow them with --tool.")
	}
	if model.MatchString(code) && !g.Complete {
		lacks = append(lacks, "It asks a model, and may not: allow it with --complete.")
	}
	return lacks
}
