package cmd

import (
	"github.com/spf13/cobra"
	"hermes/internal/cmd/factory"
)

// effect is what a command line does to Hermes itself.
type effect int

const (
	changes effect = iota // settings, memory, skills, credentials or records; also what is not known
	reads                 // changes none of these
	reveals               // shows a secret
	attends               // speaks to a session as its user
	runs                  // runs an agent, with rights that the flags may widen
)

// effectOf tells the effect of one call of a command.
type effectOf func(c *cobra.Command, args []string) effect

func always(e effect) effectOf {
	return func(*cobra.Command, []string) effect { return e }
}

// unless are the flags with which a command only shows what it would change.
func unless(flags ...string) effectOf {
	return func(c *cobra.Command, _ []string) effect {
		if anySet(c, flags) {
			return reads
		}
		return changes
	}
}

// with is the flag with which a command has an effect; without, it only reads.
func with(flag string, e effect) effectOf {
	return func(c *cobra.Command, _ []string) effect {
		if anySet(c, []string{flag}) {
			return e
		}
		return reads
	}
}

// given is a command that has another effect if a flag has a value.
func given(flag string, e effect) effectOf {
	return func(c *cobra.Command, _ []string) effect {
		if c.Flags().Changed(flag) {
			return e
		}
		return reads
	}
}

func anySet(c *cobra.Command, flags []string) bool {
	for _, name := range flags {
		if on, err := c.Flags().GetBool(name); err == nil && on {
			return true
		}
	}
	return false
}

// withArguments is a command that only shows something without arguments.
func withArguments(_ *cobra.Command, args []string) effect {
	if len(args) > 0 {
		return changes
	}
	return reads
}

// choosing is a command that also lets the user choose on a terminal.
func choosing(c *cobra.Command, args []string) effect {
	if factory.IsTerminal(c.InOrStdin()) {
		return changes
	}
	return withArguments(c, args)
}

// effects holds every command, by its path below the root. A command that is not
// here counts as changing.
func effects() map[string]effectOf {
	all := map[string]effectOf{
		"":       always(runs),
		"chat":   always(runs),
		"demo":   always(runs),
		"attach": always(attends),

		"mcp serve": always(attends), // its clients speak to sessions

		"checkpoints restore": unless("preview"),
		"config get":          with("reveal", reveals),
		"curator purge":       unless("dry-run"),
		"curator rollback":    unless("list"),
		"curator run":         unless("dry-run"),
		"doctor":              with("fix", changes),
		"hooks doctor":        with("run", changes),
		"learning merge":      unless("dry-run"),
		"memory":              withArguments, // a command of the service
		"memory setup":        withArguments,
		"model":               choosing,
		"permissions suggest": given("apply", changes),
		"panic":               with("off", changes), // anyone may stop, only the user goes on
		"plugins doctor":      unless("no-start"),
		"sessions prune":      unless("dry-run"),
		"skills update":       unless("diff"),
		"undo":                unless("list", "preview"),
	}
	for _, name := range []string{
		"auth", "auth list", "auth status",
		"bundles", "bundles list", "bundles show",
		"audit", "audit export", "audit head", "audit list", "audit show", "audit verify",
		"checkpoints", "checkpoints diff", "checkpoints list",
		"completion", "completion bash", "completion fish", "completion powershell", "completion zsh",
		"config", "config check", "config env-path", "config path", "config show",
		"curator", "curator ledger", "curator list-archived", "curator list-unmanaged", "curator status",
		"diff", "fallback", "fallback list", "help", "hooks", "hooks list", "insights", "journey", "journey list",
		"learning", "learning export", "learning list", "learning pending", "learning search", "learning show", "logs",
		"mcp", "mcp catalog", "mcp list",
		"memory export", "memory list", "memory pending", "memory status",
		"model list", "permissions", "permissions list", "permissions test", "plugins", "plugins list", "plugins run", "profile", "profile list", "profile show", "prompt-size",
		"sessions", "sessions export", "sessions list", "sessions search", "sessions show", "sessions stats",
		"skills", "skills audit", "skills browse", "skills check", "skills diff", "skills inspect", "skills list",
		"skills pending", "skills search", "skills snapshot export", "skills tap list",
		"spend", "tools", "tools list", "trust list", "trust show", "undo list", "worktree", "worktree list",
	} {
		all[name] = always(reads)
	}
	for _, name := range []string{
		"auth add", "auth logout", "auth priority", "auth refresh", "auth remove", "auth reset", "auth spotify",
		"bundles create", "bundles delete", "checkpoints prune",
		"config edit", "config migrate", "config set", "config unset",
		"curator adopt", "curator archive", "curator backup", "curator pause", "curator pin", "curator restore",
		"curator resume", "curator unpin",
		"fallback add", "fallback clear", "fallback remove", "hooks revoke", "hooks test", "journey delete", "journey edit",
		"learning add", "learning approve", "learning delete", "learning import", "learning reject",
		"mcp add", "mcp configure", "mcp import", "mcp install", "mcp login", "mcp logout", "mcp remove", "mcp test",
		"memory add", "memory approve", "memory import", "memory off", "memory reject", "memory remove", "memory replace",
		"permissions revoke", "permissions unattended",
		"plugins create", "plugins disable", "plugins enable", "plugins install", "plugins login", "plugins remove", "plugins update",
		"profile create", "profile delete", "profile use",
		"sessions archive", "sessions branch", "sessions delete", "sessions import", "sessions optimize", "sessions pin",
		"sessions rename", "sessions repair", "sessions unarchive", "sessions unpin",
		"skills approve", "skills config disable", "skills config enable", "skills create", "skills delete", "skills edit",
		"skills install", "skills opt-in", "skills opt-out", "skills publish", "skills reject", "skills replay",
		"skills reset", "skills snapshot import", "skills tap add", "skills tap remove", "skills trust",
		"skills uninstall", "skills untrust", "spend raise", "tools disable", "tools enable",
		"trust", "trust decline", "trust revoke", "worktree remove",
	} {
		all[name] = always(changes)
	}
	return all
}
