package lineage

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test binary a program that prints what it knows of the agents
// above it, if its name is looker, and one that prints its id and waits, if it is waiter.
func TestMain(m *testing.M) {
	if strings.HasSuffix(os.Args[0], "looker") {
		top, _ := strconv.Atoi(os.Args[1]) // 0 is no number
		a := Probe{Getenv: os.Getenv, Top: top}.Look()
		fmt.Println(strings.Join(a.Signs, "; "))
		fmt.Println(strings.Join(a.Homes, "; "))
		os.Exit(0)
	}
	if strings.HasSuffix(os.Args[0], "waiter") {
		fmt.Println(os.Getpid())
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// looker runs a line of bash in which $0 is that program, and returns its output.
func looker(t *testing.T, line string, m *Mark, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/looker"
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", line, link, strconv.Itoa(os.Getpid()))
	c.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	c.ExtraFiles = m.Files()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatal(err, out.String())
	}
	return out.String()
}

func mustMark(t *testing.T, home string) *Mark {
	t.Helper()
	m, err := NewMark(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestMarkIsInherited(t *testing.T) {
	t.Parallel()
	m := mustMark(t, "/home/ann/.hermes")
	none := (*Mark)(nil)
	const found = "an inherited file\n/home/ann/.hermes\n"
	for _, tt := range []struct {
		line string
		mark *Mark
		env  []string
		want string
	}{
		{`"$0" $1`, none, nil, "\n\n"},
		{`"$0" $1`, m, nil, found},
		{`env -i "$0" $1`, m, nil, found},
		{`setsid -w nohup "$0" $1`, m, nil, found},
		{`sh -c '"$0" $1' "$0" $1`, m, nil, found},
		{`exec 5>&47 47>&-; "$0" $1`, m, nil, found},
		{`exec 47>&-; "$0" $1`, m, nil, "\n\n"},
		{`exec 47>&-; "$0" $1`, m, m.Environ(), "the variable HERMES_STARTED_BY_AGENT\n/home/ann/.hermes\n"},
		{`"$0" $1`, m, []string{"HERMES_STARTED_BY_AGENT=/x"}, "an inherited file; the variable HERMES_STARTED_BY_AGENT\n/home/ann/.hermes; /x\n"},
		{`exec 47<"$0"; "$0" $1`, none, nil, "\n\n"},
		{`printf 'This process was started by an agent of Hermes.\nhome /x\n' >"$0.txt"; exec 47<"$0.txt"; "$0" $1`, none, nil, "\n\n"},
	} {
		if d := cmp.Diff(tt.want, looker(t, tt.line, tt.mark, tt.env...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, d)
		}
	}
}

func TestMarkCannotBeChanged(t *testing.T) {
	t.Parallel()
	m := mustMark(t, "/home/ann/.hermes")
	line := `(echo x >&47; echo x 1<>/proc/self/fd/47; echo x >/proc/self/fd/47; : >/proc/self/fd/47; truncate -s 0 /proc/self/fd/47) 2>/dev/null; "$0" $1`
	if got := looker(t, line, m); got != "an inherited file\n/home/ann/.hermes\n" {
		t.Errorf("got %s", got)
	}
}

// TestOwnMarkIsNoSign: an agent does not take itself for its child.
func TestOwnMarkIsNoSign(t *testing.T) {
	t.Parallel()
	mustMark(t, "/home/own/.hermes")
	if slices.Contains(inherited(), mark{home: "/home/own/.hermes"}) {
		t.Error("an agent found its own mark")
	}
}

// TestAgentSaysWhichHomeItUses reads the marks that another process has open.
func TestAgentSaysWhichHomeItUses(t *testing.T) {
	t.Parallel()
	mustMark(t, "/home/ann/.hermes")
	if got := (node{pid: os.Getpid()}).homes(); !slices.Contains(got, "/home/ann/.hermes") {
		t.Errorf("got %v", got)
	}
}

func TestStatIsRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]node{
		"7 (sh) S 3 7 7 0 -1":              {parent: 3, name: "sh"},
		"7 (hermes-agent) R 1 7":           {parent: 1, name: "hermes-agent"},
		"7 (a) S 1 (hermes-agent) S 3 7 7": {parent: 3, name: "a) S 1 (hermes-agent"},
		"7 (tmux: server) S 1 7":           {parent: 1, name: "tmux: server"},
	} {
		if got, ok := parseStat([]byte(raw)); !ok || got != want {
			t.Errorf("%s: got %+v, %v", raw, got, ok)
		}
	}
	for _, raw := range []string{"", "7", "7 (sh", "7 (sh)", "7 (sh) S", "7 (sh) S x", ") 7 ("} {
		if got, ok := parseStat([]byte(raw)); ok {
			t.Errorf("%q: got %+v", raw, got)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	p := Probe{Getenv: os.Getenv}
	for b.Loop() {
		p.Look()
	}
}

func BenchmarkNewMark(b *testing.B) {
	for b.Loop() {
		m, err := NewMark("/home/ann/.hermes")
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}
