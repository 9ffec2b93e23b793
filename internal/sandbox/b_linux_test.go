package sandbox_test

import (
	"fmt"
	"os"
	"testing"
)

func TestB(t *testing.T) {
	k := mustStart(t, policyB(t))
	out, _ := sh(t, k, fmt.Sprintf("cat /proc/%d/environ | wc -c; cat /proc/%d/maps | wc -c; ls -l /proc/%d/fd | wc -l; cat /proc/%[1]d/task/*/environ | wc -c", os.Getpid(), os.Getpid(), os.Getpid()))
	t.Log(out)
}
