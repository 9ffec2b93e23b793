package isolation

import "strings"

// The values of the setting terminal.sandbox.
const (
	SandboxAuto   = "auto"   // the strongest walls that this host allows
	SandboxStrict = "strict" // layer A, or no commands
	SandboxOff    = "off"    // no walls
)

// HostWalls is what this host allows. The zero value is a host without walls.
type HostWalls struct {
	// Layer is the strongest layer whose own test has passed here: "A", "B" or "".
	Layer string
	// Why says why there is no stronger one, and what to do; "" if there is none.
	Why string
	// Abilities are the parts that walls are made of.
	Abilities []Ability
}

// Ability is a part of a sandbox that a host may allow.
type Ability struct {
	Name    string // such as "user namespaces"
	Allowed bool
	Detail  string // a version, or why it is not allowed
}

// Holds reports whether any walls can be built.
func (w HostWalls) Holds() bool { return w.Layer == "A" || w.Layer == "B" }

// Refusal says why commands do not run with a setting of terminal.sandbox, "" if they do.
func (w HostWalls) Refusal(mode string) string {
	if mode != SandboxStrict || w.Layer == "A" {
		return ""
	}
	return "terminal.sandbox is strict, and this host does not allow the sandbox that it needs (layer A)" + because(w.Why) +
		"; use `hermes doctor` to see what is missing, or `hermes config set terminal.sandbox auto`"
}

// Line says in one sentence which walls are in force with a setting of terminal.sandbox.
func (w HostWalls) Line(mode string) string {
	switch {
	case mode == SandboxOff:
		return "No sandbox: terminal.sandbox is off."
	case w.Refusal(mode) != "":
		return "Commands do not run: terminal.sandbox is strict, and this host lacks layer A."
	case w.Layer == "A":
		return "Sandbox: layer A (namespaces, Landlock, seccomp)."
	case w.Layer == "B":
		return "Sandbox: layer B (Landlock, seccomp)."
	}
	return "No sandbox on this host: commands may do what you may."
}

// Table says in one line which parts this host allows.
func (w HostWalls) Table() string {
	var parts []string
	for _, a := range w.Abilities {
		text := "without " + a.Name
		if a.Allowed {
			text = a.Name
		}
		if a.Detail != "" {
			text += " (" + a.Detail + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
