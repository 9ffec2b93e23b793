package credential

import (
	"strings"

	"hermes/internal/oauth"
)

// Login says how to log in at a service. Logins has a row for each service whose
// client and addresses are publicly documented. The settings can define others.
type Login struct {
	Provider string
	oauth.Config
	// Note is shown before the login begins; it may be empty.
	Note string
}

// Lacks lists the settings that a login still needs before it can be used, by their
// names in config.yaml; none if it is complete.
func (l Login) Lacks() []string {
	section := "providers." + strings.TrimPrefix(l.Provider, "custom:") + ".oauth."
	var missing []string
	for _, s := range []struct {
		set  bool
		name string
	}{
		{l.ClientID != "" || l.Form == oauth.FormKey, "client_id"},
		{l.TokenURL != "", "token_url"},
		{l.DeviceURL != "" || l.AuthURL != "", "device_url (or auth_url)"},
	} {
		if !s.set {
			missing = append(missing, section+s.name)
		}
	}
	return missing
}

// Logins lists the rows.
func Logins() []Login {
	return []Login{
		{
			Provider: "openrouter",
			Config: oauth.Config{
				AuthURL: "https://openrouter.ai/auth", TokenURL: "https://openrouter.ai/api/v1/auth/keys",
				Redirect: "http://localhost:0/callback", Form: oauth.FormKey,
			},
			Note: "OpenRouter makes an API key for Hermes; you can revoke it at openrouter.ai/keys.",
		},
		{
			// The client of the open-source Codex command line.
			Provider: "openai-codex",
			Config: oauth.Config{
				ClientID: "app_EMoamEEZ73f0CkXaXp7hrann",
				AuthURL:  "https://auth.openai.com/oauth/authorize", TokenURL: "https://auth.openai.com/oauth/token",
				Redirect: "http://localhost:1455/auth/callback",
				Scopes:   []string{"openid", "profile", "email", "offline_access"},
				Params:   map[string]string{"id_token_add_organizations": "true", "codex_cli_simplified_flow": "true"},
			},
			Note: "This logs in with your ChatGPT account.",
		},
		{
			// The client of the open-source Qwen Code command line.
			Provider: "qwen-oauth",
			Config: oauth.Config{
				ClientID:  "f0304373b74a44d2b584a3fb70ca9e56",
				DeviceURL: "https://chat.qwen.ai/api/v1/oauth2/device/code", TokenURL: "https://chat.qwen.ai/api/v1/oauth2/token",
				Scopes: []string{"openid", "profile", "email", "model.completion"}, Form: oauth.FormDevicePKCE,
			},
		},
	}
}
