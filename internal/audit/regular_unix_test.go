//go:build unix

package audit_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/audit"
)

// within fails the test if a call does not return soon: a named pipe would be waited for without end.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }() // ends with the test program if it hangs
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what + " hangs")
	}
}

// TestNothingWaitsForAPipeInTheFolder puts named pipes, links, folders and sockets in the place of the files of
// the record: each reader and writer ends, and says which file it is.
func TestNothingWaitsForAPipeInTheFolder(t *testing.T) {
	t.Parallel()
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for kind, make := range map[string]func(path string) error{
		"a named pipe": pipe,
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a link": func(path string) error {
			if err := os.WriteFile(path+".real", nil, 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		},
		"a link to a pipe": func(path string) error {
			if err := pipe(path + ".real"); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		},
	} {
		for _, name := range []string{"00000001.jsonl", "00000003.jsonl", "00000004.jsonl", "head", "lock"} {
			for _, open := range []bool{false, true} {
				r := small(t)
				if open {
					r.add(1)
				}
				_ = os.Remove(r.file(name))
				if err := make(r.file(name)); err != nil {
					t.Fatal(err)
				}
				if !open {
					r = r.again()
				}
				within(t, kind+" as "+name, func() {
					report, err := r.Verify(t.Context())
					if err != nil || len(report.Problems) == 0 || report.Problems[0].File != name || !strings.Contains(report.Problems[0].What, "not a regular file") {
						t.Errorf("%s as %s: %+v, %v", kind, name, report, err)
					}
					record := strings.HasSuffix(name, ".jsonl")
					_, _, err = r.Last(t.Context(), audit.Filter{}, 1000)
					if (err != nil) != record || err != nil && !strings.Contains(err.Error(), name) {
						t.Errorf("%s as %s: list says %v", kind, name, err)
					}
					for _, err := range r.Rows(t.Context(), audit.Filter{}) {
						if err != nil && !strings.Contains(err.Error(), name) {
							t.Errorf("%s as %s: export says %v", kind, name, err)
						}
					}
					if _, _, err := r.Head(t.Context()); (err != nil) != (name == "head") {
						t.Errorf("%s as %s: head says %v", kind, name, err)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					err = r.Append(ctx, audit.Row{Kind: audit.KindCall})
					inTheWay := name != "00000001.jsonl" && (name != "00000004.jsonl" || !open)
					if inTheWay && (err == nil || !strings.Contains(err.Error(), name)) {
						t.Errorf("%s as %s: a row was added: %v", kind, name, err)
					}
				})
			}
		}
	}
}

// TestALinkIsNotWrittenThrough: the file that a new file of the record begins as is no way to other files.
func TestALinkIsNotWrittenThrough(t *testing.T) {
	t.Parallel()
	r := small(t)
	other := r.file("other.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, r.file("next.tmp")); err != nil {
		t.Fatal(err)
	}
	r.add(5)
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAFolderThatIsRemovedIsMadeAgain while the record is open.
func TestAFolderThatIsRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	r.add(3)
	if err := os.RemoveAll(r.folder); err != nil {
		t.Fatal(err)
	}
	r.add(1)
	other := r.again()
	other.add(1)
	r.add(1)
	if report := r.verify(); len(report.Problems) != 1 || !strings.Contains(report.Problems[0].What, "there was a key, but no record") {
		t.Errorf("%+v", report)
	}
}
