package fault_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes/internal/fault"
)

// said is an error body with this message.
func said(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) }

// answered is one row of the rules: an answer, the kind it is, and what helps.
type answered struct {
	status      int
	body        string
	class, help string
}

func check(t *testing.T, rows []answered) {
	t.Helper()
	for _, r := range rows {
		q := fault.Question{Err: fmt.Errorf("ask: %w", &fault.Failure{Status: r.status, Body: []byte(r.body)})}
		if got := fault.Classify(q); got.Class != r.class || flags(got) != r.help {
			t.Errorf("%d %s:\ngot %s %q, want %s %q", r.status, r.body, got.Class, flags(got), r.class, r.help)
		}
	}
}

// TestEveryReason shows one answer of each kind, with all its flags.
func TestEveryReason(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{401, said("bad key"), "auth", "kf"},
		{401, said("This token has been revoked"), "auth_permanent", "kf"},
		{402, said("Insufficient credits"), "billing", "kf"},
		{429, "", "rate_limit", "rkf"},
		{429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow","provider_name":"X"}}}`, "upstream_rate_limit", "rf"},
		{529, "", "overloaded", "rf"},
		{500, "", "server_error", "rf"},
		{408, "", "timeout", "rf"},
		{400, said("prompt is too long"), "context_overflow", "c"},
		{413, "", "payload_too_large", "c"},
		{400, said("messages.0.content.1.image: image exceeds 5 MB maximum"), "image_too_large", "f"},
		{404, said("The model `x` does not exist"), "model_not_found", "f"},
		{404, said("No endpoints found matching your data policy"), "provider_policy_blocked", ""},
		{400, said("Your request was rejected by our safety system"), "content_policy_blocked", "f"},
		{422, said("x is required"), "format_error", "f"},
		{400, `{"error":{"code":"invalid_encrypted_content","message":"The encrypted content could not be verified."}}`, "invalid_encrypted_content", "f"},
		{400, said("messages.3: `thinking` block has an invalid `signature`"), "thinking_signature", "f"},
		{429, said("Extra usage is required for long context requests."), "long_context_tier", "c"},
		{403, said("The long context beta is not yet available for this subscription."), "oauth_long_context_beta_forbidden", "f"},
		{400, said("failed to parse grammar"), "llama_cpp_grammar_pattern", "f"},
		{400, said("Tool message content must be a string"), "multimodal_tool_content_unsupported", "f"},
		{400, said("Reasoning is mandatory for this endpoint and cannot be disabled."), "reasoning_mandatory", "f"},
		{418, said("I am a teapot"), "format_error", "f"},
		{200, `{"object":"error","message":"odd"}`, "unknown", "rf"},
	})
}

func TestStatusOfKeys(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{401, "", "auth", "kf"},
		{401, "<html><title>401</title></html>", "auth", "kf"},
		{403, said("no"), "auth", "f"},
		{403, said("Key limit exceeded (total limit)"), "billing", "kf"},
		{403, said("You have reached your spending limit"), "billing", "kf"},
		{403, said("Your plan does not include this model"), "billing", "kf"},
		{403, said("Your account has been disabled"), "auth_permanent", "kf"},
		{403, said("openai/x requires moderation. Your input was flagged"), "content_policy_blocked", "f"},
	})
}

