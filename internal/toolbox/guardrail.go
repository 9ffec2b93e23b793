package toolbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"hermes"
	"hermes/internal/argument"
)

// Guardrail says after how many repeats the model is warned, and after how many
// it is stopped. A zero number means the default given beside it.
type Guardrail struct {
	Quiet    bool // no warnings
	HardStop bool // stop calls that repeat in spite of the warnings
	// HardStopUnattended is HardStop while no user attends.
	HardStopUnattended bool

	WarnExact, BlockExact   int // 2, 5: the same call failing again
	WarnTool, StopTool      int // 3, 8: the same tool failing
	WarnSame, BlockProgress int // 2, 5: the same read giving the same result
	WarnEqual, BlockEqual   int // 15, 25: any call giving the same result while nothing else is new

	// Searches and Subagents are the most of each that a turn may have, with or
	// without HardStop; 0 means no cap.
	Searches, Subagents int
}

func (g Guardrail) orDefaults() Guardrail {
	g.WarnExact, g.BlockExact = cmp.Or(g.WarnExact, 2), cmp.Or(g.BlockExact, 5)
	g.WarnTool, g.StopTool = cmp.Or(g.WarnTool, 3), cmp.Or(g.StopTool, 8)
	g.WarnSame, g.BlockProgress = cmp.Or(g.WarnSame, 2), cmp.Or(g.BlockProgress, 5)
	g.WarnEqual, g.BlockEqual = cmp.Or(g.WarnEqual, 15), cmp.Or(g.BlockEqual, 25)
	return g
}

// slow is from when on a call counts as waiting: polling that takes its time is no
// loop, although its result stays the same.
const slow = 2 * time.Second

// readers are the tools that only read: the same result twice means no
// progress. Other tools may well succeed with the same result twice, such as
// polling a process.
var readers = []string{
	"browser_get_images", "browser_snapshot", "ha_get_state", "ha_list_entities", "ha_list_services", "read_file", "search_files",
	"session_search", "skill_view", "skills_list", "web_extract", "web_search",
}

// bystanders are the tools that change nothing that a failed call may depend on.
var bystanders = []string{"clarify", "process", "send_message", "text_to_speech", "todo"}

// shells are the tools whose calls differ as much as their commands: failures of
// different commands say nothing about the next one.
var shells = []string{"terminal"}

// signature identifies equal calls: the tool and its arguments in canonical form.
type signature struct {
	tool      string
	arguments [sha256.Size]byte
}

func sign(c *hermes.Call) signature {
	text := []byte(c.Arguments)
	if canonical, err := argument.Encode(argument.Decode(text)); err == nil {
		text = canonical
	}
	return signature{c.Name, sha256.Sum256(text)}
}

// guardrail counts calls that fail or make no progress, appends a warning for
// the model to the result, and stops repeats if HardStop is set. A block is
// decided before a call and refuses that call; a stop is decided after a call
// and ends the tool use of the turn. Calls that another call makes are not counted: that one has
// a limit of its own, and its end is counted.
func (b *Toolbox) guardrail(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		sig := sign(c.Call)
		if r, blocked := b.streaks.blocked(sig, attended(c.Call) && !onlyUser(c.Call)); blocked {
			c.by = byGuardrail
			return r
		}
		if why := b.streaks.take(c.Call); why != "" {
			c.by = byGuardrail
			return hermes.ErrorResult(why)
		}
		began := b.o.Now()
		r := next(ctx, c)
		if c.Invoked() {
			return r
		}
		if ctx.Err() != nil {
			return r // an interrupted call says nothing about the next
		}
		if warning := b.streaks.count(sig, changes(c), b.o.Now().Sub(began) >= slow, r); warning != "" {
			r.Text += "\n\n" + warning
		}
		r.StopReason = b.streaks.stop() // may be set by a call that this one made
		return r
	}
}

// attended reports whether a user can be asked about a call.
func attended(c *hermes.Call) bool { return c.Host != nil && c.Host.Session().Attended }

// changes reports whether a call may have changed what an earlier failure
// depended on.
func changes(c *call) bool {
	return c.Spec.Name != "" && !slices.Contains(bystanders, c.Spec.Name) && c.Spec.EffectOf(c.Arguments) != hermes.EffectNone
}

// The guardrail's texts for the model.
const (
	exactBlock      = "blocked (repeated_exact_failure_block): this same call of %s failed %d times; change the arguments or the approach, or tell the user what the problem is"
	progressBlock   = "blocked (idempotent_no_progress_block): this call of %s returned the same result %d times; use that result"
	equalBlock      = "blocked (repeated_success_block): this call of %s succeeded %d times with the same result, and nothing else was new; use that result, wait for a change with one longer call, or tell the user what is missing"
	equalWarning    = "[repeated_success_warning: this call gave the same result %d times, and nothing else is new. Go on with it, or wait for a change with one longer call.]"
	toolStop        = "same_tool_failure_halt: %s failed %d times in a row"
	exactWarning    = "[repeated_exact_failure_warning: this same call failed %d times. Do not send it again unchanged: read the error, then change the arguments or the approach.]"
	toolWarning     = "[same_tool_failure_warning: %s failed %d times in a row. Check what it needs before the next call, or use another tool.]"
	progressWarning = "[idempotent_no_progress_warning: this call returned the same result %d times. Use it, or ask for something else.]"
)
