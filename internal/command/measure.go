package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/contextengine"
	"hermes/internal/session"
	"hermes/internal/tokens"
)

// portion is a part of a request. If the service counted the last request, the
// estimated tokens are scaled to that count.
type portion struct {
	name             string
	count            int     // of messages, calls, tools; 0 is not shown
	tokens, sent     float64 // all, and those in the last request
	cached, uncached float64 // of sent: read from the cache, or not
}

// chunk is a piece of a request, in the order in which it is sent.
type chunk struct {
	portion string
	count   int
	tokens  int // estimated
	sent    bool
}

// order is the order in which portions are listed.
var order = []string{
	"tools", "identity", "rules", "own text", "loaded skills", "skills index", "project files", "notes", "profile", "external memory", "system prompt",
	"summaries", "recalled", "your messages", "attached", "surroundings", "program notes", "thinking", "answers", "calls", "tool results",
}

// layerNames are the names of prompt layers in the list. A layer that is not
// here counts as rules.
var layerNames = map[string]string{
	"identity": "identity", "own": "own text", "preloaded-skills": "loaded skills", "skills": "skills index", "project": "project files",
	"memory": "notes", "user": "profile", "outside-memory": "external memory",
}

// measure splits the next request of a session into portions. The cached part
// is the beginning of the last request.
func measure(st session.State) []portion {
	chunks := split(st)
	sum := 0
	for _, c := range chunks {
		if c.sent {
			sum += c.tokens
		}
	}
	scale, left := 1.0, float64(st.Last.CacheRead)
	if p := st.Last.Prompt(); p > 0 && sum > 0 {
		scale = min(max(float64(p)/float64(sum), 0.25), 4) // estimates are not further off than this
	}
	found := map[string]*portion{}
	for _, c := range chunks {
		p := found[c.portion]
		if p == nil {
			p = &portion{name: c.portion}
			found[c.portion] = p
		}
		n := float64(c.tokens) * scale
		p.count += c.count
		p.tokens += n
		if c.sent {
			read := min(left, n)
			left -= read
			p.sent, p.cached, p.uncached = p.sent+n, p.cached+read, p.uncached+n-read
		}
	}
	var list []portion
	for _, name := range order {
		if p := found[name]; p != nil && p.tokens > 0 {
			list = append(list, *p)
		}
	}
	return list
}

// split returns the pieces of the next request, and which of them the last
// request already had.
func split(st session.State) []chunk {
	asked := slices.ContainsFunc(st.Transcript, func(m hermes.Message) bool { return m.Usage != nil })
	known := asked || st.Last.Prompt() > 0
	var list []chunk
	for _, t := range st.Tools {
		list = append(list, chunk{"tools", 1, toolTokens(t), known})
	}
	list = append(list, layers(st.Row, known)...)
	last := len(st.Transcript)
	for i, m := range slices.Backward(st.Transcript) {
		if m.Usage != nil {
			last = i
			break
		}
	}
	for i, m := range st.Transcript {
		list = append(list, message(m, known && i < last)...)
	}
	return list
}

// layers are the pieces of the system prompt, or all of it as one piece if they
// are unknown.
func layers(row hermes.Session, sent bool) []chunk {
	bytes := 0
	for _, l := range row.Layers {
		bytes += l.Bytes
	}
	if bytes != len(row.System) {
		return []chunk{{"system prompt", 0, tokens.Text(row.System), sent}}
	}
	var list []chunk
	for _, l := range row.Layers {
		name := layerNames[l.Name]
		if name == "" {
			name = "rules"
		}
		list = append(list, chunk{name, 0, l.Tokens, sent})
	}
	return list
}

// message splits a message by the kinds of its parts.
func message(m hermes.Message, sent bool) []chunk {
	var list []chunk
	add := func(name string, count, n int) {
		for i := range list {
			if list[i].portion == name {
				list[i].tokens += n
				return
			}
		}
		list = append(list, chunk{name, count, n, sent})
	}
	for _, r := range m.Reasoning {
		add("thinking", 1, tokens.Texts(r.Text, r.Opaque))
	}
	for _, p := range m.Parts {
		n := tokens.Text(p.Text)
		if p.Image != nil {
			n = tokens.Image
		}
		add(kindOf(m, p), 1, n)
	}
	for _, c := range m.Calls {
		list = append(list, chunk{"calls", 1, tokens.Texts(c.Name, c.Arguments) + 8, sent})
	}
	return list
}

