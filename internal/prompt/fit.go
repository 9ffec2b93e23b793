package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/tokens"
)

const (
	defaultShare  = 0.25
	defaultWindow = 128_000 // tokens, if the window is unknown
)

// fit shortens sections that exceed the limit of their layer. If the prompt is
// then still too long, it shortens layers from the lowest up. The same input
// gives the same text.
func (b *builder) fit() {
	limits := b.limits()
	for _, l := range Layers() {
		if most := limits[l.Name]; most > 0 {
			b.shorten(l, fmt.Sprintf("context.layers.%s allows %d characters", l.Name, most), func(s Section) string { return l.within(s, most) })
		}
	}
	budget := b.budget()
	for _, l := range Layers() {
		if b.tokens() <= budget {
			return
		}
		b.shorten(l, b.windowIs(), func(s Section) string { return l.lighter(s, b.tokens()-budget) })
	}
	if n := b.tokens(); n > budget {
		b.warn(fmt.Sprintf("the system prompt takes about %d tokens and cannot be shortened to its limit of %d: %s", n, budget, b.windowIs()))
	}
}

// budget is how many tokens the prompt may have.
func (b *builder) budget() int {
	share := b.Share
	if share <= 0 || share > 1 {
		share = defaultShare
	}
	return int(share * float64(cmp.Or(max(b.Window, 0), defaultWindow)))
}

func (b *builder) tokens() int { return tokens.Text(b.out.Text()) }

// lighter returns a section with so many tokens removed, as far as its layer
// allows.
func (l Layer) lighter(s Section, over int) string {
	now, chars := tokens.Text(s.Text), len([]rune(s.Text))
	goal, text := now-over, s.Text
	most := chars * max(goal, 0) / max(now, 1)
	for range 8 { // tokens are spread unevenly, and notes take space themselves
		if text = l.within(s, most); tokens.Text(text) <= goal || most <= l.Min {
			break
		}
		most = most * 9 / 10
	}
	return text
}

// shorten replaces the texts of a layer's sections and warns the user.
func (b *builder) shorten(l Layer, why string, another func(Section) string) {
	for i := range b.out.Sections {
		s := &b.out.Sections[i]
		if s.Name != l.Name {
			continue
		}
		text := another(*s)
		if text == s.Text {
			continue
		}
		s.Was, s.Why = cmp.Or(s.Was, len(s.Text)), why
		s.Text = text
		b.note(l, *s)
	}
}

// note warns once about each layer, with its latest state.
func (b *builder) note(l Layer, s Section) {
	begin := l.Title + " shortened from "
	b.out.Warnings = slices.DeleteFunc(b.out.Warnings, func(w string) bool { return strings.HasPrefix(w, begin) })
	b.warn(begin + Kilobytes(s.Was) + " to " + Kilobytes(len(s.Text)) + ": " + s.Why)
}

func (b *builder) windowIs() string {
	name := cmp.Or(b.Model, "the model")
	if b.Window <= 0 {
		return "the window of " + name + " is unknown"
	}
	return fmt.Sprintf("the window of %s is %s", name, thousands(b.Window))
}

// thousands formats a window size in the usual form: 8K, 128K, 1M.
func thousands(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1e6)
	case n%1000 != 0 && n%1024 == 0:
		return fmt.Sprintf("%dK", n>>10)
	case n >= 1000:
		return fmt.Sprintf("%.3gK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// Kilobytes formats a number of bytes: 950 bytes, 9.1 KB.
func Kilobytes(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + " KB"
}
