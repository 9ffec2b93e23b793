package provider_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// moved is a service that has moved to another host: it redirects every request.
type moved struct {
	mu    sync.Mutex
	hosts []string
	keys  []string // what the other host was sent
}

func (m *moved) RoundTrip(req *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hosts = append(m.hosts, req.URL.Host)
	if req.URL.Host != "box.test" {
		m.keys = append(m.keys, req.Method+" "+req.Header.Get("Authorization")+req.Header.Get("X-Api-Key")+req.Header.Get("X-Goog-Api-Key")+req.Header.Get("X-Own"))
	}
	to := *req.URL
	to.Host = "evil.test"
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {to.String()}}, Body: http.NoBody, Request: req}, nil
}

func TestNoProtocolFollowsARedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{
		provider.ProtocolChat, provider.ProtocolAnthropic, provider.ProtocolResponses, provider.ProtocolBedrock, provider.ProtocolGemini, provider.ProtocolOllama,
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			net := &moved{}
			env := vars{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"}
			c, waits := patient(t, "", func(cfg *provider.Config) {
				*cfg = provider.Config{
					System: provider.System{Getenv: env.get, Client: &http.Client{Transport: net}, Sleep: cfg.Sleep, Rand: cfg.Rand},
					Custom: map[string]provider.Custom{"box": {
						BaseURL: "https://box.test/v1", Key: "canary-key", APIMode: protocol, Header: map[string]string{"X-Own": "canary-own"},
					}},
				}
			})
			m, err := c.Model(t.Context(), "box:m")
			if err != nil {
				t.Fatal(err)
			}
			_, err = hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != hermes.ClassFormat || e.Retry || len(*waits) > 0 {
				t.Errorf("error %#v after the waits %v", err, *waits)
			}
			if len(net.keys) > 0 {
				t.Errorf("the other host got %q", net.keys)
			}
			for _, want := range []string{"status 307", "box.test redirects to https://evil.test/", "if you trust evil.test, set providers.box.base_url in config.yaml to https://evil.test/v1"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
		})
	}
}

func TestModelListsFollowNoRedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	net := &moved{}
	c := mustNew(t, provider.Config{System: provider.System{Client: &http.Client{Transport: net}}, Custom: map[string]provider.Custom{"box": {BaseURL: "https://box.test/v1", Key: "canary-key"}}})
	p, err := c.Provider("custom:box")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.List(t.Context())
	if err == nil || len(net.keys) > 0 || !strings.Contains(err.Error(), "set providers.box.base_url in config.yaml to https://evil.test/v1") {
		t.Errorf("%v; the other host got %q", err, net.keys)
	}
}
