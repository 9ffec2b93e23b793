package fault_test

import (
	"fmt"
	"testing"

	"hermes/internal/fault"
)

// TestNamesInARequestDoNotDecideTheClass: a 400 that repeats the name of a tool,
// a field or a value is about the request, whatever these are called.
func TestNamesInARequestDoNotDecideTheClass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"get_billing_report", "billing_report", "rate_limit_status", "check_quota", "moderation_harmful", "overloaded_servers",
		"getBillingReport", "context_window_size", "credit_balance", "throttle_fan", "billing", "billing-report", "billing.report", "billing/report", "invalid_api_key_finder", "content_policy_check",
	} {
		for _, form := range []string{
			`{"error":{"message":"Invalid schema for function '%s': In context=('properties', 'x'), array schema missing items.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`,
			`{"error":{"message":"Invalid schema for function '%s': array schema missing items.","type":"invalid_request_error","param":null,"code":null}}`,
			"{\"error\":{\"message\":\"tools.3.custom.input_schema: JSON schema is invalid for tool `%s`\",\"type\":\"invalid_request_error\"}}",
			`{"error":{"message":"Unknown tool %s","type":"invalid_request_error"}}`,
			`{"error":{"message":"Invalid 'tools[3].function.name': string does not match pattern.","type":"invalid_request_error","param":"tools[3].function.name"},"tool":"%s"}`,
			`{"error":{"message":"The arguments of \"%s\" are not an object"}}`,
			`{"detail":[{"type":"missing","loc":["body","messages",0,"content"],"msg":"Field required","input":{"name":"%s","content":"the rate limit of my billing account, too many tokens"}}]}`,
			`{"error":{"message":"Invalid value: 'the %s, my billing and the rate limit'. Supported values are: auto.","code":null}}`,
		} {
			body := fmt.Sprintf(form, name)
			if got := fault.Classify(fault.Question{Err: &fault.Failure{Status: 400, Body: []byte(body)}}); got.Class != "format_error" {
				t.Errorf("%s\nis %s", body, got.Class)
			}
		}
	}
}

// TestOwnWordsStillDecide: the same words as the service's own, quoted or with
// names of the request beside them.
func TestOwnWordsStillDecide(t *testing.T) {
	t.Parallel()
	check(t, []answered{
		{400, said("Tool get_weather: your credit balance is too low"), "billing", "kf"},
		{400, said("Provider returned error: \"Rate limit exceeded for gpt-5\""), "rate_limit", "rkf"},
		{400, said(`Error code: 400 - {'error': {'message': 'You have insufficient credits', 'type': 'billing_error'}}`), "billing", "kf"},
		{400, said("You've reached the rate limit for 'get_report'"), "rate_limit", "rkf"},
		{400, `{"error":{"message":"too long","param":"messages","code":"context_length_exceeded"}}`, "context_overflow", "c"},
		{400, `{"error":{"message":"This model's maximum context length is 10 tokens","type":"invalid_request_error","param":"messages","code":null}}`, "context_overflow", "c"},
		{400, said("Error: context_length_exceeded"), "context_overflow", "c"},
		{400, `{"error":{"status":"RESOURCE_EXHAUSTED","message":"no"}}`, "rate_limit", "rkf"},
		{400, `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, "billing", "kf"},
		{400, `{"problem":{"text":"prompt is too long"}}`, "context_overflow", "c"}, // no field that is known
		// Texts of services with the marks and joined words that names have, too.
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, "billing", "kf"},
		{400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, "billing", "kf"},
		{400, said("Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."), "billing", "kf"},
		{400, said("This API method requires billing to be enabled. Please enable billing on project #123"), "billing", "kf"},
		{400, said("Your account is not active, please check your billing details on our website."), "billing", "kf"},
		{429, said("You exceeded your current quota, please check your plan and billing details."), "billing", "kf"},
		{429, said("You exceeded your current quota.Please check your plan"), "billing", "kf"},
		{429, said("Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute for a region' of service 'generativelanguage.googleapis.com' for consumer 'project_number:1'."), "rate_limit", "rkf"},
		{429, said("Rate limit reached for default-gpt-4 in organization org-x on requests per min. Limit: 3 / min."), "rate_limit", "rkf"},
		{429, said("This request would exceed your organization's (1-2-3) rate limit of 30,000 input tokens per minute."), "rate_limit", "rkf"},
		{429, said("google/gemma-3:free is temporarily rate-limited upstream. Please retry shortly, or add your own key: https://openrouter.ai/settings/integrations"), "upstream_rate_limit", "rf"},
		{400, said("Rate-limit reached."), "rate_limit", "rkf"},
		{429, said("5-hour usage limit reached"), "rate_limit", "rkf"},
		{200, said("litellm.RateLimitError: slow"), "rate_limit", "rkf"},
		{400, said("litellm.ContextWindowExceededError: too much"), "context_overflow", "c"},
		{400, said("The response was filtered due to the prompt triggering Azure OpenAI's content management policy."), "content_policy_blocked", "f"},
		{400, said("The model `gpt-9` does not exist or you do not have access to it."), "model_not_found", "f"},
		{404, `{"error":{"message":"The model 'billing' does not exist","type":"invalid_request_error","param":"model","code":null}}`, "model_not_found", "f"},
		{503, said("The model is overloaded. Please try again later."), "overloaded", "rf"},
		{200, said("Model overloaded, try again"), "overloaded", "rf"},
		{400, `{"error":{"message":"upstream said","metadata":{"raw":"{\"message\": \"Your credit balance is too low"}}}`, "billing", "kf"}, // cut off
	})
}
