package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/yamledit"
)

// localServices are the model services of the catalogue that run on this machine unless an address says
// otherwise, with the variables of their keys.
var localServices = map[string]string{
	"ollama": "", "lmstudio": "LM_API_KEY", "lm-studio": "LM_API_KEY", "llamacpp": "", "llama.cpp": "", "llama-cpp": "", "vllm": "VLLM_API_KEY",
}

// addressOf is the variable of a local service's address.
func addressOf(keyVariable string) string {
	return strings.TrimSuffix(keyVariable, "_API_KEY") + "_BASE_URL"
}

// An entry is what the settings say about the key of one model service.
type entry struct {
	provider, address string
	keys, variables   []string
}

// entryOf returns the path of the entry with a key and an address that a setting belongs to, "" for
// none.
func entryOf(path []string) string {
	if len(path) < 2 || !slices.Contains(keyedSections[:], path[0]) {
		return ""
	}
	return yamledit.Join(path[:len(path)-1])
}

// Placeholder reports whether a value is only written where a local model service wants a key but does not
// look at it, as "ollama". It is an ordinary word, and no secret.
func (c *Config) Placeholder(value string) bool { return c.keys().placeholders[value] }

// PlaceholderOf reports whether a value of a variable is such a placeholder.
func (c *Config) PlaceholderOf(name, value string) bool {
	return c.keys().idle[name] && mayBePlaceholder(value)
}

// at returns the entry of a setting, nil if it belongs to none.
func (k *keys) at(path []string) *entry {
	name := entryOf(path)
	if name == "" {
		return nil
	}
	e := k.entries[name]
	if e == nil {
		e = &entry{}
		if path[0] == "providers" {
			e.provider = path[1]
		}
		k.entries[name] = e
	}
	return e
}

// local reports whether the key of an entry is sent to this machine or its own network.
func (k *keys) local(e *entry) bool {
	if e == nil {
		return false
	}
	address := e.address
	if address == "" && e.provider != "" {
		if of := k.entries[yamledit.Join([]string{"providers", e.provider})]; of != nil {
			address = of.address
		}
		if _, known := localServices[strings.ToLower(e.provider)]; known && address == "" {
			return true
		}
	}
	return localAddress(address)
}

func localAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified())
}

// mayBePlaceholder reports whether a value is short, words without a digit, or an address of this machine.
func mayBePlaceholder(value string) bool {
	const shortest, longest = 8, 20
	value = strings.TrimSpace(value)
	if addr, err := netip.ParseAddr(value); len(value) < shortest || err == nil && (addr.IsLoopback() || addr.IsUnspecified()) {
		return true
	}
	return len(value) < longest && !strings.ContainsFunc(value, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
}

// sortOut moves the placeholders out of the secrets, unless they are also the secret of something else.
func (k *keys) sortOut() {
	candidates, others := map[string]bool{}, map[string]bool{}
	for _, s := range k.children {
		others[s] = true
	}
	for _, s := range k.elsewhere {
		others[s] = true
	}
	for _, e := range k.entries {
		local := k.local(e)
		for _, s := range e.keys {
			if local && mayBePlaceholder(s) {
				candidates[s] = true
			} else {
				others[s] = true
			}
		}
		for _, name := range e.variables {
			was, known := k.idle[name]
			k.idle[name] = local && (was || !known)
		}
	}
	for s := range candidates {
		if !others[s] {
			k.placeholders[s] = true
		}
	}
	k.secrets = slices.DeleteFunc(k.secrets, func(s string) bool { return k.placeholders[s] })
}
