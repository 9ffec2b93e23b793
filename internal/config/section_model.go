package config

import (
	"time"

	"hermes"
)

// Model is the section model: which model answers and how to reach it.
type Model struct {
	Default       string            `key:"default" override:"HERMES_INFERENCE_MODEL"` // the variable is for one process
	Provider      string            `key:"provider" default:"auto"`
	BaseURL       string            `key:"base_url"`
	APIKey        hermes.Secret     `key:"api_key"`
	APIMode       string            `key:"api_mode" oneof:"chat_completions anthropic_messages codex_responses bedrock_converse gemini_generate_content ollama_chat codex_app_server"`
	ContextLength int               `key:"context_length"` // tokens; 0: what the catalogue says
	MaxTokens     int               `key:"max_tokens"`     // 0: what the service allows
	Streaming     bool              `key:"streaming" default:"true"`
	PersistSwitch bool              `key:"persist_switch_by_default"`
	Aliases       map[string]string `key:"aliases"`
	OpenAIRuntime string            `key:"openai_runtime" planned:"codex app server"`
	AuthMode      string            `key:"auth_mode" planned:"azure sign-in"`
}

// Provider is one entry of the section providers: settings for a provider of the
// catalogue, or a custom provider if it has a base URL.
type Provider struct {
	Name           string                   `key:"name"`
	BaseURL        string                   `key:"base_url" also:"api"`
	APIKey         hermes.Secret            `key:"api_key"`
	KeyEnv         string                   `key:"key_env"`
	Command        string                   `key:"command"` // a program that speaks ACP, in place of base_url
	Args           []string                 `key:"args"`    // of command
	APIMode        string                   `key:"api_mode" oneof:"chat_completions anthropic_messages codex_responses bedrock_converse gemini_generate_content ollama_chat codex_app_server"`
	DefaultModel   string                   `key:"default_model"`
	Headers        map[string]string        `key:"headers"`
	ExtraBody      map[string]any           `key:"extra_body"`
	RequestTimeout time.Duration            `key:"request_timeout_seconds"` // 0: the general one
	StaleTimeout   time.Duration            `key:"stale_timeout_seconds"`   // 0: the general one
	ContextLength  int                      `key:"context_length"`
	CACert         string                   `key:"ssl_ca_cert"`
	VerifyTLS      bool                     `key:"ssl_verify" default:"true"`
	Models         map[string]ProviderModel `key:"models"`
	OAuth          OAuth                    `key:"oauth"`
}

// OAuth is how to log in to a provider; what is set replaces the built-in values.
type OAuth struct {
	ClientID     string            `key:"client_id"`
	ClientSecret hermes.Secret     `key:"client_secret"`
	AuthURL      string            `key:"auth_url"`
	TokenURL     string            `key:"token_url"`
	DeviceURL    string            `key:"device_url"`
	Scopes       []string          `key:"scopes"`
	Redirect     string            `key:"redirect_uri"` // loopback; port 0 means any free port
	Params       map[string]string `key:"params"`       // added to the address that the browser opens
}

// ProviderModel is the settings of one model of a provider.
type ProviderModel struct {
	Timeout        time.Duration `key:"timeout_seconds"`
	StaleTimeout   time.Duration `key:"stale_timeout_seconds"`
	ContextLength  int           `key:"context_length"`
	SupportsVision bool          `key:"supports_vision"`
}

// Fallback is one entry of fallback_providers, tried in the order written.
type Fallback struct {
	Provider      string        `key:"provider"`
	Model         string        `key:"model"`
	BaseURL       string        `key:"base_url"`
	KeyEnv        string        `key:"key_env"`
	APIKey        hermes.Secret `key:"api_key"`
	APIMode       string        `key:"api_mode"`
	ContextLength int           `key:"context_length"`
}

// ModelAlias is one entry of model_aliases: a name for a model of a provider or of
// its own base URL.
type ModelAlias struct {
	Model    string        `key:"model"`
	Provider string        `key:"provider"`
	BaseURL  string        `key:"base_url"`
	APIKey   hermes.Secret `key:"api_key"`
	KeyEnv   string        `key:"key_env"`
	APIMode  string        `key:"api_mode"`
}

