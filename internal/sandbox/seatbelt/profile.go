// Package seatbelt confines programs on macOS with the system's own sandbox: it writes
// a profile for a policy and starts programs through /usr/bin/sandbox-exec.
//
// Nothing of it ever ran: see docs/platform-notes.md. The profile is plain text and is
// made and tested on every system; launch_darwin.go starts programs. In a profile the
// last rule that matches decides, so protected and hidden paths are denied at the end.
// Start reading at Profile.
package seatbelt

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/sandbox"
)

// Options complete a policy.
type Options struct {
	// ProxyPort is the port on this machine's loopback that programs may connect to; 0
	// is none. It counts only for a policy with a proxy.
	ProxyPort uint16
}

// fixed begins every profile. What is not allowed is denied: among others Apple events,
// launchd and its services but one, the keychain, Unix sockets, hard links, and a look
// at processes of others.
const fixed = `(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
(allow ipc-posix-sem)
(allow sysctl-read
  (sysctl-name "hw.activecpu") (sysctl-name "hw.byteorder") (sysctl-name "hw.cachelinesize") (sysctl-name "hw.cputype")
  (sysctl-name "hw.logicalcpu") (sysctl-name "hw.logicalcpu_max") (sysctl-name "hw.machine") (sysctl-name "hw.memsize")
  (sysctl-name "hw.model") (sysctl-name "hw.ncpu") (sysctl-name "hw.pagesize") (sysctl-name "hw.physicalcpu") (sysctl-name "hw.physicalcpu_max")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease") (sysctl-name "kern.ostype") (sysctl-name "kern.osversion") (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype") (sysctl-name "vm.loadavg"))
(allow file-read* file-map-executable process-exec*
  (subpath "/System/Library") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/Library/Apple")
  (subpath "/usr/lib") (subpath "/usr/share") (subpath "/private/var/db/dyld"))
(allow file-read* (literal "/"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
`

// refused is denied again at the end, so that no path of a policy opens it.
const refused = `(deny network-outbound (remote unix-socket))
(deny appleevent-send)
(deny job-creation)
(deny lsopen)
(deny mach-lookup
  (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc") (global-name "com.apple.securityd.general")
  (global-name "com.apple.coreservices.appleevents") (global-name "com.apple.pasteboard.1"))
`

// Profile returns the profile of a policy. It fails for a path that cannot be written
// in one: a relative path, or one with a control character. The layer of the policy,
// Nested and PrivateHome's place have no meaning here: nothing is mounted.
func Profile(p sandbox.Policy, o Options) (string, error) {
	w := &writer{}
	w.text.WriteString(fixed)
	write := slices.Concat(p.Write, present(p.Temp, p.PrivateHome))
	w.rule("(allow file-read-metadata", "literal", above("/", slices.Concat(p.Read, write, p.Devices)...))
	w.rule("(allow file-read* file-map-executable process-exec*", "subpath", p.Read)
	w.rule("(allow file-read* file-write* file-map-executable process-exec*", "subpath", write)
	w.rule("(allow file-read* file-write-data file-ioctl", "literal", p.Devices)
	if p.Network == sandbox.Proxied && o.ProxyPort != 0 {
		fmt.Fprintf(&w.text, "(allow network-outbound (remote tcp \"localhost:%d\"))\n", o.ProxyPort)
	}
	hidden := p.Hidden
	if p.Home != "" {
		hidden = append(slices.Clone(hidden), path.Join(p.Home, "Library/Keychains"))
	}
	w.rule("(deny file-write*", "subpath", p.Protected)
	w.rule("(deny file-read* file-write* file-map-executable process-exec*", "subpath", hidden)
	// A folder that is moved away takes what is protected in it along.
	for _, root := range write {
		w.rule("(deny file-write-unlink", "literal", above(root, slices.Concat(p.Protected, hidden)...))
	}
	w.text.WriteString(refused)
	return w.text.String(), w.err
}

// present drops empty paths.
func present(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" })
}

// above lists the folders above some paths that are in a folder, which it includes.
func above(root string, paths ...string) []string {
	var list []string
	for _, p := range paths {
		for dir := path.Dir(p); within(root, dir); dir = path.Dir(dir) {
			list = append(list, dir)
			if dir == path.Dir(dir) {
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func within(root, p string) bool {
	return p == root || strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/")
}

// writer writes rules, and keeps the first error.
type writer struct {
	text strings.Builder
	err  error
}

// rule writes a rule with one filter for each path, and nothing without a path: a rule
// without a filter would be about everything.
func (w *writer) rule(begin, filter string, paths []string) {
	if len(paths) == 0 {
		return
	}
	w.text.WriteString(begin)
	for _, p := range paths {
		quoted, err := quote(p)
		if err != nil {
			if w.err == nil {
				w.err = err
			}
			return
		}
		w.text.WriteString("\n  (" + filter + " " + quoted + ")")
	}
	w.text.WriteString(")\n")
}

// quote writes an absolute path as a string of the profile.
func quote(p string) (string, error) {
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		return "", fmt.Errorf("%q is not an absolute, cleaned path", p)
	}
	if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q has characters that no sandbox profile can name; rename the file or folder", p)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`, nil
}
