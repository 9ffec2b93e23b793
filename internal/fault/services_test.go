package fault_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"hermes/internal/fault"
)

// TestTextsOfServices are error texts of single services.
func TestTextsOfServices(t *testing.T) {
	t.Parallel()
	var rows []answered
	add := func(status int, class, help string, texts ...string) {
		for _, text := range texts {
			rows = append(rows, answered{status, said(text), class, help})
		}
	}
	add(400, "context_overflow", "c",
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 500 `max_new_tokens`", // Together, TGI
		"Input validation error: inputs tokens + max_new_tokens must be <= 131073. Given: 150000 inputs tokens and 2048 max_new_tokens",
		"`inputs` must have less than 4096 tokens. Given: 5000",
		"request (20031 tokens) exceeds the available context size (8192 tokens), try increasing it", // llama.cpp
		"Context size has been exceeded.",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",                // xAI
		"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",              // DashScope
		"input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease them",          // Anthropic
		"prompt token count of 130000 exceeds the limit of 128000",                                            // Copilot
		"too many tokens: total number of tokens in the prompt cannot exceed 4081",                            // Cohere
		"max_tokens must be at least 1, got -512.",                                                            // vLLM
		"Unable to submit request because the input token count is 33000 but model only supports up to 32768", // Vertex
		"Your input exceeds the context window of this model. Please adjust your input and try again.",        // Responses
	)
	add(500, "context_overflow", "c", "Context size has been exceeded.", "input is too large to process. increase the physical batch size")
	add(400, "format_error", "f",
		"Range of max_tokens should be [1, 8192]",
		"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 500 input tokens")
	for _, status := range []int{429, 413, 400, 0} { // one request over the limit of a minute never fits
		add(status, "context_overflow", "c",
			"Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 45012. The input or output tokens must be reduced in order to run successfully.",
			"Rate limit reached for model `m` on tokens per minute (TPM): Limit 6,000, Used 0, Requested 8,012. Please try again in 1s.",
			"Request too large for gpt-4o on tokens per min (TPM). Visit https://platform.openai.com/account/rate-limits to learn more.")
	}
	add(429, "rate_limit", "rkf",
		"Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 20000, Requested 15000. Please try again in 10s.",
		"Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
		"Rate limit reached on tokens per min (TPM): Limit 30000, Used 29999, Requested 30000.")
	for _, status := range []int{429, 400, 0} { // a limit of zero is not waited for
		add(status, "model_not_found", "kf",
			"Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 0, Used 0, Requested 1200. Please try again in 6s.",
			"Rate limit reached for gpt-4o in organization org-abc on requests per min (RPM): Limit 0, Used 0, Requested 1.",
			"Rate limit reached for gpt-4 in organization org-abc on tokens per min. Limit: 0 / min. Please try again in 6s.",
			"Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 0, Requested 1200. The input or output tokens must be reduced.",
			"Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 0, Requested 6294, please reduce your message size", // Groq
			"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\nPlease retry in 38.863719904s.",
			"This request would exceed the rate limit for your organization (a22cf6e6-a940) of 0 input tokens per minute.",
			"This request would exceed your organization's rate limit of 0 input tokens per minute (org: 9d50, model: m).",
			"Rate limit of 0 per 60s exceeded for UserByModelByMinute. Please wait 0 seconds before retrying.",
		)
	}
	add(413, "model_not_found", "kf", "Request too large for model `m` on tokens per minute (TPM): Limit 0, Requested 6294, please reduce your message size")
	add(429, "rate_limit", "rkf",
		"Rate limit of 0.5 requests per second exceeded",
		"Rate limit exceeded. Limit: 10, remaining: 0",
		"Rate limit reached: limit 0,500 tokens per minute",
		"You are over the rate limit, 0 requests left",
		"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds.",
		"This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 9d50, model: m).")
	add(429, "billing", "kf", "Usage exhausted", "Usage limit exhausted", "You have exhausted your quota", "Your usage is exhausted. Upgrade to Pro.")
	add(429, "rate_limit", "rkf",
		"Usage exhausted. Your limit will reset at 2026-05-02 10:00:00", "Weekly limit exhausted, resets in 3 days",
		"Request rate increased too quickly. To ensure system stability, please adjust your client logic.",
		"Resource has been exhausted (e.g. check quota).")
	for _, text := range []string{"RESOURCE_EXHAUSTED", "ResourceExhausted", "resource exhausted", "Resource has been exhausted", "429 RESOURCE_EXHAUSTED: slow"} {
		add(400, "rate_limit", "rkf", text)
		add(200, "rate_limit", "rkf", text)
	}
	add(400, "rate_limit", "rkf", "Request rate increased too quickly.")
	add(400, "auth", "kf", "API key expired. Please renew the API key.", "API Key not found. Please pass a valid API key.", "API key not valid. Please pass a valid API key.")
	add(400, "model_not_found", "f",
		"The requested model is not supported.", "Invalid model: mistral-huge", "invalid model ID", "The provided model identifier is invalid.", "Model Not Exist",
		"The model `llama-1` has been decommissioned and is no longer supported.", "The 'gpt-9' model is not supported when using Codex with a ChatGPT account.",
		"The model `x` does not exist or you do not have access to it.", "vendor/x is not a valid model ID", "Unknown Model, please check the model code.",
		"/chat/completions: Invalid model name passed in model=nosuch. Call `/v1/models` to view available models for your key.")
	add(404, "model_not_found", "f", "Unable to access model x.", "Model not found, inaccessible, and/or not deployed", "models/x is not found for API version v1beta")
	rows = append(rows,
		answered{400, `{"error":{"code":400,"message":"Key problem.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, "auth", "kf"},
		answered{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-nope"}}`, "model_not_found", "f"},
		answered{400, `{"error":{"message":"x","code":"model_max_prompt_tokens_exceeded"}}`, "context_overflow", "c"},
		answered{400, said("You have reached your specified API usage limits. You will regain access on 2026-06-01 at 00:00 UTC."), "rate_limit", "rkf"},
		answered{409, "", "server_error", "rf"}, answered{425, said("Too Early"), "server_error", "rf"},
		answered{409, said("The model is overloaded"), "overloaded", "rf"},
	)
	check(t, rows)
}

