package policy

// Access says how far a path is protected from being read or written.
type Access int

// The grades of access, in rising order.
const (
	// Free needs no question.
	Free Access = iota
	// Local may be read on this machine, but its content is not sent elsewhere
	// without a question. Only for reading.
	Local
	// Asked needs the user's approval.
	Asked
	// Denied is never done by a file tool. A command that writes such a path asks:
	// the user sees all of it and decides.
	Denied
)

// Kind is what protected paths have in common: how far they are protected, and
// how questions and refusals name them.
type Kind struct {
	Read, Write Access
	// Key names the rule for file tools, ShellKey for commands. Users' approvals
	// are stored under both, so they never change. Paths without a ShellKey are
	// protected from file tools only, those without a Key from commands only, those
	// without both from needs of commands in a sandbox only.
	Key, ShellKey string
	// What completes "a file that …"; Instead says what to do after a refusal.
	What, Instead string
	// Once asks each time: no grant of a user covers such a path.
	Once bool
	// Closed paths are protected from commands that only read them, too.
	Closed bool
	// OwnHome limits questions about commands to the homes of the user who runs
	// Hermes and of root. What another user's shell starts is that user's matter,
	// and this user can rarely write it. Keys and credentials of other users are
	// not of this kind: they decide who gets in.
	OwnHome bool
	// Common paths are named by harmless commands all the time, as programs to
	// run, libraries to link or settings to use. Only a command that is known to
	// write one asks.
	Common bool
}

const (
	tellUser  = "tell the user what to change"
	useHermes = "tell the user to use `hermes config` or the matching command"
)

// The kinds of the system's files.
var (
	free = Kind{}
	// Commands write devices as such, and overwriting a disk has its own rule.
	device     = Kind{Write: Denied, Key: "device", What: "is a device", Instead: "use the terminal tool"}
	kernel     = Kind{Write: Denied, Key: "device", ShellKey: "write-system", What: "belongs to the kernel", Instead: "use the terminal tool"}
	account    = Kind{Read: Local, Write: Denied, Key: "system-account", ShellKey: "write-system", What: "decides who may do what on this machine", Instead: tellUser}
	password   = Kind{Read: Denied, Write: Denied, Key: "system-account", ShellKey: "write-system", What: "holds passwords or keys of this machine", Instead: tellUser}
	systemFile = Kind{Write: Denied, Key: "system-file", ShellKey: "write-system", What: "runs as the system", Instead: tellUser}
	systemUnit = Kind{Write: Asked, Key: "system-config", ShellKey: "write-system", What: "the system runs by itself"}
	systemLog  = Kind{Write: Asked, Key: "system-log", ShellKey: "write-log", What: "records what happened on this machine"}
	systemEtc  = Kind{Write: Asked, Key: "system-config", ShellKey: "write-system", What: "configures this machine", Common: true}
	program    = Kind{Write: Asked, Key: "system-program", ShellKey: "write-system", What: "is a program or library of the system", Common: true}
	// Folders for the user's programs come first on most search paths.
	shadow = Kind{Write: Asked, Key: "system-program", ShellKey: "write-system", What: "runs in place of a program of the system", Common: true}
	// People work here, too, so only needs for such a path ask.
	installed   = Kind{Write: Asked, What: "belongs to the programs of this machine"}
	serviceData = Kind{Read: Local, Write: Asked, What: "is data of a service or of another user"}
	// macOS' own folders. Its links lead there from /tmp and /var, so that file
	// tools see these paths all the time; commands that spell them are unusual.
	spelled = Kind{Write: Asked, ShellKey: "write-system", What: "is in a system folder"}
)

