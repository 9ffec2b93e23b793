package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Others lists the files in which other programs keep their servers, by the user's home.
func Others(home string) []string {
	var list []string
	for _, p := range []string{
		".claude.json", ".config/Claude/claude_desktop_config.json", "Library/Application Support/Claude/claude_desktop_config.json",
		"AppData/Roaming/Claude/claude_desktop_config.json", ".cursor/mcp.json", ".codeium/windsurf/mcp_config.json",
		".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json", "AppData/Roaming/Code/User/mcp.json", ".gemini/settings.json",
	} {
		list = append(list, filepath.Join(home, filepath.FromSlash(p)))
	}
	return list
}

// maxImport bounds a file of another program, in bytes.
const maxImport = 8 << 20

// ReadFile reads the servers in a file of Claude, Cursor, VS Code and others: the key mcpServers
// or servers, also inside of the key mcp.
func ReadFile(data []byte) (map[string]map[string]any, error) {
	if len(data) > maxImport {
		return nil, errors.New("the file is too large")
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if inner, ok := file["mcp"]; ok && file["mcpServers"] == nil && file["servers"] == nil {
		if err := json.Unmarshal(inner, &file); err != nil {
			return nil, fmt.Errorf("its key mcp is not a mapping: %w", err)
		}
	}
	raw := file["mcpServers"]
	if raw == nil {
		raw = file["servers"]
	}
	if raw == nil {
		return nil, errors.New("it has no key mcpServers")
	}
	var servers map[string]map[string]any
	if err := json.Unmarshal(raw, &servers); err != nil {
		return nil, fmt.Errorf("its servers are not mappings: %w", err)
	}
	return servers, nil
}

// ForConfig returns the settings of a server of another program as the configuration has them,
// without what has no effect here. Secrets among the variables and headers are taken out: they
// are in secrets by the name of a variable, which is in their place.
func ForConfig(name string, m map[string]any) (settings map[string]any, secrets map[string]string, left []string) {
	settings, secrets = map[string]any{}, map[string]string{}
	unknown := unknownKeys(name, m)
	for key, v := range m {
		if !slices.ContainsFunc(unknown, func(n string) bool { return strings.Contains(n, fmt.Sprintf("%q", key)) }) {
			settings[key] = v
		} else {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	hide := func(key string, of func(k string) bool, variable func(k string) string) {
		values, ok := settings[key].(map[string]any)
		if !ok {
			return
		}
		out := maps.Clone(values)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			text, ok := values[k].(string)
			if !ok || text == "" || strings.Contains(text, "${") || !of(k) {
				continue
			}
			kind := ""
			if rest, ok := strings.CutPrefix(text, "Bearer "); ok && key == "headers" {
				kind, text = "Bearer ", rest
			}
			v := variable(k)
			secrets[v] = text
			out[k] = kind + "${" + v + "}"
		}
		settings[key] = out
	}
	own := func(k string) string { return secretPrefix(name) + strings.ToUpper(Slug(k)) }
	hide("env", SecretName, own)
	hide("headers", func(k string) bool { return strings.EqualFold(k, "Authorization") || SecretName(k) }, own)
	return settings, secrets, left
}

// secretPrefix begins the names of the secrets that ForConfig takes out of a server's settings.
func secretPrefix(name string) string { return "MCP_" + strings.ToUpper(Slug(name)) + "_" }

// SecretsOf returns those of some variables that were taken out of a server's settings, and not
// out of those of others.
func SecretsOf(name string, others, variables []string) []string {
	own := secretPrefix(name)
	return slices.DeleteFunc(slices.Clone(variables), func(v string) bool {
		return !strings.HasPrefix(v, own) || slices.ContainsFunc(others, func(o string) bool {
			other := secretPrefix(o)
			return o != name && len(other) > len(own) && strings.HasPrefix(v, other)
		})
	})
}

// SecretName reports whether a value of this name is probably a secret.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE", "DSN", "CONNECTION_STRING", "DATABASE_URL"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}
