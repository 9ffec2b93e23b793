package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes/hermestest/faultserver"
)

// otherModel lists the faults that only another key or another model helps against: with
// one model they end the turn. The cases of these faults have a fallback model.
var otherModel = []string{
	"429 for hours", "429 usage wall", "401", "402 credit", "403", "404 model", "422",
	"400 plain", "400 billing", "400 content policy", "400 empty", "50 MB in one event", "a page", "certificate",
	"429 quota of a gateway", "400 name of a tool", "400 expired key", "400 no database",
}

// inContent lists the faults that a service has with something in the conversation, which
// these turns do not hold; TestEachFaultIsWithstood of internal/provider has it.
var inContent = []string{"400 image", "400 signature", "400 encrypted", "400 images in results", "500 no images", "400 no thinking"}

// place is when in a turn the fault comes.
type place struct {
	name   string
	before int // requests that are answered before
}

var places = []place{{"at the first call", 0}, {"after three calls", 3}}

// faultCase is one fault at one place over one protocol.
type faultCase struct {
	fault    faultserver.Fault
	place    place
	protocol string // chat or messages
}

func (c faultCase) name() string {
	return fmt.Sprintf("%s, %s, %s", c.fault.Name, c.place.name, c.protocol)
}

func (c faultCase) helps() string {
	switch {
	case c.fault.Final:
		return "nothing"
	case slices.Contains(otherModel, c.fault.Name):
		return "another model"
	case slices.Contains(inContent, c.fault.Name):
		return "a changed request"
	case c.fault.Shorter:
		return "a shorter request"
	}
	return "the same model"
}

// result is how the turn with the fault ended.
type result struct {
	skipped   string // why it could not be tried
	recovered bool
	requests  int
	seconds   float64
	broken    []string
	said      string // the complaint, unless it recovered
}

// faults lets each fault of the fault server meet a turn of four commands.
func faults(ctx context.Context, o options) (table, []finding, error) {
	cases := faultCases(o)
	results := make([]result, len(cases))
	var mu sync.Mutex
	var failed error
	sideBySide(len(cases), o.parallel, func(i int) {
		if ctx.Err() != nil {
			return
		}
		r, err := cases[i].run(ctx, o, filepath.Join(o.scratch, fmt.Sprintf("fault-%d", i)))
		mu.Lock()
		defer mu.Unlock()
		if results[i] = r; err != nil {
			failed = fmt.Errorf("%s: %w", cases[i].name(), err)
		}
	})
	rows := table{{"fault", "place", "protocol", "helps", "recovered", "requests", "seconds"}}
	var found []finding
	for i, c := range cases {
		r := results[i]
		row := []string{c.fault.Name, c.place.name, c.protocol, c.helps(), "yes", fmt.Sprint(r.requests), fmt.Sprintf("%.1f", r.seconds)}
		switch {
		case r.skipped != "":
			row[4], row[5], row[6] = "not tried: "+r.skipped, "–", "–"
		case !r.recovered && c.fault.Final:
			row[4] = "no, as it must be"
		case !r.recovered:
			row[4] = "**no**: " + r.said
			found = append(found, finding{"faults", c.name(), "the turn was lost: " + r.said})
		}
		for _, b := range r.broken {
			found = append(found, finding{"faults", c.name(), b})
		}
		rows = append(rows, row)
	}
	return rows, found, failed
}

// faultCases returns all cases, or some of the quick ones if the run is small.
func faultCases(o options) []faultCase {
	var all []faultCase
	protocols := []string{"chat"}
	if o.long || o.only != "" {
		protocols = append(protocols, "messages")
	}
	for _, f := range faultserver.All() {
		for _, protocol := range protocols {
			for _, p := range places {
				c := faultCase{f, p, protocol}
				quick := !f.Slow && !f.Large && !f.Network() && !slices.Contains([]string{"402 quota", "429 for a while"}, f.Name)
				if o.wants(c.name()) && (quick || !o.small) {
					all = append(all, c)
				}
			}
		}
	}
	if o.small {
		random := rand.New(rand.NewPCG(o.seed, 2))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(len(all), smallFaults)]
	}
	return all
}

// smallFaults is the number of cases of a small run.
const smallFaults = 6

