package config

import (
	"fmt"
	"strings"
	"time"

	"hermes/internal/websearch"
)

// Web is the section web: searching and reading pages.
type Web struct {
	Backend        string        `key:"backend"`         // for both, as far as it can
	SearchBackend  string        `key:"search_backend"`  // "": what is set up
	ExtractBackend string        `key:"extract_backend"` // "": without a service first
	Keyless        bool          `key:"keyless_fallback" default:"true"`
	KeylessRescue  bool          `key:"keyless_rescue" default:"true"`
	ProviderTier   ProviderTier  `key:"provider_tier"`
	CharLimit      int           `key:"extract_char_limit" default:"15000" min:"2000" max:"500000"`
	Timeout        time.Duration `key:"extract_timeout" default:"120" min:"1"`
	Cache          bool          `key:"cache_enabled" default:"true"`
	CacheMinutes   int           `key:"cache_ttl_minutes" default:"20" min:"1" max:"1440"`
	CacheExempt    []string      `key:"cache_exempt_hosts"`
}

// ProviderTier says which plan an account has.
type ProviderTier struct {
	Parallel string `key:"parallel" default:"free" oneof:"free paid"`
	Exa      string `key:"exa" default:"free" oneof:"free paid"`
}

// Browser is the section browser.
type Browser struct {
	Backend           string        `key:"backend" oneof:"auto local cdp browserbase browser_use"` // "": auto
	CDPURL            string        `key:"cdp_url"`
	Program           string        `key:"program"`
	Profile           string        `key:"profile"`
	Headed            bool          `key:"headed"`
	InactivityTimeout time.Duration `key:"inactivity_timeout" default:"120" min:"1"`
	CommandTimeout    time.Duration `key:"command_timeout" default:"30" min:"1"`
	DialogPolicy      string        `key:"dialog_policy" default:"must_respond" oneof:"must_respond auto_dismiss auto_accept"`
	DialogTimeout     time.Duration `key:"dialog_timeout_s" default:"300" min:"1"`
	AutoLocal         bool          `key:"auto_local_for_private_urls" default:"true"`
	CloudProxies      bool          `key:"cloud_proxies" default:"true"`
	CloudTimeout      time.Duration `key:"cloud_timeout" default:"3600" min:"60" max:"21600"`
	AllowEvaluate     bool          `key:"allow_evaluate" default:"true"`
	RestrictEvaluate  bool          `key:"restrict_evaluate" default:"true"`
}

// STT is the section stt: speech to text.
type STT struct {
	Enabled          bool           `key:"enabled" default:"true"`
	EchoTranscripts  bool           `key:"echo_transcripts" default:"true"`
	Provider         string         `key:"provider" default:"local" oneof:"local groq openai mistral xai elevenlabs deepinfra"`
	Language         string         `key:"language" default:"en"`
	Prompt           string         `key:"prompt"`
	Local            STTLocal       `key:"local"`
	CloudTrimSilence bool           `key:"cloud_trim_silence" default:"true"`
	Rest             map[string]any `key:"*"` // settings of single providers
}

// STTLocal is speech to text on this machine.
type STTLocal struct {
	Model    string `key:"model" default:"base"`
	Language string `key:"language"`
	VAD      bool   `key:"vad" default:"true"`
}

// TTS is the section tts: text to speech.
type TTS struct {
	Provider string         `key:"provider" default:"edge"`
	Speed    float64        `key:"speed" default:"1.0" min:"0"`
	Rest     map[string]any `key:"*"` // settings of single providers
}

// Voice is the section voice.
type Voice struct {
	RecordKey        string        `key:"record_key" default:"ctrl+b"`
	MaxRecording     time.Duration `key:"max_recording_seconds" default:"120" min:"1"`
	AutoTTS          bool          `key:"auto_tts"`
	BeepEnabled      bool          `key:"beep_enabled" default:"true"`
	BeepVolume       float64       `key:"beep_volume" default:"0.3" min:"0"`
	SilenceThreshold int           `key:"silence_threshold" default:"200" min:"0"`
	SilenceDuration  time.Duration `key:"silence_duration" default:"3.0"`
}

// checkWeb reports services that are not known: a session refuses to search or read with them.
func (c *Config) checkWeb(add func(Problem)) {
	for _, e := range c.EntriesBelow("web") {
		name := strings.TrimSpace(fmt.Sprint(e.Value))
		pages := e.Key == "web.extract_backend"
		if name == "" || !pages && e.Key != "web.backend" && e.Key != "web.search_backend" {
			continue
		}
		if b, known := websearch.Find(name); known && (!pages || b.Extracts()) || pages && strings.EqualFold(name, "local") {
			continue
		}
		var names []string
		for _, b := range websearch.Backends() {
			if !pages || b.Extracts() {
				names = append(names, b.Name)
			}
		}
		if pages {
			names = append(names, "local")
		}
		add(Problem{
			Severity: Warning, File: e.File, Line: e.Line, Key: e.Key, Text: fmt.Sprintf("is %q, which does not do that or is not known", name),
			Served: "the web tools refuse it", Do: "Use one of " + strings.Join(names, ", "),
		})
	}
}

// Web returns the section web.
func (c *Config) Web() Web { return section[Web](c, "web") }

// Browser returns the section browser.
func (c *Config) Browser() Browser { return section[Browser](c, "browser") }

// STT returns the section stt.
func (c *Config) STT() STT { return section[STT](c, "stt") }

// TTS returns the section tts.
func (c *Config) TTS() TTS { return section[TTS](c, "tts") }

// Voice returns the section voice.
func (c *Config) Voice() Voice { return section[Voice](c, "voice") }
