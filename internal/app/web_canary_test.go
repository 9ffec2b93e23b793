//go:build unix

package app_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"hermes"
)

// TestNoSecretLeavesByTheWebTools lets the model search for a key and open addresses with it, in every form: none
// of the requests is made. The control has the same words without the key.
func TestNoSecretLeavesByTheWebTools(t *testing.T) {
	t.Parallel()
	const secret = "Env0-canary!q7Zk2"
	s := newScene(t, hermes.AllowOnce)
	w := onWeb(t, s)
	w.extra = map[string]string{"DEPLOY_TOKEN": secret}
	call := func(name string, arguments any) {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		s.say("CALL " + name + " " + string(raw))
	}
	for form, spelt := range canaryForms(secret) {
		if form == "lines" { // an address has one line
			spelt = strings.ReplaceAll(spelt, "\n", "")
		}
		call("web_search", map[string]string{"query": "what is " + spelt})
		if form != "spaced" {
			call("web_extract", map[string]any{"urls": []string{"http://news.example/?q=" + url.QueryEscape(spelt), "http://news.example/" + url.PathEscape(spelt)}})
		}
		if left := w.requested(); len(left) > 0 {
			t.Errorf("%s: this left: %q", form, left)
			w.mu.Lock()
			w.came = nil
			w.mu.Unlock()
		}
	}
	call("web_search", map[string]string{"query": "what is tea"})
	call("web_extract", map[string]any{"urls": []string{"http://news.example/?q=tea"}})
	if left := w.requested(); len(left) < 2 {
		t.Errorf("the control left %q", left)
	}
}
