//go:build unix

package proc_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"hermes/internal/proc"
)

// asVictim makes the test binary a program that runs commands and is killed.
const asVictim = "PROC_TEST_AS_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) != "" {
		victim()
		return
	}
	os.Exit(m.Run())
}

// victim has one command that runs and one that left something behind; it
// says both ids, and waits.
func victim() {
	var guard proc.Guard
	for _, line := range []string{"true", "sleep 3000 & echo $!", "trap '' TERM; sleep 3000 & echo $!; wait; wait"} {
		var out buffer
		c := sh(line)
		c.Stdout, c.Guard = &out, &guard
		p, err := proc.Start(context.Background(), c)
		if err != nil {
			fmt.Println(err)
			return
		}
		if strings.Contains(line, "wait") { // a foreground command
			for !strings.Contains(out.String(), "\n") {
				if _, err := p.Wait(short()); err == nil {
					return
				}
			}
		} else if _, err := p.Wait(context.Background()); err != nil {
			return
		}
		fmt.Print(out.String())
	}
	fmt.Println("end")
	select {}
}

// short is a context that is over at once.
func short() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestKilledProgramLeavesNoCommandsBehind(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), asVictim+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "end"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("it said %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed, as was meant
	if len(pids) != 2 {
		t.Fatalf("started %v", pids)
	}
	for _, pid := range pids {
		gone(t, pid)
	}
}
