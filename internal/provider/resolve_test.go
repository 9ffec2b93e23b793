package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/provider"
)

// vars is an environment.
type vars map[string]string

func (v vars) get(name string) string { return v[name] }

// noServers is a machine without model servers.
var noServers = []provider.LocalServer{}

func mustNew(t *testing.T, cfg provider.Config) *provider.Catalogue {
	t.Helper()
	if cfg.Local == nil {
		cfg.Local = noServers
	}
	c, err := provider.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReferences(t *testing.T) {
	t.Parallel()
	all := vars{"OPENROUTER_API_KEY": "r", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "DEEPSEEK_API_KEY": "d", "GLM_API_KEY": "g"}
	router := vars{"OPENROUTER_API_KEY": "r"}
	own := map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.2:9000/v1", Model: "big"}, "mine": {BaseURL: "https://llm.example.org/anthropic", Key: "k"}}
	tests := []struct {
		name, ref, want string
		cfg             provider.Config
		env             vars
	}{
		{"provider:model", "openrouter:google/gemini-3-pro", "openrouter:google/gemini-3-pro", provider.Config{}, all},
		{"an alias of a provider", "openai:gpt-5", "openai-api:gpt-5", provider.Config{}, all},
		{"any case", "OpenRouter:x/y", "openrouter:x/y", provider.Config{}, all},
		{"a tag behind the model", "openrouter:x/y:free", "openrouter:x/y:free", provider.Config{}, all},
		{"a size is no model", "mistral:7b", "openrouter:mistralai/mistral:7b", provider.Config{}, all},
		{"default model of a provider", "anthropic:", "anthropic:claude-sonnet-4-6", provider.Config{}, all},
		{"provider/model", "deepseek/deepseek-chat", "deepseek:deepseek-chat", provider.Config{}, all},
		{"provider/model without its key", "deepseek/deepseek-chat", "openrouter:deepseek/deepseek-chat", provider.Config{}, router},
		{"open weights go to an aggregator", "openai/gpt-oss-120b", "openrouter:openai/gpt-oss-120b", provider.Config{}, all},
		{"unknown vendor", "meta-llama/llama-4", "openrouter:meta-llama/llama-4", provider.Config{}, all},
		{"bare name, its maker", "claude-opus-4.6", "anthropic:claude-opus-4-6", provider.Config{}, all},
		{"bare name, aggregator", "claude-opus-4.6", "openrouter:anthropic/claude-opus-4.6", provider.Config{}, router},
		{"nothing named", "", "openrouter:anthropic/claude-sonnet-4.6", provider.Config{}, all},
		{"nothing named, one key", "", "zai:glm-4.6", provider.Config{}, vars{"Z_AI_API_KEY": "z"}},
		{"alias of the configuration", "fast", "deepseek:deepseek-chat", provider.Config{Aliases: map[string]string{"fast": "deepseek:deepseek-chat"}}, all},
		{"configured default", "", "deepseek:deepseek-reasoner", provider.Config{Selection: provider.Selection{Model: "deepseek:deepseek-reasoner"}}, all},
		{"configured provider", "", "anthropic:claude-sonnet-4-6", provider.Config{Selection: provider.Selection{Provider: "anthropic"}}, all},
		{"configured provider keeps vendors", "openai/gpt-5", "openrouter:openai/gpt-5", provider.Config{Selection: provider.Selection{Provider: "openrouter"}}, all},
		{"a reference beats the configured provider", "anthropic:claude-haiku-4.5", "anthropic:claude-haiku-4-5", provider.Config{Selection: provider.Selection{Provider: "openrouter"}}, all},
		{"a provider for this run beats the configured model", "", "anthropic:claude-sonnet-4-6", provider.Config{Selection: provider.Selection{Provider: "anthropic", Model: "deepseek:deepseek-chat"}, Forced: true}, all},
		{"and keeps its own", "", "anthropic:claude-haiku-4-5", provider.Config{Selection: provider.Selection{Provider: "anthropic", Model: "claude:claude-haiku-4.5"}, Forced: true}, all},
		{"provider auto is none", "gpt-5", "openai-api:gpt-5", provider.Config{Selection: provider.Selection{Provider: "auto"}}, all},
		{"custom:name:model", "custom:box:small:7b", "custom:box:small:7b", provider.Config{Custom: own}, all},
		{"custom:name", "custom:box", "custom:box:big", provider.Config{Custom: own}, all},
		{"only its name", "box:small", "custom:box:small", provider.Config{Custom: own}, all},
		{"custom is taken before keys", "", "custom:box:big", provider.Config{Custom: own}, all},
		{"the user's own address", "llama3:8b", "custom:llama3:8b", provider.Config{}, vars{"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENROUTER_API_KEY": "r"}},
		{"its own id", "custom:llama3:8b", "custom:llama3:8b", provider.Config{}, vars{"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}},
		{"configured address", "", "custom:m", provider.Config{Selection: provider.Selection{BaseURL: "http://127.0.0.1:9/v1", Model: "m"}}, all},
		{"provider custom", "", "custom:m", provider.Config{Selection: provider.Selection{Provider: "custom", BaseURL: "http://127.0.0.1:9/v1", Model: "m"}}, all},
		{"address for a known provider", "", "anthropic:claude-x", provider.Config{Selection: provider.Selection{Provider: "anthropic", BaseURL: "http://127.0.0.1:9", Model: "claude-x"}}, all},
		{"local server named", "ollama:qwen3:8b", "ollama:qwen3:8b", provider.Config{}, vars{}},
		{"the vendor's own name belongs to the id", "nvidia/llama-3.1-nemotron-ultra-253b-v1", "nvidia:nvidia/llama-3.1-nemotron-ultra-253b-v1", provider.Config{}, vars{"NVIDIA_API_KEY": "n"}},
		{"a provider that serves open weights", "groq/llama-3.3-70b-versatile", "groq:llama-3.3-70b-versatile", provider.Config{}, vars{"GROQ_API_KEY": "g", "OPENROUTER_API_KEY": "r"}},
		{"an aggregator's own model", "openrouter/auto", "openrouter:openrouter/auto", provider.Config{}, all},
		{"another aggregator", "grok-4", "ai-gateway:xai/grok-4", provider.Config{}, vars{"AI_GATEWAY_API_KEY": "v"}},
		{"own name before the model", "openrouter:openrouter/auto", "openrouter:openrouter/auto", provider.Config{}, all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Getenv = tt.env.get
			m, err := mustNew(t, tt.cfg).Model(t.Context(), tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			if m.ID() != tt.want {
				t.Errorf("%q is %s, want %s", tt.ref, m.ID(), tt.want)
			}
		})
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ref string
		cfg       provider.Config
		env       vars
		is        error
		says      []string
	}{
		{"nothing at all", "", provider.Config{}, nil, hermes.ErrNoModel, []string{"OPENROUTER_API_KEY", "OPENAI_BASE_URL", "Ollama", "hermes demo"}},
		{"no key", "deepseek:deepseek-chat", provider.Config{}, nil, hermes.ErrNoModel, []string{"DEEPSEEK_API_KEY"}},
		{"no key for the maker", "claude-opus-4-6", provider.Config{}, nil, hermes.ErrNoModel, []string{"ANTHROPIC_API_KEY"}},
		{"no model", "", provider.Config{}, vars{"NVIDIA_API_KEY": "n"}, hermes.ErrNoModel, []string{"nvidia", "-m nvidia:MODEL"}},
		{"address without a model", "", provider.Config{}, vars{"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, hermes.ErrNoModel, []string{"-m custom:MODEL"}},
		{"unknown name", "frobnicator-9", provider.Config{}, nil, hermes.ErrNoModel, []string{"provider:model"}},
		{"unknown provider", "x", provider.Config{Selection: provider.Selection{Provider: "nonsense"}}, nil, nil, []string{"nonsense", "hermes model"}},
		{"unknown custom", "x", provider.Config{Selection: provider.Selection{Provider: "custom:nonsense"}}, nil, nil, []string{"nonsense", "config.yaml"}},
		{"login not known", "nous:hermes-4", provider.Config{Credentials: provider.Credentials{LoginLacks: lacks("client_id", "token_url")}}, nil, nil,
			[]string{"nous", "set providers.nous.base_url, providers.nous.oauth.client_id and providers.nous.oauth.token_url in", "hermes auth add nous"}},
		{"login half known", "grok-oauth:grok-4", provider.Config{Credentials: provider.Credentials{LoginLacks: lacks("client_id")}, Custom: map[string]provider.Custom{"xai-oauth": {BaseURL: "https://x.example/v1"}}}, nil,
			hermes.ErrNoModel, []string{"set providers.xai-oauth.oauth.client_id in config.yaml", "hermes auth add xai-oauth"}},
		{"login known, address not", "minimax-oauth:m", provider.Config{Credentials: provider.Credentials{LoginLacks: lacks()}}, nil, nil, []string{"set providers.minimax-oauth.base_url in"}},
		{"key in place of a login", "google-gemini-cli:m", provider.Config{Credentials: provider.Credentials{LoginLacks: lacks("client_id")}, Custom: map[string]provider.Custom{"google-gemini-cli": {Key: "k"}}}, nil,
			nil, []string{"has no address", "set providers.google-gemini-cli.base_url"}},
		{"login missing", "qwen-oauth:coder", provider.Config{}, nil, nil, []string{"needs a login", "hermes auth add qwen-oauth"}},
		{"address not known", "actual:x", provider.Config{}, nil, nil, []string{"providers.actual.base_url"}},
		{"mode not built", "", provider.Config{Selection: provider.Selection{BaseURL: "http://127.0.0.1:9", Model: "m", APIMode: "codex_app_server"}}, nil, nil, []string{"codex_app_server", "chat_completions"}},
		{"no address", "", provider.Config{Selection: provider.Selection{BaseURL: "localhost:8000", Model: "m"}}, nil, nil, []string{"https://host/v1"}},
		{"a service by its address, without a key", "", provider.Config{Selection: provider.Selection{BaseURL: "https://api.openai.com/v1", Model: "m"}}, nil, hermes.ErrNoModel, []string{"OPENAI_API_KEY"}},
		{"custom without address", "", provider.Config{Selection: provider.Selection{Provider: "custom", Model: "m"}}, nil, hermes.ErrNoModel, []string{"OPENAI_BASE_URL"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Getenv = tt.env.get
			_, err := mustNew(t, tt.cfg).Model(t.Context(), tt.ref)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %v, want %v", err, tt.is)
			}
			for _, word := range tt.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

// TestServerWithOneModelNeedsNoModelName is about the user's own addresses; a service with a key and many
// models is not asked.
func TestServerWithOneModelNeedsNoModelName(t *testing.T) {
	t.Parallel()
	one := listing(t, `{"data":[{"id":"nomic-embed-text"},{"id":"small:7b"}]}`, "")
	several := listing(t, `{"data":[{"id":"a"},{"id":"b"}]}`, "")
	none := listing(t, `{"data":[{"id":"nomic-embed-text"}]}`, "")
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	for _, tt := range []struct {
		name string
		env  vars
		cfg  provider.Config
		id   string
		says []string
	}{
		{"in the environment", vars{"OPENAI_BASE_URL": one.URL}, provider.Config{}, "custom:small:7b", []string{"custom:small:7b", one.URL}},
		{"in the configuration", nil, provider.Config{Selection: provider.Selection{BaseURL: one.URL, Provider: "custom"}}, "custom:small:7b", []string{"small:7b"}},
		{"the user's own provider", nil, provider.Config{Selection: provider.Selection{Provider: "box"}, Custom: map[string]provider.Custom{"box": {BaseURL: one.URL}}}, "custom:box:small:7b", []string{"small:7b"}},
		{"a server on this machine", vars{"VLLM_BASE_URL": one.URL}, provider.Config{Selection: provider.Selection{Provider: "vllm"}}, "vllm:small:7b", []string{"small:7b"}},
		{"several", vars{"OPENAI_BASE_URL": several.URL}, provider.Config{}, "", []string{"a, b", "-m a", "hermes model custom:a"}},
		{"none", vars{"OPENAI_BASE_URL": none.URL}, provider.Config{}, "", []string{"has no chat model"}},
		{"no list", vars{"OPENAI_BASE_URL": broken.URL}, provider.Config{}, "", []string{"cannot list the models", "-m custom:MODEL"}},
		{"no server", vars{"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, provider.Config{}, "", []string{"check that the server is running"}},
	} {
		var notes []string
		tt.cfg.Getenv = tt.env.get
		tt.cfg.Note = func(text string) { notes = append(notes, text) }
		c := mustNew(t, tt.cfg)
		m, err := c.Model(t.Context(), "")
		if (err == nil) != (tt.id != "") || err == nil && m.ID() != tt.id || err != nil && !errors.Is(err, hermes.ErrNoModel) {
			t.Errorf("%s: got %v, %v, want %q", tt.name, m, err, tt.id)
			continue
		}
		if p, err := c.Provider("custom"); strings.Contains(tt.id, "custom:small") && (err != nil || c.Configured()[0] != p.Name()) {
			t.Errorf("%s: the models of the address cannot be listed: %v, %v", tt.name, c.Configured(), err)
		}
		if _, again := c.Model(t.Context(), ""); (again == nil) != (err == nil) {
			t.Errorf("%s: second time: %v", tt.name, again)
		}
		text := strings.Join(notes, "\n")
		if err != nil {
			text = err.Error()
		} else if len(notes) != 1 {
			t.Errorf("%s: noted %d times", tt.name, len(notes))
		}
		for _, want := range tt.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", tt.name, text, want)
			}
		}
		if strings.Contains(text, "Get \"") || strings.Contains(text, "dial tcp") {
			t.Errorf("%s: %q speaks to Go programmers", tt.name, text)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ row, in, want string }{
		{"anthropic", "anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"},
		{"anthropic", "claude-opus-4-1-20250805", "claude-opus-4-1-20250805"},
		{"copilot", "anthropic/claude-sonnet-4-6", "claude-sonnet-4.6"},
		{"copilot", "gpt-5-mini", "gpt-5-mini"},
		{"copilot", "gpt-4o-2024-11-20", "gpt-4o-2024-11-20"},
		{"openrouter", "claude-sonnet-4.6", "anthropic/claude-sonnet-4.6"},
		{"openrouter", "openrouter/anthropic/claude-x", "anthropic/claude-x"},
		{"openrouter", "something-new", "something-new"},
		{"deepseek", "deepseek/deepseek-chat", "deepseek-chat"},
		{"zai", "z-ai/glm-4.6", "glm-4.6"},
		{"groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"},
		{"huggingface", "zai-org/GLM-4.6", "zai-org/GLM-4.6"},
		{"nvidia", "nvidia/llama-3.3-nemotron-super-49b-v1", "nvidia/llama-3.3-nemotron-super-49b-v1"},
		{"nvidia", "nvidia/nvidia/nemotron-4-340b-instruct", "nvidia/nemotron-4-340b-instruct"},
		{"nvidia", "nemotron-4-340b-instruct", "nvidia/nemotron-4-340b-instruct"},
		{"nvidia", "nim/meta/llama-3.3-70b-instruct", "meta/llama-3.3-70b-instruct"},
		{"groq", "groq/compound", "groq/compound"},
		{"groq", "groq/groq/compound-mini", "groq/compound-mini"},
		{"groq", "compound-mini", "groq/compound-mini"},
		{"groq", "groq/llama-3.3-70b-versatile", "llama-3.3-70b-versatile"},
		{"groq", "groq/compound-beta", "compound-beta"},
		{"openrouter", "openrouter/auto", "openrouter/auto"},
		{"ai-gateway", "grok-4", "xai/grok-4"},
		{"ai-gateway", "z-ai/glm-4.6", "zai/glm-4.6"},
		{"ai-gateway", "vercel/meta-llama/llama-4-scout", "meta/llama-4-scout"},
		{"ai-gateway", "qwen3-max", "alibaba/qwen3-max"},
		{"ai-gateway", "mistralai/mixtral-8x22b-instruct", "mistral/mixtral-8x22b-instruct"},
		{"ai-gateway", "vercel/v0-1.5-md", "vercel/v0-1.5-md"},
		{"ai-gateway", "anthropic/claude-sonnet-4.6", "anthropic/claude-sonnet-4.6"},
		{"openrouter", "xai/grok-4", "x-ai/grok-4"},
		{"openrouter", "meta/llama-4-scout", "meta-llama/llama-4-scout"},
		{"openrouter", "alibaba/tongyi-deepresearch-30b-a3b", "alibaba/tongyi-deepresearch-30b-a3b"},
		{"kilocode", "grok-code-fast-1", "x-ai/grok-code-fast-1"},
	}
	for _, tt := range tests {
		if got := provider.NameFor(tt.row, tt.in); got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.row, tt.in, got, tt.want)
		}
		// The user's own entry at the address of the service, whatever it is called.
		c := mustNew(t, provider.Config{})
		at := slices.IndexFunc(c.Rows(), func(r provider.Row) bool { return r.Name == tt.row })
		c = mustNew(t, provider.Config{Custom: map[string]provider.Custom{"mine": {BaseURL: c.Rows()[at].BaseURL, Key: "k"}}})
		if m, err := c.Model(t.Context(), "custom:mine:"+tt.in); err != nil || m.ID() != "custom:mine:"+tt.want {
			t.Errorf("at the address of %s: %s is %v, %v, want %s", tt.row, tt.in, m.ID(), err, tt.want)
		}
	}
}

// models is a server that lists models below one path.
func models(t *testing.T, path string, ids ...string) *httptest.Server {
	t.Helper()
	var rows []string
	for _, id := range ids {
		rows = append(rows, fmt.Sprintf(`{"id":%q,"context_length":4096}`, id))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s]}`, strings.Join(rows, ","))
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestLocalServersAreFound(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	studio := models(t, "/v1/models", "text-embedding-nomic", "qwen3-8b")
	cfg := provider.Config{Patience: provider.Patience{Timeouts: provider.Timeouts{Probe: time.Minute}}, Local: []provider.LocalServer{
		{Provider: "ollama", BaseURL: "http://127.0.0.1:1/v1"},
		{Provider: "llamacpp", BaseURL: page.URL + "/v1"},
		{Provider: "lmstudio", BaseURL: studio.URL + "/v1"},
		{Provider: "vllm", BaseURL: models(t, "/v1/models", "other").URL + "/v1"},
	}}
	c := mustNew(t, cfg)
	for ref, want := range map[string]string{"": "lmstudio:qwen3-8b", "other": "vllm:other", "lmstudio:qwen3-8b": "lmstudio:qwen3-8b"} {
		m, err := c.Model(t.Context(), ref)
		if err != nil || m.ID() != want {
			t.Errorf("%q: %v, %v; want %s", ref, m, err, want)
		}
	}
}

// TestNamesAreTakenFromTheList is about a server whose ids begin with its own name.
func TestNamesAreTakenFromTheList(t *testing.T) {
	t.Parallel()
	srv := models(t, "/models", "box/own", "plain")
	c := mustNew(t, provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: srv.URL}}})
	p, err := c.Provider("box")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"box:box/own": "custom:box:box/own", "box:box/plain": "custom:box:plain"} {
		if m, err := c.Model(t.Context(), ref); err != nil || m.ID() != want {
			t.Errorf("%s is %v, %v, want %s", ref, m, err, want)
		}
	}
}

// TestTheAddressOfTheListIsThatOfTheChat is about a server whose address was set without
// the path of its API.
func TestTheAddressOfTheListIsThatOfTheChat(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/v1"} {
		var asked []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case path + "/models":
				fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			case path + "/chat/completions":
				says("ok")(w, r)
			default:
				asked = append(asked, r.URL.Path)
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(srv.Close)
		dir := t.TempDir()
		for _, again := range []bool{false, true} { // the second catalogue is that of the next start
			cfg := provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: srv.URL + "/"}}, Answers: dir, Patience: provider.Patience{Retries: -1}}
			c, asked := mustNew(t, cfg), &asked
			if p, err := c.Provider("box"); err != nil {
				t.Fatal(err)
			} else if !again {
				if _, err := p.List(t.Context()); err != nil {
					t.Fatal(err)
				}
				*asked = nil
			}
			m, err := c.Model(t.Context(), "box:m")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}})); err != nil || len(*asked) > 0 {
				t.Errorf("path %q: %v, also asked %v", path, err, *asked)
			}
		}
	}
}

// TestAListingMovesNoAddressThatAnswers: neither in this run nor in a later one; but it
// moves one that has nothing any more.
func TestAListingMovesNoAddressThatAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ chat, list, later string }{{"", "/v1", "/v1"}, {"/v1", "", ""}} {
		var mu sync.Mutex
		chat, lists, asked := tt.chat, []string{tt.chat}, []string{}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			at, is := strings.CutSuffix(r.URL.Path, "/models")
			switch {
			case is && slices.Contains(lists, at):
				fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			case r.URL.Path == chat+"/chat/completions":
				asked = append(asked, "ok")
				says("ok")(w, r)
			default:
				asked = append(asked, r.URL.Path)
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(srv.Close)
		dir := t.TempDir()
		start := func() *provider.Catalogue {
			return mustNew(t, provider.Config{Selection: provider.Selection{Model: "box:m"}, Custom: map[string]provider.Custom{"box": {BaseURL: srv.URL}}, Answers: dir, Patience: provider.Patience{Retries: -1}})
		}
		c := start()
		mustList(t, c, "box") // where the chat is
		mustAnswer(t, c)
		lists, asked = []string{tt.list}, nil
		mustList(t, c, "box")
		mustAnswer(t, c)
		c = start()
		mustList(t, c, "box")
		mustAnswer(t, start())
		if want := []string{"ok", "ok"}; !slices.Equal(slices.DeleteFunc(asked, func(s string) bool { return strings.HasSuffix(s, "/models") }), want) {
			t.Errorf("%q listed at %q: asked %q", tt.chat, tt.list, asked)
		}

		mu.Lock()
		chat = tt.later
		mu.Unlock()
		m, err := c.Model(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hermes.Collect(m.Stream(t.Context(), sized(10))); err == nil {
			t.Fatal("answered where nothing is")
		}
		mustList(t, c, "box")
		mustAnswer(t, start())
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/models", "/v1/models"} {
		srv := models(t, path, "a", "b")
		c := mustNew(t, provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: srv.URL}}})
		p, err := c.Provider("box")
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.List(t.Context())
		if err != nil || len(list) != 2 || list[0].ID != "a" || list[0].ContextLength != 4096 {
			t.Errorf("%s: %+v, %v", path, list, err)
		}
	}
	c := mustNew(t, provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: "http://127.0.0.1:1"}}})
	p, _ := c.Provider("box")
	if list, err := p.List(t.Context()); err == nil || list != nil {
		t.Errorf("no server: %v, %v", list, err)
	}
}

// lacks is a login without these settings.
func lacks(names ...string) func(string) []string {
	return func(pool string) []string {
		var out []string
		for _, name := range names {
			out = append(out, "providers."+pool+".oauth."+name)
		}
		return out
	}
}

func TestEveryRowIsUsableOrSaysWhy(t *testing.T) {
	t.Parallel()
	c := mustNew(t, provider.Config{Programs: provider.Programs{Dir: "x", Find: func(string) error { return errors.New("none here") }}})
	seen := map[string]bool{}
	for _, r := range c.Rows() {
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			if seen[name] {
				t.Errorf("%s appears twice", name)
			}
			seen[name] = true
		}
		if says := r.Unavailable != "" || r.Login && c.Ready(r.Name) != "" || len(r.Command) > 0; r.BaseURL == "" && !says || r.BaseURL != "" && r.Unavailable != "" || r.Title == "" {
			t.Errorf("%s has neither address nor reason, or both", r.Name)
		}
		if r.Unavailable == "" && !r.NoKey && !r.Login && len(r.KeyVars) == 0 && len(r.Command) == 0 {
			t.Errorf("%s has no variable for its key", r.Name)
		}
		if missing := c.Ready(r.Name); (missing == "") != r.NoKey {
			t.Errorf("%s: ready says %q", r.Name, missing)
		}
	}
}

func TestConfigured(t *testing.T) {
	t.Parallel()
	c := mustNew(t, provider.Config{
		System: provider.System{Getenv: vars{"GEMINI_API_KEY": "g", "XAI_API_KEY": "x"}.get},
		Custom: map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.2/v1"}, "deepseek": {Key: "d"}, "empty": {}},
	})
	want := []string{"custom:box", "gemini", "xai", "deepseek", "ollama", "lmstudio", "llamacpp", "vllm"}
	if diff := cmp.Diff(c.Configured(), want); diff != "" {
		t.Error(diff)
	}
	for _, id := range want {
		if p, err := c.Provider(id); err != nil || p.Name() != id {
			t.Errorf("%s: %v, %v", id, p, err)
		}
	}
}
