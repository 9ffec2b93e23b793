package plugin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes/internal/text"
)

// ManifestName is the file that makes a folder a plugin.
const ManifestName = "plugin.yaml"

const (
	maxManifest = 64 << 10
	maxList     = 64 // entries of each list
)

// Manifest is what a plugin says about itself before it runs. Read with [ParseManifest].
type Manifest struct {
	// Name has lower-case letters, digits and -, and is also that of its folder.
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Description string `yaml:"description"`
	// Protocol is the lowest version of the protocol that it speaks; 0 is 1.
	Protocol int `yaml:"protocol"`
	// Program starts it; see [Manifest.Words].
	Program []string `yaml:"program"`
	// Kinds are what it brings along; see the constants.
	Kinds        []string     `yaml:"kinds"`
	Capabilities Capabilities `yaml:"capabilities"`
	Timeouts     Timeouts     `yaml:"timeouts"`
}

// Capabilities are what a plugin may do beyond reading its own files. It gets nothing else.
type Capabilities struct {
	// Hosts are names with or without ":port"; 443 is the default.
	Hosts []string `yaml:"hosts"`
	// Read and Write are absolute paths, or below ~.
	Read  []string `yaml:"read"`
	Write []string `yaml:"write"`
	// Programs are those whose files it may read although they are not of the system.
	Programs []string `yaml:"programs"`
	Secrets  []Secret `yaml:"secrets"`
	// Tools are those of the session that it may call, by their names.
	Tools []string `yaml:"tools"`
	// Approvals lets it ask the user: questions, and whether a call may run.
	Approvals bool `yaml:"approvals"`
	// Complete lets it ask a model; nil does not.
	Complete *Complete `yaml:"complete"`
}

// Secret is a secret of Hermes' .env that a plugin uses, at its hosts only.
type Secret struct {
	Name  string   `yaml:"name"`
	Hosts []string `yaml:"hosts"`
}

// Complete bounds the questions to models.
type Complete struct {
	PerMinute int `yaml:"per_minute"` // 0 is 10, 60 at most
	MaxTokens int `yaml:"max_tokens"` // of one answer; 0 is 1,024, 8,192 at most
}

// Timeouts bound how long the program waits, in seconds.
type Timeouts struct {
	Start int `yaml:"start"` // until it answers initialize; 0 is 30, 120 at most
	Call  int `yaml:"call"`  // of one call of a tool; 0 is 300, 3,600 at most
}

// The kinds that this version uses.
const (
	KindTools       = "tools"
	KindHooks       = "hooks"
	KindPrompt      = "prompt"
	KindMemory      = "memory"
	KindEnvironment = "environment"
	KindCommands    = "commands"
	KindContext     = "context"
	KindModel       = "model"
)

// kinds are all that this version uses.
var kinds = [...]string{KindTools, KindHooks, KindPrompt, KindMemory, KindEnvironment, KindCommands, KindContext, KindModel}

// laterKinds are those whose methods are written down, and which this version does not call.
var laterKinds = [...]string{"platform", "media"}

