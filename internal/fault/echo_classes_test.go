package fault

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// triggers are the words that prove a class somewhere in the rules.
func triggers() []string {
	lists := []string{
		overflowWords, throttleWords, grammarWords, toolImageWords, mustReasonWords, imageWords, rateWords, explicitRateWords, overloadWords,
		billingWords, freeTierWords, keyLimitWords, wallWords, modelMissingWords, providerPolicyWords, contentPolicyWords, flaggedWords,
		badKeyWords, authGoneWords, payloadWords, noToolsWords, noImagesWords, noThinkingWords, "billing|guardrail|unauthorized|authentication|timeout|upstream",
		modelMissingCodes, overflowCodes, otherCodes,
	}
	all := strings.Split(strings.Join(lists, "|"), "|")
	slices.Sort(all)
	return slices.Compact(all)
}

// names returns names that a part of a request may have, made of the words.
func names(words string) []string {
	parts := strings.FieldsFunc(words, func(c rune) bool { return c >= 0x80 || !wordByte(byte(c)) })
	if len(parts) == 0 || len(words) != len(strings.ToValidUTF8(words, "")) || words[0] >= 0x80 {
		return nil
	}
	camel := parts[0]
	for _, p := range parts[1:] {
		camel += strings.ToUpper(p[:1]) + p[1:]
	}
	joined := []string{camel}
	for _, mark := range []string{"_", "-", ".", "/"} {
		joined = append(joined, strings.Join(parts, mark))
	}
	return append(joined, "get-"+joined[2], joined[2]+"-report", "my."+joined[3])
}

// TestNothingRepeatedMovesTheClass puts the words of every class, as names and as
// quotations, into texts of every class.
func TestNothingRepeatedMovesTheClass(t *testing.T) {
	t.Parallel()
	frames := []struct {
		status      int
		class, text string
	}{
		{400, "format_error", "Invalid tool %s: it has no description"}, {400, "format_error", "Function %s has an unreadable definition"},
		{400, "format_error", "Tool %s not found in tools"}, {400, "format_error", "tool %s is given twice"}, {400, "format_error", "unexpected end of the parameter %s"},
		{400, "format_error", "tool: %s has no type"}, {400, "format_error", "tool named %s is missing"}, {0, "unknown", "Function %s is unreadable"},
		{401, "auth", "The key may not use the tool %s"}, {403, "auth", "You may not use the function %s"}, {404, "unknown", "There is no tool %s here"},
		{429, "rate_limit", "Rate limit reached for tool %s"}, {429, "rate_limit", "Too many requests for function %s, try again in 5s"},
		{429, "billing", "You have reached your usage limit; tool %s was not called"},
		{400, "rate_limit", "Rate limit reached for tool %s"}, {400, "billing", "Your credit balance is too low for tool %s"},
		{400, "context_overflow", "prompt is too long: 210000 tokens > 200000 maximum with tool %s"},
		{400, "content_policy_blocked", "Your request was rejected by our safety system in tool %s"}, {400, "auth", "API key not valid for tool %s"},
		{400, "model_not_found", "Model does not exist, nor the tool %s"}, {402, "billing", "Pay first, then call the tool %s"},
		{404, "provider_policy_blocked", "No endpoints found matching your data policy for tool %s"}, {404, "model_not_found", "models/x is not found for API version v1beta, in tool %s"},
		{413, "payload_too_large", "the tool %s is big"}, {422, "format_error", "the tool %s is wrong"}, {500, "server_error", "we broke at tool %s"},
		{503, "overloaded", "no server for tool %s"}, {529, "overloaded", "not now, tool %s"}, {200, "overloaded", "The model is overloaded, tool %s"},
		{200, "server_error", "Internal server error in function %s"}, {200, "timeout", "Request timed out in tool %s"},
	}
	check := func(status int, text, name, want string) {
		t.Helper()
		said := fmt.Sprintf(text, name)
		if got := Classify(Question{Err: &Failure{Status: status, Body: fmt.Appendf(nil, `{"error":{"message":%q}}`, said)}}); got.Class != want {
			t.Errorf("%d %s: %s, want %s", status, said, got.Class, want)
		}
	}
	for _, f := range frames {
		check(f.status, f.text, "get_weather", f.class)
	}
	marks := []string{"", "'", `"`, "`"}
	for i, words := range triggers() {
		forms := names(words)
		for j, f := range frames { // one form and mark for each, in turn
			if len(forms) > 0 {
				mark := marks[(i+j)%len(marks)]
				check(f.status, f.text, mark+forms[(i+j/len(marks))%len(forms)]+mark, f.class)
			}
			check(f.status, f.text, "`your "+words+" now`", f.class)
		}
		for _, text := range []string{"messages.5.content.0.text: `%s` not allowed", "Invalid value: `%s`. Supported values are: 'auto'.", "got `%s`", "the enum has `%s` twice"} {
			check(400, text, "your "+words+" now", "format_error")
			if !protocolWord(words) && strings.TrimSpace(words) != "" {
				check(400, text, words, "format_error")
			}
		}
	}
}

// TestBodiesThatNameThePlace: a 400 about one part of the request is about nothing else.
func TestBodiesThatNameThePlace(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":{"message":"your credit balance and rate limit are too low","type":"invalid_request_error","param":"tools"}}`,
		`{"error":{"message":"flagged: billing","param":"response_format"}}`,
		`{"error":{"message":"Invalid tool billing-report: schema has no type"}}`,
		`{"error":{"message":"Function billing.report has an invalid schema"}}`,
		`{"error":{"message":"Function check-credit-balance: insufficient funds property is wrong type"}}`,
		`{"error":{"message":"tool 'quota' schema: billing"}}`,
		`{"error":{"message":"Tool billing not found in tools"}}`,
		`{"error":{"message":"messages.5.content.0.text: 'your account billing' not allowed"}}`,
		`{"error":{"message":"Tool 'RateLimitError' is given twice"}}`,
		`{"error":{"message":"tool 'overloaded_error' has no type"}}`,
	} {
		if got := Classify(Question{Err: &Failure{Status: 400, Body: []byte(body)}}); got.Class != "format_error" {
			t.Errorf("%s\nis %s", body, got.Class)
		}
	}
}
