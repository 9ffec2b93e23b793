package provider

import (
	"hermes/internal/transport/chat"
	"hermes/internal/transport/responses"
)

// Why some services of the catalogue cannot be used yet.
const (
	needsGoogle  = "Google Cloud login is not supported yet; use the provider gemini with an API key"
	needsAddress = "its address is not known yet; set providers.%s.base_url and api_key in config.yaml"
)

// catalogue returns the services, in the order in which the environment is
// searched for a key.
func catalogue() []Row {
	effort := chat.Quirks{Effort: "effort"}
	thinking := chat.Quirks{Effort: "thinking", Replay: "reasoning_content"}
	qwen := chat.Quirks{Effort: "enable_thinking"}
	aggregator := chat.Quirks{Effort: "object", Replay: "reasoning_details"}
	// https://openrouter.ai/docs/app-attribution, which Vercel and Kilo read as well
	title := map[string]string{"HTTP-Referer": homepage, "X-Title": "Hermes"}

	return []Row{
		{Name: "openrouter", Title: "OpenRouter", Aliases: []string{"or"}, BaseURL: "https://openrouter.ai/api/v1", URLVars: []string{"OPENROUTER_BASE_URL"}, KeyVars: []string{"OPENROUTER_API_KEY"}, Model: "anthropic/claude-sonnet-4.6", Naming: Naming{Aggregator: true}, CacheMarks: true, Header: title, Chat: aggregator, Routes: true, Tiers: openAITiers()},
		{Name: "anthropic", Title: "Anthropic", Aliases: []string{"claude"}, BaseURL: "https://api.anthropic.com", URLVars: []string{"ANTHROPIC_BASE_URL"}, KeyVars: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN", "ANTHROPIC_AUTH_TOKEN"}, Protocol: ProtocolAnthropic, Model: "claude-sonnet-4-6", CacheMarks: true, Tiers: anthropicTiers()},
		{Name: "openai-api", Title: "OpenAI", Aliases: []string{"openai"}, BaseURL: "https://api.openai.com/v1", KeyVars: []string{"OPENAI_API_KEY"}, Model: "gpt-5.1", Chat: chat.Quirks{Effort: "effort", SessionField: "prompt_cache_key", MaxTokens: "max_completion_tokens"}, Tiers: openAITiers()},
		{Name: "gemini", Title: "Google Gemini", Aliases: []string{"google"}, BaseURL: "https://generativelanguage.googleapis.com/v1beta", URLVars: []string{"GEMINI_BASE_URL"}, KeyVars: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, Protocol: ProtocolGemini, Model: "gemini-3-flash-preview", Chat: chat.Quirks{Effort: "effort", CallSignature: true}},
		{Name: "xai", Title: "xAI", Aliases: []string{"grok", "x-ai"}, BaseURL: "https://api.x.ai/v1", URLVars: []string{"XAI_BASE_URL"}, KeyVars: []string{"XAI_API_KEY"}, Model: "grok-4", Chat: chat.Quirks{SessionHeader: "X-Grok-Conv-Id"}},
		{Name: "zai", Title: "Z.AI (GLM)", Aliases: []string{"glm", "z-ai", "z.ai", "zhipu"}, BaseURL: "https://api.z.ai/api/paas/v4", URLVars: []string{"GLM_BASE_URL"}, KeyVars: []string{"GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"}, Model: "glm-4.6", Chat: thinking},
		{Name: "kimi-coding", Title: "Kimi (Moonshot)", Aliases: []string{"kimi", "moonshot"}, BaseURL: "https://api.moonshot.ai/v1", URLVars: []string{"KIMI_BASE_URL"}, KeyVars: []string{"KIMI_API_KEY", "MOONSHOT_API_KEY"}, Model: "kimi-k2-turbo-preview", Chat: thinking},
		{Name: "kimi-coding-cn", Title: "Kimi (China)", Aliases: []string{"kimi-cn", "moonshot-cn"}, BaseURL: "https://api.moonshot.cn/v1", URLVars: []string{"KIMI_CN_BASE_URL"}, KeyVars: []string{"KIMI_CN_API_KEY"}, Model: "kimi-k2-turbo-preview", Chat: thinking},
		{Name: "minimax", Title: "MiniMax", BaseURL: "https://api.minimax.io/anthropic", URLVars: []string{"MINIMAX_BASE_URL"}, KeyVars: []string{"MINIMAX_API_KEY"}, Protocol: ProtocolAnthropic, Bearer: true, Model: "MiniMax-M2"},
		{Name: "minimax-cn", Title: "MiniMax (China)", BaseURL: "https://api.minimaxi.com/anthropic", URLVars: []string{"MINIMAX_CN_BASE_URL"}, KeyVars: []string{"MINIMAX_CN_API_KEY"}, Protocol: ProtocolAnthropic, Bearer: true, Model: "MiniMax-M2"},
		{Name: "deepseek", Title: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", URLVars: []string{"DEEPSEEK_BASE_URL"}, KeyVars: []string{"DEEPSEEK_API_KEY"}, Model: "deepseek-chat", Chat: thinking},
		{Name: "alibaba", Title: "Alibaba Model Studio", Aliases: []string{"qwen", "dashscope"}, BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", URLVars: []string{"DASHSCOPE_BASE_URL"}, KeyVars: []string{"DASHSCOPE_API_KEY"}, Model: "qwen3-max", Chat: qwen},
		{Name: "alibaba-cn", Title: "Alibaba Model Studio (China)", Aliases: []string{"dashscope-cn"}, BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", KeyVars: []string{"DASHSCOPE_CN_API_KEY"}, Model: "qwen3-max", Chat: qwen},
		{Name: "alibaba-coding-plan", Title: "Alibaba Coding Plan", BaseURL: "https://coding-intl.dashscope.aliyuncs.com/v1", KeyVars: []string{"ALIBABA_CODING_PLAN_API_KEY"}, Model: "qwen3-coder-plus"},
		{Name: "alibaba-coding-plan-cn", Title: "Alibaba Coding Plan (China)", BaseURL: "https://coding.dashscope.aliyuncs.com/v1", KeyVars: []string{"ALIBABA_CODING_PLAN_CN_API_KEY"}, Model: "qwen3-coder-plus"},
		{Name: "nvidia", Title: "NVIDIA", Aliases: []string{"nim"}, BaseURL: "https://integrate.api.nvidia.com/v1", URLVars: []string{"NVIDIA_BASE_URL"}, KeyVars: []string{"NVIDIA_API_KEY"}, Naming: Naming{Keeps: []string{"*"}}},
		{Name: "huggingface", Title: "Hugging Face", Aliases: []string{"hf"}, BaseURL: "https://router.huggingface.co/v1", URLVars: []string{"HF_BASE_URL"}, KeyVars: []string{"HF_TOKEN", "HUGGINGFACE_API_KEY"}},
		{Name: "groq", Title: "Groq", BaseURL: "https://api.groq.com/openai/v1", KeyVars: []string{"GROQ_API_KEY"}, Naming: Naming{Keeps: []string{"compound", "compound-mini"}}, Chat: effort, Tiers: groqTiers()},
		{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", KeyVars: []string{"MISTRAL_API_KEY"}, Chat: chat.Quirks{NoUsageOption: true}},
		{Name: "together", Title: "Together", BaseURL: "https://api.together.xyz/v1", KeyVars: []string{"TOGETHER_API_KEY"}},
		{Name: "cerebras", Title: "Cerebras", BaseURL: "https://api.cerebras.ai/v1", KeyVars: []string{"CEREBRAS_API_KEY"}, Chat: effort},
		{Name: "fireworks", Title: "Fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", KeyVars: []string{"FIREWORKS_API_KEY"}, Chat: effort},
		{Name: "deepinfra", Title: "DeepInfra", BaseURL: "https://api.deepinfra.com/v1/openai", KeyVars: []string{"DEEPINFRA_API_KEY"}},
		{Name: "novita", Title: "Novita", BaseURL: "https://api.novita.ai/openai/v1", KeyVars: []string{"NOVITA_API_KEY"}},
		{Name: "nebius-token-factory", Title: "Nebius Token Factory", Aliases: []string{"nebius"}, BaseURL: "https://api.tokenfactory.nebius.com/v1", KeyVars: []string{"NEBIUS_API_KEY"}},
		{Name: "upstage", Title: "Upstage", Aliases: []string{"solar"}, BaseURL: "https://api.upstage.ai/v1", KeyVars: []string{"UPSTAGE_API_KEY"}, Chat: effort},
		{Name: "stepfun", Title: "StepFun", BaseURL: "https://api.stepfun.ai/v1", URLVars: []string{"STEPFUN_BASE_URL"}, KeyVars: []string{"STEPFUN_API_KEY"}},
		{Name: "xiaomi", Title: "Xiaomi MiMo", Aliases: []string{"mimo"}, BaseURL: "https://api.xiaomimimo.com/v1", URLVars: []string{"XIAOMI_BASE_URL"}, KeyVars: []string{"XIAOMI_API_KEY"}, Chat: thinking},
		{Name: "arcee", Title: "Arcee", BaseURL: "https://api.arcee.ai/api/v1", KeyVars: []string{"ARCEEAI_API_KEY", "ARCEE_API_KEY"}},
		{Name: "gmi", Title: "GMI Cloud", BaseURL: "https://api.gmi-serving.com/v1", KeyVars: []string{"GMI_API_KEY"}},
		{Name: "kilocode", Title: "Kilo", Aliases: []string{"kilo"}, BaseURL: "https://api.kilo.ai/api/gateway", KeyVars: []string{"KILOCODE_API_KEY", "KILO_API_KEY"}, Naming: Naming{Aggregator: true}, CacheMarks: true, Header: title, Chat: aggregator},
		{Name: "ai-gateway", Title: "Vercel AI Gateway", Aliases: []string{"vercel"}, BaseURL: "https://ai-gateway.vercel.sh/v1", KeyVars: []string{"AI_GATEWAY_API_KEY"}, Naming: Naming{Aggregator: true, Vendors: vercelVendors()}, CacheMarks: true, Header: title, Chat: aggregator, Tiers: openAITiers()},
		{Name: "opencode-zen", Title: "OpenCode Zen", BaseURL: "https://opencode.ai/zen/v1", KeyVars: []string{"OPENCODE_ZEN_API_KEY"}},
		{Name: "opencode-go", Title: "OpenCode Go", BaseURL: "https://opencode.ai/zen/go/v1", KeyVars: []string{"OPENCODE_GO_API_KEY"}},
		{Name: "ollama-cloud", Title: "Ollama Cloud", BaseURL: "https://ollama.com/v1", KeyVars: []string{"OLLAMA_API_KEY"}, Chat: effort},

		{Name: "ollama", Title: "Ollama (local)", BaseURL: "http://127.0.0.1:11434/v1", URLVars: []string{"OLLAMA_BASE_URL"}, NoKey: true, Protocol: ProtocolOllama, Chat: effort},
		{Name: "lmstudio", Title: "LM Studio (local)", Aliases: []string{"lm-studio"}, BaseURL: "http://127.0.0.1:1234/v1", URLVars: []string{"LM_BASE_URL"}, KeyVars: []string{"LM_API_KEY"}, NoKey: true},
		{Name: "llamacpp", Title: "llama.cpp (local)", Aliases: []string{"llama.cpp", "llama-cpp"}, BaseURL: "http://127.0.0.1:8080/v1", NoKey: true},
		{Name: "vllm", Title: "vLLM (local)", BaseURL: "http://127.0.0.1:8000/v1", URLVars: []string{"VLLM_BASE_URL"}, KeyVars: []string{"VLLM_API_KEY"}, NoKey: true, Chat: effort},

		{Name: "nous", Title: "Nous Portal", Login: true, Naming: Naming{Aggregator: true}, CacheMarks: true, Chat: aggregator},
		{Name: "openai-codex", Title: "ChatGPT account", Aliases: []string{"codex"}, BaseURL: "https://chatgpt.com/backend-api/codex", Login: true, Protocol: ProtocolResponses, Model: "gpt-5.2-codex", Header: codexHeader(), Responses: responses.Quirks{Codex: true, SessionHeader: "Session_id"}, Tiers: openAITiers()},
		{Name: "copilot", Title: "GitHub Copilot", Aliases: []string{"github-copilot"}, BaseURL: "https://api.githubcopilot.com", KeyVars: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}, Named: true, Header: map[string]string{"Openai-Intent": "conversation-edits"}, Chat: effort},
		{Name: "copilot-acp", Title: "GitHub Copilot (ACP)", Named: true, Program: Program{Command: []string{"copilot", "--acp", "--stdio"}, CommandVars: []string{"HERMES_COPILOT_ACP_COMMAND", "COPILOT_CLI_PATH"}, ArgsVars: []string{"HERMES_COPILOT_ACP_ARGS"}, Env: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_HOME"}}},
		{Name: "google-gemini-cli", Title: "Google account", Login: true, LoginURL: "https://generativelanguage.googleapis.com", Protocol: ProtocolGemini, Bearer: true, Model: "gemini-3-flash-preview", Chat: chat.Quirks{Effort: "effort", CallSignature: true}},
		{Name: "xai-oauth", Title: "xAI account", Aliases: []string{"grok-oauth"}, Login: true, Model: "grok-4", Chat: chat.Quirks{SessionHeader: "X-Grok-Conv-Id"}},
		{Name: "qwen-oauth", Title: "Qwen account", BaseURL: "https://portal.qwen.ai/v1", Login: true, Header: qwenHeader()},
		{Name: "minimax-oauth", Title: "MiniMax account", Login: true, Bearer: true, Model: "MiniMax-M2"},
		{Name: "bedrock", Title: "Amazon Bedrock", Aliases: []string{"aws"}, BaseURL: bedrockURL, URLVars: []string{"BEDROCK_BASE_URL"}, KeyVars: []string{"AWS_BEARER_TOKEN_BEDROCK"}, SignVars: awsVars(), Protocol: ProtocolBedrock, CacheMarks: true},
		{Name: "vertex", Title: "Google Vertex AI", Unavailable: needsGoogle},
		{Name: "azure-foundry", Title: "Azure AI Foundry", Aliases: []string{"azure"}, URLVars: []string{"AZURE_FOUNDRY_BASE_URL", "AZURE_OPENAI_ENDPOINT"}, KeyVars: []string{"AZURE_FOUNDRY_API_KEY", "AZURE_OPENAI_API_KEY"}, Unavailable: needsAddress, Chat: chat.Quirks{Effort: "effort", KeyHeader: "Api-Key", MaxTokens: "max_completion_tokens"}, Tiers: openAITiers()},
		{Name: "alibaba-token-plan", Title: "Alibaba Token Plan", Unavailable: needsAddress},
		{Name: "alibaba-token-plan-cn", Title: "Alibaba Token Plan (China)", Unavailable: needsAddress},
		{Name: "tencent-tokenhub", Title: "Tencent TokenHub", Unavailable: needsAddress},
		{Name: "tencent-tokenplan", Title: "Tencent Token Plan", Unavailable: needsAddress},
		{Name: "opencode-free", Title: "OpenCode (free)", Unavailable: needsAddress},
		{Name: "commandcode", Title: "Command Code", Unavailable: needsAddress},
		{Name: "commandcode-anthropic", Title: "Command Code (Messages)", Unavailable: needsAddress},
		{Name: "router", Title: "Ramp Router", Unavailable: needsAddress},
		{Name: "actual", Title: "Actual", Unavailable: needsAddress},
	}
}

// vercelVendors are the names of vendors that Vercel's list of models has and OpenRouter
// writes in another way.
func vercelVendors() map[string]string {
	return map[string]string{"x-ai": "xai", "z-ai": "zai", "meta-llama": "meta", "mistralai": "mistral", "qwen": "alibaba"}
}

// homepage is the address that services show beside the name of the program.
const homepage = "https://github.com/NousResearch/hermes-agent"

// codexHeader names the client in the form that OpenAI's own one uses. The service
// answers status 403 to other clients on servers.
func codexHeader() map[string]string {
	return map[string]string{"Originator": "codex_cli_rs", "User-Agent": "codex_cli_rs/0.0.0 (Hermes)"}
}

// qwenHeader holds what the portal expects with a login of Qwen Code: the kind of login,
// the client in the form of that program, and that prompts may be cached.
func qwenHeader() map[string]string {
	const client = "QwenCode/0.0.0 (Hermes)"
	return map[string]string{
		"User-Agent": client, "X-DashScope-UserAgent": client, "X-DashScope-AuthType": "qwen-oauth", "X-DashScope-CacheControl": "enable",
	}
}

// awsVars are the variables that show that the AWS tools are set up.
func awsVars() []string {
	return []string{
		"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	}
}
