package shell

import (
	"strings"
	"sync"
)

// containment says for some keys of findings whether walls keep what they warn of, and why.
type containment struct {
	keys string
	a, b bool // namespaces with Landlock and seccomp; Landlock and seccomp alone
	why  string
}

// containments is the only table of what walls keep. A key that is not in it is not kept.
//
// Walls bound what code can reach, so code that nobody has read needs no question. What
// damages the files that the walls leave open, sends something with the user's name, or
// changes Hermes still asks, and so does a line that hides what it does.
var containments = [...]containment{
	// What runs code: all of it runs inside.
	{"inline-code chmod-and-run write-and-run download-to-shell fetched-code", true, true, "the code runs inside, like any script of the project"},
	{"option-exec hg-exec svn-exec", true, true, "the program that the option names runs inside"},
	{"environment", true, true, "the variables hold inside; a command outside starts from the user's own"},
	{"package-source", true, true, "what is installed stays in the workspace and in private caches, and runs inside"},
	{"runs-later", true, true, "schedulers, login files and services of the machine are out of reach"},

	// What reaches other programs of this machine.
	{"types-for-user dbus-call", true, true, "the sockets of terminals, windows and services are out of reach"},
	{"service-stop", true, true, "the service manager is out of reach"},
	{"other-process", true, true, "other programs can be neither traced nor changed"},
	{"force-kill kill-by-name kill-by-search kill-regex", true, false, "in A only the session's own processes can be seen; B keeps signals from others on newer kernels only"},

	// What needs the rights of the system.
	{"kernel mount machine-settings protection user-account", true, true, "nothing inside has the rights for it, and none can be gained"},
	{"records", true, true, "screens, microphones, keys and network interfaces are out of reach"},

	// What reaches the network.
	{"raw-connection remote-shell", true, true, "connections go through the proxy, to allowed hosts only; listeners are on the session's own loopback"},
	{"cloud-metadata", true, true, "the proxy refuses the addresses of metadata services"},

	// A line that hides what it does could hide what is below.
	{"dynamic-command eval hidden-command pipe-to-shell shell-text too-deep unknown-path unreadable", false, false, "it may hide a command that asks"},

	// What damages the files that the walls leave open.
	{"recursive-delete find-delete find-exec-delete xargs-delete delete-sources mirror-delete empties-files shred move-away", false, false, "the workspace can be written"},
	{"delete-outside delete-system-file delete-root write-system system-file", false, false, "the workspace may be the folder that is meant"},
	{"git-branch-delete git-branch-move git-clean git-discard git-expire git-reset-hard git-stash-drop", false, false, "the work in the repository would be lost"},
	{"git-config git-exec git-hooks write-git-hooks write-tool-config tool-settings shadow-program", false, false, "the user's own tools run it later, outside"},
	{"write-env-file write-config write-credentials write-ssh write-shell-start write-history write-log", false, false, "the file may be in the workspace"},
	{"world-writable recursive-rights recursive-chown file-rights setuid system-rights", false, false, "rights of files in the workspace count outside, too"},
	{"disk-copy raw-device format fill-disk endless-processes fork-bomb volume-delete log-delete backup-delete", false, false, "it can use up or overwrite what the walls leave open"},
	{"destructive-sql dynamic-sql database-exec database-reset database-rights", false, false, "databases may be in the workspace or on an allowed host"},

	// What acts in the user's name.
	{"git-push-force git-push-address git-remote publish authorized-key agent-forwarding remote-access remote-run", false, false, "an allowed host knows the user"},
	{"cloud-change cloud-delete cluster-change cluster-delete applies-download", false, false, "an allowed host knows the user"},
	{"secret-upload secret-commit", false, false, "allowed hosts are possible exits"},
	{"docker-daemon docker-lifecycle container-rights", false, false, "a container engine stands outside of all walls"},
	{"sudo-password package-remove other-agent", false, false, "it is meant for the machine of the user"},
	{"kill-all shutdown", false, false, "it is never run"},

	// What changes Hermes.
	{"gateway-background self-config self-memory self-secret self-start self-terminate write-hermes own-run", false, false, "it changes Hermes"},
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
// layer is "A" (namespaces, Landlock and seccomp) or "B" (Landlock and seccomp); every
// other layer keeps nothing, and so does every layer for a key that is not known.
func Contained(key, layer string) (why string, ok bool) {
	c := containmentOf()[key]
	return c.why, layer == "A" && c.a || layer == "B" && c.b
}

// Within returns the verdict without what the walls of a layer keep. What is never allowed
// stays.
func (v Verdict) Within(layer string) Verdict {
	var rest []Finding
	for _, f := range v.Findings {
		if _, kept := Contained(f.Key, layer); !kept || f.Level == Refuse {
			rest = append(rest, f)
		}
	}
	return Verdict{rest}
}
