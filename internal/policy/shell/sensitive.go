package shell

import (
	"path"
	"strings"
)

// rawDevice reports whether a path is a disk, or a partition of one.
func rawDevice(p string) bool {
	name, ok := strings.CutPrefix(path.Clean(p), "/dev/")
	if !ok {
		return strings.HasPrefix(p, `\\.\PhysicalDrive`)
	}
	for _, kind := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/", "sr", "nbd", "mem", "kmem", "port"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// write judges a path that a command writes to, replaces or deletes.
func (j *judge) write(target string) {
	target = strings.TrimPrefix(target, "file://")
	if rawDevice(target) {
		j.refuse("raw-device", "overwrites a disk or memory")
		return
	}
	p, ok := j.absolute(target)
	if !ok {
		p = target
		if dynamic(p) { // $dir/.ssh/config may be the user's
			p = p[strings.LastIndexAny(p, "\x00\x02\x03")+1:]
			if strings.HasPrefix(p, "/") {
				p = j.context.Home + p
			}
		}
	}
	if path.Clean(p) == "/proc/sysrq-trigger" {
		j.refuse("shutdown", "shuts down or restarts the machine")
		return
	}
	for _, kind := range []func(string) (key, reason string){systemFile, j.homeFile, j.hermesFile, projectFile} {
		if key, reason := kind(p); key != "" {
			j.ask(key, reason)
			return
		}
	}
}

func systemFile(p string) (key, reason string) {
	for _, folder := range []string{"/etc", "/private/etc", "/private/var", "/private/tmp", "/private/home", "/boot", "/proc/sys", "/sys"} {
		if inFolder(p, folder) {
			return "write-system", "writes to the system folder " + folder
		}
	}
	return "", ""
}

// homeFile judges files in the user's home folder that programs trust.
func (j *judge) homeFile(p string) (key, reason string) {
	home := j.context.Home
	if home == "" || !inFolder(p, home) {
		return "", ""
	}
	rel := strings.TrimPrefix(strings.ToLower(p[min(len(p), len(strings.TrimSuffix(home, "/"))):]), "/")
	top, _, _ := strings.Cut(rel, "/")
	switch top {
	case ".ssh":
		return "write-ssh", "writes to SSH keys or settings"
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment":
		return "write-shell-start", "writes to a file that runs when a shell starts"
	case ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".aws", ".kube", ".gnupg", ".docker", ".azure", ".boto", ".s3cfg", ".htpasswd":
		return "write-credentials", "writes to a file that holds credentials"
	}
	for _, folder := range []string{".config/fish", ".config/autostart", ".config/systemd", "library/launchagents", ".config/environment.d"} {
		if inFolder(rel, folder) {
			return "write-shell-start", "writes to a file that runs at login"
		}
	}
	for _, folder := range []string{".config/gh", ".config/gcloud", ".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"} {
		if inFolder(rel, folder) {
			return "write-credentials", "writes to a file that holds credentials"
		}
	}
	return "", ""
}

// hermesFile judges Hermes' own folder, except its cache.
func (j *judge) hermesFile(p string) (key, reason string) {
	folder := j.context.Hermes
	if !inFolder(p, folder) || inFolder(p, folder+"/cache") {
		return "", ""
	}
	return "write-hermes", "writes to Hermes' own files, which its commands should change"
}

func projectFile(p string) (key, reason string) {
	name := strings.ToLower(path.Base(strings.TrimSuffix(p, "/")))
	switch {
	case name == ".env" || strings.HasPrefix(name, ".env.") || name == ".envrc":
		return "write-env-file", "writes to an environment file, which usually holds secrets"
	case name == "config.yaml":
		return "write-config", "writes to a config.yaml"
	case strings.Contains("/"+strings.ToLower(p), "/.git/hooks/") || strings.HasSuffix("/"+strings.ToLower(p), "/.git/config"):
		return "write-git-hooks", "writes to git hooks or git configuration, which can run programs"
	}
	return "", ""
}
