package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// maxName is the longest name of a tool that all model services accept.
const maxName = 64

// slug is a name with nothing but letters and digits of ASCII and underscores; "" if it has no
// letter or digit.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(s, "_") == "" {
		return ""
	}
	return s
}

// ToolsetName returns the name of a server's toolset.
func ToolsetName(server string) string { return "mcp-" + slug(server) }

// ToolName returns the name under which models see a tool of a server. Long names, and those
// that taken reports, end with a part of their hash; a nil taken reports none.
func ToolName(server, tool string, taken func(name string) bool) string {
	s := slug(tool)
	if s == "" {
		s = "tool"
	}
	name := "mcp__" + slug(server) + "__" + s
	if len(name) <= maxName && (taken == nil || !taken(name)) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(end))] + end
}

// offers reports whether a filter offers a tool, by its original name.
func (f Filter) offers(tool string) bool {
	in := func(patterns []string) bool {
		for _, p := range patterns {
			if ok, err := path.Match(p, strings.ReplaceAll(tool, "/", "_")); err == nil && ok || p == tool {
				return true
			}
		}
		return false
	}
	if len(f.Include) > 0 {
		return in(f.Include)
	}
	return !in(f.Exclude)
}

func goodPattern(p string) bool {
	_, err := path.Match(p, "")
	return err == nil && p != ""
}

func validHeader(name, value string) bool {
	return httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
}

// plain removes what people do not see and models may read: characters of the block of tags,
// and control characters other than line breaks and tabs.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
