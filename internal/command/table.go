// Package command is the registry of slash commands: their names, which
// frontends offer them, their help and what they do. Every frontend finds,
// completes and runs slash commands through this package.
//
// A command acts on a session through the session's ops and returns Markdown
// text. The package knows no frontend. For what only a frontend can do (quit,
// clear the screen, start another session) a command returns an action.
//
// Start at table.go; [Run] finds the command of a line and runs it.
package command

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/ratelimit"
	"hermes/internal/session"
)

// Where says which frontends offer a command.
type Where uint8

// The frontends: a terminal, a messenger, or both.
const (
	Terminal Where = 1 << iota
	Messenger
	Everywhere = Terminal | Messenger
)

// Command is a row of the registry.
type Command struct {
	Name    string // without the slash
	Aliases []string
	Args    string // its arguments, as shown in help
	Group   string // its heading in help
	Help    string // one line
	Where   Where
	run     func(ctx context.Context, c *Call) (Result, error)
}

// Session is what commands need of a session, for the frontend that sent the command.
type Session interface {
	ID() string
	Submit(ctx context.Context, op hermes.Op) error
	// Rollback calls files, then undoes the messages from one on and brings others back, as
	// [session.Session] does.
	Rollback(ctx context.Context, from int64, back []int64, files func(context.Context) error) error
	// Undone returns messages that were undone.
	Undone(ctx context.Context, ids []int64) ([]hermes.Message, error)
	State(ctx context.Context) (session.State, error)
	// SayWith sends a message of the user that m answers instead of the session's model.
	SayWith(ctx context.Context, text string, m hermes.Model) error
}

// Call is one use of a command.
type Call struct {
	Session Session
	Where   Where
	Args    string // the text after the name, trimmed
	// Confirmed says that the user has already agreed, or that no confirmation
	// is wanted.
	Confirmed bool
	// Models lists the references that /model may offer; nil offers none.
	Models func(ctx context.Context) ([]string, error)
	// Settings saves what is kept for later sessions.
	Settings Settings
	// Memory is what /memory shows; nil has none.
	Memory Memory
	// Learnings is what /learning shows; nil has none.
	Learnings Learnings
	// Skills are shown by /skills and can be called by name; nil has none.
	Skills Skills
	// Sessions are the stored conversations; nil has none.
	Sessions func(ctx context.Context) (Sessions, error)
	// Spend reports the cost of model calls; nil has none.
	Spend Spend
	// Plugins are shown by /plugins and bring commands of their own; nil has none.
	Plugins Plugins
	// Mixture has several models answer together; nil has none.
	Mixture Mixture
	// Browsers connects sessions with browsers; nil has none.
	Browsers Browsers
	// Servers are the MCP servers; nil has none.
	Servers Servers
	// Agents are the child sessions that run; nil has none.
	Agents func(ctx context.Context) (Agents, error)
	// Worktrees makes worktrees for sessions; nil has none.
	Worktrees Worktrees
	// Limits returns what the services said about their limits, and the time;
	// nil has none.
	Limits func() ([]ratelimit.Status, time.Time)
	// Checkpoints keeps snapshots of files of this machine, and which rollbacks have begun; nil has
	// none.
	Checkpoints *checkpoint.Store
	// Elsewhere returns the store of the place where a session works that is not on this machine,
	// and its folder there; nil has none.
	Elsewhere func(ctx context.Context, s hermes.Session) (store *checkpoint.Store, dir string, err error)
	// GitDiff returns what git says changed in a folder: what is staged, or all since the last
	// commit. Paths are as the user writes them from there. Nil has no git.
	GitDiff func(ctx context.Context, dir string, staged, stat bool, paths []string) (string, error)
}

// Result is the outcome of a command.
type Result struct {
	Text string // Markdown for the user; may be empty
	// Action is what the frontend has to do, and Arg what that needs.
	Action hermes.CommandAction
	Arg    string
	// Message is sent to the session as a message of the user, unless it is empty.
	Message []hermes.Part
	// Confirm is a question, which comes after the text. If the user says yes, run ConfirmLine,
	// or if that is empty the line again with [Agreed] at its end. Nothing has been done yet.
	Confirm     string
	ConfirmLine string
}

