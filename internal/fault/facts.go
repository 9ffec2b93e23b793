package fault

import (
	"net/http"
	"slices"
	"strings"
)

// facts is a question, prepared for the rules.
type facts struct {
	Question
	reading
	chain   []error // every error that Err wraps, itself first
	failure *Failure
	status  int      // of HTTP, or named inside the answer; 0 is none
	text    string   // the service's own words, lower case; see ownWords
	whole   string   // all texts there are, lower case
	classes []string // the names of error classes in the text, lower case
}

func gather(q Question) *facts {
	f := &facts{Question: q, chain: chainOf(q.Err)}
	f.failure, _ = find[*Failure](f.chain)
	if f.failure != nil {
		f.reading = f.failure.read()
		f.status = f.failure.Status
	}
	f.foreign()
	if f.status == 0 || f.status == http.StatusOK {
		f.status = f.reading.status // an error inside a stream may name its status
	}
	if f.failure == nil {
		if q.Err != nil {
			f.whole = strings.ToLower(plain(q.Err))
		}
		f.text = f.whole
		return f
	}
	f.whole = strings.ToLower(strings.Join(f.words, "\n"))
	for _, s := range f.words { // one by one: a quotation ends with its text
		text, classes := ownWords(s)
		f.text += text + "\n"
		f.classes = append(f.classes, classes...)
	}
	return f
}

// foreign reads codes and statuses from errors of other libraries.
func (f *facts) foreign() {
	for _, err := range f.chain {
		if e, ok := err.(interface{ ErrorCode() string }); ok {
			f.code(e.ErrorCode())
		}
		if f.status != 0 {
			continue
		}
		switch e := err.(type) {
		case interface{ StatusCode() int }:
			f.status = e.StatusCode()
		case interface{ HTTPStatusCode() int }:
			f.status = e.HTTPStatusCode()
		}
	}
}

// verdict checks, in this order: our own errors, the fingerprints of single
// providers, the status together with the text, the code in the body, the text,
// TLS errors, dropped connections together with the size of the request, and
// the kind of the transport's failure.
func (f *facts) verdict() Verdict {
	for _, ask := range []func() *Verdict{
		f.own, f.fingerprint, f.byStatus, f.byCode, f.byText, f.byTLS, f.byDrop, f.byKind,
	} {
		if v := ask(); v != nil {
			return *v
		}
	}
	return unknown
}

// The verdicts, by class. Retry means the same key and model, Rotate another
// key, Fallback another model, Compress a shorter request. If a call must be
// changed before it is sent again, Retry is false: the layer that can change it
// knows the class.
var (
	auth              = Verdict{Class: "auth", Rotate: true, Fallback: true}
	forbiddenKey      = Verdict{Class: "auth", Fallback: true}
	authPermanent     = Verdict{Class: "auth_permanent", Rotate: true, Fallback: true}
	billing           = Verdict{Class: "billing", Rotate: true, Fallback: true}
	rateLimit         = Verdict{Class: "rate_limit", Retry: true, Rotate: true, Fallback: true}
	upstreamRateLimit = Verdict{Class: "upstream_rate_limit", Retry: true, Fallback: true}
	overloaded        = Verdict{Class: "overloaded", Retry: true, Fallback: true}
	serverError       = Verdict{Class: "server_error", Retry: true, Fallback: true}
	timeout           = Verdict{Class: "timeout", Retry: true, Fallback: true}
	certificate       = Verdict{Class: "ssl_cert_verification", Fallback: true}
	overflow          = Verdict{Class: "context_overflow", Compress: true}
	likelyOverflow    = Verdict{Class: "context_overflow", Retry: true, Compress: true} // guessed from the size
	tooLarge          = Verdict{Class: "payload_too_large", Compress: true}
	imageTooLarge     = Verdict{Class: "image_too_large", Fallback: true}
	modelNotFound     = Verdict{Class: "model_not_found", Fallback: true}
	barred            = Verdict{Class: "model_not_found", Rotate: true, Fallback: true} // for this key
	providerPolicy    = Verdict{Class: "provider_policy_blocked"}
	contentPolicy     = Verdict{Class: "content_policy_blocked", Fallback: true}
	format            = Verdict{Class: "format_error", Fallback: true}
	encryptedContent  = Verdict{Class: "invalid_encrypted_content", Fallback: true}
	signature         = Verdict{Class: "thinking_signature", Fallback: true}
	longContextTier   = Verdict{Class: "long_context_tier", Compress: true}
	oauthLongContext  = Verdict{Class: "oauth_long_context_beta_forbidden", Fallback: true}
	grammar           = Verdict{Class: "llama_cpp_grammar_pattern", Fallback: true}
	multimodalTool    = Verdict{Class: "multimodal_tool_content_unsupported", Fallback: true}
	reasoningRequired = Verdict{Class: "reasoning_mandatory", Fallback: true}
	unknown           = Verdict{Class: "unknown", Retry: true, Fallback: true}
)

// fingerprint finds failures whose text belongs to one kind of server and that
// have only one remedy.
func (f *facts) fingerprint() *Verdict {
	refused := f.status == http.StatusBadRequest
	inStream := f.status == 0 && f.failure != nil
	switch {
	case f.has("extra usage") && f.has("long context"):
		return &longContextTier
	case (refused || f.status == http.StatusForbidden) && f.has("long context beta") && f.has("not yet available|not available|forbidden|incompatible|not allowed|not supported"):
		return &oauthLongContext
	case f.coded("invalid_encrypted_content"), f.has("encrypted content|encrypted_content") && f.has("could not be|invalid_encrypted"):
		return &encryptedContent
	case (refused || inStream) && f.has("thinking") && f.has("signature|cannot be modified"):
		return &signature
	case refused && f.has(grammarWords):
		return &grammar
	case (refused || inStream) && f.has(toolImageWords):
		return &multimodalTool
	case (refused || inStream) && f.has(mustReasonWords):
		return &reasoningRequired
	case (refused || inStream || f.status == http.StatusRequestEntityTooLarge) && f.has(imageWords) && !f.coded(overflowCodes):
		return &imageTooLarge
	}
	return nil
}

// has reports whether the text contains one of the phrases, which are separated
// by bars. A phrase begins where a word begins.
func (f *facts) has(phrases string) bool {
	for phrase := range strings.SplitSeq(phrases, "|") {
		if contains(f.text, phrase) {
			return true
		}
	}
	return false
}

func contains(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		if i += from; i == 0 || !wordByte(phrase[0]) || !wordByte(text[i-1]) {
			return true
		}
		from = i + 1
	}
}

// coded reports whether the body names one of the codes or error classes, which
// are separated by bars.
func (f *facts) coded(codes string) bool {
	for want := range strings.SplitSeq(codes, "|") {
		if slices.Contains(f.codes, want) || slices.Contains(f.classes, want) {
			return true
		}
	}
	return false
}
