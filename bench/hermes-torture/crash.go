package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/hermestest/faultserver"
)

// crashConfig has no side tasks, so that each request belongs to a turn.
const crashConfig = `model:
  default: box:torture
providers:
  box: {base_url: %q, api_key: key-of-the-torture}
auxiliary:
  title_generation: {enabled: false}
  evidence: {enabled: false}
  session_summary: {enabled: false}
memory: {nudge_interval: 0, flush_min_turns: 0}
skills: {creation_nudge_interval: 0}
`

// A story is one session: some turns are killed at a random moment, each is followed at
// once by the next, and the last two are left to end.
const (
	storyTurns = 10
	storyCalls = 4 // of a turn, at most
	killShare  = 0.7
)

// crash runs stories and checks after each run, killed or not, what is stored.
func crash(ctx context.Context, o options) (table, []finding, error) {
	stories := 8
	switch {
	case o.small:
		stories = 1
	case o.long:
		stories = 80
	}
	var mu sync.Mutex
	var found []finding
	var failed error
	total := tally{}
	sideBySide(stories, o.parallel, func(i int) {
		name := fmt.Sprintf("story %d", i+1)
		if !o.wants(name) || ctx.Err() != nil {
			return
		}
		t, broken, err := story(ctx, o, i)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
		for _, b := range broken {
			found = append(found, finding{"crash", name, b})
		}
		total.add(t)
	})
	rows := table{
		{"runs", "killed", "requests", "calls cut off", "laws broken", "slowest resume", "files left behind"},
		{fmt.Sprint(total.runs), fmt.Sprint(total.killed), fmt.Sprint(total.requests), fmt.Sprint(total.cut), fmt.Sprint(len(found)), fmt.Sprintf("%.1f s", total.slowest), fmt.Sprint(total.litter)},
	}
	return rows, found, failed
}

// tally counts what stories did.
type tally struct {
	runs, killed, requests, cut, litter int
	slowest                             float64
}

func (t *tally) add(u tally) {
	t.runs += u.runs
	t.killed += u.killed
	t.requests += u.requests
	t.cut += u.cut
	t.litter += u.litter
	t.slowest = max(t.slowest, u.slowest)
}

// teller tells one story.
type teller struct {
	machine  *machine
	model    *model
	server   *faultserver.Server
	random   *rand.Rand
	tally    tally
	broken   []string
	seen     [][]item // all requests so far
	finished []string // marks of the turns that ended
	whole    float64  // seconds of the first run, which is not killed
	killed   bool     // the run before was killed
}

// story is one session. It returns the laws that were broken.
func story(ctx context.Context, o options, number int) (tally, []string, error) {
	m := &model{commands: func(mark string, number int) string {
		return fmt.Sprintf("echo %[1]s >> effects.txt; sleep 0.03; echo done-%[1]s", effect(mark, number))
	}}
	server := faultserver.New(m.decide)
	defer server.Close()
	who, err := newMachine(o.hermes, filepath.Join(o.scratch, fmt.Sprintf("crash-%d", number)), fmt.Sprintf(crashConfig, server.URL+"/v1"))
	if err != nil {
		return tally{}, nil, err
	}
	s := &teller{machine: who, model: m, server: server, random: rand.New(rand.NewPCG(o.seed, uint64(number)))}
	for turn := range storyTurns {
		if err := s.turn(ctx, turn); err != nil {
			return s.tally, s.broken, err
		}
	}
	s.tally.requests = len(s.seen)
	s.tally.litter = who.litter()
	return s.tally, append(s.broken, lawsOfRequests(s.seen)...), ctx.Err()
}

// turn runs one turn, killed or not. In half of the killed ones, the next run begins before
// the dead one is reaped, as with a frontend that starts the program again.
func (s *teller) turn(ctx context.Context, number int) error {
	share, when, unreaped := s.random.Float64(), s.random.Float64(), s.random.IntN(2) == 0
	mark := fmt.Sprintf("T%d", number+1)
	p, err := s.begin(ctx, mark, number > 0)
	if err != nil {
		return err
	}
	if number > 0 && number < storyTurns-2 && share < killShare {
		time.Sleep(time.Duration(when * 1.2 * s.whole * float64(time.Second)))
		_ = p.cmd.Process.Kill() // it may have ended
		if unreaped && awaitDeath(p.cmd.Process.Pid) {
			s.killed = true
			next, err := s.begin(ctx, mark+"next", true)
			if err != nil {
				return err
			}
			s.end(next, mark+"next")
		}
	}
	s.end(p, mark)
	if number == 0 {
		s.whole = time.Since(p.began).Seconds()
	}
	s.check(ctx, mark)
	return nil
}

func (s *teller) begin(ctx context.Context, mark string, resume bool) (*process, error) {
	args := []string{"-z", order(mark, 1+s.random.IntN(storyCalls))}
	if resume {
		args = append(args, "-r", "latest")
	}
	return s.machine.start(ctx, args...)
}

// end waits for a run and judges how it ended.
func (s *teller) end(p *process, mark string) {
	e, err := p.wait()
	s.tally.runs++
	switch {
	case err != nil:
		s.report(mark, err.Error())
	case e.status == -1:
		s.tally.killed++
		s.killed = true
		return
	case e.status != 0 || e.out != done(mark):
		s.report(mark, fmt.Sprintf("the run (after a kill: %t) ended with status %d and %.80q: %s", s.killed, e.status, e.out, e.complaint()))
	default:
		s.finished = append(s.finished, mark)
		if s.killed {
			s.tally.slowest = max(s.tally.slowest, e.seconds)
		}
	}
	s.killed = false
}

// check checks what is stored after a run.
func (s *teller) check(ctx context.Context, mark string) {
	s.seen = append(s.seen, s.model.take()...)
	kept, err := s.machine.read(ctx)
	if err != nil {
		s.report(mark, "the database cannot be read: "+err.Error())
		return
	}
	laws := lawsOfStore(kept, s.seen, s.finished)
	laws = append(laws, lawsOfEffects(s.machine.work, kept)...)
	laws = append(laws, lawsOfLedger(kept.spent, s.server.Count())...)
	for _, b := range laws {
		s.report(mark, b)
	}
	s.tally.cut = 0
	for _, m := range kept.messages {
		if m.Failed && strings.Contains(m.Text(), "unknown") {
			s.tally.cut++
		}
	}
}

func (s *teller) report(mark, what string) { s.broken = append(s.broken, "after "+mark+": "+what) }

// awaitDeath waits until a killed process is dead, and reports whether it can tell.
func awaitDeath(pid int) bool {
	for range 200 {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		if _, rest, _ := strings.Cut(string(raw), ") "); strings.HasPrefix(rest, "Z") {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}
