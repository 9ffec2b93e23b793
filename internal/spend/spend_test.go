package spend_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/spend"
)

// clock is steered by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

func noon() *clock { return &clock{t: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

// price is a dollar for a token of input or output, a tenth from the
// cache.
func price(ref string) (hermes.Price, bool) {
	p := hermes.Price{Input: hermes.USD(1e6), Output: hermes.USD(1e6), CacheRead: hermes.USD(1e5), CacheWrite: hermes.USD(1e6)}
	return p, ref != "p:unknown"
}

func config(l hermes.Ledger, c *clock, caps spend.Caps) spend.Config {
	return spend.Config{
		Ledger: func(context.Context) (hermes.Ledger, error) { return l, nil },
		Caps:   caps, WarnAt: []int{50, 75, 90}, Price: price, Owner: "me", Location: time.UTC, Now: c.now,
	}
}

func dollars(n float64) hermes.Amount { return hermes.Amount{Money: hermes.USD(n)} }

// layers puts a model below both layers.
func layers(g *spend.Governor, m hermes.Model) hermes.Model { return g.Caps(g.Meter(m)) }

// request asks in a turn of a session.
func request(session string, turn int64) *hermes.Request {
	m := hermes.UserText("hello")
	m.Turn = turn
	return &hermes.Request{Session: session, Messages: []hermes.Message{m}, MaxTokens: 10}
}

// said is an answer that costs so many tokens.
func said(in, out int64) hermestest.Step {
	return hermestest.Step{Text: "ok", Usage: &hermes.Usage{Input: in, Output: out, Calls: 1}}
}

// ask returns the notices of a call and its error.
func ask(t *testing.T, m hermes.Model, r *hermes.Request) (notices []string, err error) {
	t.Helper()
	for d, err := range m.Stream(t.Context(), r) {
		if err != nil {
			return notices, err
		}
		if d.Notice != "" {
			notices = append(notices, d.Notice)
		}
	}
	return notices, nil
}

func mustAsk(t *testing.T, m hermes.Model, r *hermes.Request) []string {
	t.Helper()
	notices, err := ask(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	return notices
}

func mustRefuse(t *testing.T, m hermes.Model, r *hermes.Request) string {
	t.Helper()
	_, err := ask(t, m, r)
	if hermes.ClassOf(err) != hermes.ClassBudget {
		t.Fatalf("got %v, want a refusal", err)
	}
	e, _ := errors.AsType[*hermes.ModelError](err)
	if e.Retry || e.Fallback || e.Rotate || e.Compress {
		t.Errorf("a cap must not be worked round: %+v", e)
	}
	return e.Message
}

func spent(t *testing.T, l hermes.Ledger, kind hermes.AccountKind, name string) hermes.Balance {
	t.Helper()
	list, err := l.Balances(t.Context(), hermes.Account{Kind: kind, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestACallIsBookedOnAllItsAccounts(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	cfg := config(l, noon(), nil)
	cfg.Scope = func(_ context.Context, session string) (hermes.Scope, error) {
		return hermes.Scope{Tree: "root", Job: "nightly"}, nil
	}
	m := layers(spend.New(cfg), hermestest.NewScript(said(30, 10)))
	mustAsk(t, m, request("child", 3))
	for kind, name := range map[hermes.AccountKind]string{
		hermes.AccountTurn: "child/3", hermes.AccountSession: "child", hermes.AccountTree: "root", hermes.AccountJob: "nightly",
		hermes.AccountDay: "2026-11-20", hermes.AccountMonth: "2026-11",
	} {
		want := hermes.Balance{Account: hermes.Account{Kind: kind, Name: name}, Spent: hermes.Amount{Money: hermes.USD(40), Tokens: 40}, Calls: 1}
		if d := cmp.Diff(want, spent(t, l, kind, name)); d != "" {
			t.Errorf("%s: -want +got:\n%s", kind, d)
		}
	}
}

// A title may be looked for while the next turn runs already.
func TestSideCallsAreBookedOnTheirTurn(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	m := layers(spend.New(config(l, noon(), nil)), hermestest.NewScript(said(30, 10)).Named("p:m").Forever())
	side := func(turn int64) *hermes.Request {
		return &hermes.Request{Session: "s", Scope: hermes.Scope{Turn: turn}, Messages: []hermes.Message{hermes.UserText("give it a title")}}
	}
	mustAsk(t, m, request("s", 1))
	mustAsk(t, m, request("s", 2))
	mustAsk(t, m, side(1))
	mustAsk(t, m, side(0)) // its turn is unknown
	mustAsk(t, m, side(3)) // a summary, before the turn's first call
	for name, want := range map[string]int64{"s/1": 2, "s/2": 2, "s/3": 1} {
		if got := spent(t, l, hermes.AccountTurn, name).Calls; int64(got) != want {
			t.Errorf("%s: %d calls, want %d", name, got, want)
		}
	}
}

func TestEachCapRefusesInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  hermes.AccountKind
		words []string
	}{
		{hermes.AccountTurn, []string{"this turn", "go on", "hermes config set spend.turn.usd 200"}},
		{hermes.AccountSession, []string{"this session", "/budget raise session 100", "hermes config set spend.session.usd 200"}},
		{hermes.AccountTree, []string{"sub-agents", "/budget raise tree 100"}},
		{hermes.AccountJob, []string{"scheduled job", "hermes spend raise job 100 --name nightly"}},
		{hermes.AccountDay, []string{"today", "until 2026-11-21 00:00 UTC", "/budget raise day 100"}},
		{hermes.AccountMonth, []string{"this month", "until 2026-12-01 00:00 UTC"}},
	} {
		l := hermestest.NewLedger()
		script := hermestest.NewScript(said(40, 10), said(40, 10), said(40, 10)).Named("p:m")
		m := layers(spend.New(config(l, noon(), spend.Caps{c.kind: dollars(100)})), script)
		r := request("s", 1)
		r.Scope.Job = "nightly"
		mustAsk(t, m, r)
		mustAsk(t, m, r)
		text := mustRefuse(t, m, r)
		for _, w := range append(c.words, "$100.00 of $100.00") {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q does not say %q", c.kind, text, w)
			}
		}
		if script.Left() != 1 {
			t.Errorf("%s: the model was called anyway", c.kind)
		}
	}
}

func TestTheNextWindowHasItsOwnCap(t *testing.T) {
	t.Parallel()
	l, c := hermestest.NewLedger(), noon()
	m := layers(spend.New(config(l, c, spend.Caps{hermes.AccountTurn: dollars(50), hermes.AccountDay: dollars(100)})), hermestest.NewScript(said(40, 10)).Named("p:m").Forever())
	mustAsk(t, m, request("s", 1))
	mustRefuse(t, m, request("s", 1))
	mustAsk(t, m, request("s", 2))
	mustRefuse(t, m, request("s", 3)) // the day
	c.set(c.now().Add(12 * time.Hour))
	mustAsk(t, m, request("s", 3))
}

// TestAClockThatJumpsFreesNothing: yesterday's cap is no way round today's, and
// what is settled in another day than it was reserved counts once.
func TestAClockThatJumpsFreesNothing(t *testing.T) {
	t.Parallel()
	l, c := hermestest.NewLedger(), noon()
	day := c.now()
	g := spend.New(config(l, c, spend.Caps{hermes.AccountDay: dollars(100), hermes.AccountMonth: dollars(100)}))
	jump := hermestest.NewScript(said(80, 10)).Named("p:m").Forever()
	m := layers(g, model{jump, func() { c.set(day.Add(-72 * time.Hour)) }})
	mustAsk(t, m, request("s", 1))
	mustRefuse(t, m, request("s", 2))
	c.set(day.Add(-40 * 24 * time.Hour))
	mustRefuse(t, m, request("s", 2))
	c.set(day)
	mustRefuse(t, m, request("s", 2))
	if b := spent(t, l, hermes.AccountMonth, "2026-11"); b.Spent.Money != hermes.USD(90) || b.Reserved.Money != 0 {
		t.Errorf("the balance of the month is %+v", b)
	}
}

// model does something before each answer.
type model struct {
	hermes.Model
	before func()
}

func (m model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	m.before()
	return m.Model.Stream(ctx, r)
}

func TestTheNewWindowBeginsWhereTheUserLives(t *testing.T) {
	t.Parallel()
	l, c := hermestest.NewLedger(), noon() // already the 21st in Auckland
	cfg := config(l, c, nil)
	cfg.Location = time.FixedZone("NZDT", 13*3600)
	mustAsk(t, layers(spend.New(cfg), hermestest.NewScript(said(1, 1))), request("s", 1))
	if b := spent(t, l, hermes.AccountDay, "2026-11-21"); b.Calls != 1 {
		t.Errorf("the balance of the day is %+v", b)
	}
}

func TestWarningsComeOnceEachAndReachTheUser(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	g := spend.New(config(l, noon(), spend.Caps{hermes.AccountSession: dollars(200), hermes.AccountTree: dollars(200)}))
	m := layers(g, hermestest.NewScript(said(5, 5)).Named("p:m").Forever())
	var notices []string
	for i := range 19 {
		r := request("s", int64(i))
		if i%2 == 1 {
			r.Purpose = "title" // its notices are not shown
		}
		notices = append(notices, mustAsk(t, m, r)...)
	}
	var percents []string
	for _, n := range notices {
		percents = append(percents, n[:4])
	}
	if d := cmp.Diff([]string{"50 %", "75 %", "90 %"}, percents); d != "" {
		t.Errorf("-want +got:\n%s\n%q", d, notices)
	}
}

func TestChildrenDoNotUseWarningsUp(t *testing.T) {
	t.Parallel()
	cfg := config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountTree: dollars(100)})
	cfg.Scope = func(_ context.Context, session string) (hermes.Scope, error) { return hermes.Scope{Tree: "root"}, nil }
	m := layers(spend.New(cfg), hermestest.NewScript(said(30, 25)).Named("p:m").Forever())
	if n := mustAsk(t, m, request("child", 1)); len(n) > 0 {
		t.Errorf("a child is warned: %q", n)
	}
	if n := mustAsk(t, m, request("root", 1)); len(n) != 1 {
		t.Errorf("the user sees %q", n)
	}
}

func TestAuxiliaryCallsPassTheSameMeter(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	m := layers(spend.New(config(l, noon(), spend.Caps{hermes.AccountTurn: dollars(100)})), hermestest.NewScript(said(40, 10)).Named("p:m").Forever())
	mustAsk(t, m, request("s", 7))
	aux := request("s", 0)
	aux.Purpose = "compression"
	mustAsk(t, m, aux)
	mustRefuse(t, m, aux)
	list, err := l.Spent(t.Context(), hermes.SpendQuery{By: hermes.SpendByPurpose})
	if err != nil || len(list) != 2 || spent(t, l, hermes.AccountTurn, "s/7").Calls != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestRaisingLetsTheSessionGoOn(t *testing.T) {
	t.Parallel()
	g := spend.New(config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountSession: dollars(50), hermes.AccountDay: {Tokens: 1000}}))
	m := layers(g, hermestest.NewScript(said(40, 10)).Named("p:m").Forever())
	mustAsk(t, m, request("s", 1))
	mustRefuse(t, m, request("s", 2))
	if err := g.Raise(t.Context(), "s", "", hermes.AccountSession, dollars(60)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, m, request("s", 2))
	mustAsk(t, m, request("other", 1))
	lines, err := g.Status(t.Context(), "s", 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(lines, func(l spend.Line) bool { return l.Balance.Account.Kind == hermes.AccountSession })
	if lines[i].Cap.Money != hermes.USD(110) || lines[i].Percent() != 90 {
		t.Errorf("the balance of the session is %+v, %d %%", lines[i], lines[i].Percent())
	}
	for _, c := range []struct {
		kind hermes.AccountKind
		by   hermes.Amount
	}{{"week", dollars(1)}, {hermes.AccountMonth, dollars(1)}, {hermes.AccountDay, dollars(1)}, {hermes.AccountSession, hermes.Amount{Tokens: 5}}} {
		if err := g.Raise(t.Context(), "s", "", c.kind, c.by); err == nil {
			t.Errorf("a cap on %s that is not there was raised", c.kind)
		}
	}
}

func TestFailuresAndInterruptionsAreSettled(t *testing.T) {
	t.Parallel()
	usage := func(in, out int64) hermes.Delta {
		return hermes.Delta{Usage: &hermes.Usage{Input: in, Output: out, Calls: 1}}
	}
	for _, c := range []struct {
		name      string
		step      hermestest.Step
		leave     int // after so many deltas; 0 stays
		tokens    int64
		estimated int64
	}{
		{name: "refused before anything came", step: hermestest.Fail(errors.New("no")), tokens: 0},
		{name: "broken after the usage", step: hermestest.Step{Deltas: []hermes.Delta{usage(100, 1), {Text: "four"}}, Err: errors.New("cut")}, tokens: 101},
		{name: "broken with more text than was counted", step: hermestest.Step{Deltas: []hermes.Delta{usage(100, 1), {Text: strings.Repeat("word", 50)}}, Err: errors.New("cut")}, tokens: 150, estimated: 1},
		{name: "left by the reader", step: hermestest.Step{Deltas: []hermes.Delta{usage(100, 1), {Text: strings.Repeat("word", 20)}, {Text: "more"}}}, leave: 2, tokens: 120, estimated: 1},
	} {
		l := hermestest.NewLedger()
		m := layers(spend.New(config(l, noon(), nil)), hermestest.NewScript(c.step).Named("p:m"))
		n := 0
		for range m.Stream(t.Context(), request("s", 1)) {
			if n++; n == c.leave {
				break
			}
		}
		b := spent(t, l, hermes.AccountSession, "s")
		list, err := l.Spent(t.Context(), hermes.SpendQuery{})
		if err != nil || b.Spent.Tokens != c.tokens || b.Reserved != (hermes.Amount{}) || list[0].Estimated != c.estimated {
			t.Errorf("%s: got %+v, %+v, %v", c.name, b, list, err)
		}
	}
}

func TestAnswersWithoutUsageAreEstimated(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	r := request("s", 1)
	r.System = strings.Repeat("four", 1000)
	silent := hermestest.Step{Deltas: []hermes.Delta{{Text: strings.Repeat("word", 10)}, {Finish: hermes.FinishStop}}, Err: errors.New("no usage is made up")}
	_, _ = ask(t, layers(spend.New(config(l, noon(), nil)), hermestest.NewScript(silent).Named("p:m")), r)
	b := spent(t, l, hermes.AccountSession, "s")
	if b.Spent.Tokens < 1010 || b.Spent.Tokens > 1030 || b.Spent.Money == 0 {
		t.Errorf("got %+v", b)
	}
}

// relay is a layer that asks several models, one after another, until one answers.
type relay struct{ models []hermes.Model }

func (r relay) ID() string { return r.models[0].ID() }

func (r relay) Stream(ctx context.Context, q *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var last error
		for _, m := range r.models {
			last = nil
			for d, err := range m.Stream(ctx, q) {
				if err != nil {
					last = err
					break
				}
				if !yield(d, nil) {
					return
				}
			}
			if last == nil {
				return
			}
		}
		yield(hermes.Delta{}, &hermes.ModelError{Message: "in other words: " + last.Error(), Err: last})
	}
}

