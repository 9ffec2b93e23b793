package ssh_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/sshdtest"
)

// BenchmarkCommand measures a command beside the plain program over its own shared
// connection: one of each in turn, so that all see the same load. The metrics are the median
// times, and how many times the plain one they are.
func BenchmarkCommand(b *testing.B) {
	s := newServer(b)
	plain := plainSSH(b, s)
	program, library := mustNew(b, config(b, s, false)), mustNew(b, config(b, s, true))
	ways := []struct {
		name string
		run  func() error
	}{
		{"plain", plain},
		{"program", func() error { _, err := program.Exec(b.Context(), remote.Script{Text: "true"}); return err }},
		{"library", func() error { _, err := library.Exec(b.Context(), remote.Script{Text: "true"}); return err }},
	}
	for _, w := range ways {
		if err := w.run(); err != nil {
			b.Fatalf("%s: %v", w.name, err)
		}
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for i, w := range ways {
			begin := time.Now()
			if err := w.run(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], float64(time.Since(begin).Microseconds())/1000)
		}
	}
	for i, w := range ways {
		slices.Sort(times[i])
		median := times[i][len(times[i])/2]
		b.ReportMetric(median, w.name+"-ms")
		if i > 0 {
			b.ReportMetric(median/times[0][len(times[0])/2], w.name+"/plain")
		}
	}
}

// plainSSH starts a shared connection of the program itself, and returns what runs a command
// over it.
func plainSSH(b *testing.B, s *sshdtest.Server) func() error {
	b.Helper()
	socket := filepath.Join(s.Dir, "plain")
	master := exec.Command("ssh", "-F", s.Config, "-o", "ControlMaster=yes", "-o", "ControlPath="+socket, "box", "cat")
	master.Env = sshdtest.Env
	in, err := master.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := master.StdoutPipe()
	if err == nil {
		err = master.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = master.Wait()
	})
	if _, err := in.Write([]byte("x")); err != nil {
		b.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is connected
		b.Fatal(err)
	}
	return func() error {
		c := exec.Command("ssh", "-F", s.Config, "-o", "ControlPath="+socket, "box", "true")
		c.Env = sshdtest.Env
		return c.Run()
	}
}
