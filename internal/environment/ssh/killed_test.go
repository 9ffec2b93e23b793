package ssh_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/ssh"
)

// TestMain is also the program that TestAKilledProgramLeavesNothing kills.
func TestMain(m *testing.M) {
	file, run := os.Getenv("SSH_TEST_FILE"), os.Getenv("SSH_TEST_RUN")
	if file == "" {
		os.Exit(m.Run())
	}
	r, err := ssh.New(ssh.Config{Host: "box", File: file, Run: run, Env: os.Environ()})
	if err == nil {
		_, err = r.Exec(context.Background(), remote.Script{Text: "echo connected", Stdout: os.Stdout})
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
	}
	select {}
}

// TestAKilledProgramLeavesNothing kills a program that has a connection, without a guard: the
// connection ends by itself, and the next program removes the folder of its socket.
func TestAKilledProgramLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := config(t, s, false)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(program)
	killed.Env = []string{"PATH=" + os.Getenv("PATH"), "SSH_TEST_FILE=" + s.Config, "SSH_TEST_RUN=" + c.Run}
	out, err := killed.StdoutPipe()
	if err == nil {
		err = killed.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if line != "connected\n" {
		t.Fatalf("%q, %v", line, err)
	}
	s.Await(t, 0, 30*time.Second)
	if left, _ := filepath.Glob(filepath.Join(c.Run, "ssh-*")); len(left) != 1 {
		t.Fatalf("%q: the killed program has left no folder, so this test proves nothing", left)
	}
	run(t, mustNew(t, c), "true", "")
	if left, _ := filepath.Glob(filepath.Join(c.Run, "ssh-*")); len(left) != 1 {
		t.Errorf("folders %q, want only that of the new connection", left)
	}
}
