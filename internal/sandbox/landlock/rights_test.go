package landlock_test

import (
	"testing"

	"hermes/internal/sandbox/landlock"
)

func TestTableSaysWhatStandsIn(t *testing.T) {
	held := -1
	for abi := range 11 {
		count := 0
		for _, row := range landlock.Table(abi) {
			if row.Held {
				count++
			}
			if row.Held != (row.Instead == "") {
				t.Errorf("ABI %d: %+v", abi, row)
			}
		}
		if count < held {
			t.Errorf("ABI %d holds %d rights, less than the one before", abi, count)
		}
		held = count
	}
	if lacks := landlock.Lacks(9); len(lacks) != 0 {
		t.Errorf("ABI 9 lacks %v", lacks)
	}
	if lacks := landlock.Lacks(0); len(lacks) != len(landlock.Table(0)) {
		t.Errorf("no Landlock lacks only %v", lacks)
	}
}
