package external_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/memory/external"
	"hermes/internal/memory/external/honcho"
	"hermes/internal/memory/external/local"
	"hermes/internal/memory/external/mem0"
	"hermes/internal/memory/external/supermemory"
)

func services(env map[string]string, store hermes.Recollections) []external.Service {
	e := external.Env{Getenv: func(name string) string { return env[name] }, Client: func() *http.Client { return nil }, User: "hermes-default"}
	return []external.Service{
		local.NewService(func(context.Context) (hermes.Recollections, error) { return store, nil }),
		honcho.NewService(e), mem0.NewService(e), supermemory.NewService(e),
	}
}

func mask(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }

func TestAServiceNeedsAKeyOrAnAddress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  map[string]string
		says string
	}{
		"local":       {},
		"honcho":      {says: "set HONCHO_API_KEY"},
		"mem0":        {env: map[string]string{"MEM0_API_KEY": "k"}},
		"supermemory": {env: map[string]string{"SUPERMEMORY_BASE_URL": "http://127.0.0.1:9"}},
		"unknown":     {says: "hermes memory setup"},
	} {
		p, err := external.Open(services(tt.env, nil), name, mask)
		if tt.says == "" && (err != nil || p.Name() != name) || tt.says != "" && (err == nil || p != nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// remembered is a store that keeps what it is told.
type remembered struct {
	hermes.Recollections
	texts, asked []string
}

func (r *remembered) Remember(_ context.Context, _ int, list ...hermes.Recollection) error {
	for _, one := range list {
		r.texts = append(r.texts, one.Text)
	}
	return nil
}

func (r *remembered) Recollect(_ context.Context, q hermes.RecollectionQuery) ([]hermes.Recollection, error) {
	r.asked = append(r.asked, q.Text)
	return nil, nil
}

func TestNoSecretIsSentToAService(t *testing.T) {
	t.Parallel()
	store := &remembered{}
	p, err := external.Open(services(nil, store), "local", mask)
	must(t, err)
	must(t, p.Observe(t.Context(), hermes.MemoryTurn{Said: "the password of the shop is hunter2, please log in", Answer: "I am logged in to the shop with hunter2 now", At: noon}))
	_, err = p.Recall(t.Context(), hermes.RecallQuery{Text: "what did I buy with the password hunter2 in the shop"})
	must(t, err)
	all := strings.Join(append(store.texts, store.asked...), "\n")
	if len(store.texts) == 0 || len(store.asked) == 0 || strings.Contains(all, "hunter2") {
		t.Errorf("sent %q", all)
	}
}
