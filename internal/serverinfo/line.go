package serverinfo

import (
	"fmt"
	"strconv"
	"strings"

	"hermes"
)

// refusal is a context length that a refusal named.
type refusal struct {
	window, listed int // listed is what the list said then
	line           string
}

// refusals returns the models whose context length a refusal named.
func refusals(text string) map[string]refusal {
	out := map[string]refusal{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 4 {
			continue
		}
		_, listed, refused := strings.Cut(f[3], refusedMark)
		window, _ := strconv.Atoi(f[1])
		if n, err := strconv.Atoi(listed); refused && err == nil && window > 0 {
			out[f[0]] = refusal{window, n, line}
		}
	}
	return out
}

// refusedMark comes before what was listed when a refusal named a smaller window.
const refusedMark = "!"

// infoText returns the line of a model; empty if its name does not fit in one. If a
// refusal named the context length, listed is what the list said then.
func infoText(m hermes.ModelInfo, listed *int) string {
	if m.ID == "" || strings.ContainsAny(m.ID, "\t\n\r") {
		return ""
	}
	can := ""
	for _, a := range []struct {
		yes  bool
		mark string
	}{{m.Vision, "v"}, {m.Reasoning, "r"}, {m.Tools, "t"}} {
		if a.yes {
			can += a.mark
		}
	}
	if listed != nil {
		can += refusedMark + strconv.Itoa(*listed)
	}
	line := fmt.Sprintf("%s\t%d\t%d\t%s", m.ID, m.ContextLength, m.OutputLimit, can)
	if p := m.Price; p != nil {
		line += fmt.Sprintf("\t%d\t%d\t%d\t%d", p.Input, p.Output, p.CacheRead, p.CacheWrite)
	}
	return line + "\n"
}

// parseInfo reads the fields after the name of a model.
func parseInfo(model, line string) hermes.ModelInfo {
	m, f := hermes.ModelInfo{ID: model}, strings.Split(line, "\t")
	number := func(i int) int64 {
		if i >= len(f) {
			return 0
		}
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	m.ContextLength, m.OutputLimit = int(max(0, number(0))), int(max(0, number(1)))
	if len(f) > 2 {
		m.Vision, m.Reasoning, m.Tools = strings.Contains(f[2], "v"), strings.Contains(f[2], "r"), strings.Contains(f[2], "t")
	}
	if len(f) >= 7 {
		m.Price = &hermes.Price{
			Input: hermes.Money(number(3)), Output: hermes.Money(number(4)), CacheRead: hermes.Money(number(5)),
			CacheWrite: hermes.Money(number(6)), CacheWriteLong: longWrite(model, hermes.Money(number(6))),
		}
	}
	return m
}
