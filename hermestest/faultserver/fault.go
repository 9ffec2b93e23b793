package faultserver

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Fault is one way to fail.
type Fault struct {
	Name string
	// Slow faults last until the client times out.
	Slow bool
	// Final faults cannot be helped by a retry, another key or another model.
	Final bool
	// Large faults send tens of megabytes.
	Large bool
	// Shorter faults refuse a request as too long. When faults are random, only
	// long requests get them, and shorter requests are accepted for a while, as
	// by a real service.
	Shorter bool

	serve func(*exchange)
	way   func(*network) http.RoundTripper
}

// None is no fault: Plan lets its request through.
func None() Fault { return Fault{} }

// Network reports whether the fault is on the path to the server. A program of
// its own meets it at the address of NewFront.
func (f Fault) Network() bool { return f.way != nil }

// All returns every fault, grouped by kind.
func All() []Fault {
	return slices.Concat(statuses(), refusals(), streams(), ways())
}

// Named returns faults by their names. It panics for an unknown name.
func Named(names ...string) []Fault {
	var out []Fault
	for _, n := range names {
		f, ok := byName(n)
		if !ok {
			panic("faultserver: there is no fault named " + n)
		}
		out = append(out, f)
	}
	return out
}

func byName(name string) (Fault, bool) {
	if name == "" {
		return Fault{}, false
	}
	all := All()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// status returns a fault that refuses with an HTTP status.
func status(name string, code int, kind, message string, header ...string) Fault {
	return Fault{Name: name, serve: func(e *exchange) {
		for i := 0; i+1 < len(header); i += 2 {
			e.w.Header().Set(header[i], header[i+1])
		}
		e.refuse(code, kind, "", message)
	}}
}

// shorter marks a refusal of a request that is too long.
func shorter(f Fault) Fault {
	f.Shorter = true
	return f
}

func statuses() []Fault {
	return []Fault{
		status("429", 429, "rate_limit_error", "Too many requests"),
		status("429 for a while", 429, "rate_limit_error", "Too many requests", "Retry-After", "20"),
		status("429 for hours", 429, "rate_limit_error", "Too many requests", "Retry-After", "7200"),
		status("429 until a date", 429, "rate_limit_error", "Too many requests", "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"),
		status("429 usage wall", 429, "error", "You have reached your usage limit"),
		status("500", 500, "api_error", "Internal server error"),
		status("502", 502, "api_error", "Bad gateway"),
		{Name: "502 page", serve: func(e *exchange) {
			http.Error(e.w, "<html><head><title>502 Bad Gateway</title></head></html>", http.StatusBadGateway)
		}},
		status("503", 503, "api_error", "Service unavailable"),
		status("529", 529, "overloaded_error", "Overloaded"),
		status("401", 401, "authentication_error", "invalid api key"),
		status("402 credit", 402, "billing_error", "Insufficient credits"),
		status("402 quota", 402, "billing_error", "Usage limit reached, try again in 1 minute"),
		status("403", 403, "permission_error", "Not allowed"),
		status("404 model", 404, "not_found_error", "The model does not exist"),
		{Name: "404 bare", serve: func(e *exchange) { http.Error(e.w, "Not Found", http.StatusNotFound) }},
		status("408", 408, "timeout_error", "Request timeout"),
		shorter(status("413", 413, "request_too_large", "Request entity too large")),
		status("409", 409, "conflict_error", "Another request is in progress"),
		status("425", 425, "api_error", "Too early"),
		status("422", 422, "invalid_request_error", "x is required"),
		status("429 quota of a gateway", 429, "throttling_error", "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details."),
		status("429 wait of a gateway", 429, "throttling_error", "slow", "llm_provider-retry-after", "2"),
		status("429 exhausted", 429, "rate_limit", "Resource has been exhausted (e.g. check quota)."),
		status("500 no images", 500, "server_error", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
		{Name: "500 event lines", serve: func(e *exchange) {
			e.w.Header().Set("Content-Type", "application/json")
			e.w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(e.w, "data: "+e.failure("api_error", "", "upstream broke")+"\n\ndata: [DONE]\n\n")
		}},
	}
}

// refusals are the kinds of status 400, and similar ones.
func refusals() []Fault {
	bad := func(name, message string) Fault {
		return status("400 "+name, http.StatusBadRequest, "invalid_request_error", message)
	}
	final := func(f Fault) Fault {
		f.Final = true
		return f
	}
	return []Fault{
		bad("plain", "messages: field required"),
		shorter(bad("overflow", "prompt is too long: 210000 tokens > 200000 maximum")),
		bad("rate limit", "Rate limit reached"),
		bad("billing", "Your credit balance is too low"),
		bad("content policy", "Your request was rejected by our safety system"),
		final(bad("provider policy", "No endpoints found matching your data policy")),
		bad("image", "image exceeds 5 MB maximum"),
		bad("signature", "Invalid `signature` in `thinking` block"),
		{Name: "400 encrypted", serve: func(e *exchange) {
			e.refuse(http.StatusBadRequest, "invalid_request_error", "invalid_encrypted_content", "The encrypted content could not be verified.")
		}},
		bad("grammar", "failed to parse grammar"),
		bad("images in results", "images are not supported in tool results"),
		bad("reasoning", "Reasoning is mandatory for this endpoint and cannot be disabled."),
		bad("parameter", "Unsupported parameter: 'user'"),
		bad("long context beta", "The long context beta is not yet available for this subscription."),
		shorter(status("429 long context tier", 429, "rate_limit_error", "Extra usage is required for long context requests")),
		bad("wrapped", `{"error":{"message":"Overloaded","type":"overloaded_error"}}`),
		{Name: "400 name of a tool", serve: func(e *exchange) {
			e.refuse(http.StatusBadRequest, "invalid_request_error", "invalid_function_parameters", "Invalid schema for function 'get_billing_report': array schema missing items.")
		}},
		bad("expired key", "API key expired. Please renew the API key."),
		status("400 no database", http.StatusBadRequest, "no_db_connection", "No connected db."),
		bad("no tools", "registry.ollama.ai/library/smol:latest does not support tools"),
		bad("no thinking", `"smol" does not support thinking`),
		{Name: "400 empty", serve: func(e *exchange) { e.w.WriteHeader(http.StatusBadRequest) }},
	}
}

// streams are answers that fail after a status of 200.
func streams() []Fault {
	return []Fault{
		{Name: "closed at once", serve: func(e *exchange) { panic(http.ErrAbortHandler) }},
		{Name: "cut before the first event", serve: func(e *exchange) { e.events(); e.abort() }},
		{Name: "cut in a text", serve: func(e *exchange) { e.cut(false); e.abort() }},
		{Name: "cut in a call", serve: func(e *exchange) { e.cut(true); e.abort() }},
		{Name: "ends in a text", serve: func(e *exchange) { e.cut(false) }},
		{Name: "ends in a call", serve: func(e *exchange) { e.cut(true) }},
		{Name: "error event", serve: func(e *exchange) { e.events(e.failure("overloaded_error", "", "Overloaded")) }},
		{Name: "error event in a text", serve: func(e *exchange) { e.cut(false); e.events(e.failure("api_error", "", "Internal server error")) }},
		{Name: "garbage", serve: func(e *exchange) { e.events("\x00\x01 nonsense {{{", "more of it") }},
		{Name: "garbage in a text", serve: func(e *exchange) { e.cut(false); e.events(`{"choices":[{"delta`, "]]]") }},
		{Name: "no events", serve: func(e *exchange) { e.events() }},
		{Name: "no words", serve: func(e *exchange) { e.answer.Text, e.answer.Calls = "", nil; e.answerWhole() }},
		{Name: "marks for words", serve: func(e *exchange) { e.answer.Text, e.answer.Calls = "<|im_end|>", nil; e.answerWhole() }},
		{Name: "50 MB", Large: true, serve: func(e *exchange) { e.flood(50, 1<<20) }},
		{Name: "50 MB in one event", Large: true, serve: func(e *exchange) { e.flood(1, 50<<20) }},
		{Name: "a page", serve: func(e *exchange) {
			e.w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(e.w, "<html><body>Log in</body></html>")
		}},
		{Name: "silence", Slow: true, serve: func(e *exchange) { e.hang() }},
		{Name: "silence in a text", Slow: true, serve: func(e *exchange) { e.cut(false); e.hang() }},
		{Name: "drip", Slow: true, serve: (*exchange).drip},
	}
}

// cut sends the beginning of the answer, with the usage that the protocol sends
// first.
func (e *exchange) cut(inCall bool) {
	if e.events(e.begin(inCall)...) && e.protocol == messages {
		e.countUsage(e.answer.Input, 0, false)
	}
}

func (e *exchange) flood(events, size int) {
	e.answer.Text, e.answer.Calls = "", nil
	e.events(e.begin(false)...)
	if e.protocol == messages {
		e.countUsage(e.answer.Input, 0, false)
	}
	before, after := `{"choices":[{"index":0,"delta":{"content":"`, `"}}]}`
	if e.protocol == messages {
		before, after = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`
	}
	ev := before + strings.Repeat("x", size) + after
	for range events {
		if !e.events(ev) {
			return
		}
	}
}

func (e *exchange) hang() {
	select {
	case <-e.ctx.Done():
	case <-e.closed:
	}
}

// drip sends one event byte by byte and never ends it.
func (e *exchange) drip() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	_, _ = io.WriteString(e.w, "data: {\"x\":\"")
	for {
		if _, err := io.WriteString(e.w, "."); err != nil {
			return
		}
		if http.NewResponseController(e.w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-e.ctx.Done():
			return
		case <-e.closed:
			return
		}
	}
}
