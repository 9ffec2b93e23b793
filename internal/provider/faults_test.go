package provider_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest/faultserver"
	"hermes/internal/credential"
	"hermes/internal/provider"
)

// helped says what helps against a fault of the fault server: the wait and the
// same call, again where "too long" is said of a tiny request, a changed call,
// another key, another model.
var helped = map[string]struct {
	class hermes.Class
	by    string
}{
	"429":                   {hermes.ClassRateLimit, "wait"},
	"429 for a while":       {hermes.ClassRateLimit, "wait"},
	"429 for hours":         {hermes.ClassRateLimit, "key model"},
	"429 until a date":      {hermes.ClassRateLimit, "wait"},
	"429 usage wall":        {hermes.ClassBilling, "key model"},
	"429 long context tier": {hermes.ClassLongContextTier, "again"},
	"500":                   {hermes.ClassServerError, "wait"},
	"502":                   {hermes.ClassServerError, "wait"},
	"502 page":              {hermes.ClassServerError, "wait"},
	"503":                   {hermes.ClassOverloaded, "wait"},
	"529":                   {hermes.ClassOverloaded, "wait"},
	"401":                   {hermes.ClassAuth, "key model"},
	"402 credit":            {hermes.ClassBilling, "key model"},
	"402 quota":             {hermes.ClassRateLimit, "wait"},
	"403":                   {hermes.ClassAuth, "model"},
	"404 model":             {hermes.ClassModelNotFound, "model"},
	"404 bare":              {hermes.ClassUnknown, "wait"},
	"408":                   {hermes.ClassTimeout, "wait"},
	"413":                   {hermes.ClassPayloadTooLarge, "again"},
	"409":                   {hermes.ClassServerError, "wait"},
	"425":                   {hermes.ClassServerError, "wait"},
	"422":                   {hermes.ClassFormat, "model"},

	"429 quota of a gateway": {hermes.ClassBilling, "key model"},
	"429 wait of a gateway":  {hermes.ClassRateLimit, "wait"},
	"429 exhausted":          {hermes.ClassRateLimit, "wait"},
	"500 no images":          {hermes.ClassFormat, "change"},
	"500 event lines":        {hermes.ClassServerError, "wait"},
	"400 name of a tool":     {hermes.ClassFormat, "model"},
	"400 expired key":        {hermes.ClassAuth, "key model"},
	"400 no database":        {hermes.ClassAuth, "key model"},
	"400 no tools":           {hermes.ClassFormat, "change"},
	"400 no thinking":        {hermes.ClassFormat, "change"},

	"400 plain":             {hermes.ClassFormat, "model"},
	"400 overflow":          {hermes.ClassOverflow, "again"}, // the request is tiny
	"400 rate limit":        {hermes.ClassRateLimit, "wait"},
	"400 billing":           {hermes.ClassBilling, "key model"},
	"400 content policy":    {hermes.ClassContentPolicy, "model"},
	"400 provider policy":   {hermes.ClassProviderPolicy, ""},
	"400 image":             {hermes.ClassImageTooLarge, "change"},
	"400 signature":         {hermes.ClassThinkingSignature, "change"},
	"400 encrypted":         {hermes.ClassEncryptedContent, "change"},
	"400 grammar":           {hermes.ClassGrammar, "change"},
	"400 images in results": {hermes.ClassMultimodalTool, "change"},
	"400 reasoning":         {hermes.ClassReasoningRequired, "change"},
	"400 parameter":         {hermes.ClassFormat, "change"},
	"400 long context beta": {hermes.ClassOAuthLongContext, "change"},
	"400 wrapped":           {hermes.ClassOverloaded, "wait"},
	"400 empty":             {hermes.ClassFormat, "model"},

	"closed at once":             {hermes.ClassTimeout, "wait"},
	"cut before the first event": {hermes.ClassTimeout, "wait"},
	"cut in a text":              {hermes.ClassTimeout, "wait"},
	"cut in a call":              {hermes.ClassTimeout, "wait"},
	"ends in a text":             {hermes.ClassTimeout, "wait"},
	"ends in a call":             {hermes.ClassTimeout, "wait"},
	"error event":                {hermes.ClassOverloaded, "wait"},
	"error event in a text":      {hermes.ClassServerError, "wait"},
	"garbage":                    {hermes.ClassServerError, "wait"},
	"garbage in a text":          {hermes.ClassServerError, "wait"},
	"no events":                  {hermes.ClassServerError, "wait"},
	"no words":                   {hermes.ClassServerError, "wait"},
	"marks for words":            {hermes.ClassServerError, "wait"},
	"50 MB":                      {hermes.ClassServerError, "wait"},
	"50 MB in one event":         {hermes.ClassFormat, "model"},
	"a page":                     {hermes.ClassFormat, "model"},
	"silence":                    {hermes.ClassTimeout, "wait"},
	"silence in a text":          {hermes.ClassTimeout, "wait"},
	"drip":                       {hermes.ClassTimeout, "wait"},

	"TLS alert":                    {hermes.ClassTimeout, "wait"},
	"certificate":                  {hermes.ClassCertificate, "model"},
	"TLS spoken to a plain server": {hermes.ClassTimeout, "wait"},
	"refused":                      {hermes.ClassTimeout, "wait"},
	"no such name":                 {hermes.ClassTimeout, "wait"},
	"proxy refuses":                {hermes.ClassUnknown, "wait"},
	"proxy is down":                {hermes.ClassTimeout, "wait"},
}

