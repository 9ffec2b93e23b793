package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/netguard"
	"hermes/internal/policy"
	"hermes/internal/text"
)

// maxNeeds bounds what one command may ask for, so that the user reads all of it.
const maxNeeds = 10

// The most characters of what the user has to read: a longer text would push the command, and
// what is asked, out of sight.
const (
	maxReason = 300
	maxNeed   = 500
)

// escalates reports whether a call asks to run outside of the sandbox.
func (in arguments) escalates() bool { return strings.TrimSpace(in.Escalate) != "" }

// checkNeeds refuses needs that are not in their one form. It looks only at their text, so
// that what is judged is what runs.
func (in arguments) checkNeeds() error {
	switch {
	case len(in.Need) > maxNeeds:
		return fmt.Errorf("need has more than %d entries; ask only for what the command was refused", maxNeeds)
	case in.escalates() && len(in.Need) > 0:
		return errors.New("escalate and need cannot be combined: outside of the sandbox nothing is refused; choose one")
	case in.escalates() && in.Background:
		return errors.New("escalate works only in the foreground, because all else of the session waits meanwhile")
	}
	if err := in.tooLong(); err != nil {
		return err
	}
	for _, text := range in.Need {
		if _, err := parseNeed(text); err != nil {
			return err
		}
	}
	return nil
}

// tooLong refuses a reason or a need that is too long to be read.
func (in arguments) tooLong() error {
	if n := utf8.RuneCountInString(in.Escalate); n > maxReason {
		return fmt.Errorf("the reason for escalate has %d characters; say it in at most %d", n, maxReason)
	}
	for _, text := range in.Need {
		if n := utf8.RuneCountInString(text); n > maxNeed {
			return fmt.Errorf("a need has %d characters, of which at most %d are shown to the user; name a folder above it", n, maxNeed)
		}
	}
	return nil
}

// parseNeed reads one need. Hosts are in lower case and paths absolute and clean, as
// refusals name them.
func parseNeed(text string) (hermes.Need, error) {
	n, ok := hermes.ParseNeed(text)
	if !ok || n.String() != text {
		return n, fmt.Errorf(`need %q is not understood; write it as in blocked: "host example.org:443", "read /path" or "write /path"`, text)
	}
	if n.Kind == hermes.OpenedPort {
		if number, err := strconv.ParseUint(n.Name, 10, 16); err != nil || number < 1024 || strconv.FormatUint(number, 10) != n.Name {
			return n, fmt.Errorf("need %q is no port from 1024 on; write it like \"port 3000\"", text)
		}
		return n, nil
	}
	if n.Kind == hermes.RefusedHost {
		host, port, err := net.SplitHostPort(n.Name)
		number, bad := strconv.ParseUint(port, 10, 16)
		if err != nil || bad != nil || number == 0 || !isHost(host) || !isCanonical(host) || net.JoinHostPort(host, strconv.FormatUint(number, 10)) != n.Name {
			return n, fmt.Errorf("need %q is no host with a port; write it like \"host example.org:443\", in lower case", text)
		}
		return n, nil
	}
	if !filepath.IsAbs(n.Name) || filepath.Clean(n.Name) != n.Name {
		return n, fmt.Errorf("need %q has no absolute path; write the whole path, as in blocked", text)
	}
	return n, nil
}

// isCanonical reports whether a host is written as it is compared: an address has many
// other spellings.
func isCanonical(host string) bool {
	plain, err := netguard.Canonical(host)
	return err == nil && plain == host
}

