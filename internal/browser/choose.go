package browser

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reserve is kept of the longest text for the words about what was left out.
const reserve = 600

// choose returns the lines as text, and if that is too long the most useful ones, and all of
// them as full. Lines with words of the query come first, each with those above it and what
// is in the same row, item or box; then what can be used, headings, and text in order.
func choose(lines []line, query string, most int) (text, full string) {
	full = join(lines)
	if len(full) <= most {
		return full, ""
	}
	kept := make([]bool, len(lines))
	room := max(most-reserve, most/2)
	// take keeps a line with those above it, if there is room.
	take := func(i int) {
		cost := 0
		for j := i; j >= 0 && !kept[j]; j = lines[j].parent {
			cost += len(lines[j].text()) + 3 // with a sign of a gap
		}
		if cost > room {
			return
		}
		room -= cost
		for j := i; j >= 0 && !kept[j]; j = lines[j].parent {
			kept[j] = true
		}
	}
	others := room / 4 // of the room is for what the query does not name
	for _, i := range hits(lines, query) {
		if room <= others {
			break
		}
		take(i)
		for j, end := around(lines, i); j < end && room > others; j++ {
			take(j)
		}
	}
	for _, wanted := range []func(*line) bool{
		func(l *line) bool {
			return l.role == "heading" || l.role == "dialog" || l.role == "alert" || l.role == "alertdialog"
		},
		func(l *line) bool { return l.ref != 0 && l.role != "link" },
		func(l *line) bool { return l.ref != 0 },
		func(*line) bool { return true },
	} {
		for i := range lines {
			if wanted(&lines[i]) {
				take(i)
			}
		}
	}
	return written(lines, kept), full
}

// hits lists the lines that have words of the query, best first. A rare word counts more.
func hits(lines []line, query string) []int {
	wanted := map[string]int{}
	for _, w := range words(query) {
		wanted[w] = 0
	}
	if len(wanted) == 0 {
		return nil
	}
	found := make([][]string, len(lines))
	for i := range lines {
		seen := map[string]bool{}
		for _, w := range words(lines[i].name + lines[i].more) {
			if _, ok := wanted[w]; ok && !seen[w] {
				seen[w] = true
				wanted[w]++
				found[i] = append(found[i], w)
			}
		}
	}
	scores := make(map[int]float64)
	for i, ws := range found {
		for _, w := range ws {
			scores[i] += 1 / float64(wanted[w])
		}
		if lines[i].ref != 0 && len(ws) > 0 {
			scores[i] *= 1.2
		}
	}
	list := slices.Collect(maps.Keys(scores))
	slices.SortFunc(list, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), x-y) })
	return list
}

// common words tell nothing of a page.
var common = set("the and for with from that this then than are was you your our his her its not all any can will would should " +
	"please page site website browser open click find show tell what which where when how who go get into on in to of at by is it a an or be as if me my")

// words are the words of a text, without common ones, with a plain plural as the singular.
func words(s string) []string {
	var all []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) > 3 && strings.HasSuffix(w, "s") {
			w = strings.TrimSuffix(w, "s")
		}
		if common[w] || utf8.RuneCountInString(w) < 2 && w < "\u0250" {
			continue
		}
		all = append(all, w)
	}
	return all
}

// around returns the lines that belong to a line: those of the nearest row, item or box above
// it, or those below it.
func around(lines []line, i int) (from, end int) {
	const most = 40 // lines
	for j := i; j >= 0; j = lines[j].parent {
		switch lines[j].role {
		case "row", "listitem", "article", "group", "form", "dialog", "radiogroup", "search":
			if lines[j].end-j <= most {
				return j, lines[j].end
			}
		}
	}
	return i, min(lines[i].end, i+most)
}

// written writes the kept lines, marks gaps, and says what was left out.
func written(lines []line, kept []bool) string {
	var b strings.Builder
	left, gap := 0, false
	roles, parts := map[string]int{}, map[string]int{}
	for i := range lines {
		if kept[i] {
			if gap {
				b.WriteString(strings.Repeat("  ", min(lines[i].depth, 20)) + "…\n")
				gap = false
			}
			b.WriteString(lines[i].text())
			b.WriteByte('\n')
			continue
		}
		left, gap = left+1, true
		roles[lines[i].role]++
		parts[partOf(lines, i)]++
	}
	if gap {
		b.WriteString("…\n")
	}
	fmt.Fprintf(&b, "(left out %d of %d lines: %s", left, len(lines), most(roles, 5))
	if in := most(parts, 4); in != "" {
		b.WriteString("; most of it in " + in)
	}
	b.WriteString(")")
	return b.String()
}

// partOf names the part of the page that a line is in: by the nearest name above.
func partOf(lines []line, i int) string {
	for j := lines[i].parent; j >= 0; j = lines[j].parent {
		l := &lines[j]
		if l.role == "row" || l.role == "listitem" {
			continue
		}
		name := l.role
		if l.name != "" {
			name += ` "` + clean(l.name, 40) + `"`
		}
		if l.ref != 0 {
			name += " " + refName(l.ref)
		}
		return name
	}
	return ""
}

// most lists the most frequent names.
func most(counts map[string]int, n int) string {
	names := slices.Collect(maps.Keys(counts))
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(counts[y]-counts[x], cmp.Compare(x, y)) })
	var list []string
	for _, name := range names {
		if name != "" && len(list) < n {
			list = append(list, strconv.Itoa(counts[name])+" "+name)
		}
	}
	return strings.Join(list, ", ")
}
