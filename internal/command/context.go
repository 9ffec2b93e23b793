package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/session"
)

// portion is a part of what is sent, in bytes, and how much of it the provider
// read from its cache the last time, as far as that can be told.
type portion struct {
	name          string
	count         int
	bytes, cached int
}

// contextUse shows what fills the window, what of it was cached, and what
// broke the cache.
func contextUse(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Context: %s", window(st))
	if st.Threshold > 0 {
		fmt.Fprintf(&b, "; compressed at %s", Tokens(int64(st.Threshold)))
	}
	b.WriteString("\n\n")
	if line := cacheLine("the last request", st.Last); line != "" {
		b.WriteString(line + "\n\n")
	}
	portions := measure(st)
	total := 0
	for _, p := range portions {
		total += p.bytes
	}
	b.WriteString("| part | bytes | share | cached |\n|---|---:|---:|---:|\n")
	for _, p := range portions {
		name := p.name
		if p.count > 0 {
			name = fmt.Sprintf("%s (%d)", name, p.count)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", name, p.bytes, percent(p.bytes, total), percent(p.cached, p.bytes))
	}
	b.WriteString(broken(st))
	if strings.TrimSpace(c.Args) == "all" {
		b.WriteString(largest(st))
	}
	return Result{Text: b.String()}, nil
}

// measure adds up what a request is made of. What was cached is the beginning
// of the last request, whose tokens are spread over its bytes.
func measure(st session.State) []portion {
	tools := portion{name: "tools", count: len(st.Tools)}
	for _, t := range st.Tools {
		tools.bytes += toolSize(t)
	}
	system := portion{name: "system prompt", bytes: len(st.Row.System)}
	kinds := []portion{{name: "your messages"}, {name: "notes of the program"}, {name: "answers"}, {name: "calls"}, {name: "tool results"}}
	sent := len(st.Transcript) // of the last request
	for i, m := range slices.Backward(st.Transcript) {
		if m.Usage != nil {
			sent = i
			break
		}
	}
	requested := tools.bytes + system.bytes
	for _, m := range st.Transcript[:sent] {
		said, called := sizes(m)
		requested += said + called
	}
	left := 0
	if p := st.Last.Prompt(); p > 0 {
		left = int(int64(requested) * st.Last.CacheRead / p)
	}
	take := func(p *portion, bytes int, wasSent bool) {
		p.bytes += bytes
		if wasSent {
			n := min(left, bytes)
			p.cached, left = p.cached+n, left-n
		}
	}
	toolBytes, systemBytes := tools.bytes, system.bytes
	tools.bytes, system.bytes = 0, 0
	take(&tools, toolBytes, true)
	take(&system, systemBytes, true)
	for i, m := range st.Transcript {
		said, called := sizes(m)
		k := &kinds[kindOf(m)]
		k.count++
		take(k, said, i < sent)
		if called > 0 {
			kinds[3].count += len(m.Calls)
			take(&kinds[3], called, i < sent)
		}
	}
	return append([]portion{tools, system}, slices.DeleteFunc(kinds, func(p portion) bool { return p.count == 0 })...)
}

// kindOf is the place of a message among the kinds.
func kindOf(m hermes.Message) int {
	switch {
	case m.Role == hermes.RoleTool:
		return 4
	case m.Role == hermes.RoleAssistant:
		return 2
	case m.Synthetic:
		return 1
	}
	return 0
}

// sizes are the bytes of what a message says and of the calls it makes.
func sizes(m hermes.Message) (said, called int) {
	said = len(m.Text())
	for _, p := range m.Parts {
		if p.Image != nil {
			said += len(p.Image.Data) + len(p.Image.URL)
		}
	}
	for _, r := range m.Reasoning {
		said += len(r.Text) + len(r.Opaque)
	}
	for _, c := range m.Calls {
		called += len(c.Name) + len(c.Arguments)
	}
	return said, called
}

func toolSize(t hermes.Spec) int { return len(t.Name) + len(t.Description) + len(t.Schema) }

// cacheLine tells what of a usage was read from the cache, written to it, and
// neither.
func cacheLine(what string, u hermes.Usage) string {
	if u.Prompt() == 0 {
		return ""
	}
	line := fmt.Sprintf("Cache, %s: %s read, ", what, Tokens(u.CacheRead))
	if u.CacheWrite > 0 {
		line += Tokens(u.CacheWrite) + " written, "
	}
	return line + fmt.Sprintf("%s fresh (%d %% cached)", Tokens(u.Input), u.CacheRead*100/u.Prompt())
}

// broken tells where the cache was last lost.
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
		times = fmt.Sprintf(" (%d times in all)", st.Breaks)
	}
	return fmt.Sprintf("\nThe cache was broken at %s, by request %d%s: %s%s changed. %d bytes before it are still cached, %d had to be read anew%s.\n",
		p.At.Local().Format("15:04:05"), p.Request, cause, plain(p.Section), where, p.Kept, p.Lost, times)
}

// largest lists the tools and the messages that take the most room.
func largest(st session.State) string {
	type item struct {
		name  string
		bytes int
	}
	var items []item
	for _, t := range st.Tools {
		items = append(items, item{"tool " + code(t.Name), toolSize(t)})
	}
	for i, m := range st.Transcript {
		said, called := sizes(m)
		name := fmt.Sprintf("message %d, turn %d", i+1, m.Turn)
		if m.ToolName != "" {
			name += ", " + code(m.ToolName)
		}
		items = append(items, item{name, said + called})
	}
	slices.SortStableFunc(items, func(a, b item) int { return b.bytes - a.bytes })
	var b strings.Builder
	b.WriteString("\n| largest | bytes |\n|---|---:|\n")
	for _, it := range items[:min(len(items), 20)] {
		fmt.Fprintf(&b, "| %s | %d |\n", it.name, it.bytes)
	}
	return b.String()
}

func percent(part, whole int) string {
	if whole == 0 || part == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", max(1, part*100/whole))
}

// usage shows the tokens of the session, and what of the last turn was cached.
func usage(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	u := st.Row.Usage
	turn := lastTurn(st.Transcript)
	if u == (hermes.Usage{}) && turn == (hermes.Usage{}) {
		return Result{Text: "No tokens have been used in this session."}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| tokens | session | last turn |\n|---|---:|---:|\n")
	row := func(name string, last, all int64) {
		if all > 0 || last > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, Tokens(max(all, last)), Tokens(last))
		}
	}
	row("fresh input", turn.Input, u.Input)
	row("read from cache", turn.CacheRead, u.CacheRead)
	row("written to cache", turn.CacheWrite, u.CacheWrite)
	row("output", turn.Output, u.Output)
	row("of it thinking", turn.Reasoning, u.Reasoning)
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
	return Result{Text: b.String()}, nil
}

// lastTurn adds up what the answers of the last turn used.
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
