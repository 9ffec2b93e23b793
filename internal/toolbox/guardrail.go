package toolbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"hermes"
)

// Guardrail says when calls that lead nowhere are warned of, and when they are
// stopped. A zero number is the default beside it.
type Guardrail struct {
	Quiet    bool // no warnings
	HardStop bool // stop what goes on after the warnings

	WarnExact, BlockExact   int // 2, 5: the same call failing again
	WarnTool, StopTool      int // 3, 8: the same tool failing
	WarnSame, BlockProgress int // 2, 5: the same reading giving the same result

	// Searches and Subagents are how many of each a turn may have, whether or
	// not the rest is stopped; 0 is no cap.
	Searches, Subagents int
}

func (g Guardrail) orDefaults() Guardrail {
	g.WarnExact, g.BlockExact = cmp.Or(g.WarnExact, 2), cmp.Or(g.BlockExact, 5)
	g.WarnTool, g.StopTool = cmp.Or(g.WarnTool, 3), cmp.Or(g.StopTool, 8)
	g.WarnSame, g.BlockProgress = cmp.Or(g.WarnSame, 2), cmp.Or(g.BlockProgress, 5)
	return g
}

// readers are the tools that only read, so that the same result twice means
// standing still. Others are not judged by equal success: a process that is
// polled may well say the same thing twice.
var readers = []string{
	"browser_get_images", "browser_snapshot", "ha_get_state", "ha_list_entities", "ha_list_services", "read_file", "search_files",
	"session_search", "skill_view", "skills_list", "web_extract", "web_search",
}

// bystanders are the tools that change nothing a failed call may depend on.
var bystanders = []string{"clarify", "process", "send_message", "text_to_speech", "todo"}

// shells are the tools whose calls are as different as their commands: that
// different ones fail says nothing about the next.
var shells = []string{"terminal"}

// signature tells calls apart: the tool and its arguments in canonical form.
type signature struct {
	tool      string
	arguments [sha256.Size]byte
}

func sign(c *hermes.Call) signature {
	text := []byte(c.Arguments)
	if canonical, err := plainJSON(decodeJSON(text)); err == nil {
		text = canonical
	}
	return signature{c.Name, sha256.Sum256(text)}
}

// guardrail counts calls that fail or stand still, warns the model under the
// result, and refuses to go on where that was asked for. A block is decided
// before a call and refuses that call; a halt is decided after one and ends
// the tool use of the turn.
func (b *Toolbox) guardrail(m member, next runner) runner {
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		sig := sign(c)
		if r, stands := b.streaks.blocked(sig); stands {
			return r
		}
		if why := b.streaks.take(c); why != "" {
			return failure(why)
		}
		r := next(ctx, c)
		if ctx.Err() != nil {
			return r // an interrupted call says nothing about the next
		}
		if warning := b.streaks.count(sig, changes(m, c), r); warning != "" {
			r.Text += "\n\n" + warning
		}
		r.StopReason = b.streaks.stop() // also of a call that this one made
		return r
	}
}

// changes reports whether a call may have changed what an earlier failure
// depended on.
func changes(m member, c *hermes.Call) bool {
	return m.spec.Name != "" && !slices.Contains(bystanders, m.spec.Name) && m.spec.EffectOf(c.Arguments) != hermes.EffectNone
}

// The texts that the guardrail has for the model.
func exactBlock(tool string, n int) string {
	return fmt.Sprintf("blocked (repeated_exact_failure_block): this very call of %s failed %d times; change the arguments or the approach, or tell the person what stands in the way", tool, n)
}

func progressBlock(tool string, n int) string {
	return fmt.Sprintf("blocked (idempotent_no_progress_block): this call of %s gave the same result %d times; use what it gave", tool, n)
}

func toolStop(tool string, n int) string {
	return fmt.Sprintf("same_tool_failure_halt: %s failed %d times in a row", tool, n)
}

func exactWarning(n int) string {
	return fmt.Sprintf("[repeated_exact_failure_warning: this very call failed %d times. Do not send it again unchanged: look at the error, then change the arguments or the approach.]", n)
}

func toolWarning(tool string, n int) string {
	return fmt.Sprintf("[same_tool_failure_warning: %s failed %d times in a row. Check what it needs before the next call, or use another tool.]", tool, n)
}

func progressWarning(n int) string {
	return fmt.Sprintf("[idempotent_no_progress_warning: this call gave the same result %d times. Use what you have, or ask for something else.]", n)
}
