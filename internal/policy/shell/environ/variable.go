// Package environ judges how one program is made to run another: by a variable such as
// PATH or PAGER (variable.go, value.go), or by an option such as --pager (option.go).
package environ

import (
	"strings"
)

// effect says how a variable decides what later commands run.
type effect int

const (
	NoEffect        effect = iota
	daemonAddress          // which container daemon is used
	passwordProgram        // which program gives sudo a password
	programFolders         // where programs are searched
	libraryFolders         // where shared libraries are searched
	languageFolders        // where an interpreter searches modules; a project's own folders are usual
	settingsFolder         // where programs find their settings
	startupFile            // a file or library that is loaded before anything else
	startupWord            // startupFile, but also the usual name of a deployment stage
	promptText             // text that a shell expands
	PagerCommand           // a command that shows text
	EditorCommand          // a command that edits text
	SshCommand             // a command that connects to another machine
	CompilerCommand        // a command that compiles
	shellCommand           // a shell
	AnyCommand             // another command
	nodeOptions            // options for node
	javaOptions            // options for java
	rubyOptions            // options for ruby
	goOptions              // options for go
	makeOptions            // options for make
)

// EffectOf says what a variable decides. Names with a known ending count like the
// well-known ones.
func EffectOf(name string) effect {
	if upper := strings.ToUpper(name); strings.HasPrefix(upper, "NPM_CONFIG_") {
		name = upper // npm ignores the case of its variables
	}
	if e := effects[name]; e != NoEffect {
		return e
	}
	for _, u := range usages {
		if strings.HasPrefix(name, u.begin) && strings.HasSuffix(name, u.end) {
			return u.effect
		}
	}
	return NoEffect
}

