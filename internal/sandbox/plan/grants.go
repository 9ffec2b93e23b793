package plan

import "path/filepath"

// grants adds what the user allowed. Hermes' home is never granted, whatever a grant
// names: it holds the keys that decide who answers questions.
func (p *planner) grants() {
	for _, g := range p.Grants.Read {
		if real, ok := p.grant(g); ok && p.inside(real, false) {
			p.allow(real, real)
		}
	}
	for _, g := range p.Grants.Write {
		if real, ok := p.grant(g); ok && p.inside(real, true) {
			p.allow(real, real)
			p.Policy.Write = append(p.Policy.Write, real)
		}
	}
}

// grant checks one path, and remembers that it was named: a secret that is named itself
// may be read. What it returns is what was checked: the path is not followed again, since a
// command could have changed it meanwhile.
func (p *planner) grant(at string) (real string, ok bool) {
	if !filepath.IsAbs(at) {
		p.note("the grant %q is ignored: it needs an absolute path", at)
		return "", false
	}
	real, err := p.follow(at)
	if err != nil {
		p.note("the grant %s is ignored: %s does not exist", at, at)
		return "", false
	}
	if real != filepath.Clean(at) {
		// It was allowed as what it was then. A command that may write on the way could
		// lead it to anything.
		p.note("the grant %s is ignored: it goes through a link; grant %s instead", at, real)
		return "", false
	}
	if within(real, p.state) {
		p.note("the grant %s is ignored: Hermes' own home is never granted", at)
		return "", false
	}
	for _, s := range p.secrets {
		if within(real, s) {
			p.named = append(p.named, real)
			p.note("%s is readable because a grant names it", at)
			break
		}
	}
	if within(p.state, real) {
		p.note("the grant %s does not include Hermes' own home", at)
	}
	return real, true
}

// give allows reading what the caller itself gives to programs.
func (p *planner) give() {
	for _, at := range p.Given {
		if real, err := p.follow(at); err == nil && filepath.IsAbs(real) && !within(p.state, real) {
			p.given = append(p.given, real)
			p.allow(at, real)
		}
	}
}
