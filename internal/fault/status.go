package fault

import "strings"

// byStatus classifies by the status together with the text.
func (f *facts) byStatus() *Verdict {
	switch s := f.status; {
	case s == 400:
		return f.badRequest()
	case s == 401:
		return f.unauthorized(&auth)
	case s == 402:
		return f.payment()
	case s == 403:
		return f.forbidden()
	case s == 404:
		return f.missing()
	case s == 408:
		return &timeout
	case s == 409, s == 425: // another request is in the way, or the service is not ready
		if v := f.spoken(); v != nil {
			return v
		}
		return &serverError
	case s == 413 && f.barred():
		return &barred
	case s == 413 && f.neverFits():
		return &overflow
	case s == 413:
		return &tooLarge
	case s == 422:
		return &format
	case s == 429:
		return f.tooMany()
	case s >= 500:
		return f.server(s)
	case s > 400, s >= 300 && s < 400: // a redirect that was not followed: a retry meets it again
		return &format
	}
	return nil
}

// unauthorized distinguishes a key that is gone for good from one that is only
// refused now.
func (f *facts) unauthorized(otherwise *Verdict) *Verdict {
	if f.has(authGoneWords) {
		return &authPermanent
	}
	return otherwise
}

// payment needs two signs for a rate limit: a word about usage and a sign that
// the limit passes. Texts in unknown languages count as billing.
func (f *facts) payment() *Verdict {
	if f.has(limitWords) && f.has(passingWords) {
		return &rateLimit
	}
	return &billing
}

func (f *facts) forbidden() *Verdict {
	switch {
	case f.has(keyLimitWords):
		return &billing
	case f.has(flaggedWords):
		return &contentPolicy
	}
	return f.unauthorized(&forbiddenKey)
}

func (f *facts) missing() *Verdict {
	switch {
	case f.has(freeTierWords):
		return &billing
	case f.has(providerPolicyWords), f.has("guardrail"):
		return &providerPolicy
	case f.lacks() != "":
		return &format
	case f.noModel():
		return &modelNotFound
	}
	return &unknown
}

const modelMissingCodes = "model_not_found|model_not_available|invalid_model|model_not_exist|model_not_supported|model_decommissioned|unknown_model|model_deprecated|modelnotfound|notfounderror.model"

func (f *facts) noModel() bool {
	return f.coded(modelMissingCodes) || f.has(modelMissingWords) || f.coded("not_found_error") && f.has("model:") ||
		f.has("model") && f.has("not found|does not exist|not exist|not available|is not supported|not a valid|try pulling|decommissioned|deprecated")
}

func (f *facts) tooMany() *Verdict {
	switch {
	case f.barred():
		return &barred
	case f.neverFits():
		return &overflow
	case f.has(overloadWords):
		return &overloaded
	case f.upstream || f.has("rate-limited upstream|upstream rate limit"):
		return &upstreamRateLimit
	case !f.rated() && f.wall() && !f.passes():
		return &billing
	}
	return &rateLimit
}

// rated reports words or a code that mean speed and never money. The name of a
// gateway's error class is none: it follows from the status.
func (f *facts) rated() bool {
	return f.has(explicitRateWords) || f.coded("rate_limit_exceeded|rate_limit_error|too_many_requests|throttling.ratequota|throttling.allocationquota|throttling.burstrate|limit_requests|limit_burst_rate")
}

// wall reports a limit of usage or money, rather than of speed.
func (f *facts) wall() bool {
	return f.has(wallWords) || f.has(billingWords) || f.has("billing") || f.coded("insufficient_quota|billing_not_active")
}

// passes reports a sign anywhere that the limit passes.
func (f *facts) passes() bool {
	return f.resetSaid || f.has(passingWords) || f.failure != nil && saysReset(f.failure.Header)
}

func (f *facts) server(status int) *Verdict {
	switch {
	case status == 500 && (f.coded(overflowCodes) || f.overflows()):
		return &overflow // llama.cpp and similar servers answer like this
	case f.coded("invalid_request_error|unknown_parameter|unsupported_parameter"), f.has(parameterWords), f.has("invalid_request_error"), f.lacks() != "":
		return &format
	case status == 503 || status == 529 || f.has(overloadWords):
		return &overloaded
	}
	return &serverError
}

// badRequest classifies a 400 by its text. Without a text, a large request
// counts as an overflow.
func (f *facts) badRequest() *Verdict {
	if v := f.spoken(); v != nil {
		return v
	}
	if f.saysNothing() && f.large(40, 80_000, 80) {
		return &likelyOverflow
	}
	return &format
}

