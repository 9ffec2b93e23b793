package spend_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/httpc"
	"hermes/internal/spend"
)

// flood answers with pieces of one token until the reader leaves, or until the
// limit of the request if it obeys one.
type flood struct {
	name  string
	obeys bool
	most  int // pieces; 0 is 5000

	mu               sync.Mutex
	sent             int // pieces that were read
	limits, ceilings []int
	before           func(sent int)
}

func (f *flood) ID() string { return f.name }

func (f *flood) Stream(_ context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		f.mu.Lock()
		f.limits, f.ceilings = append(f.limits, r.MaxTokens), append(f.ceilings, r.Ceiling)
		f.mu.Unlock()
		most := f.most
		if most == 0 {
			most = 5000
		}
		if f.obeys && r.MaxTokens > 0 {
			most = min(most, r.MaxTokens)
		}
		for i := range most {
			if f.before != nil {
				f.before(i)
			}
			f.mu.Lock()
			f.sent++
			f.mu.Unlock()
			if !yield(hermes.Delta{Text: "word"}, nil) {
				return
			}
		}
		yield(hermes.Delta{Finish: hermes.FinishLength}, nil)
	}
}

// mustCut reads an answer that a cap ends, and returns how many tokens arrived
// and the text of the cap.
func mustCut(t *testing.T, m hermes.Model, r *hermes.Request) (arrived int64, text string) {
	t.Helper()
	for d, err := range m.Stream(t.Context(), r) {
		if err != nil {
			if hermes.ClassOf(err) != hermes.ClassBudget {
				t.Fatalf("got %v, want the text of a cap", err)
			}
			return arrived, err.Error()
		}
		arrived += int64(len(d.Text)) / 4
	}
	t.Fatalf("the answer of %d tokens was not stopped", arrived)
	return 0, ""
}

// free asks without a limit of its own.
func unlimited(session string, turn int64) *hermes.Request {
	r := request(session, turn)
	r.MaxTokens = 0
	return r
}

func TestAnAnswerIsAskedForAsTheCapAllows(t *testing.T) {
	t.Parallel()
	input := int64(6) // of the request, estimated
	for _, c := range []struct {
		name    string
		caps    spend.Caps
		model   string
		own     int   // limit of the request
		longest int64 // of the model
		want    int
	}{
		{"no cap", nil, "p:m", 0, 0, 0},
		{"a cap in money", spend.Caps{hermes.AccountTurn: dollars(3000)}, "p:m", 0, 0, 3000 - int(input)},
		{"a cap in tokens", spend.Caps{hermes.AccountDay: {Tokens: 4000}}, "p:m", 0, 0, 4000 - int(input)},
		{"the smallest counts", spend.Caps{hermes.AccountDay: {Tokens: 4000}, hermes.AccountTree: dollars(3500), hermes.AccountMonth: dollars(9000)}, "p:m", 0, 0, 3500 - int(input)},
		{"its own limit is smaller", spend.Caps{hermes.AccountTurn: dollars(3000)}, "p:m", 100, 0, 100},
		{"its own limit is greater", spend.Caps{hermes.AccountTurn: dollars(3000)}, "p:m", 5000, 0, 3000 - int(input)},
		{"more than the model can say", spend.Caps{hermes.AccountTurn: dollars(3000)}, "p:m", 0, 2500, 0},
		{"much, and the model's limit is known", spend.Caps{hermes.AccountTurn: dollars(50_000)}, "p:m", 0, 64_000, 50_000 - int(input)},
		{"much, and the model's limit is unknown", spend.Caps{hermes.AccountTurn: dollars(50_000)}, "p:m", 0, 0, 0},
		{"a cap in money and no price", spend.Caps{hermes.AccountTurn: dollars(3000)}, "p:unknown", 0, 0, 0},
	} {
		cfg := config(hermestest.NewLedger(), noon(), c.caps)
		cfg.Longest = func(string, int64) int64 { return c.longest }
		f := &flood{name: c.model, most: 1}
		r := unlimited("s", 1)
		r.MaxTokens = c.own
		mustAsk(t, layers(spend.New(cfg), f), r)
		if f.limits[0] != c.want {
			t.Errorf("%s: the answer may have %d tokens, want %d", c.name, f.limits[0], c.want)
		}
		if ceiling := f.ceilings[0]; c.own == 0 && ceiling != c.want || c.own > 0 && ceiling != 3000-int(input) {
			t.Errorf("%s: with its thinking it may have %d", c.name, ceiling)
		}
		if r.MaxTokens != c.own || r.Scope.Call != 0 {
			t.Errorf("%s: the request was changed", c.name)
		}
	}
}

