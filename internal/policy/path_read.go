package policy

import "strings"

func (r PathRules) read(p string) PathVerdict {
	if reason := deviceReason(p); reason != "" {
		return deny("device", "%s", reason)
	}
	for _, at := range r.places(p) {
		row, ok := first(at.anchor, at.names)
		// The names of the files in a folder are not secret.
		if ok && row.Kind.Read == Denied && !(row.tree && len(at.names) == len(row.segments)) {
			return deny("secret-file", "this file holds credentials, which are not shown: work without its content, or ask the user for the one value you need")
		}
	}
	return PathVerdict{}
}

func (r PathRules) secret(p string) bool {
	if _, access := r.strictestKind(p, func(k Kind, _ place) Access { return k.Read }); access > Free {
		return true
	}
	for _, at := range r.places(p) {
		least := Denied
		switch {
		case at.anchor == AtRoot && len(at.names) > 0 && at.names[0] != "":
			least = Local
		case at.anchor != AtHome:
			continue
		}
		if _, ok := above(at.anchor, at.names, func(row rule) bool { return row.Kind.Read >= least }); ok {
			return true
		}
	}
	return processSecret(p) || r.Home != "" && within(canonical(r.Home), p) || r.RealHome != "" && within(canonical(r.RealHome), p)
}

// ofHermes reports whether a row of the table for Hermes' home names the path, other than the one
// for all the rest.
func (r PathRules) ofHermes(p string) bool {
	for _, at := range r.places(p) {
		if at.anchor != AtState || at.maybe {
			continue
		}
		names := at.names
		if len(names) > 2 && names[0] == "profiles" {
			names = names[2:]
		}
		if len(names) == 1 && copyOfSecret(names[0]) {
			return true
		}
		if row, ok := first(AtState, names); ok && row.Kind != free && row.segments[0].text != "**" {
			return true
		}
	}
	return false
}

// copyOfSecret reports whether a name is that of a file with keys or settings, or of a copy that a user,
// an editor or a crash left beside it: .env.bak, .auth.json.ABC.tmp, #.env#.
func copyOfSecret(name string) bool {
	base := strings.TrimLeft(name, "#.")
	if rest, ok := strings.CutPrefix(base, "env"); ok && base != name && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
		return true
	}
	for _, of := range [...]string{"auth.json", "audit.key", "anthropic_oauth.json", "config.yaml", "permissions.yaml"} {
		if strings.HasPrefix(base, of) {
			return true
		}
	}
	return false
}

// deviceReason says why a special file must not be read: it never ends, waits
// for input, or shows another process's secrets. It returns "" for other files,
// including disks, /dev/null and most files in /proc.
func deviceReason(p string) string {
	if rest, ok := strings.CutPrefix(p, "/dev/"); ok && endlessDevice(rest) {
		return "this is a device that never ends or waits for input, so reading it would hang; use the terminal tool if you need some of its bytes"
	}
	switch p {
	case "/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/keys":
		return "this file shows the kernel's memory or messages, which file tools must not read"
	}
	if rest, _ := processFile(p); strings.HasPrefix(rest, "fd/") {
		return "this is an open file descriptor of a process, which may be a terminal or a pipe: name the file itself"
	}
	if processSecret(p) {
		return "this file can show a process's secrets (environment, arguments or memory), which file tools must not read"
	}
	return ""
}

// processSecret reports whether a file in /proc shows the environment, the
// arguments or the memory of a process.
func processSecret(p string) bool {
	rest, _ := processFile(p)
	switch rest {
	case "environ", "mem", "maps", "smaps", "smaps_rollup", "numa_maps", "auxv", "pagemap", "cmdline", "stack", "syscall":
		return true
	}
	return false
}

func endlessDevice(rest string) bool {
	switch rest {
	case "zero", "full", "random", "urandom", "arandom", "hwrng", "stdin", "stdout", "stderr", "console", "ptmx",
		"kmsg", "mem", "kmem", "port", "watchdog", "input", "uinput":
		return true
	}
	for _, dir := range [...]string{"fd/", "pts/", "input/", "snd/"} {
		if strings.HasPrefix(rest, dir) {
			return true
		}
	}
	return strings.HasPrefix(rest, "tty") || strings.HasPrefix(rest, "vcs") || strings.HasPrefix(rest, "hidraw")
}

// processFile returns the part of a path below /proc/<process>[/task/<thread>].
// A name that is not a number may be one that a shell puts in at run time.
func processFile(p string) (string, bool) {
	rest, ok := strings.CutPrefix(p, "/proc/")
	who, file, _ := strings.Cut(rest, "/")
	if !ok || file == "" || who == "sys" || who == "tty" || who == "bus" || who == "fs" {
		return "", false
	}
	if task, ok := strings.CutPrefix(file, "task/"); ok {
		_, file, _ = strings.Cut(task, "/")
	}
	return file, true
}