// isHost reports whether a text may be the name or address of one host.
func isHost(host string) bool {
	return host != "" && len(host) <= 253 && !strings.HasSuffix(host, ".") && strings.IndexFunc(host, func(r rune) bool {
		return r != '-' && r != '.' && r != ':' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) < 0
}

// needs returns what a command gets beyond its walls. A path that leads elsewhere by now
// is refused: the user was asked about this one.
func (in arguments) needs(ctx context.Context, e hermes.Environment) ([]hermes.Need, error) {
	var list []hermes.Need
	for _, text := range in.Need {
		n, err := parseNeed(text)
		if err != nil {
			return nil, err
		}
		if isPath(n) {
			if real, err := e.Files().RealPath(ctx, n.Name); err != nil {
				return nil, fmt.Errorf("need %q: %w", text, err)
			} else if real != n.Name {
				return nil, fmt.Errorf("need %q goes through a link; name %s instead", text, real)
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// wallRisks are the risks of what a call asks for beyond its walls. They do not depend on
// whether there are any.
func (t *shellOf) wallRisks(in arguments, e hermes.Environment) []hermes.Risk {
	var found []hermes.Risk
	if err := in.tooLong(); err != nil { // refused before anything is shown
		return []hermes.Risk{{Key: hermes.KeyEscape, Deny: true, Mistake: true, Reason: err.Error()}}
	}
	if in.escalates() {
		found = append(found, hermes.Risk{Key: hermes.KeyEscape, NoRemember: true, Once: true, Reason: "runs outside of the sandbox, with everything that you may do"})
	}
	for _, text := range in.Need {
		n, err := parseNeed(text)
		if err != nil {
			return found // the tool itself refuses it
		}
		found = append(found, t.needRisk(n, e))
	}
	return found
}

// needRisk judges one need. Hermes' own home is never opened. What holds secrets, or
// contains what does, is allowed for one command only.
func (t *shellOf) needRisk(n hermes.Need, e hermes.Environment) hermes.Risk {
	r := hermes.Risk{Key: hermes.GrantKey(n)}
	paths := []string{n.Name}
	if follow := t.followLinks(e); follow != nil && isPath(n) {
		paths = append(paths, cmp.Or(follow(n.Name), n.Name))
	}
	rules := policy.PathRules{Home: t.homeOf(e)}
	if !elsewhere(e) {
		rules.State = t.config.Hermes
		rules = rules.Linked(filepath.EvalSymlinks)
	}
	var opening hermes.Opening
	if o, ok := e.(hermes.Opener); ok && isPath(n) {
		opening = o.Opens(context.Background(), n)
	}
	own := slices.DeleteFunc([]string{rules.State, rules.RealState}, func(s string) bool { return s == "" })
	switch {
	case n.Kind == hermes.RefusedHost:
		r.Reason = "reaches " + n.Name + " on the network"
		host, _, _ := net.SplitHostPort(n.Name)
		if class, what := netguard.ClassifyName(host); class != netguard.Public {
			r.Reason = "reaches " + n.Name + ", which is " + what
		}
		if power := t.power(n.Name); power != "" { // each use of it is asked about
			r.Once, r.NoRemember = true, true
			r.Reason += " and may " + power
		}
		return r
	case n.Kind == hermes.OpenedPort:
		r.Reason = "opens port " + n.Name + " of the sandbox to all programs of this machine, at 127.0.0.1:" + n.Name + ", until the session ends"
		return r
	case slices.ContainsFunc(own, func(s string) bool { return slices.ContainsFunc(paths, func(p string) bool { return overlap(p, s) }) }):
		r.Deny, r.Reason = true, n.String()+" would open Hermes' own home, which no command may have"
		return r
	case opening.Refuse != "":
		r.Deny, r.Mistake, r.Reason = true, true, n.String()+": "+opening.Refuse
		return r
	case n.Kind == hermes.RefusedRead:
		r.Reason = "reads " + n.Name + ", which is outside of the sandbox"
		r.Once = rules.Secret(paths...) || !rules.Read(paths...).Allowed()
	default:
		r.Reason = "changes " + n.Name + ", which is outside of the sandbox"
		r.Once = rules.Secret(paths...) || !rules.Need(paths...).Allowed()
	}
	if r.Once {
		r.Reason += " and is or contains what is protected, such as passwords, keys, private data, or files that run later"
	}
	if opening.Holds != "" {
		r.Once = true
		r.Reason += "; it opens " + opening.Holds
	}
	r.NoRemember = r.Once
	return r
}

// upper writes the first letter in upper case.
func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// isPath reports whether a need names a path.
func isPath(n hermes.Need) bool { return n.Kind == hermes.RefusedRead || n.Kind == hermes.RefusedWrite }

// power says what a command may do at a host that it may reach, beyond reaching it: use the
// user's keys, or write with a declared secret.
func (t *shellOf) power(name string) string {
	host, port, _ := net.SplitHostPort(name)
	switch {
	case port == "22":
		return "log in there with your ssh keys while it runs"
	case t.config.Declared != nil && t.config.Declared(host, port):
		return "change something there with the secrets that are declared for it, whatever the session has read"
	}
	return ""
}

// overlap reports whether one of two clean paths is the other or below it.
func overlap(a, b string) bool { return below(a, b) || below(b, a) }

func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// outsideDetail is what the user must see before a command runs outside: why, in the
// model's words, and which of the files that it would run this session wrote. That it runs
// outside is its risk, which is shown last.
func (t *shellOf) outsideDetail(c *hermes.Call, in arguments, dir string) string {
	detail := "The model's reason: " + strconv.Quote(strings.TrimSpace(in.Escalate))
	if t.config.Wrote == nil || c.Host == nil || elsewhere(c.Host.Environment()) {
		return detail
	}
	if files := t.config.Wrote(c.Host.Session().ID, in.Command, dir); len(files) > 0 {
		detail += "\nIt would run files that this session wrote:\n  " + strings.Join(files, "\n  ")
	}
	return detail
}

// unchanged reports an error if a command is no longer what the user agreed to: the folder,
// or a file that it runs outside of the sandbox, was exchanged meanwhile.
func (t *shellOf) unchanged(c *hermes.Call) error {
	if c.Approved.Equal(t.commandSubject(c)) {
		return nil
	}
	return errors.New("its folder, or a file that it runs, changed while the user was asked; look at what changed it, and call again if it is still right")
}

// The bounds of what one result says of refusals: it must not be cut itself.
const (
	maxBlocked   = 20
	maxBlockedIn = 1500 // bytes of all names, as they are written
	maxName      = 200  // characters of a name that cannot be asked for anyway
	maxNotesIn   = 1200 // bytes of all notes
	maxPorts     = 5
)

// blocked lists what the walls refused, in the form that need has, and what to do. The
// first ones matter most. The advice takes all into account.
func blocked(refused []hermes.Refusal) (list []string, advice string) {
	var notes, ports []string
	seen := map[string]bool{}
	askable, more := false, false
	fits := func(s string, left *int) bool {
		size := len(strconv.Quote(s))
		if size <= *left {
			*left -= size
			return true
		}
		return false
	}
	names, space := maxBlockedIn, maxNotesIn
	for _, r := range refused {
		item := string(r.Kind) + " " + r.Name
		if seen[item] {
			continue
		}
		seen[item] = true
		if r.Kind == hermes.OpenedPort { // nothing was refused
			ports = append(ports, "Port "+r.Name+" is "+text.Line(r.Note, namedLength*2)+".")
			continue
		}
		if _, err := parseNeed(item); err == nil {
			askable = true
		} else {
			item = text.Line(item, maxName)
		}
		if len(list) < maxBlocked && fits(item, &names) {
			list = append(list, item)
		} else {
			more = true
		}
		if note := text.Line(r.Note, namedLength*2); note != "" {
			if note = upper(strings.TrimSuffix(note, ".")) + "."; !slices.Contains(notes, note) && fits(note, &space) {
				notes = append(notes, note)
			}
		}
	}
	if more {
		list = append(list, "more")
	}
	notes = append(notes, ports[:min(len(ports), maxPorts)]...)
	if n := len(ports) - maxPorts; n > 0 {
		notes = append(notes, fmt.Sprintf("Ports that were opened as well: %d.", n))
	}
	switch {
	case askable:
		advice = "The sandbox refused this; if the task needs it, call again with need, which asks the user, or do without."
	case len(list) > 0:
		advice = "The sandbox undid or refused this; if the task needs it, call again with escalate and a reason, which asks the user."
	}
	if advice != "" {
		notes = append(notes, advice)
	}
	return list, strings.Join(notes, " ")
}
