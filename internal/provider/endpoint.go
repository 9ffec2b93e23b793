package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/transport/chat"

	"hermes"
)

// endpoint is a service with its current address and key.
type endpoint struct {
	Row
	id     string      // how references name it
	entry  string      // its key in the section providers; "" if it has no entry
	home   string      // the address that the catalogue has; "" if it has none
	key    hermes.Key  // the first that is set
	keys   hermes.Keys // all of them; nil if only that one is known
	signs  bool        // requests can be signed instead of using a key
	lacks  []string    // settings that its login still needs
	argv   []string    // the program that answers, if it is one
	absent string      // why that program cannot be started
	// withheld says that there is only a login that must not go to this address.
	withheld  bool
	loginHome string // the address of the service that such a login is for; may be ""
	custom    Custom
}

// endpoint returns the named service of the catalogue or of the section
// providers. "custom:name" and "custom/name" mean the latter only.
func (c *Catalogue) endpoint(name string) (endpoint, error) {
	if _, set := c.cfg.Custom[name]; name == "custom" && !set { // the address that was set
		ch, err := c.explicit("")
		return ch.endpoint, err
	}
	own, isOwn := strings.CutPrefix(name, "custom:")
	row, known := c.row(name)
	names := []string{own}
	if known && !isOwn {
		names = append(append(names, row.Name), row.Aliases...)
	}
	entry, set, configured := c.own(names)
	switch {
	case isOwn && !configured:
		return endpoint{}, fmt.Errorf("no provider %q under providers in config.yaml; add it there with its base_url", own)
	case !known && !configured:
		return endpoint{}, fmt.Errorf("unknown provider %q; run `hermes model list --all` to list the known ones, or add your own under providers in config.yaml", name)
	}
	e := endpoint{Row: row, id: row.Name, entry: entry, home: row.BaseURL, custom: set}
	if isOwn || !known {
		e.Row = Row{Name: entry, Title: entry, NoKey: true}
		e.id, e.home = "custom:"+entry, ""
		if like, ok := c.rowByHost(set.BaseURL); ok { // a known address, with its quirks
			like.Like = like.Name
			like.Name, like.Title, like.Model, like.NoKey = entry, entry, "", true
			e.Row, e.home = like, like.BaseURL
		}
	}
	if name := c.firstSet(e.URLVars); name != "" && set.BaseURL == "" {
		if err := e.keyMayGo("providers."+entry, name, c.firstVar(e.URLVars)); err != nil {
			return e, err
		}
	}
	return c.settle(e)
}

// settle fills in address, protocol and key.
func (c *Catalogue) settle(e endpoint) (endpoint, error) {
	if e.custom.Fault != nil {
		return e, e.custom.Fault
	}
	if argv := c.command(e); len(argv) > 0 {
		return c.asProgram(e, argv)
	}
	e.BaseURL = cmp.Or(e.custom.BaseURL, c.firstVar(e.URLVars), e.BaseURL)
	e.Model = cmp.Or(e.custom.Model, e.Model)
	if e.custom.BaseURL != "" || c.firstVar(e.URLVars) != "" {
		e.Unavailable = ""
	}
	e.BaseURL = wholeAddress(e.BaseURL)
	if e.Login && c.cfg.LoginLacks != nil {
		e.lacks = c.cfg.LoginLacks(e.pool())
	}
	if e.Login && e.BaseURL == "" && e.custom.Key == "" && e.custom.KeyEnv == "" {
		return e, errors.New(e.undefined(append([]string{"providers." + e.Name + ".base_url"}, e.lacks...)))
	}
	if e.Unavailable != "" {
		why := e.Unavailable
		if strings.Contains(why, "%s") {
			why = fmt.Sprintf(why, e.Name)
		}
		return e, fmt.Errorf("provider %q cannot be used: %s", e.Name, why)
	}
	if e.BaseURL == "" {
		return e, fmt.Errorf("provider %q has no address; set providers.%s.base_url in config.yaml", e.Name, e.Name)
	}
	if u, err := url.Parse(e.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return e, fmt.Errorf("the base URL %q of provider %q is not a valid address; write it as https://host/v1", e.BaseURL, e.Name)
	}
	protocol, err := apiMode(e.custom.APIMode, e.Protocol, e.BaseURL)
	if err != nil {
		return e, err
	}
	e.Protocol = protocol
	e.signs = c.firstVar(e.SignVars) != ""
	given := c.given(e)
	if len(given) > 0 {
		e.key = given[0]
	}
	if c.cfg.Keys != nil {
		e.keys = c.cfg.Keys(e.pool(), given)
	}
	e.withholdLogins()
	return e, nil
}

