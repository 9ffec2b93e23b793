package provider

import (
	"cmp"
	"slices"
	"strings"

	"hermes/internal/modelinfo"
)

// nameFor writes a model's name as a service wants it: as its list of models has it,
// or as the rules of its row say.
func (c *Catalogue) nameFor(e endpoint, name string) string {
	if _, listed := c.learned.Of(e.BaseURL, name); listed {
		return name
	}
	return nameFor(e.Row, name)
}

// nameFor writes a model's name as a service wants it: Anthropic without
// vendor and with hyphens, Copilot without vendor and with dots, aggregators
// with the vendor. For others it only removes their own name from the front, where
// that does not belong to the id.
func nameFor(r Row, name string) string {
	switch {
	case name == "":
		return ""
	case r.service() == "anthropic":
		name = withoutOwn(r, name)
		if strings.HasPrefix(name, "claude") {
			name = strings.ReplaceAll(name, ".", "-")
		}
		return name
	case r.service() == "copilot":
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name = name[i+1:]
		}
		return dotted(name)
	case r.Aggregator:
		return withVendor(r, name)
	}
	return withoutOwn(r, name)
}

func withVendor(r Row, name string) string {
	if short := withoutOwn(r, name); strings.Contains(short, "/") {
		name = short // openrouter/anthropic/claude…, but not openrouter/auto
	}
	vendor, model, given := strings.Cut(name, "/")
	if !given {
		vendor, model = modelinfo.FamilyOf(name).Vendor, name
		if vendor == "" {
			return name
		}
	}
	return r.vendor(vendor, model) + "/" + model
}

// vendor returns the name of a model's vendor at an aggregator. The given one may be
// that of another aggregator, if the model is known to be its.
func (r Row) vendor(given, model string) string {
	if own := r.Vendors[given]; own != "" {
		return own
	}
	usual := modelinfo.FamilyOf(model).Vendor
	if r.Vendors[usual] == "" && given == vercelVendors()[usual] {
		return usual
	}
	return given
}

// withoutOwn removes the service's own name or alias from the front, unless it
// belongs to the id of the model. It adds one that is missing there.
func withoutOwn(r Row, name string) string {
	head, rest, ok := strings.Cut(name, "/")
	if !ok && r.keeps(name) {
		return r.service() + "/" + name
	}
	if !ok || rest == "" {
		return name
	}
	if head = strings.ToLower(head); head != r.Name && head != r.Like && !slices.Contains(r.Aliases, head) {
		return name
	}
	switch {
	case len(r.Keeps) == 0:
		return rest
	case head == r.service() && !strings.Contains(rest, "/") && (r.keeps(rest) || slices.Contains(r.Keeps, "*")):
		return name
	}
	return withoutOwn(r, rest)
}

// keeps reports whether the id of a model is known to begin with the service's own
// name.
func (r Row) keeps(model string) bool {
	return slices.ContainsFunc(r.Keeps, func(k string) bool { return k == model || k == "*" && modelinfo.FamilyOf(model).Home == r.service() })
}

// service returns the name of the service whose rules apply.
func (r Row) service() string { return cmp.Or(r.Like, r.Name) }

// dotted writes a version with dots: claude-sonnet-4-6 is claude-sonnet-4.6.
func dotted(name string) string {
	b := []byte(name)
	digit := func(i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }
	for i := range b {
		if b[i] == '-' && digit(i-1) && !digit(i-2) && digit(i+1) && !digit(i+3) {
			b[i] = '.'
		}
	}
	return string(b)
}