// TestAnAnswerIsStoppedAtTheCap: the service ignores its limit, and the cap holds.
func TestAnAnswerIsStoppedAtTheCap(t *testing.T) {
	t.Parallel()
	for name, caps := range map[string]spend.Caps{
		"money":         {hermes.AccountTurn: dollars(2500)},
		"tokens":        {hermes.AccountSession: {Tokens: 2500}},
		"several":       {hermes.AccountTurn: dollars(9000), hermes.AccountDay: {Tokens: 2500}, hermes.AccountMonth: dollars(2600)},
		"the same once": {hermes.AccountSession: dollars(2500), hermes.AccountTree: dollars(2500)},
	} {
		l := hermestest.NewLedger()
		arrived, text := mustCut(t, layers(spend.New(config(l, noon(), caps)), &flood{name: "p:m"}), unlimited("s", 1))
		b := spent(t, l, hermes.AccountSession, "s")
		if b.Spent.Tokens > 2501 || b.Spent.Tokens < 2400 || b.Reserved != (hermes.Amount{}) || arrived < 2400 {
			t.Errorf("%s: %d tokens arrived, booked is %+v", name, arrived, b)
		}
		if !strings.Contains(text, "the answer was stopped there") || strings.Contains(text, "reserved") {
			t.Errorf("%s: the text is %q", name, text)
		}
	}
}

// TestAnswersShareACap: two processes with children answer at the same time.
// None of them may spend what another one has.
func TestAnswersShareACap(t *testing.T) {
	t.Parallel()
	const limit, models = 20_000, 8
	l := hermestest.NewLedger()
	caps := spend.Caps{hermes.AccountDay: dollars(limit)}
	var processes [2]*spend.Governor
	for i := range processes {
		cfg := config(l, noon(), caps)
		cfg.Owner = fmt.Sprint("process ", i)
		processes[i] = spend.New(cfg)
	}
	var wg sync.WaitGroup
	for i := range models {
		wg.Go(func() {
			m := layers(processes[i%2], &flood{name: "p:m"})
			for range 20 { // each answer of up to 5000 tokens costs 5000 dollars
				if _, err := ask(t, m, unlimited(fmt.Sprint("s", i), 1)); err != nil {
					if hermes.ClassOf(err) != hermes.ClassBudget {
						t.Error(err)
					}
					return
				}
			}
			t.Error("no cap stopped it")
		})
	}
	wg.Wait()
	b := spent(t, l, hermes.AccountDay, "2026-11-20")
	if b.Spent.Tokens > limit+models || b.Spent.Tokens < limit*3/4 || b.Reserved != (hermes.Amount{}) {
		t.Errorf("%d tokens were booked of %d, still reserved is %+v", b.Spent.Tokens, limit, b.Reserved)
	}
}

// TestARetryIsRefusedAtTheCap: half answers are paid, so they cannot go on for ever.
func TestARetryIsRefusedAtTheCap(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	g := spend.New(config(l, noon(), spend.Caps{hermes.AccountTurn: dollars(100)}))
	half := hermestest.Step{Deltas: []hermes.Delta{{Usage: &hermes.Usage{Input: 30, Calls: 1}}, {Text: strings.Repeat("word", 10)}}, Err: errors.New("cut")}
	script := hermestest.NewScript(half).Named("p:m").Forever()
	metered := g.Meter(script)
	text := mustRefuse(t, g.Caps(relay{[]hermes.Model{metered, metered, metered, metered, metered, metered}}), request("s", 1))
	if strings.Contains(text, "in other words") || !strings.Contains(text, "this turn") {
		t.Errorf("the text is %q", text)
	}
	if b := spent(t, l, hermes.AccountTurn, "s/1"); b.Spent.Tokens != 80 || b.Calls != 2 || b.Reserved != (hermes.Amount{}) {
		t.Errorf("booked is %+v", b)
	}
}

// TestADearerModelTakesOverWithinTheCap: the reservation was made for another one.
func TestADearerModelTakesOverWithinTheCap(t *testing.T) {
	t.Parallel()
	for cap, fits := range map[float64]bool{1000: true, 100: false} {
		l := hermestest.NewLedger()
		cfg := config(l, noon(), spend.Caps{hermes.AccountTurn: dollars(cap)})
		cfg.Price = func(ref string) (hermes.Price, bool) {
			rate := hermes.USD(1e6)
			if ref == "p:dear" {
				rate = hermes.USD(2e7)
			}
			return hermes.Price{Input: rate, Output: rate}, true
		}
		g := spend.New(cfg)
		script := hermestest.NewScript(said(6, 10)).Named("p:dear")
		dear := g.Meter(script)
		_, err := ask(t, g.Caps(model{named{"p:m", dear}, func() {}}), request("s", 1))
		b := spent(t, l, hermes.AccountTurn, "s/1")
		if b.Reserved != (hermes.Amount{}) || fits != (err == nil) || fits && b.Spent.Money != hermes.USD(320) || !fits && script.Left() != 1 {
			t.Errorf("under %v dollars: %v, %+v", cap, err, b)
		}
	}
}

