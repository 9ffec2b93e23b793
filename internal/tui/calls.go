package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
)

// How much of a call's result is shown.
const (
	maxDiffLines  = 40
	maxShownLines = 12
)

// running is a call that has started and not finished.
type running struct {
	call     hermes.ToolCall
	preview  string
	progress string
	since    time.Time
}

// callLine is the line of a call: a bar, the tool, its main argument, how long
// it took, and what went wrong.
func (t theme) callLine(name, preview, tail, failure string, width int) string {
	mark, style := "┊", t.Faint
	if failure != "" {
		mark, style = "✗", t.Bad
	}
	left := width - 2 - markup.Width(name) - 2 - markup.Width(tail) - 2
	if failure != "" {
		failure = markup.Clip(markup.OneLine(failure), max(left/2, 16))
		left -= markup.Width(failure) + 2
	}
	preview = markup.OneLine(preview)
	if limit := t.d.PreviewLength; limit > 0 {
		preview = markup.Clip(preview, limit)
	}
	var b strings.Builder
	b.WriteString(style(mark) + " " + name)
	if preview = markup.Clip(preview, left); preview != "" {
		b.WriteString("  " + t.Faint(preview))
	}
	if failure != "" {
		b.WriteString("  " + t.Bad(failure))
	}
	if tail != "" {
		b.WriteString("  " + t.Faint(tail))
	}
	return b.String()
}

// doneLines are the lines of a finished call: its own line, and the part of
// its result that is shown.
func (t theme) doneLines(e hermes.CallDone, width int) []string {
	failure := ""
	if e.Failed {
		failure = whatFailed(e.Result.Text())
	}
	lines := []string{t.callLine(e.Call.Name, e.Preview, took(e.Duration), failure, width)}
	if t.d.Calls == CallsVerbose {
		lines = append(lines, t.block(e.Call.Arguments, width)...)
	}
	shown := strings.TrimRight(e.Shown, "\n ")
	switch {
	case isDiff(shown):
		for _, l := range markup.Diff(withoutNames(shown), maxDiffLines, markup.Options{Width: width - 2, NoColor: t.d.NoColor, Plain: t.d.Plain}) {
			lines = append(lines, "  "+l)
		}
	case shown != "":
		lines = append(lines, t.block(shown, width)...)
	case t.d.Calls == CallsVerbose:
		lines = append(lines, t.block(e.Result.Text(), width)...)
	}
	return lines
}

// block shows the first lines of a text, faint and clipped.
func (t theme) block(text string, width int) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var lines []string
	for i, l := range all {
		if i == maxShownLines {
			lines = append(lines, "  "+t.Faint(fmt.Sprintf("… %d more lines", len(all)-i)))
			break
		}
		l = strings.ReplaceAll(markup.Visible(strings.TrimRight(l, "\r")), "\t", "    ")
		lines = append(lines, "  "+t.Faint(markup.Clip(l, width-2)))
	}
	return lines
}

func isDiff(text string) bool {
	return strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff ") || strings.HasPrefix(text, "@@ ")
}

// withoutNames drops the file names of a diff of one file, since the call
// line shows the name.
func withoutNames(diff string) string {
	if strings.Count("\n"+diff, "\n--- ") != 1 || !strings.HasPrefix(diff, "--- ") {
		return diff
	}
	if i := strings.Index(diff, "\n@@"); i >= 0 {
		return diff[i+1:]
	}
	return diff
}

// whatFailed finds a few words that say why a call failed.
func whatFailed(result string) string {
	var r struct {
		Error    any `json:"error"`
		ExitCode any `json:"exit_code"`
	}
	if json.Unmarshal([]byte(result), &r) == nil {
		if s, ok := r.Error.(string); ok && s != "" {
			return firstLine(s)
		}
		if n, ok := r.ExitCode.(float64); ok && n != 0 {
			return fmt.Sprintf("exit %d", int(n))
		}
	}
	return "failed"
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
