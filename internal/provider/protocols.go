package provider

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
	"hermes/internal/transport/bedrock"
	"hermes/internal/transport/responses"
)

// protocol returns the protocol for a model. A service may speak several, and
// accept some models on only one of them.
func (c *Catalogue) protocol(ch choice) string {
	if ch.custom.APIMode != "" || ch.Protocol != ProtocolChat {
		return ch.Protocol
	}
	host := hostOf(ch.BaseURL)
	switch {
	case ch.Row.Name == "copilot" || host == "api.githubcopilot.com":
		if gpt5(ch.model) && !strings.HasPrefix(bareName(ch.model), "gpt-5-mini") {
			return ProtocolResponses
		}
	case host == "api.openai.com", isAzure(host):
		if gpt5(ch.model) {
			return ProtocolResponses
		}
	}
	return ProtocolChat
}

func bareName(model string) string {
	name := strings.ToLower(model)
	return name[strings.LastIndexByte(name, '/')+1:]
}

// gpt5 covers gpt-5 and its successors, and every model named codex.
func gpt5(model string) bool {
	name := bareName(model)
	if strings.Contains(name, "codex") {
		return true
	}
	rest, ok := strings.CutPrefix(name, "gpt-")
	major := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return ok && (major > 1 || major == 1 && rest[0] >= '5')
}

// common is the configuration that all protocols share.
func (c *Catalogue) common(ch choice, key hermes.Key, client *http.Client, header http.Header) base.Config {
	address := ch.BaseURL
	if ch.Protocol == ProtocolChat || ch.Protocol == ProtocolResponses {
		address = strings.TrimRight(address, "/") + c.learned.Path(address)
	}
	return base.Config{
		ID: ch.ref(), Provider: ch.Name, Model: ch.model, BaseURL: address, Setting: ch.setting(), Key: key.Secret,
		Header: header, Each: eachOf(ch), Client: client, Clocks: c.clocks(ch), Window: c.window(ch), Limits: func() (int, int) { return c.lengths(ch) }, Now: c.cfg.Now,
	}
}

func (c *Catalogue) responses(ch choice, w base.Config, key hermes.Key) hermes.Model {
	q := ch.Responses
	q.NoStream = c.noStream(ch) && !q.Codex
	q.KeyHeader = cmp.Or(q.KeyHeader, ch.Chat.KeyHeader)
	q.SessionHeader = cmp.Or(q.SessionHeader, ch.Chat.SessionHeader)
	if len(ch.custom.Extra) > 0 {
		q.Extra = maps.Clone(ch.custom.Extra)
	}
	q.Tail = c.tail(ch)
	if q.Codex && key.Account != "" {
		w.Header = w.Header.Clone()
		w.Header.Set("ChatGPT-Account-Id", key.Account)
	}
	return responses.New(responses.Config{Config: w, Quirks: q})
}

// bedrock uses a key or the AWS variables. The transport searches the rest of
// the AWS credential chain.
func (c *Catalogue) bedrock(ch choice, w base.Config) hermes.Model {
	get := c.cfg.Getenv
	if client, err := c.client(ch.endpoint); err == nil {
		w.Client = client // nothing may change a request once it is signed
	}
	region := c.firstVar([]string{"AWS_REGION", "AWS_DEFAULT_REGION"})
	if ch.BaseURL == bedrockURL && region != usualRegion {
		w.BaseURL = "" // the region's own address
	}
	return bedrock.New(bedrock.Config{
		Config: w, Quirks: bedrock.Quirks{NoStream: c.noStream(ch), CacheTTL: c.cacheTTL(ch)},
		Access: bedrock.Access{
			Region: region, Profile: get("AWS_PROFILE"),
			KeyID: get("AWS_ACCESS_KEY_ID"), Secret: hermes.Secret(get("AWS_SECRET_ACCESS_KEY")), Token: hermes.Secret(get("AWS_SESSION_TOKEN")),
		},
	})
}

const (
	usualRegion = "us-east-1"
	bedrockURL  = "https://bedrock-runtime." + usualRegion + ".amazonaws.com"
)

// eachOf returns what sets a service's headers for single requests. Copilot wants
// to know which requests the user started, and which ones have images.
func eachOf(ch choice) func(http.Header, *hermes.Request) {
	if ch.Row.Name != "copilot" && hostOf(ch.BaseURL) != "api.githubcopilot.com" {
		return nil
	}
	return func(h http.Header, r *hermes.Request) {
		initiator := "agent"
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == hermes.RoleUser && !r.Messages[n-1].Synthetic && r.Purpose == "" {
			initiator = "user"
		}
		h.Set("X-Initiator", initiator)
		for _, msg := range r.Messages {
			if len(base.Images(msg)) > 0 {
				h.Set("Copilot-Vision-Request", "true")
				return
			}
		}
	}
}

func isAzure(host string) bool {
	return strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".services.ai.azure.com") || strings.HasSuffix(host, ".cognitiveservices.azure.com")
}

// wholeAddress completes the address of an Azure resource, which users often
// copy without the path of the API.
func wholeAddress(base string) string {
	u, err := url.Parse(base)
	if err == nil && isAzure(strings.ToLower(u.Hostname())) && strings.Trim(u.Path, "/") == "" {
		return strings.TrimRight(base, "/") + "/openai/v1"
	}
	return base
}

// ownModel reports whether a server is the user's own or unknown. Its models may
// write tool calls as text.
func (c *Catalogue) ownModel(ch choice) bool {
	if isLocal(ch.BaseURL) {
		return true
	}
	_, known := c.rowByHost(ch.BaseURL)
	return !known
}
