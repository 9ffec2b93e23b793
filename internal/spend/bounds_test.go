package spend_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/spend"
)

// TestACapNearTheLimitOfItsTypeLimitsNothing: no sum or product of it overflows.
func TestACapNearTheLimitOfItsTypeLimitsNothing(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	for _, limit := range []hermes.Amount{{Tokens: most}, {Tokens: most - 1}, {Tokens: most / 50}, {Money: most}, {Money: most - 1}, {Money: most, Tokens: most}} {
		var asked []hermes.Request
		script := hermestest.NewScript(said(40, 10)).Named("p:m").Forever()
		g := spend.New(config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountSession: limit}))
		m := layers(g, &watched{script, &asked})
		for range 2 {
			if notices := mustAsk(t, m, request("s", 1)); len(notices) > 0 {
				t.Errorf("%+v: %q", limit, notices)
			}
		}
		if err := g.Raise(t.Context(), "s", "", hermes.AccountSession, limit); err != nil {
			t.Fatal(err)
		}
		mustAsk(t, m, request("s", 2))
		for _, r := range asked {
			if r.MaxTokens != 10 || r.Ceiling != 0 {
				t.Errorf("%+v: the answer is limited to %d, %d tokens", limit, r.MaxTokens, r.Ceiling)
			}
		}
		lines, err := g.Status(t.Context(), "s", 0)
		if err != nil || lines[1].Percent() != 0 || lines[1].Cap.Money < limit.Money || lines[1].Cap.Tokens < limit.Tokens {
			t.Errorf("%+v: %+v, %v", limit, lines[1], err)
		}
	}
}

// watched keeps the requests that reach a model.
type watched struct {
	hermes.Model
	asked *[]hermes.Request
}

func (m *watched) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	*m.asked = append(*m.asked, *r)
	return m.Model.Stream(ctx, r)
}

// TestEndedCallsAreForgotten, whichever way they end: a governor lives as long as
// the program.
func TestEndedCallsAreForgotten(t *testing.T) {
	t.Parallel()
	steps := []hermestest.Step{said(1, 1), {Text: "half", Err: errors.New("broken off")}, {Err: errors.New("refused")}}
	for leave := range 2 {
		g := spend.New(config(hermestest.NewLedger(), noon(), spend.Caps{hermes.AccountDay: dollars(100)}))
		for name, m := range map[string]hermes.Model{
			"both layers": layers(g, hermestest.NewScript(steps...).Named("p:m").Forever()), "the meter alone": g.Meter(hermestest.NewScript(steps...).Named("p:m").Forever()),
			"the caps alone": g.Caps(hermestest.NewScript(steps...).Named("p:m").Forever()),
		} {
			for range 6 {
				for range m.Stream(t.Context(), request("s", 1)) {
					if leave > 0 {
						break
					}
				}
			}
			if n := g.Running(); n != 0 {
				t.Errorf("%s: %d calls are still known", name, n)
			}
		}
	}
}
