package command

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hermes"
	"hermes/internal/prompt"
	"hermes/internal/session"
	"hermes/internal/text"
)

// contextUse shows what fills the window, how much of it was cached, what it
// costs per request, and what broke the cache.
func contextUse(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	all := strings.TrimSpace(c.Args) == "all"
	list := measure(st)
	if len(list) == 0 {
		return Result{Text: "Context: nothing sent yet. The prompt is built with the first message. To see its size, run `hermes prompt-size`."}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Context: %s", filled(st, list))
	if st.Threshold > 0 {
		fmt.Fprintf(&b, "; compresses at %s", text.Tokens(int64(st.Threshold)))
	}
	b.WriteString("\n\n")
	t := pricesOf(c, st)
	writePortions(&b, st, list, t)
	b.WriteString("\n")
	if line := cacheLine("the last request", st.Last); line != "" {
		b.WriteString(line + "\n")
	}
	b.WriteString(t.line(st.Last))
	b.WriteString(shortened(st.Row))
	b.WriteString(broken(st))
	if all {
		b.WriteString(largest(st))
	}
	return Result{Text: b.String()}, nil
}

// filled says how full the window is, as counted by the service or else as
// estimated.
func filled(st session.State, list []portion) string {
	if st.Last.Prompt() > 0 || len(list) == 0 {
		return window(st)
	}
	sum := 0.0
	for _, p := range list {
		sum += p.tokens
	}
	all := "about " + text.Tokens(int64(sum))
	if st.Window > 0 {
		return fmt.Sprintf("%s of %s tokens (%s)", all, text.Tokens(int64(st.Window)), percent(sum, float64(st.Window)))
	}
	return all + " tokens (window size unknown)"
}

// writePortions writes the table. It has no cost column without known prices.
func writePortions(b *strings.Builder, st session.State, list []portion, t prices) {
	var sum portion
	for _, p := range list {
		sum.tokens, sum.sent, sum.cached, sum.uncached = sum.tokens+p.tokens, sum.sent+p.sent, sum.cached+p.cached, sum.uncached+p.uncached
	}
	whole := float64(st.Window)
	if whole <= 0 {
		whole = sum.tokens
	}
	row := func(name, tokens, part, cached, cost string) {
		fmt.Fprintf(b, "| %s | %s | %s | %s |", name, tokens, part, cached)
		if t.shown() {
			fmt.Fprintf(b, " %s |", cost)
		}
		b.WriteString("\n")
	}
	row("part", "tokens", "%", "cached", "cost") // narrow enough for 52 columns
	row("---", "---:", "---:", "---:", "---:")
	for _, p := range append(list, sum) {
		name := p.name
		if p.count > 0 {
			name = fmt.Sprintf("%s (%d)", name, p.count)
		}
		if p.name == "" {
			name = "**total**"
		}
		row(name, text.Tokens(int64(p.tokens+0.5)), share(p.tokens, whole), cachedOf(p, st), t.cost(p))
	}
}

// cachedOf says how much of a portion was read from the cache.
func cachedOf(p portion, st session.State) string {
	switch {
	case st.Last.Prompt() == 0:
		return "–"
	case p.sent == 0:
		return "new"
	case p.cached == 0:
		return "no"
	}
	return percent(p.cached, p.sent)
}

// shortened says which layers of the prompt were shortened, and why.
func shortened(row hermes.Session) string {
	var b strings.Builder
	for _, l := range row.Layers {
		if l.Was > 0 {
			fmt.Fprintf(&b, "\nShortened: %s from %s to %s, because %s.\n", prompt.Title(l.Name), prompt.Kilobytes(l.Was), prompt.Kilobytes(l.Bytes), plain(l.Why))
		}
	}
	return b.String()
}

// cacheLine says how many tokens of a usage were read from the cache, written
// to it, or neither.
func cacheLine(what string, u hermes.Usage) string {
	if u.Prompt() == 0 {
		return ""
	}
	line := fmt.Sprintf("Cache in %s: %s read, ", what, text.Tokens(u.CacheRead))
	if u.CacheWrite > 0 {
		line += text.Tokens(u.CacheWrite) + " written, "
	}
	return line + fmt.Sprintf("%s uncached (%d %% cached)", text.Tokens(u.Input), u.CacheRead*100/u.Prompt())
}

// broken says where the cache was last broken.
func broken(st session.State) string {
	p := st.Broken
	if p == nil {
		return ""
	}
	cause := ""
	if p.Cause != "" {
		cause = ", because of " + p.Cause
	}
	where := ""
	if p.To > p.From {
		where = fmt.Sprintf(", bytes %d to %d", p.From, p.To)
	}
	times := ""
	if st.Breaks > 1 {
		times = fmt.Sprintf(" (%d times in total)", st.Breaks)
	}
	return fmt.Sprintf("\nThe cache broke at %s, with request %d%s: %s%s changed. %d bytes before it are still cached, %d had to be sent again%s.\n",
		p.At.Local().Format("15:04:05"), p.Request, cause, plain(p.Section), where, p.Kept, p.Lost, times)
}

// largest lists the largest tools, layers of the prompt and messages.
func largest(st session.State) string {
	type item struct {
		name   string
		tokens int
	}
	var items []item
	for _, l := range st.Row.Layers {
		items = append(items, item{"prompt " + code(l.Name), l.Tokens})
	}
	for _, t := range st.Tools {
		items = append(items, item{"tool " + code(t.Name), toolTokens(t)})
	}
	for i, m := range st.Transcript {
		n := 0
		for _, c := range message(m, false) {
			n += c.tokens
		}
		name := fmt.Sprintf("message %d, turn %d", i+1, m.Turn)
		if m.ToolName != "" {
			name += ", " + code(m.ToolName)
		}
		items = append(items, item{name, n})
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].tokens > items[j].tokens })
	var b strings.Builder
	b.WriteString("\n| largest | tokens (estimate) |\n|---|---:|\n")
	for _, it := range items[:min(len(items), 20)] {
		fmt.Fprintf(&b, "| %s | %d |\n", it.name, it.tokens)
	}
	return b.String()
}