// TestPaymentNeedsTwoSigns is about 402 and about messages without a status.
func TestPaymentNeedsTwoSigns(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{402, said("Usage limit reached, try again in 5 minutes"), "rate_limit", "rkf"},
		{402, said("Your quota resets at midnight"), "rate_limit", "rkf"},
		{402, said("Hourly limit reached"), "rate_limit", "rkf"},
		{402, said("Usage limit reached"), "billing", "kf"}, // no sign that it passes
		{402, said("Please try again with a paid account"), "billing", "kf"},
		{402, said("This request requires more credits"), "billing", "kf"},
		{402, "Guthaben aufgebraucht, bitte aufladen", "billing", "kf"},
		{402, "", "billing", "kf"},
		{200, said("Usage limit reached, try again in 5 minutes"), "rate_limit", "rkf"},
		{200, said("Usage limit reached, please upgrade your plan"), "billing", "kf"},
	})
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{404, said("model 'x' not found, try pulling it first"), "model_not_found", "f"},
		{404, `{"error":{"code":"model_not_found","message":"nope"}}`, "model_not_found", "f"},
		{404, said("No endpoints found for vendor/x."), "model_not_found", "f"},
		{404, "Not Found", "unknown", "rf"},
		{404, "", "unknown", "rf"},
		{404, `{"detail":"Not Found"}`, "unknown", "rf"},
		{404, said("The free tier of this model has ended"), "billing", "kf"},
		{404, said("Insufficient credits for this model"), "billing", "kf"},
		{404, said("No endpoints available matching your guardrail restrictions and data policy"), "provider_policy_blocked", ""},
	})
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{429, said("The engine is currently overloaded"), "overloaded", "rf"},
		{429, said("Extra usage is required"), "rate_limit", "rkf"}, // nothing about long context
		{429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, "billing", "kf"},
		{429, said("You have reached your usage limit"), "billing", "kf"},
		{429, said("Credit balance exhausted"), "billing", "kf"},
		{429, said("You have reached your usage limit. It resets in 2 hours"), "rate_limit", "rkf"},
		{429, `{"error":{"message":"usage limit reached","resets_at":1900000000}}`, "rate_limit", "rkf"},
		{429, said("Rate limit: your quota of credits is used"), "rate_limit", "rkf"}, // an explicit phrase never is billing
		{429, said("Too many requests, check your billing"), "rate_limit", "rkf"},
		{429, `{"error":{"code":429,"message":"x/y is temporarily rate-limited upstream"}}`, "upstream_rate_limit", "rf"},
	})
	limit := &fault.Failure{Status: 429, Body: []byte(said("usage limit reached")), Header: http.Header{"Retry-After": {"60"}}}
	if got := fault.Classify(fault.Question{Err: limit}); got.Class != "rate_limit" {
		t.Errorf("a reset in the headers: %s", got.Class)
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{500, "oops", "server_error", "rf"},
		{502, "<html><head><title>502 Bad Gateway</title></head></html>", "server_error", "rf"},
		{504, "", "server_error", "rf"},
		{503, "", "overloaded", "rf"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded", "rf"},
		{500, said("The model is overloaded"), "overloaded", "rf"},
		{200, said("The model is overloaded"), "overloaded", "rf"},
		{500, `{"error":{"type":"invalid_request_error","message":"x"}}`, "format_error", "f"},
		{502, said("Unknown parameter: 'foo'"), "format_error", "f"},
		{503, said("Unsupported parameter: 'foo'"), "format_error", "f"},
	})
}

func TestBadRequestMayBeAnything(t *testing.T) {
	t.Parallel()
	rows := []answered{
		{400, said("x is required"), "format_error", "f"},
		{400, said("Rate limit reached for requests"), "rate_limit", "rkf"},
		{400, said("Your credit balance is too low"), "billing", "kf"},
		{400, said("blocked by your data policy"), "provider_policy_blocked", ""},
		{400, `{"error":{"code":"content_filter","message":"triggering content management policy"}}`, "content_policy_blocked", "f"},
		{400, said("Unsupported parameter: 'context_length' is not supported"), "format_error", "f"},
		{400, said("Unrecognized request argument supplied: max_model_len"), "format_error", "f"},
		{400, said("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window`"), "format_error", "f"},
		{400, said("messages.1: `thinking` blocks in the latest message cannot be modified"), "thinking_signature", "f"},
		{500, said("failed to parse grammar"), "server_error", "rf"}, // grammar only with 400
		{400, said("too many tokens"), "context_overflow", "c"},
		{400, said("too many tokens per minute, request throttled"), "rate_limit", "rkf"},
		{400, said("Too many tokens, throttling"), "rate_limit", "rkf"},
		{400, `{"error":{"message":"\u8f93\u5165\u8fc7\u957f"}}`, "context_overflow", "c"}, // escaped Chinese
	}
	for _, text := range []string{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",                // OpenAI
		"prompt is too long: 210000 tokens > 200000 maximum",                                                                 // Anthropic
		"input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease input length or `max_tokens`", // Anthropic
		"The decoder prompt (length 9000) is longer than the maximum model length of 8192",                                   // vLLM
		"input length exceeds maximum context length",                                                                        // Ollama
		"the request exceeds the available context size. try increasing the context size or enable context shift",            // llama.cpp
		"Prompt exceeds max length", "tokens in request more than max tokens allowed", "输入过长", "请求的上下文长度超过限制", // GLM and kin
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "Input is too long for requested model.",
	} {
		rows = append(rows, answered{400, said(text), "context_overflow", "c"})
	}
	check(t, rows)
}