// spoken classifies texts that may come with a 400 or without a status.
func (f *facts) spoken() *Verdict {
	switch {
	case f.coded("unsupported_parameter|unknown_parameter|unsupported_value"), f.has(parameterWords):
		return &format // whatever the parameter is called
	case f.coded(overflowCodes):
		return &overflow
	case f.coded(formatCodes), f.onePlace():
		return &format
	case f.coded("no_db_connection"): // LiteLLM without a database knows one key only
		return &auth
	case f.barred():
		return &barred
	case f.overflows(), f.neverFits():
		return &overflow
	case f.lacks() != "", f.has(schemaWords) && !f.coded(otherCodes):
		return &format
	case f.has(providerPolicyWords):
		return &providerPolicy
	case f.coded("content_filter|content_policy_violation|contentpolicyviolationerror|data_inspection_failed"), f.has(contentPolicyWords):
		return &contentPolicy
	case (f.has(rateWords) || f.rated() || f.coded("resource_exhausted|resourceexhausted")) && !f.coded("insufficient_quota"):
		return &rateLimit
	case f.has(billingWords), f.coded("insufficient_quota|billing_not_active|insufficient_credits|billing_error|payment_required"):
		return f.payment()
	case f.has(overloadWords), f.coded("overloaded_error|engine_overloaded"):
		return &overloaded
	case f.coded(modelMissingCodes), f.has(modelMissingWords):
		return &modelNotFound
	case f.coded("invalid_api_key|api_key_invalid|authentication_error|unauthenticated"), f.has(badKeyWords):
		return f.unauthorized(&auth)
	}
	return nil
}

const (
	overflowCodes = "context_length_exceeded|exceed_context_size_error|model_context_window_exceeded|model_max_prompt_tokens_exceeded|" +
		"context_window_exceeded|contextwindowexceedederror|max_tokens_exceeded"
	// formatCodes name a mistake in one place of the request.
	formatCodes = "invalid_function_parameters|invalid_function_name|invalid_value|invalid_type|missing_required_parameter|string_above_max_length|" +
		"integer_above_max_value|integer_below_min_value|array_above_max_length|invalid_json|invalid_json_schema|invalid_schema|invalid_image|invalid_image_url|tool_use_failed"
)

// otherCodes are codes of classes that have nothing to do with tools.
const otherCodes = "content_filter|content_policy_violation|contentpolicyviolationerror|data_inspection_failed|resource_exhausted|resourceexhausted|rate_limit_exceeded|rate_limit_error|" +
	"insufficient_quota|billing_not_active|insufficient_credits|billing_error|payment_required|overloaded_error|engine_overloaded|" + modelMissingCodes + "|" +
	"invalid_api_key|api_key_invalid|authentication_error|unauthenticated"

// onePlace reports that the body names one place of the request that is wrong. The
// whole prompt and the model are none: the class of an error about them is in the text.
func (f *facts) onePlace() bool {
	switch strings.ToLower(f.param) {
	case "", "none", "null", "model", "messages", "input", "prompt", "contents":
		return false
	}
	return true
}

// overflows reports a text about the length of the context, not about the
// number of tokens per minute.
func (f *facts) overflows() bool {
	return f.has(overflowWords) && !f.has(throttleWords)
}

func (f *facts) saysNothing() bool {
	switch strings.ToLower(strings.Trim(f.message, ".!: {}[]")) {
	case "", "error", "bad request":
		return true
	}
	return false
}

// large reports whether the request is large: above a percentage of the window,
// or, for windows up to about 256K or unknown ones, above fixed numbers.
func (q Question) large(percent, tokens, messages int) bool {
	const small = 262_144
	if q.Window > 0 && q.Tokens*100 > q.Window*percent {
		return true
	}
	return q.Window <= small && (q.Tokens > tokens || q.Messages > messages)
}

// byCode reads the code in the body of an error without a useful status.
func (f *facts) byCode() *Verdict {
	switch {
	case f.coded("resource_exhausted|resourceexhausted|throttled|throttlingexception|ratelimiterror|throttling_error"), f.rated():
		return f.tooMany()
	case f.coded("insufficient_quota|billing_not_active|billing_error|payment_required|insufficient_credits"):
		return f.payment()
	case f.coded(modelMissingCodes):
		return &modelNotFound
	case f.coded(overflowCodes):
		return &overflow
	case f.coded("overloaded_error|engine_overloaded|service_unavailable|serviceunavailableexception|unavailable"):
		return &overloaded
	case f.coded("authentication_error|authenticationerror|invalid_api_key|api_key_invalid|no_db_connection|unauthenticated|permission_error|permission_denied|accessdeniedexception|unrecognizedclientexception"):
		return f.unauthorized(&auth)
	case f.coded("content_policy_violation|content_filter"):
		return &contentPolicy
	case f.coded("request_too_large|payload_too_large"):
		return &tooLarge
	case f.coded("timeout_error|timeout|deadline_exceeded|modeltimeoutexception"):
		return &timeout
	case f.coded("api_error|server_error|internal|internal_error|internal_server_error|internalserverexception|modelstreamerrorexception"):
		return f.server(500)
	}
	return nil
}

// byText reads the text of an error without status and code.
func (f *facts) byText() *Verdict {
	if f.failure == nil && (f.untrusted() || f.handshake() || f.never() || f.timedOut()) {
		return nil // the later rules decide this better
	}
	if f.has(payloadWords) {
		return &tooLarge
	}
	if v := f.spoken(); v != nil {
		return v
	}
	switch {
	case f.coded("invalid_request_error|invalid_argument|validationexception"), f.has("invalid_request_error"):
		return f.badRequest()
	case f.failure == nil:
		return nil
	case f.has("unauthorized|unauthenticated|authentication|invalid token|token expired|token has expired|permission denied"):
		return f.unauthorized(&auth)
	case f.has("internal server error|internal error|bad gateway|service unavailable|upstream"):
		return &serverError
	case f.has("timed out|timeout"):
		return &timeout
	}
	return nil
}
