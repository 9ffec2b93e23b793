package prompt

import (
	"slices"
	"strings"
)

// talkers are the model families that tend to announce work instead of doing it.
var talkers = []string{"gpt", "codex", "gemini", "gemma", "grok", "glm", "qwen", "deepseek", "muse"}

// enforcement is the text that makes a model act, or "" if it needs none.
func enforcement(model, mode string) string {
	name := modelName(model)
	switch mode = strings.ToLower(strings.TrimSpace(mode)); mode {
	case "never", "false", "off":
		return ""
	case "always", "true", "on":
		return fixed("enforcement")
	case "", "auto":
		if !ofFamily(name, talkers) {
			return ""
		}
		return fixed("enforcement")
	}
	if !ofFamily(name, strings.Split(mode, ",")) {
		return ""
	}
	return fixed("enforcement")
}

// guidance is extra text for single model families.
func guidance(model string) string {
	name := modelName(model)
	switch {
	case ofFamily(name, []string{"gpt", "codex"}):
		return fixed("openai")
	case ofFamily(name, []string{"gemini", "gemma"}):
		return fixed("google")
	}
	return ""
}

// modelName is the name of the model without provider and vendor.
func modelName(ref string) string {
	ref = strings.ToLower(ref)
	if at := strings.LastIndexByte(ref, '/'); at >= 0 {
		ref = ref[at+1:]
	}
	return ref
}

func ofFamily(name string, families []string) bool {
	return slices.ContainsFunc(families, func(f string) bool {
		f = strings.TrimSpace(f)
		return f != "" && strings.Contains(name, f)
	})
}
