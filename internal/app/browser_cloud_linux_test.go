package app_test

import (
	"net/http"
	"strings"
	"testing"

	"context"
	"net/netip"

	"hermes/internal/app"
	"hermes/internal/cloudbrowser/cloudbrowsertest"
)

// rented is a session whose browser is one of a service. The web has one site, http://shop.example, whose name
// leads to a public address; only the browser of the service gets from there to the site of the test.
type rented struct {
	*web
	service   *cloudbrowsertest.Server
	variables map[string]string
}

func newRented(t *testing.T, backend string, pages http.Handler) *rented {
	t.Helper()
	w := newWeb(t, pages)
	service := cloudbrowsertest.New()
	t.Cleanup(service.Close)
	service.Browser = runningBrowser(t, "--host-resolver-rules=MAP shop.example "+strings.TrimPrefix(w.site.URL, "http://"))
	r := &rented{web: w, service: service, variables: map[string]string{
		"BROWSERBASE_API_KEY": cloudbrowsertest.Key, "BROWSERBASE_BASE_URL": service.URL + "/bb",
		"BROWSER_USE_API_KEY": cloudbrowsertest.Key, "BROWSER_USE_BASE_URL": service.URL + "/bu",
	}}
	w.config += "browser: {backend: " + backend + "}\n"
	w.options = func(o *app.Options) {
		o.Sandbox.Keeper = true
		o.Sandbox.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "shop.example", "hermes.example":
				return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
			case "nas.example":
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, nil
		}
		usual := o.Getenv
		o.Getenv = func(name string) string {
			if v := r.variables[name]; v != "" {
				return v
			}
			return usual(name)
		}
	}
	return r
}

// TestAModelWorksAPageInABrowserOfAService: it opens a page, reads it, types and clicks, and the browser is
// released with its session.
func TestAModelWorksAPageInABrowserOfAService(t *testing.T) {
	t.Parallel()
	for backend, title := range map[string]string{"browserbase": "Browserbase", "browser_use": "Browser Use"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			r := newRented(t, backend, page(`<title>Hats</title><label>Name <input id=n></label><button onclick="document.title='Hello '+n.value">Greet</button>`))
			r.play("Greet Ann on http://shop.example",
				step{"browser_navigate", `{"url":"http://shop.example/"}`},
				step{"browser_type", `{"ref":"{REF textbox \"Name\"}","text":"Ann"}`},
				step{"browser_click", `{"ref":"{REF button \"Greet\"}"}`},
				step{"browser_snapshot", `{}`},
			)
			r.wants(`"title":"Hello Ann"`)
			if got := r.surfer.results[0]; !strings.Contains(got, "this page is opened by "+title+", a service on the web") {
				t.Errorf("the first page says nothing of the service: %s", got)
			}
			if got := strings.Count(strings.Join(r.surfer.results, "\n"), "a service on the web"); got != 1 {
				t.Errorf("the service is named %d times", got)
			}
			if got := r.app.BrowserOf(r.session); got != "This session uses a browser of "+title+", a service on the web." {
				t.Errorf("the status is %q", got)
			}
			if open := r.service.Open(); len(open) != 1 {
				t.Errorf("open are %q", open)
			}
			r.fresh()
			if open := r.service.Open(); len(open) != 0 {
				t.Errorf("still open after the session: %q", open)
			}
		})
	}
}