// run lets a turn meet the fault, checks the laws, and sees that the session goes on.
func (c faultCase) run(ctx context.Context, o options, dir string) (result, error) {
	m := &model{}
	server := faultserver.New(m.decide)
	defer server.Close()
	server.Plan(append(slices.Repeat([]faultserver.Fault{faultserver.None()}, c.place.before), c.fault)...)
	who, front, skipped, err := c.setUp(o, dir, server)
	if err != nil || skipped != "" {
		return result{skipped: skipped}, err
	}
	if front != nil {
		defer front.Close()
	}
	first, err := who.run(ctx, "-z", order("T1", 4))
	r := result{requests: server.Count().Requests, seconds: first.seconds}
	if err != nil {
		r.said = err.Error()
		return r, ctx.Err()
	}
	r.recovered = first.status == 0 && first.out == done("T1")
	finished := []string{"T2"}
	if r.recovered {
		finished = append(finished, "T1")
	} else {
		r.said = first.complaint()
	}
	if n := server.Count().Faults[c.fault.Name]; n != 1 {
		r.broken = append(r.broken, fmt.Sprintf("the fault was met %d times", n))
	}
	if strings.Contains(first.out+first.errText, "key-of-the-torture") {
		r.broken = append(r.broken, "the key was shown")
	}
	second, err := who.run(ctx, "-z", order("T2", 1), "-r", "latest")
	if err != nil {
		r.broken = append(r.broken, err.Error())
		return r, ctx.Err()
	}
	if second.status != 0 || second.out != done("T2") {
		r.broken = append(r.broken, fmt.Sprintf("the next turn ended with status %d and %.80q: %s", second.status, second.out, second.complaint()))
		return r, nil
	}
	kept, err := who.read(ctx)
	if err != nil {
		r.broken = append(r.broken, "the database cannot be read: "+err.Error())
		return r, nil
	}
	if !c.fault.Shorter { // compaction replaces what was stored
		r.broken = append(r.broken, lawsOfStore(kept, nil, finished)...)
	}
	for _, request := range m.take() {
		if what := paired(request); what != "" {
			r.broken = append(r.broken, "a request was sent in which "+what)
		}
	}
	r.broken = append(r.broken, lawsOfEffects(who.work, kept)...)
	return r, nil
}

// setUp makes the machine, and the front that network faults need. If that cannot be done
// here, skipped says why.
func (c faultCase) setUp(o options, dir string, server *faultserver.Server) (who *machine, front *faultserver.Front, skipped string, err error) {
	if slices.Contains(inContent, c.fault.Name) {
		return nil, nil, "the turn holds nothing of the kind", nil
	}
	base, path, extra := server.URL, "/v1", ""
	var env []string
	if c.fault.Network() {
		possible, proxy := faultserver.FrontFor(c.fault)
		if !possible {
			return nil, nil, "needs a name server", nil
		}
		if front, err = faultserver.NewFront(server, proxy); err != nil {
			return nil, nil, "", err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, front, "", err
		}
		ca := filepath.Join(dir, "ca.pem")
		if err := os.WriteFile(ca, front.CA, 0o600); err != nil {
			return nil, front, "", err
		}
		base, extra = front.URL, fmt.Sprintf(", ssl_ca_cert: %q", ca)
		if proxy {
			env = append(env, "HTTPS_PROXY="+front.Proxy)
		}
	}
	if c.protocol == "messages" {
		path = "/anthropic"
	}
	config := fmt.Sprintf(faultConfig, base+path, extra)
	if slices.Contains(otherModel, c.fault.Name) {
		config += fmt.Sprintf(fallbackConfig, server.URL+"/v1")
	}
	who, err = newMachine(o.hermes, dir, config, env...)
	return who, front, "", err
}

// faultConfig has no side tasks and says the window, so that the fault meets a turn, and
// notices silence soon.
const faultConfig = `model:
  default: box:claude-sonnet-4-6
providers:
  box: {base_url: %q, api_key: key-of-the-torture, stale_timeout_seconds: 2, models: {claude-sonnet-4-6: {context_length: 200000}}%s}
auxiliary:
  title_generation: {enabled: false}
  evidence: {enabled: false}
  session_summary: {enabled: false}
memory: {nudge_interval: 0, flush_min_turns: 0}
skills: {creation_nudge_interval: 0}
`

const fallbackConfig = `fallback_providers:
  - {provider: other, model: n, base_url: %q}
`
