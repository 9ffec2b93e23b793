package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestOrphanIsOneThatIsThereForLong(t *testing.T) {
	t.Parallel()
	seen := orphans{}
	for n := 1; n < looks; n++ {
		if left := seen.look([]int{7, 8 + n}); len(left) > 0 { // 8+n is each time another
			t.Fatalf("look %d: %v", n, left)
		}
	}
	if left := seen.look([]int{7, 9}); !slices.Equal(left, []int{7}) {
		t.Errorf("got %v", left)
	}
	seen.look([]int{5})
	seen.look(nil) // 5 was collected, and its id is used again
	for range looks - 1 {
		if left := seen.look([]int{5}); len(left) > 0 {
			t.Errorf("a new process was taken for an old one: %v", left)
		}
	}
}

// TestOrphansAreAdoptedAndCollected runs in a process of its own, since it changes
// whose children others are.
func TestOrphansAreAdoptedAndCollected(t *testing.T) {
	const inside = "PROC_TEST_ADOPTS"
	if os.Getenv(inside) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOrphansAreAdoptedAndCollected$")
		c.Env = append(os.Environ(), inside+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	stop := adopt(100 * time.Millisecond)
	defer stop()
	// The orphan ends when its input does. The shell that started it has ended.
	c := exec.Command("sh", "-c", "exec 3<&0; { read end <&3; } & echo $!")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Process.Wait(); err != nil { // c.Wait would close the input
		t.Fatal(err)
	}
	if p, ok := readStat(pid); !ok || p.parent != os.Getpid() {
		t.Fatalf("the orphan: %+v, %v; this process is %d", p, ok, os.Getpid())
	}
	fmt.Fprintln(in, "end")
	for range 6000 {
		if _, ok := readStat(pid); !ok {
			break
		}
		// Commands of this process that end meanwhile keep their status.
		if err := exec.Command("sh", "-c", "exit 3").Run(); err == nil || err.Error() != "exit status 3" {
			t.Fatalf("a command ended with %v", err)
		}
	}
	if p, ok := readStat(pid); ok {
		t.Errorf("the orphan was not collected: %+v", p)
	}
	stop()
	stop()
	on := int32(-1)
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0); err != nil || on != 0 {
		t.Errorf("the adoption did not end: %d, %v", on, err)
	}
}

// TestOrphansAreCollectedAtOnce: whatever ends is gone before it is looked at twice, and
// commands keep their status, also those that are waited for late.
func TestOrphansAreCollectedAtOnce(t *testing.T) {
	const inside = "PROC_TEST_COLLECTS"
	if os.Getenv(inside) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOrphansAreCollectedAtOnce$")
		c.Env = append(os.Environ(), inside+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	stop := AdoptOrphans()
	defer stop()
	late := exec.Command("sh", "-c", "exit 5")
	late.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := own.start(late, late.Start); err != nil {
		t.Fatal(err)
	}
	// One in the session of a command, and one that leads its own.
	p, err := Start(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "(sh -c 'exit 1' & setsid sh -c 'exit 1' & exit) & exit 3"}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	status, err := p.Wait(t.Context())
	p.Close()
	if err != nil || status.Code != 3 {
		t.Errorf("a command ended with %+v, %v", status, err)
	}
	left := func() []process {
		return slices.DeleteFunc(endedChildren(), func(p process) bool { return p.pid == late.Process.Pid })
	}
	for deadline := time.Now().Add(between / 2); len(left()) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if left := left(); len(left) > 0 {
		t.Errorf("not collected: %+v", left)
	}
	if err := late.Wait(); err == nil || err.Error() != "exit status 5" {
		t.Errorf("a command that is waited for late ended with %v", err)
	}
	own.drop(late.Process.Pid)
	if len(own.pids) > 0 {
		t.Errorf("still known: %v", own.pids)
	}
}
