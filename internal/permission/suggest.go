package permission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/lazy"
	"hermes/internal/order"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/inspect"
	"hermes/internal/yamledit"
)

// Answered is how often the user answered in one way about a call with one risk.
type Answered struct {
	Tool, Subject, Risk string
	Allowed             bool
	Count               int
	Last                time.Time
}

// Suggestion is a rule that would have answered for the user.
type Suggestion struct {
	Rule  string
	Count int // answers that it would have saved
	Last  time.Time
	// Call is the command that it was made of, and Risks what it was asked about for.
	Call  string
	Risks []string
}

// suggestable are the risks for which a rule may be suggested. All others are not: what deletes, overwrites, sends,
// publishes, gains rights, hides what runs or changes Hermes is answered each time, and so is what is not known.
var suggestable = []string{"docker-lifecycle", "environment", "git-remote", "option-exec", "package-source", "service-stop", "write-and-run"}

// maxSubject is where the record cuts subjects, in bytes: a longer one is not known whole.
const maxSubject = 480

// Suggest returns rules for commands that the user allowed at least so often and never refused, the most useful first. A rule
// has each word of one command. A * would also cover other addresses, options and things to destroy, and what builds and tests
// is only asked about for what no * covers, so none is suggested. Each rule is read as the file is, and allows its command.
func Suggest(answers []Answered, least int) []Suggestion {
	seen := map[string]*allowedLine{} // by rule
	refused := map[string]bool{}
	for _, a := range answers {
		words, ok := oneCommand(a)
		if !ok || deletes(words) {
			continue
		}
		pattern, ok := quotedWords(words)
		rule := toolCommand + ": " + pattern
		switch {
		case !ok:
			continue
		case !a.Allowed:
			refused[rule] = true
			continue
		case seen[rule] == nil:
			seen[rule] = &allowedLine{line: a.Subject, risks: map[string]int{}}
		}
		l := seen[rule]
		l.risks[a.Risk] += a.Count
		if a.Last.After(l.last) {
			l.last = a.Last
		}
	}
	var list []Suggestion
	for rule, l := range seen {
		risks := slices.Sorted(maps.Keys(l.risks))
		unknown := func(r string) bool { return !slices.Contains(suggestable, r) }
		if n := l.count(); n >= least && !refused[rule] && !slices.ContainsFunc(risks, unknown) && allows(rule, l.line, risks) {
			list = append(list, Suggestion{Rule: rule, Count: n, Last: l.last, Call: l.line, Risks: risks})
		}
	}
	order.By(list, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), strings.Compare(a.Rule, b.Rule))
	})
	return list
}

// allowedLine is a command that the user allowed.
type allowedLine struct {
	line  string
	risks map[string]int // answers, by risk
	last  time.Time
}

// count is how often it was asked about: each answer counts for each of its risks.
func (l allowedLine) count() int {
	n := 0
	for _, c := range l.risks {
		n = max(n, c)
	}
	return n
}

// masked finds a secret of which the record has only the ends.
var masked = lazy.Regexp(`[\w-]\.\.\.\w`)

// oneCommand returns the words of an answer about one simple command that is known whole.
func oneCommand(a Answered) ([]string, bool) {
	if a.Tool != toolCommand || len(a.Subject) > maxSubject || strings.ContainsAny(a.Subject, "\n\r…�") || strings.Contains(a.Subject, "***") || masked().MatchString(a.Subject) {
		return nil, false
	}
	commands, simple := inspect.Simple(a.Subject)
	if !simple || len(commands) != 1 || len(commands[0]) == 0 || assigns(commands[0][0]) {
		return nil, false
	}
	return commands[0], true
}

// deletes reports whether a word of a command is a verb that deletes, as of docker volume rm.
func deletes(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return getopt.DeedOf(w, "") == getopt.Deletes })
}

func plainWord(w string) bool {
	return w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !(r == '-' || r == '_' || r == '.' || r == ':' || r == '/' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0
}

// quotedWords writes words as a pattern that has exactly these.
func quotedWords(words []string) (string, bool) {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case plainWord(w):
			quoted[i] = w
		case strings.Contains(w, "'"):
			return "", false
		default:
			quoted[i] = "'" + w + "'"
		}
	}
	return strings.Join(quoted, " "), true
}

// allows reports whether a file with just this rule would allow a command in spite of its risks.
func allows(rule, line string, risks []string) bool {
	src, err := yamledit.Set(nil, []string{sectionRules}, []any{map[string]any{string(Allow): rule}})
	if err != nil {
		return false
	}
	p := ReadPolicy(src, "permissions.yaml", "")
	if len(p.Problems) > 0 || len(p.Entries) != 1 {
		return false
	}
	c := Call{Tool: toolCommand, Toolset: toolCommand, Writes: true, Command: line, Texts: []string{line}, Workspace: "/", Dir: "/"}
	for _, risk := range risks {
		if len(Policies{p}.Allowed(&c, risk, time.Time{})) == 0 {
			return false
		}
	}
	return true
}

// AddRules adds rules that allow to the list rules, behind those that are there; everything else in the file stays as it is. It
// returns when they are on disk, were read back, and hold.
func (f *File) AddRules(ctx context.Context, rules ...string) error {
	err := f.change(ctx, "add the rules "+strings.Join(rules, ", "), func(src []byte) ([]byte, error) {
		p := ReadPolicy(src, f.path, "")
		if len(p.Problems) > 0 {
			return nil, fmt.Errorf("no rule was added, since the file is not clear: %s", p.Problems[0])
		}
		for _, r := range rules {
			n, err := listed(src)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
			entry := map[string]any{string(Allow): r}
			if n == 0 {
				src, err = yamledit.Set(src, []string{sectionRules}, []any{entry})
			} else {
				src, err = yamledit.Set(src, []string{sectionRules, strconv.Itoa(n)}, entry)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
		}
		if missing := without(src, f.path, rules); missing != "" {
			return nil, fmt.Errorf("%s: the rule %q cannot be added; write it there with an editor", f.path, missing)
		}
		return src, nil
	})
	if err != nil {
		return err
	}
	src, err := f.read()
	if err != nil {
		return err
	}
	if missing := without(src, f.path, rules); missing != "" {
		return fmt.Errorf("%s was written but does not have the rule %q; look at it with an editor", f.path, missing)
	}
	return nil
}

// without returns the first of the rules that allow which a file does not have, or which do not hold there.
func without(src []byte, place string, rules []string) string {
	p := ReadPolicy(src, place, "")
	for _, r := range rules {
		if len(p.Problems) > 0 || !slices.ContainsFunc(p.Entries, func(e Entry) bool { return e.Verdict == Allow && e.Rule.String() == r }) {
			return r
		}
	}
	return ""
}

// listed is how many entries the list rules has.
func listed(src []byte) (int, error) {
	d, err := yamledit.Parse(src)
	if err != nil {
		return 0, err
	}
	n := d.Find(sectionRules)
	if n == nil {
		return 0, nil
	}
	return len(n.Content), nil
}