// kindOf is the portion that a part of a message belongs to.
func kindOf(m hermes.Message, p hermes.Part) string {
	switch {
	case contextengine.Summary(m, p):
		return "summaries"
	case m.Role == hermes.RoleTool:
		return "tool results"
	case m.Role == hermes.RoleAssistant:
		return "answers"
	case session.Recalled(p):
		return "recalled"
	case session.IsSurroundings(p):
		return "surroundings"
	case m.Synthetic:
		return "program notes"
	case p.Hidden && strings.TrimSpace(p.Text) != "":
		return "attached"
	}
	return "your messages"
}

func toolTokens(t hermes.Spec) int {
	return tokens.Texts(t.Name, t.Description, string(t.Schema)) + 15 // the frame on the wire
}

// prices is what one token of the last request cost.
type prices struct {
	model       string
	price       hermes.Price
	known, free bool
	cached      float64 // of a token read from the cache, in dollars
	uncached    float64 // of any other token of the prompt, written to the cache or not; less than zero is unknown
}

// pricesOf finds the prices of the model that answered last. If a part of the
// prompt was written to the cache, uncached is the average of both rates.
func pricesOf(c *Call, st session.State) prices {
	t := prices{model: st.Row.Model}
	for _, m := range slices.Backward(st.Transcript) {
		if m.Usage != nil {
			t.model = cmp.Or(m.Model, t.model)
			break
		}
	}
	if c.Spend == nil || t.model == "" {
		return t
	}
	if t.price, t.known = c.Spend.Price(t.model); !t.known {
		return t
	}
	u := st.Last
	p := t.price.For(u.Prompt())
	t.free = p.Input == 0 && p.Output == 0 && p.CacheRead <= 0 && p.CacheWrite <= 0
	rate := func(m hermes.Money) float64 { return m.Dollars() / 1e6 }
	t.cached, t.uncached = rate(p.CacheRead), rate(p.Input)
	if u.CacheWrite > 0 {
		t.uncached = (rate(p.Input)*float64(u.Input) + rate(p.CacheWrite)*float64(u.CacheWrite)) / float64(u.Input+u.CacheWrite)
		if p.Input < 0 && u.Input > 0 || p.CacheWrite < 0 {
			t.uncached = -1
		}
	}
	return t
}

// shown reports whether there is a cost to show.
func (t prices) shown() bool { return t.known && !t.free }

// cost is what a portion cost in the last request. Parts that were not sent yet
// count at the price of the next request.
func (t prices) cost(p portion) string {
	uncached := p.uncached + p.tokens - p.sent
	if p.cached > 0 && t.cached < 0 || uncached > 0 && t.uncached < 0 {
		return "?"
	}
	m := hermes.USD(p.cached*t.cached + uncached*t.uncached)
	if m < 1000 { // eight columns at most
		m = (m + 5) / 10 * 10
	}
	if m == 0 {
		return "≈$0"
	}
	return m.String()
}

// line says what the whole last request cost.
func (t prices) line(u hermes.Usage) string {
	switch {
	case t.model == "":
		return ""
	case !t.known:
		return "\nThe prices of " + code(t.model) + " are unknown.\n"
	case t.free:
		return "\n" + code(t.model) + " is free.\n"
	case u.Prompt() == 0:
		return "\nNothing sent yet. Costs are estimates for the first request, at the prices of " + code(t.model) + ".\n"
	}
	in := u
	in.Output, in.Calls = 0, 1
	said := hermes.Usage{Output: u.Output, Calls: 1}
	tier := t.price.For(u.Prompt())
	prompt, ok1 := tier.Cost(in, false)
	answer, ok2 := tier.Cost(said, false)
	if !ok1 || !ok2 {
		return "\nSome prices of " + code(t.model) + " are unknown.\n"
	}
	return fmt.Sprintf("\nThe last request cost %v: the prompt %v, the answer %v (%s).\n", prompt+answer, prompt, answer, code(t.model))
}
