package guard

// Trust is the trust in the source of a skill.
type Trust string

// The levels of trust.
const (
	Builtin   Trust = "builtin"   // built into the program
	Trusted   Trust = "trusted"   // from known publishers
	Community Trust = "community" // from anyone
	Agent     Trust = "agent"     // written by the model in a session
)

// TrustOf returns the level of a repository, given as owner/name or owner/name/….
func TrustOf(repository string) Trust {
	for _, owner := range []string{"openai/", "anthropics/"} {
		if len(repository) > len(owner) && repository[:len(owner)] == owner {
			return Trusted
		}
	}
	return Community
}

// Decision says what to do with a scanned skill.
type Decision string

// The decisions.
const (
	Install Decision = "install"
	Refuse  Decision = "refuse"
	Ask     Decision = "ask" // the user decides
)

// Decide applies the policy. Built-in skills are always installed. Trusted ones
// must not be dangerous. Community ones must be safe, or rated caution and
// forced. For dangerous ones of the agent it asks. Force never allows dangerous
// skills.
func Decide(t Trust, v Verdict, force bool) Decision {
	switch {
	case t == Builtin || v == Safe:
		return Install
	case t == Agent && v == Dangerous:
		return Ask
	case t == Agent:
		return Install
	case v == Dangerous:
		return Refuse
	case t == Trusted || force:
		return Install
	}
	return Refuse
}
