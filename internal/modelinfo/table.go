package modelinfo

import (
	"math"
	"strconv"
	"strings"
)

// table is the parsed snapshot.
type table struct {
	date        string
	entries     map[string][]entry // by canonical name
	plans, free []string
}

// entry is a model in one price list.
type entry struct {
	Model
	services []string // the services with these prices
}

// find looks up a canonical name, then the name without dates and similar parts.
// If several lists have it, the one of the service wins.
func (t *table) find(service, name string) (entry, bool) {
	for {
		if list := t.entries[name]; len(list) > 0 {
			for _, e := range list {
				for _, s := range e.services {
					if s == service {
						return e, true
					}
				}
			}
			return list[0], true
		}
		shorter := trim(name)
		if shorter == name {
			return entry{}, false
		}
		name = shorter
	}
}

// parse reads the snapshot. It skips invalid lines; a test checks that there are
// none.
func parse(text string) *table {
	t := &table{entries: make(map[string][]entry, 256)}
	var services []string
	last := "" // the canonical name that the next tier belongs to
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(f[0], "#"):
		case f[0] == "date" && len(f) == 2:
			t.date = f[1]
		case f[0] == "plan":
			t.plans = append(t.plans, f[1:]...)
		case f[0] == "free":
			t.free = append(t.free, f[1:]...)
		case f[0] == "list":
			services = f[1:]
		case f[0] == ">" && last != "":
			list := t.entries[last]
			if p := list[len(list)-1].Price; p != nil {
				if tier := price(f[2:]); tier != nil {
					p.Above = append(p.Above, Tier{Prompt: int64(number(f[1])), Price: *tier})
				}
			}
		case len(f) >= 6:
			base, _ := split(f[0])
			last = base
			t.entries[base] = append(t.entries[base], entry{model(f), services})
		}
	}
	return t
}

func model(f []string) Model {
	can := func(c string) bool { return strings.Contains(f[3], c) }
	return Model{Name: f[0], Context: number(f[1]), Output: number(f[2]),
		Vision: can("v"), Reasoning: can("r"), Tools: can("t"), Price: price(f[4:])}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// price reads the rates of a line; nil if input or output has none.
func price(f []string) *Price {
	rates := [5]int64{-1, -1, -1, -1, -1}
	for i := range min(len(f), len(rates)) {
		if usd, err := strconv.ParseFloat(f[i], 64); err == nil {
			rates[i] = int64(math.Round(usd * 1e6))
		}
	}
	if rates[0] < 0 || rates[1] < 0 {
		return nil
	}
	if rates[4] < 0 {
		rates[4] = rates[3] // the service has one kind of cache
	}
	return &Price{Input: rates[0], Output: rates[1], CacheRead: rates[2], CacheWrite: rates[3], CacheWriteLong: rates[4]}
}
