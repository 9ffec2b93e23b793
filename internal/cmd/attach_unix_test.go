//go:build unix

package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
)

// twoSeats is a user with a chat in one terminal, whose first turn has ended.
func twoSeats(t *testing.T) (p *user, first *seat, id string) {
	t.Helper()
	p = newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if !r.Offers("clarify") { // a title, say
			return chatserver.Answer{Text: "Gardening"}, nil
		}
		return chatserver.Answer{Text: "Done: " + r.Messages[len(r.Messages)-1].Text() + "!"}, nil
	})...)
	first = p.sit("xterm-256color", "-m", "custom:played", "-q", "plant roses")
	first.shows("Done: plant roses!")
	var rows []struct {
		ID      string
		Running *struct{ Where string }
	}
	out, errs, status := p.run("sessions", "list", "--json")
	if err := json.Unmarshal([]byte(out), &rows); err != nil || status != 0 || len(rows) != 1 || rows[0].Running == nil || !strings.HasPrefix(rows[0].Running.Where, "terminal ") {
		t.Fatalf("the list: status %d, %v: %s%s", status, err, out, errs)
	}
	return p, first, rows[0].ID
}

// TestASecondTerminalAttaches, by each way to do so, and both show everything.
func TestASecondTerminalAttaches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		term   string
		args   []string
		agrees bool
	}{
		"the only one":                     {"xterm-256color", []string{"attach"}, false},
		"by its title, in a dumb terminal": {"dumb", []string{"attach", "Gardening"}, false},
		"resumed":                          {"xterm-256color", []string{"--continue"}, true},
		"resumed in a dumb terminal":       {"dumb", []string{"--resume", "Gardening"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, first, _ := twoSeats(t)
			if strings.Contains(strings.Join(tt.args, " "), "Gardening") {
				p.titled("Gardening")
			}
			second := p.sit(tt.term, tt.args...)
			if tt.agrees {
				second.shows("This session is open in terminal ")
				second.shows("Attach to it? [Y/n]")
				second.press("\r")
			}
			second.shows("Attached")
			second.press("water them\r")
			second.shows("Done: water them!")
			first.shows("water them")
			first.shows("Done: water them!")
			first.press("cut them\r")
			second.shows("cut them")
			second.shows("Done: cut them!")
			second.press("\x04")
			second.shows("Attach to it again with: hermes attach ")
			second.left()
			first.shows("Done: cut them!")
			first.press("and sing\r")
			first.shows("Done: and sing!")
			first.press("\x04")
			first.shows("Resume this session with: hermes --resume ")
			first.left()
		})
	}
}

// titled waits until the only session has a title.
func (p *user) titled(title string) {
	p.t.Helper()
	st := p.store()
	for range 100_000 {
		if rows, err := st.ListSessions(p.t.Context(), hermes.SessionFilter{}); err != nil || len(rows) == 1 && rows[0].Title == title {
			return
		}
	}
	p.t.Fatal("the session got no title")
}

// TestAnAttachedTerminalTakesOver after SIGKILL of the process that ran the session: it says
// so, shows the whole conversation, and leaves no socket of the killed process.
func TestAnAttachedTerminalTakesOver(t *testing.T) {
	t.Parallel()
	p, first, id := twoSeats(t)
	second := p.sit("xterm-256color", "attach", id)
	second.shows("Attached")
	second.shows("plant roses")
	old := p.sockets()
	if len(old) != 1 {
		t.Fatalf("sockets %v", old)
	}
	first.signal(syscall.SIGKILL)
	first.left()
	second.shows("attaching again")
	second.press("water them\r")
	second.shows("Done: water them!")
	now := p.sockets()
	if len(now) != 1 || now[0] == old[0] {
		t.Errorf("sockets %v, before %v", now, old)
	}
	second.press("\x04")
	second.shows("Resume this session with: hermes --resume " + id)
	second.left()
	if left := p.sockets(); len(left) > 0 {
		t.Errorf("sockets %v are still there", left)
	}
	var said []string
	list, err := p.store().Messages(t.Context(), id, hermes.Range{})
	for _, m := range list {
		said = append(said, m.Text())
	}
	if got := strings.Join(said, "|"); err != nil || !strings.Contains(got, "plant roses|Done: plant roses!") || !strings.Contains(got, "water them|Done: water them!") {
		t.Errorf("stored %q, %v", got, err)
	}
}