var (
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	secretPattern  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	hostPattern    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)
	calledPattern  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$`) // also tools of MCP servers
	programPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
)

// ValidName reports whether a plugin may have a name.
func ValidName(name string) bool {
	return namePattern.MatchString(name) && !strings.HasSuffix(name, "-")
}

// ReadManifest reads the manifest of the plugin in a folder.
func ReadManifest(dir string) (Manifest, []string, error) {
	f, err := os.Open(filepath.Join(dir, ManifestName))
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("read the manifest: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("read the manifest: %w", err)
	}
	return ParseManifest(data)
}

// ParseManifest reads a manifest. notes are for the user: keys that are not known, and kinds that
// this version does not use.
func ParseManifest(data []byte) (m Manifest, notes []string, err error) {
	if len(data) > maxManifest {
		return m, nil, fmt.Errorf("%s is larger than %s", ManifestName, text.Size(maxManifest))
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		return m, nil, fmt.Errorf("read %s: %w", ManifestName, err)
	}
	strict := yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	var again Manifest
	if unknown, ok := errors.AsType[*yaml.TypeError](strict.Decode(&again)); ok {
		for _, u := range unknown.Errors {
			notes = append(notes, text.OneLine(text.Plain(strings.NewReplacer(" in type plugin.", " in ").Replace(u)), 200))
		}
	}
	if err := m.check(); err != nil {
		return m, notes, fmt.Errorf("%s: %w", ManifestName, err)
	}
	for _, k := range m.Kinds {
		if slices.Contains(laterKinds[:], k) {
			notes = append(notes, fmt.Sprintf("the kind %s has no effect in this version", k))
		}
	}
	m.defaults()
	return m, notes, nil
}

func (m *Manifest) defaults() {
	m.Description = text.OneLine(text.Plain(m.Description), 300)
	m.Version = text.OneLine(text.Plain(m.Version), 40)
	m.Protocol = cmp.Or(m.Protocol, Protocol)
	m.Timeouts.Start, m.Timeouts.Call = cmp.Or(m.Timeouts.Start, 30), cmp.Or(m.Timeouts.Call, 300)
	if c := m.Capabilities.Complete; c != nil {
		c.PerMinute, c.MaxTokens = cmp.Or(c.PerMinute, 10), cmp.Or(c.MaxTokens, 1024)
	}
}

// check refuses a manifest that cannot be used.
func (m *Manifest) check() error {
	switch {
	case !ValidName(m.Name):
		return fmt.Errorf("the name %q cannot be used; take lower-case letters, digits and -, 40 at most, a letter first", text.VisibleName(m.Name))
	case m.Protocol < 0 || m.Protocol > Protocol:
		return fmt.Errorf("it needs version %d of the protocol, and this Hermes speaks %d; update Hermes", m.Protocol, Protocol)
	case len(m.Program) == 0 || m.Program[0] == "":
		return errors.New("program is empty; it lists the words that start the plugin, such as [python3, ./main.py]")
	case len(m.Kinds) == 0:
		return errors.New("kinds is empty; it lists what the plugin brings along, such as [tools, hooks]")
	case len(m.Program) > maxList || len(m.Kinds) > maxList:
		return fmt.Errorf("a list has more than %d entries", maxList)
	}
	if err := within(map[string][2]int{
		"timeouts.start": {m.Timeouts.Start, 120}, "timeouts.call": {m.Timeouts.Call, 3600},
	}); err != nil {
		return err
	}
	for _, w := range m.Program {
		if err := m.word(w); err != nil {
			return err
		}
	}
	for _, k := range m.Kinds {
		if !slices.Contains(kinds[:], k) && !slices.Contains(laterKinds[:], k) {
			return fmt.Errorf("the kind %q is not known", text.VisibleName(k))
		}
	}
	return m.Capabilities.check()
}

// word refuses a word of the program that leaves the folder of the plugin.
func (m *Manifest) word(w string) error {
	if strings.ContainsAny(w, "\x00\n\r") {
		return errors.New("program has a word with a line break")
	}
	if strings.HasPrefix(w, "./") && !filepath.IsLocal(filepath.FromSlash(w)) || strings.HasPrefix(w, "../") {
		return fmt.Errorf("program names %q, which is not in the folder of the plugin", text.Visible(w))
	}
	first := w == m.Program[0]
	if first && !strings.HasPrefix(w, "./") && !programPattern.MatchString(w) {
		return fmt.Errorf("the program %q is neither a file of the plugin, which begins with ./, nor a name", text.Visible(w))
	}
	return nil
}

func (c *Capabilities) check() error {
	for key, list := range map[string][]string{"hosts": c.Hosts, "read": c.Read, "write": c.Write, "programs": c.Programs, "tools": c.Tools} {
		if len(list) > maxList {
			return fmt.Errorf("capabilities.%s has more than %d entries", key, maxList)
		}
	}
	for _, p := range slices.Concat(c.Read, c.Write) {
		if !path.IsAbs(p) && !filepath.IsAbs(p) && !strings.HasPrefix(p, "~/") || strings.ContainsAny(p, "\x00\n") {
			return fmt.Errorf("the path %q is not absolute; begin it with / or ~/", text.Visible(p))
		}
	}
	for _, h := range c.Hosts {
		if !hostPattern.MatchString(h) {
			return fmt.Errorf("the host %q is not a name in lower case, with or without a port", text.Visible(h))
		}
	}
	for _, p := range c.Programs {
		if !programPattern.MatchString(p) {
			return fmt.Errorf("%q is not the name of a program", text.Visible(p))
		}
	}
	for _, t := range c.Tools {
		if !calledPattern.MatchString(t) {
			return fmt.Errorf("%q is not the name of a tool", text.VisibleName(t))
		}
	}
	if err := c.checkSecrets(); err != nil {
		return err
	}
	if c.Complete != nil {
		return within(map[string][2]int{
			"capabilities.complete.per_minute": {c.Complete.PerMinute, 60}, "capabilities.complete.max_tokens": {c.Complete.MaxTokens, 8192},
		})
	}
	return nil
}

// checkSecrets refuses a secret that could go to a host the plugin may not reach, or anywhere.
func (c *Capabilities) checkSecrets() error {
	if len(c.Secrets) > maxList {
		return fmt.Errorf("capabilities.secrets has more than %d entries", maxList)
	}
	var reach []string
	for _, h := range c.Hosts {
		reach = append(reach, WithPort(h))
	}
	for _, s := range c.Secrets {
		if !secretPattern.MatchString(s.Name) {
			return fmt.Errorf("%q is not the name of a secret, such as WEATHER_API_KEY", text.Visible(s.Name))
		}
		if len(s.Hosts) == 0 {
			return fmt.Errorf("the secret %s names no hosts; it may only go to hosts that it names", s.Name)
		}
		for _, h := range s.Hosts {
			if !slices.Contains(reach, WithPort(h)) {
				return fmt.Errorf("the secret %s goes to %q, which is not among the hosts", s.Name, text.Visible(h))
			}
		}
	}
	return nil
}

// WithPort returns a host of a manifest with its port.
func WithPort(host string) string {
	if strings.Contains(host, ":") {
		return host
	}
	return net.JoinHostPort(host, "443")
}

// within refuses numbers that are negative or too large.
func within(numbers map[string][2]int) error {
	for key, n := range numbers {
		if n[0] < 0 || n[0] > n[1] {
			return fmt.Errorf("%s is %d; it is at least 0 and at most %d", key, n[0], n[1])
		}
	}
	return nil
}

// ownProgram is the first word of a program that is this one.
const ownProgram = "hermes"

// Words returns the words that start the program of the plugin in a folder. Those that begin with ./
// are files of the plugin. A first word hermes is this program, whose path is self; any other is
// looked up in the PATH.
func (m *Manifest) Words(self, dir string) []string {
	words := slices.Clone(m.Program)
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "./"):
			words[i] = filepath.Join(dir, filepath.FromSlash(w))
		case i == 0 && w == ownProgram && self != "":
			words[i] = self
		}
	}
	return words
}

// has reports whether the plugin brings a kind along.
func (m *Manifest) has(kind string) bool { return slices.Contains(m.Kinds, kind) }

func (m *Manifest) startTime() time.Duration { return time.Duration(m.Timeouts.Start) * time.Second }
func (m *Manifest) callTime() time.Duration  { return time.Duration(m.Timeouts.Call) * time.Second }