// chainBefore is the real chain before a server that fails. Nobody waits for real.
func chainBefore(t *testing.T, server *faultserver.Server, path string, stale time.Duration, keys, others int) hermes.Model {
	t.Helper()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cfg := provider.Config{
		Selection: provider.Selection{Model: "box:claude-sonnet-4-6"},
		Custom:    map[string]provider.Custom{"box": {BaseURL: server.URL + path}},
		System:    provider.System{Client: server.Client(), Now: func() time.Time { return now }, Rand: func() float64 { return 0.5 }, Sleep: func(ctx context.Context, d time.Duration) error { now = now.Add(d); return context.Cause(ctx) }},
		Patience:  provider.Patience{Timeouts: provider.Timeouts{Stale: stale}},
	}
	if keys > 0 {
		store := credential.Open(credential.Config{Path: filepath.Join(t.TempDir(), "auth.json"), Now: cfg.Now})
		t.Cleanup(func() { _ = store.Close(context.Background()) })
		for i := range keys {
			if _, err := store.Pool("custom:box", nil).Add(t.Context(), credential.New{Secret: hermes.Secret(fmt.Sprintf("key-%d-of-the-test", i))}); err != nil {
				t.Fatal(err)
			}
		}
		cfg.Keys = func(pool string, given []hermes.Key) hermes.Keys { return store.Pool(pool, given) }
	}
	for i := range others {
		cfg.Fallback = append(cfg.Fallback, provider.Selection{Provider: fmt.Sprint("other", i), Model: "n", BaseURL: server.URL + "/v1"})
	}
	m, err := mustNew(t, cfg).Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEachFaultIsWithstood meets every fault once, over both protocols, with
// one key or none, with three keys, and with a fallback model.
func TestEachFaultIsWithstood(t *testing.T) {
	t.Parallel()
	setups := []struct {
		name, help string
		keys, more int
	}{
		{"no key", "wait change again", 0, 0},
		{"one key", "wait change again", 1, 0},
		{"three keys", "wait change again key", 3, 0},
		{"another model", "wait change again model", 0, 1},
	}
	for _, f := range faultserver.All() {
		want, ok := helped[f.Name]
		if !ok {
			t.Errorf("the fault %q has no expectation", f.Name)
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			server := faultserver.New(func([]byte) faultserver.Answer { return faultserver.Answer{Text: "here it is", Input: 7, Output: 3} })
			t.Cleanup(server.Close)
			met := 0
			for _, path := range []string{"/v1", "/anthropic"} {
				for _, s := range setups {
					if s.keys > 0 && (f.Large || f.Slow) || f.Slow && path != "/v1" {
						continue // would only take time
					}
					stale := time.Minute
					if f.Slow {
						stale = 2 * time.Second
					}
					server.Plan(f)
					m := chainBefore(t, server, path, stale, s.keys, s.more)
					got, err := hermes.Collect(m.Stream(t.Context(), everything(t)))
					if met++; server.Count().Faults[f.Name] != met {
						t.Errorf("%s, %s: the fault was not met", path, s.name)
					}
					saved := false
					for _, h := range strings.Fields(want.by) {
						saved = saved || strings.Contains(s.help, h)
					}
					switch {
					case saved && (err != nil || got.Text() != "here it is" || got.Finish != hermes.FinishStop):
						t.Errorf("%s, %s: %q, %v", path, s.name, got.Text(), err)
					case !saved && hermes.ClassOf(err) != want.class:
						t.Errorf("%s, %s: %v, want the class %s", path, s.name, err, want.class)
					}
					if err != nil && got.Finish != "" {
						t.Errorf("%s, %s: a failed answer has the finish %s", path, s.name, got.Finish)
					}
					if strings.Contains(fmt.Sprint(err), "of-the-test") {
						t.Errorf("a key was shown: %v", err)
					}
				}
			}
		})
	}
}

// TestFaultsThatStay checks that a permanent fault is reported with its class and
// provider after all retries.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	for _, f := range faultserver.All() {
		if f.Slow || f.Large || strings.Contains(helped[f.Name].by, "change") {
			continue // tested elsewhere, or reported with another class
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			server := faultserver.New(func([]byte) faultserver.Answer { return faultserver.Answer{Text: "never said"} })
			t.Cleanup(server.Close)
			server.Plan(slices.Repeat([]faultserver.Fault{f}, 20)...)
			_, err := hermes.Collect(chainBefore(t, server, "/v1", time.Minute, 0, 0).Stream(t.Context(), everything(t)))
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != helped[f.Name].class || !strings.Contains(err.Error(), "box") {
				t.Fatalf("error %v of class %s, want %s", err, hermes.ClassOf(err), helped[f.Name].class)
			}
			want := 1
			switch by := helped[f.Name].by; {
			case strings.Contains(by, "wait"):
				want = 4
			case by == "again":
				want = 2
			}
			if n := server.Count().Requests; n != want {
				t.Errorf("asked %d times, want %d", n, want)
			}
		})
	}
}
