package getopt

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
)

// VerbWords returns the words of a call of a tool with nouns and verbs, such as
// `aws ec2 describe-instances`, without options. Words that may be values of an
// option come last.
func VerbWords(rest []string) []string {
	var sure, values []string
	after := false
	for _, a := range rest {
		switch {
		case a == "--":
			return append(sure, values...)
		case len(a) > 1 && a[0] == '-':
			after = mayTakeValue(a) && !slices.Contains(usualSwitches, a)
		case after:
			values, after = append(values, a), false
		default:
			sure = append(sure, a)
		}
	}
	return append(sure, values...)
}

// switches are options that take no value, whatever the tool.
var switches = []string{
	"-A", "--all-namespaces", "-q", "--quiet", "-y", "--yes", "-v", "--verbose", "--debug", "--json", "--force", "--recursive", "--no-cli-pager",
	"--prod", "--all", "-it", "--watch", "--dry-run", "--auto-approve", "-auto-approve", "--help", "--version",
	"--allow-dirty", "--no-verify", "--clean", "--provenance", "--ignore-scripts", "--server-side", "--become",
}

// usualSwitches take no value in most tools with nouns and verbs.
var usualSwitches = []string{"-r", "-R", "-i", "-t", "-w", "-m", "-d"}

// Deed is what the verb of a tool does.
type Deed int

const (
	NoDeed Deed = iota
	Looks       // it only reads, or changes settings of the tool here
	Changes
	Deletes
)

// DeedOf returns what a word does if it is a verb: delete-stack, apps:destroy,
// batch-get-item. Words that are in quiet only look.
func DeedOf(word, quiet string) Deed {
	word = strings.ToLower(word)
	if lex.Within(quiet, word) {
		return Looks
	}
	word = word[strings.LastIndexByte(word, ':')+1:]
	head, tail, _ := strings.Cut(strings.ReplaceAll(word, "_", "-"), "-")
	if head == "batch" || head == "bulk" || head == "admin" {
		head, _, _ = strings.Cut(tail, "-")
	}
	switch {
	case lex.Within(quiet, head), lex.Within(lookingVerbs, head):
		return Looks
	case lex.Within(deletingVerbs, head):
		return Deletes
	case lex.Within(changingVerbs, head):
		return Changes
	}
	return NoDeed
}

// FirstDeed returns what the first verb among words does. A noun that alone shows
// something, such as config, counts if no verb follows.
func FirstDeed(words []string, quiet string) Deed {
	found := NoDeed
	for _, w := range words {
		if lex.Within(nouns, w) && !lex.Within(quiet, w) {
			found = Looks
			continue
		}
		if d := DeedOf(w, quiet); d != NoDeed {
			return d
		}
	}
	return found
}

const (
	lookingVerbs = "list ls lst get describe show view info status stat version help logs log tail wait search query scan lookup whoami diff plan validate preview check " +
		"estimate test filter simulate select explain top history inspect verify cat du print download completion doctor read head count " +
		"find ping tree size configure login logout init fmt output synth synthesize lint use-context activate-service-account"
	nouns         = "versions docs ps releases events metrics usage config auth account regions zones graph providers env variables stack plugin projects functions migration apps teams sites"
	deletingVerbs = "delete del destroy terminate remove rm rb rmi rmp rmf purge drop deregister wipe flush empty uninstall kill deallocate nuke prune unpublish yank deprovision erase " +
		"expire truncate unset down reset abandon revoke undefine unregistervm detach disable evict drain clear clean cleanup teardown unlink leave"
	changingVerbs = "create add put set update modify edit attach start stop restart reboot suspend resume run deploy ssh scp exec invoke send submit import copy cp mv sync restore " +
		"enable grant associate disassociate authorize register allocate release assign apply patch replace resize scale promote failover move transfer rotate upload push publish tag untag " +
		"change accept reject execute call bind unbind mb presign website up install upgrade rollback undo redeploy launch open connect attach-session share unshare migrate merge taint " +
		"untaint refresh force cordon uncordon label annotate debug expose autoscale proxy convert approve deny cancel provision seal unseal operator write renew rekey"
)

// IsRehearsal reports whether an option says that nothing is really done.
func IsRehearsal(name string, rest []string) bool {
	last := len(rest) - 1
	if last == 0 && (rest[0] == "--version" || rest[0] == "-V") || last >= 0 && rest[last] == "-h" && (last == 0 || !mayTakeValue(rest[last-1])) {
		return true
	}
	return CertainOption(rest, func(a string) bool {
		switch a {
		case "--dry-run", "--dryrun", "-dry-run", "--dry-run=client", "--dry-run=server", "--dry-run=true", "--help", "--whatif":
			return true
		case "--check", "--syntax-check", "--list-hosts", "--list-tasks":
			return strings.HasPrefix(name, "ansible")
		case "--snapshot":
			return name == "goreleaser"
		}
		return false
	})
}
