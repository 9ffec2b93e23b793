package toolset

import "hermes"

// Restore has the toolsets rebuild what they know of a session from its transcript.
func (c *Catalogue) Restore(s hermes.SessionRef, transcript []hermes.Message) {
	for _, set := range c.all() {
		if r, ok := set.(hermes.Restorer); ok {
			r.Restore(s, transcript)
		}
	}
}

// Stop ends what the toolsets have running for a session in the background.
func (c *Catalogue) Stop(s hermes.SessionRef) {
	for _, set := range c.all() {
		if r, ok := set.(hermes.Stopper); ok {
			r.Stop(s)
		}
	}
}

// Remind returns what a toolset wants to say below the result of a call, "" for nothing.
func (c *Catalogue) Remind(call *hermes.Call, r hermes.Result) string {
	for _, set := range c.all() {
		if s, ok := set.(interface {
			Remind(session, tool string, failed bool) string
		}); ok {
			if text := s.Remind(call.Host.Session().ID, call.Name, r.Failed); text != "" {
				return text
			}
		}
	}
	return ""
}
