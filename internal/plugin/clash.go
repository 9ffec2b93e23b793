package plugin

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Clash returns why an offer cannot be used beside those of other plugins, which are given by the names
// of those, "" if it can: a tool or a slash command belongs to one plugin, and the sections of all have
// a bound together.
func (o Offer) Clash(others map[string]Offer) string {
	chars := o.chars()
	for _, other := range slices.Sorted(maps.Keys(others)) {
		has := others[other]
		for _, t := range o.Tools {
			if slices.ContainsFunc(has.Tools, func(h Tool) bool { return h.Name == t.Name }) {
				return fmt.Sprintf("the plugin %s has a tool %s, too; disable one of them", other, t.Name)
			}
		}
		for _, c := range o.Commands {
			if slices.ContainsFunc(has.Commands, func(h Command) bool { return h.Name == c.Name }) {
				return fmt.Sprintf("the plugin %s has a command /%s, too; disable one of them", other, c.Name)
			}
		}
		chars += has.chars()
	}
	if len(o.Sections) > 0 && chars > maxAllSections {
		return fmt.Sprintf("the sections of the prompt of all plugins are longer than %d characters together; disable one of them", maxAllSections)
	}
	return ""
}

// chars is how long the sections are together.
func (o Offer) chars() (n int) {
	for _, s := range o.Sections {
		n += utf8.RuneCountInString(s.Text)
	}
	return n
}
