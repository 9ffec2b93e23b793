package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Verdict is what an entry says about the calls that it describes.
type Verdict string

// The verdicts, from the strongest.
const (
	Deny  Verdict = "deny"  // never, in any mode
	Ask   Verdict = "ask"   // in every mode; an answer holds for the same subject only
	Allow Verdict = "allow" // without asking
)

// Entry is one rule with what limits it.
type Entry struct {
	Verdict Verdict
	Rule    Rule
	Reason  string    // what the author says of it, for the user; may be empty
	Expires time.Time // zero means never
	Place   string    // file and line, or the name of the setting
	when    when
}

// Limited reports whether the entry holds in some sessions only.
func (e Entry) Limited() bool {
	w := e.when
	return len(w.platform)+len(w.user)+len(w.chat)+len(w.model)+len(w.profile)+len(w.project) > 0 || w.unattended != ""
}

// ID names the entry by what it says, so that an answer for one does not count for another. It is
// the same each time that the file is read.
func (e Entry) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%+v\x00%s", e.Verdict, e.Rule.text, e.when, e.Expires))
	return hex.EncodeToString(sum[:6])
}

// String is the entry as the user wrote it, and where.
func (e Entry) String() string { return fmt.Sprintf("%s %q (%s)", e.Verdict, e.Rule.text, e.Place) }

// Problem is a part of a file that cannot be understood.
type Problem struct {
	Place string
	Text  string
	// Stops says that the part may deny or ask. Since it is not known what, no call may run until the
	// file is repaired. A part that can only allow is left out.
	Stops bool
}

// String is the problem with its place.
func (p Problem) String() string { return p.Place + ": " + p.Text }

// Policy is the rules of one file or setting. It is not changed by any method and may be shared.
//
// Entries that allow are read strictly: see [Rules.Allow]. Entries that deny or ask match wider, so that
// another spelling does not hide a call: case does not count, * also matches slashes, and a pattern for
// commands fits any simple command of a line that has its words in this order, with others between or
// after them, by whatever program it is started. What may fit, but depends on what is only known at run
// time, is asked.
type Policy struct {
	Entries  []Entry
	Problems []Problem
	// Untrusted policies may deny and ask, but allow nothing.
	Untrusted bool
}

// Finding is an entry that is about a call.
type Finding struct {
	Entry
	// Maybe says that it depends on what is only known at run time whether it is.
	Maybe bool
}

// find returns the entries with a verdict that are about a call now.
func (p *Policy) find(v Verdict, c *Call, now time.Time) []Finding {
	var found []Finding
	for _, e := range p.Entries {
		if e.Verdict != v || !e.current(now) || !e.when.holds(c, false) {
			continue
		}
		m := e.Rule.about(c)
		if v == Deny && m == maybe && c.LeavesOut && e.Rule.tool.files() {
			continue
		}
		if m != no {
			found = append(found, Finding{e, m == maybe})
		}
	}
	return found
}

func (e Entry) current(now time.Time) bool { return e.Expires.IsZero() || now.Before(e.Expires) }

// Policies are those that hold for a session, the user's own first. None of them allows what another
// one denies.
type Policies []*Policy

// Unclear returns the first problem because of which no call may run.
func (ps Policies) Unclear() (Problem, bool) {
	for _, p := range ps {
		if i := slices.IndexFunc(p.Problems, func(p Problem) bool { return p.Stops }); i >= 0 {
			return p.Problems[i], true
		}
	}
	return Problem{}, false
}

// Concern reports whether an entry may be about the calls of a tool. It is quick, and says whether more
// of a call must be found out.
func (ps Policies) Concern(c *Call) bool {
	return slices.ContainsFunc(ps, func(p *Policy) bool {
		return slices.ContainsFunc(p.Entries, func(e Entry) bool { return e.Rule.tool.mayFit(c) })
	})
}

// Denied returns the entry that forbids a call. A call that may be one of those is to be asked each time
// instead; these entries are in asks, with those that ask.
func (ps Policies) Denied(c *Call, now time.Time) (denied *Finding, asks []Finding) {
	for _, p := range ps {
		for _, f := range p.find(Deny, c, now) {
			if !f.Maybe {
				return &f, nil
			}
			asks = append(asks, f)
		}
	}
	for _, p := range ps {
		asks = append(asks, p.find(Ask, c, now)...)
	}
	return nil, asks
}

// Allowed returns the fewest entries that together allow a call although it has the risk with this key,
// none if they do not. Untrusted policies have no part in it.
func (ps Policies) Allowed(c *Call, risk string, now time.Time) []Entry {
	var entries []Entry
	for _, p := range ps {
		if p.Untrusted {
			continue
		}
		for _, e := range p.Entries {
			if e.Verdict == Allow && e.current(now) && e.Rule.tool.fits(c) && e.when.holds(c, true) {
				entries = append(entries, e)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	allow := func(entries []Entry) bool {
		rules := make(Rules, len(entries))
		for i, e := range entries {
			rules[i] = e.Rule
		}
		return rules.Allow(*c, risk)
	}
	if !allow(entries) {
		return nil
	}
	for i := len(entries) - 1; i >= 0; i-- { // those that are not needed have no part in it
		if rest := slices.Delete(slices.Clone(entries), i, i+1); allow(rest) {
			entries = rest
		}
	}
	return entries
}

// Globs is the policy of the setting approvals.deny: each glob is matched with the command or subject of
// every call, or with every text among its arguments.
func Globs(globs []string, place string) *Policy {
	p := &Policy{}
	for _, g := range globs {
		if low := plain(g); low != "" {
			p.Entries = append(p.Entries, Entry{Verdict: Deny, Place: place, Rule: Rule{text: g, subject: g, glob: low, tool: toolPattern{name: "*", glob: true}}})
		}
	}
	return p
}
