package policy

import (
	"fmt"
	"strings"
)

func deny(key, format string, args ...any) PathVerdict {
	return PathVerdict{Deny: true, Key: key, Reason: fmt.Sprintf(format, args...)}
}

func ask(key, reason string) PathVerdict {
	return PathVerdict{Ask: true, Key: key, Reason: reason}
}

func (r PathRules) write(p string) PathVerdict {
	for _, judge := range [...]func(string) PathVerdict{r.writeSafeRoot, writeSpecial, writeSystem, r.writeState, writeProject, r.writeHome} {
		if v := judge(p); !v.Allowed() {
			return v
		}
	}
	return PathVerdict{}
}

func (r PathRules) writeSafeRoot(p string) PathVerdict {
	if len(r.SafeRoots) == 0 {
		return PathVerdict{}
	}
	for _, root := range r.SafeRoots {
		if root != "" && within(p, canonical(root)) {
			return PathVerdict{}
		}
	}
	return deny("safe-root", "writing is limited to %s: put the file there", strings.Join(r.SafeRoots, ", "))
}

func writeSpecial(p string) PathVerdict {
	if within(p, "/proc") || within(p, "/sys") || within(p, "/dev") && !within(p, "/dev/shm") {
		return deny("device", "file tools must not write devices and kernel files")
	}
	return PathVerdict{}
}

// writeSystem denies files that decide who may log in and what runs as another
// user. It asks about the rest of the machine's configuration.
func writeSystem(p string) PathVerdict {
	etc := below(p, "/etc")
	switch strings.TrimSuffix(etc, "-") {
	case "passwd", "shadow", "group", "gshadow", "sudoers", "master.passwd", "subuid", "subgid", "ld.so.preload", "crontab", "doas.conf":
		return deny("system-account", "this file decides who may do what on this machine, and file tools must not write it: tell the user what to change")
	}
	for _, dir := range [...]string{"sudoers.d", "pam.d", "security", "ssh", "cron.d", "cron.hourly", "cron.daily", "cron.weekly", "cron.monthly"} {
		if within(etc, dir) {
			return deny("system-account", "file tools must not write files in /etc/%s: tell the user what to change", dir)
		}
	}
	if within(p, "/var/spool/cron") || within(p, "/boot") || within(p, "c:/windows") {
		return deny("system-file", "file tools must not write to this system folder: tell the user what to change")
	}
	if etc != "" {
		return ask("system-config", "changes the machine's configuration in /etc")
	}
	return PathVerdict{}
}

// writeState protects the agent's own files: its rights are changed by the user,
// or through tools that ask.
func (r PathRules) writeState(p string) PathVerdict {
	rest := r.stateRest(p)
	if rest == "" {
		return PathVerdict{}
	}
	top, _, _ := strings.Cut(rest, "/")
	switch top {
	case "cache", "tmp", "workspace", "sandboxes", "work":
		return PathVerdict{}
	case "soul.md", "memories", "scripts":
		return ask("own-"+strings.TrimSuffix(top, ".md"), "changes the instructions, memory or scripts of later sessions")
	case "skills", "skill-bundles":
		return deny("own-skills", "change installed skills with the skill_manage tool, not as files")
	case "cron":
		return deny("own-cron", "change scheduled jobs with the cronjob tool, not as files")
	}
	return deny("own-state", "file tools must not write Hermes' own configuration, secrets and records: tell the user to use `hermes config` or the matching command")
}

// writeProject protects project files that hold secrets or run automatically.
func writeProject(p string) PathVerdict {
	if environmentFile(base(p)) {
		return deny("environment-file", "environment files hold credentials, and file tools must not write them: tell the user which line to add, or write .env.example")
	}
	if keyFile(base(p)) {
		return deny("secret-file", "file tools must not write private keys")
	}
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if part != ".git" {
			continue
		}
		switch name := parts[len(parts)-1]; {
		case name == "config" || name == "config.worktree":
			return deny("git-config", "git's configuration can run programs: use `git config` in the terminal, which asks for approval")
		case contains(parts[i+1:], "hooks"):
			return deny("git-hooks", "git hooks run automatically, and file tools must not write them: put the script elsewhere and tell the user")
		}
	}
	return PathVerdict{}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func (r PathRules) writeHome(p string) PathVerdict {
	rest := r.homeRest(p)
	if rest == "" {
		return PathVerdict{}
	}
	if rest == ".ssh/config" {
		return ask("ssh-config", "changes how ssh connects to other machines")
	}
	for _, dir := range [...]string{".ssh", ".aws", ".azure", ".config/gcloud", ".gnupg", ".kube", ".oci", ".password-store",
		".local/share/keyrings", ".config/gh", "library/keychains"} {
		if within(rest, dir) {
			return deny("credential-folder", "~/%s holds credentials, and file tools must not write it: tell the user what to change", dir)
		}
	}
	if credentialFile(rest) {
		return deny("credential-file", "this file holds credentials, and file tools must not write it: tell the user what to change")
	}
	if startFile(rest) {
		return ask("shell-start-file", "changes what runs when a shell starts or the user logs in")
	}
	return PathVerdict{}
}

// startFile reports whether a file below a home folder runs automatically.
func startFile(rest string) bool {
	switch rest {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
		".config/fish/config.fish", ".xprofile", ".xsessionrc", ".gitconfig", ".config/git/config":
		return true
	}
	return within(rest, ".config/autostart") || within(rest, ".config/systemd/user") || within(rest, "library/launchagents")
}