// TestEveryAttemptIsBookedAtItsPrice: an answer that is thrown away costs as much
// as one that is kept, at the price of the model that gave it.
func TestEveryAttemptIsBookedAtItsPrice(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	cfg := config(l, noon(), nil)
	cfg.Price = func(ref string) (hermes.Price, bool) {
		return hermes.Price{Input: map[string]hermes.Money{"p:m": hermes.USD(1e6), "p:cheap": hermes.USD(1e5)}[ref]}, ref != "p:unknown"
	}
	half := hermestest.Step{Deltas: []hermes.Delta{{Usage: &hermes.Usage{Input: 10, Calls: 1}}, {Text: "half"}}, Err: errors.New("cut")}
	whole := hermestest.Step{Text: "ok", Usage: &hermes.Usage{Input: 20, Output: 1, Calls: 1}}
	g := spend.New(cfg)
	m := relay{[]hermes.Model{
		g.Meter(hermestest.NewScript(half).Named("p:m")), g.Meter(hermestest.NewScript(half).Named("p:unknown")), g.Meter(hermestest.NewScript(whole).Named("p:cheap")),
	}}
	mustAsk(t, g.Caps(m), request("s", 1))
	if b := spent(t, l, hermes.AccountSession, "s"); b.Spent.Money != hermes.USD(12) || b.Spent.Tokens != 43 || b.Calls != 3 || b.Unpriced != 1 || b.Reserved != (hermes.Amount{}) {
		t.Errorf("got %+v", b)
	}
	list, err := l.Spent(t.Context(), hermes.SpendQuery{By: hermes.SpendByModel})
	if err != nil || len(list) != 3 || list[0].Name != "p:m" || list[1].Name != "p:cheap" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestCostOfPurposes(t *testing.T) {
	t.Parallel()
	g := spend.New(config(hermestest.NewLedger(), noon(), nil))
	priced := layers(g, hermestest.NewScript(said(40, 10)).Named("p:m").Forever())
	unpriced := layers(g, hermestest.NewScript(said(40, 10)).Named("p:unknown").Forever())
	of := func(session, purpose string) *hermes.Request {
		r := request(session, 1)
		r.Purpose = purpose
		return r
	}
	mustAsk(t, priced, of("s", "review"))
	mustAsk(t, priced, of("s", "title"))
	mustAsk(t, priced, of("other", "review"))
	one, known := g.CostOf(t.Context(), "s", "review")
	if both, _ := g.CostOf(t.Context(), "s", "review", "title"); one <= 0 || both != 2*one || !known {
		t.Errorf("one purpose cost %v, two cost %v, known is %t", one, both, known)
	}
	mustAsk(t, unpriced, of("s", "title"))
	if got, known := g.CostOf(t.Context(), "s", "review"); got != one || !known {
		t.Errorf("a price of another purpose is unknown: %v, %t", got, known)
	}
	if _, known := g.CostOf(t.Context(), "s", "title"); known {
		t.Error("an unknown price counts as known")
	}
}

func TestModelsWithoutPrice(t *testing.T) {
	t.Parallel()
	g := spend.New(config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountSession: dollars(50)}))
	known := layers(g, hermestest.NewScript(said(40, 10)).Named("p:m").Forever())
	unknown := layers(g, hermestest.NewScript(said(40, 10)).Named("p:unknown").Forever())
	if n := mustAsk(t, unknown, request("s", 1)); len(n) != 1 || !strings.Contains(n[0], "spend.prices") {
		t.Errorf("the user sees %q", n)
	}
	if n := mustAsk(t, unknown, request("s", 1)); len(n) != 0 {
		t.Errorf("the user is warned again: %q", n)
	}
	mustAsk(t, known, request("s", 1))
	mustRefuse(t, unknown, request("s", 1)) // what is used up is used up for all
}

