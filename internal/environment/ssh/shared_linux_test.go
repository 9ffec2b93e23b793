package ssh_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
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

// hangsUp is an ssh whose first master says hello to each session and then hangs up. It ends half
// a second after the first of them.
const hangsUp = `#!/usr/bin/env python3
import os, socket, struct, subprocess, sys, time
real, mark, args = "%s", "%s", sys.argv[1:]
if "ControlMaster=yes" not in args or os.path.exists(mark):
    os.execv(real, ["ssh"] + args)
open(mark, "w").close()
l = socket.socket(socket.AF_UNIX)
l.bind([a for a in args if a.startswith("ControlPath=")][0].split("=", 1)[1])
l.listen()
lead = subprocess.Popen(["sh", "-c", args[-1]])
try:
    while True:
        c, _ = l.accept()
        l.settimeout(0.5)
        c.sendall(struct.pack(">III", 8, 1, 4))
        time.sleep(0.05)
        c.close()
        with open(mark, "a") as f:
            f.write("x")
except TimeoutError:
    lead.kill()
    sys.exit(255)
`

// TestTheNextSessionDoesNotFindAMasterThatHungUp although that takes a moment to end.
func TestTheNextSessionDoesNotFindAMasterThatHungUp(t *testing.T) {
	s := newServer(t)
	real, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mark := filepath.Join(dir, "sessions")
	if err := os.WriteFile(filepath.Join(dir, "ssh"), fmt.Appendf(nil, hangsUp, real, mark), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	e := mustEnvironment(t, config(t, s, false))
	defer e.Close()
	var out bytes.Buffer
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "echo here", Stdout: &out}); err != nil || out.String() != "here\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if met, err := os.ReadFile(mark); err != nil || string(met) != "x" {
		t.Errorf("it was met %d times, %v; want once", len(met), err)
	}
}
