package proc

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBelowEndsWhatLeftAndSparesTheSession: what commands left is in sessions of its own, an editor is not.
func TestBelowEndsWhatLeftAndSparesTheSession(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	for _, dies := range []bool{false, true} { // what was held is ended also when its parent has gone
		c := exec.Command("sh", "-c", `sleep 611 & echo $!; setsid sh -c 'trap "" TERM HUP; echo $$; sleep 612 & wait' & wait`)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var pids []int
		for lines := bufio.NewScanner(out); len(pids) < 2 && lines.Scan(); {
			pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		b, err := HoldBelow(c.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if dies {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		if err := b.EndAll(10 * time.Second); err != nil {
			t.Error(err)
		}
		b.Close()
		for i, pid := range pids {
			p, ok := readStat(pid)
			if lives := ok && !p.zombie; lives != (p.session == c.Process.Pid) {
				t.Errorf("process %d, parent dies %v: lives is %v", i, dies, lives)
			}
		}
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		if !dies {
			_ = c.Wait()
		}
	}
}
