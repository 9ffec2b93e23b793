package hermes

import (
	"slices"
	"strings"
)

// Description says where the commands of an environment run and what they may do.
// Empty fields are unknown.
type Description struct {
	// System is the system with its version, such as "Ubuntu 24.04" or
	// "Ubuntu 24.04 (WSL)".
	System string
	Arch   string // as in runtime.GOARCH
	Home   string // the user's home folder there
	Shell  string // the program that runs command lines
	// Isolation is the walls around commands.
	Isolation Isolation
	// Network is what commands may reach.
	Network Network
	// Writable lists the folders that commands may change; nil means all that the
	// user may change.
	Writable []string
}

// Isolation describes the walls around commands. The zero value is no wall.
type Isolation struct {
	// Layer is "A" (namespaces, Landlock and seccomp), "B" (Landlock and seccomp),
	// "container", another name, or "" or "none" for no walls.
	Layer string
	// Holds says that the walls have passed their own test on this host. Without it
	// they count as none.
	Holds bool
	// Lacks lists what the walls do not keep, in short words.
	Lacks []string
	// Text is one sentence for users and models.
	Text string
}

// Walls returns the layer whose walls count, "" if there are none.
func (i Isolation) Walls() string {
	if !i.Holds || i.Layer == "none" {
		return ""
	}
	return i.Layer
}

// Network is what commands may reach.
type Network string

// The networks, from the least to the most.
const (
	NetworkOff   Network = "off"   // nothing but loopback
	NetworkProxy Network = "proxy" // the hosts that the proxy of Hermes allows
	NetworkHost  Network = "host"  // all that this machine reaches
)

// RefusalKind says what the walls refused.
type RefusalKind string

// The kinds. The first three are what a command may need.
const (
	RefusedHost  RefusalKind = "host"  // Name is host:port
	RefusedRead  RefusalKind = "read"  // Name is a path
	RefusedWrite RefusalKind = "write" // Name is a path
	// RefusedChange is a file that the command changed and that was restored.
	RefusedChange RefusalKind = "changed"
	// OpenedPort is a port that the command opened inside. As a need it opens the port to
	// the user's own programs.
	OpenedPort RefusalKind = "port"
)

// Refusal is something that the walls refused a command.
type Refusal struct {
	Kind RefusalKind `json:"kind"`
	Name string      `json:"name"`
	Note string      `json:"note,omitempty"` // why, or what to do
}

// String is the form that the model answers with, such as "host example.org:443".
func (r Refusal) String() string {
	if r.Note == "" {
		return string(r.Kind) + " " + r.Name
	}
	return string(r.Kind) + " " + r.Name + " (" + r.Note + ")"
}

// Need is something that a command may do beyond what its walls allow.
type Need struct {
	Kind RefusalKind // host, read, write or port
	Name string      // host:port, an absolute path, or a number
}

// String is the need as it is written: "host example.org:443", "read /path".
func (n Need) String() string { return string(n.Kind) + " " + n.Name }

// grantPrefix begins the keys of risks and grants for needs.
const grantPrefix = "sandbox-"

// KeyEscape is the key of the risk of a command that runs outside of the sandbox. Frontends
// show it last, nearest to the answers.
const KeyEscape = "sandbox-escape"

// GrantKey is the key of the risk, and of the grants, for a need.
func GrantKey(n Need) string { return grantPrefix + string(n.Kind) + ":" + n.Name }

// GrantedNeed returns the need that a grant with a key allows. It reports false for keys
// of other grants.
func GrantedNeed(key string) (Need, bool) {
	rest, ok := strings.CutPrefix(key, grantPrefix)
	kind, name, named := strings.Cut(rest, ":")
	if !ok || !named {
		return Need{}, false
	}
	return ParseNeed(kind + " " + name)
}

// ParseNeed splits a need into its kind and name. It reports false for another kind or
// an empty name; it does not check the name.
func ParseNeed(text string) (Need, bool) {
	kind, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	n := Need{RefusalKind(kind), strings.TrimSpace(name)}
	return n, n.Name != "" && slices.Contains([]RefusalKind{RefusedHost, RefusedRead, RefusedWrite, OpenedPort}, n.Kind)
}