// Table returns all commands in the order of help.
func Table() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"?"}, Args: "[text]", Group: "Help", Help: "List the commands, or those that match a text", Where: Everywhere, run: help},
		{Name: "status", Group: "Help", Help: "Show the session at a glance", Where: Everywhere, run: status},

		{Name: "new", Aliases: []string{"reset"}, Args: "[name] [now]", Group: "Session", Help: "Start a new session", Where: Everywhere, run: newSession},
		{Name: "clear", Args: "[now]", Group: "Session", Help: "Clear the screen and start a new session", Where: Terminal, run: clearSession},
		{Name: "title", Args: "[name]", Group: "Session", Help: "Show or set the title of the session", Where: Everywhere, run: title},
		{Name: "history", Args: "[n]", Group: "Session", Help: "Show the conversation so far", Where: Terminal, run: history},
		{Name: "retry", Group: "Session", Help: "Send the last message again", Where: Everywhere, run: retry},
		{Name: "undo", Args: "[now]", Group: "Session", Help: "Undo the last exchange", Where: Everywhere, run: undo},
		{Name: "continue", Group: "Session", Help: "Resume a turn that was cut off", Where: Everywhere, run: goOn},
		{Name: "rollback", Args: "[N [FILE] | diff [N] | branch N [--files] | tree] [--all]", Group: "Session", Help: "List checkpoints, or bring files and messages back to one", Where: Everywhere, run: rollback},
		{Name: "diff", Args: "[session|staged|all] [--stat] [PATH...]", Group: "Session", Help: "Show what this session, or git, changed", Where: Everywhere, run: diff},
		{Name: "branch", Aliases: []string{"fork"}, Args: "[--back N] [title]", Group: "Session", Help: "Switch to a copy of the session, without the last N exchanges", Where: Terminal, run: branch},
		{Name: "resume", Aliases: []string{"switch"}, Args: "[number|id|title]", Group: "Session", Help: "Switch to another session", Where: Terminal, run: resume},
		{Name: "sessions", Args: "[all | search WORDS]", Group: "Session", Help: "List other sessions, or search in all of them", Where: Terminal, run: listSessions},
		{Name: "worktree", Args: "[new [name]|list]", Group: "Session", Help: "Switch to a copy of the session in a new Git worktree, or list them", Where: Terminal, run: worktrees},
		{Name: "copy", Args: "[n]", Group: "Session", Help: "Copy the last answer, or the n-th from the end", Where: Terminal, run: copyAnswer},

		{Name: "queue", Aliases: []string{"q"}, Args: "PROMPT", Group: "While it works", Help: "Send a message after the current turn", Where: Everywhere, run: queue},
		{Name: "steer", Args: "PROMPT", Group: "While it works", Help: "Send a message to the running turn without stopping it", Where: Everywhere, run: steer},
		{Name: "agents", Args: "[stop ID | steer ID TEXT | pause | resume]", Group: "While it works", Help: "Show the sub-agents that run, stop or steer one, pause new ones", Where: Everywhere, run: agents},
		{Name: "stop", Group: "While it works", Help: "Stop the turn and its background processes", Where: Everywhere, run: stop},

		{Name: "model", Args: "[provider:model] [--once|--global]", Group: "Model and tools", Help: "Show or change the model of this session", Where: Everywhere, run: model},
		{Name: "mode", Args: "[ask|plan|accept-edits|yolo]", Group: "Model and tools", Help: "Show or change how risky calls are treated", Where: Everywhere, run: mode},
		{Name: "plan", Args: "[PROMPT]", Group: "Model and tools", Help: "Enter or leave plan mode, in which nothing is changed; or send a message in it", Where: Everywhere, run: plan},
		{Name: "yolo", Group: "Model and tools", Help: "Run risky calls without asking, or ask again", Where: Everywhere, run: yolo},
		{Name: "reasoning", Args: "[level|show|hide] [--global]", Group: "Model and tools", Help: "Show or set the reasoning effort, show or hide the thinking", Where: Everywhere, run: reasoning},
		{Name: "moa", Args: "PROMPT", Group: "Model and tools", Help: "Have several models answer one prompt together", Where: Everywhere, run: mixture},
		{Name: "tools", Group: "Model and tools", Help: "List the tools of this session", Where: Terminal, run: tools},
		{Name: "mcp", Args: "[server]", Group: "Model and tools", Help: "Show the MCP servers, or the tools of one", Where: Everywhere, run: servers},
		{Name: "reload-mcp", Args: "[all] [now]", Group: "Model and tools", Help: "Read the settings of the MCP servers again", Where: Everywhere, run: reloadServers},
		{Name: "browser", Args: "[connect [URL]|disconnect|status]", Group: "Model and tools", Help: "Work with a browser that runs, such as your own", Where: Terminal, run: browser},
		{Name: "plugins", Args: "[plugin]", Group: "Model and tools", Help: "Show the plugins that are enabled, or what one brings along", Where: Everywhere, run: plugins},
		{Name: "usage", Group: "Model and tools", Help: "Show the tokens used and their cost", Where: Everywhere, run: usage},
		{Name: "budget", Args: "[raise KIND AMOUNT]", Group: "Model and tools", Help: "Show the spending and its caps, raise a cap", Where: Everywhere, run: budget},
		{Name: "insights", Args: "[days]", Group: "Model and tools", Help: "Show activity and cost of the last days", Where: Everywhere, run: insights},
		{Name: "context", Aliases: []string{"ctx"}, Args: "[all]", Group: "Model and tools", Help: "Show how full the context window is", Where: Everywhere, run: contextUse},
		{Name: "compress", Args: "[topic | here N]", Group: "Model and tools", Help: "Shorten the conversation, keeping a topic or the last N exchanges", Where: Everywhere, run: compress},

		{Name: "memory", Args: "[pending|approve|reject|approval]", Group: "Memory", Help: "Show the memory, approve or reject pending changes", Where: Everywhere, run: remembered},
		{Name: "learning", Aliases: []string{"learnings"}, Args: "[search|show|delete|merge|pending|approve|reject]", Group: "Memory", Help: "Show, change or approve fixes learned from errors", Where: Everywhere, run: learned},
		{Name: "skills", Args: "[view|pending|diff|approve|reject|approval]", Group: "Memory", Help: "List or show skills, approve or reject pending changes", Where: Everywhere, run: skills},
		{Name: "learn", Args: "[what]", Group: "Memory", Help: "Make a skill from a folder, a page or this conversation", Where: Everywhere, run: learn},
		{Name: "refine", Args: "[focus]", Group: "Memory", Help: "Review this conversation for what to keep", Where: Everywhere, run: refine},

		{Name: "redraw", Group: "Terminal", Help: "Redraw the screen", Where: Terminal, run: redraw},
		{Name: "quit", Aliases: []string{"exit"}, Group: "Terminal", Help: "Quit; the session can be resumed", Where: Terminal, run: quit},
	}
}
