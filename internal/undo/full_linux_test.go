package undo_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/undo"
)

// TestARecordThatDoesNotFitLeavesNothing limits the size of files, as a full disk does. It runs
// alone, since the limit is one of the process.
func TestARecordThatDoesNotFitLeavesNothing(t *testing.T) {
	file, folder := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "undo")
	j := undo.New(folder, clock())
	write(t, file, "one")
	record(t, j, "x", []string{file}, func() { write(t, file, "two") })
	records := filepath.Join(folder, "records.jsonl")
	write(t, records, hold(t, records)+strings.Repeat("\n", 1<<20)) // so that only this file is near the limit
	was := hold(t, records)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(len(was)) + 20, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	err := j.Record(t.Context(), undo.Note{Kind: "memory", What: "y"}, []string{file}, func() error { t.Error("changed without a record"); return nil })
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EFBIG) || hold(t, records) != was {
		t.Errorf("%v, %d bytes became %d", err, len(was), len(hold(t, records)))
	}
}