func (p *user) sockets() []string {
	p.t.Helper()
	list, err := filepath.Glob(filepath.Join(p.home, "run", "*.sock"))
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// TestAKilledProcessLeavesNothingInTheWay: the next one takes the session at once, and removes
// its socket.
func TestAKilledProcessLeavesNothingInTheWay(t *testing.T) {
	t.Parallel()
	p, first, id := twoSeats(t)
	old := p.sockets()
	first.signal(syscall.SIGKILL)
	first.left()
	if info, err := os.Lstat(old[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket of the killed process: %v, %v", info, err)
	}
	out, errs, status := p.run("--resume", id, "-z", "water them", "-m", "played")
	if status != 0 || !strings.Contains(out, "Done: water them!") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if left := p.sockets(); len(left) > 0 {
		t.Errorf("sockets %v are still there", left)
	}
}

// TestWithoutATerminalTheCommandIsSaid, and who has nothing to attach to is told what to do.
func TestWithoutATerminalTheCommandIsSaid(t *testing.T) {
	t.Parallel()
	p, first, id := twoSeats(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--resume", id, "-z", "hi"}, "attach to it with `hermes attach " + id + "`"},
		{[]string{"--continue", "-q", "hi"}, "attach to it with `hermes attach " + id + "`"},
		{[]string{"attach", id}, "needs a terminal"},
	} {
		if out, errs, status := p.run(tt.args...); status != 1 || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: status %d: %s%s", tt.args, status, out, errs)
		}
	}
	no := p.sit("dumb", "--resume", id)
	no.shows("[Y/n]")
	no.press("n\r")
	no.shows("attach to it with `hermes attach " + id + "`")
	no.left()
	first.press("\x04")
	first.left()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"attach"}, "no session is open in another terminal"},
		{[]string{"attach", id}, "resume it with `hermes --resume " + id + "`"},
		{[]string{"attach", "nope"}, `there is no session "nope"`},
	} {
		s := p.sit("dumb", tt.args...)
		s.shows(tt.want)
		s.left()
	}
}

// TestOfSeveralSessionsTheUserChoosesOne: the list begins with the last active one.
func TestOfSeveralSessionsTheUserChoosesOne(t *testing.T) {
	t.Parallel()
	p, first, id := twoSeats(t)
	other := p.sit("xterm-256color", "-m", "custom:played", "-q", "feed the fish")
	other.shows("Done: feed the fish!")
	s := p.sit("dumb", "attach") // it cannot show a list to choose from
	s.shows("several sessions are open; name one of them")
	s.shows("hermes attach " + id)
	s.left()
	s = p.sit("xterm-256color", "attach")
	s.shows("Attach to")
	s.shows(id)
	s.press("\r")
	s.shows("Attached")
	s.press("and the cat\r")
	other.shows("Done: and the cat!")
	for _, each := range []*seat{s, other, first} {
		each.press("\x04")
		each.left()
	}
}

// TestAnOwnerThatQuitsIsReplaced by the terminal that is attached, which says so.
func TestAnOwnerThatQuitsIsReplaced(t *testing.T) {
	t.Parallel()
	for _, quit := range []string{"/quit\r", "\x04"} {
		p, first, id := twoSeats(t)
		second := p.sit("xterm-256color", "attach")
		second.shows("Attached")
		first.press(quit)
		second.shows("opening it again")
		second.press("water them\r")
		second.shows("Done: water them!")
		first.left()
		second.press("\x04")
		second.shows("Resume this session with: hermes --resume " + id)
		second.left()
		second.once("› plant roses", "Done: plant roses!", "› water them", "Done: water them!")
	}
}

// suspend stops the program and waits until it has stopped.
func (s *seat) suspend() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.t.Fatalf("the program did not stop: %v, %v", status, err)
	}
}

// TestASuspendedOwnerCanBeLeft: the terminal that is attached can quit, and its message arrives later.
func TestASuspendedOwnerCanBeLeft(t *testing.T) {
	t.Parallel()
	p, first, _ := twoSeats(t)
	second := p.sit("xterm-256color", "attach")
	second.shows("Attached")
	first.suspend()
	second.press("water them\r")
	second.shows("  water them") // it waits
	second.press("\x03")
	second.press("\x04")
	second.shows("Attach to it again with: hermes attach ")
	second.left()
	first.signal(syscall.SIGCONT)
	first.press("cut them\r")
	first.shows("Done: cut them!")
}
