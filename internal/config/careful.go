package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/text"
	"hermes/internal/yamledit"
)

// The sections where unknown means careful: an unknown key is a warning at every
// start and cannot be written, and an invalid value gives the default instead of the
// value of the next source.
const spendSection = "spend"

var carefulSections = [...]string{"approvals", "security", "privacy", "provider_routing", spendSection}

func careful(path []string) bool {
	return len(path) > 0 && slices.Contains(carefulSections[:], path[0])
}

// meantCareful reports whether an unknown key is in one of these sections, or is the
// misspelt name of one.
func meantCareful(path, known []string) bool {
	return careful(path) || len(path) == 1 && careful([]string{nearest(path[0], known)})
}

// problemsOf lists what is unclear about a setting or a section, given by its path: unknown
// keys that may be its misspelt name or one in it, and values that are invalid, in it or in
// its place.
func (c *Config) problemsOf(section ...string) (list []Problem) {
	for _, p := range c.checked() {
		path, err := yamledit.Split(p.Key)
		if err != nil || p.Severity < Warning || p.Planned {
			continue
		}
		meant := min(len(path), len(section))
		if meant > 0 && slices.EqualFunc(path[:meant], section[:meant], func(is, name string) bool { return nearest(is, []string{name}) != "" }) {
			list = append(list, p)
		}
	}
	return list
}

// RestrictionFault says what is unclear about settings that forbid something, given by their
// path, nil if nothing is. Their defaults forbid nothing, so they must not be used in the
// place of what the user wrote.
func (c *Config) RestrictionFault(section ...string) error {
	for _, p := range c.problemsOf(section...) {
		return fmt.Errorf("%s %s; correct it in config.yaml", p.Key, p.Text)
	}
	return nil
}

// SpendProblems lists what is unclear about the section spend: unknown keys, invalid
// values, and a file that cannot be read and differs there from the copy that is
// used. No turn may start while there is one, because a cap that the user wrote
// might not hold.
func (c *Config) SpendProblems() []Problem {
	return append(slices.Clone(c.spendLost), c.problemsOf(spendSection)...)
}

// DenyFault says in words for the user why no turn may start: approvals.deny, or what is
// misspelt from it, is invalid, or the settings file and its copies cannot be read, so more
// would be allowed than was meant. Nil if nothing is unclear.
func (c *Config) DenyFault() error {
	if c.unread != nil {
		return fmt.Errorf("%w. No turn is started: what it forbids is not known", c.unread)
	}
	for _, p := range c.problemsOf("approvals", "deny") {
		p.Served = "no turn is started while it is unclear what is forbidden"
		return errors.New(strings.TrimSuffix(p.String(), "."))
	}
	return nil
}

// SpendFault says in words for the user why no turn may start; nil if nothing is unclear.
func (c *Config) SpendFault() error {
	problems := c.SpendProblems()
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	p.Served = "no turn is started while it is unclear what may be spent"
	text := strings.TrimSuffix(p.String(), ".")
	if n := len(problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more: see `hermes config check`)", n)
	}
	return errors.New(text)
}

// noteLostSpend remembers that the section spend of a file that cannot be read is not
// the one of the copy that is used.
func (c *Config) noteLostSpend(p Problem, broken []byte, copied string) {
	var used []byte
	if copied != "" {
		used, _ = os.ReadFile(copied) // without it, everything counts as lost
	}
	if bytes.Equal(spendText(broken), spendText(used)) {
		return
	}
	c.spendLost = append(c.spendLost, p)
}

// spendText returns the lines of the section spend, or of what looks like it: of a
// file in braces, everything.
func spendText(src []byte) []byte {
	if text := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff"))); bytes.HasPrefix(text, []byte("{")) {
		return src
	}
	var out []byte
	inside := false
	for line := range bytes.Lines(src) {
		if len(bytes.TrimSpace(line)) > 0 && !strings.ContainsRune(" \t#-", rune(line[0])) {
			name, _, _ := bytes.Cut(line, []byte(":"))
			inside = nearest(strings.Trim(string(bytes.TrimSpace(name)), `"'`), []string{spendSection}) != ""
		}
		if inside {
			out = append(out, line...)
		}
	}
	return out
}

// checkSpend reports values of the section spend that are of the right kind but mean
// nothing.
func (c *Config) checkSpend(l leaf, add func(Problem)) {
	if len(l.path) < 2 || l.path[0] != spendSection || l.source == FromDefault {
		return
	}
	p := Problem{Severity: Warning, File: l.file, Line: l.line, Key: yamledit.Join(l.path), Served: "it is ignored"}
	p.Do = "Fix it with `hermes config set " + p.Key + " VALUE`"
	switch v := l.value; {
	case v.Kind() == reflect.Float64 && v.Float() > 0 && hermes.USD(v.Float()) == 0:
		p.Text = "must be at least 0.000001, or 0 for none"
	case l.path[1] == "warn_at":
		for _, written := range v.Interface().([]string) {
			if _, ok := percentage(written); !ok {
				p.Text = "must list percentages from 1 to 100, not " + strconv.Quote(text.Clip(written, shownValue))
			}
		}
	}
	if p.Text != "" {
		add(p)
	}
}

// checkPrices reports prices of models without the price of input or output.
func (c *Config) checkPrices(add func(Problem)) {
	for name, price := range c.Spend().Prices {
		if price.Input >= 0 && price.Output >= 0 {
			continue
		}
		path := []string{spendSection, "prices", name}
		p := Problem{Severity: Warning, Key: yamledit.Join(path), Text: "needs the price of input and of output", Served: "it is ignored",
			Do: fmt.Sprintf("Write both with `hermes config set %s '{input: 1, output: 2}'`", yamledit.Join(path))}
		for _, l := range c.layers {
			if n := yamledit.Find(l.root, path...); n != nil {
				p.File, p.Line = l.file, n.Line
				break
			}
		}
		add(p)
	}
}

// refused returns an error if a change of config.yaml would write an unknown key or an
// invalid value below a path of a careful section.
func (c *Config) refused(src []byte, path []string) error {
	if !careful(path) {
		return nil
	}
	root, err := usable(src, nil)
	if err != nil || root == nil {
		return nil // edit reports the broken file
	}
	trial := newConfig(c.home, c.options)
	trial.env, trial.layers = c.env, []layer{{FromFile, c.home.Config(), root}}
	for _, p := range trial.checked() {
		at, err := yamledit.Split(p.Key)
		within := err == nil && len(at) >= len(path) && slices.Equal(at[:len(path)], path)
		if !within || p.Severity < Warning || p.Planned || p.unset != "" {
			continue
		}
		if p.meant != "" {
			return fmt.Errorf("%s %s; nothing was written. Did you mean %s?", p.Key, p.Text, p.meant)
		}
		return fmt.Errorf("%s %s; nothing was written", p.Key, p.Text)
	}
	return nil
}
