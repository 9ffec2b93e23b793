package toolbox

import "hermes"

// onlyUser reports whether a call is one of a child session, which has its parent's rights, narrowed,
// or of a turn that a client asked for (see [hermes.ModeAskUser]). The task may hold untrusted text, so what is decided for the user's own conversation
// does not hold for it:
//
//   - The mode yolo, and approvals.mode off, hold as for the parent, and lift as little.
//   - Rules that deny, and what is never allowed, hold as for the parent.
//   - No model judges a call: a risky one is asked of the user, at the frontends of the sessions
//     above. Where none attends, it is refused, whatever a setting allows without a user.
//   - The keys of risks that the settings or the run allow do not hold.
//   - What the user allows for the session holds for this child only; grants that are kept hold
//     if they are for the platform of children, or for any.
//   - The guardrail treats it like a session that no user watches.
func onlyUser(c *hermes.Call) bool { return c.Host != nil && c.Host.Session().OnlyUserAllows() }
