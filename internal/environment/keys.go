package environment

import "strings"

// family is a service whose keys only Hermes itself uses. Its variables begin
// with one of the names.
type family struct {
	service string
	names   string // separated by blanks
}

// families are the messengers, search and media services, memory services and
// machines that Hermes reaches with a key of the user. The model services are in
// their own catalogue, see LocalConfig.KeyOf.
var families = []family{
	{"Hermes", "HERMES GATEWAY API_SERVER WEBHOOK RELAY"},
	{"Telegram", "TELEGRAM TG_BOT"},
	{"Discord", "DISCORD"},
	{"Slack", "SLACK"},
	{"WhatsApp", "WHATSAPP"},
	{"Signal", "SIGNAL"},
	{"SMS", "SMS TWILIO"},
	{"e-mail", "EMAIL SMTP IMAP"},
	{"Home Assistant", "HASS HOMEASSISTANT HOME_ASSISTANT"},
	{"Mattermost", "MATTERMOST"},
	{"Matrix", "MATRIX"},
	{"DingTalk", "DINGTALK"},
	{"Feishu", "FEISHU LARK"},
	{"WeCom", "WECOM"},
	{"Weixin", "WEIXIN WECHAT"},
	{"BlueBubbles", "BLUEBUBBLES"},
	{"Photon", "PHOTON"},
	{"QQ", "QQ QQBOT"},
	{"Yuanbao", "YUANBAO"},
	{"Microsoft Teams", "TEAMS MSTEAMS MSGRAPH GRAPH"},
	{"Google Chat", "GOOGLE_CHAT"},
	{"LINE", "LINE"},
	{"ntfy", "NTFY"},
	{"IRC", "IRC"},
	{"SimpleX", "SIMPLEX"},
	{"Nostr", "NOSTR BUZZ"},
	{"Raft", "RAFT"},

	{"Exa", "EXA"},
	{"Tavily", "TAVILY"},
	{"Firecrawl", "FIRECRAWL"},
	{"Brave Search", "BRAVE"},
	{"Parallel", "PARALLEL"},
	{"Perplexity", "PERPLEXITY PPLX"},
	{"Keenable", "KEENABLE"},
	{"SearXNG", "SEARXNG"},

	{"FAL", "FAL"},
	{"ElevenLabs", "ELEVENLABS"},
	{"Deepgram", "DEEPGRAM"},
	{"Replicate", "REPLICATE"},
	{"Browserbase", "BROWSERBASE"},
	{"Browser Use", "BROWSER_USE"},
	{"Camofox", "CAMOFOX"},
	{"Modal", "MODAL"},
	{"Daytona", "DAYTONA"},
	{"E2B", "E2B"},
	{"Runloop", "RUNLOOP"},
	{"Tinker", "TINKER"},
	{"Langfuse", "LANGFUSE"},
	{"Bitwarden", "BWS BITWARDEN"},

	{"Honcho", "HONCHO"},
	{"Mem0", "MEM0"},
	{"Supermemory", "SUPERMEMORY"},
	{"OpenViking", "OPENVIKING"},
	{"Hindsight", "HINDSIGHT"},
	{"RetainDB", "RETAINDB"},
	{"ByteRover", "BYTEROVER"},
}

// KeyOf says whose key a variable holds, by its name: "the sudo password", "a key
// of Telegram". It is "" for variables that are not for Hermes itself.
func KeyOf(name string) string {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "SUDO_PASSWORD") || strings.HasSuffix(name, "SUDO_PASS") {
		return "the sudo password"
	}
	if !suggestsSecret(name) {
		return ""
	}
	for _, f := range families {
		for prefix := range strings.FieldsSeq(f.names) {
			if rest, ok := strings.CutPrefix(name, prefix); ok && strings.HasPrefix(rest, "_") {
				return "a key of " + f.service
			}
		}
	}
	return ""
}
