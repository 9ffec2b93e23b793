package modelinfo

import "strings"

// split brings a model's name into its canonical form: lower case, without
// vendor, hyphens for dots. It returns the tag after a colon separately, unless
// it is a size, which belongs to the name.
func split(name string) (base, tag string) {
	name = strings.ToLower(strings.TrimSpace(name))
	name, _, _ = strings.Cut(name, "@") // claude-x@20250929
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name, tag, _ = strings.Cut(name, ":")
	name = withoutRegion(name)
	if tag != "" && tag[0] >= '0' && tag[0] <= '9' {
		if strings.HasSuffix(tag, "b") { // qwen3:32b
			name += "-" + tag
		}
		tag = "" // or a revision: …-v1:0
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == ' ' {
			return '-'
		}
		return r
	}, name), tag
}

// withoutRegion removes "us.anthropic." from the front of a name.
func withoutRegion(name string) string {
	for _, vendor := range []string{"anthropic.", "amazon.", "meta.", "mistral.", "deepseek.", "openai.", "qwen."} {
		if i := strings.Index(name, vendor); i >= 0 && i <= len("global.") {
			return name[i+len(vendor):]
		}
	}
	return name
}

// trim removes one part from the end of a canonical name that does not
// distinguish models: a date, a revision, a stage. Without such a part it returns
// the name unchanged.
func trim(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return name
	}
	switch last := name[i+1:]; last {
	case "latest", "preview", "exp", "experimental", "beta", "it", "instruct", "v1", "v2", "001", "002":
		return name[:i]
	default:
		if !digits(last) {
			return name
		}
		if len(last) == 8 || len(last) == 6 || len(last) == 4 && last[0] <= '2' {
			return dashed(name[:i], last)
		}
		if len(last) == 2 {
			return datedByHyphens(name)
		}
		return name
	}
}

// dashed removes the month before a year: gemini-x-preview-09-2025.
func dashed(name, last string) string {
	i := strings.LastIndexByte(name, '-')
	if len(last) == 4 && strings.HasPrefix(last, "20") && i > 0 && len(name)-i == 3 && digits(name[i+1:]) {
		return name[:i]
	}
	return name
}

// datedByHyphens removes a date such as 2025-08-07 or 05-20 from the end.
func datedByHyphens(name string) string {
	n := len(name)
	if n > 11 && name[n-11] == '-' && name[n-6] == '-' && name[n-3] == '-' && digits(name[n-10:n-6]) && digits(name[n-5:n-3]) {
		return name[:n-11]
	}
	if n > 6 && name[n-6] == '-' && name[n-3] == '-' && digits(name[n-5:n-3]) && digits(name[n-2:]) {
		return name[:n-6]
	}
	return name
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Same reports whether two names mean the same model, regardless of the vendor
// before it, the dots in it and the date after it.
func Same(a, b string) bool {
	x, _ := split(a)
	y, _ := split(b)
	return shortest(x) == shortest(y)
}

// OwnLongCache reports whether writing to a cache of one hour has a rate of its own,
// which lists with a single rate for writing leave out. So far only Claude models
// have such a cache.
func OwnLongCache(model string) bool { return strings.Contains(strings.ToLower(model), "claude") }

func shortest(name string) string {
	for {
		shorter := trim(name)
		if shorter == name {
			return name
		}
		name = shorter
	}
}