// share is a percentage without the percent sign.
func share(part, whole float64) string { return strings.TrimSuffix(percent(part, whole), " %") }

func percent(part, whole float64) string {
	switch {
	case whole <= 0 || part <= 0:
		return "–"
	case part*100 < whole:
		return "<1 %"
	}
	return fmt.Sprintf("%d %%", int(part*100/whole+1e-9))
}

// usage shows the tokens of the session, how much of the last turn was cached, and
// the limits of the services.
func usage(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	u := st.Row.Usage
	turn := lastTurn(st.Transcript)
	if u == (hermes.Usage{}) && turn == (hermes.Usage{}) {
		return Result{Text: strings.TrimSpace("The service has reported no tokens for this session yet.\n" + limits(c))}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| tokens | session | last turn |\n|---|---:|---:|\n")
	row := func(name string, last, all int64) {
		if all > 0 || last > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, text.Tokens(max(all, last)), text.Tokens(last))
		}
	}
	row("uncached input", turn.Input, u.Input)
	row("read from cache", turn.CacheRead, u.CacheRead)
	row("written to cache", turn.CacheWrite, u.CacheWrite)
	row("output", turn.Output, u.Output)
	row("of which thinking", turn.Reasoning, u.Reasoning)
	row("total", turn.Total(), u.Total())
	if u.Calls > 0 {
		fmt.Fprintf(&b, "| model calls | %d | %d |\n", u.Calls, turn.Calls)
	}
	if cost := sessionCost(ctx, c); cost != "" {
		fmt.Fprintf(&b, "| cost with side tasks | %s | |\n", cost)
	}
	if line := cacheLine("the last turn", turn); line != "" {
		b.WriteString("\n" + line + "\n")
	}
	b.WriteString(limits(c))
	return Result{Text: b.String()}, nil
}

// lastTurn adds up the usage of the last turn's answers.
func lastTurn(transcript []hermes.Message) (sum hermes.Usage) {
	for _, m := range slices.Backward(transcript) {
		if m.Turn != transcript[len(transcript)-1].Turn {
			break
		}
		if m.Usage != nil {
			sum = sum.Add(*m.Usage)
		}
	}
	return sum
}
