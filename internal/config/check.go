package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/internal/order"
	"hermes/internal/text"
	"hermes/internal/yamledit"
)

// Severity says how much a problem matters.
type Severity int

// The severities.
const (
	Note    Severity = iota // nothing is lost: an unknown key, an old name
	Warning                 // a value is not used
	Severe                  // a file is not used
)

// Problem is one thing that is wrong with the configuration: what and where,
// what is done instead, and what the user can do.
type Problem struct {
	Severity Severity
	File     string // "" if it is in no file
	Line     int    // from 1; 0 if unknown
	Key      string // dotted; "" if it is about the file
	Text     string
	Served   string
	Do       string
	Planned  bool // the setting is known and valid but has no effect yet

	meant string // the key that was probably meant, "" if unknown
	unset string // the variable that the value uses and that is not set
	// address says that it is about the address of an entry; see AddressFaults.
	// With whole, Key is the entry.
	address, whole bool
}

// String describes the problem in one or two sentences for the user.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(filepath.Base(p.File))
		if p.Line > 0 {
			fmt.Fprintf(&b, ", line %d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + " ")
	}
	b.WriteString(p.Text)
	if p.Served != "" {
		b.WriteString("; " + p.Served)
	}
	if p.Do != "" {
		b.WriteString(". " + p.Do)
	}
	if strings.HasSuffix(p.Do, "?") {
		return b.String()
	}
	return b.String() + "."
}

// Warnings lists what the user should see at every start: files and values that
// are not used.
func (c *Config) Warnings() []Problem {
	return slices.DeleteFunc(c.Check(), func(p Problem) bool { return p.Severity < Warning })
}

// Check looks at every setting of every file. It reports broken files, values that
// cannot be used, unknown variables, unknown keys, repeated keys and old names.
// Problems of files come first, the rest in the order of the file.
func (c *Config) Check() []Problem { return slices.Clone(c.checked()) }

