package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hermes/hermestest/faultserver"
)

// TestSmallRunFindsNothing runs a small portion of each part. It has a fixed seed, so that
// it fails for a change of the program only.
func TestSmallRunFindsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		if os.Getenv("CI") == "true" && runtime.GOOS != "windows" {
			t.Fatal("no sh on the PATH")
		}
		t.Skip("its commands need a POSIX shell")
	}
	scratch := t.TempDir()
	hermes, err := program(t.Context(), scratch, "")
	if err != nil {
		t.Fatal(err)
	}
	o := options{seed: 7, hermes: hermes, scratch: scratch, parts: []string{"crash", "faults", "disk", "cost"}, small: true, parallel: 4}
	var out bytes.Buffer
	found, err := torture(t.Context(), o, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("%s, %s: %s\n%s", f.part, f.name, f.what, f.replay(o.seed))
	}
	t.Log(out.String())
}

// TestSameSeedSameCases holds what the printed command promises.
func TestSameSeedSameCases(t *testing.T) {
	t.Parallel()
	names := func(seed uint64) []string {
		var list []string
		for _, c := range faultCases(options{seed: seed, small: true}) {
			list = append(list, c.name())
		}
		return list
	}
	if a, b := names(3), names(3); !slices.Equal(a, b) {
		t.Errorf("one seed gives %q and %q", a, b)
	}
	if slices.Equal(names(3), names(4)) {
		t.Error("two seeds give the same cases")
	}
}

// TestEveryFaultIsTried fails if the lists name a fault that the fault server lacks.
func TestEveryFaultIsTried(t *testing.T) {
	t.Parallel()
	faultserver.Named(slices.Concat(otherModel, inContent)...) // panics
	if got, want := len(faultCases(options{long: true})), 4*len(faultserver.All()); got != want {
		t.Errorf("%d cases, want each fault at two places over two protocols: %d", got, want)
	}
}

// TestLawsSeeWhatIsBroken breaks each law by hand.
func TestLawsSeeWhatIsBroken(t *testing.T) {
	t.Parallel()
	user := func(mark string) item { return item{role: "user", text: order(mark, 1), raw: mark} }
	asks := func(ids ...string) item {
		return item{role: "assistant", calls: ids, raw: strings.Join(ids, "")}
	}
	gives := func(id string) item { return item{role: "result", result: id, raw: "result " + id} }
	for _, tt := range []struct {
		name     string
		requests [][]item
		want     string
	}{
		{"all is well", [][]item{{user("A")}, {user("A"), asks("1", "2"), gives("2"), gives("1")}}, ""},
		{"no result", [][]item{{user("A"), asks("1"), user("B")}}, "the call 1 has no result"},
		{"no result at the end", [][]item{{user("A"), asks("1")}}, "the call 1 has no result"},
		{"two results", [][]item{{user("A"), asks("1"), gives("1"), gives("1")}}, "the second one"},
		{"a result without a call", [][]item{{user("A"), gives("1")}}, "has no call"},
		{"a prompt twice", [][]item{{user("A"), user("A")}}, "the prompt A twice"},
		{"a message lost", [][]item{{user("A"), user("B")}, {user("A")}}, "message 2 differs"},
		{"a message changed", [][]item{{user("A")}, {user("B")}}, "message 1 differs"},
	} {
		got := strings.Join(lawsOfRequests(tt.requests), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