// named is a model under another name, as that of a chain is.
type named struct {
	name string
	hermes.Model
}

func (n named) ID() string { return n.name }

func TestWhatIsReservedForNoAttemptIsReleased(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	g := spend.New(config(l, noon(), spend.Caps{hermes.AccountDay: dollars(5000)}))
	_, err := ask(t, g.Caps(hermestest.NewScript(hermestest.Fail(errors.New("every key pauses"))).Named("p:m")), request("s", 1))
	if b := spent(t, l, hermes.AccountDay, "2026-11-20"); err == nil || b.Reserved != (hermes.Amount{}) || b.Spent != (hermes.Amount{}) {
		t.Errorf("%v, %+v", err, b)
	}
}

func TestCountsThatCannotBeTrueAreEstimated(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]hermes.Usage{
		"negative":         {Input: -1, Output: -1, CacheRead: -7, CacheWrite: -1, Reasoning: -3, Calls: -1},
		"absurd":           {Input: math.MaxInt64, Output: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64, Reasoning: 9, Calls: math.MaxInt64},
		"negative cache":   {Input: 6, Output: 10, CacheRead: -400, Calls: 1},
		"one absurd count": {Input: 1 << 40, Output: 10, Calls: 1},
		"absurd output":    {Input: 6, Output: 1 << 40, Reasoning: 1 << 41, Calls: 1},
		"only zeros":       {Calls: 1},
		"no prompt":        {Output: 10, Calls: 1},
		"no output":        {Input: 6, Calls: 1},
	} {
		l := hermestest.NewLedger()
		step := hermestest.Step{Text: strings.Repeat("word", 10), Usage: &u}
		m := layers(spend.New(config(l, noon(), nil)), hermestest.NewScript(step).Named("p:m"))
		got, err := hermes.Collect(m.Stream(t.Context(), request("s", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if p := got.Usage; p.Prompt() < 2 || p.Prompt() > 20 || p.Output < 2 || p.Output > 10 || p.Reasoning < 0 || p.Reasoning > p.Output || p.Calls < 0 || p.Calls > 1000 {
			t.Errorf("%s: the transcript has %+v", name, *p)
		}
		if b := spent(t, l, hermes.AccountSession, "s"); b.Spent.Tokens < 4 || b.Spent.Tokens > 30 || b.Spent.Money != hermes.USD(float64(b.Spent.Tokens)) {
			t.Errorf("%s: booked is %+v", name, b)
		}
	}
}

// TestTheServicesOwnCostIsBooked unless it cannot be true, or the user has set
// the price.
func TestTheServicesOwnCostIsBooked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		model  string
		cost   hermes.Money
		own    bool // the user has set the price
		want   hermes.Money
		priced bool
	}{
		{"goes before the catalogue", "p:m", hermes.USD(3), false, hermes.USD(3), true},
		{"a price where none is known", "p:unknown", hermes.USD(3), false, hermes.USD(3), true},
		{"the user's price goes before it", "p:m", hermes.USD(3), true, hermes.USD(40), true},
		{"zero says nothing", "p:m", 0, false, hermes.USD(40), true},
		{"zero of an unknown price", "p:unknown", 0, false, 0, false},
		{"negative", "p:m", -5, false, hermes.USD(40), true},
		{"absurd", "p:m", math.MaxInt64, false, hermes.USD(40), true},
	} {
		l := hermestest.NewLedger()
		cfg := config(l, noon(), nil)
		cfg.Stated = func(string) bool { return !c.own }
		step := said(30, 10)
		step.Deltas = []hermes.Delta{{Cost: &c.cost}}
		for d, err := range layers(spend.New(cfg), hermestest.NewScript(step).Named(c.model)).Stream(t.Context(), request("s", 1)) {
			if err != nil || d.Cost != nil {
				t.Errorf("%s: got %+v, %v", c.name, d, err)
			}
		}
		if b := spent(t, l, hermes.AccountSession, "s"); b.Spent.Money != c.want || (b.Unpriced == 0) != c.priced {
			t.Errorf("%s: booked is %+v", c.name, b)
		}
	}
}

