package environment_test

import (
	"os"
	"strings"
	"testing"

	"hermes/internal/environment"
)

// A command may leave anything at a path that it can write. What it is handed is not at
// a path, so that it cannot make the program read or write another file.
func TestTheStateOfAShellHasNoPath(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	l := mustLocal(t, environment.LocalConfig{Temp: temp, Env: []string{"PATH=" + os.Getenv("PATH")}})
	output(t, l, "export KEPT=yes; cd /")
	if got := output(t, l, "echo $KEPT; pwd"); got != "yes\n/" {
		t.Errorf("kept %q", got)
	}
	if got := output(t, l, "X="+strings.Repeat("x", 200<<10)+"; echo ${#X}"); got != "204800" {
		t.Errorf("a long line set a variable of %s characters", got)
	}
	if list, err := os.ReadDir(temp); err != nil || len(list) > 0 {
		t.Errorf("files are left: %v, %v", list, err)
	}
}
