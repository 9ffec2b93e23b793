package guard

// Trust is what is thought of the source of a skill.
type Trust string

// The levels of trust.
const (
	Builtin   Trust = "builtin"   // part of the program
	Trusted   Trust = "trusted"   // from makers whose skills are looked after
	Community Trust = "community" // from anybody
	Agent     Trust = "agent"     // made by the model in a session
)

// TrustOf is the level of a repository, given as owner/name or owner/name/….
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
	Ask     Decision = "ask" // the person decides
)

// Decide applies the policy: community skills must be safe, or be of caution
// and forced; trusted ones may be of caution; what is built in may be anything;
// what the agent made may be anything too, but dangerous asks. Force never
// helps what is dangerous.
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