// TestUnknownCacheRatesCount: they once made the whole call free.
func TestUnknownCacheRatesCount(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	cfg := config(l, noon(), nil)
	cfg.Price = func(string) (hermes.Price, bool) {
		return hermes.Price{Input: hermes.USD(1e6), Output: hermes.USD(1e6), CacheRead: -1, CacheWrite: -1}, true
	}
	step := hermestest.Step{Text: "ok", Usage: &hermes.Usage{Input: 5, CacheRead: 20, CacheWrite: 5, Output: 10, Calls: 1}}
	mustAsk(t, layers(spend.New(cfg), hermestest.NewScript(step).Named("p:m")), request("s", 1))
	list, err := l.Spent(t.Context(), hermes.SpendQuery{})
	if err != nil || list[0].Money != hermes.USD(41.25) || list[0].Unpriced != 0 || list[0].Estimated != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestAGivenUpWaitCostsItsPrompt: the service has read it, and will ask for it.
func TestAGivenUpWaitCostsItsPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want int64
	}{
		{"a stall", &hermes.ModelError{Class: hermes.ClassTimeout, Err: httpc.ErrTimeout}, 6},
		{"a refusal", &hermes.ModelError{Class: hermes.ClassRateLimit, Status: 429}, 0},
		{"no connection", &hermes.ModelError{Class: hermes.ClassTimeout, Err: errors.New("connection refused")}, 0},
	} {
		l := hermestest.NewLedger()
		_, _ = ask(t, layers(spend.New(config(l, noon(), nil)), hermestest.NewScript(hermestest.Fail(c.err)).Named("p:m")), request("s", 1))
		if b := spent(t, l, hermes.AccountSession, "s"); b.Spent.Tokens != c.want || b.Calls != 1 {
			t.Errorf("%s: booked is %+v, want %d tokens", c.name, b, c.want)
		}
	}
}

// TestAFullDiskStopsAnAnswerUnderACap: what cannot be booked is not spent.
func TestAFullDiskStopsAnAnswerUnderACap(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	var full bool
	l.Fail = func(method string) error {
		if full && method == "Extend" {
			return errors.New("disk full")
		}
		return nil
	}
	f := &flood{name: "p:m", before: func(sent int) { full = sent > 100 }}
	arrived, text := mustCut(t, layers(spend.New(config(l, noon(), spend.Caps{hermes.AccountDay: dollars(1e6)})), f), unlimited("s", 1))
	if arrived > 2100 || !strings.Contains(text, "disk full") {
		t.Errorf("%d tokens arrived, %q", arrived, text)
	}
}

// TestABoundHoldsForTheTree: the bound of a session counts for its children and side tasks,
// beside the caps, and may change.
func TestABoundHoldsForTheTree(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	cfg := config(l, noon(), spend.Caps{hermes.AccountTree: {Money: hermes.USD(1000)}})
	lookups := 0
	cfg.Scope = func(_ context.Context, session string) (hermes.Scope, error) {
		lookups++
		if lookups == 1 {
			return hermes.Scope{}, errors.New("the database is busy")
		}
		return hermes.Scope{Tree: strings.ReplaceAll(session, "child of ", "")}, nil
	}
	g := spend.New(cfg)
	m := layers(g, hermestest.NewScript(said(30, 10)).Named("p:m").Forever())
	ask := func(session, purpose string) error {
		r := request(session, 1)
		r.Purpose = purpose
		_, err := hermes.Collect(m.Stream(t.Context(), r))
		return err
	}
	refused := func(session, purpose string) {
		t.Helper()
		err := ask(session, purpose)
		if hermes.ClassOf(err) != hermes.ClassBudget || !strings.Contains(err.Error(), "the budget of this session is reached") || !strings.Contains(err.Error(), "larger budget") {
			t.Errorf("%s %s: %v", session, purpose, err)
		}
	}
	_ = ask("child of root", "") // what it belongs to could not be looked up
	g.Bound("root", "", hermes.USD(1))
	refused("root", "title") // before any other call of the session
	refused("child of root", "")
	refused("child of root", "compression")
	g.Bound("child of root", "root", hermes.USD(2000)) // a child never has more
	refused("child of root", "")
	if err := ask("another", ""); err != nil {
		t.Errorf("a bound of one session stops another: %v", err)
	}
	g.Forget("root")
	if err := ask("root", ""); err != nil {
		t.Errorf("a bound that was removed: %v", err)
	}
	g.Bound("child of root", "root", hermes.USD(1))
	g.Bound("child of child of root", "child of root", 0) // it has no bound of its own
	for _, session := range []string{"child of root", "child of child of root"} {
		if err := ask(session, ""); hermes.ClassOf(err) != hermes.ClassBudget || !strings.Contains(err.Error(), "the budget of this sub-agent is reached") {
			t.Errorf("%s: %v", session, err)
		}
	}
	if err := ask("root", ""); err != nil {
		t.Errorf("a bound of a child stops its parent: %v", err)
	}
}
