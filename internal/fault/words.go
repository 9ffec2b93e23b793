package fault

// The phrases of the services, in lower case, separated by bars. A phrase is in
// the list of the class that it proves. status.go checks the lists in order.
const (
	// How services say that a prompt is too long: OpenAI, Anthropic, Gemini,
	// Bedrock, Mistral, xAI, Together, Cohere, Copilot, DashScope, vLLM, Ollama,
	// llama.cpp, LM Studio, GLM, Kimi, MiniMax, and services that answer in Chinese.
	overflowWords = "context_length_exceeded|context length|context_length|context window|context_window|context size|maximum context|" +
		"max_model_len|maximum model length|maximum prompt length|prompt is too long|prompt too long|input is too long|input too long|" +
		"too many tokens|maximum number of tokens|exceeds maximum length|exceed context|exceed_context|exceeds the context|" +
		"exceeds the available context|exceeded model token limit|tokens in request more than max tokens allowed|reduce the length|" +
		"input token count|range of input length|max input token|maximum input length|prompt exceeds max length|request too large for model|" +
		"n_ctx|context the overflows|context overflow|max_new_tokens must be|inputs must have less than|exceed context limit|exceeds context limit|context limit exceeded|" +
		"input is too large to process|slot context|prompt token count of|prompt is longer than|prompt length exceeds|maximum allowed input length|" +
		"input token length|number of input tokens exceeds|input tokens exceed|cannot exceed the context|exceeds the model's context|longer than the model's context|" +
		"max_tokens must be at least 1, got -|number of tokens in the prompt cannot exceed|requested token count exceeds|larger than the context|" +
		"上下文长度|上下文窗口|上下文超|超过最大长度|超出最大长度|超过模型最大|超出模型最大|输入过长|请求长度超|tokens超"
	// With these words, a text about tokens is about speed.
	throttleWords = "throttl|per minute|per second|per day|tokens per min|rate limit|rate_limit|too many requests"

	parameterWords = "unsupported parameter|unsupported_parameter|unknown parameter|unknown_parameter|unrecognized request argument|" +
		"unrecognized parameter|unsupported value|extra inputs are not permitted|extra_forbidden|unexpected keyword|unknown field|unknown name|" +
		"does not support parameter|is not supported with this model|is deprecated for this model|is not supported by this model|" +
		"completion tokens|number of output tokens|maximum value for max_tokens|max_tokens is too large|max_completion_tokens is too large|range of max_tokens"

	// schemaWords name a mistake in the definition or the call of a tool. What such a
	// text repeats without marks cannot be told from the service's own words.
	schemaWords = "invalid schema|schema is invalid|schema is not|schema has|invalid json schema|wrong type|invalid type|is not of type|is not valid under|required property|" +
		"missing property|expected type|not found in tools|unknown tool|unknown function|no such tool|does not match pattern|does not match the"

	grammarWords = "error parsing grammar|failed to parse grammar|parse grammar|json_schema_to_grammar|json-schema-to-grammar|unable to generate parser|" +
		"pattern must start with|failed to initialize samplers|unsupported pattern|grammar error"
	toolImageWords = "tool message content must be a string|image_url is not supported in tool|tool messages do not support|tool_result does not support image|" +
		"images in tool|images are not supported in tool|only text content in tool|multimodal tool|multimodal content in tool|" +
		"content in tool messages|tool message must be text|tool messages must be text"
	mustReasonWords = "reasoning is mandatory|reasoning is required|reasoning cannot be disabled|thinking cannot be disabled|must enable thinking|" +
		"thinking is mandatory|requires reasoning to be enabled|reasoning must be enabled|requires thinking"
	imageWords = "image exceeds|image is too large|image too large|image_too_large|image size exceed|images exceed|image dimensions|" +
		"max allowed size for many-image|exceeds 5 mb maximum|maximum image size|image file size|image file is too large"

	rateWords = "rate limit|rate_limit|rate-limit|ratelimit|too many requests|throttl|requests per minute|tokens per minute|requests per day|" +
		"slow down|resource has been exhausted|resource exhausted|resource_exhausted|resource-exhausted|rate increased too quickly|increased too quickly|" +
		"concurrency limit|too many concurrent|请求过于频繁|速率限制|限流"
	// These never become billing.
	explicitRateWords = "rate limit|rate_limit|rate-limit|ratelimit|too many requests|throttl|per minute|per second|requests per|tokens per|slow down|" +
		"resource has been exhausted|increased too quickly|concurrency|too many concurrent|速率限制|限流|请求过于频繁"
	overloadWords = "overloaded|overload_error|at capacity|over capacity|server is busy|server busy|high demand|服务繁忙|访问量过大|服务器繁忙"

	billingWords = "insufficient credit|insufficient_credit|insufficient_quota|insufficient balance|insufficient funds|credit balance|not enough credit|" +
		"exceeded your current quota|billing details|billing hard limit|billing limit|billing issue|billing problem|billing account|your billing|& billing|and billing|" +
		"enable billing|billing to be enabled|billing is not|billing has not|payment required|out of credit|no credits|add credits|more credits|credits exhausted|credits have been|" +
		"credit limit|top up|quota exceeded|exceeded your quota|usage limit|spending limit|spend limit|hard limit|monthly limit|plan does not include|" +
		"upgrade your plan|account is not active|usage exhausted|usage is exhausted|limit exhausted|quota exhausted|quota is exhausted|exhausted your|" +
		"used up your|regain access|arrearage|in arrears|余额不足|欠费|充值|额度已用"
	freeTierWords = "free tier|free-tier|free period|free plan|requires credit|requires more credit|insufficient credit|not enough credit|out of credit|no credit"
	keyLimitWords = "key limit|spending limit|spend limit|plan does not include|not included in your plan|upgrade your plan|your current plan|" +
		"your subscription|subscription plan|budget has been exceeded|insufficient balance|insufficient credit|余额不足"
	wallWords = "usage limit|usage exhausted|exhausted your|limit exhausted|is exhausted|used up your|usage cap|quota|limit reached|limit exceeded|reached your|exceeded your|credit|out of usage|spending|balance|余额|配额|额度"

	// limitWords and passingWords together say that a limit will pass.
	limitWords   = "usage|quota|limit|配额|额度"
	passingWords = "try again|retry|regain access|resets|reset at|reset in|reset on|will reset|reset after|wait|per minute|per hour|per day|per week|hourly|daily|weekly|" +
		"in a few|5-hour|5 hour|window|next hour|tomorrow|minutes|hours|稍后|重试|重置"

	modelMissingWords = "model not found|model_not_found|no such model|unknown model|invalid model|not a valid model|model is not available|" +
		"no endpoints found|model not supported|unsupported model|model does not exist|model not exist|model_not_exist|not found for api version|" +
		"try pulling it|invalid model name|model is not supported|model does not support being called|model name is not|unable to access model|" +
		"model identifier is invalid|invalid model identifier|model has been decommissioned|has been decommissioned|model is decommissioned|model has been deprecated|model is not found|" +
		"model is no longer available|model was not found|not found, inaccessible|does not exist or you do not have access|" +
		"模型不存在|模型未找到|不支持的模型"
	providerPolicyWords = "data policy|guardrail restriction|privacy settings|data collection|zero data retention"
	contentPolicyWords  = "content policy|content_policy|content_filter|content filter|content management policy|safety system|safety filter|" +
		"flagged|moderation|usage policies|usage policy|prohibited content|responsible ai|responsibleai|harmful|high risk|" +
		"inappropriate content|blocked by safety|敏感|违规|不安全"
	flaggedWords = "input was flagged|was flagged|flagged for|requires moderation"

	badKeyWords   = "api key expired|api key has expired|api key is expired|renew the api key|api key not found|no connected db|invalid api key|invalid_api_key|incorrect api key|api key not valid|invalid x-api-key|no auth credentials|令牌"
	authGoneWords = "revoked|deactivated|account suspended|account has been disabled|account is disabled|organization has been disabled|invalid_grant|deleted_client|terminated"
	payloadWords  = "payload too large|request entity too large|request body too large|request_too_large|body too large"
)
