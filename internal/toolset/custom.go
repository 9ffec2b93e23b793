package toolset

// Custom is a toolset that the user defined: tools and other toolsets.
type Custom struct {
	Tools    []string
	Includes []string
}

// ParseCustom reads toolsets as the settings have them: each is a list of tools, or a mapping
// with tools and includes. It skips what is neither.
func ParseCustom(raw map[string]any) map[string]Custom {
	out := make(map[string]Custom, len(raw))
	for name, v := range raw {
		switch v := v.(type) {
		case []any:
			out[name] = Custom{Tools: texts(v)}
		case map[string]any:
			out[name] = Custom{Tools: texts(v["tools"]), Includes: texts(v["includes"])}
		}
	}
	return out
}

// texts returns the texts of a list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
