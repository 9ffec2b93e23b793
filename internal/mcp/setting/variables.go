package setting

import (
	"path/filepath"
	"slices"
	"strings"
)

// Vars are what values of settings may name.
type Vars struct {
	// Lookup returns an environment variable; nil knows none.
	Lookup func(name string) (string, bool)
	// Home is the user's home folder, Workspace the folder in which sessions work.
	Home, Workspace string
}

// path replaces ~ at the beginning.
func (v Vars) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok && v.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return v.Home + rest
	}
	return p
}

// Expand replaces ${NAME}, ${env:NAME} and the names that editors know in all texts. unset are
// the variables that are not there; what names them stays.
func (v Vars) Expand(m map[string]any) (out map[string]any, unset []string) {
	var value func(x any) any
	value = func(x any) any {
		switch x := x.(type) {
		case string:
			return replaceVars(x, func(name string) (string, bool) {
				val, ok := v.value(name)
				if !ok {
					unset = append(unset, name)
				}
				return val, ok
			})
		case []any:
			list := make([]any, len(x))
			for i := range x {
				list[i] = value(x[i])
			}
			return list
		case map[string]any:
			sub := make(map[string]any, len(x))
			for k := range x {
				sub[k] = value(x[k])
			}
			return sub
		}
		return x
	}
	out, _ = value(m).(map[string]any)
	slices.Sort(unset)
	return out, slices.Compact(unset)
}

// replaceVars replaces each ${NAME} that value knows.
func replaceVars(s string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found {
			return b.String()
		}
		if !closed {
			return b.String() + "${" + rest
		}
		if val, ok := value(name); ok {
			b.WriteString(val)
		} else {
			b.WriteString("${" + name + "}")
		}
		s = after
	}
}

// value returns what a name in ${…} means. As in Claude's files, ${NAME:-TEXT} means
// TEXT if NAME is not set.
func (v Vars) value(name string) (string, bool) {
	name, fallback, has := strings.Cut(name, ":-")
	switch name {
	case "userHome":
		return v.Home, v.Home != ""
	case "workspaceFolder":
		return v.Workspace, v.Workspace != ""
	case "workspaceFolderBasename":
		return filepath.Base(v.Workspace), v.Workspace != ""
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	if v.Lookup != nil {
		if val, ok := v.Lookup(strings.TrimPrefix(name, "env:")); ok {
			return val, true
		}
	}
	return fallback, has
}