// TestErrorsInStreams have status 200 and are classified by code and text.
func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{200, `{"error":{"type":"overloaded_error","message":"x"}}`, "overloaded", "rf"},
		{200, `{"error":{"code":429,"message":"slow"}}`, "rate_limit", "rkf"},
		{200, `{"error":{"code":"429","message":"slow"}}`, "rate_limit", "rkf"},
		{200, `{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"x"}}`, "rate_limit", "rkf"},
		{200, `{"error":{"code":"server_error","message":"x"}}`, "server_error", "rf"},
		{0, `{"__type":"com.aws#ThrottlingException","message":"x"}`, "rate_limit", "rkf"},
		{0, `{"error":{"code":"invalid_api_key","message":"x"}}`, "auth", "kf"},
		{0, `{"error":{"type":"invalid_request_error","message":"prompt is too long"}}`, "context_overflow", "c"},
		{0, `{"error":{"type":"invalid_request_error","message":"x"}}`, "format_error", "f"},
		{0, `{"error":{"type":"billing_error","message":"x"}}`, "billing", "kf"},
		{200, said("Internal server error"), "server_error", "rf"},
		{200, said("Request timed out"), "timeout", "rf"},
		{200, `nonsense`, "unknown", "rf"},
	})
}

// TestWrappedErrors hide the real one in metadata, in the message, under other
// names, in a list, in a string, or behind words.
func TestWrappedErrors(t *testing.T) {
	t.Parallel()
	const real = `{\"error\":{\"message\":\"maximum context length is 10\"}}`
	check(t, []answered{
		{400, `{"error":{"message":"Provider returned error","metadata":{"raw":"` + real + `"}}}`, "context_overflow", "c"},
		{400, `{"error":{"message":"` + real + `"}}`, "context_overflow", "c"},
		{400, `{"error":{"message":"SomeException: OpenAIException - ` + real + `"}}`, "context_overflow", "c"},
		{0, `{"errorMessage":"x","errorCode":"CONTEXT_LENGTH_EXCEEDED"}`, "context_overflow", "c"},
		{400, `[{"error":{"message":"prompt is too long"}}]`, "context_overflow", "c"},
		{400, `"prompt is too long"`, "context_overflow", "c"},
		{400, `prompt is too long`, "context_overflow", "c"},
		{400, `{"error":"prompt is too long"}`, "context_overflow", "c"},
		{400, `{"message":{"a":[1,{"error":null}]}}`, "format_error", "f"},
		{400, `{"message":42}`, "format_error", "f"},
		{400, `{"detail":[{"msg":"PROMPT IS TOO LONG"}]}`, "context_overflow", "c"},
	})
}

