package toolbox

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"hermes"
)

// streaks counts what repeats within a turn.
type streaks struct {
	limits Guardrail

	mu         sync.Mutex
	exact      map[signature]int
	tool       map[string]*failing
	same       map[signature]repeat
	equal      map[outcome]spinning
	last       map[signature][sha256.Size]byte // the latest result of each call
	news       int                             // outcomes that were new in this turn
	searches   int
	subagents  int
	hard       bool   // repeats are stopped now
	stopReason string // why tools are stopped; "" while they run
}

// failing counts the failures of a tool in a row.
type failing struct {
	count int
	last  signature
	equal int // how many of the latest were the same call
}

type repeat struct {
	result [sha256.Size]byte
	count  int
}

// outcome is a successful call with its result.
type outcome struct {
	call   signature
	result [sha256.Size]byte
}

// spinning counts how often an outcome came since the last new one.
type spinning struct{ count, news int }

func newStreaks(g Guardrail) *streaks {
	s := &streaks{limits: g.orDefaults()}
	s.reset()
	return s
}

func (s *streaks) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exact, s.tool, s.same = map[signature]int{}, map[string]*failing{}, map[signature]repeat{}
	s.equal, s.last, s.news = map[outcome]spinning{}, map[signature][sha256.Size]byte{}, 0
	s.searches, s.subagents, s.stopReason = 0, 0, ""
}

func (s *streaks) stop() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopReason
}

// blocked returns the refusal of a call that must not run again. Sending a
// blocked call again counts as a failure of its tool, so repeats end in a stop
// and not in an endless loop.
func (s *streaks) blocked(sig signature, attended bool) (hermes.Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hard = s.limits.HardStop || s.limits.HardStopUnattended && !attended
	if !s.hard {
		return hermes.Result{}, false
	}
	why := ""
	switch {
	case s.stopReason != "":
		why = "not run (" + s.stopReason + "): tools are off for the rest of this turn"
	case s.exact[sig] >= s.limits.BlockExact:
		why = fmt.Sprintf(exactBlock, sig.tool, s.exact[sig])
		s.fell(sig)
	case s.same[sig].count >= s.limits.BlockProgress:
		why = fmt.Sprintf(progressBlock, sig.tool, s.same[sig].count)
		s.fell(sig)
	case s.spins(sig) >= s.limits.BlockEqual:
		why = fmt.Sprintf(equalBlock, sig.tool, s.spins(sig))
		s.fell(sig)
	default:
		return hermes.Result{}, false
	}
	r := hermes.ErrorResult(why)
	r.StopReason = s.stopReason
	return r, true
}

// take books a call against the caps of the turn and says why it is over one.
func (s *streaks) take(c *hermes.Call) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.Name {
	case "web_search":
		return spend(&s.searches, 1, s.limits.Searches, "web_searches_cap", "web searches")
	case "delegate_task":
		return spend(&s.subagents, children(c), s.limits.Subagents, "subagents_cap", "sub-agents")
	}
	return ""
}

func spend(used *int, n, most int, code, what string) string {
	if most > 0 && *used+n > most {
		return fmt.Sprintf("blocked (%s): a turn may use %d %s, and this one has used %d; go on with what you know, and tell the user what is still open", code, most, what, *used)
	}
	*used += n
	return ""
}

// children returns how many sub-agents a delegation asks for.
func children(c *hermes.Call) int {
	var given struct {
		Tasks []json.RawMessage `json:"tasks"`
	}
	if json.Unmarshal(c.Arguments, &given) != nil {
		return 1
	}
	return max(1, len(given.Tasks))
}

// count records a result and returns a warning for the model, or "".
func (s *streaks) count(sig signature, changed, waited bool, r hermes.Result) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	warning := ""
	if r.Failed {
		warning = s.failed(sig)
	} else {
		warning = s.succeeded(sig, changed, r)
		waited = waited || sig.tool == "delegate_task" // it has a cap of its own
		if n := s.spin(sig, waited, r); warning == "" && n >= s.limits.WarnEqual {
			warning = fmt.Sprintf(equalWarning, n)
		}
	}
	if s.limits.Quiet {
		return ""
	}
	return warning
}

func (s *streaks) failed(sig signature) string {
	s.exact[sig]++
	n := s.fell(sig)
	if e := s.exact[sig]; e >= s.limits.WarnExact {
		return fmt.Sprintf(exactWarning, e)
	}
	if n >= s.limits.WarnTool {
		return fmt.Sprintf(toolWarning, sig.tool, n)
	}
	return ""
}

// fell counts a failure of a tool and stops the turn's tools at the limit. For
// commands, only equal calls count towards it.
func (s *streaks) fell(sig signature) int {
	f := s.tool[sig.tool]
	if f == nil {
		f = &failing{}
		s.tool[sig.tool] = f
	}
	if f.last != sig {
		f.last, f.equal = sig, 0
	}
	f.count++
	f.equal++
	n := f.count
	if slices.Contains(shells, sig.tool) {
		n = f.equal
	}
	if s.hard && s.stopReason == "" && n >= s.limits.StopTool {
		s.stopReason = fmt.Sprintf(toolStop, sig.tool, n)
	}
	return f.count
}

func (s *streaks) succeeded(sig signature, changed bool, r hermes.Result) string {
	delete(s.exact, sig)
	delete(s.tool, sig.tool)
	if slices.Contains(readers, sig.tool) {
		return s.read(sig, r)
	}
	if changed { // failed calls may work now, and reads may return something else
		clear(s.exact)
		clear(s.same)
		for _, f := range s.tool {
			f.equal = 0
		}
	}
	return ""
}

// spin records the outcome of a successful call and returns how often it came since
// the last outcome that was new in this turn: while nothing is new, nothing moves on.
func (s *streaks) spin(sig signature, waited bool, r hermes.Result) int {
	sum := sha256.New()
	sum.Write([]byte(r.Text))
	for _, img := range r.Images {
		sum.Write(img.Data)
		sum.Write([]byte(img.URL))
	}
	o := outcome{call: sig}
	sum.Sum(o.result[:0])
	s.last[sig] = o.result
	was, known := s.equal[o]
	switch {
	case !known:
		s.news++
	case was.news < s.news:
		was.count = 0
	}
	if !waited {
		was.count++
	}
	s.equal[o] = spinning{was.count, s.news}
	return was.count
}

// spins returns how often a call gave its latest result since anything was new.
func (s *streaks) spins(sig signature) int {
	if was := s.equal[outcome{sig, s.last[sig]}]; was.news == s.news {
		return was.count
	}
	return 0
}

func (s *streaks) read(sig signature, r hermes.Result) string {
	sum := sha256.Sum256([]byte(r.Text))
	last := s.same[sig]
	if last.result != sum {
		last = repeat{result: sum}
	}
	last.count++
	s.same[sig] = last
	if last.count >= s.limits.WarnSame {
		return fmt.Sprintf(progressWarning, last.count)
	}
	return ""
}
