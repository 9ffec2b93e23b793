package session_test

import (
	"context"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// closer is a follower whose Stop waits for a call, as that of a toolset does which closes what a call still opens.
type closer struct {
	restorer
	stop func()
}

func (c closer) Stop() { c.stop() }

// TestStopEndsACallThatItsToolsWaitFor: the turn is stopped before the processes are ended.
func TestStopEndsACallThatItsToolsWaitFor(t *testing.T) {
	t.Parallel()
	opens, ended := make(chan struct{}), make(chan struct{})
	open := echo("open")
	open.run = func(ctx context.Context, _ *hermes.Call) hermes.Result {
		close(opens)
		<-ctx.Done()
		close(ended)
		return hermes.Result{}
	}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("open", `{}`)), newToolTable(open), func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			r, err := newRuntime(ctx, run)
			r.Follower = closer{restorer(func([]hermes.Message) {}), func() {
				select {
				case <-ended:
				case <-time.After(20 * time.Second):
					t.Error("the call goes on while its processes are ended")
				}
			}}
			return r, err
		}
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	<-opens
	submit(t, s, hermes.Stop{Processes: true})
	until[hermes.TurnDone](e)
}