// pool names the credential pool of the service. An address that was set
// without a name has none: it must never be sent the key of another service. An
// entry that has both a key and an address of its own has its own pool.
func (e endpoint) pool() string {
	switch {
	case e.Name == "custom" || e.custom.OnlyOwnKey:
		return ""
	case strings.HasPrefix(e.id, "custom:"):
		return e.id
	case e.elsewhere() && e.entry != "":
		return "custom:" + e.entry
	case e.elsewhere():
		return ""
	}
	return e.Name
}

// elsewhere reports whether an entry for a service of the catalogue names another
// server and has a key for it. That server gets no other key.
func (e endpoint) elsewhere() bool {
	return e.custom.BaseURL != "" && (e.custom.Key != "" || e.custom.KeyEnv != "") && !sameServer(e.custom.BaseURL, e.home)
}

// setting names the setting of the address, for errors.
func (e endpoint) setting() string {
	if e.id == "custom" {
		return "model.base_url in config.yaml"
	}
	return "providers." + e.Name + ".base_url in config.yaml"
}

// hasKey reports whether there is a key, even if it is paused.
func (e endpoint) hasKey() bool {
	return e.key.Secret != "" || e.keys != nil && e.keys.Any()
}

// lend returns a key for a call that belongs to no session.
func (e endpoint) lend(ctx context.Context) (hermes.Key, error) {
	if e.keys == nil || !e.keys.Any() {
		return e.key, nil
	}
	return e.keys.Next(ctx, "")
}

// given lists the keys of the settings and the environment, best first. If the
// settings have a key, it is the only one.
func (c *Catalogue) given(e endpoint) []hermes.Key {
	if e.custom.Key != "" {
		return []hermes.Key{{Secret: e.custom.Key, Source: "config"}}
	}
	vars := e.KeyVars
	if e.custom.KeyEnv != "" {
		vars = append([]string{e.custom.KeyEnv}, vars...)
		if e.elsewhere() {
			vars = vars[:1]
		}
	}
	var keys []hermes.Key
	for _, name := range vars {
		if v := strings.TrimSpace(c.cfg.Getenv(name)); v != "" {
			keys = append(keys, hermes.Key{Secret: hermes.Secret(v), Source: "env:" + name})
		}
	}
	return keys
}

func (c *Catalogue) firstVar(names []string) string {
	return strings.TrimSpace(c.cfg.Getenv(c.firstSet(names)))
}

// firstSet returns the first of these variables that is set, "" if none is.
func (c *Catalogue) firstSet(names []string) string {
	for _, name := range names {
		if strings.TrimSpace(c.cfg.Getenv(name)) != "" {
			return name
		}
	}
	return ""
}

