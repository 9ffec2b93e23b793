//go:build unix

package plugin_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// startChild starts a process that outlives the plugin if no one ends it.
func startChild() string {
	c := exec.Command("sleep", "300")
	if err := c.Start(); err != nil {
		return err.Error()
	}
	return fmt.Sprint(c.Process.Pid)
}

// signalOf returns the signal that ended a program.
func signalOf(e *exec.ExitError) int {
	status, _ := e.Sys().(syscall.WaitStatus)
	return int(status.Signal())
}

// alive reports whether a process runs. One that has ended and that no one has read the status of
// does not.
func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || syscall.Kill(n, 0) != nil {
		return false
	}
	status, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || !strings.Contains(string(status), ") Z ")
}
