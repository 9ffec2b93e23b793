package shell

import (
	"strings"
	"sync"
)

// containment says for some keys of findings whether walls keep what they warn of, and why.
type containment struct {
	keys    string
	a, b, c bool // namespaces with Landlock and seccomp; Landlock and seccomp alone; a container
	why     string
}

// containments is the only table of what walls keep. A key that is not in it is not kept.
//
// Walls bound what code can reach, so code needs no question only because no one has read it. What
// damages the files that the walls leave open, sends something with the user's name, or
// changes Hermes still asks, and so does a line that hides what it does. A container has files of
// its own, so that what damages them does not ask; but it reaches the network.
var containments = [...]containment{
	// What runs code: all of it runs inside.
	{"inline-code chmod-and-run write-and-run download-to-shell fetched-code", true, true, true, "the code runs inside, like any script of the project"},
	{"option-exec hg-exec svn-exec", true, true, true, "the program that the option names runs inside"},
	{"environment", true, true, true, "the variables hold inside; a command outside starts from the user's own"},
	{"package-source", true, true, true, "what is installed stays in the workspace and in private caches, and runs inside"},
	{"runs-later", true, true, true, "schedulers, login files and services of the machine are out of reach"},

	// What reaches other programs of this machine.
	{"types-for-user dbus-call", true, true, true, "the sockets of terminals, windows and services are out of reach"},
	{"service-stop", true, true, true, "the service manager is out of reach"},
	{"other-process", true, true, true, "other programs can be neither traced nor changed"},
	{"force-kill kill-by-name kill-by-search kill-regex", true, false, true, "in A only the session's own processes can be seen; B keeps signals from others on newer kernels only"},

	// What needs the rights of the system.
	{"kernel mount machine-settings protection user-account", true, true, true, "nothing inside has the rights for it, and none can be gained"},
	{"records", true, true, true, "screens, microphones, keys and network interfaces are out of reach"},

	// What reaches the network.
	{"raw-connection remote-shell", true, true, false, "connections go through the proxy, to allowed hosts only; listeners are on the session's own loopback"},
	{"cloud-metadata", true, true, false, "the proxy refuses the addresses of metadata services"},

	// A line that hides what it does could hide what is below.
	{"dynamic-command eval hidden-command pipe-to-shell shell-text too-deep unknown-path unreadable", false, false, true, "it may hide a command that asks"},

	// What damages the files that the walls leave open.
	{"recursive-delete find-delete find-exec-delete xargs-delete delete-sources mirror-delete empties-files shred move-away", false, false, true, "the workspace can be written"},
	{"delete-outside delete-system-file delete-root write-system system-file", false, false, true, "the workspace may be the folder that is meant"},
	{"git-branch-delete git-branch-move", false, false, false, "it may be a branch that others have"},
	{"git-clean git-discard git-expire git-reset-hard git-stash-drop", false, false, true, "the work in the repository would be lost"},
	{"git-config git-exec git-hooks write-git-hooks write-tool-config tool-settings shadow-program", false, false, true, "the user's own tools run it later, outside"},
	{"write-env-file write-config write-credentials write-ssh write-shell-start write-history write-log", false, false, true, "the file may be in the workspace"},
	{"world-writable recursive-rights recursive-chown file-rights setuid system-rights", false, false, true, "rights of files in the workspace count outside, too"},
	{"disk-copy raw-device format fill-disk endless-processes fork-bomb volume-delete log-delete backup-delete", false, false, true, "it can use up or overwrite what the walls leave open"},
	{"destructive-sql dynamic-sql database-exec database-reset database-rights", false, false, false, "databases may be in the workspace or on an allowed host"},

	// What acts in the user's name.
	{"git-push-force git-push-address git-remote publish authorized-key agent-forwarding remote-access remote-run", false, false, false, "an allowed host knows the user"},
	{"cloud-change cloud-delete cluster-change cluster-delete applies-download", false, false, false, "an allowed host knows the user"},
	{"secret-upload secret-commit", false, false, false, "allowed hosts are possible exits"},
	{"docker-daemon docker-lifecycle container-rights", false, false, false, "a container engine is outside of all walls"},
	{"sudo-password package-remove other-agent", false, false, true, "it is meant for the machine of the user"},
	{"kill-all shutdown", false, false, false, "it is never run"},

	// What changes Hermes.
	{"gateway-background self-checkpoints self-config self-memory self-secret self-start self-terminate write-hermes own-run", false, false, false, "it changes Hermes"},
}

// containmentOf finds the row of a key.
var containmentOf = sync.OnceValue(func() map[string]containment {
	rows := map[string]containment{}
	for _, c := range containments {
		for key := range strings.FieldsSeq(c.keys) {
			rows[key] = c
		}
	}
	return rows
})

// Contained reports whether walls keep what a finding with this key warns of, and why.
// layer is "A" (namespaces, Landlock and seccomp), "B" (Landlock and seccomp) or
// "container"; every other layer keeps nothing, and so does every layer for a key that is
// not known.
func Contained(key, layer string) (why string, ok bool) {
	c := containmentOf()[key]
	if layer == "container" && c.c {
		return inContainer, true
	}
	return c.why, layer == "A" && c.a || layer == "B" && c.b
}

// inContainer is why a container keeps something.
const inContainer = "only the container is changed: nothing of this machine is mounted for writing"

// Within returns the verdict without what the walls of a layer keep. What is never allowed
// stays, and so does what a line in a container may do on another machine.
func (v Verdict) Within(layer string) Verdict {
	if layer == "container" && v.away {
		return v
	}
	var rest []Finding
	for _, f := range v.Findings {
		if _, kept := Contained(f.Key, layer); !kept || f.Level == Refuse {
			rest = append(rest, f)
		}
	}
	return Verdict{rest, v.away}
}