func TestWithoutALedgerOnlyUncappedCallsAreMade(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for _, capped := range []bool{false, true} {
		l := hermestest.NewLedger()
		l.Fail = func(string) error { return broken }
		var caps spend.Caps
		if capped {
			caps = spend.Caps{hermes.AccountDay: dollars(1)}
		}
		m := layers(spend.New(config(l, noon(), caps)), hermestest.NewScript(said(1, 1)).Named("p:m"))
		_, err := ask(t, m, request("s", 1))
		if capped != errors.Is(err, broken) || capped != (hermes.ClassOf(err) == hermes.ClassBudget) {
			t.Errorf("capped %v: got %v", capped, err)
		}
	}
}

func TestALongAnswerKeepsItsReservation(t *testing.T) {
	t.Parallel()
	l, c := hermestest.NewLedger(), noon()
	caps := spend.Caps{hermes.AccountSession: dollars(20)}
	other := config(l, c, caps)
	other.Owner = "you"
	second := layers(spend.New(other), hermestest.NewScript(said(5, 5)).Named("p:m"))
	step := hermestest.Step{Deltas: []hermes.Delta{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}}, Usage: &hermes.Usage{Input: 1, Output: 1, Calls: 1}}
	first := layers(spend.New(config(l, c, caps)), hermestest.NewScript(step).Named("p:m"))
	asked := 0
	for d, err := range first.Stream(t.Context(), request("s", 1)) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text == "" {
			continue
		}
		c.set(c.now().Add(35 * time.Minute))
		if asked++; asked > 1 {
			mustRefuse(t, second, request("s", 1))
		}
	}
	if asked != len(step.Deltas) {
		t.Errorf("the answer had %d pieces, want %d", asked, len(step.Deltas))
	}
	mustAsk(t, second, request("s", 1)) // what was reserved is free again
}

