package ssh_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/environment/remote"
)

// TestACommandStartsNoProgramHere: the master of the connection opens its session, which is what
// makes it fast.
func TestACommandStartsNoProgramHere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := config(t, s, false)
	r := mustNew(t, c)
	var counts []int
	for range 3 {
		out := &programs{run: c.Run}
		if code, err := r.Exec(t.Context(), remote.Script{Text: "echo running", Stdout: out}); err != nil || code != 0 {
			t.Fatalf("%d, %v", code, err)
		}
		counts = append(counts, out.most)
	}
	for _, n := range counts {
		if n != 1 {
			t.Errorf("%v programs ran during the commands; want the master alone", counts)
			break
		}
	}
}

// programs counts the programs that use a folder for sockets whenever it is written to.
type programs struct {
	run  string
	most int
}

func (p *programs) Write(b []byte) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		name, _, _ := bytes.Cut(line, []byte{0})
		if err == nil && filepath.Base(string(name)) == "ssh" && bytes.Contains(line, []byte("ControlPath="+p.run)) {
			n++
		}
	}
	p.most = max(p.most, n)
	return len(b), nil
}

// TestVariablesThatTheUserSends reach commands, and no others.
func TestVariablesThatTheUserSends(t *testing.T) {
	t.Parallel()
	s := newServer(t, "AcceptEnv LC_*")
	c := config(t, s, false)
	own, err := os.ReadFile(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	c.File = filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(c.File, append([]byte("SendEnv LC_SENT\n"), own...), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append([]string{"LC_SENT=yes", "LC_KEPT=no"}, c.Env...)
	r := mustNew(t, c)
	var out bytes.Buffer
	code, err := r.Exec(t.Context(), remote.Script{Text: `echo "$LC_SENT,$LC_KEPT."`, Stdout: &out})
	if err != nil || code != 0 || strings.TrimSpace(out.String()) != "yes,." {
		t.Errorf("%d, %v: %q", code, err, out.String())
	}
}
