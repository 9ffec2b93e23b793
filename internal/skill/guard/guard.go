// Package guard scans the files of a skill before they are trusted. It finds what
// may do harm (instructions that turn the model against its user, secrets sent
// away, destruction, backdoors, hidden code), rates the skill, and decides from
// the rating and the trust in its source whether it may be installed.
//
// Scan takes files in memory and knows no library. The patterns find common
// tricks only; the commands of a skill still need approval and run in the
// sandbox. Start at Scan, then read trust.go.
package guard

import (
	"fmt"
	"strings"

	"hermes/internal/order"
)

// Severity is how bad a finding is.
type Severity int

// The severities, from harmless to worst.
const (
	Low Severity = iota
	Medium
	High
	Critical
)

// String is the severity's name.
func (s Severity) String() string {
	return [...]string{"low", "medium", "high", "critical"}[min(max(s, Low), Critical)]
}

// Finding is one thing that was found.
type Finding struct {
	Pattern  string // the rule's name, which is stored and never changes
	Severity Severity
	File     string
	Line     int // from 1; 0 for the whole file or folder
	Reason   string
	Excerpt  string // at most 120 characters
}

// String returns the finding in one line.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s (%s, %s)", f.Reason, f.Severity, at)
}

// File is a file of a skill. A link has a Target and no Data.
type File struct {
	Path   string // relative to the skill, with slashes
	Data   []byte
	Target string // of a symbolic link, as written
}

// Verdict is the rating of a scan.
type Verdict string

// The verdicts.
const (
	Safe      Verdict = "safe"
	Caution   Verdict = "caution"
	Dangerous Verdict = "dangerous"
)

// Report is what a scan found, worst first.
type Report struct{ Findings []Finding }

// Verdict returns the rating of the worst finding: critical is dangerous, high is
// caution, anything else is safe.
func (r Report) Verdict() Verdict {
	worst := Low
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	switch worst {
	case Critical:
		return Dangerous
	case High:
		return Caution
	}
	return Safe
}

// Serious returns the findings that decide the verdict, as lines for the user.
func (r Report) Serious() []string {
	var out []string
	for _, f := range r.Findings {
		if f.Severity >= High {
			out = append(out, f.String())
		}
	}
	return out
}

// Options configure a scan. The zero value scans with the rules only.
type Options struct {
	// Injection returns the name of the prompt injection pattern found in a text,
	// or "". It is called for every file in addition to the rules.
	Injection func(text string) string
	// Fold returns a line in the form that rules are matched against; nil only
	// makes it lower case.
	Fold func(line string) string
}

// maxLine limits what is matched at once. Longer lines are cut into pieces.
const maxLine = 4000

// Scan scans all files of a skill, whatever their names say they are. It reports
// each pattern at most once per line; a line goes on where a shell would go on.
func Scan(files []File, o Options) Report {
	if o.Fold == nil {
		o.Fold = strings.ToLower
	}
	var r Report
	r.folder(files)
	for _, f := range files {
		if f.Target != "" {
			continue
		}
		text := readable(f.Data)
		r.text(f.Path, text, o.Fold)
		if o.Injection == nil {
			continue
		}
		if name := o.Injection(text); name != "" {
			r.Findings = append(r.Findings, Finding{Pattern: name, Severity: Critical, File: f.Path, Reason: "contains instructions to the model or hidden text (" + name + ")"})
		}
	}
	order.By(r.Findings, func(a, b Finding) int { return int(b.Severity - a.Severity) })
	return r
}

func (r *Report) text(file, text string, fold func(string) string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		n, line := joined(lines[i:])
		found := map[string]bool{}
		at := i + 1
		for i += n; len(line) > 0; {
			piece := line[:min(len(line), maxLine)]
			line = line[len(piece):]
			r.line(file, at, piece, fold(piece), found)
		}
	}
}

// maxJoined limits how many lines one may go on over.
const maxJoined = 50

// joined returns the first of the lines with those on which it goes on, and how
// many they are.
func joined(lines []string) (n int, line string) {
	line = lines[0]
	for n = 1; n < len(lines) && n < maxJoined; n++ {
		before, next := strings.TrimRight(line, " \t"), strings.TrimLeft(lines[n], " \t")
		switch {
		case strings.HasSuffix(line, "\\"):
			line = strings.TrimSuffix(line, "\\") + " " + next
		case strings.HasSuffix(before, "|") && !strings.HasPrefix(strings.TrimSpace(line), "|"), strings.HasSuffix(before, "&&"),
			strings.HasPrefix(next, "| ") && !strings.HasSuffix(strings.TrimRight(next, " \t"), "|"), strings.HasPrefix(next, "&& "):
			line = before + " " + next
		default:
			return n, line
		}
	}
	return n, line
}

func (r *Report) line(file string, n int, line, low string, found map[string]bool) {
	for i := range rules {
		rule := &rules[i]
		if found[rule.name] || !rule.in(low) {
			continue
		}
		found[rule.name] = true
		r.Findings = append(r.Findings, Finding{Pattern: rule.name, Severity: rule.severity, File: file, Line: n, Reason: rule.reason, Excerpt: excerpt(line)})
	}
}

func excerpt(line string) string {
	runes := []rune(strings.ToValidUTF8(strings.TrimSpace(line), "?"))
	if len(runes) > 120 {
		return string(runes[:117]) + "..."
	}
	return string(runes)
}
