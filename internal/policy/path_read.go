package policy

import "strings"

func (r PathRules) read(p string) PathVerdict {
	if reason := deviceReason(p); reason != "" {
		return PathVerdict{Deny: true, Key: "device", Reason: reason}
	}
	if r.secret(p) {
		return PathVerdict{Deny: true, Key: "secret-file",
			Reason: "this file holds credentials, which are not shown: work without its content, or ask the user for the one value you need"}
	}
	return PathVerdict{}
}

func (r PathRules) secret(p string) bool {
	name := base(p)
	if environmentFile(name) || keyFile(name) {
		return true
	}
	switch p {
	case "/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/master.passwd", "/etc/security/opasswd":
		return true
	}
	if within(p, "/etc/ssh") && strings.HasSuffix(name, "_key") {
		return true
	}
	if rest := r.stateRest(p); rest != "" && ownSecret(rest) {
		return true
	}
	rest := r.homeRest(p)
	return rest != "" && (credentialFile(rest) || secretInFolder(rest))
}

// keyFile reports whether a name is a usual name of a private key, in any folder.
func keyFile(name string) bool {
	switch name {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return true
	}
	return false
}

// secretInFolder reports whether a file below a home folder is secret because of
// the folder it is in.
func secretInFolder(rest string) bool {
	if file := below(rest, ".ssh"); file != "" {
		switch name := base(file); {
		case strings.HasSuffix(name, ".pub"), strings.HasPrefix(name, "known_hosts"):
			return false
		case name == "config", name == "authorized_keys":
			return false
		}
		return true
	}
	if file := below(rest, ".aws"); file != "" {
		return file != "config"
	}
	if file := below(rest, ".kube"); file != "" {
		return file == "config" || strings.HasSuffix(file, ".conf") || within(file, "cache/oidc-login")
	}
	for _, dir := range [...]string{".gnupg/private-keys-v1.d", ".gnupg/secring.gpg", ".config/gcloud", ".azure",
		".password-store", ".local/share/keyrings", ".oci", "library/keychains"} {
		if within(rest, dir) {
			return true
		}
	}
	return false
}

// deviceReason says why a special file must not be read: it never ends, waits
// for input, or shows another process's secrets. It returns "" for other files,
// including disks, /dev/null and most files in /proc.
func deviceReason(p string) string {
	if rest := below(p, "/dev"); rest != "" && endlessDevice(rest) {
		return "this is a device that never ends or waits for input, so reading it would hang; use the terminal tool if you need some of its bytes"
	}
	switch p {
	case "/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/keys":
		return "this file shows the kernel's memory or messages, which file tools must not read"
	}
	rest, ok := processFile(p)
	if !ok {
		return ""
	}
	if within(rest, "fd") && rest != "fd" {
		return "this is an open file descriptor of a process, which may be a terminal or a pipe: name the file itself"
	}
	switch rest {
	case "environ", "mem", "maps", "smaps", "smaps_rollup", "numa_maps", "auxv", "pagemap", "cmdline", "stack", "syscall":
		return "this file can show a process's secrets (environment, arguments or memory), which file tools must not read"
	}
	return ""
}

func endlessDevice(rest string) bool {
	switch rest {
	case "zero", "full", "random", "urandom", "arandom", "hwrng", "stdin", "stdout", "stderr", "console", "ptmx",
		"kmsg", "mem", "kmem", "port", "watchdog", "input", "uinput":
		return true
	}
	for _, dir := range [...]string{"fd", "pts", "input", "snd"} {
		if below(rest, dir) != "" {
			return true
		}
	}
	return strings.HasPrefix(rest, "tty") || strings.HasPrefix(rest, "vcs") || strings.HasPrefix(rest, "hidraw")
}

// processFile returns the part of a path below /proc/<process>[/task/<thread>].
func processFile(p string) (string, bool) {
	rest := below(p, "/proc")
	who, file, _ := strings.Cut(rest, "/")
	if who != "self" && who != "thread-self" && !number(who) {
		return "", false
	}
	if task, ok := strings.CutPrefix(file, "task/"); ok {
		_, file, _ = strings.Cut(task, "/")
	}
	return file, true
}

func number(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