// TestCallsAtOnceAreToldApart: each attempt is booked on its own call, whichever began last.
func TestCallsAtOnceAreToldApart(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	g := spend.New(config(l, noon(), spend.Caps{hermes.AccountSession: dollars(20)}))
	var rests []func()
	for session, tokens := range map[string]int64{"a": 5, "b": 9} {
		m := layers(g, hermestest.NewScript(said(tokens-1, 1)).Named("p:m"))
		next, stop := iter.Pull2(m.Stream(t.Context(), request(session, 1)))
		defer stop()
		if d, err, _ := next(); err != nil || d.Notice == "" { // a warning, before its first attempt
			t.Fatalf("got %+v, %v", d, err)
		}
		rests = append(rests, func() {
			for _, err, more := next(); more; _, err, more = next() {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, rest := range rests {
		rest()
	}
	for session, want := range map[string]int64{"a": 5, "b": 9} {
		if got := spent(t, l, hermes.AccountSession, session); got.Spent.Tokens != want || got.Calls != 1 {
			t.Errorf("session %s: %+v, want %d tokens in one call", session, got, want)
		}
	}
}

// TestWhateverComesIsHeldToTheCap: text, thinking and the arguments of calls.
func TestWhateverComesIsHeldToTheCap(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 10)
	for name, d := range map[string]hermes.Delta{
		"text": {Text: words}, "thinking": {Reasoning: words}, "arguments": {Call: &hermes.CallDelta{Name: "write", Arguments: words}},
	} {
		step := hermestest.Step{Deltas: slices.Repeat([]hermes.Delta{d}, 50)}
		g := spend.New(config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountSession: dollars(30)}))
		if _, err := ask(t, layers(g, hermestest.NewScript(step).Named("p:m")), request("s", 1)); hermes.ClassOf(err) != hermes.ClassBudget {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestThePriceHasTheRateOfTheCache: an hour costs more to write than five minutes.
func TestThePriceHasTheRateOfTheCache(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[string]hermes.Money{"": hermes.USD(2), "5m": hermes.USD(2), "1h": hermes.USD(3)} {
		cfg := config(hermestest.NewLedger(), noon(), nil)
		cfg.CacheTTL = ttl
		cfg.Price = func(string) (hermes.Price, bool) {
			return hermes.Price{CacheWrite: hermes.USD(2), CacheWriteLong: hermes.USD(3)}, true
		}
		if p, ok := spend.New(cfg).Price("p:m"); !ok || p.CacheWrite != want {
			t.Errorf("%q: got %v, %v, want %v", ttl, p.CacheWrite, ok, want)
		}
	}
}

// TestAFaultInTheCapsRefusesCalls: no call is made if it is not known what it may cost.
func TestAFaultInTheCapsRefusesCalls(t *testing.T) {
	t.Parallel()
	fault := errors.New("spend.day.usd is no number")
	cfg := config(hermestest.NewLedger(), noon(), nil)
	cfg.Fault = fault
	asked := false
	m := layers(spend.New(cfg), model{hermestest.NewScript(said(1, 1)).Named("p:m"), func() { asked = true }})
	if _, err := ask(t, m, request("s", 1)); !errors.Is(err, fault) || asked {
		t.Errorf("asked %v, %v", asked, err)
	}
}

// extending counts how often a reservation is prolonged.
type extending struct {
	*hermestest.Ledger
	times int
}

func (e *extending) Extend(ctx context.Context, id int64, until time.Time, more hermes.Amount, limits ...hermes.Limit) error {
	e.times++
	return e.Ledger.Extend(ctx, id, until, more, limits...)
}

// TestAReservationIsProlongedRarely: not with each piece of an answer.
func TestAReservationIsProlongedRarely(t *testing.T) {
	t.Parallel()
	l, c := &extending{Ledger: hermestest.NewLedger()}, noon()
	step := hermestest.Step{Usage: &hermes.Usage{Input: 1, Output: 1, Calls: 1}}
	for range 100 {
		step.Deltas = append(step.Deltas, hermes.Delta{Text: "a"})
	}
	m := layers(spend.New(config(l, c, nil)), hermestest.NewScript(step).Named("p:m"))
	n := 0
	for _, err := range m.Stream(t.Context(), request("s", 1)) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 50 {
			c.set(c.now().Add(35 * time.Minute))
		}
	}
	if l.times != 1 {
		t.Errorf("an answer of 35 minutes prolonged its reservation %d times", l.times)
	}
}

// TestEstimatesLearn: the second estimate knows how long answers are and that
// most of the prompt comes from the cache; so does that of the next process.
func TestEstimatesLearn(t *testing.T) {
	t.Parallel()
	l := hermestest.NewLedger()
	r := &hermes.Request{Session: "s", System: strings.Repeat("four", 1000), Messages: []hermes.Message{hermes.UserText("x")}}
	usage := hermes.Usage{CacheRead: 990, CacheWrite: 10, Output: 50, Calls: 1}
	cached := hermestest.NewScript(hermestest.Step{Text: "ok", Usage: &usage}).Named("p:m").Forever()
	var reserved []hermes.Amount
	watch := func() { reserved = append(reserved, spent(t, l, hermes.AccountSession, "s").Reserved) }
	m := layers(spend.New(config(l, noon(), nil)), model{cached, watch})
	mustAsk(t, m, r)
	r.Messages = append(r.Messages, hermes.Message{Role: hermes.RoleAssistant, Usage: &usage, Model: "p:m"}, hermes.UserText("y"))
	mustAsk(t, m, r)
	mustAsk(t, layers(spend.New(config(l, noon(), nil)), model{cached, watch}), r)
	if reserved[0].Tokens < 3000 || reserved[1] != reserved[2] || reserved[1].Tokens > 1120 || reserved[1].Money > hermes.USD(230) {
		t.Errorf("the estimates are %+v", reserved)
	}
	r.Messages = r.Messages[:2]
	r.System, r.Messages[1].Usage = "short", &hermes.Usage{Input: 90_000, Output: 1, Calls: 1}
	mustAsk(t, m, r)
	if reserved[3].Tokens > 2000 {
		t.Errorf("after the transcript was shortened the estimate is %+v", reserved[3])
	}
}

func TestAmountsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hermes.Amount{
		"5": dollars(5), "$2.50": dollars(2.5), "0.5 usd": dollars(0.5), " 12 dollars ": dollars(12), "-1": dollars(-1),
		"200k tokens": {Tokens: 200_000}, "1.5M": {Tokens: 1_500_000}, "300 tokens": {Tokens: 300}, "1 token": {Tokens: 1}, "20k": {Tokens: 20_000},
	} {
		got, err := spend.ParseAmount(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "five", "NaN", "0", "1e300", "tokens", "$", "5 apples"} {
		if got, err := spend.ParseAmount(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// nothing answers at once.
type nothing struct{}

func (nothing) ID() string { return "p:m" }
func (nothing) Stream(context.Context, *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		_ = yield(hermes.Delta{Text: "ok"}, nil) && yield(hermes.Delta{Usage: &hermes.Usage{Input: 10, Output: 1, Calls: 1}}, nil) &&
			yield(hermes.Delta{Finish: hermes.FinishStop}, nil)
	}
}

// free is a ledger that records nothing, to measure only the meter.
type free struct{ hermes.Ledger }

func (free) Reserve(context.Context, hermes.Booking) (hermes.Reserved, error) {
	return hermes.Reserved{ID: 1}, nil
}
func (free) Spent(context.Context, hermes.SpendQuery) ([]hermes.Spending, error) { return nil, nil }
func (free) Settle(context.Context, int64, hermes.Charge) error                  { return nil }

// BenchmarkMeter is the overhead of the meter without its two writes, in a
// session of 2,000 messages.
func BenchmarkMeter(b *testing.B) {
	r := request("s", 1)
	for range 2000 {
		r.Messages = append(r.Messages, hermes.Message{Turn: 1, Parts: []hermes.Part{{Text: "some words"}}})
	}
	cfg := config(free{}, noon(), spend.Caps{hermes.AccountDay: dollars(1e6)})
	cfg.Now = time.Now
	m := layers(spend.New(cfg), nothing{})
	for b.Loop() {
		for range m.Stream(b.Context(), r) {
		}
	}
}
