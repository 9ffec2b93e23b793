package browser

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/netguard"
)

// Keys of risks. The host follows the first two.
const (
	keyType   = "browser:type:"
	keyUpload = "browser:upload:"
	keyScript = "browser:script"
)

// AssessRisk returns the risks of a call after untrusted text, which may have asked for it: what is
// typed into a page of a host that the user did not name goes there, and a script or an uploaded file can
// take anything out. Each is asked about in every mode, and an answer holds for the session at most.
func (t *tool) AssessRisk(ctx context.Context, c *hermes.Call) []hermes.Risk {
	in := read(c.Arguments)
	from := c.Host.Session().Provenance
	read := ", and this session has read text that you may not have written (" + from + ")"
	asks := func(key, reason string) hermes.Risk {
		return hermes.Risk{Key: key, Reason: reason + read, NoRemember: true, EveryMode: true}
	}
	switch {
	case strings.TrimSpace(from) == "":
		return nil
	case t.name == "browser_console" && in.Expression != "" && !t.set.config.Free:
		r := asks(keyScript, "runs a script in a page")
		r.Once = true
		return []hermes.Risk{r}
	case t.name == "browser_press" && !browser.Writes(in.Key):
		return nil
	case !slices.Contains([]string{"browser_type", "browser_press", "browser_dialog", "browser_files"}, t.name),
		t.name == "browser_dialog" && in.Prompt == "",
		t.name == "browser_files" && in.Action != "upload":
		return nil
	}
	var risks []hermes.Risk
	for _, host := range t.set.receivers(ctx, c, in.Ref) {
		switch {
		case t.name == "browser_files":
			risks = append(risks, asks(keyUpload+host, "gives a file to a page of "+named(host)))
		case !knows(c, host):
			risks = append(risks, asks(keyType+host, "types into a page of "+named(host)+", which you did not name"))
		}
	}
	return risks
}

// Subject describes a call: the page and what happens there.
func (t *tool) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	in := read(c.Arguments)
	var parts []string
	for _, p := range []string{in.Action, in.URL, in.Path, in.Key, in.Text, in.Prompt, in.Expression} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	s := hermes.Subject{Text: strings.Join(parts, " ")}
	if at := t.set.sitting(c.Host.Session()); at != nil {
		s.Detail = at.address()
	}
	return s
}

func named(host string) string {
	if host == "" {
		return "an unknown host"
	}
	return host
}

// knows reports whether the user named a host.
func knows(c *hermes.Call, host string) bool {
	k, ok := c.Host.(hermes.HostKnower)
	return ok && host != "" && k.KnowsHost(host)
}

// receivers returns the hosts that get what is put into an element: the page, the frame and the form. If
// that cannot be known, the host is "".
func (t *Toolset) receivers(ctx context.Context, c *hermes.Call, ref string) []string {
	at := t.sitting(c.Host.Session())
	if at == nil {
		return nil // there is no page: the call fails
	}
	p, err := at.here(ctx)
	if err != nil {
		return nil
	}
	addresses := []string{at.address()}
	more, err := p.Receivers(ctx, ref)
	if err != nil {
		more = []string{""} // a ref of before, or a page that does not answer
	}
	if open := p.Dialog(); open != nil {
		more = []string{open.URL} // its answer goes there
	}
	var hosts []string
	for _, a := range append(addresses, more...) {
		host := ""
		if u, err := url.Parse(a); err == nil {
			host, _ = netguard.Canonical(u.Hostname())
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
