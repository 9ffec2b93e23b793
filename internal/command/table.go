package command

import (
	"context"

	"hermes"
	"hermes/internal/session"
)

// Where says which faces offer a command.
type Where uint8

// The faces: a terminal, a messenger, or either.
const (
	Terminal Where = 1 << iota
	Messenger
	Everywhere = Terminal | Messenger
)

// Command is a row of the registry.
type Command struct {
	Name    string // without the slash
	Aliases []string
	Args    string // how its arguments are written, for help
	Group   string // the heading it stands under in help
	Help    string // one line
	Where   Where
	run     func(ctx context.Context, c *Call) (Result, error)
}

// Session is what commands need of a session; *session.Session has it.
type Session interface {
	ID() string
	Submit(ctx context.Context, op session.Op) error
	State(ctx context.Context) (session.State, error)
}

// Call is one use of a command.
type Call struct {
	Session Session
	Where   Where
	Args    string // what stands behind the name, trimmed
	// Confirmed says that the person has agreed already, or that nobody wants
	// to be asked.
	Confirmed bool
	// Models lists the references that /model may offer; nil offers none.
	Models func(ctx context.Context) ([]string, error)
	// Settings is what may be kept for later sessions.
	Settings Settings
	// Memory is what /memory looks at; nil has none.
	Memory Memory
	// Learnings is what /learning looks at; nil has none.
	Learnings Learnings
	// Skills are what /skills looks at and what is called by name; nil has none.
	Skills Skills
	// Sessions are the stored conversations; nil has none.
	Sessions func(ctx context.Context) (Sessions, error)
	// Spend meters the model calls; nil where that is not told.
	Spend Spend
}

// Result is what a command leaves behind.
type Result struct {
	Text   string // Markdown for the person; may be empty
	Action Action
	Arg    string // what the action needs
	// Message is what the action Send sends.
	Message []hermes.Part
	// Confirm is a question: run the line again, confirmed, if the person
	// says yes. Nothing has been done yet.
	Confirm string
}

// Action is something that the face is to do.
type Action int

// The actions.
const (
	Nothing  Action = iota
	Quit            // leave
	New             // begin a new session, titled Arg unless it is empty
	Clear           // clear the screen and begin a new session
	Switch          // go on in the session with the id Arg
	Copy            // put Arg into the clipboard
	Redraw          // paint the screen anew
	Thinking        // show the model's thinking where Arg is "show", else hide it
	Send            // send Message to the session as the person's
)

// Table returns all commands in the order of help.
func Table() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"?"}, Args: "[text]", Group: "Help", Help: "show the commands, or those that fit a text", Where: Everywhere, run: help},
		{Name: "status", Group: "Help", Help: "show the session at a glance", Where: Everywhere, run: status},

		{Name: "new", Aliases: []string{"reset"}, Args: "[name] [now]", Group: "Session", Help: "begin a new session", Where: Everywhere, run: newSession},
		{Name: "clear", Args: "[now]", Group: "Session", Help: "clear the screen and begin a new session", Where: Terminal, run: clearSession},
		{Name: "title", Args: "[name]", Group: "Session", Help: "show or set the title", Where: Everywhere, run: title},
		{Name: "history", Args: "[n]", Group: "Session", Help: "show the conversation so far", Where: Terminal, run: history},
		{Name: "retry", Group: "Session", Help: "ask the last message again", Where: Everywhere, run: retry},
		{Name: "undo", Args: "[now]", Group: "Session", Help: "take back the last exchange", Where: Everywhere, run: undo},
		{Name: "continue", Group: "Session", Help: "go on with a turn that was cut off", Where: Everywhere, run: goOn},
		{Name: "branch", Aliases: []string{"fork"}, Args: "[title]", Group: "Session", Help: "go on in a copy of the session", Where: Terminal, run: branch},
		{Name: "resume", Aliases: []string{"switch"}, Args: "[number|id|title]", Group: "Session", Help: "go on in another session", Where: Terminal, run: resume},
		{Name: "sessions", Args: "[all | search WORDS]", Group: "Session", Help: "list the other sessions, or find what was said in them", Where: Terminal, run: listSessions},
		{Name: "copy", Args: "[n]", Group: "Session", Help: "copy the last answer, or the n-th last", Where: Terminal, run: copyAnswer},

		{Name: "queue", Aliases: []string{"q"}, Args: "PROMPT", Group: "While it works", Help: "answer this after the present turn", Where: Everywhere, run: queue},
		{Name: "steer", Args: "PROMPT", Group: "While it works", Help: "tell the running turn something, without stopping it", Where: Everywhere, run: steer},
		{Name: "stop", Group: "While it works", Help: "stop the turn and the background processes", Where: Everywhere, run: stop},

		{Name: "model", Args: "[provider:model] [--once|--global]", Group: "Model and tools", Help: "show or change the model of this session", Where: Everywhere, run: model},
		{Name: "reasoning", Args: "[level|show|hide] [--global]", Group: "Model and tools", Help: "show or set how hard the model thinks, show or hide the thinking", Where: Everywhere, run: reasoning},
		{Name: "tools", Group: "Model and tools", Help: "list the tools of this session", Where: Terminal, run: tools},
		{Name: "usage", Group: "Model and tools", Help: "show the tokens used and what they cost", Where: Everywhere, run: usage},
		{Name: "budget", Args: "[raise KIND AMOUNT]", Group: "Model and tools", Help: "show what was spent, show and raise caps", Where: Everywhere, run: budget},
		{Name: "insights", Args: "[days]", Group: "Model and tools", Help: "show what was done and used in the last days", Where: Everywhere, run: insights},
		{Name: "context", Aliases: []string{"ctx"}, Args: "[all]", Group: "Model and tools", Help: "show how full the context window is", Where: Everywhere, run: contextUse},
		{Name: "compress", Args: "[topic | here N]", Group: "Model and tools", Help: "make the conversation shorter, keeping a topic or the last N exchanges", Where: Everywhere, run: compress},

		{Name: "memory", Args: "[pending|approve|reject|approval]", Group: "Memory", Help: "show what is remembered and what waits for approval", Where: Everywhere, run: remembered},
		{Name: "learning", Aliases: []string{"learnings"}, Args: "[search|show|delete|merge]", Group: "Memory", Help: "show what helped against errors, delete and join it", Where: Everywhere, run: learned},
		{Name: "skills", Args: "[view|pending|diff|approve|reject|approval]", Group: "Memory", Help: "list the skills, show one, decide on changes that wait", Where: Everywhere, run: skills},
		{Name: "learn", Args: "[what]", Group: "Memory", Help: "make a skill of a folder, a page, or this conversation", Where: Everywhere, run: learn},
		{Name: "refine", Args: "[focus]", Group: "Memory", Help: "look at this conversation for what to keep", Where: Everywhere, run: refine},

		{Name: "redraw", Group: "Terminal", Help: "paint the screen anew", Where: Terminal, run: redraw},
		{Name: "quit", Aliases: []string{"exit"}, Group: "Terminal", Help: "leave; the session can be resumed", Where: Terminal, run: quit},
	}
}

var _ Session = (*session.Session)(nil)

// text makes the parts of a message.
func text(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
