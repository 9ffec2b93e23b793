package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

// sectionRules is the list of the user's rules; grants are written by the program.
const sectionRules = "rules"

// ReadPolicy reads the rules of a file. place names it in texts, and home is the user's home folder,
// which replaces ~ in paths. Rules are the entries of the list rules,
//
//	rules:
//	- {deny: "terminal: git push --force*", reason: "never"}
//	- {ask: "mcp__github__*", when: {platform: [telegram], chat: group}}
//	- {allow: "write_file: ./docs/**", when: {project: ~/src/app}, expires: 2026-12-31}
//	- terminal.*: ask
//
// or, in the short form, lines of the file or of a section rules:
//
//	file.write: allow
//	browser.*: deny
//
// What cannot be understood is among the problems.
func ReadPolicy(src []byte, place, home string) *Policy { return readPolicy(src, place, home, "") }

// ReadProject reads the rules that a project brings along, as [ReadPolicy] does. Relative patterns of
// paths begin in its folder. Without trust they may deny and ask only.
func ReadProject(src []byte, place, home, folder string, trusted bool) *Policy {
	p := readPolicy(src, place, home, folder)
	p.Untrusted = !trusted
	return p
}

func readPolicy(src []byte, place, home, base string) *Policy {
	r := policyReader{place: place, home: home, base: base, policy: &Policy{}}
	d, err := yamledit.Parse(src)
	switch {
	case err != nil:
		line := 0
		if syntax := (*yamledit.SyntaxError)(nil); errors.As(err, &syntax) {
			line, err = syntax.Line, errors.New(syntax.Text)
		}
		r.problem(line, true, err)
	case d.Root() == nil || d.Root().ShortTag() == "!!null":
	case d.Root().Kind != yaml.MappingNode:
		r.problem(d.Root().Line, true, errors.New("the file has no section rules"))
	default:
		r.file(d.Root())
	}
	return r.policy
}

type policyReader struct {
	place, home, base string
	policy            *Policy
}

func (r *policyReader) at(line int) string {
	if line == 0 {
		return r.place
	}
	return fmt.Sprintf("%s:%d", r.place, line)
}

func (r *policyReader) problem(line int, stops bool, err error) {
	r.policy.Problems = append(r.policy.Problems, Problem{Place: r.at(line), Text: err.Error(), Stops: stops})
}

func (r *policyReader) file(root *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], unaliased(root.Content[i+1])
		if seen[name.Value] {
			r.problem(name.Line, true, fmt.Errorf("%q is in the file twice", name.Value))
		}
		seen[name.Value] = true
		switch {
		case name.Kind == yaml.ScalarNode && name.Value == section:
		case name.Kind == yaml.ScalarNode && name.Value == sectionRules:
			r.rules(value)
		default:
			r.short(name, value)
		}
	}
}

func (r *policyReader) rules(node *yaml.Node) {
	switch {
	case node.Kind == yaml.SequenceNode:
		for _, n := range node.Content {
			r.entry(unaliased(n))
		}
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			r.short(node.Content[i], unaliased(node.Content[i+1]))
		}
	case node.ShortTag() != "!!null":
		r.problem(node.Line, true, errors.New("rules is not a list"))
	}
}

// short reads a rule of the form "tool: verdict".
func (r *policyReader) short(name, value *yaml.Node) {
	if name.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || !verdict(value.Value) {
		r.problem(name.Line, true, fmt.Errorf("%q is neither rules nor grants, nor a rule such as \"terminal.*: ask\"", name.Value))
		return
	}
	r.add(Entry{Verdict: Verdict(value.Value), Place: r.at(name.Line)}, name.Value, name.Line)
}

func verdict(text string) bool { return slices.Contains([]Verdict{Deny, Ask, Allow}, Verdict(text)) }

// entry reads an item of the list.
func (r *policyReader) entry(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.problem(node.Line, true, errors.New(`it is not a rule such as {ask: "terminal: git push*"}`))
		return
	}
	if len(node.Content) == 2 && !verdict(node.Content[0].Value) {
		r.short(node.Content[0], unaliased(node.Content[1]))
		return
	}
	e, text, err := r.fields(node)
	if err != nil {
		r.problem(node.Line, !onlyAllows(node), err)
		return
	}
	r.add(e, text, node.Line)
}

// fields reads the fields of a rule in the long form.
func (r *policyReader) fields(node *yaml.Node) (e Entry, rule string, err error) {
	e.Place = r.at(node.Line)
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], unaliased(node.Content[i+1])
		if name.Kind != yaml.ScalarNode || seen[name.Value] {
			return e, "", fmt.Errorf("the field %q is there twice", name.Value)
		}
		seen[name.Value] = true
		if name.Value == "when" {
			if e.when, err = readWhen(value, r.home); err != nil {
				return e, "", err
			}
			continue
		}
		if value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null" || strings.TrimSpace(value.Value) == "" {
			return e, "", fmt.Errorf("the field %q has no text as its value", name.Value)
		}
		switch name.Value {
		case string(Deny), string(Ask), string(Allow):
			if e.Verdict != "" {
				return e, "", fmt.Errorf("it has both %s and %s; write two rules", e.Verdict, name.Value)
			}
			e.Verdict, rule = Verdict(name.Value), value.Value
		case "reason":
			e.Reason = value.Value
		case "expires":
			if e.Expires, err = moment(value.Value); err != nil {
				return e, "", fmt.Errorf("expires: %w", err)
			}
		default:
			return e, "", fmt.Errorf("the field %q is unknown; a rule has deny, ask or allow, and may have when, expires and reason", name.Value)
		}
	}
	if e.Verdict == "" {
		return e, "", errors.New("it has none of deny, ask and allow")
	}
	return e, rule, nil
}

// onlyAllows reports whether an item says in its own words that it allows, and nothing else.
func onlyAllows(node *yaml.Node) bool {
	allows := false
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i]
		if name.Kind != yaml.ScalarNode {
			return false
		}
		switch Verdict(strings.ToLower(strings.TrimSpace(name.Value))) {
		case Deny, Ask:
			return false
		case Allow:
			allows = true
		}
	}
	return allows
}

func (r *policyReader) add(e Entry, text string, line int) {
	var err error
	if e.Verdict == Allow {
		e.Rule, err = parseStrict(text, r.home)
	} else {
		e.Rule, err = parseWide(text, r.home)
	}
	if err != nil {
		r.problem(line, e.Verdict != Allow, err)
		return
	}
	e.Rule.base = r.base
	r.policy.Entries = append(r.policy.Entries, e)
}
