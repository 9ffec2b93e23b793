package markup

import (
	"fmt"
	"strings"
)

func diffColor(line string) Color {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Gray
	case strings.HasPrefix(line, "@@"):
		return Cyan
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return 0
}

// Diff colours a unified diff. It shows at most limit lines (0 means all), each cut
// to the width, and a last line that says how many are missing. Hidden characters
// are made visible.
func Diff(diff string, limit int, o Options) []string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	more := 0
	if limit > 0 && len(lines) > limit {
		more = len(lines) - limit
		lines = lines[:limit]
	}
	out := make([]string, 0, len(lines)+1)
	for _, line := range lines {
		text := Clip(expand(Visible(strings.TrimRight(line, "\r"))), o.width())
		out = append(out, o.encode([]span{{text, o.Style.with(diffColor(line), 0)}}))
	}
	if more > 0 {
		note := fmt.Sprintf("… %d more lines", more)
		out = append(out, o.encode([]span{{note, o.Style.with(Gray, 0)}}))
	}
	return out
}
