package file_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// accessOfOthers is an access list that lets one more user read.
var accessOfOthers = []byte{2, 0, 0, 0,
	1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 4, 0, 0x39, 0x30, 0, 0, 4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	0x10, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}

// TestWhatIsNotedWithAFileStays: a change puts a new file in the place of the old one.
func TestWhatIsNotedWithAFileStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world) (tool string, a args, at string){
		"write_file": func(*world) (string, args, string) { return "write_file", args{"path": "f", "content": "two\n"}, "f" },
		"patch": func(*world) (string, args, string) {
			return "patch", args{"path": "f", "old_string": "one", "new_string": "two"}, "f"
		},
		"V4A": func(*world) (string, args, string) { return "patch", whole("*** Update File: f\n-one\n+two\n"), "f" },
		"moved": func(*world) (string, args, string) {
			return "patch", whole("*** Update File: f\n*** Move to: g\n-one\n+two\n"), "g"
		},
		"across": func(w *world) (string, args, string) {
			w.env.across = true
			return "patch", whole("*** Update File: f\n*** Move to: g\n-one\n+two\n"), "g"
		},
		"undone": func(w *world) (string, args, string) {
			w.put("last", "x\n")
			w.env.fail = func(path string) error {
				if filepath.Base(path) == "last" {
					return errBroken
				}
				return nil
			}
			return "patch", whole("*** Update File: f\n-one\n+two\n*** Delete File: last\n"), "f"
		},
		"deletion undone": func(w *world) (string, args, string) {
			w.put("last", "x\n")
			w.env.fail = func(path string) error {
				if filepath.Base(path) == "last" {
					return errBroken
				}
				return nil
			}
			return "patch", whole("*** Delete File: f\n*** Delete File: last\n"), "f"
		},
	} {
		w := newWorld(t)
		path := w.put("f", "one\n")
		if err := unix.Setxattr(path, "user.note", []byte("mine"), 0); errors.Is(err, syscall.ENOTSUP) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		listed := unix.Setxattr(path, "system.posix_acl_access", accessOfOthers, 0) == nil
		w.ok("read_file", args{"path": "f"})
		tool, a, at := change(w)
		if strings.Contains(name, "undone") {
			w.refused(tool, a, "every file is as it was before")
		} else if got := w.ok(tool, a); got["_warning"] != nil || w.has(at) != "two\n" {
			t.Errorf("%s: %v, %q", name, got, w.has(at))
		}
		value := make([]byte, 100)
		if n, err := unix.Getxattr(w.path(at), "user.note", value); err != nil || string(value[:n]) != "mine" {
			t.Errorf("%s: the note is %q, %v", name, value[:max(n, 0)], err)
		}
		if n, err := unix.Getxattr(w.path(at), "system.posix_acl_access", value); listed && (err != nil || !bytes.Equal(value[:n], accessOfOthers)) {
			t.Errorf("%s: the access list is %v, %v", name, value[:max(n, 0)], err)
		}
	}
}