// OpenRouter is the section openrouter.
type OpenRouter struct {
	ResponseCache    bool          `key:"response_cache"`                                       // answer repeated requests from OpenRouter's cache
	ResponseCacheTTL time.Duration `key:"response_cache_ttl" default:"300" min:"1" max:"86400"` // of these answers
	MinCodingScore   float64       `key:"min_coding_score" max:"1"`                             // for the model openrouter/pareto-code; 0: its default
}

// Routing is the section provider_routing: which providers OpenRouter may choose, as it
// documents its field provider. A wrong value gives the stricter one where there is one.
type Routing struct {
	Order             []string     `key:"order"`                                           // providers to try, in this order
	Only              []string     `key:"only"`                                            // no others
	Ignore            []string     `key:"ignore"`                                          // never these
	AllowFallbacks    bool         `key:"allow_fallbacks" default:"true" wrong:"false"`    // others if those of order fail
	RequireParameters bool         `key:"require_parameters" wrong:"true"`                 // only those that know every field of the request
	DataCollection    string       `key:"data_collection" oneof:"allow deny" wrong:"deny"` // whether they may keep data
	ZDR               bool         `key:"zdr" wrong:"true"`                                // only those that keep nothing
	DistillableText   bool         `key:"enforce_distillable_text" wrong:"true"`           // only models whose text may train others
	Quantizations     []string     `key:"quantizations"`                                   // such as fp8
	Sort              string       `key:"sort" oneof:"price throughput latency"`           // "": OpenRouter balances the load
	MaxPrice          RoutingPrice `key:"max_price"`                                       // refuse what costs more
	MinThroughput     float64      `key:"preferred_min_throughput"`                        // tokens a second; 0: any
	MaxLatency        float64      `key:"preferred_max_latency"`                           // seconds; 0: any
}

// RoutingPrice is in US dollars: for a million tokens, a request and an image; 0 is no
// limit.
type RoutingPrice struct {
	Prompt     float64 `key:"prompt"`
	Completion float64 `key:"completion"`
	Request    float64 `key:"request"`
	Image      float64 `key:"image"`
}

// PromptCaching is the section prompt_caching.
type PromptCaching struct {
	CacheTTL string `key:"cache_ttl" default:"5m" oneof:"5m 1h auto"`
}

// Timeouts are the timeouts of a model call, usually set by variables. With zero the
// provider chooses: it can tell local servers from remote ones.
type Timeouts struct {
	StreamRead  time.Duration `key:"stream_read" env:"HERMES_STREAM_READ_TIMEOUT"`
	StreamStale time.Duration `key:"stream_stale" env:"HERMES_STREAM_STALE_TIMEOUT"`
	CallStale   time.Duration `key:"call_stale" env:"HERMES_API_CALL_STALE_TIMEOUT"`
	Call        time.Duration `key:"call" default:"1800" env:"HERMES_API_TIMEOUT"`
}

// Model returns the section model.
func (c *Config) Model() Model { return section[Model](c, "model") }

// Providers returns the section providers.
func (c *Config) Providers() map[string]Provider { return section[map[string]Provider](c, "providers") }

// Fallback returns fallback_providers.
func (c *Config) Fallback() []Fallback { return section[[]Fallback](c, "fallback_providers") }

// ModelAliases returns model_aliases.
func (c *Config) ModelAliases() map[string]ModelAlias {
	return section[map[string]ModelAlias](c, "model_aliases")
}

// PoolStrategies returns credential_pool_strategies: provider to strategy.
func (c *Config) PoolStrategies() map[string]string {
	return section[map[string]string](c, "credential_pool_strategies")
}

// Routing returns the section provider_routing.
func (c *Config) Routing() Routing { return section[Routing](c, "provider_routing") }

// OpenRouter returns the section openrouter.
func (c *Config) OpenRouter() OpenRouter { return section[OpenRouter](c, "openrouter") }

// PromptCaching returns the section prompt_caching.
func (c *Config) PromptCaching() PromptCaching { return section[PromptCaching](c, "prompt_caching") }

// Timeouts returns the timeouts of a model call.
func (c *Config) Timeouts() Timeouts { return section[Timeouts](c, "timeouts") }
