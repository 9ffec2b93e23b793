// Package guard looks at the files of a skill before they are trusted: it
// finds what could harm (orders to the model against its person, secrets sent
// away, destruction, backdoors, hidden code), gives a verdict, and says by the
// trust in the source whether the skill may be installed.
//
// Files go in and findings come out; the package reads no disk and knows no
// library. Patterns find the usual tricks and are no wall: what a skill runs is
// still under the approvals and the sandbox. Start at Scan, then trust.go.
package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
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
	Pattern  string // the rule's name, which never changes
	Severity Severity
	File     string
	Line     int // from 1; 0 where the whole file or folder is meant
	Reason   string
	Excerpt  string // at most 120 characters
}

// String tells the finding in one line.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s (%s, %s)", f.Reason, f.Severity, at)
}

// File is a file of a skill. A link has a Target and no Data.
type File struct {
	Path   string // inside the skill, with slashes
	Data   []byte
	Target string // of a symbolic link, as it is written
}

// Verdict is the outcome of a scan.
type Verdict string

// The verdicts.
const (
	Safe      Verdict = "safe"
	Caution   Verdict = "caution"
	Dangerous Verdict = "dangerous"
)

// Report is what a scan found, worst first.
type Report struct{ Findings []Finding }

// Verdict is that of the worst finding: critical is dangerous, high is
// caution, anything else safe.
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

// Serious are the findings that shape the verdict, as lines for a person.
func (r Report) Serious() []string {
	var out []string
	for _, f := range r.Findings {
		if f.Severity >= High {
			out = append(out, f.String())
		}
	}
	return out
}

// Options steer a scan. The zero value scans with the rules alone.
type Options struct {
	// Injection names the pattern of an order to the model in a text, "" for
	// none; it is asked beside the rules, file by file.
	Injection func(text string) string
}

// maxLine bounds what is matched at once: longer lines are cut into pieces.
const maxLine = 4000

// Scan looks at all files of a skill. There is one finding at most for a
// pattern and line.
func Scan(files []File, o Options) Report {
	var r Report
	r.folder(files)
	for _, f := range files {
		if f.Target != "" || binary(f.Data) {
			continue
		}
		r.text(f)
		if o.Injection == nil {
			continue
		}
		if name := o.Injection(string(f.Data)); name != "" {
			r.Findings = append(r.Findings, Finding{Pattern: name, Severity: Critical, File: f.Path, Reason: "text that gives orders to a model or hides something (" + name + ")"})
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return int(b.Severity - a.Severity) })
	return r
}

func (r *Report) text(f File) {
	n := 0
	for raw := range bytes.Lines(f.Data) {
		n++
		line := strings.TrimRight(string(raw), "\r\n")
		found := map[string]bool{}
		for len(line) > 0 {
			piece := line[:min(len(line), maxLine)]
			line = line[len(piece):]
			r.line(f.Path, n, piece, found)
		}
	}
}

func (r *Report) line(file string, n int, line string, found map[string]bool) {
	low := strings.ToLower(line)
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