// The kinds of files in a user's home.
var (
	sshKey     = Kind{Read: Denied, Write: Denied, Key: "credential-folder", ShellKey: "write-ssh", What: "holds SSH keys or settings", Instead: tellUser}
	sshPublic  = Kind{Write: Denied, Key: "credential-folder", ShellKey: "write-ssh", What: "is kept with credentials and says who may log in or which machines are trusted", Instead: tellUser}
	sshConfig  = Kind{Read: Local, Write: Asked, Key: "ssh-config", ShellKey: "write-ssh", What: "says how ssh connects to other machines"}
	privateKey = Kind{Read: Denied, Write: Denied, Key: "secret-file", ShellKey: "write-ssh", What: "is a private key", Instead: tellUser}

	credential     = Kind{Read: Denied, Write: Denied, Key: "credential-file", ShellKey: "write-credentials", What: "holds credentials", Instead: tellUser}
	withCredential = Kind{Write: Denied, Key: "credential-folder", ShellKey: "write-credentials", What: "is kept with credentials", Instead: tellUser}
	private        = Kind{Read: Local, What: "holds private data or keys"}
	history        = Kind{Read: Local, Write: Asked, Key: "history-file", ShellKey: "write-history", What: "records what the user did", OwnHome: true}

	start       = Kind{Write: Asked, Key: "shell-start-file", ShellKey: "write-shell-start", What: "runs when a shell starts or the user logs in", OwnHome: true}
	userProgram = Kind{Write: Asked, Key: "system-program", ShellKey: "write-system", What: "belongs to the programs that the user runs", OwnHome: true, Common: true}
	toolConfig  = Kind{Write: Asked, Key: "tool-config", ShellKey: "write-tool-config", What: "makes other tools of the user run programs", OwnHome: true}
)

// The kinds of files in projects.
var (
	envFile   = Kind{Read: Denied, Write: Denied, Key: "environment-file", ShellKey: "write-env-file", What: "is one of the environment files, which hold credentials", Instead: "tell the user which line to add, or write .env.example"}
	gitConfig = Kind{Write: Denied, Key: "git-config", ShellKey: "write-git-hooks", What: "is git's configuration, which can run programs", Instead: "use `git config` in the terminal, which asks for approval"}
	gitFolder = Kind{Write: Denied, Key: "git-config", ShellKey: "write-git-hooks", What: "is git's own folder or says where that is", Instead: "use git in the terminal", Common: true}
	gitHooks  = Kind{Write: Denied, Key: "git-hooks", ShellKey: "write-git-hooks", What: "git runs by itself", Instead: "put the script elsewhere and tell the user"}
	// File tools know the folder that they write to. Commands often do not show
	// it, and Hermes' own settings have this name.
	configFile = Kind{Write: Asked, ShellKey: "write-config", What: "is called config.yaml", Common: true}
)

// The kinds of Hermes' own files. Its rights are changed by the user, or through
// tools and commands that ask.
var (
	ownSecret = Kind{Read: Denied, Write: Denied, Key: "own-state", ShellKey: "write-hermes", What: "holds Hermes' own credentials", Instead: useHermes}
	// What is in this folder lets a program answer questions in place of the user.
	ownRun = Kind{Read: Denied, Write: Denied, Key: "own-run", ShellKey: "own-run", Closed: true, What: "lets programs into running sessions, where only the user belongs", Instead: "tell the user to run `hermes attach`"}
	// In these folders commands of all projects have their private files.
	ownSandbox = Kind{Write: Asked, Once: true, Key: "own-sandbox", What: "belongs to the sandbox of a project"}
	ownState   = Kind{Read: Local, Write: Denied, Key: "own-state", ShellKey: "write-hermes", What: "holds Hermes' own configuration, rights or records", Instead: useHermes}
	ownSkills  = Kind{Write: Denied, Key: "own-skills", ShellKey: "write-hermes", What: "belongs to an installed skill", Instead: "use the skill_manage tool"}
	ownCron    = Kind{Read: Local, Write: Denied, Key: "own-cron", ShellKey: "write-hermes", What: "holds scheduled jobs", Instead: "use the cronjob tool"}
	ownSoul    = Kind{Read: Local, Write: Asked, Key: "own-soul", ShellKey: "write-hermes", What: "later sessions take instructions from"}
	ownMemory  = Kind{Read: Local, Write: Asked, Key: "own-memories", ShellKey: "write-hermes", What: "later sessions remember"}
	ownScript  = Kind{Write: Asked, Key: "own-scripts", ShellKey: "write-hermes", What: "later sessions run"}
)
