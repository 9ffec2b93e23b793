package lineage

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// table makes a process table from names, init first; the last is this process.
// Names that begin with ! are agents.
func table(names string) (self int, look func(int) (node, error)) {
	var all []node
	for _, name := range strings.Split(names, " < ") {
		agent := strings.HasPrefix(name, "!")
		all = append(all, node{pid: len(all) + 1, parent: len(all), name: strings.TrimPrefix(name, "!"), agent: agent})
	}
	return len(all), func(pid int) (node, error) {
		if pid < 1 || pid > len(all) {
			return node{}, fs.ErrNotExist
		}
		return all[pid-1], nil
	}
}

func TestAgentIsFoundHoweverFarAbove(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"systemd < sshd < bash < !hermes-agent < bash < hermes":                    "hermes-agent (4)",
		"systemd < gnome-terminal < zsh < !hermes-agent < sh < make < sh < hermes": "hermes-agent (4)",
		"!hermes-agent < hermes":                                             "hermes-agent (1)",
		"init < !hermes-agent < bash < !hermes-agent < hermes":               "hermes-agent (4), hermes-agent (2)",
		"init < !hermes-agent < sudo < bash < hermes":                        "hermes-agent (2)",
		"init < !hermes-agent" + strings.Repeat(" < sh", 5000) + " < hermes": "hermes-agent (2)",
		"init < !hermes-agent < tmux: server < bash < hermes":                "hermes-agent (2)",
		"systemd < sshd < sshd < bash < hermes":                              "",
		"systemd < systemd < tmux: server < bash < hermes":                   "",
		"systemd < cron < cron < sh < hermes":                                "",
		"systemd < node < Runner.Listener < Runner.Worker < bash < hermes":   "",
		"systemd < code < code < code < bash < hermes":                       "",
		"systemd < bash < vim < bash < hermes":                               "",
		"systemd < bash < hermes < vim < bash < hermes":                      "",
		"systemd < bash < !hermes-agent":                                     "",
		"hermes":                                                             "",
	} {
		self, look := table(names)
		agents, err := climb(self, 0, look)
		var got []string
		for _, n := range agents {
			got = append(got, n.String())
		}
		if strings.Join(got, ", ") != want || err != nil {
			t.Errorf("%.80s: got %v, %v, want %q", names, got, err, want)
		}
	}
}

func TestWayUpEndsAtTheTop(t *testing.T) {
	t.Parallel()
	self, look := table("init < !hermes-agent < test < !hermes-agent < hermes")
	if agents, err := climb(self, 3, look); len(agents) != 1 || err != nil {
		t.Errorf("got %v, %v", agents, err)
	}
}

// TestHiddenParentEndsTheWay is a system that shows a user only its own processes.
func TestHiddenParentEndsTheWay(t *testing.T) {
	t.Parallel()
	self, look := table("systemd < sshd < !hermes-agent < hermes")
	for _, why := range []error{fs.ErrNotExist, fs.ErrPermission} {
		agents, err := climb(self, 0, func(pid int) (node, error) {
			if pid < 3 {
				return node{}, why
			}
			return look(pid)
		})
		if len(agents) != 1 || err != nil {
			t.Errorf("%v: got %v, %v", why, agents, err)
		}
	}
}

// TestParentThatEndsMeanwhileHidesNoAgent lets a shell end during the way up: its
// child then has another parent.
func TestParentThatEndsMeanwhileHidesNoAgent(t *testing.T) {
	t.Parallel()
	orphaned := false
	agents, err := climb(9, 0, func(pid int) (node, error) {
		switch {
		case pid == 9 && !orphaned:
			orphaned = true
			return node{pid: 9, parent: 8, name: "hermes"}, nil
		case pid == 9:
			return node{pid: 9, parent: 2, name: "hermes"}, nil
		case pid == 2:
			return node{pid: 2, parent: 1, name: "hermes-agent", agent: true}, nil
		case pid == 1:
			return node{pid: 1, name: "init"}, nil
		}
		return node{}, fs.ErrNotExist
	})
	if len(agents) != 1 || err != nil {
		t.Errorf("got %v, %v", agents, err)
	}
}

// TestWayUpWithoutAnEndEnds has parents for ever.
func TestWayUpWithoutAnEndEnds(t *testing.T) {
	t.Parallel()
	looks := 0
	_, err := climb(1, 0, func(pid int) (node, error) {
		if looks++; looks > 10*mostParents {
			return node{}, errUnsupported // end the test
		}
		return node{pid: pid, parent: pid + 1}, nil
	})
	if looks > mostParents || err != nil {
		t.Errorf("%d looks, err %v", looks, err)
	}
}

func TestOnlyAnUnreadableStartIsAnError(t *testing.T) {
	t.Parallel()
	no := errors.New("there is no /proc")
	if _, err := climb(9, 0, func(int) (node, error) { return node{}, no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if _, err := climb(9, 0, func(int) (node, error) { return node{}, errUnsupported }); err != nil {
		t.Errorf("a system without parents: %v", err)
	}
}
