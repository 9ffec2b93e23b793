package machine

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/track"
)

// Persists judges commands that make something run later, at login or at the next
// start of a tool.
func Persists(l *track.Line, name string, rest []string) {
	if getopt.AsksHelp(rest) {
		return
	}
	for _, words := range getopt.PossibleCalls(rest) {
		verb := ""
		if len(words) > 0 {
			verb = strings.ToLower(words[0])
		}
		if schedules(name, verb, rest) {
			l.Ask("runs-later", "makes a program run later or at login")
		}
		if changesTool(name, verb, words, rest) {
			l.Ask("tool-settings", "changes settings of a tool that decide what it runs or where it gets programs")
		}
	}
}

// schedules reports whether a command registers a program with a scheduler or a
// service manager.
func schedules(name, verb string, rest []string) bool {
	if name == "schtasks" {
		return slices.ContainsFunc(rest, func(a string) bool { return strings.EqualFold(a, "/create") || strings.EqualFold(a, "/change") })
	}
	pattern, known := schedulers()[name]
	return known && getopt.Fits([]string{verb}, rest, pattern)
}

var schedulers = sync.OnceValue(func() getopt.Table {
	return getopt.NewTable(`
		crontab: !-l/u
		at incrontab fcrontab: !-lcV/fqt&args
		batch crond anacron insserv systemd-run update-rc.d: always
		new-service register-scheduledtask register-scheduledjob new-scheduledtask set-service: always
		systemctl: 0=enable,reenable,link,edit,preset,preset-all,set-default,add-wants,add-requires,import-environment
		launchctl: 0=load,bootstrap,submit,enable,asuser
		loginctl: 0=enable-linger
		chkconfig: !0=&!--list
		rc-update: 0=add,del,delete
		pm2: 0=startup,save
		sc: 0=create,config
		reg: 0=add,import
		defaults: 0=write&text=login`)
})

// changesTool reports whether a command changes what a tool runs from now on, or
// where it gets programs.
func changesTool(name, verb string, words, rest []string) bool {
	second := func() string { return strings.ToLower(strings.Join(words[min(1, len(words)):], " ")) }
	switch name {
	case "npm", "pnpm", "yarn", "bun", "cnpm":
		set := verb == "set" || (verb == "config" || verb == "c") && strings.HasPrefix(second(), "set ")
		return set && packageSetting(second())
	case "pip", "pip3", "uv", "poetry", "conda", "mamba", "gem", "bundle", "composer", "cargo", "dotnet", "nuget":
		return setsSource(name, verb, second(), rest)
	case "go":
		return verb == "env" && (getopt.HasShort(rest, "w") || getopt.HasLong(rest, "--w")) && goSetting(words)
	case "gh", "glab":
		return verb == "extension" && strings.HasPrefix(second(), "install") || verb == "alias" && strings.Contains(second(), "!") ||
			verb == "config" && strings.HasPrefix(second(), "set ") && strings.ContainsAny(second(), "/!;|&$ ") && !harmlessSetting(words)
	case "direnv":
		return verb == "allow" || verb == "permit" || verb == "grant"
	case "mise", "rtx":
		return verb == "trust"
	case "code", "codium", "cursor", "code-insiders":
		return getopt.HasLong(rest, "--install-extension")
	case "update-alternatives", "alternatives", "dpkg-divert":
		return getopt.HasLong(rest, "--install") || getopt.HasLong(rest, "--set") || getopt.HasLong(rest, "--add") || getopt.HasLong(rest, "--slave")
	case "gsettings", "dconf": // shortcuts and start-up entries of a desktop are settings
		return slices.Contains([]string{"set", "write", "load", "update"}, verb)
	case "xfconf-query":
		return getopt.HasShort(rest, "s") || getopt.HasLong(rest, "--set")
	case "kwriteconfig", "kwriteconfig5", "kwriteconfig6":
		return true
	case "xdg-mime", "xdg-settings":
		return verb == "default" || verb == "set"
	}
	return false
}

// packageSetting reports whether a setting of npm decides what it runs, or where
// packages come from.
func packageSetting(rest string) bool {
	rest = strings.TrimPrefix(rest, "set ")
	key, value, ok := strings.Cut(rest, "=")
	if !ok {
		key, value, _ = strings.Cut(rest, " ")
	}
	switch key {
	case "script-shell", "shell", "git", "node-options", "registry", "init-module", "init.module", "editor", "viewer", "browser", "prefix", "userconfig", "globalconfig",
		"proxy", "https-proxy", "cafile", "ca", "yarnpath", "yarn-path", "plugins", "npmregistryserver", "strict-ssl", "enablestrictssl":
		return !strings.Contains(value, "registry.npmjs.org") && !strings.Contains(value, "registry.yarnpkg.com")
	case "ignore-scripts", "enablescripts":
		return true
	}
	return strings.Contains(key, ":registry") || strings.Contains(key, "_auth")
}

// setsSource reports whether a package manager gets a new source or a program.
func setsSource(name, verb, rest string, all []string) bool {
	switch name {
	case "pip", "pip3":
		return verb == "config" && (strings.HasPrefix(rest, "set ") || strings.HasPrefix(rest, "edit"))
	case "conda", "mamba":
		return verb == "config" && (getopt.HasLong(all, "--add") || getopt.HasLong(all, "--set") || getopt.HasLong(all, "--append") || getopt.HasLong(all, "--prepend")) && strings.Contains(rest+strings.Join(all, " "), "://")
	case "gem":
		return verb == "sources" && (getopt.HasShort(all, "a") || getopt.HasLong(all, "--add"))
	case "composer":
		return verb == "config" && (strings.Contains(rest, "repositor") || strings.Contains(rest, "script"))
	case "poetry":
		return verb == "source" || verb == "config" && strings.HasPrefix(rest, "repositories.")
	case "dotnet", "nuget":
		return strings.Contains(verb+" "+rest, "sources add") || strings.Contains(verb+" "+rest, "add source")
	}
	return false
}

// goSetting reports whether go env -w changes what runs or where modules come
// from.
func goSetting(words []string) bool {
	for _, w := range words[min(1, len(words)):] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "GOVCS", "GOTOOLCHAIN", "GOROOT", "GOENV", "PKG_CONFIG", "GOAUTH", "GOCACHEPROG":
			return !strings.Contains(value, "proxy.golang.org") && value != "local" && value != "direct" && value != "off"
		}
		switch e := environ.EffectOf(name); e {
		case environ.NoEffect:
		case environ.CompilerCommand:
			return !environ.HarmlessCommand(e, value)
		default:
			return !environ.HarmlessOptions(e, value)
		}
	}
	return false
}

// harmlessSetting reports whether gh config set names a well-known program.
func harmlessSetting(words []string) bool {
	if len(words) < 4 {
		return true
	}
	return environ.HarmlessCommand(environ.EditorCommand, words[3]) || environ.HarmlessCommand(environ.PagerCommand, words[3]) || environ.HarmlessCommand(environ.AnyCommand, words[3])
}
