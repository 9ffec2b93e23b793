package app

// Internals for tests.
var (
	Trusted      = trusted
	TrustCommand = trustCommand
	CutOff       = (*App).cutOff
	Scripted     = (*App).scripted
	HookDir      = (*App).hookDir
)

// DeclaredPath is the path that a plugin declares.
var DeclaredPath = declaredPath