func TestParameter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status     int
		body, want string
	}{
		{400, said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), "max_tokens"},
		{400, `{"error":{"code":"unsupported_value","param":"temperature","message":"Unsupported value: 'temperature' does not support 0.2"}}`, "temperature"},
		{400, said("Unknown parameter: 'reasoning.effort'."), "reasoning"},
		{400, said("Unrecognized request argument supplied: stream_options"), "stream_options"},
		{400, said("prompt_cache_key: Extra inputs are not permitted"), "prompt_cache_key"},
		{400, said("`temperature` is deprecated for this model."), "temperature"},
		{422, said("unknown field `parallel_tool_calls`, expected one of"), "parallel_tool_calls"},
		{400, said("UnsupportedParamsError: x does not support parameters: ['reasoning_effort'], for model=y"), "reasoning_effort"},
		{400, said("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"), "max_tokens"},
		{400, said("max_tokens is too large: 100000"), "max_tokens"},
		{400, said("Unsupported parameter: 'messages'"), ""}, // nothing to do without
		{400, said("Unsupported parameter"), ""},
		{400, said("x is required"), ""},
		{500, said("oops"), ""},
		{401, said("Unknown parameter: 'user'"), ""},
	}
	for _, tt := range tests {
		if got := fault.Parameter(&fault.Failure{Status: tt.status, Body: []byte(tt.body)}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.body, got, tt.want)
		}
	}
	if got := fault.Parameter(errors.New("unknown parameter: 'user'")); got != "" {
		t.Errorf("no answer: %q", got)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	h := func(kv ...string) http.Header {
		out := http.Header{}
		for i := 0; i < len(kv); i += 2 {
			out.Set(kv[i], kv[i+1])
		}
		return out
	}
	tests := []struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		{h("Retry-After", "7"), "", 7 * time.Second},
		{h("Retry-After-Ms", "250", "Retry-After", "7"), "", 250 * time.Millisecond},
		{h("Retry-After", "-3"), "", 0},
		{h("X-Ratelimit-Reset", "1777636860"), "", time.Minute},
		// The clock of the service counts where ours is wrong.
		{h("Date", "Fri, 01 Jan 2021 00:00:00 GMT", "Retry-After", "Fri, 01 Jan 2021 00:00:20 GMT"), "", 20 * time.Second},
		{h("X-Ratelimit-Reset", "1777636860000"), "", time.Minute},
		{h("X-Ratelimit-Reset-Requests", "6m0s"), "", 6 * time.Minute},
		{h("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "9"), "", time.Second},
		{h("Anthropic-Ratelimit-Tokens-Reset", "2026-05-01T12:00:30Z"), "", 30 * time.Second},
		{h("X-Ratelimit-Reset", "soon"), "", 0},
		{nil, `{"error":{"retry_after":3}}`, 3 * time.Second},
		{nil, `{"error":{"resets_in_seconds":90}}`, 90 * time.Second},
		{nil, `{"error":{"resets_at":1777636860}}`, time.Minute},
		{nil, `{"error":{"details":[{"@type":"RetryInfo","retryDelay":"38s"}]}}`, 38 * time.Second},
		{nil, `{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Reset":"1777636860000"}}}}`, time.Minute},
		{nil, said("Please try again in 1.5s."), 1500 * time.Millisecond},
		{nil, said("Limit resets in 2hr 15min"), 135 * time.Minute},
		{nil, said("try again in 6m0s"), 6 * time.Minute},
		{nil, said("retry after about 3 hours and 5 minutes"), 185 * time.Minute},
		{nil, said("please wait 250 ms"), 250 * time.Millisecond},
		{nil, said("try again in a few minutes"), 0},
		{nil, said("try again in 99999999999 days"), 0},
		{nil, said("wait for 5 apples"), 0},
	}
	for _, tt := range tests {
		q := fault.Question{Err: &fault.Failure{Status: 429, Header: tt.header, Body: []byte(tt.body)}, Now: now}
		if got := fault.Classify(q).RetryAfter; got != tt.want {
			t.Errorf("%v %s: got %v, want %v", tt.header, tt.body, got, tt.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"{\"error\":[1]}","metadata":{"raw":"["}}}`), "x")
	f.Add(200, []byte("\xff\x00"), "tls: x")
	f.Add(429, []byte(`{"error":{"message":"try again in 5 hours and 1e9 days","retry_after":1e300}}`), "")
	f.Add(502, []byte("<html><TITLE>\xc4\xb0</title>"), "")
	f.Add(400, []byte(strings.Repeat(`{"error":`, 50)), "")
	f.Fuzz(func(t *testing.T, status int, body []byte, text string) {
		for _, err := range []error{&fault.Failure{Status: status, Body: body}, errors.New(text), fmt.Errorf("%s: %w", text, &fault.Failure{Body: body})} {
			v := fault.Classify(fault.Question{Err: err})
			if v.Class == "" || v.Message == "" || len(v.Message) > 700 || v.RetryAfter < 0 {
				t.Errorf("%d %q %q: %+v", status, body, text, v)
			}
			_ = fault.Parameter(err)
		}
	})
}
