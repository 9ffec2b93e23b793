package toolbox

import (
	"slices"
	"strings"

	"hermes"
	"hermes/internal/link"
	"hermes/internal/text"
)

// sends returns the risks of what a call takes out of this machine, in each mode:
// that it goes to someone for whom no grant of the user is stored, and, after untrusted text, that a link in it may
// carry data to a host that the user does not know. After untrusted text an answer holds
// for the session at most.
func (b *Toolbox) sends(c *call) []hermes.Risk {
	if c.Spec.Sends == nil {
		return nil
	}
	out := c.Spec.Sends(c.Arguments)
	c.To = out.To
	from := ""
	if c.Host != nil {
		from = strings.TrimSpace(c.Host.Session().Provenance)
	}
	var risks []hermes.Risk
	for _, to := range out.To {
		key := "message:" + to
		if slices.ContainsFunc(risks, func(r hermes.Risk) bool { return r.Key == key }) {
			continue
		}
		r := hermes.Risk{Key: key, EveryMode: true, Reason: "sends a message to " + text.VisibleName(to)}
		if from != "" && !b.approvals.writesTo(c, key) {
			r.NoRemember = true
			r.Reason += ", and this session has read text that you may not have written (" + from + ")"
		}
		risks = append(risks, r)
	}
	if from == "" {
		return risks
	}
	guard := link.Guard{}
	if k, ok := c.Host.(hermes.HostKnower); ok {
		guard.Known = k.KnowsHost
	}
	_, hosts := guard.Text(strings.Join(slices.Concat(out.Texts, out.Opens), "\n"))
	if slices.ContainsFunc(out.Opens, func(address string) bool { return !link.One(address) }) && len(hosts) == 0 {
		hosts = []string{"an unclear address"}
	}
	if len(hosts) > 0 {
		risks = append(risks, hermes.Risk{Key: "taint:link", NoRemember: true, EveryMode: true, Once: true,
			Reason: "a link to " + strings.Join(hosts, ", ") + " may carry data there, and this session has read text that you may not have written (" + from + ")"})
	}
	return risks
}

// writesTo reports whether a stored grant lets a tool write to someone, with whatever text.
func (a *approvals) writesTo(c *call, key string) bool {
	g := a.described(c, key)
	g.Subject, g.Dir = "", ""
	return a.rules.Grants != nil && a.rules.Grants.Covers(g)
}
