package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/audit"
)

// TestMain is also the process that the tests below start: it adds rows until it is killed, and
// prints the number of each that is in the record.
func TestMain(m *testing.M) {
	home := os.Getenv("AUDIT_TEST_HOME")
	if home == "" {
		os.Exit(m.Run())
	}
	size, _ := strconv.ParseInt(os.Getenv("AUDIT_TEST_SIZE"), 10, 64)
	rows, _ := strconv.Atoi(os.Getenv("AUDIT_TEST_ROWS"))
	l := audit.Open(audit.Options{Folder: filepath.Join(home, "audit"), Key: filepath.Join(home, "audit.key"), FileSize: size})
	for i := 0; rows == 0 || i < rows; i++ {
		name := fmt.Sprintf("%d-%d", os.Getpid(), i)
		if err := l.Append(context.Background(), audit.Row{Kind: audit.KindCall, Call: name, Subject: strings.Repeat("s", 300)}); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(name)
	}
}

// TestSeveralProcessesAndKills has processes that add rows at the same time and are killed in
// the middle of it, again and again. Every row that one of them was told is written is there, once.
func TestSeveralProcessesAndKills(t *testing.T) {
	t.Parallel()
	r := newRecord(t, func(o *audit.Options) { o.FileSize = 20_000 })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for round := range 15 {
		type child struct {
			cmd *exec.Cmd
			out *bufio.Scanner
		}
		var children []child
		for range 3 {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), "AUDIT_TEST_HOME="+filepath.Dir(r.folder), "AUDIT_TEST_SIZE=20000")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			children = append(children, child{cmd, bufio.NewScanner(out)})
		}
		for i, c := range children {
			for range 5 + 3*round + 7*i { // then it is killed, wherever it is
				if !c.out.Scan() || strings.HasPrefix(c.out.Text(), "error") {
					t.Fatal(c.out.Text(), c.out.Err())
				}
				want[c.out.Text()] = true
			}
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for c.out.Scan() {
				if name := c.out.Text(); strings.Count(name, "-") == 1 && !strings.HasPrefix(name, "error") {
					want[name] = true
				}
			}
			_ = c.cmd.Wait() // it was killed
		}
		if report := r.verify(); len(report.Problems) > 0 {
			t.Fatalf("round %d: %+v", round, report.Problems)
		}
	}
	r.add(1)
	r.good()
	seen := map[string]int{}
	for _, row := range r.rows(audit.Filter{Kinds: []audit.Kind{audit.KindCall}}) {
		seen[row.Call]++
	}
	lost := 0
	for name := range want {
		if seen[name] != 1 {
			lost++
		}
	}
	// The last line of a killed process may be cut itself, so that its name is of no row.
	if cut := 3 * 15; lost > cut || lost > 0 && lostWhole(want, seen) > 0 {
		t.Errorf("%d of %d rows are missing or doubled", lost, len(want))
	}
}

// lostWhole counts the names that are not in the record and not the beginning of one that is.
func lostWhole(want map[string]bool, seen map[string]int) int {
	lost := 0
	for name := range want {
		found := false
		for row := range seen {
			found = found || strings.HasPrefix(row, name)
		}
		if !found {
			lost++
		}
	}
	return lost
}

// TestATornRowIsClosedAndNoted cuts the last row at each byte, as a kill in the middle of its write
// does: it is not in the head then.
func TestATornRowIsClosedAndNoted(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	r.add(2)
	before, head := r.read("00000001.jsonl"), r.read("head")
	r.add(1)
	after := r.read("00000001.jsonl")
	for n := len(before) + 1; n <= len(after); n++ {
		for _, twice := range []bool{false, true} {
			r.replace("00000001.jsonl", after[:n])
			r.replace("head", head)
			if report := r.verify(); len(report.Problems) > 0 || len(report.Notes) != 1 {
				t.Fatalf("%d bytes of %d: %+v", n-len(before), len(after)-len(before), report)
			}
			other := r.again()
			other.add(1)
			if twice { // the row that closes it is torn, too
				closed := r.read("00000001.jsonl")
				cut := closed[:n+(len(closed)-n)/4]
				r.replace("00000001.jsonl", cut)
				r.replace("head", head)
				other.add(1)
			}
			report := r.verify()
			if whole := n >= len(after)-1; len(report.Problems) > 0 || whole != (len(report.Notes) == 0) && !twice {
				t.Fatalf("%d bytes of %d, twice %v: %+v", n-len(before), len(after)-len(before), twice, report)
			}
			if rows := r.rows(audit.Filter{}); rows[len(rows)-1].Kind != audit.KindCall || rows[2].Kind != audit.KindCall {
				t.Fatalf("%+v", rows)
			}
			_ = other.Close()
		}
	}
}

// FuzzRecord reads and goes on with any bytes in place of the record. Nothing but an untouched record has no problem.
func FuzzRecord(f *testing.F) {
	home := f.TempDir()
	o := audit.Options{Folder: filepath.Join(home, "audit"), Key: filepath.Join(home, "audit.key"), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	if err := os.WriteFile(o.Key, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil { // the same bytes in each process that fuzzes
		f.Fatal(err)
	}
	l := audit.Open(o)
	for range 3 {
		if err := l.Append(f.Context(), audit.Row{Kind: audit.KindCall, Subject: "x"}); err != nil {
			f.Fatal(err)
		}
	}
	_ = l.Close()
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(o.Folder, name))
		if err != nil {
			f.Fatal(err)
		}
		return content
	}
	log, head := read("00000001.jsonl"), read("head")
	f.Add(log, head)
	f.Add(log[:len(log)-1], head)
	f.Add(log[:len(log)/2], head)
	f.Add(append(log[:len(log):len(log)], log...), head)
	f.Add(log, head[:10])
	f.Add([]byte{}, []byte{})
	f.Add([]byte("\n\n"), []byte("hermes-audit 1 "))
	f.Fuzz(func(t *testing.T, file, top []byte) {
		folder := t.TempDir()
		for name, content := range map[string][]byte{"00000001.jsonl": file, "head": top} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := audit.Open(audit.Options{Folder: folder, Key: o.Key})
		defer l.Close()
		report, err := l.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same := string(file) == string(log) && string(top) == string(head)
		if !same && len(report.Problems) == 0 && len(report.Notes) == 0 {
			t.Errorf("not found: %q %q", file, top)
		}
		for range l.Rows(t.Context(), audit.Filter{}) {
		}
		if err := l.Append(t.Context(), audit.Row{Kind: audit.KindCall, Subject: "after"}); err != nil {
			t.Fatal(err)
		}
		rows, _, err := l.Last(t.Context(), audit.Filter{}, 1)
		if err != nil || len(rows) != 1 || rows[0].Subject != "after" {
			t.Errorf("%v, %v", rows, err)
		}
		now, err := l.Verify(t.Context())
		if err != nil || len(report.Problems) > 0 && len(now.Problems) == 0 {
			t.Errorf("hidden by the next row: %+v, then %+v, %v", report, now, err)
		}
	})
}