func (c *Config) check() []Problem {
	problems := append(slices.Clone(c.problems), c.env().problems...)
	files := len(problems)
	add := func(p Problem) {
		if p.File != "" && p.File == c.options.Managed {
			p.Do = "Ask your administrator to fix it"
		}
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	d := decoder{c: c, fault: add, left: maxUnfold}
	d.unknown = func(in layer, key, value *yaml.Node, path, known []string) {
		if p, ok := unknownKey(in, key, value, path, known); ok {
			add(p)
		}
	}
	d.visit = func(l leaf) {
		if p, set := plannedInUse(l); set {
			add(p)
		}
		c.checkSpend(l, add)
	}
	var all Settings
	d.value(d.at(nil), reflect.ValueOf(&all).Elem(), field{}, nil)
	c.checkPrices(add)
	c.checkToolsets(add)
	c.checkPersonality(add)
	c.checkMoA(add)
	c.checkWeb(add)
	c.checkSideTasks(d.at([]string{"auxiliary"}), add)
	c.checkPassthrough(add)
	c.checkHooks(add)
	for _, l := range c.layers {
		repeated(l.root, nil, l, add)
		oldNames(l, add)
		goneKeys(l, add)
	}
	order.By(problems[files:], func(a, b Problem) int {
		if a.File != b.File {
			return strings.Compare(b.File, a.File)
		}
		return a.Line - b.Line
	})
	return problems
}

// checkToolsets reports misspelled names in lists of toolsets, which would
// otherwise be ignored silently.
func (c *Config) checkToolsets(add func(Problem)) {
	if c.options.Toolset == nil {
		return
	}
	for _, path := range [][]string{{"toolsets"}, {"agent", "disabled_toolsets"}, {"platform_toolsets"}} {
		for _, e := range c.EntriesBelow(path...) {
			list, _ := e.Value.([]any)
			for _, v := range list {
				c.checkToolset(e, strings.TrimSpace(fmt.Sprint(v)), add)
			}
		}
	}
}

func (c *Config) checkToolset(e Entry, name string, add func(Problem)) {
	known, names := c.options.Toolset(c, name)
	if coming := c.options.Coming; coming != nil && coming(c, name) {
		add(Problem{Severity: Note, File: e.File, Line: e.Line, Key: e.Key, Planned: true,
			Text: fmt.Sprintf("lists the toolset %q", name), Served: "this version does not have it; the name has no effect"})
		return
	}
	if name == "" || known {
		return
	}
	do := "Run `hermes tools` to list them"
	if near := nearest(name, names); near != "" {
		do = "Did you mean " + near + "?"
	}
	add(Problem{Severity: Warning, File: e.File, Line: e.Line, Key: e.Key,
		Text: fmt.Sprintf("lists %q, which is not a toolset or a tool", name), Served: "it is ignored", Do: do})
}

// checkPassthrough reports variables that are not passed to commands although a
// setting names them.
func (c *Config) checkPassthrough(add func(Problem)) {
	if c.options.KeyOf == nil {
		return
	}
	keyOf := sync.OnceValue(func() func(string) string { return c.options.KeyOf(c) }) // most homes pass no variables
	for _, key := range []string{"env_passthrough", "docker_forward_env"} {
		for _, e := range c.EntriesBelow("terminal", key) {
			list, _ := e.Value.([]any)
			for _, v := range list {
				name := strings.TrimSpace(fmt.Sprint(v))
				if whose := keyOf()(name); whose != "" {
					add(Problem{Severity: Warning, File: e.File, Line: e.Line, Key: e.Key,
						Text:   fmt.Sprintf("names %s, which holds %s", name, whose),
						Served: "it is never passed to commands", Do: "Remove it; give commands a key of their own in another variable"})
				}
			}
		}
	}
}

// HookFault is what is wrong with a hook.
type HookFault struct {
	Key          string // dotted, such as hooks.PreToolUse.0.timeout
	Text, Served string
	// Planned says that it is right and has no effect yet.
	Planned bool
}

// checkHooks reports hooks that do not run as they are written.
func (c *Config) checkHooks(add func(Problem)) {
	if c.options.Hooks == nil {
		return
	}
	at := c.EntriesBelow("hooks")
	for _, f := range c.options.Hooks(c) {
		p := Problem{Severity: Warning, Key: f.Key, Text: f.Text, Served: f.Served, Planned: f.Planned}
		if f.Planned {
			p.Severity = Note
		}
		for _, e := range at {
			if f.Key == e.Key || strings.HasPrefix(f.Key, e.Key+".") {
				p.File, p.Line = e.File, e.Line
			}
		}
		add(p)
	}
}

func unknownKey(in layer, key, value *yaml.Node, path, known []string) (Problem, bool) {
	dotted := yamledit.Join(path)
	if in.source == FromFlag || isFormer(path) || isGone(path) || len(path) == 1 && (path[0] == versionKey || strings.HasPrefix(path[0], "x-")) {
		return Problem{}, false
	}
	p := Problem{Severity: Note, File: in.file, Line: key.Line, Key: dotted,
		Text: "is not a known setting", Served: "it has no effect"}
	if strayAddress(key.Value, value, path, known) {
		p.Severity, p.address = Warning, true
		p.Text, p.Served = "looks like an address, but is not a known setting", "the entry is not used"
		p.Do = "Write it as " + addressKey + ", or remove it"
		return p, true
	}
	if name := nearest(key.Value, known); name != "" {
		p.meant = yamledit.Join(append(slices.Clone(path[:len(path)-1]), name))
	} else {
		p.meant = elsewhere(key.Value)
	}
	var advice []string
	if meantCareful(path, known) {
		p.Severity = Warning
		advice = append(advice, "Remove it with `hermes config unset "+dotted+"`")
	}
	if p.meant != "" {
		advice = append(advice, "Did you mean "+p.meant+"?")
	}
	p.Do = strings.Join(advice, ". ")
	return p, true
}

// repeated reports keys that appear more than once in one section.
func repeated(n *yaml.Node, path []string, l layer, add func(Problem)) {
	if n == nil || n.Kind == yaml.AliasNode {
		return
	}
	first := map[string]int{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		below := append(slices.Clip(path), key.Value)
		if line, again := first[key.Value]; again && key.Kind == yaml.ScalarNode && key.Value != "<<" {
			add(Problem{Severity: Warning, File: l.file, Line: key.Line, Key: yamledit.Join(below),
				Text: fmt.Sprintf("is already set in line %d", line), Served: "the last one is used",
				Do: "Remove one of them with `hermes config edit`"})
		}
		first[key.Value] = key.Line
		repeated(n.Content[i+1], below, l, add)
	}
	for i := 0; n.Kind == yaml.SequenceNode && i < len(n.Content); i++ {
		repeated(n.Content[i], append(slices.Clip(path), itoa(i)), l, add)
	}
}

// Keys lists every setting with a fixed name, dotted, in the order of Settings.
func Keys() []string {
	var keys []string
	var walk func(t reflect.Type, path []string)
	walk = func(t reflect.Type, path []string) {
		for i := range t.NumField() {
			sf := t.Field(i)
			key := sf.Tag.Get("key")
			switch {
			case sf.Anonymous:
				walk(sf.Type, path)
			case key == restKey:
			case sf.Type.Kind() == reflect.Struct:
				walk(sf.Type, append(slices.Clip(path), key))
			default:
				keys = append(keys, yamledit.Join(append(slices.Clip(path), key)))
			}
		}
	}
	walk(reflect.TypeFor[Settings](), nil)
	return keys
}

// elsewhere finds the key of another section with that name, if there is exactly one.
func elsewhere(name string) string {
	found := ""
	for _, key := range Keys() {
		if strings.HasSuffix(key, "."+name) {
			if found != "" {
				return ""
			}
			found = key
		}
	}
	return found
}

// nearest returns the name that is most similar to the given one, "" if none is close.
func nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		if d := text.Edits(strings.ToLower(name), n); d < least {
			best, least = n, d
		}
	}
	return best
}
