package proc

import "testing"

func TestAProcessIsAZombieOnlyWithoutThreads(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]process{
		"7 (a) b) S 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9": {pid: 7, parent: 3, pgrp: 4, session: 5},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5, zombie: true},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 2 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5},
	} {
		if got, ok := parseStat(7, []byte(line)); !ok || got != want {
			t.Errorf("%s: got %+v, %t", line, got, ok)
		}
	}
	if _, ok := parseStat(7, []byte("7 (a) Z 3 4")); ok {
		t.Error("a line that was cut counts")
	}
}
