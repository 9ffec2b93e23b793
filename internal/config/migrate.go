package config

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

// Version is the schema version that this program writes.
const Version = 30

const versionKey = "_config_version"

// rename is a key that was moved. Old files are read as if they had the new name;
// Migrate writes the new name.
type rename struct{ from, to []string }

// renames lists every move, the oldest first.
var renames = [...]rename{
	{[]string{"max_turns"}, []string{"agent", "max_turns"}},
	{[]string{"system_prompt"}, []string{"agent", "system_prompt"}},
	{[]string{"terminal", "env_type"}, []string{"terminal", "backend"}},
	{[]string{"compression", "summary_provider"}, []string{"auxiliary", "compression", "provider"}},
	{[]string{"compression", "summary_model"}, []string{"auxiliary", "compression", "model"}},
	{[]string{"compression", "summary_base_url"}, []string{"auxiliary", "compression", "base_url"}},
	{[]string{"fallback_model"}, []string{"fallback_providers"}},
	{[]string{"custom_providers"}, []string{"providers"}},
	{[]string{"model", "name"}, []string{"model", "default"}},
	{[]string{"model", "model"}, []string{"model", "default"}},
}

// formerly finds a setting under its old name.
func formerly(l *layer, path []string) *yaml.Node {
	for _, r := range renames {
		if !slices.Equal(r.to, path) {
			continue
		}
		n := yamledit.Find(l.root, r.from...)
		if n != nil && !isNull(n) {
			return translate(r, n)
		}
	}
	return nil
}

// formerKeys lists keys of a section that appear only under old names.
func (d *decoder) formerKeys(at []layeredNode, path []string) []string {
	var keys []string
	for _, r := range renames {
		if len(r.to) <= len(path) || !slices.Equal(r.to[:len(path)], path) {
			continue
		}
		key := r.to[len(path)]
		for i := range d.c.layers {
			if formerly(&d.c.layers[i], r.to) != nil && !slices.Contains(keys, key) && !slices.Contains(keysOf(at, nil), key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// translate converts the value of an old key to the form of the new one.
func translate(r rename, n *yaml.Node) *yaml.Node {
	if r.from[0] != "custom_providers" || n.Kind != yaml.SequenceNode {
		return n
	}
	// A list of providers with names became a section with the names as keys.
	m := &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	for i, item := range n.Content {
		name := "custom" + strconv.Itoa(i+1)
		if given := yamledit.Find(item, "name"); given != nil && given.Value != "" {
			name = given.Value
		}
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name, Line: item.Line}, item)
	}
	return m
}

// gone lists the keys that were removed, with the reason. They are read and ignored, so that
// old files still load.
var gone = [...]struct {
	path   []string
	reason string
}{
	{[]string{"browser", "record_sessions"}, "Hermes makes no films of what a browser shows"},
	{[]string{"browser", "camofox"}, "Hermes drives Chromium only"},
	{[]string{"runtime", "nofile_soft_limit"}, "Hermes raises the limit of open files itself"},
	{[]string{"delegation", "subagent_auto_approve"}, "a child session asks the user of the session that started it; approvals.mode and rules hold for both"},
	{[]string{"delegation", "request_overrides"}, "set fields of requests for a service, in the section providers"},
	{[]string{"delegation", "fallback_providers"}, "child sessions fall back as other sessions do, see fallback_providers"},
	{[]string{"delegation", "surface_child_process_notifications"}, "what a child session runs in the background ends with it"},
	{[]string{"delegation", "independent_completions"}, "each task in the background reports when it has ended"},
	{[]string{"delegation", "routes"}, "child sessions have one model, see delegation.model"},
}

func isGone(path []string) bool { return goneReason(path) != "" }

// goneReason says why a key was removed, "" if it was not. It knows the sections of removed
// keys, too.
func goneReason(path []string) string {
	for _, g := range gone {
		if len(path) <= len(g.path) && slices.Equal(g.path[:len(path)], path) {
			return g.reason
		}
	}
	return ""
}

// Removed reports whether a dotted key was removed: it is accepted in an old file, ignored
// and reported by Check.
func Removed(key string) bool {
	path, err := yamledit.Split(key)
	return err == nil && isGone(path)
}

func goneKeys(l layer, add func(Problem)) {
	for _, g := range gone {
		if n := yamledit.Find(l.root, g.path...); n != nil {
			key := yamledit.Join(g.path)
			add(Problem{Severity: Note, File: l.file, Line: n.Line, Key: key, Text: "was removed: " + g.reason,
				Served: "it is ignored", Do: "Remove it with `hermes config unset " + key + "`"})
		}
	}
}

func isFormer(path []string) bool {
	return slices.ContainsFunc(renames[:], func(r rename) bool { return slices.Equal(r.from, path) })
}

func oldNames(l layer, add func(Problem)) {
	for _, r := range renames {
		n := yamledit.Find(l.root, r.from...)
		if n == nil || isNull(n) {
			continue
		}
		p := Problem{Severity: Note, File: l.file, Line: n.Line, Key: yamledit.Join(r.from),
			Text: "is the old name of " + yamledit.Join(r.to), Served: "it still works",
			Do: "Run `hermes config migrate` to write the new name"}
		if yamledit.Find(l.root, r.to...) != nil {
			p.Severity, p.Served = Warning, "it is ignored, because the new name is set too"
		}
		add(p)
	}
}

// migrate returns the text with every old name moved, and what was done. If the
// new name is set already, the old one stays for the user to decide.
func migrate(src []byte) ([]byte, []string, error) {
	d, err := yamledit.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	var done []string
	if at := d.Find("model"); at != nil && at.Kind == yaml.ScalarNode && !isNull(at) {
		if src, err = yamledit.Set(src, []string{"model"}, map[string]any{"default": at.Value}); err != nil {
			return nil, nil, err
		}
		done = append(done, "model → model.default")
	}
	for _, r := range renames {
		if d, err = yamledit.Parse(src); err != nil {
			return nil, nil, err
		}
		n := d.Find(r.from...)
		if n == nil || isNull(n) || d.Find(r.to...) != nil {
			continue
		}
		value, err := yamledit.Value(translate(r, n))
		if err != nil {
			return nil, nil, err
		}
		if one, ok := value.(map[string]any); ok && r.from[0] == "fallback_model" {
			value = []any{one}
		}
		if src, err = yamledit.Set(src, r.to, value); err != nil {
			return nil, nil, fmt.Errorf("move %s: %w", yamledit.Join(r.from), err)
		}
		if src, err = yamledit.Unset(src, r.from); err != nil {
			return nil, nil, fmt.Errorf("move %s: %w", yamledit.Join(r.from), err)
		}
		done = append(done, yamledit.Join(r.from)+" → "+yamledit.Join(r.to))
	}
	return stampVersion(src, done)
}

func stampVersion(src []byte, done []string) ([]byte, []string, error) {
	d, err := yamledit.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	if n := d.Find(versionKey); n != nil {
		if v, ok := yamledit.Scalar(n).(int64); ok && v >= Version {
			return src, done, nil
		}
	} else if len(done) == 0 {
		return src, nil, nil // a hand-written file without a version needs none
	}
	src, err = yamledit.Set(src, []string{versionKey}, Version)
	return src, append(done, fmt.Sprintf("%s: %d", versionKey, Version)), err
}