// TestAnswersOfLiteLLM are the bodies of a real proxy.
func TestAnswersOfLiteLLM(t *testing.T) {
	t.Parallel()
	const failed = `\n\nLiteLLM: model group 'M' failed with the error above. No fallback was attempted.`
	body := func(text, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":"%s%s","type":"%s","param":null,"code":"%s"}}`, text, failed, kind, code)
	}
	check(t, []answered{
		{429, body("litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details.", "throttling_error", "429"), "billing", "kf"},
		{429, body("litellm.RateLimitError: RateLimitError: OpenAIException - Slow.", "throttling_error", "429"), "rate_limit", "rkf"},
		{400, `{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}`, "auth", "kf"},
		{401, `{"error":{"message":"Authentication Error, No api key passed in.","type":"auth_error","param":"None","code":"401"}}`, "auth", "kf"},
		{500, body(`litellm.InternalServerError: AnthropicError - {\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"Overloaded\"}}`, "None", "500"), "overloaded", "rf"},
		{400, body("litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - too much", "None", "400"), "context_overflow", "c"},
		{400, body("litellm.BadRequestError: litellm.ContentPolicyViolationError: OpenAIException - no", "None", "400"), "content_policy_blocked", "f"},
		{500, "data: {\"error\": {\"message\": \"litellm.BadRequestError: prompt is too long\", \"type\": \"None\", \"code\": \"500\"}}\n\ndata: [DONE]\n\n", "context_overflow", "c"},
		{503, "data: {\"error\": {\"message\": \"full\"}}\n\ndata: [DONE]\n\n", "overloaded", "rf"},
	})
	shown := fault.Classify(fault.Question{Err: &fault.Failure{Status: 500, Body: []byte("data: {\"error\": {\"message\": \"upstream broke\"}}\n\ndata: [DONE]\n\n")}})
	if shown.Message != "upstream broke" {
		t.Errorf("the message is %q", shown.Message)
	}
	for name, value := range map[string]string{"Llm_provider-Retry-After": "2", "llm_provider-retry-after-ms": "2000"} {
		h := http.Header{}
		h.Set(name, value)
		if got := fault.Classify(fault.Question{Err: &fault.Failure{Status: 429, Header: h}}); got.RetryAfter != 2*time.Second {
			t.Errorf("%s: waits %v", name, got.RetryAfter)
		}
	}
}

func TestWhatAModelCannotDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, "images"},
		{404, said("No endpoints found that support image input"), "images"},
		{400, said("Invalid content type. image_url is only supported by certain models."), "images"},
		{400, said("Model does not support images. Please use a model that does."), "images"},
		{400, said("x is not a multimodal model"), "images"},
		{400, said("images are not supported in tool results"), ""}, // another remedy
		{400, `{"error":"registry.ollama.ai/library/smol:latest does not support tools"}`, "tools"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"x does not support tools"},"request_id":"req_1"}`, "tools"},
		{404, said("No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs"), "tools"},
		{400, said(`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`), "tools"},
		{500, said("tools param requires --jinja flag"), "tools"},
		{400, said("`tool calling` is not supported with this model"), "tools"},
		{400, `{"error":"\"smol\" does not support thinking"}`, "thinking"},
		{400, said("This model does not support reasoning"), "thinking"},
		{401, said("x does not support tools"), ""},
		{400, said("x is required"), ""},
	} {
		err := &fault.Failure{Status: tt.status, Body: []byte(tt.body)}
		if got := fault.Missing(err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.body, got, tt.want)
		}
		if v := fault.Classify(fault.Question{Err: err}); tt.want != "" && (v.Class != "format_error" || v.Retry) {
			t.Errorf("%s: class %s", tt.body, v.Class)
		}
	}
}

func TestFieldsThatNameTheWindow(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"error":{"code":400,"message":"request (20031 tokens) exceeds it","type":"exceed_context_size_error","n_prompt_tokens":20031,"n_ctx":8192}}`: 8192,
		`{"error":{"message":"{\"error\":{\"message\":\"too long\",\"n_ctx\":4096}} and more"}}`:                                                       4096,
		`{"error":{"message":"too long","n_ctx":"many"}}`:                                                                                              0,
		`{"error":{"message":"too long"}}`:                                                                                                             0,
	} {
		if got := fault.Window(&fault.Failure{Status: 400, Body: []byte(body)}); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}
