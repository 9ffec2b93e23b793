package setup

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestWhyNothingCanBeStored covers disks that a test cannot create.
func TestWhyNothingCanBeStored(t *testing.T) {
	t.Parallel()
	for err, want := range map[error][2]string{
		syscall.ENOSPC: {"the disk is full", "Free space"},
		syscall.EROFS:  {"the disk is read-only", "HERMES_HOME"},
		syscall.EACCES: {"permission denied", "ls -ld /h"},
	} {
		got := unwritable("/h cannot be written", "/h", &fs.PathError{Op: "open", Path: "/h/x", Err: err})
		if got.Verdict != Fail || !strings.Contains(got.Text, want[0]) || !strings.Contains(got.Do, want[1]) || strings.Contains(got.Text, "open") {
			t.Errorf("%v: got %+v", err, got)
		}
	}
}