// effects are the variables that decide what runs.
var effects = map[string]effect{
	"DOCKER_HOST": daemonAddress, "DOCKER_CONTEXT": daemonAddress, "CONTAINER_HOST": daemonAddress,
	"SUDO_ASKPASS": passwordProgram,

	"PATH": programFolders, "FPATH": programFolders,
	"LD_LIBRARY_PATH": libraryFolders, "GTK_PATH": libraryFolders, "QT_PLUGIN_PATH": libraryFolders, "GIO_EXTRA_MODULES": libraryFolders,
	"GCONV_PATH": libraryFolders, "OPENSSL_ENGINES": libraryFolders, "OPENSSL_MODULES": libraryFolders, "PKCS11_MODULE_PATH": libraryFolders,
	"PYTHONPATH": languageFolders, "PYTHONHOME": languageFolders, "PYTHONUSERBASE": languageFolders, "PERL5LIB": languageFolders, "PERLLIB": languageFolders,
	"RUBYLIB": languageFolders, "NODE_PATH": languageFolders, "CLASSPATH": languageFolders, "LUA_PATH": languageFolders, "LUA_CPATH": languageFolders,
	"LUA_INIT": startupFile, "GEM_PATH": languageFolders, "GEM_HOME": languageFolders, "R_LIBS": languageFolders, "JULIA_LOAD_PATH": languageFolders,
	"PHPRC": languageFolders, "PHP_INI_SCAN_DIR": languageFolders, "ANSIBLE_LIBRARY": languageFolders,
	"HOME": settingsFolder, "ZDOTDIR": settingsFolder, "XDG_CONFIG_HOME": settingsFolder, "XDG_CONFIG_DIRS": settingsFolder, "XDG_DATA_DIRS": settingsFolder,
	"CURL_HOME": settingsFolder, "DOCKER_CONFIG": settingsFolder, "CARGO_HOME": languageFolders, "RUSTUP_HOME": languageFolders,
	"GIT_DIR": languageFolders, "GIT_EXEC_PATH": programFolders, "GIT_TEMPLATE_DIR": startupFile,

	"LD_PRELOAD": startupFile, "LD_AUDIT": startupFile, "LD_PROFILE": startupFile, "BASH_ENV": startupFile, "ENV": startupWord,
	"PYTHONSTARTUP": startupFile, "PYTHONBREAKPOINT": startupFile, "PERL5OPT": startupFile, "PERL5DB": startupFile, "PERL5SHELL": startupFile,
	"VIMINIT": startupFile, "GVIMINIT": startupFile, "EXINIT": startupFile, "INPUTRC": startupFile, "LESSOPEN": startupFile, "LESSCLOSE": startupFile, "LESSKEY": startupFile,
	"GTK_MODULES": startupFile, "GTK3_MODULES": startupFile, "OPENSSL_CONF": startupFile, "RIPGREP_CONFIG_PATH": startupFile, "WGETRC": startupFile, "PSQLRC": startupFile,
	"AWS_CONFIG_FILE": startupFile, "TAR_OPTIONS": startupFile, "ZIPOPT": startupFile, "FZF_DEFAULT_COMMAND": startupFile, "FZF_DEFAULT_OPTS": startupFile,
	"SSLKEYLOGFILE": startupFile, "PROMPT_COMMAND": startupFile,
	"PS0": promptText, "PS1": promptText, "PS2": promptText, "PS3": promptText, "PS4": promptText, "PROMPT": promptText, "RPROMPT": promptText,

	"PAGER": PagerCommand, "EDITOR": EditorCommand, "VISUAL": EditorCommand, "FCEDIT": EditorCommand, "HGEDITOR": EditorCommand,
	"BROWSER": AnyCommand, "GIT_SSH": SshCommand, "GIT_SSH_COMMAND": SshCommand, "RSYNC_RSH": SshCommand, "CVS_RSH": SshCommand, "SVN_SSH": SshCommand, "BORG_RSH": SshCommand,
	"GIT_EXTERNAL_DIFF": AnyCommand, "GIT_PROXY_COMMAND": AnyCommand,
	"CC": CompilerCommand, "CXX": CompilerCommand, "CPP": CompilerCommand, "LD": CompilerCommand, "AR": CompilerCommand, "FC": CompilerCommand, "RUSTC": CompilerCommand,
	"RUSTDOC": CompilerCommand, "MAKE": CompilerCommand, "SHELL": shellCommand, "CONFIG_SHELL": shellCommand, "NPM_CONFIG_SCRIPT_SHELL": shellCommand,

	"NODE_OPTIONS": nodeOptions, "NPM_CONFIG_NODE_OPTIONS": nodeOptions, "BUN_OPTIONS": nodeOptions,
	"JAVA_TOOL_OPTIONS": javaOptions, "_JAVA_OPTIONS": javaOptions, "JDK_JAVA_OPTIONS": javaOptions, "RUBYOPT": rubyOptions,
	"GOFLAGS": goOptions, "MAKEFLAGS": makeOptions, "GNUMAKEFLAGS": makeOptions, "MFLAGS": makeOptions, "MAKEFILES": startupFile,
}

// usages are beginnings and endings of names that are used alike.
var usages = []struct {
	begin, end string
	effect     effect
}{
	{"", "_EDITOR", EditorCommand}, {"", "PAGER", PagerCommand}, {"", "_ASKPASS", AnyCommand}, {"", "_SSH_COMMAND", SshCommand},
	{"", "_PROXY_COMMAND", AnyCommand}, {"", "_BROWSER", AnyCommand}, {"", "_RUNNER", AnyCommand}, {"", "_WRAPPER", CompilerCommand},
	{"", "_LINKER", CompilerCommand}, {"", "_PRELOAD", startupFile}, {"", "JAVA_OPTS", javaOptions}, {"", "JVM_OPTS", javaOptions},
	{"", "MAVEN_OPTS", javaOptions}, {"", "GRADLE_OPTS", javaOptions}, {"", "SBT_OPTS", javaOptions}, {"", "CATALINA_OPTS", javaOptions},
	{"", "_JVM_ARGS", javaOptions}, {"DYLD_", "", startupFile}, {"GIT_CONFIG_", "", startupFile}, {"BASH_FUNC_", "", startupFile},
	{"NPM_CONFIG_USERCONFIG", "", startupFile}, {"NPM_CONFIG_GLOBALCONFIG", "", startupFile},
}