// missing says why the service cannot be used; empty if it can.
func (e endpoint) missing() string {
	if e.Name == "copilot" && strings.HasPrefix(e.key.Secret.Reveal(), "ghp_") {
		return "GitHub Copilot does not accept classic personal access tokens; create a fine-grained one with the permission \"Copilot Requests\" and set it as COPILOT_GITHUB_TOKEN"
	}
	if len(e.argv) > 0 {
		return e.absent
	}
	if e.hasKey() || e.signs || e.NoKey || isLocal(e.BaseURL) {
		return ""
	}
	switch {
	case e.withheld:
		return fmt.Sprintf("provider %q has only the login of another program, which is for %s and is not sent to %s; remove that address from the settings and variables, or add a key for it with `hermes auth add %s`",
			e.Name, cmp.Or(hostOf(e.loginHome), "its own service"), hostOf(e.BaseURL), e.id)
	case e.custom.KeyEnv != "" && e.elsewhere():
		return fmt.Sprintf("provider %q needs a key; set %s in your environment or in the .env file of the Hermes home, as providers.%s.key_env says", e.Name, e.custom.KeyEnv, cmp.Or(e.entry, e.Name))
	case len(e.SignVars) > 0:
		return fmt.Sprintf("provider %q needs an AWS account; set %s, or AWS_PROFILE after `aws configure` or `aws sso login`, and AWS_REGION", e.Name, e.KeyVars[0])
	case e.Login && len(e.lacks) > 0:
		return e.undefined(e.lacks)
	case e.Login:
		return fmt.Sprintf("provider %q needs a login; run `hermes auth add %s`", e.Name, e.id)
	case len(e.KeyVars) == 0:
		return fmt.Sprintf("provider %q needs a key; run `hermes auth add %s`, or set providers.%s.api_key in config.yaml", e.Name, e.id, e.Name)
	}
	return fmt.Sprintf("provider %q needs a key; set %s in your environment or in the .env file of the Hermes home, or run `hermes auth add %s`", e.Name, e.KeyVars[0], e.id)
}

// undefined says which settings define a login that is not built in.
func (e endpoint) undefined(missing []string) string {
	return fmt.Sprintf("provider %q needs a login that is not built in; set %s in config.yaml, then run `hermes auth add %s`", e.Name, inWords(missing), e.id)
}

// inWords joins names as in "a, b and c".
func inWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// rowByHost finds the service that an address belongs to: the same host and port,
// and encrypted if the service is.
func (c *Catalogue) rowByHost(base string) (Row, bool) {
	if hostOf(base) == "" || isLocal(base) {
		return Row{}, false
	}
	for _, r := range c.rows {
		if r.BaseURL != "" && sameServer(r.BaseURL, base) {
			return r, true
		}
	}
	return Row{}, false
}

// rowAt returns the service that an address belongs to, or an unknown one.
func (c *Catalogue) rowAt(base string) Row {
	if like, ok := c.rowByHost(base); ok {
		return like
	}
	return Row{Name: "custom", Title: hostOf(base), NoKey: true, Chat: chat.Quirks{Effort: "effort"}}
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// isLocal reports whether an address is on this machine or in its own network.
// Such servers are slow to answer and need no key.
func isLocal(base string) bool {
	host := hostOf(base)
	if host == "localhost" || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified())
}

// apiMode chooses the protocol: the one that was set, then the provider's, then
// the one that the address implies, then Chat Completions.
func apiMode(set, provider, base string) (string, error) {
	modes := []string{ProtocolChat, ProtocolAnthropic, ProtocolResponses, ProtocolBedrock, ProtocolGemini, ProtocolOllama}
	switch {
	case slices.Contains(modes, set):
		return set, nil
	case set != "":
		return "", fmt.Errorf("unknown API mode %q; use one of %s", set, strings.Join(modes, ", "))
	}
	whole := strings.TrimRight(base, "/")
	if provider == ProtocolGemini && strings.HasSuffix(whole, "/openai") {
		return ProtocolChat, nil // Google's other form of the same service
	}
	if provider != "" {
		return provider, nil
	}
	host, path := hostOf(base), strings.TrimSuffix(whole, "/v1")
	switch {
	case strings.HasSuffix(path, "/anthropic"), host == "api.anthropic.com":
		return ProtocolAnthropic, nil
	case strings.HasPrefix(host, "bedrock-runtime"):
		return ProtocolBedrock, nil
	case strings.HasSuffix(whole, "/backend-api/codex"), strings.HasSuffix(whole, "/responses"):
		return ProtocolResponses, nil
	case strings.HasSuffix(path, ":11434"), strings.HasSuffix(path, ":11434/api"):
		return ProtocolOllama, nil // its usual port: its own protocol knows the context
	}
	return ProtocolChat, nil
}
