package script

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Webhook is a service that is told of events, and cannot answer.
type Webhook struct {
	Name    string
	Events  []string // empty is every event
	Request Request
	Timeout time.Duration
	matcher string         // of tools, as written
	match   *regexp.Regexp // nil is everything
}

// Entry shows the webhook as a hook of the settings in source. It has no event at which it could run.
func (w Webhook) Entry(source string) Entry {
	return Entry{
		Key: "hooks." + outboundKey, Source: source, Event: outboundKey, Matcher: w.matcher, Request: w.Request, Timeout: w.Timeout,
		event: event{name: outboundKey, about: "tool"}, match: w.match,
	}
}

// Identity is what the user has to agree to before the service is told anything.
func (w Webhook) Identity() Identity {
	events := slices.Sorted(slices.Values(w.Events))
	form := ""
	if w.match != nil {
		form = "matcher " + w.matcher
	}
	return Identity{Event: "outbound " + strings.Join(events, " "), Line: "POST " + w.Request.URL, Form: form}.hashed()
}

// outbound reads the list of webhooks.
func (p *parser) outbound(value any) {
	key := "hooks." + outboundKey
	list, ok := value.([]any)
	if !ok {
		p.add(key, "is not a list of webhooks")
		return
	}
	for i, v := range list {
		at := fmt.Sprintf("%s.%d", key, i)
		m, ok := v.(map[string]any)
		if !ok {
			p.add(at, "is not a webhook: write name, url and events")
			continue
		}
		p.webhook(at, m)
	}
}

func (p *parser) webhook(key string, m map[string]any) {
	r := &reader{p: p, key: key, m: m}
	w := Webhook{Name: r.text("name"), Request: r.request(), Events: r.texts("events"), Timeout: r.seconds("timeout", 10*time.Second, time.Second, time.Minute)}
	for _, name := range w.Events {
		if e, known := eventOf(name); !known {
			r.fault("events", "names %q, which is not a known event", name)
		} else if e.waits != "" {
			p.problems = append(p.problems, Problem{Key: key + ".events", Text: name + " waits for " + e.waits, Served: "it is not sent yet", Waits: true})
		}
	}
	if text := strings.TrimSpace(r.text("matcher")); text != "" && text != "*" {
		match, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			r.fault("matcher", "is not a pattern that is understood (%v)", err)
		}
		w.match, w.matcher = match, text
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(r.seen, name) {
			p.ignored(key+"."+name, "is not a known key")
		}
	}
	if r.broken == "" {
		p.webhooks = append(p.webhooks, w)
	}
}

// queued bounds the bodies that wait.
const queued = 256

// lastWait is how long Close waits for what was not sent yet.
const lastWait = 3 * time.Second

// Outbound sends events to webhooks, one after another and beside everything else. It may be used
// concurrently; a nil *Outbound sends nothing.
type Outbound struct {
	hooks   []Webhook
	profile string
	agreed  func(Identity) bool
	lookup  func(string) (string, bool)
	client  *http.Client
	log     *slog.Logger
	now     func() time.Time

	ctx     context.Context // ends soon after Close
	cancel  context.CancelFunc
	begin   sync.Once
	queue   chan toSend
	ended   chan struct{}
	mu      sync.Mutex
	closed  bool
	dropped int
}

// toSend is one body, with the time that its service has.
type toSend struct {
	delivery
	timeout time.Duration
}

// NewOutbound returns what sends to webhooks to which the user has agreed. It starts nothing before the
// first event; the caller closes it. It is nil without webhooks.
func NewOutbound(c Config, agreed func(Identity) bool, hooks ...Webhook) *Outbound {
	if len(hooks) == 0 {
		return nil
	}
	o := &Outbound{hooks: hooks, profile: c.Profile, agreed: agreed, lookup: c.LookupEnv, client: c.Client, log: c.Log, now: c.Now, queue: make(chan toSend, queued), ended: make(chan struct{})}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// Wants reports whether any webhook is told of an event.
func (o *Outbound) Wants(name string) bool {
	return o != nil && slices.ContainsFunc(o.hooks, func(w Webhook) bool { return w.wants(name) })
}

// wants reports whether a webhook is told of an event. One for all events gets Hermes' names only, since
// those of Claude Code are the same events.
func (w Webhook) wants(name string) bool {
	if len(w.Events) > 0 {
		return slices.Contains(w.Events, name)
	}
	e, _ := eventOf(name)
	return !e.claude
}

// Tell queues an event for the webhooks that want it. It does not wait: what finds the queue full is
// dropped and counted.
func (o *Outbound) Tell(at Occasion) {
	if o == nil {
		return
	}
	e, _ := eventOf(at.Event)
	tool := at.About // of an approval
	if at.Call != nil {
		tool = at.Call.Name
	}
	for _, w := range o.hooks {
		if !w.wants(at.Event) || e.about == "tool" && w.match != nil && !w.match.MatchString(tool) || !o.agreed(w.Identity()) {
			continue
		}
		secret, err := secretOf(w.Request, o.lookup)
		if err != nil {
			o.log.Warn("webhook not sent", "webhook", w.Name, "err", err)
			continue
		}
		id := newID()
		body, err := o.body(e, at, id)
		if err != nil {
			o.log.Warn("webhook not sent", "webhook", w.Name, "err", err)
			continue
		}
		o.put(toSend{delivery{id, at.Event, body, w.Request, secret}, w.Timeout})
	}
}

// body is what a webhook gets: what a script would read, with the id and the time.
func (o *Outbound) body(e event, at Occasion, id string) ([]byte, error) {
	e.claude = false
	view := asked{}
	if at.Call != nil {
		view = at.views(e)[0]
	}
	raw, err := at.input(e, view, o.profile)
	if err != nil {
		return nil, err
	}
	var in map[string]any
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	in["delivery_id"], in["timestamp"] = id, o.now().UTC().Format(time.RFC3339)
	return json.Marshal(in)
}

func (o *Outbound) put(s toSend) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.begin.Do(func() { go o.work() }) // ends with Close
	select {
	case o.queue <- s:
	default:
		o.dropped++
		o.log.Warn("webhook dropped: the queue is full", "event", s.event, "dropped", o.dropped)
	}
}

// work sends what is queued until the queue is closed.
func (o *Outbound) work() {
	defer close(o.ended)
	for s := range o.queue {
		ctx, cancel := context.WithTimeout(o.ctx, s.timeout)
		if _, err := s.send(ctx, o.client); err != nil {
			o.log.Warn("webhook failed", "event", s.event, "delivery", s.id, "err", err)
		}
		cancel()
	}
}

// Dropped is how many events found the queue full.
func (o *Outbound) Dropped() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}

// Close sends what is queued, for 3 seconds at most.
func (o *Outbound) Close() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	was := o.closed
	o.closed = true
	begun := true
	o.begin.Do(func() { begun = false })
	o.mu.Unlock()
	if was {
		return nil
	}
	close(o.queue)
	defer o.cancel()
	if !begun {
		return nil
	}
	late := time.NewTimer(lastWait)
	defer late.Stop()
	select {
	case <-o.ended:
	case <-late.C:
		o.log.Warn("webhooks not sent at the end", "queued", len(o.queue))
		o.cancel()
		<-o.ended
	}
	return nil
}
